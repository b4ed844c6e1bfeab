// watch.c -- ./lab watch: checks again whenever a file is saved, and shows the first failure; keys
// run commands.
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "exercises/lab/command.h"

// ---- the terminal -------------------------------------------------------------------------------
// The terminal reads single keys. It is restored on leaving, on a signal that ends or stops the
// program, and on a crash. Signal handlers need static variables.
static struct termios before;                 // the original settings
static volatile sig_atomic_t taken, ended_by; // we changed the terminal; the signal to end

static void terminal_return(void) {
    if (taken) tcsetattr(STDIN_FILENO, TCSANOW, &before);
    taken = 0;
}

static void set_keys(void) {
    struct termios keys = before;
    keys.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    keys.c_cc[VMIN] = 0;
    keys.c_cc[VTIME] = 0;
    taken = tcsetattr(STDIN_FILENO, TCSANOW, &keys) == 0;
}

static void on_end(int number) { ended_by = number; }

// On a crash or stop, restores the terminal before the system's default action.
static void on_fatal(int number) {
    terminal_return();
    signal(number, SIG_DFL);
    raise(number);
}

static void handle(int number, void (*handler)(int)) {
    struct sigaction action = {.sa_handler = handler}; // without SA_RESTART poll returns
    sigemptyset(&action.sa_mask);
    action.sa_flags = handler == on_fatal ? SA_NODEFER : 0;
    sigaction(number, &action, NULL);
}

static void on_continue(int number) {
    (void)number;
    handle(SIGTSTP, on_fatal);
    set_keys();
}

static bool terminal_take(void) {
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    static const int fatal[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGTSTP};
    if (!isatty(STDIN_FILENO) || tcgetattr(STDIN_FILENO, &before) != 0) return false;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) handle(ends[i], on_end);
    for (size_t i = 0; i < sizeof fatal / sizeof fatal[0]; i++) handle(fatal[i], on_fatal);
    handle(SIGCONT, on_continue);
    atexit(terminal_return);
    set_keys();
    return taken;
}

static int terminal_ended_by(void) { return ended_by; }

// ---- watching -----------------------------------------------------------------------------------
enum { SETTLE_MS = 60, LOOK_MS = 1000 }; // an editor writes in several steps; inotify may be deaf

typedef struct Watch {
    Lab *lab;
    int current; // index of the current exercise
    struct timespec seen;
    off_t seen_size;
    int inotify; // -1: none, so we check the file's time
} Watch;

static const Exercise *current(const Watch *watch) { return exercises[watch->current]; }

static void show(Page *page) {
    (void)lab_show(page);
    fflush(stdout);
}

// Shows title and keys; a terminal is cleared first.
static void begin_screen(const Watch *watch, Page *page) {
    char file[96];
    lab_file_name(current(watch), file, sizeof file);
    if (watch->lab->terminal) fputs("\033[2J\033[H", stdout);
    page_label(page, NULL);
    page_print(page, PAGE_DIM, 0, "watching %s/%s", watch->lab->shown_folder, file);
    page_piece(page, PAGE_DIM, 3, "n next  h hint  l list  c check  x explain  q quit");
    page_end_line(page);
}

static void fail_into(Page *page) {
    page_label(page, NULL);
    page_print(page, PAGE_BAD, 0, "%s", error_message());
    page_end_line(page);
    error_clear();
}

static bool has_changed(Watch *watch) {
    char path[PATH_MAX], file[96];
    struct stat found;
    lab_file_name(current(watch), file, sizeof file);
    snprintf(path, sizeof path, "%.3000s/%s", watch->lab->folder, file);
    if (stat(path, &found) != 0) return false; // between two steps of an editor's save
    bool same = found.st_mtim.tv_sec == watch->seen.tv_sec &&
                found.st_mtim.tv_nsec == watch->seen.tv_nsec && found.st_size == watch->seen_size;
    watch->seen = found.st_mtim;
    watch->seen_size = found.st_size;
    return !same;
}

