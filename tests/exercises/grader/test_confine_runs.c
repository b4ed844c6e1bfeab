// test_confine_runs.c -- confinement from the grader's side: several programs at once, deadlines, a
// grader that dies, refusals, and a machine that lacks memory, processes or descriptors.
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exercises/course/text_file.h"
#include "tensor/clock.h"
#include "tensor/context.h"
#include "tensor/memory.h"
#include "tests/exercises/grader/villain.h"

static VillainRun worker(const char *deed) {
    return (VillainRun){.deed = deed, .kind = CONFINE_WORKER, .limits = villain_limits};
}

// ---- several at once ---------------------------------------------------------------------------
START_TEST(several_run_at_once) {
    enum { RUNS = 6 };
    villain_needed((AloneUser)_i);
    villain_watch();
    VillainRun villains[RUNS];
    Confined *runs[RUNS], *open_runs[RUNS];
    for (int i = 0; i < RUNS; i++) {
        villains[i] = worker(i % 2 ? "well" : "crash");
        ck_assert_int_eq(villain_begin(&villains[i], &runs[i]), STATUS_OK);
    }
    for (int left = RUNS; left > 0;) {
        left = 0;
        for (int i = 0; i < RUNS; i++)
            if (!confine_ended(runs[i])) open_runs[left++] = runs[i];
        confine_serve(open_runs, left);
    }
    for (int i = 0; i < RUNS; i++) {
        ConfineResult result;
        ck_assert_int_eq(confine_finish(runs[i], &result), STATUS_OK);
        ck_assert_int_eq(result.end, i % 2 ? CONFINE_EXITED : CONFINE_CRASHED);
        ck_assert_uint_eq(villains[i].heard_bytes, i % 2 ? 4 : 0);
        confine_result_free(&result);
    }
    ck_assert_ptr_null(villain_harm());
}
END_TEST

START_TEST(one_that_is_not_waited_for_is_ended) {
    villain_needed((AloneUser)_i);
    villain_watch();
    VillainRun villain = worker("rest");
    Confined *run;
    ConfineResult result;
    ck_assert_int_eq(villain_begin(&villain, &run), STATUS_OK);
    ck_assert_int_eq(confine_finish(run, &result), STATUS_OK);
    confine_result_free(&result);
    ck_assert_ptr_null(villain_harm());
}
END_TEST

// ---- deadlines ---------------------------------------------------------------------------------
START_TEST(a_deadline_is_kept) {
    static const char *const deeds[] = {"rest", "spin", "spin_deaf"};
    villain_needed((AloneUser)(_i / 3));
    VillainRun villain = worker(deeds[_i % 3]);
    villain.limits.wall_seconds = 0.3;
    double begun = clock_seconds();
    ConfineResult result = villain_run(&villain);
    ck_assert_double_lt(clock_seconds() - begun, harness_patience(5.0));
    // On a busy machine the program may not have had the processor.
    ck_assert(result.end == CONFINE_TIMED_OUT || (result.end == CONFINE_MACHINE && _i % 3 > 0));
    confine_result_free(&result);
}
END_TEST

START_TEST(processor_time_is_limited_even_for_the_deaf) {
    villain_needed(ALONE_SELF);
    VillainRun villain = worker(_i ? "spin_deaf" : "spin");
    villain.limits.cpu_seconds = 1;
    ConfineResult result = villain_run(&villain);
    ck_assert_int_eq(result.end, CONFINE_TIMED_OUT);
    confine_result_free(&result);
}
END_TEST

// All share one processor: being late is not the program's fault.
START_TEST(one_that_never_had_the_processor_is_not_blamed) {
    enum { RIVALS = 30 };
    villain_needed(ALONE_SELF);
    pid_t rivals[RIVALS];
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0) test_skip("cannot choose a processor");
    for (int i = 0; i < RIVALS; i++) {
        rivals[i] = fork();
        if (rivals[i] == 0) {
            alarm(15);
            setsid(); // processor time may be shared by session
            for (volatile int k = 0;; k++) {
            }
        }
    }
    VillainRun villain = worker("spin");
    villain.limits.wall_seconds = 1;
    villain.limits.cpu_seconds = 60;
    ConfineResult result = villain_run(&villain);
    for (int i = 0; i < RIVALS; i++) {
        kill(rivals[i], SIGKILL);
        waitpid(rivals[i], NULL, 0);
    }
    ck_assert_int_eq(result.end, CONFINE_MACHINE);
    ck_assert_int_eq(result.code, 0);
    confine_result_free(&result);
}
END_TEST

