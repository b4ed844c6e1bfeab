// watch_terminal.c -- the terminal while ./lab watch reads single keys, and what gives it back:
// leaving, a signal that ends or stops the program, a crash. What a signal handler needs is static.
#include <signal.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

#include "exercises/lab/command.h"

static struct termios before;                 // what it was like
static volatile sig_atomic_t taken, ended_by; // it is ours; the signal that asks to end

void terminal_return(void) {
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

// A crash, or a stop: given back before the system does what it always does.
static void on_fatal(int number) {
    terminal_return();
    signal(number, SIG_DFL);
    raise(number);
}

static void handle(int number, void (*handler)(int)) {
    struct sigaction action = {.sa_handler = handler}; // no SA_RESTART: poll returns
    sigemptyset(&action.sa_mask);
    action.sa_flags = handler == on_fatal ? SA_NODEFER : 0;
    sigaction(number, &action, NULL);
}

static void on_continue(int number) {
    (void)number;
    handle(SIGTSTP, on_fatal);
    set_keys();
}

bool terminal_take(void) {
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

int terminal_ended_by(void) { return ended_by; }
