// test_cuda_program.c -- ./profile_mlp on machines with an unusable GPU, over the fake runtime: one
// line with the reason, for every way to ask for cuda. test_cuda_device.c tests the device itself.
#include <stdlib.h>
#include <string.h>

#include "tests/cuda/cuda_device.h"
#include "tests/helpers/harness.h"
#include "tests/helpers/run_program.h"

static ProgramRun run(const char *arguments) {
    return program_run(program_path("profile_mlp"), arguments, PROGRAM_CAPTURED);
}

#define QUICK " --layers 6,4 --epochs 0 --iterations 3 --warmup 2 --peaks tests/fixtures/peaks.json"

static const struct {
    const char *variable, *value, *mention, *hint;
} machines[] = {
    {"RIDGEPOINT_FAKE_CUDA_DRIVER", "35", "cuda: there is no NVIDIA driver", "install one"},
    {"RIDGEPOINT_FAKE_CUDA_DRIVER", "12020", "driver is for CUDA 12.2, and this build needs",
     "update the driver"},
    {"RIDGEPOINT_FAKE_CUDA_DRIVER", "34", "is a toolkit's stub", "off the library path"},
    {"RIDGEPOINT_FAKE_CUDA_DEVICES", "0", "the driver sees no GPU", "nvidia-smi"},
    {"RIDGEPOINT_FAKE_CUDA_MEMORY", "0", "the GPU's memory is full", "CUDA_VISIBLE_DEVICES"},
    {"RIDGEPOINT_FAKE_CUDA_MEMORY", "33000000", "(33 of 33 MB are free)", "nvidia-smi"},
    {"RIDGEPOINT_FAKE_CUDA_FAIL", "cudaGetDeviceCount:1:999", "cudaGetDeviceCount: unknown error",
     "nvidia-smi"},
    {"RIDGEPOINT_FAKE_CUDA_FAIL", "cudaMemGetInfo:1:2,cudaMalloc:1:2", "34 MB. ", "nvidia-smi"},
    {"RIDGEPOINT_CUDA_PLUGIN", "/nowhere", "cannot read the plug-in /nowhere", "unset"},
};
enum { MACHINES = sizeof machines / sizeof machines[0] };

START_TEST(a_gpu_that_cannot_be_used_is_one_line_and_status_3) {
    cuda_device_fake("fake_reset");
    setenv(machines[_i].variable, machines[_i].value, 1);
    ProgramRun got = run("--device cuda" QUICK);
    ck_assert_msg(!got.out[0], "%s", got.out);
    program_check_refusal(&got, 3, machines[_i].mention, machines[_i].hint);
    got = run("--devices");
    ck_assert_int_eq(got.status, 0);
    ck_assert_str_eq(got.err, "");
    ck_assert_int_eq(program_count_lines(got.out), 3);
    const char *line = strstr(got.out, "\ncuda   not usable   cuda: ");
    ck_assert_msg(line && strstr(line, machines[_i].mention), "%s", got.out);
    program_run_free(&got);
}
END_TEST

START_TEST(what_the_gpu_lacks_the_cpu_does_not_miss) {
    cuda_device_fake("fake_reset");
    setenv("RIDGEPOINT_FAKE_CUDA_MEMORY", "0", 1);
    ProgramRun got = run("--quiet" QUICK);
    ck_assert_msg(got.status == 0 && !got.err[0], "%s", got.err);
    program_run_free(&got);
}
END_TEST

START_TEST(a_gpu_that_can_be_used_is_described) {
    cuda_device_fake("fake_reset");
    ProgramRun got = run("--devices");
    ck_assert_ptr_nonnull(strstr(got.out, "\ncuda   usable       Fake GPU, 1 GB, compute "));
    program_run_free(&got);
}
END_TEST

// Ceilings of a card with hardly any memory left are not guessed, but can be given.
START_TEST(a_card_too_full_to_be_measured_can_be_given_ceilings) {
    cuda_device_fake("fake_reset");
    setenv("RIDGEPOINT_FAKE_CUDA_MEMORY", "45000000", 1);
    ProgramRun got = run("--device cuda --layers 6,4 --epochs 0 --iterations 3 --calibrate");
    program_check_refusal(&got, 3, "too few to measure its ceilings", "--peaks FILE");
    got = run("--device cuda" QUICK);
    ck_assert_msg(got.status == 0, "%s", got.err);
    program_run_free(&got);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_gpu_that_cannot_be_used_is_one_line_and_status_3, MACHINES},
        {what_the_gpu_lacks_the_cpu_does_not_miss, 0},
        {a_gpu_that_can_be_used_is_described, 0},
        {a_card_too_full_to_be_measured_can_be_given_ceilings, 0},
        {NULL, 0},
    };
    return harness_main("cuda_program", tests);
}
