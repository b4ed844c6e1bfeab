// test_contain.c -- what nobody trusts runs contained: one program does one bad thing after another
// (fixtures/villain.c), as root's other user and as a plain user, with each layer of protection in
// turn left out. It ends as it should, and nothing of it is left.
#include "exercises/grader/contain.h"
#include "tests/harness.h"
#include "tests/villain.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- every deed in every mode ------------------------------------------------------------------
typedef struct Deed {
    const char *name;
    ContainEnd end; // with, and without a list of system calls
    int code;       // -1: any
    ContainEnd bare_end;
    int bare_code;
} Deed;

#define SAME(end, code) (end), (code), (end), (code)
static const Deed deeds[] = {
    {"well", SAME(CONTAIN_EXITED, 7)},
    {"crash", SAME(CONTAIN_CRASHED, SIGSEGV)},
    {"abort", SAME(CONTAIN_CRASHED, SIGABRT)},
    {"stack", SAME(CONTAIN_CRASHED, SIGSEGV)},
    {"flood_output", SAME(CONTAIN_FLOODED, -1)},
    {"flood_error", SAME(CONTAIN_FLOODED, -1)},
    {"flood_values", SAME(CONTAIN_FLOODED, -1)},
    {"memory", SAME(CONTAIN_OUT_OF_MEMORY, -1)},
    {"sleep", SAME(CONTAIN_TIMED_OUT, -1)},
    {"deaf", SAME(CONTAIN_TIMED_OUT, -1)},
    {"bomb", CONTAIN_FORBIDDEN, SIGSYS, CONTAIN_TIMED_OUT, -1},
    {"fork", CONTAIN_FORBIDDEN, SIGSYS, CONTAIN_EXITED, 1},
    {"disk", CONTAIN_FORBIDDEN, SIGSYS, CONTAIN_EXITED, 20},
    {"socket", CONTAIN_FORBIDDEN, SIGSYS, CONTAIN_EXITED, -1},
    {"parent", CONTAIN_FORBIDDEN, SIGSYS, CONTAIN_EXITED, 1},
    {"shell", CONTAIN_FORBIDDEN, SIGSYS, CONTAIN_EXITED, 5},
    {"limits", CONTAIN_FORBIDDEN, SIGSYS, CONTAIN_EXITED, 1},
    {"root", CONTAIN_FORBIDDEN, SIGSYS, CONTAIN_EXITED, 1},
};
enum { DEEDS = sizeof deeds / sizeof deeds[0] };

START_TEST(ends_as_it_should) {
    const Deed *deed = &deeds[_i % DEEDS];
    const VillainMode *mode = &villain_modes[_i / DEEDS];
    villain_enter(mode);
    int descriptors = villain_count_descriptors();
    bool listed = contain_layers() & ~mode->without & LAYER_SECCOMP;
    ContainLimits limits = villain_limits;
    limits.wall_seconds = 0.2; // the others end by themselves, but a slow machine may need longer
    if (deed->end != CONTAIN_TIMED_OUT && (listed || deed->bare_end != CONTAIN_TIMED_OUT))
        limits.wall_seconds = 15;
    ContainResult result = villain_run(deed->name, &limits, mode->without);
    ContainEnd end = listed ? deed->end : deed->bare_end;
    int code = listed ? deed->code : deed->bare_code;
    ck_assert_msg(result.end == end && (code < 0 || result.code == code),
                  "%s without %u: end %d, code %d: %s", deed->name, mode->without, result.end,
                  result.code, result.output);
    ck_assert_uint_eq(result.layers, contain_layers() & ~mode->without);
    ck_assert_uint_le(result.values_bytes, 20000);
    ck_assert_uint_le(strlen(result.output), 20000);
    contain_result_free(&result);
    villain_check_nothing_left(descriptors);
}
END_TEST

START_TEST(a_good_program_is_heard) {
    villain_enter(&villain_modes[_i]);
    ContainResult result = villain_run("well", &villain_limits, villain_modes[_i].without);
    ck_assert_str_eq(result.output, "out\nerror\n");
    ck_assert_uint_eq(result.values_bytes, 4);
    ck_assert_mem_eq(result.values, "ping", 4);
    ck_assert_int_eq(result.leftovers, 0);
    contain_result_free(&result);
}
END_TEST

