// test_cuda_device.c -- the cuda device itself, over the fake runtime: machines without a usable
// GPU, copies, memory that runs out, a fork, the time of reports. test_cuda.c tests values of ops,
// test_cuda_failures.c every call that may fail.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "autograd/autograd.h"
#include "tensor/ops.h"
#include "tests/cuda/cuda_device.h"
#include "tests/helpers/expect.h"

// Codes of cudaError_t and cublasStatus_t, whose headers are not on every machine.
enum {
    OUT_OF_MEMORY = 2,
    STUB_LIBRARY = 34,
    INSUFFICIENT_DRIVER = 35,
    NO_DEVICE = 100,
    ILLEGAL_ADDRESS = 700,
    DRIVER_MISMATCH = 803,
    UNKNOWN = 999,
    OLD_DRIVER = 12020, // not an error, but a version that leads to one
    BLAS_EXECUTION_FAILED = 13,
};

// Checks that the message has one line with the problem, the place and a remedy; clears it.
static void check_one_line(Status status, const char *mention) {
    const char *text = error_message();
    ck_assert_msg(strchr(text, '\n') == NULL, "%s", text);
    ck_assert_msg(strstr(text, " HINT: ") != NULL, "%s", text);
    expect_error(status, mention);
}

// ---- no GPU ------------------------------------------------------------------------------------
static const struct {
    int error;
    const char *mention;
} drivers[] = {
    {INSUFFICIENT_DRIVER, "cuda: there is no NVIDIA driver on this machine. HINT: install one"},
    {OLD_DRIVER, "cuda: the NVIDIA driver is for CUDA 12.2, and this build needs "},
    {STUB_LIBRARY, "cuda: libcuda.so.1 is a toolkit's stub"},
    {NO_DEVICE, "cuda: the driver sees no GPU"},
    {DRIVER_MISMATCH, "cuda: cudaGetDeviceCount: "},
    {UNKNOWN, "(999). HINT: does nvidia-smi work?"},
};
enum { DRIVERS = sizeof(drivers) / sizeof(drivers[0]) };

START_TEST(a_driver_that_does_not_work_is_named_in_one_line) {
    FAKE(void, fake_set_driver, int);
    FAKE(void, fake_set_devices, int);
    if (drivers[_i].error == NO_DEVICE)
        fake_set_devices(0);
    else
        fake_set_driver(drivers[_i].error);
    ck_assert_ptr_null(device_open("cuda"));
    check_one_line(STATUS_DEVICE, drivers[_i].mention);
    fake_set_driver(0);
    fake_set_devices(1);
    cuda_device_use(); // it opens at the next try
}
END_TEST

START_TEST(any_call_may_fail_while_the_device_opens) {
    FAKE(void, fake_fail_once, const char *, int64_t, int);
    FAKE(int64_t, fake_calls, const char *);
    FAKE(int, fake_leaks, FILE *);
    int refusals = 0;
    for (;; refusals++) {
        fake_fail_once("any", fake_calls("any") + 1 + refusals, OUT_OF_MEMORY);
        if (device_open("cuda")) break;
        check_one_line(error_status(), "cuda");
        ck_assert_msg(fake_leaks(stderr) == 0, "after %d calls", refusals);
        ck_assert_int_lt(refusals, 100);
    }
    ck_assert_int_gt(refusals, 10);
}
END_TEST

START_TEST(the_list_says_what_gpu_it_is) {
    DeviceState states[3];
    cuda_device_use();
    device_list(states, 3);
    ck_assert_msg(states[2].usable, "%s", states[2].reason);
    ck_assert_msg(strstr(states[2].reason, " GB, compute capability ") != NULL, "%s",
                  states[2].reason);
}
END_TEST

