// test_cuda_tools.c -- programs for a real GPU, run without one: tests/tools/on_gpu and bench_cuda,
// with the emulated plug-in instead of the GPU's and a script instead of compute-sanitizer. Speed
// is not tested.
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/cuda/cuda_device.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/run_program.h"

#define ON_GPU "tests/tools/on_gpu"

// Logs its arguments and runs them; reports an error for the tool that FIND names.
static const char sanitizer[] = "#!/bin/sh\n"
                                "echo \"$CK_FORK $RIDGEPOINT_ALLOC $*\" >>\"$0.log\"\n"
                                "[ \"$2\" != \"${FIND:-}\" ] || exit 1\n"
                                "shift 6\n"
                                "exec \"$@\"\n";

typedef struct Place { // paths that a test needs
    char folder[64], sanitizer[96], log[128];
    char build[96]; // a link to the build's folder, whose own name may contain blanks
    char plugin[160], program[160];
} Place;

// Skips without an emulated plug-in. The programs that it runs try one test each.
static Place place_new(void) {
    Place place = {.folder = "/tmp/test_cuda_tools_XXXXXX"};
    cuda_device_fake("fake_calls");
    char folder[PATH_MAX], *name;
    snprintf(folder, sizeof folder, "%s", getenv("RIDGEPOINT_CUDA_PLUGIN"));
    ck_assert_ptr_nonnull(name = strrchr(folder, '/'));
    *name++ = '\0';
    ck_assert_ptr_nonnull(mkdtemp(place.folder));
    snprintf(place.build, sizeof place.build, "%s/build", place.folder);
    ck_assert_int_eq(symlink(folder, place.build), 0);
    snprintf(place.plugin, sizeof place.plugin, "%s/%.60s", place.build, name);
    snprintf(place.program, sizeof place.program, "%s/tests/test_cuda", place.build);
    snprintf(place.sanitizer, sizeof place.sanitizer, "%s/sanitizer", place.folder);
    snprintf(place.log, sizeof place.log, "%s.log", place.sanitizer);
    FILE *file = fopen(place.sanitizer, "w");
    ck_assert(file && fputs(sanitizer, file) >= 0 && fclose(file) == 0);
    ck_assert_int_eq(chmod(place.sanitizer, 0755), 0);
    setenv("COMPUTE_SANITIZER", place.sanitizer, 1);
    setenv("CK_RUN_CASE", "the_device_opens", 1);
    return place;
}

static void place_free(const Place *place) {
    unlink(place->sanitizer);
    unlink(place->log);
    unlink(place->build);
    rmdir(place->folder);
}

static ProgramRun on_gpu(const char *what, const char *plugin, const char *program,
                         const char *more) {
    char arguments[1000];
    snprintf(arguments, sizeof arguments, "%s %s %s %s", what, plugin, program, more);
    return program_run(ON_GPU, arguments, PROGRAM_CAPTURED);
}

static void check_run(ProgramRun *run, int status, const char *mention) {
    ck_assert_ptr_nonnull(run->out);
    ck_assert_msg(run->status == status, "status %d instead of %d: %s%s", run->status, status,
                  run->out, run->err);
    ck_assert_msg(strstr(run->out, mention) != NULL, "\"%s\" lacks \"%s\"", run->out, mention);
    program_run_free(run);
}

static int count_lines_with(const char *path, const char *text) {
    char line[PATH_MAX];
    int count = 0;
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) count += strstr(line, text) != NULL;
    if (file) fclose(file);
    return count;
}

// ---- on_gpu test -------------------------------------------------------------------------------
START_TEST(every_program_runs_by_itself_and_under_each_tool) {
    Place place = place_new();
    ProgramRun run = on_gpu("test", place.plugin, place.program, place.program);
    check_run(&run, 0, "test-cuda: passed, under compute-sanitizer, too");
    ck_assert_int_eq(count_lines_with(place.log, "no raw --tool "), 8);
    static const char *const tools[] = {"memcheck", "initcheck", "racecheck", "synccheck"};
    for (int i = 0; i < 4; i++) ck_assert_int_eq(count_lines_with(place.log, tools[i]), 2);
    place_free(&place);
}
END_TEST

