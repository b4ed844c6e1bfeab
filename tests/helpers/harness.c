// harness.c -- runs a table of tests with Check and counts what passed, failed and was skipped.
// Each test (each index of a loop) becomes a test case of its own, because Check reports only those
// by name. Each test's name, its last passed assertion and its reason for skipping lie in memory
// shared with the child.
#include "tests/helpers/harness.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

// Limit on processor time, in seconds per processor, because a program's threads may spin. The
// clock's limit only ends tests that wait forever: on a busy machine it says nothing.
enum { TIME_LIMIT_SECONDS = 20, PATIENCE = 15 };

typedef struct Instance { // one test, or one index of a looped test
    const TTest *test;
    TTest wrapper; // the test that Check runs: run_instance under the original name and place
    int loop;
    _Atomic(const char *) file; // file of the last assertion that held; NULL: none yet
    atomic_int line;
    bool skipped;
    char name[128];
    char reason[256];
} Instance;

// State of the one table that a program runs. The instances are shared with the child processes.
static Instance *instances;
static Instance *running;
static jmp_buf skip_target;

static _Thread_local char close_message[512];

static double multiplier(void) {
    const char *given = getenv("CK_TIMEOUT_MULTIPLIER");
    double factor = given ? atof(given) : 1.0;
    return factor > 0.0 ? factor : 1.0;
}

double harness_patience(double seconds) { return seconds * PATIENCE * multiplier(); }

// Each program that the test starts may use as much again.
static void limit_processor_time(void) {
    const char *fork = getenv("CK_FORK");
    if ((fork && strcmp(fork, "no") == 0) || getenv("CK_DEFAULT_TIMEOUT")) return;
    struct rlimit limit;
    if (getrlimit(RLIMIT_CPU, &limit) != 0) return;
    double seconds = TIME_LIMIT_SECONDS * multiplier() * (double)sysconf(_SC_NPROCESSORS_ONLN);
    if ((double)limit.rlim_cur > seconds) limit.rlim_cur = (rlim_t)seconds;
    setrlimit(RLIMIT_CPU, &limit);
}

void harness_allow(int times) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_CPU, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
    limit.rlim_cur *= (rlim_t)times;
    if (limit.rlim_cur > limit.rlim_max) limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_CPU, &limit);
}

static void run_instance(int index) {
    running = &instances[index];
    limit_processor_time();
    if (setjmp(skip_target) == 0) running->test->fn(running->loop);
}

// Several threads may call this at once, and so may programs without a table of tests.
void harness_passed(const char *file, int line) {
    if (!running) return;
    atomic_store_explicit(&running->file, file, memory_order_relaxed);
    atomic_store_explicit(&running->line, line, memory_order_relaxed);
}

_Noreturn void test_skip(const char *reason) {
    running->skipped = true;
    snprintf(running->reason, sizeof running->reason, "%s", reason);
    longjmp(skip_target, 1);
}

bool harness_is_slow(void) {
    const char *alloc = getenv("RIDGEPOINT_ALLOC");
    return alloc && strcmp(alloc, "raw") == 0;
}

void test_skip_if_long(void) {
    if (harness_is_slow()) test_skip("it takes minutes here, and shorter tests run the same code");
}

static int count_instances(const HarnessTest tests[]) {
    int count = 0;
    for (const HarnessTest *t = tests; t->test; t++) count += t->loops > 0 ? t->loops : 1;
    return count;
}

static void fill_instance(Instance *instance, const HarnessTest *entry, int loop) {
    const TTest *test = entry->test;
    instance->test = test;
    instance->wrapper = (TTest){test->name, run_instance, test->file, test->line};
    instance->loop = loop;
    int length = snprintf(instance->name, sizeof instance->name, "%s", test->name);
    if (entry->loops == 0 || length >= (int)sizeof instance->name) return;
    snprintf(instance->name + length, sizeof instance->name - (size_t)length, "[%d]", loop);
}