// ---- copies ------------------------------------------------------------------------------------
START_TEST(copies_of_any_size_arrive_and_their_source_may_be_reused_at_once) {
    static const size_t counts[] = {0, 1, 1 << 19, (1 << 19) + 1, (1 << 22) + 77};
    Device *device = cuda_device_use();
    int64_t count = (int64_t)counts[_i];
    float *values = calloc((size_t)count + 1, sizeof *values);
    for (int64_t i = 0; i < count; i++) values[i] = (float)(i % 9973);
    Tensor *t = tensor_from_floats_new(SHAPE(count), values);
    ck_assert_msg(t != NULL, "%s", error_message());
    ck_assert_ptr_eq(t->device, device);
    memset(values, 0, (size_t)count * sizeof *values);
    ck_assert_int_eq(tensor_read_floats(t, values), STATUS_OK);
    for (int64_t i = 0; i < count; i++) ck_assert(values[i] == (float)(i % 9973));
    tensor_free(t);
    free(values);
}
END_TEST

START_TEST(waiting_for_the_device_waits_for_its_kernels) {
    FAKE(int64_t, fake_calls, const char *);
    FAKE(void, fake_set_streams, int);
    Device *device = cuda_device_use();
    fake_set_streams(FAKE_LATE);
    Tensor *x = tensor_full_new(SHAPE(3), 1.0f);
    ck_assert_int_eq(device_synchronize(device), STATUS_OK);
    int64_t before = fake_calls("kernel"); // kernels that ran, not those launched
    Scope *scope = scope_open();
    ck_assert_ptr_nonnull(tensor_relu(x));
    ck_assert_int_eq(fake_calls("kernel"), before);
    ck_assert_int_eq(device_synchronize(device), STATUS_OK);
    ck_assert_int_eq(fake_calls("kernel"), before + 1);
    scope_close(scope);
    tensor_free(x);
}
END_TEST

// ---- memory ------------------------------------------------------------------------------------
enum { MIB = 1 << 20, ELEMENTS = MIB / 4 };

START_TEST(cached_blocks_make_room_before_memory_counts_as_exhausted) {
    FAKE(void, fake_set_memory, size_t);
    FAKE(size_t, fake_live_bytes, void);
    cuda_device_use();
    fake_set_memory(fake_live_bytes() + 10 * MIB);
    for (int i = 0; i < 8; i++) tensor_free(tensor_new(SHAPE(ELEMENTS + i * 50000), DTYPE_FLOAT32));
    expect_no_error();
    Tensor *t = tensor_new(SHAPE(9 * ELEMENTS), DTYPE_FLOAT32);
    ck_assert_msg(t != NULL, "%s", error_message());
    ck_assert_ptr_null(tensor_new(SHAPE(2 * ELEMENTS), DTYPE_FLOAT32));
    check_one_line(STATUS_OUT_OF_MEMORY, "cuda memory exhausted: ");
    tensor_free(t);
    t = tensor_full_new(SHAPE(9 * ELEMENTS), 2.0f);
    ck_assert_msg(t != NULL, "%s", error_message());
    tensor_free(t);
    expect_no_error();
}
END_TEST

// Without caches memory checkers see even one byte beyond the block.
START_TEST(raw_scratch_is_as_long_as_was_asked) {
    FAKE(size_t, fake_live_bytes, void);
    setenv("RIDGEPOINT_ALLOC", "raw", 1);
    cuda_device_use();
    Tensor *x = tensor_full_new(SHAPE(3), 1.0f);
    Scope *scope = scope_open();
    size_t before = fake_live_bytes();
    ck_assert_ptr_nonnull(tensor_mse(x, x));
    ck_assert_uint_eq(fake_live_bytes() - before, sizeof(float) + sizeof(double)); // one block each
    scope_close(scope);
    tensor_free(x);
}
END_TEST

// ---- failures ----------------------------------------------------------------------------------
START_TEST(a_product_that_fails_says_so) {
    FAKE(void, fake_fail_once, const char *, int64_t, int);
    FAKE(int64_t, fake_calls, const char *);
    cuda_device_use();
    Scope *scope = scope_open();
    Tensor *x = tensor_full_new(SHAPE(2, 2), 1.0f);
    fake_fail_once("cublasSgemm", fake_calls("cublasSgemm") + 1, BLAS_EXECUTION_FAILED);
    ck_assert_ptr_null(tensor_matmul(x, x));
    check_one_line(STATUS_DEVICE, "matmul of (2, 2), (2, 2): cublasSgemm at cuda/product.cu:");
    ck_assert_ptr_nonnull(tensor_matmul(x, x));
    scope_close(scope);
    tensor_free(x);
}
END_TEST

