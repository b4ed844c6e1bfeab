// elementwise.c -- shared by many ops: shapes, tensors saved for backward, gradients.
#include "tensor/ops/elementwise.h"

// Broadcasts the shape *to with one more shape.
static Status broadcast_with(const OpCall *call, const Shape *more, Shape *to) {
    for (; to->ndim < more->ndim; to->ndim++) { // adds a leading dimension
        memmove(&to->dims[1], &to->dims[0], (size_t)to->ndim * sizeof to->dims[0]);
        to->dims[0] = 1;
    }
    for (int i = 0; i < more->ndim; i++) {
        int d = to->ndim - more->ndim + i;
        int64_t *size = &to->dims[d], other = more->dims[i];
        if (other == *size || other == 1) continue;
        if (*size != 1)
            return op_error(call, STATUS_SHAPE,
                            "cannot broadcast %lld against %lld in dimension %d. HINT: sizes must "
                            "be equal or 1, counted from the last",
                            (long long)*size, (long long)other, d);
        *size = other;
    }
    return STATUS_OK;
}

Status infer_broadcast_to(OpCall *call, DType dtype) {
    Shape shape = call->in[0]->shape;
    for (int k = 1; k < call->n_in; k++)
        if (call->in[k] && broadcast_with(call, &call->in[k]->shape, &shape)) return error_status();
    return op_output_of(call, 0, dtype, &shape);
}

Status infer_broadcast(OpCall *call) { return infer_broadcast_to(call, call->in[0]->dtype); }
Status infer_condition(OpCall *call) { return infer_broadcast_to(call, DTYPE_FLOAT32); }

Status check_divisor(const OpCall *call) {
    const Tensor *b = call->in[1];
    if (b->dtype != DTYPE_INT64 || call_numel(call) == 0) return STATUS_OK;
    Broadcast rows = broadcast_of(call, 2);
    for (int64_t begin = 0, n; begin < call_numel(call); begin += n) {
        const float *from[2];
        n = broadcast_row(&rows, 2, begin, call_numel(call), from);
        const int64_t *at = tensor_indices(b) + (from[1] - rows.in[1]);
        int64_t different = rows.step[1] ? n : 1; // a divisor repeated along a row counts once
        for (int64_t i = 0; i < different; i++)
            if (at[i * rows.step[1]] == 0)
                return op_error(call, STATUS_INVALID_ARGUMENT,
                                "a whole number divided by 0, at element %lld of the result. HINT: "
                                "the second input has zeros",
                                (long long)(begin + i));
    }
    return STATUS_OK;
}

Status check_whole_number(const OpCall *call) {
    if (call->params.value[0] == (float)call->params.whole) return STATUS_OK;
    return op_error(call, STATUS_DTYPE, "%g beside int64. HINT: a whole number, below 2^63",
                    (double)call->params.value[0]);
}

unsigned save_input(const OpCall *call) {
    (void)call;
    return SAVE_IN(0);
}

unsigned save_inputs(const OpCall *call) {
    (void)call;
    return SAVE_IN(0) | SAVE_IN(1);
}

unsigned save_output(const OpCall *call) {
    (void)call;
    return SAVE_OUT(0);
}

unsigned save_second_output(const OpCall *call) {
    (void)call;
    return SAVE_OUT(1);
}

unsigned save_factors(const OpCall *call) {
    return (call_needs(call, 0) ? SAVE_IN(1) : 0) | (call_needs(call, 1) ? SAVE_IN(0) : 0);
}

bool mutates_all(const OpCall *call, int input) {
    (void)call, (void)input;
    return true;
}

const DTypeSignature floats_and_indices[1] = {{2, {DTYPE_FLOAT32, DTYPE_INT64}}};

Status infer_like_second(OpCall *call) { return op_output_like(call, 0, call->in[1]); }

Status backward_same(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    (void)saved;
    grad_in[0] = grad_out[0];
    return STATUS_OK;
}

void broadcast_strides(const Tensor *in, const Tensor *out, int64_t stride[TENSOR_MAX_DIMS]) {
    int missing = out->shape.ndim - (in ? in->shape.ndim : 0);
    for (int i = 0; i < out->shape.ndim; i++) {
        int k = i - missing;
        stride[i] = k < 0 || in->shape.dims[k] == 1 ? 0 : in->stride[k];
    }
}

Status backward_sum_to(Tensor **slot, Tensor *grad, const Tensor *like) {
    if (!grad) return error_status();
    if (shape_equal(grad->shape, like->shape)) {
        *slot = grad;
        return STATUS_OK;
    }
    return OP_INTO(slot, op_sum_to, (&(OpParams){.shape = like->shape}), grad);
}

Status backward_binary_to(Tensor **slot, const Op *op, Tensor *a, Tensor *b, const Tensor *like) {
    if (!a || !b) return error_status(); // making a or b failed
    bool direct = a->numel >= b->numel && shape_equal(a->shape, like->shape);
    if (direct) return OP_INTO(slot, *op, NULL, a, b);
    return backward_sum_to(slot, OP_RUN(*op, NULL, a, b), like);
}