// A killed grader ends with all its children.
START_TEST(what_a_dead_grader_began_ends_too) {
    villain_needed((AloneUser)(_i / 2));
    confine_layers();
    int told[2];
    ck_assert_int_eq(pipe(told), 0);
    pid_t grader = fork();
    ck_assert_int_ge(grader, 0);
    if (grader == 0) {
        VillainRun villain = worker(_i % 2 ? "spin_deaf" : "rest");
        villain.limits.wall_seconds = villain.limits.cpu_seconds = 1000;
        Confined *run;
        bool begun = villain_begin(&villain, &run) == STATUS_OK;
        usleep(200000);
        (void)!write(told[1], &begun, 1);
        for (;;) pause();
    }
    char begun = 0;
    ck_assert_int_eq((int)read(told[0], &begun, 1), 1);
    ck_assert_int_eq(begun, 1);
    ck_assert_int_ge(villain_count(), 1);
    ck_assert_int_eq(kill(grader, SIGKILL), 0);
    ck_assert_int_eq(waitpid(grader, NULL, 0), grader);
    while (villain_count() > 0) usleep(10000); // the test's own time limit ends this loop
}
END_TEST

// ---- refusals ----------------------------------------------------------------------------------
void __asan_poison_memory_region(const volatile void *start, size_t bytes) __attribute__((weak));

START_TEST(what_cannot_be_run_is_an_error) {
    // A child that could not start the program is still the grader, under the program's filter.
    if (__asan_poison_memory_region) test_skip("AddressSanitizer makes calls of its own in it");
    villain_needed((AloneUser)_i);
    static const char *const programs[] = {"/nonexistent/program", "./nothing", "."};
    villain_watch();
    for (int i = 0; i < 3; i++) {
        const char *const argv[] = {programs[i], NULL};
        int folder = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        ConfineOrder order = {
            .argv = argv, .folder = folder, .kind = CONFINE_WORKER, .limits = villain_limits};
        ConfineResult result;
        ck_assert_int_eq(confine_run(&order, &result), STATUS_IO);
        ck_assert_ptr_nonnull(strstr(error_message(), "execute"));
        error_clear();
        confine_result_free(&result);
        close(folder);
        order.folder = -1;
        ck_assert_int_eq(confine_run(&order, &result), STATUS_IO);
        error_clear();
        confine_result_free(&result);
    }
    ck_assert_ptr_null(villain_harm());
}
END_TEST

START_TEST(a_grant_of_what_is_shut_is_refused) {
    villain_needed(ALONE_SELF);
    static const char *const shut[] = {"/tmp/place/bin/villain", "/nonexistent", NULL};
    static const struct {
        const char *granted;
        bool fine;
    } grants[] = {{"/tmp/place", false},
                  {"/tmp", false},
                  {"/", false},
                  {"/tmp/place/bin/villain", false},
                  {"/tmp/place/bin/", false},
                  {"/tmp/place/../place", false},
                  {"/tmp/to_place", false},
                  {"/tmp/room", true},
                  {"/tmp/place/secret", true},
                  {"/tmp/place/bin/vil", true},
                  {"/nonexistent", true}};
    ck_assert_int_eq(symlink("/tmp/place", "/tmp/to_place"), 0);
    for (size_t i = 0; i < sizeof grants / sizeof grants[0]; i++) {
        static const char *const argv[] = {"./villain", "well", NULL};
        const char *const reads[] = {grants[i].granted, NULL};
        int folder = open("/tmp/room", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        ConfineOrder order = {.argv = argv,
                              .folder = folder,
                              .reads = reads,
                              .shut = shut,
                              .kind = CONFINE_WORKER,
                              .limits = villain_limits};
        ConfineResult result;
        Status status = confine_run(&order, &result);
        ck_assert_msg(status == (grants[i].fine ? STATUS_OK : STATUS_INVALID_ARGUMENT), "%s: %s",
                      grants[i].granted, error_message());
        if (status) ck_assert_ptr_nonnull(strstr(error_message(), "lies in it"));
        error_clear();
        confine_result_free(&result);
        close(folder);
    }
    ck_assert_int_eq(unlink("/tmp/to_place"), 0);
}
END_TEST

// ---- a machine that lacks something ------------------------------------------------------------
START_TEST(no_memory_is_an_error) {
    villain_needed(ALONE_SELF);
    confine_layers();
    villain_watch();
    int failed = 0;
    for (uint64_t nth = 1;; nth++) {
        VillainRun villain = worker("well");
        Confined *run;
        memory_fail_at(nth);
        Status status = villain_begin(&villain, &run);
        memory_fail_at(0);
        if (!status) {
            ConfineResult result;
            confine_serve(&run, 1);
            ck_assert_int_eq(confine_finish(run, &result), STATUS_OK);
            confine_result_free(&result);
            break;
        }
        ck_assert_int_eq(status, STATUS_OUT_OF_MEMORY);
        ck_assert_ptr_null(run);
        error_clear();
        failed++;
    }
    ck_assert_int_ge(failed, 2);
    ck_assert_ptr_null(villain_harm());
}
END_TEST

START_TEST(no_process_is_an_error) {
    villain_needed(geteuid() == 0 ? ALONE_PLAIN : ALONE_SELF);
    confine_layers();
    context_default(); // starts the BLAS's threads now, not in the midst of an error
    villain_watch();
    struct rlimit old, none = {0, 0};
    ck_assert_int_eq(getrlimit(RLIMIT_NPROC, &old), 0);
    none.rlim_max = old.rlim_max;
    ck_assert_int_eq(setrlimit(RLIMIT_NPROC, &none), 0);
    VillainRun villain = worker("well");
    Confined *run;
    ck_assert_int_eq(villain_begin(&villain, &run), STATUS_IO);
    ck_assert_ptr_nonnull(strstr(error_message(), "fork"));
    error_clear();
    ck_assert_int_eq(setrlimit(RLIMIT_NPROC, &old), 0);
    ck_assert_ptr_null(villain_harm());
}
END_TEST

START_TEST(no_descriptor_is_an_error) {
    villain_needed((AloneUser)_i);
    confine_layers();
    villain_watch();
    int failed = 0;
    for (rlim_t most = 17; most < 64; most++) {
        struct rlimit old, few;
        ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &old), 0);
        few = (struct rlimit){most, old.rlim_max};
        VillainRun villain = worker("well");
        Confined *run;
        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
        Status status = villain_begin(&villain, &run);
        ConfineResult result;
        if (!status) confine_serve(&run, 1);
        if (!status) status = confine_finish(run, &result);
        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &old), 0);
        failed += status != STATUS_OK;
        ck_assert(status == STATUS_OK || status == STATUS_IO);
        if (!status) ck_assert_int_eq(result.code, 7);
        if (!status) confine_result_free(&result);
        error_clear();
    }
    ck_assert_int_ge(failed, 3);
    ck_assert_int_lt(failed, 40);
    ck_assert_ptr_null(villain_harm());
}
END_TEST