// With RIDGEPOINT_CUDA_SYNC=1 the kernel is found; otherwise the error shows when values are read.
START_TEST(after_a_kernel_died_nothing_works_and_every_call_says_so) {
    FAKE(void, fake_fail_once, const char *, int64_t, int);
    FAKE(int64_t, fake_calls, const char *);
    FAKE(void, fake_set_streams, int);
    bool synchronous = _i == 1;
    if (synchronous) setenv("RIDGEPOINT_CUDA_SYNC", "1", 1);
    fake_set_streams(FAKE_LATE); // otherwise a launch would know its kernel's result at once
    cuda_device_use();
    Scope *scope = scope_open();
    Tensor *x = tensor_full_new(SHAPE(3), 1.0f);
    fake_fail_once("kernel", fake_calls("kernel") + 1, ILLEGAL_ADDRESS);
    Tensor *y = tensor_relu(x);
    if (synchronous) {
        ck_assert_ptr_null(y);
        check_one_line(STATUS_DEVICE, "relu of (3,): kernel ");
    } else {
        ck_assert_msg(y != NULL, "%s", error_message());
        tensor_item(tensor_slice(y, 0, 0, 1, 1));
        check_one_line(STATUS_DEVICE, "cuda: cudaEventSynchronize at cuda/copy.c:");
    }
    ck_assert_ptr_null(tensor_relu(x));
    check_one_line(STATUS_DEVICE, "cuda: no longer usable in this process: ");
    ck_assert_ptr_null(tensor_full_new(SHAPE(1 << 20), 1.0f));
    check_one_line(STATUS_DEVICE, "cuda: no longer usable in this process: ");
    scope_close(scope);
    tensor_free(x);
    expect_no_error();
}
END_TEST

START_TEST(a_fork_may_not_use_what_its_parent_opened) {
    cuda_device_use();
    Tensor *x = tensor_full_new(SHAPE(3), 1.0f);
    pid_t child = fork();
    if (child == 0) {
        float values[3];
        bool refused = tensor_read_floats(x, values) == STATUS_DEVICE;
        _exit(refused && strstr(error_message(), "a fork of the one that opened it") ? 0 : 1);
    }
    int status = -1;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    expect_values(x, 1, 1, 1); // the parent's device still works
    tensor_free(x);
}
END_TEST

// As on the CPU: integers, exact if they are an item, and views that are not dense.
START_TEST(any_tensor_is_read_as_floats) {
    cuda_device_use();
    Tensor *labels = tensor_from_labels_new(SHAPE(4), (int64_t[]){7, -1, 1000000007, 2});
    Tensor *x = tensor_from_floats_new(SHAPE(2, 3), (float[]){1, 2, 3, 4, 5, 6});
    Scope *scope = scope_open();
    expect_values(labels, 7, -1, 1000000000, 2);
    ck_assert(tensor_item(tensor_slice(labels, 0, 2, 3, 1)) == 1000000007.0);
    expect_values(tensor_transpose(tensor_slice(x, 1, 1, 3, 1), 0, 1), 2, 5, 3, 6);
    ck_assert(tensor_item(tensor_slice(tensor_slice(x, 0, 1, 2, 1), 1, 1, 2, 1)) == 5.0);
    expect_no_error();
    scope_close(scope);
    tensor_free(labels);
    tensor_free(x);
}
END_TEST