START_TEST(what_a_tool_finds_fails_and_ends_it) {
    Place place = place_new();
    setenv("FIND", "racecheck", 1);
    ProgramRun run = on_gpu("test", place.plugin, place.program, "");
    check_run(&run, 1, "under compute-sanitizer --tool racecheck");
    ck_assert_int_eq(count_lines_with(place.log, "--tool"), 3);
    place_free(&place);
}
END_TEST

START_TEST(a_test_that_fails_ends_it) {
    Place place = place_new();
    ProgramRun run = on_gpu("test", place.plugin, place.program, "/bin/false");
    check_run(&run, 1, "");
    ck_assert_int_eq(count_lines_with(place.log, ""), 0);
    place_free(&place);
}
END_TEST

START_TEST(without_compute_sanitizer_it_says_so) {
    Place place = place_new();
    setenv("COMPUTE_SANITIZER", "/nowhere/compute-sanitizer", 1);
    ProgramRun run = on_gpu("test", place.plugin, place.program, "");
    check_run(&run, 0, "compute-sanitizer is missing");
    place_free(&place);
}
END_TEST

START_TEST(without_a_gpu_it_says_why_and_skips) {
    Place place = place_new();
    setenv("RIDGEPOINT_FAKE_CUDA_FAIL", "cudaGetDeviceCount:1:100", 1);
    ProgramRun run = on_gpu("test", place.plugin, place.program, "");
    check_run(&run, 77, "test-cuda: SKIP: cuda: the driver sees no GPU");
    run = on_gpu("test", place.plugin, "", "");
    check_run(&run, 77, "test-cuda: SKIP: there is no program to run");
    place_free(&place);
}
END_TEST

// ---- bench_cuda --------------------------------------------------------------------------------
static ProgramRun bench(const Place *place, const char *options) {
    char program[160], more[600];
    snprintf(program, sizeof program, "%s/tests/bench_cuda", place->build);
    snprintf(more, sizeof more, "%s/libcuda_raw_emulated.so %s", place->build, options);
    if (access(program, X_OK) != 0) {
        place_free(place);
        test_skip("bench_cuda is not built: no OpenBLAS");
    }
    return on_gpu("bench", place->plugin, program, more);
}

// Each benchmark has its least share of the speed, its sizes, and its rivals other than PyTorch.
START_TEST(the_benchmark_runs_and_its_status_is_that_of_its_gates) {
    Place place = place_new();
    ProgramRun run = bench(&place, "--smoke --gates 0");
    static const char *const rows[] = {"\nrelu ",          "\nAdamW ",  "\nsoftmax ",
                                       "\ncross-entropy ", "\nmatmul ", "\nMLP step ",
                                       "device copy",      "cuBLAS"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ck_assert_msg(strstr(run.out, rows[i]) != NULL, "no%s in %s", rows[i], run.out);
    check_run(&run, 0, "good");
    run = bench(&place, "--smoke --gates 1000000");
    check_run(&run, 1, "MISSED");
    place_free(&place);
}
END_TEST

START_TEST(the_benchmark_skips_where_there_is_no_gpu) {
    Place place = place_new();
    setenv("RIDGEPOINT_FAKE_CUDA_FAIL", "cudaGetDeviceCount:1:100", 1);
    ProgramRun run = bench(&place, "");
    check_run(&run, 77, "bench-cuda: SKIP: cuda: the driver sees no GPU");
    place_free(&place);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {every_program_runs_by_itself_and_under_each_tool, 0},
        {what_a_tool_finds_fails_and_ends_it, 0},
        {a_test_that_fails_ends_it, 0},
        {without_compute_sanitizer_it_says_so, 0},
        {without_a_gpu_it_says_why_and_skips, 0},
        {the_benchmark_runs_and_its_status_is_that_of_its_gates, 0},
        {the_benchmark_skips_where_there_is_no_gpu, 0},
        {NULL, 0},
    };
    return harness_main("cuda_tools", tests);
}
