// test_cuda_stamps.c -- time stamps, holding and ranges of the cuda device, over the fake runtime,
// whose kernels take 5000 ns and copies 2000 ns plus one per 10 bytes. test_cuda_profile.c tests
// their use in profiles.
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tensor/memory.h"
#include "tensor/ops.h"
#include "tests/cuda/cuda_clock.h"
#include "tests/cuda/cuda_device.h"
#include "tests/helpers/expect.h"

enum { OUT_OF_MEMORY = 2, ILLEGAL_ADDRESS = 700, READING = 100 };
typedef int64_t (*Calls)(const char *);
typedef void (*Fail)(const char *, int64_t, int);

static Status take_two(Device *device, int64_t times[2]) {
    Status status = device->stamps_reserve(device, 2);
    if (!status) status = device->stamp(device, 0);
    if (!status) status = device->stamp(device, 1);
    return status ? status : device->stamps_read(device, 2, times);
}

// ---- times -------------------------------------------------------------------------------------
// Each row is work between two stamps, and its time on the fake clock.
static void run_nothing(Tensor *x) { (void)x; }
static void run_relu(Tensor *x) { tensor_relu(x); }
static void run_three(Tensor *x) { tensor_relu(tensor_relu(tensor_relu(x))); }
static void run_product(Tensor *x) { tensor_matmul(x, x); }
static void run_copy_in(Tensor *x) { tensor_write_floats(x, (const float[9]){0}); }

static const struct {
    void (*run)(Tensor *x);
    int64_t nanoseconds;
} works[] = {{run_nothing, 0},
             {run_relu, 5000},
             {run_three, 15000},
             {run_product, 5000},
             {run_copy_in, 2004}};
enum { WORKS = sizeof(works) / sizeof(works[0]) };

START_TEST(stamps_tell_what_lies_between_to_the_nanosecond) {
    Device *device = cuda_device_use();
    cuda_clock_use(READING);
    Tensor *x = tensor_full_new(SHAPE(3, 3), 1.0f);
    int64_t times[WORKS + 1];
    Scope *scope = scope_open();
    ck_assert_int_eq(device->stamps_reserve(device, WORKS + 1), STATUS_OK);
    int64_t before = cuda_clock_now();
    for (int i = 0; i < WORKS; i++) {
        ck_assert_int_eq(device->stamp(device, i), STATUS_OK);
        works[i].run(x);
    }
    ck_assert_int_eq(device->stamp(device, WORKS), STATUS_OK);
    ck_assert_int_eq(device->stamps_read(device, WORKS + 1, times), STATUS_OK);
    for (int i = 0; i < WORKS; i++)
        ck_assert_msg(times[i + 1] - times[i] == works[i].nanoseconds, "%d: %lld ns", i,
                      (long long)(times[i + 1] - times[i]));
    // On the host's clock the base lies in the middle of a reading.
    ck_assert_int_eq(times[0], before + READING / 2);
    scope_close(scope);
    tensor_free(x);
    expect_no_error();
}
END_TEST

// A float of milliseconds has 24 bits: a quarter of an hour after the base its steps are 60 us.
START_TEST(a_quarter_of_an_hour_later_stamps_are_as_fine) {
    Device *device = cuda_device_use();
    cuda_clock_use(READING);
    Tensor *x = tensor_full_new(SHAPE(3), 1.0f);
    int64_t times[3];
    Scope *scope = scope_open();
    ck_assert_int_eq(device->stamps_reserve(device, 3), STATUS_OK);
    cuda_clock_pass(INT64_C(900000000000));
    ck_assert_int_eq(device->stamp(device, 0), STATUS_OK);
    tensor_relu(x);
    device->stamp(device, 1);
    tensor_relu(x);
    device->stamp(device, 2);
    ck_assert_int_eq(device->stamps_read(device, 3, times), STATUS_OK);
    ck_assert_int_eq(times[1] - times[0], 5000);
    ck_assert_int_eq(times[2] - times[1], 5000);
    scope_close(scope);
    tensor_free(x);
}
END_TEST

