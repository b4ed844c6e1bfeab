// cuda_task.c -- counts calls of the fake runtime around each op. cuda_clock.c has the clock.
#include <stdlib.h>

#include "tests/cuda/cuda_task.h"

enum { ROWS = 5, PIXELS = 7, CLASSES = 3 };

typedef struct Watch {
    ProfilerHook hook;
    CudaTask *task;
    int64_t (*calls)(const char *function);
    int64_t before;
} Watch;

static int64_t work_asked_for(const Watch *watch) {
    static const char *const functions[] = {"cudaLaunchKernel", "cublasSgemm",
                                            "cublasSgemmStridedBatched"};
    int64_t count = 0;
    for (int i = 0; i < 3; i++) count += watch->calls(functions[i]);
    return count;
}

static void watch_begin(void *argument, const OpCall *call) {
    Watch *watch = argument;
    (void)call;
    watch->before = work_asked_for(watch);
}

static void watch_end(void *argument, const OpCall *call) {
    Watch *watch = argument;
    CudaTask *task = watch->task;
    ck_assert_int_lt(task->n_ops, 64);
    task->ops[task->n_ops] = call->op;
    task->work[task->n_ops++] = work_asked_for(watch) - watch->before;
    task->launches += !(call->op->flags & OP_VIEW);
}

// Watches the second step, with gradients: no op in it is a memset, which takes another time.
static void watch_step(CudaTask *task) {
    Watch watch = {.task = task, .calls = cuda_device_fake("fake_calls")};
    watch.hook.begin = watch_begin;
    watch.hook.end = watch_end;
    watch.hook.argument = &watch;
    ck_assert_int_eq(cuda_task_step(task), STATUS_OK);
    int64_t memsets = watch.calls("cudaMemsetAsync");
    profiler_hook_add(&watch.hook);
    ck_assert_int_eq(cuda_task_step(task), STATUS_OK);
    profiler_hook_remove(&watch.hook);
    ck_assert_int_eq(watch.calls("cudaMemsetAsync"), memsets);
}

static void be_busy(void *argument, const OpCall *call) {
    const CudaTask *task = argument;
    if (!(call->op->flags & OP_VIEW)) cuda_clock_pass(task->host);
}

void cuda_task_start(CudaTask *task, int64_t host) {
    *task = (CudaTask){.host = host};
    // Without caches the device frees every tensor and waits for that, so that an op's time would
    // include launches.
    unsetenv("RIDGEPOINT_ALLOC");
    void (*set_times)(CudaTimes) = cuda_device_fake("fake_set_times");
    cuda_device_use();
    task->model = mlp_new((int64_t[]){PIXELS, 6, CLASSES}, 3, mlp_defaults());
    task->optimizer = optimizer_new(task->model, optimizer_defaults(OPTIMIZER_ADAMW));
    task->x = tensor_normal_new(SHAPE(ROWS, PIXELS), 0.0f, 1.0f);
    task->labels = tensor_from_labels_new(SHAPE(ROWS), (int64_t[ROWS]){0, 1, 2, 1, 0});
    expect_no_error();
    set_times((CudaTimes){CUDA_KERNEL, CUDA_COPY, 10, 2000000});
    cuda_clock_use(CUDA_READING);
    watch_step(task);
    task->busy.end = be_busy;
    task->busy.argument = task;
    profiler_hook_add(&task->busy);
}

void cuda_task_free(CudaTask *task) {
    profiler_hook_remove(&task->busy);
    tensor_free(task->labels);
    tensor_free(task->x);
    optimizer_free(task->optimizer);
    layer_free(task->model);
    ck_assert_int_eq(expect_live_bytes(), 0);
}

Status cuda_task_step(CudaTask *task) {
    Scope *scope = scope_open();
    optimizer_zero_grad(task->optimizer);
    autograd_backward(loss_cross_entropy(layer_forward(task->model, task->x), task->labels));
    optimizer_step(task->optimizer);
    scope_close(scope);
    return error_status();
}