// ---- words -------------------------------------------------------------------------------------
START_TEST(layers_have_names) {
    char text[64];
    ck_assert_str_eq(confine_layers_text(LAYER_LIMITS | LAYER_ACCOUNT, text, sizeof text),
                     "limits, account");
    ck_assert_str_eq(confine_layers_text(0, text, sizeof text), "");
    ck_assert_str_eq(confine_layers_text(31, text, 9), "limits, ");
    ck_assert(confine_layers() & LAYER_LIMITS);
    ck_assert(!confine_is_safe(LAYER_LIMITS | LAYER_ACCOUNT | LAYER_FILES));
    ck_assert(!confine_is_safe(LAYER_LIMITS | LAYER_ACCOUNT | LAYER_CALLS));
    ck_assert(confine_is_safe(LAYER_CALLS | LAYER_FILES));
    ck_assert(confine_is_safe(LAYER_CALLS | LAYER_BUBBLEWRAP));
}
END_TEST

START_TEST(text_becomes_harmless) {
    static const struct {
        const char *text, *clean;
    } texts[] = {{"plain\n\ttext", "plain\n\ttext"},
                 {"\033[31mred\r", "?[31mred?"},
                 {"\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80",
                  "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80"},
                 {"\xff\xfe", "??"},
                 {"\xc3", "?"},
                 {"\xe2\x82", "??"},
                 {"\xc0\xaf", "??"},
                 {"\xed\xa0\x80", "???"},
                 {"\xf4\x90\x80\x80", "????"},
                 {"\xc2\x9b", "?"},
                 {"\xef\xbf\xbe", "?"},
                 {"a\xe2\x80\xae"
                  "b\xe2\x81\xa6",
                  "a?b?"}, // two characters replaced
                 {"\xf3\xa0\x81\xa1", "?"},
                 {"\xe2\x80\x8d\xe2\x80\x93", "\xe2\x80\x8d\xe2\x80\x93"},
                 {"\x7f\x01", "??"}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char text[64];
        snprintf(text, sizeof text, "%s", texts[i].text);
        text_clean(text);
        ck_assert_str_eq(text, texts[i].clean);
    }
    villain_needed(ALONE_SELF);
    VillainRun villain = worker("bytes");
    ConfineResult result = villain_run(&villain);
    ck_assert_str_eq(result.output, "a?b?[2J?\xc3\xa4\n");
    confine_result_free(&result);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {{several_run_at_once, ALONE_USERS},
                                 {one_that_is_not_waited_for_is_ended, ALONE_USERS},
                                 {a_deadline_is_kept, 3 * ALONE_USERS},
                                 {processor_time_is_limited_even_for_the_deaf, 2},
                                 {one_that_never_had_the_processor_is_not_blamed, 0},
                                 {what_a_dead_grader_began_ends_too, 2 * ALONE_USERS},
                                 {what_cannot_be_run_is_an_error, ALONE_USERS},
                                 {a_grant_of_what_is_shut_is_refused, 0},
                                 {no_memory_is_an_error, 0},
                                 {no_process_is_an_error, 0},
                                 {no_descriptor_is_an_error, ALONE_USERS},
                                 {layers_have_names, 0},
                                 {text_becomes_harmless, 0},
                                 {NULL, 0}};
    return villain_main("confine_runs", tests);
}