// The host takes 700 ns to launch: an idle device passes the first stamp before the kernel arrives.
START_TEST(held_back_a_device_does_not_wait_for_launches) {
    Device *device = cuda_device_use();
    struct FakeTimes {
        int64_t kernel, copy, bytes, host;
    };
    void (*fake_set_times)(struct FakeTimes) = cuda_device_fake("fake_set_times");
    fake_set_times((struct FakeTimes){5000, 2000, 10, 1000000});
    cuda_clock_use(READING);
    Tensor *x = tensor_full_new(SHAPE(3), 1.0f);
    for (int held = 0; held < 2; held++) {
        int64_t times[2];
        Scope *scope = scope_open();
        ck_assert_int_eq(device->stamps_reserve(device, 2), STATUS_OK);
        if (held) ck_assert_int_eq(device->hold(device, 10), STATUS_OK);
        device->stamp(device, 0);
        cuda_clock_pass(700);
        tensor_relu(x);
        device->stamp(device, 1);
        ck_assert_int_eq(device->stamps_read(device, 2, times), STATUS_OK);
        ck_assert_int_eq(times[1] - times[0], held ? 5000 : 5700);
        scope_close(scope);
    }
    tensor_free(x);
}
END_TEST

// ---- misuse ------------------------------------------------------------------------------------
START_TEST(stamps_that_are_not_there_are_refused) {
    Device *device = cuda_device_use();
    int64_t times[3];
    ck_assert_int_eq(device->stamp(device, 0), STATUS_INVALID_ARGUMENT);
    expect_error(STATUS_INVALID_ARGUMENT, "time stamp 0 of 0. HINT: stamps_reserve more");
    ck_assert_int_eq(device->stamps_reserve(device, -1), STATUS_INVALID_ARGUMENT);
    expect_error(STATUS_INVALID_ARGUMENT, "-1 time stamps");
    ck_assert_int_eq(device->stamps_reserve(device, INT64_MAX), STATUS_INVALID_ARGUMENT);
    expect_error(STATUS_INVALID_ARGUMENT, "9223372036854775807 time stamps");
    ck_assert_int_eq(device->stamps_reserve(device, 2), STATUS_OK);
    ck_assert_int_eq(device->stamp(device, 2), STATUS_INVALID_ARGUMENT);
    expect_error(STATUS_INVALID_ARGUMENT, "time stamp 2 of 2");
    ck_assert_int_eq(device->stamp(device, 1), STATUS_OK);
    ck_assert_int_eq(device->stamps_read(device, 2, times), STATUS_STATE);
    expect_error(STATUS_STATE, "time stamp 0 of 2 was never taken");
    ck_assert_int_eq(device->stamp(device, 0), STATUS_OK);
    ck_assert_int_eq(device->stamps_read(device, 3, times), STATUS_STATE);
    expect_error(STATUS_STATE, "time stamp 2 of 3 was never taken");
    ck_assert_int_eq(device->stamps_read(device, 2, times), STATUS_OK);
    ck_assert_int_eq(device->stamps_reserve(device, 2), STATUS_OK); // drops earlier stamps
    ck_assert_int_eq(device->stamps_read(device, 1, times), STATUS_STATE);
    expect_error(STATUS_STATE, "never taken");
    ck_assert_int_eq(device->stamps_read(device, 0, times), STATUS_OK);
    expect_no_error();
}
END_TEST

START_TEST(a_fork_has_no_stamps) {
    Device *device = cuda_device_use();
    int64_t times[2];
    ck_assert_int_eq(take_two(device, times), STATUS_OK);
    pid_t child = fork();
    if (child == 0) {
        bool refused = device->stamp(device, 0) == STATUS_DEVICE;
        error_clear();
        refused = refused && take_two(device, times) == STATUS_DEVICE;
        _exit(refused && strstr(error_message(), "a fork of the one that opened it") ? 0 : 1);
    }
    int status = -1;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(take_two(device, times), STATUS_OK);
}
END_TEST

// ---- failures ----------------------------------------------------------------------------------
START_TEST(any_call_may_fail_and_the_next_stamps_are_right) {
    Fail fail_once = (Fail)cuda_device_fake("fake_fail_once");
    Calls calls = (Calls)cuda_device_fake("fake_calls");
    void (*fail_never)(void) = cuda_device_fake("fake_fail_never");
    Device *device = cuda_device_use();
    int64_t times[2], n = 1, failures = 0;
    for (;; n++) {
        fail_once("any", calls("any") + n, OUT_OF_MEMORY);
        int64_t before = calls("any");
        Status status = take_two(device, times);
        if (!status && calls("any") < before + n) break;
        if (!status) continue; // the failed call was not needed
        failures++;
        const char *text = error_message();
        ck_assert_msg(strstr(text, "at cuda/events.c:") && strstr(text, " HINT: "), "%s", text);
        expect_error(STATUS_OUT_OF_MEMORY, "");
    }
    fail_never();
    ck_assert_int_gt(failures, 15); // records, waits and differences
    ck_assert_int_eq(take_two(device, times), STATUS_OK);
    ck_assert_int_eq(times[1], times[0]);
}
END_TEST

