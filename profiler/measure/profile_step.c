// profile_step.c -- runs one step of the profiled work: inference, forward and backward, or
// training.
#include "profiler/measure/profile_parts.h"
#include "tensor/clock.h"

static Status begin_backward(Work *work, Shape out) {
    Status status = layer_parameters(work->model, &work->parameters);
    if (status) return status;
    work->out = tensor_new_as(out, DTYPE_FLOAT32, MEM_ACTIVATION);
    if (!work->out) return error_status();
    if (work->out->device->has_data) tensor_fill(work->out, 1.0f);
    return autograd_enable();
}

Status work_begin(Work *work, OptimizerConfig config, Shape out) {
    if (work->kind == PROFILE_BACKWARD) return begin_backward(work, out);
    if (work->kind != PROFILE_TRAINING) return STATUS_OK;
    work->optimizer = optimizer_new(work->model, config);
    return work->optimizer ? STATUS_OK : error_status();
}

void work_end(Work *work) {
    optimizer_free(work->optimizer);
    tensor_free(work->out);
    parameter_list_free(&work->parameters);
    work->optimizer = NULL;
    work->out = NULL;
}

static void forget_gradients(const Work *work) {
    if (work->optimizer) optimizer_zero_grad(work->optimizer);
    for (int i = 0; i < work->parameters.count; i++)
        tensor_zero_grad(work->parameters.items[i].tensor);
    if (work->kind == PROFILE_BACKWARD && (work->x->flags & TENSOR_LEAF_GRAD))
        tensor_zero_grad(work->x);
}

Tensor *work_loss(const Work *work, Tensor *out) {
    LossFunction loss = work->loss ? work->loss : loss_cross_entropy;
    return loss(out, work->labels);
}

int64_t work_batches(const Work *work) { return work->accumulate > 1 ? work->accumulate : 1; }

static Tensor *forward(const Work *work) {
    Tensor *out = layer_forward(work->model, work->x);
    return work->kind == PROFILE_TRAINING ? work_loss(work, out) : out;
}

static void backward(const Work *work, Tensor *out) {
    if (work->kind == PROFILE_TRAINING)
        autograd_backward_scaled(out, 1.0f / (float)work_batches(work));
    else if (work->kind == PROFILE_BACKWARD && tensor_wants_grad(out))
        autograd_backward_from(out, work->out); // otherwise nothing in it wants a gradient
}

// Ends a phase: marks it by a stamp, or waits for the device so that the host's clock is right.
static int64_t end_phase(Device *device, int64_t stamp) {
    if (!device_has_stamps(device))
        device_synchronize(device);
    else if (stamp >= 0)
        device->stamp(device, stamp);
    return clock_nanoseconds();
}

static int64_t stamp_after(int64_t first, int64_t phases) {
    return first < 0 ? -1 : first + phases;
}

int64_t work_stamps(const Work *work) { return 2 + 2 * work_batches(work); }

Status work_step(const Work *work, StepTimes *times) { return work_step_marked(work, -1, times); }

// Runs batch number i of the step. Returns the end of its backward, and adds its phases to *times.
static int64_t run_batch(const Work *work, int64_t i, int64_t first, int64_t start,
                         StepTimes *times) {
    Device *device = work->x->device;
    Tensor *out = forward(work);
    int64_t forward_end = end_phase(device, stamp_after(first, 2 * i + 1));
    backward(work, out);
    int64_t backward_end = end_phase(device, stamp_after(first, 2 * i + 2));
    times->forward += 1e-9 * (double)(forward_end - start);
    times->backward += 1e-9 * (double)(backward_end - forward_end);
    return backward_end;
}

// The last batch's output lives until after the optimizer's step, as in train_fit.
Status work_step_marked(const Work *work, int64_t first, StepTimes *times) {
    Device *device = work->x->device;
    int64_t batches = work_batches(work);
    if (work->kind == PROFILE_INFERENCE) no_grad_begin();
    *times = (StepTimes){0};
    int64_t start = first < 0 ? clock_nanoseconds() : end_phase(device, first), at = start;
    Scope *scope = NULL;
    for (int64_t i = 0; i < batches; i++) {
        scope_close(scope);
        scope = scope_open();
        if (i == 0) forget_gradients(work);
        at = run_batch(work, i, first, at, times);
    }
    if (work->optimizer) optimizer_step(work->optimizer);
    int64_t update_end = end_phase(device, stamp_after(first, 2 * batches + 1));
    scope_close(scope);
    device_synchronize(device); // with stamps, the only wait in a step
    if (work->kind == PROFILE_INFERENCE) no_grad_end();
    times->optimizer = 1e-9 * (double)(update_end - at);
    times->total = 1e-9 * (double)(clock_nanoseconds() - start);
    times->launching = 1e-9 * (double)(update_end - start);
    return error_status();
}

void work_infer(Layer *model, Tensor *x) {
    no_grad_begin();
    Scope *scope = scope_open();
    layer_forward(model, x);
    scope_close(scope);
    no_grad_end();
}

double work_infer_seconds(const Work *work) {
    int64_t start = clock_nanoseconds();
    work_infer(work->model, work->x);
    device_synchronize(work->x->device);
    return 1e-9 * (double)(clock_nanoseconds() - start);
}
