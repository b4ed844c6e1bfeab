// elementwise.h -- internal to ops/: the loops and shape rules that element-wise ops share.
// The formula of an op is an inline function; the loop is compiled once around each.
#ifndef TENSOR_OPS_ELEMENTWISE_H
#define TENSOR_OPS_ELEMENTWISE_H

#include "tensor/math.h"
#include "tensor/op.h"
#include "tensor/ops.h"

Status infer_broadcast(OpCall *call);   // the NumPy broadcast of in[0] and in[1]
Status infer_like_second(OpCall *call); // an output like in[1]

extern const DTypeSignature floats_and_indices[1]; // in[0] float32, in[1] int64

static inline int64_t *tensor_indices(const Tensor *t) { return (int64_t *)(void *)tensor_raw(t); }

// params.value as the activation has it where nobody says otherwise; NULL: zeros.
OpParams activation_params(const Op *activation);

// What backward reads.
unsigned save_input(const OpCall *call);         // in[0]
unsigned save_inputs(const OpCall *call);        // in[0] and in[1]
unsigned save_output(const OpCall *call);        // out[0]
unsigned save_second_output(const OpCall *call); // out[1]
unsigned save_factors(const OpCall *call); // of in[0] and in[1], each for the other's gradient

// The gradient goes through as it is.
Status backward_same(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]);
// What a broadcast input owes: *slot = grad summed to the shape of `like` (grad itself when equal).
Status backward_sum_to(Tensor **slot, Tensor *grad, const Tensor *like);
// The same after one more element-wise op, written straight to the slot when nothing broadcast.
Status backward_binary_to(Tensor **slot, const Op *op, Tensor *a, Tensor *b, const Tensor *like);

// Strides of input i along the output's dims: 0 where it is broadcast.
void broadcast_strides(const Tensor *in, const Tensor *out, int64_t stride[TENSOR_MAX_DIMS]);

// y[i] = f(a[i], b[i]) for output elements [begin, end), any strides.
MATH_INLINE void binary_range(const OpCall *call, int64_t begin, int64_t end,
                              float (*f)(float, float)) {
    const Tensor *out = call->out[0];
    float *y = call_out(call, 0);
    int64_t sa[TENSOR_MAX_DIMS], sb[TENSOR_MAX_DIMS];
    broadcast_strides(call->in[0], out, sa);
    broadcast_strides(call->in[1], out, sb);
    int last = out->shape.ndim - 1;
    int64_t row = out->shape.ndim ? out->shape.dims[last] : 1;
    bool flat = tensor_is_contiguous(call->in[0]) && tensor_is_contiguous(call->in[1]) &&
                call->in[0]->numel == out->numel && call->in[1]->numel == out->numel;
    if (flat) row = out->numel;
    int64_t step_a = flat        ? 1
                     : last >= 0 ? sa[last]
                                 : 0,
            step_b = flat        ? 1
                     : last >= 0 ? sb[last]
                                 : 0;
    while (begin < end) { // one row of the output, or what [begin, end) holds of it, at a time
        int64_t column = begin % row, rest = begin / row, n = row - column;
        if (n > end - begin) n = end - begin;
        const float *a = call_in(call, 0) + column * step_a;
        const float *b = call_in(call, 1) + column * step_b;
        for (int d = flat ? -1 : last - 1; d >= 0; d--) {
            int64_t index = rest % out->shape.dims[d];
            rest /= out->shape.dims[d];
            a += index * sa[d];
            b += index * sb[d];
        }
        float *to = y + begin;
        if (step_a == 1 && step_b == 1)
            for (int64_t i = 0; i < n; i++) to[i] = f(a[i], b[i]);
        else if (step_a == 1 && step_b == 0)
            for (int64_t i = 0; i < n; i++) to[i] = f(a[i], *b);
        else if (step_a == 0 && step_b == 1)
            for (int64_t i = 0; i < n; i++) to[i] = f(*a, b[i]);
        else
            for (int64_t i = 0; i < n; i++) to[i] = f(a[i * step_a], b[i * step_b]);
        begin += n;
    }
}

// Backward, of a gradient and what was saved: f(grad[i], kept[i]).
MATH_INLINE void gradient_range(const OpCall *call, int64_t begin, int64_t end,
                                float (*f)(float, float)) {
    const float *grad = call_in(call, 0), *kept = call_in(call, 1);
    float *out = call_out(call, 0);
    for (int64_t i = begin; i < end; i++) out[i] = f(grad[i], kept[i]);
}

// A binary element-wise op that broadcasts, and a unary one with one output like its input.
#define ELEMENTWISE_BINARY                                                                         \
    .flags = OP_STRIDED, .work = op_work_elements, .n_inputs = 2, .infer = infer_broadcast
#define ELEMENTWISE_UNARY .n_inputs = 1, .infer = op_infer_same
// grad, and a saved tensor of the same shape -> gradient
#define ELEMENTWISE_BACKWARD .work = op_work_elements, .n_inputs = 2, .infer = op_infer_same

#endif
