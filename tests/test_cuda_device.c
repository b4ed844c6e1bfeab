// test_cuda_device.c -- the cuda device itself, over the fake runtime: machines without a usable
// GPU, copies, memory that runs out, calls and kernels that fail. Values of ops: test_cuda.c.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "layers/train/fit.h"
#include "tests/cuda_device.h"
#include "tests/expect.h"

// Of cudaError_t and cublasStatus_t, whose headers are not on every machine.
enum {
    OUT_OF_MEMORY = 2,
    STUB_LIBRARY = 34,
    INSUFFICIENT_DRIVER = 35,
    NO_DEVICE = 100,
    ILLEGAL_ADDRESS = 700,
    DRIVER_MISMATCH = 803,
    UNKNOWN = 999,
    BLAS_EXECUTION_FAILED = 13,
};

// One line that says what, where and what to do about it; clears it.
static void check_one_line(Status status, const char *mention) {
    const char *text = error_message();
    ck_assert_msg(strchr(text, '\n') == NULL, "%s", text);
    ck_assert_msg(strstr(text, " HINT: ") != NULL, "%s", text);
    expect_error(status, mention);
}

// A function of the fake runtime, as tests/emulator/fake_runtime.h declares it.
#define FAKE(result, name, ...) result (*name)(__VA_ARGS__) = cuda_device_fake(#name)

// ---- no GPU ------------------------------------------------------------------------------------
static const struct {
    int error;
    const char *mention;
} drivers[] = {
    {INSUFFICIENT_DRIVER, "cuda: the NVIDIA driver is for CUDA 1"},
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
    bool old = drivers[_i].error == INSUFFICIENT_DRIVER; // or none: how the fake sees it
    check_one_line(STATUS_DEVICE, old ? "NVIDIA driver" : drivers[_i].mention);
    fake_set_driver(0);
    fake_set_devices(1);
    cuda_device_use(); // tried again, it opens
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

// ---- failures ----------------------------------------------------------------------------------
enum { ROWS = 5, PIXELS = 7, CLASSES = 3 };

typedef struct Session {
    Layer *model;
    Optimizer *optimizer;
    Tensor *x, *labels;
} Session;

static Session session_new(void) {
    Session s = {.model = mlp_new((int64_t[]){PIXELS, 6, CLASSES}, 3, mlp_defaults())};
    s.optimizer = optimizer_new(s.model, optimizer_defaults(OPTIMIZER_ADAMW));
    s.x = tensor_normal_new(SHAPE(ROWS, PIXELS), 0.0f, 1.0f);
    s.labels = tensor_from_labels_new(SHAPE(ROWS), (int64_t[ROWS]){0, 1, 2, 1, 0});
    return s;
}

static void session_free(Session *s) {
    tensor_free(s->labels);
    tensor_free(s->x);
    optimizer_free(s->optimizer);
    layer_free(s->model);
}

static Status session_step(Session *s) {
    double loss;
    return train_step(s->model, s->optimizer, s->x, s->labels, &loss);
}

// Out of memory is not sticky: whatever call it met, alone or with all after it, the next step
// succeeds. A single allocation that fails is tried again, so it may pass unnoticed.
START_TEST(any_call_of_a_training_step_may_fail_and_the_next_step_succeeds) {
    FAKE(void, fake_fail, const char *, int64_t, int);
    FAKE(void, fake_fail_once, const char *, int64_t, int);
    FAKE(void, fake_fail_never, void);
    FAKE(int64_t, fake_calls, const char *);
    cuda_device_use();
    Session s = session_new();
    ck_assert_msg(session_step(&s) == STATUS_OK, "%s", error_message());
    int64_t before = fake_calls("any");
    ck_assert_int_eq(session_step(&s), STATUS_OK);
    int64_t calls = fake_calls("any") - before, failures = 0;
    for (int64_t n = 1; n <= calls; n++) {
        (_i ? fake_fail : fake_fail_once)("any", fake_calls("any") + n, OUT_OF_MEMORY);
        if (session_step(&s)) {
            failures++;
            check_one_line(STATUS_OUT_OF_MEMORY, "cuda");
        }
        fake_fail_never();
        ck_assert_int_eq(autograd_node_count(), 0);
        ck_assert_msg(session_step(&s) == STATUS_OK, "after call %d: %s", (int)n, error_message());
    }
    ck_assert_int_gt(calls, 10);
    ck_assert_int_gt(failures, _i ? calls * 3 / 4 : calls / 3);
    session_free(&s);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

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

// RIDGEPOINT_CUDA_SYNC=1 finds the kernel; without it the error comes up when values are read.
START_TEST(after_a_kernel_died_nothing_works_and_every_call_says_so) {
    FAKE(void, fake_fail_once, const char *, int64_t, int);
    FAKE(int64_t, fake_calls, const char *);
    bool synchronous = _i == 1;
    if (synchronous) setenv("RIDGEPOINT_CUDA_SYNC", "1", 1);
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
    expect_values(x, 1, 1, 1); // the parent's still works
    tensor_free(x);
}
END_TEST

// ---- what kernels find ----------------------------------------------------------------------
START_TEST(a_label_out_of_range_is_told_when_values_are_read) {
    cuda_device_use();
    Tensor *logits = tensor_full_new(SHAPE(3, 4), 1.0f);
    Tensor *labels = tensor_from_labels_new(SHAPE(3), (int64_t[]){0, 4, 1});
    float value;
    Scope *scope = scope_open();
    Tensor *loss = tensor_cross_entropy(logits, labels);
    expect_no_error(); // the kernel runs behind our back
    ck_assert_int_eq(tensor_read_floats(loss, &value), STATUS_INVALID_ARGUMENT);
    check_one_line(STATUS_INVALID_ARGUMENT, "cross_entropy: an index or label is out of range");
    ck_assert_int_eq(tensor_read_floats(loss, &value), STATUS_OK); // told once
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
                   "embedding: an index or label is out of range (the last "
                   "one found: at 2)");
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

int main(void) {
    const HarnessTest tests[] = {
        {a_driver_that_does_not_work_is_named_in_one_line, DRIVERS},
        {a_label_out_of_range_is_told_when_values_are_read, 0},
        {an_index_out_of_range_picks_zeros_adds_nothing_and_is_told, 0},
        {any_call_may_fail_while_the_device_opens, 0},
        {the_list_says_what_gpu_it_is, 0},
        {copies_of_any_size_arrive_and_their_source_may_be_reused_at_once, 5},
        {cached_blocks_make_room_before_memory_counts_as_exhausted, 0},
        {any_call_of_a_training_step_may_fail_and_the_next_step_succeeds, 2},
        {a_product_that_fails_says_so, 0},
        {after_a_kernel_died_nothing_works_and_every_call_says_so, 2},
        {a_fork_may_not_use_what_its_parent_opened, 0},
        {NULL, 0},
    };
    return harness_main("cuda_device", tests);
}