static void fill_instances(const HarnessTest tests[]) {
    Instance *instance = instances;
    for (const HarnessTest *t = tests; t->test; t++) {
        int loops = t->loops > 0 ? t->loops : 1;
        for (int loop = 0; loop < loops; loop++) fill_instance(instance++, t, loop);
    }
}

static Suite *make_suite(const char *topic, int count) {
    Suite *suite = suite_create(topic);
    for (int i = 0; i < count; i++) {
        TCase *test_case = tcase_create(instances[i].name);
        if (!getenv("CK_DEFAULT_TIMEOUT"))
            tcase_set_timeout(test_case, TIME_LIMIT_SECONDS * PATIENCE);
        tcase_add_loop_test(test_case, &instances[i].wrapper, i, i + 1);
        suite_add_tcase(suite, test_case);
    }
    return suite;
}

// A test that died has no failing line, only the last assertion that it passed.
static void print_failure(const char *topic, const Instance *instance, TestResult *result) {
    const char *file = tr_rtype(result) == CK_ERROR ? instance->file : NULL;
    printf("%s: FAILED %s\n    %s%s:%d: %s\n", topic, tr_tcname(result), file ? "after " : "",
           file ? file : tr_lfile(result), file ? instance->line : tr_lno(result), tr_msg(result));
}

// Results come in the order of the instances; CK_RUN_CASE may have left some out.
static int report(const char *topic, SRunner *runner) {
    int passed = 0, failed = 0, skipped = 0;
    int count = srunner_ntests_run(runner);
    TestResult **results = srunner_results(runner);
    const Instance *instance = instances;
    for (int i = 0; i < count; i++, instance++) {
        while (strcmp(instance->name, tr_tcname(results[i])) != 0) instance++;
        if (tr_rtype(results[i]) != CK_PASS) {
            failed++;
            print_failure(topic, instance, results[i]);
        } else if (instance->skipped) {
            skipped++;
            printf("%s: skipped %s: %s\n", topic, instance->name, instance->reason);
        } else {
            passed++;
        }
    }
    free(results);
    printf("%s: %d passed, %d failed, %d skipped\n", topic, passed, failed, skipped);
    return failed > 0;
}

int harness_main(const char *topic, const HarnessTest tests[]) {
    int count = count_instances(tests);
    size_t bytes = (size_t)(count + 1) * sizeof *instances;
    instances = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (instances == MAP_FAILED) {
        perror("harness: memory for the table of tests");
        return 1;
    }
    fill_instances(tests);
    SRunner *runner = srunner_create(make_suite(topic, count));
    fflush(NULL); // otherwise every child would print the buffered text once more
    srunner_run_all(runner, CK_SILENT);
    int status = report(topic, runner);
    srunner_free(runner);
    munmap(instances, bytes);
    return status;
}

static bool element_close(double got, double want, double absolute, double relative) {
    if (isnan(want)) return isnan(got);
    if (isinf(want) || isinf(got)) return got == want;
    return fabs(got - want) <= absolute + relative * fabs(want); // false when got is NaN
}

bool harness_close(const float *got, const float *want, int64_t n, double absolute, double relative,
                   const char *what) {
    int64_t wrong = 0, first = 0, worst = 0;
    double worst_error = -1.0;
    for (int64_t i = 0; i < n; i++) {
        double a = (double)got[i], b = (double)want[i];
        if (element_close(a, b, absolute, relative)) continue;
        double error = isfinite(a - b) ? fabs(a - b) : DBL_MAX;
        if (wrong++ == 0) first = i;
        if (error > worst_error) {
            worst_error = error;
            worst = i;
        }
    }
    if (wrong == 0) return true;
    snprintf(close_message, sizeof close_message,
             "%s: %lld of %lld elements differ (allowed %g + %g * |want|); "
             "first [%lld]: got %.9g, want %.9g; worst [%lld]: got %.9g, want %.9g",
             what, (long long)wrong, (long long)n, absolute, relative, (long long)first,
             (double)got[first], (double)want[first], (long long)worst, (double)got[worst],
             (double)want[worst]);
    return false;
}

const char *harness_close_message(void) { return close_message; }