// ---- errors that kernels find ---------------------------------------------------------------
START_TEST(a_label_out_of_range_is_told_when_values_are_read) {
    cuda_device_use();
    Tensor *logits = tensor_full_new(SHAPE(3, 4), 1.0f);
    Tensor *labels = tensor_from_labels_new(SHAPE(3), (int64_t[]){0, 4, 1});
    float value;
    Scope *scope = scope_open();
    Tensor *loss = tensor_cross_entropy(logits, labels);
    expect_no_error(); // the kernel has not reported yet
    ck_assert_int_eq(tensor_read_floats(loss, &value), STATUS_INVALID_ARGUMENT);
    check_one_line(STATUS_INVALID_ARGUMENT, "cross_entropy: an index or label is out of range");
    ck_assert_int_eq(tensor_read_floats(loss, &value), STATUS_OK); // reported only once
    ck_assert(isnan(value));
    scope_close(scope);
    tensor_free(logits);
    tensor_free(labels);
}
END_TEST

START_TEST(an_index_out_of_range_picks_zeros_adds_nothing_and_is_told) {
    cuda_device_use();
    Tensor *table = tensor_full_new(SHAPE(3, 4), 1.0f);
    Tensor *index = tensor_from_labels_new(SHAPE(4), (int64_t[]){2, -1, 3, 2});
    float values[16];
    tensor_requires_grad(table, true);
    Scope *scope = scope_open();
    Tensor *y = tensor_embedding(index, table), *start = tensor_full_new(SHAPE(4, 4), 0.5f);
    ck_assert_int_eq(tensor_read_floats(y, values), STATUS_INVALID_ARGUMENT);
    check_one_line(STATUS_INVALID_ARGUMENT,
                   "embedding: an index or label is out of range (the last one found: at 2)");
    expect_values(y, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1);
    ck_assert_int_eq(autograd_backward_from(y, start), STATUS_OK);
    ck_assert_int_eq(tensor_read_floats(tensor_grad(table), values), STATUS_INVALID_ARGUMENT);
    check_one_line(STATUS_INVALID_ARGUMENT,
                   "embedding_backward: an index or label is out of range");
    expect_values(tensor_grad(table), 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1);
    scope_close(scope);
    tensor_free(start);
    tensor_free(table);
    tensor_free(index);
}
END_TEST

START_TEST(a_whole_number_divided_by_0_is_told_as_such) {
    cuda_device_use();
    Tensor *a = tensor_from_labels_new(SHAPE(3), (int64_t[]){7, 8, 9});
    Tensor *b = tensor_from_labels_new(SHAPE(3), (int64_t[]){2, 0, 3});
    int64_t values[3];
    Scope *scope = scope_open();
    Tensor *(*const of[])(Tensor *, Tensor *) = {tensor_div, tensor_fmod, tensor_remainder};
    static const char *const names[] = {"div", "fmod", "remainder"};
    Tensor *y = of[_i](a, b);
    ck_assert_int_eq(tensor_read_labels(y, values), STATUS_INVALID_ARGUMENT);
    ck_assert_ptr_eq(strstr(error_message(), names[_i]), error_message());
    check_one_line(STATUS_INVALID_ARGUMENT,
                   ": a whole number divided by 0 (the last one found: at 1). HINT: the second");
    ck_assert_int_eq(tensor_read_labels(y, values), STATUS_OK);
    ck_assert_int_eq(values[1], 0);
    scope_close(scope);
    tensor_free(a);
    tensor_free(b);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_driver_that_does_not_work_is_named_in_one_line, DRIVERS},
        {a_label_out_of_range_is_told_when_values_are_read, 0},
        {an_index_out_of_range_picks_zeros_adds_nothing_and_is_told, 0},
        {a_whole_number_divided_by_0_is_told_as_such, 3},
        {any_tensor_is_read_as_floats, 0},
        {any_call_may_fail_while_the_device_opens, 0},
        {the_list_says_what_gpu_it_is, 0},
        {copies_of_any_size_arrive_and_their_source_may_be_reused_at_once, 5},
        {waiting_for_the_device_waits_for_its_kernels, 0},
        {cached_blocks_make_room_before_memory_counts_as_exhausted, 0},
        {raw_scratch_is_as_long_as_was_asked, 0},
        {a_product_that_fails_says_so, 0},
        {after_a_kernel_died_nothing_works_and_every_call_says_so, 2},
        {a_fork_may_not_use_what_its_parent_opened, 0},
        {NULL, 0},
    };
    return harness_main("cuda_device", tests);
}
