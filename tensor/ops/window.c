// window.c -- checks shared by convolutions and pools: the window, and the resulting sizes.
#include "tensor/ops/window.h"

Status window_check(const OpCall *call, const OpWindow *w) {
    for (int d = 0; d < 2; d++) {
        if (w->kernel[d] < 1)
            return op_error(call, STATUS_INVALID_ARGUMENT,
                            "a kernel of %d x %d. HINT: from 1 to 2^31 - 1", w->kernel[0],
                            w->kernel[1]);
        if (w->stride[d] < 1 || w->dilation[d] < 1)
            return op_error(call, STATUS_INVALID_ARGUMENT,
                            "stride (%d, %d), dilation (%d, %d). HINT: from 1 to 2^31 - 1",
                            w->stride[0], w->stride[1], w->dilation[0], w->dilation[1]);
        if (w->before[d] < 0 || w->after[d] < 0)
            return op_error(call, STATUS_INVALID_ARGUMENT,
                            "padding (%d, %d, %d, %d). HINT: from 0 to 2^31 - 1", w->before[0],
                            w->after[0], w->before[1], w->after[1]);
    }
    return STATUS_OK;
}

// Number of windows that fit into the padded input; at most 0: none. In ceil mode one more window
// may pass the end, if it begins inside the input or the padding before it.
static int64_t count_windows(const OpWindow *w, int d, bool ceil_mode) {
    int64_t span = (int64_t)(w->kernel[d] - 1) * w->dilation[d] + 1, stride = w->stride[d];
    int64_t room = (int64_t)w->input[d] + w->before[d] + w->after[d] - span;
    int64_t count = divide_down(ceil_mode ? room + stride - 1 : room, stride) + 1;
    if (ceil_mode && (count - 1) * stride >= (int64_t)w->input[d] + w->before[d]) count--;
    return count;
}

Status window_infer(OpCall *call, OpWindow *w, int64_t channels, unsigned flags) {
    const Tensor *x = call->in[0];
    Shape shape = {.ndim = 4, .dims = {x->shape.dims[0], channels}};
    if (window_check(call, w)) return error_status();
    for (int d = 0; d < 2; d++) {
        if (x->shape.dims[2 + d] > INT32_MAX)
            return op_error(call, STATUS_OVERFLOW, "sizes end at 2^31 - 1. HINT: slice it");
        w->input[d] = (int32_t)x->shape.dims[2 + d];
        int64_t count = count_windows(w, d, (flags & POOL_CEIL) != 0);
        if (count < 1)
            return op_error(call, STATUS_SHAPE,
                            "a kernel of %d x %d, dilation (%d, %d), does not fit into %lld x %lld "
                            "with padding. HINT: a smaller kernel or more padding",
                            w->kernel[0], w->kernel[1], w->dilation[0], w->dilation[1],
                            (long long)x->shape.dims[2] + w->before[0] + w->after[0],
                            (long long)x->shape.dims[3] + w->before[1] + w->after[1]);
        shape.dims[2 + d] = count;
    }
    return op_output(call, 0, DTYPE_FLOAT32, shape);
}

// ---- pools -----------------------------------------------------------------------------------
Pool2dOptions pool2d_defaults(int64_t kernel) {
    return (
        Pool2dOptions){.kernel_h = kernel, .kernel_w = kernel, .dilation_h = 1, .dilation_w = 1};
}

OpParams pool_params(Pool2dOptions o) {
    int64_t stride_h = o.stride_h ? o.stride_h : o.kernel_h;
    int64_t stride_w = o.stride_w ? o.stride_w : o.kernel_w;
    OpWindow window = {.kernel = {window_narrow(o.kernel_h), window_narrow(o.kernel_w)},
                       .stride = {window_narrow(stride_h), window_narrow(stride_w)},
                       .dilation = {window_narrow(o.dilation_h), window_narrow(o.dilation_w)},
                       .before = {window_narrow(o.padding_top), window_narrow(o.padding_left)},
                       .after = {window_narrow(o.padding_bottom), window_narrow(o.padding_right)},
                       .groups = 1};
    return (OpParams){.window = window, .flags = o.ceil_mode ? POOL_CEIL : 0};
}

static OpWork work_of(const OpCall *call, const Tensor *outputs) {
    const OpWindow *w = &call->params.window;
    return (OpWork){.items = pool_plane_count(outputs),
                    .cost = (double)pool_plane_size(outputs) * w->kernel[0] * w->kernel[1]};
}
OpWork pool_work(const OpCall *call) { return work_of(call, call->out[0]); }
OpWork pool_backward_work(const OpCall *call) { return work_of(call, call->in[0]); }

Status pool_infer(OpCall *call) {
    const Tensor *x = call->in[0];
    OpWindow *w = &call->params.window;
    if (x->shape.ndim != 4)
        return op_error(call, STATUS_SHAPE, "needs images. HINT: x is (n, c, h, w)");
    for (int d = 0; d < 2; d++)
        if (w->before[d] > w->kernel[d] / 2 || w->after[d] > w->kernel[d] / 2)
            return op_error(call, STATUS_INVALID_ARGUMENT,
                            "padding (%d, %d, %d, %d). HINT: at most half the kernel of %d x %d",
                            w->before[0], w->after[0], w->before[1], w->after[1], w->kernel[0],
                            w->kernel[1]);
    if (x->shape.dims[2] == 0 || x->shape.dims[3] == 0 ||
        (double)x->shape.dims[2] * (double)x->shape.dims[3] > INT32_MAX)
        return op_error(call, STATUS_SHAPE,
                        "a plane has from 1 to 2^31 - 1 elements. HINT: x is (n, c, h, w)");
    if (window_infer(call, w, x->shape.dims[1], call->params.flags)) return error_status();
    if ((double)call_numel(call) * w->kernel[0] * w->kernel[1] < 0x1p60) return STATUS_OK;
    return op_error(call, STATUS_OVERFLOW, "more than 2^60 steps. HINT: a smaller kernel");
}

Status pool_backward_infer(OpCall *call) {
    const Tensor *grad = call->in[0];
    const OpWindow *w = &call->params.window;
    if (grad->shape.ndim != 4)
        return op_error(call, STATUS_SHAPE,
                        "needs a gradient (n, c, h, w). HINT: of the pool's output");
    return op_output(call, 0, DTYPE_FLOAT32,
                     SHAPE(grad->shape.dims[0], grad->shape.dims[1], w->input[0], w->input[1]));
}
