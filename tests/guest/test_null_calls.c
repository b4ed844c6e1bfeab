// test_null_calls.c -- every public function with NULL for each of its pointers, and for all of
// them: it answers, refuses or does nothing, and never dies. The calls are made from the headers;
// functions that only the library itself may misuse are listed here.
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tensor/context.h"
#include "tests/guest/null_calls.h"
#include "tests/helpers/harness.h"
#include "tests/helpers/work_folder.h"

// Functions that must not get NULL, and the reason: they exist only to be a single load.
static const struct {
    const char *function, *reason;
} excepted[] = {
    {"tensor_raw", "inline, in kernels: dispatch has seen to its tensor"},
    {"call_in", "the same"},
    {"call_out", "the same"},
    {"call_numel", "the same"},
    {"call_needs", "inline, in backward rules and kernels: autograd has made the call"},
    {"op_dtypes", "inline, in each dispatch, which has looked at the op"},
    {NULL, NULL},
};

enum { SAID_OTHERWISE = 3 };

static int count_calls(void) {
    int n = 0;
    while (null_calls[n].function) n++;
    return n;
}

static bool is_excepted(const char *function) {
    for (int i = 0; excepted[i].function; i++)
        if (strcmp(excepted[i].function, function) == 0) return true;
    return false;
}

// Calls it in a process of its own, which prints only a sanitizer's messages.
static int status_of(const NullCall *call, int absent) {
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
        alarm((unsigned)harness_patience(4.0));
        if (!freopen("/dev/null", "w", stdout)) _exit(2);
        scope_open();
        _exit(call->call(absent) ? 0 : SAID_OTHERWISE);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return status;
}

// Adds the result of the call to `found`, unless the call returned normally.
static void look_at(const NullCall *call, int absent, char *found, size_t size) {
    const char *pointer = absent == NULL_CALL_ALL ? "every pointer" : call->pointers[absent];
    int status = status_of(call, absent);
    size_t used = strlen(found);
    if (WIFSIGNALED(status))
        snprintf(found + used, size - used, "\n    NULL for %s: dies of signal %d (%s)", pointer,
                 WTERMSIG(status), strsignal(WTERMSIG(status)));
    else if (WEXITSTATUS(status) == SAID_OTHERWISE)
        snprintf(found + used, size - used, "\n    NULL for %s: the Status is not what is pending",
                 pointer);
    else if (WEXITSTATUS(status))
        snprintf(found + used, size - used, "\n    NULL for %s: ends with status %d", pointer,
                 WEXITSTATUS(status));
}

START_TEST(null_is_survived) {
    const NullCall *call = &null_calls[_i];
    if (is_excepted(call->function)) return;
    work_folder_begin(); // calls write files here
    setenv("HOME", work_folder, 1);
    setenv("XDG_CACHE_HOME", work_folder, 1);
    ck_assert_int_eq(chdir(work_folder), 0);
    char found[2048] = "";
    for (int i = 0; call->pointers[i]; i++) look_at(call, i, found, sizeof found);
    look_at(call, NULL_CALL_ALL, found, sizeof found);
    work_folder_end();
    ck_assert_msg(found[0] == '\0', "%s%s", call->function, found);
}
END_TEST

START_TEST(what_is_excepted_exists) {
    for (int i = 0; excepted[i].function; i++) {
        int n = 0;
        while (null_calls[n].function && strcmp(null_calls[n].function, excepted[i].function)) n++;
        ck_assert_msg(null_calls[n].function != NULL, "there is no %s", excepted[i].function);
    }
    ck_assert_int_gt(count_calls(), 500); // the headers were really read
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {{null_is_survived, count_calls()},
                                 {what_is_excepted_exists, 0},
                                 {NULL, 0}};
    return harness_main("null_calls", tests);
}
