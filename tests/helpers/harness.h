// harness.h -- how a test program runs its tests: Check (a process per test, a time limit), plus
// skips that are counted and comparisons of float arrays that explain themselves.
//
//     START_TEST(relu_keeps_nan) { ck_assert(isnan(math_relu(NAN))); } END_TEST
//     int main(void) {
//         const HarnessTest tests[] = {{relu_keeps_nan, 0}, {NULL, 0}};
//         return harness_main("relu", tests);
//     }
#ifndef TESTS_HELPERS_HARNESS_H
#define TESTS_HELPERS_HARNESS_H

#include <check.h>
#include <stdbool.h>
#include <stdint.h>

// Check sends the parent a message for each assertion that holds, to know where a test died, and
// the parent's time grows with the square of their number. So the place is kept here.
#define _mark_point(file, line) harness_passed(file, line)
void harness_passed(const char *file, int line);

typedef struct HarnessTest {
    const TTest *test; // the name given to START_TEST; NULL ends the table
    int loops;         // 0: runs once; n: runs for _i = 0..n-1, and each counts as a test
} HarnessTest;

// Runs the table and prints each failure (name, file:line, message), each skip with its reason, and
// last "topic: N passed, N failed, N skipped". Returns the exit status: 1 when anything failed.
// A test may use 20 seconds of processor time for each processor, and take 300 seconds by the clock
// (CK_DEFAULT_TIMEOUT and CK_TIMEOUT_MULTIPLIER change that). Of Check's other variables,
// CK_FORK=no runs everything in one process (without time limit), CK_RUN_CASE=name runs one test
// ("name[3]" for a loop's index), CK_TAP_LOG_FILE_NAME=file writes TAP.
int harness_main(const char *topic, const HarnessTest tests[]);

// Ends the running test as skipped. Call it from the test's own thread, before it holds anything.
_Noreturn void test_skip(const char *reason);
// Skips the test, but only under a sanitizer or valgrind (RIDGEPOINT_ALLOC=raw): for a test that
// computes for minutes there, with code that shorter tests run, too.
void test_skip_if_long(void);
// True if test_skip_if_long would skip; a test that only repeats may repeat less often then.
bool harness_is_slow(void);

// Number of seconds to wait for something that takes `seconds` on an idle machine, before the test
// says that it never comes.
double harness_patience(double seconds);
// Multiplies by `times` the processor time that this test and the programs it starts may take.
void harness_allow(int times);

// Fails the test unless |got[i] - want[i]| <= absolute + relative * |want[i]| for all n elements.
// NaN equals NaN, an infinity only itself. `what` names the values in the message.
#define harness_assert_close(got, want, n, absolute, relative, what)                               \
    ck_assert_msg(harness_close((got), (want), (n), (absolute), (relative), (what)), "%s",         \
                  harness_close_message())

// The two halves of the macro above: the comparison, and the message of the last one that failed.
bool harness_close(const float *got, const float *want, int64_t n, double absolute, double relative,
                   const char *what);
const char *harness_close_message(void);

#endif
