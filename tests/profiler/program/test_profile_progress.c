// test_profile_progress.c -- ./profile_model on a terminal: everything that takes long is named on
// standard error while it runs, and erased when it is over.
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/helpers/harness.h"
#include "tests/helpers/run_program.h"

#define QUICK "--iterations", "1", "--warmup", "2", "--peaks", "tests/fixtures/peaks.json"

static const struct {
    const char *arguments[16], *says;
} cases[] = {
    {{"lenet5", "--leaks", QUICK}, "\rwatching steps\033[K\r\033[K"},
    {{"lenet5", "--memory-budget", "2MB", QUICK},
     "\rsearching the largest batch, and running it\033[K\r\033[K"},
    {{"char-gpt-mini", "--generate", "2", QUICK},
     "\rwriting tokens, again and again\033[K\r\033[K"},
    {{"lenet5", "--trace", "/dev/null", QUICK}, "\rtracing steps\033[K\r\033[K"},
    {{"mnist-cnn", "--steps", "1", QUICK}, "\rjudging what was learnt\033[K\r\033[K"},
    {{"lenet5", "--device", "meta", "--recompute", "auto", "--memory-budget", "1GB"},
     "\rmaking the model\033[K\r\033[K\rchoosing layers to run again\033[K\r\033[K"},
    {{"gpt2", "--batch", "8", "--tokens", "128", "--device", "meta", "--recompute", "auto",
      "--memory-budget", "2.6GB"},
     " sets tried\033[K\r"},
};
enum { CASES = sizeof cases / sizeof cases[0] };

// Collects all output to a terminal; with_colour: without NO_COLOR.
static void run_on_terminal(const char *const *arguments, bool with_colour, char *text,
                            size_t room) {
    char *argv[18] = {(char *)(uintptr_t) "profile_model"};
    for (int i = 0; arguments[i]; i++) argv[i + 1] = (char *)(uintptr_t)arguments[i];
    const char *program = program_path("profile_model");
    int terminal, status;
    pid_t child = forkpty(&terminal, NULL, NULL, NULL);
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        setenv("TERM", "xterm", 1);
        setenv("NO_COLOR", with_colour ? "" : "1", 1);
        execv(program, argv);
        _exit(127);
    }
    size_t size = 0;
    for (ssize_t got; (got = read(terminal, text + size, room - 1 - size)) > 0;)
        size += (size_t)got;
    text[size] = '\0';
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(status == 0, "%d: %s", status, text);
    close(terminal);
}

static char text[1 << 15];

START_TEST(what_takes_long_is_named_and_gone_afterwards) {
    run_on_terminal(cases[_i].arguments, true, text, sizeof text);
    ck_assert_msg(strstr(text, cases[_i].says), "%s", text);
}
END_TEST

// Without colour, blanks erase the line: as wide as the longest, and one less than the terminal.
START_TEST(without_colour_there_are_no_escapes) {
    char says[400];
    run_on_terminal(cases[0].arguments, false, text, sizeof text);
    snprintf(says, sizeof says, "\r%-79s\r%79s\r", "watching steps", "");
    ck_assert_msg(strstr(text, says) && !strchr(text, '\033'), "%s", text);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {{what_takes_long_is_named_and_gone_afterwards, CASES},
                                 {without_colour_there_are_no_escapes, 0},
                                 {NULL, 0}};
    return harness_main("profile_progress", tests);
}