static void check(Watch *watch) {
    Page page = {.colour = watch->lab->colour};
    CheckCount count = {0};
    (void)has_changed(watch); // later saves count as changes
    begin_screen(watch, &page);
    if (check_exercises(watch->lab, current(watch), &page, &count)) fail_into(&page);
    show(&page);
}

static void next(Watch *watch) {
    watch->current = (watch->current + 1) % exercise_count;
    check(watch);
}

static void hint(Watch *watch) {
    Page page = {.colour = watch->lab->colour};
    begin_screen(watch, &page);
    if (hint_page(watch->lab, current(watch), &page)) fail_into(&page);
    show(&page);
}

static void list(Watch *watch) {
    Page page = {.colour = watch->lab->colour};
    begin_screen(watch, &page);
    list_page(watch->lab, &page);
    show(&page);
}

static void explain(Watch *watch) {
    Page page = {.colour = watch->lab->colour};
    const char *mistake = watch->lab->progress.mistake;
    begin_screen(watch, &page);
    if (!mistake[0])
        page_lines(&page, PAGE_PLAIN, 0, "The last failure has no known pattern: h for a hint.");
    else if (explain_page(mistake, &page))
        fail_into(&page);
    show(&page);
}

// Handles a key. False: the program shall end.
static bool take_key(Watch *watch, char key) {
    static const struct {
        char key;
        void (*act)(Watch *watch);
    } keys[] = {{'n', next}, {'h', hint}, {'l', list}, {'c', check}, {'x', explain}};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (keys[i].key == key) keys[i].act(watch);
    return key != 'q';
}

// ---- waiting -----------------------------------------------------------------------------------
static void drain(int file) {
    char events[4096];
    while (read(file, events, sizeof events) > 0) {
    }
}

// Waits until a key, a change, or a signal. False: the program shall end.
static bool wait_once(Watch *watch) {
    struct pollfd files[2] = {{.fd = STDIN_FILENO, .events = POLLIN},
                              {.fd = watch->inotify, .events = POLLIN}};
    int ready = poll(files, 2, LOOK_MS);
    if (terminal_ended_by()) return false;
    char key;
    if (ready > 0 && files[0].revents) {
        if (read(STDIN_FILENO, &key, 1) != 1) return !(files[0].revents & (POLLHUP | POLLERR));
        return take_key(watch, key);
    }
    if (ready > 0 && files[1].revents) {
        (void)poll(NULL, 0, SETTLE_MS);
        drain(watch->inotify);
    }
    if (has_changed(watch)) check(watch);
    return true;
}

// The first exercise that has not passed.
static int first_open(const Lab *lab) {
    for (int i = 0; i < exercise_count; i++) {
        const ProgressEntry *entry = progress_find(&lab->progress, exercises[i]->number);
        if (!entry || (strcmp(entry->state, "passed") && strcmp(entry->state, "practice")))
            return i;
    }
    return 0;
}

int command_watch(Lab *lab) {
    Watch watch = {.lab = lab, .current = first_open(lab)};
    if (lab->argument) {
        const Exercise *exercise = lab_exercise(lab);
        if (!exercise) return LAB_USAGE;
        for (int i = 0; i < exercise_count; i++)
            if (exercises[i] == exercise) watch.current = i;
    }
    if (!terminal_take())
        return lab_refuse(LAB_USAGE,
                          "watch needs a terminal for its keys; ./lab check %s checks once",
                          current(&watch)->number);
    watch.inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (watch.inotify >= 0)
        (void)inotify_add_watch(watch.inotify, lab->folder, IN_CLOSE_WRITE | IN_MOVED_TO);
    check(&watch);
    while (wait_once(&watch)) {
    }
    if (watch.inotify >= 0) close(watch.inotify);
    terminal_return();
    return terminal_ended_by() ? 128 + terminal_ended_by() : LAB_DONE;
}