START_TEST(memory_for_stamps_may_run_out) {
    Device *device = cuda_device_use();
    for (int64_t count = 1; count <= 4096; count *= 8) {
        memory_fail_at(1);
        ck_assert_int_eq(device->stamps_reserve(device, count), STATUS_OUT_OF_MEMORY);
        memory_fail_at(0);
        expect_error(STATUS_OUT_OF_MEMORY, "");
        ck_assert_int_eq(device->stamps_reserve(device, count), STATUS_OK);
        ck_assert_int_eq(device->stamp(device, count - 1), STATUS_OK);
    }
}
END_TEST

START_TEST(a_dead_device_says_so) {
    Fail fail_once = (Fail)cuda_device_fake("fake_fail_once");
    Calls calls = (Calls)cuda_device_fake("fake_calls");
    Device *device = cuda_device_use();
    int64_t times[2];
    ck_assert_int_eq(device->stamps_reserve(device, 2), STATUS_OK);
    fail_once("kernel", calls("kernel") + 1, ILLEGAL_ADDRESS);
    Tensor *x = tensor_full_new(SHAPE(3), 1.0f);
    device->stamp(device, 0);
    device->stamp(device, 1);
    ck_assert_int_eq(device->stamps_read(device, 2, times), STATUS_DEVICE);
    expect_error(STATUS_DEVICE, "cuda: cudaStreamSynchronize at cuda/events.c:");
    ck_assert_int_eq(device->stamps_reserve(device, 2), STATUS_DEVICE);
    expect_error(STATUS_DEVICE, "no longer usable in this process");
    ck_assert_int_eq(device->hold(device, 1), STATUS_DEVICE);
    expect_error(STATUS_DEVICE, "no longer usable in this process");
    tensor_free(x);
}
END_TEST

// ---- ranges ------------------------------------------------------------------------------------
START_TEST(a_tool_sees_a_range_around_each_op) {
    char path[PATH_MAX] = "";
    ck_assert_int_gt(readlink("/proc/self/exe", path, sizeof path - 32), 0);
    strcpy(strrchr(path, '/'), "/plugins/libranges.so");
    if (access(path, R_OK) != 0) test_skip("no headers of NVTX to build its tool with");
    setenv("NVTX_INJECTION64_PATH", path, 1);
    void *tool = dlopen(path, RTLD_NOW);
    ck_assert_msg(tool != NULL, "%s", dlerror());
    const char *(*name)(int) = (const char *(*)(int))dlsym(tool, "ranges_name");
    int (*depth)(void) = (int (*)(void))dlsym(tool, "ranges_depth");
    cuda_device_use();
    Tensor *x = tensor_full_new(SHAPE(3, 3), 1.0f);
    Scope *scope = scope_open();
    int first = 0;
    while (name(first)) first++;
    int outer = site_enter((uintptr_t)x, "encoder", "Sequential"),
        previous = site_enter((uintptr_t)&first, "fc1", "Linear");
    Tensor *y = tensor_matmul(x, x);
    tensor_slice(y, 0, 0, 1, 1); // a view launches nothing
    site_leave(previous);
    site_leave(outer);
    context_current()->phase = PHASE_BACKWARD_WEIGHT;
    ck_assert_ptr_nonnull(tensor_relu(y));
    context_current()->phase = PHASE_FORWARD;
    ck_assert_str_eq(name(first), "encoder.fc1/matmul/forward");
    ck_assert_str_eq(name(first + 1), "(model)/relu/backward_weight");
    ck_assert_ptr_null(name(first + 2));
    Fail fail_once = (Fail)cuda_device_fake("fake_fail_once");
    Calls calls = (Calls)cuda_device_fake("fake_calls");
    fail_once("cudaLaunchKernel", calls("cudaLaunchKernel") + 1, ILLEGAL_ADDRESS);
    ck_assert_ptr_null(tensor_relu(y));
    error_clear();
    ck_assert_int_eq(depth(), 0); // even for an op that failed
    scope_close(scope);
    tensor_free(x);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {stamps_tell_what_lies_between_to_the_nanosecond, 0},
        {a_quarter_of_an_hour_later_stamps_are_as_fine, 0},
        {held_back_a_device_does_not_wait_for_launches, 0},
        {stamps_that_are_not_there_are_refused, 0},
        {a_fork_has_no_stamps, 0},
        {any_call_may_fail_and_the_next_stamps_are_right, 0},
        {memory_for_stamps_may_run_out, 0},
        {a_dead_device_says_so, 0},
        {a_tool_sees_a_range_around_each_op, 0},
        {NULL, 0},
    };
    return harness_main("cuda_stamps", tests);
}