START_TEST(a_program_finds_little) {
    villain_enter(&villain_modes[_i]);
    setenv("LD_PRELOAD", "", 1);
    int open_too = open("/dev/null", O_RDONLY); // and not closed on execution
    ContainResult result = villain_run("look", &villain_limits, villain_modes[_i].without);
    close(open_too);
    ck_assert_ptr_nonnull(strstr(result.output, "core=0 files=0 open=4 home=/nonexistent"));
    ck_assert_ptr_nonnull(strstr(result.output, "preload=no"));
    int uid = atoi(strstr(result.output, "uid=") + 4);
    if (result.layers & LAYER_USER)
        ck_assert(uid >= CONTAIN_FIRST_USER && uid < CONTAIN_FIRST_USER + CONTAIN_USERS);
    else
        ck_assert_int_eq(uid, (int)getuid());
    contain_result_free(&result);
}
END_TEST

// ---- what outlives its program -----------------------------------------------------------------
START_TEST(a_daemon_ends_with_its_program) {
    const VillainMode *mode = &villain_modes[_i];
    villain_enter(mode);
    ContainLimits limits = villain_limits;
    limits.processes = mode->plain ? 1000 : 8;
    ContainResult result = villain_run("daemon", &limits, mode->without | LAYER_SECCOMP);
    ck_assert_int_eq(result.end, CONTAIN_EXITED);
    if (!(result.layers & LAYER_NAMESPACE)) ck_assert_int_ge(result.leftovers, 1);
    ck_assert_double_lt(result.seconds, 4);
    contain_result_free(&result);
    ck_assert_int_eq(villain_count(), 0);
}
END_TEST

START_TEST(files_of_another_user_are_removed) {
    villain_enter(&villain_modes[0]);
    if (!(contain_layers() & LAYER_USER)) test_skip("not root");
    int before = open("/tmp/villain-not-mine", O_CREAT | O_RDWR, 0600); // root's: it stays
    ContainLimits limits = villain_limits;
    limits.processes = 2;
    ContainResult result = villain_run("litter", &limits, LAYER_SECCOMP | LAYER_NAMESPACE);
    ck_assert_int_eq(result.end, CONTAIN_EXITED);
    ck_assert_int_ge(result.leftovers, 3 + 2 + 300);
    contain_result_free(&result);
    ck_assert_int_ne(access("/tmp/villain-file", F_OK), 0);
    ck_assert_int_ne(access("/var/tmp/villain-file", F_OK), 0);
    ck_assert_int_ne(access("/dev/shm/villain-file", F_OK), 0);
    ck_assert_int_ne(access("/tmp/villain-folder", F_OK), 0);
    ck_assert_int_eq(access("/usr/bin", F_OK), 0);
    if (before >= 0) {
        ck_assert_int_eq(unlink("/tmp/villain-not-mine"), 0);
        close(before);
    }
}
END_TEST

START_TEST(nothing_is_written_outside_of_a_namespace) {
    villain_enter(&villain_modes[_i]);
    if (!(contain_layers() & LAYER_NAMESPACE)) test_skip("no namespaces here");
    ContainResult result = villain_run("litter", &villain_limits, LAYER_SECCOMP);
    ck_assert_int_eq(result.leftovers, 0);
    contain_result_free(&result);
    ck_assert_int_ne(access("/tmp/villain-file", F_OK), 0);
}
END_TEST

START_TEST(processor_time_is_limited_even_for_the_deaf) {
    villain_enter(&villain_modes[_i]);
    ContainLimits limits = villain_limits;
    limits.cpu_seconds = 1;
    limits.wall_seconds = 15;
    ContainResult result =
        villain_run(_i ? "spin_deaf" : "spin", &limits, villain_modes[_i].without);
    ck_assert_int_eq(result.end, CONTAIN_TIMED_OUT);
    ck_assert_double_lt(result.seconds, 14);
    contain_result_free(&result);
}
END_TEST

START_TEST(what_it_ends_above_it_is_not_the_grader) {
    villain_enter(&villain_modes[_i]);
    ContainResult result = villain_run("end_parent", &villain_limits, villain_modes[_i].without);
    ck_assert(result.end == CONTAIN_FORBIDDEN || result.end == CONTAIN_EXITED ||
              result.end == CONTAIN_CRASHED);
    contain_result_free(&result);
    while (villain_count() > 0) usleep(10000); // it ends with the keeper that it ended
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {{ends_as_it_should, DEEDS * VILLAIN_MODES},
                                 {a_good_program_is_heard, VILLAIN_MODES},
                                 {a_program_finds_little, VILLAIN_MODES},
                                 {a_daemon_ends_with_its_program, VILLAIN_MODES},
                                 {files_of_another_user_are_removed, 0},
                                 {nothing_is_written_outside_of_a_namespace, VILLAIN_MODES},
                                 {processor_time_is_limited_even_for_the_deaf, 2},
                                 {what_it_ends_above_it_is_not_the_grader, VILLAIN_MODES},
                                 {NULL, 0}};
    return villain_main("contain", tests);
}
