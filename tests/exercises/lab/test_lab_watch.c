// test_lab_watch.c -- ./lab watch on a pseudo-terminal: its screen, its keys, its checks on save,
// and that it leaves the terminal as it was.
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "tests/exercises/lab/lab_runs.h"
#include "tests/helpers/harness.h"

typedef struct Session {
    pid_t child;
    int terminal; // our end
    const char *folder;
    struct termios before; // terminal settings before
    char text[1 << 18];    // all output so far
    size_t size, seen;     // size of the output; end of the part already matched
} Session;
static Session session;

static void start(const char *arguments, const char *no_colour) {
    char words[512], *argv[16] = {(char *)(uintptr_t) "lab"}, *rest = NULL;
    const char *folder = lab_folder();
    snprintf(words, sizeof words, "watch %s --files %s", arguments, folder);
    int n = 1;
    for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        argv[n++] = word;
    const char *program = program_path("lab");
    session = (Session){.folder = folder};
    struct winsize size = {.ws_row = 24, .ws_col = 80};
    int other;
    ck_assert_int_eq(openpty(&session.terminal, &other, NULL, NULL, &size), 0);
    ck_assert_int_eq(tcgetattr(session.terminal, &session.before), 0);
    close(session.terminal);
    close(other);
    session.child = forkpty(&session.terminal, NULL, &session.before, &size);
    ck_assert_int_ge(session.child, 0);
    if (session.child == 0) {
        setenv("TERM", "xterm", 1);
        setenv("NO_COLOR", no_colour, 1);
        execv(program, argv);
        _exit(127);
    }
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Reads on until this text appears after the last one waited for.
static void wait_for(const char *part) {
    double end = now() + harness_patience(15.0);
    for (;;) {
        const char *found = strstr(session.text + session.seen, part);
        if (found) {
            session.seen = (size_t)(found - session.text) + strlen(part);
            return;
        }
        struct pollfd file = {.fd = session.terminal, .events = POLLIN};
        size_t room = sizeof session.text - session.size - 1;
        ssize_t got = -1;
        if (now() < end && poll(&file, 1, 200) == 0) continue;
        if (now() < end) got = read(session.terminal, session.text + session.size, room);
        ck_assert_msg(got > 0, "waiting for \"%s\", it showed:\n%s", part,
                      session.text + session.seen);
        session.size += (size_t)got;
    }
}

static void press(char key) { ck_assert_int_eq(write(session.terminal, &key, 1), 1); }

// The program must end with this status, and leave the terminal as it was.
static void expect_end(int status) {
    int ended;
    char rest[4096];
    while (read(session.terminal, rest, sizeof rest) > 0) {
    }
    ck_assert_int_eq(waitpid(session.child, &ended, 0), session.child);
    ck_assert_msg(WIFEXITED(ended) && WEXITSTATUS(ended) == status, "ended with %x", ended);
    close(session.terminal);
    lab_folder_remove();
}

static bool is_as_before(void) {
    struct termios after;
    return tcgetattr(session.terminal, &after) == 0 && after.c_lflag == session.before.c_lflag;
}

static void wait_until_as_before(void) {
    for (double end = now() + harness_patience(5.0); now() < end && !is_as_before();)
        poll(NULL, 0, 50);
    ck_assert(is_as_before());
}

// Quits with q; checks the terminal's settings while its other end is still open.
static void quit(void) {
    press('q');
    wait_until_as_before();
    expect_end(0);
}

// ---- behaviour ---------------------------------------------------------------------------------
START_TEST(saving_checks_again) {
    start("01", "1");
    wait_for("watching ");
    wait_for("NOT IMPLEMENTED");
    lab_solve("01_count_parameters");
    lab_put("by_hand.txt", "");
    wait_for("7/8");
    wait_for("MISSING");
    lab_put("ex01_count_parameters.c", "int x = ;\n");
    wait_for("DOES NOT COMPILE");
    quit();
}
END_TEST

// Like an editor that writes a new file and moves it over the old one.
START_TEST(a_file_moved_into_place_is_noticed) {
    char from[256], to[256];
    start("05", "1");
    wait_for("NOT IMPLEMENTED");
    lab_copy("exercises/solutions/ex05_clock.c", "new");
    snprintf(from, sizeof from, "%s/new", session.folder);
    snprintf(to, sizeof to, "%s/ex05_clock.c", session.folder);
    ck_assert_int_eq(rename(from, to), 0);
    wait_for("PASS");
    quit();
}
END_TEST

START_TEST(keys_do_what_the_commands_do) {
    start("01", "1");
    wait_for("NOT IMPLEMENTED");
    press('h');
    wait_for("hint 1 of 3 for 01");
    press('h');
    wait_for("hint 2 of 3 for 01");
    press('l');
    wait_for("not started");
    press('x');
    wait_for("no known pattern");
    press('c');
    wait_for("NOT IMPLEMENTED");
    press('n');
    wait_for("ex02_count_flops.c");
    wait_for("NOT IMPLEMENTED");
    press('z'); // does nothing
    quit();
}
END_TEST

START_TEST(a_signal_ends_it_and_gives_the_terminal_back) {
    start("01", "1");
    wait_for("NOT IMPLEMENTED");
    ck_assert(!is_as_before());
    ck_assert_int_eq(kill(session.child, SIGTERM), 0);
    wait_until_as_before();
    expect_end(128 + SIGTERM);
}
END_TEST

START_TEST(colours_are_for_terminals_and_only_where_they_are_wanted) {
    start("01", "");
    wait_for("\033[31m");
    wait_for("NOT IMPLEMENTED");
    quit();
    start("01", "1");
    wait_for("NOT IMPLEMENTED");
    ck_assert(!strstr(session.text, "\033[31m"));
    quit();
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {saving_checks_again, 0},
        {a_file_moved_into_place_is_noticed, 0},
        {keys_do_what_the_commands_do, 0},
        {a_signal_ends_it_and_gives_the_terminal_back, 0},
        {colours_are_for_terminals_and_only_where_they_are_wanted, 0},
        {NULL, 0},
    };
    return harness_main("lab_watch", tests);
}
