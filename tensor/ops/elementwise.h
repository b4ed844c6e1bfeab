// elementwise.h -- internal to ops/: the loops and shape rules that element-wise ops share. The
// formula of an op is an inline function; each gets its own compiled loop.
#ifndef TENSOR_OPS_ELEMENTWISE_H
#define TENSOR_OPS_ELEMENTWISE_H

#include <string.h>

#include "tensor/math_whole.h"
#include "tensor/op.h"
#include "tensor/ops.h"

Status infer_broadcast(OpCall *call); // NumPy broadcast of all inputs present; dtype of the first
                                      // one
Status infer_broadcast_to(OpCall *call, DType dtype); // broadcasts, with this dtype
Status infer_condition(OpCall *call);                 // broadcasts, float32
Status infer_like_second(OpCall *call);               // one output like in[1]

extern const DTypeSignature floats_and_indices[1]; // in[0] float32, in[1] int64

bool mutates_all(const OpCall *call, int input); // every input is written in place

static inline float *tensor_floats(const Tensor *t) { return (float *)(void *)tensor_raw(t); }
static inline int64_t *tensor_indices(const Tensor *t) { return (int64_t *)(void *)tensor_raw(t); }

// params.value filled with the activation's defaults; NULL: zeros.
OpParams activation_params(const Op *activation);

// Implementations of Op.saves: the tensors that backward reads.
unsigned save_input(const OpCall *call);         // in[0]
unsigned save_inputs(const OpCall *call);        // in[0] and in[1]
unsigned save_output(const OpCall *call);        // out[0]
unsigned save_second_output(const OpCall *call); // out[1]
unsigned save_factors(const OpCall *call);       // in[0], in[1]: each if the other needs a gradient

// Passes the gradient on unchanged.
Status backward_same(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]);
// Gradient of a broadcast input: *slot = grad summed to the shape of `like` (grad if equal).
Status backward_sum_to(Tensor **slot, Tensor *grad, const Tensor *like);
// Applies one more element-wise op before this sum; without broadcast, straight into the slot.
Status backward_binary_to(Tensor **slot, const Op *op, Tensor *a, Tensor *b, const Tensor *like);

// Strides of an input along the output's dims: 0 where it is broadcast, or absent.
void broadcast_strides(const Tensor *in, const Tensor *out, int64_t stride[TENSOR_MAX_DIMS]);

// The rows of an output, along its last dimension, and how its first n inputs step along them. All
// is one row if each input is either laid out like the output or a single number. An absent input k
// is the number params.value[k - 1].
typedef struct Broadcast {
    const float *in[3];
    const int64_t *sizes;
    int dims; // number of dimensions before a row
    int64_t row, stride[3][TENSOR_MAX_DIMS], step[3];
} Broadcast;

MATH_INLINE Broadcast broadcast_of(const OpCall *call, int n) {
    const Tensor *out = call->out[0];
    Broadcast b;
    bool flat = true;
    for (int k = 0; k < n; k++) {
        const Tensor *in = call->in[k];
        bool number = !in || in->numel == 1;
        b.in[k] = in ? call_in(call, k) : &call->params.value[k - 1];
        b.step[k] = number ? 0 : 1;
        flat = flat && (number || (tensor_is_contiguous(in) && in->numel == out->numel));
    }
    b.sizes = out->shape.dims;
    b.dims = flat ? 0 : out->shape.ndim - 1; // an output that is not flat has a dimension
    b.row = flat ? out->numel : out->shape.dims[b.dims];
    for (int k = 0; k < n && !flat; k++) {
        broadcast_strides(call->in[k], out, b.stride[k]);
        b.step[k] = b.stride[k][b.dims];
    }
    return b;
}

// Number of output elements of [begin, end) in the same row as the first one; from[] gets the
// addresses of the inputs there.
MATH_INLINE int64_t broadcast_row(const Broadcast *b, int n, int64_t begin, int64_t end,
                                  const float *from[]) {
    int64_t column = begin % b->row, rest = begin / b->row, left = b->row - column;
    for (int k = 0; k < n; k++) from[k] = b->in[k] + column * b->step[k];
    for (int d = b->dims - 1; d >= 0; d--) {
        int64_t index = rest % b->sizes[d];
        rest /= b->sizes[d];
        for (int k = 0; k < n; k++) from[k] += index * b->stride[k][d];
    }
    return left < end - begin ? left : end - begin;
}

// y[i] = f(a[i], b[i]) for output elements [begin, end), any strides.
MATH_INLINE Status binary_range(const OpCall *call, int64_t begin, int64_t end,
                                float (*f)(float, float)) {
    Broadcast rows = broadcast_of(call, 2);
    int64_t step_a = rows.step[0], step_b = rows.step[1];
    float *out = call_out(call, 0);
    for (int64_t n; begin < end; begin += n) {
        const float *from[2];
        n = broadcast_row(&rows, 2, begin, end, from);
        const float *a = from[0], *b = from[1];
        float *y = out + begin;
        if (step_a == 1 && step_b == 1)
            for (int64_t i = 0; i < n; i++) y[i] = f(a[i], b[i]);
        else if (step_a == 1 && step_b == 0)
            for (int64_t i = 0; i < n; i++) y[i] = f(a[i], *b);
        else if (step_a == 0 && step_b == 1)
            for (int64_t i = 0; i < n; i++) y[i] = f(*a, b[i]);
        else
            for (int64_t i = 0; i < n; i++) y[i] = f(a[i * step_a], b[i * step_b]);
    }
    return STATUS_OK;
}

// The int64 version of binary_range. to_float: y is a condition, in float32.
MATH_INLINE Status whole_range(const OpCall *call, int64_t begin, int64_t end,
                               int64_t (*f)(int64_t, int64_t), bool to_float) {
    Broadcast rows = broadcast_of(call, 2);
    for (int64_t n; begin < end; begin += n) {
        const float *from[2]; // addresses as if of floats; only their distance in elements counts
        n = broadcast_row(&rows, 2, begin, end, from);
        const int64_t *a = tensor_indices(call->in[0]) + (from[0] - rows.in[0]);
        const int64_t *b = tensor_indices(call->in[1]) + (from[1] - rows.in[1]);
        float *condition = to_float ? call_out(call, 0) + begin : NULL;
        int64_t *y = to_float ? NULL : tensor_indices(call->out[0]) + begin;
        for (int64_t i = 0; i < n && to_float; i++)
            condition[i] = (float)f(a[i * rows.step[0]], b[i * rows.step[1]]);
        for (int64_t i = 0; i < n && !to_float; i++)
            y[i] = f(a[i * rows.step[0]], b[i * rows.step[1]]);
    }
    return STATUS_OK;
}
Status check_divisor(const OpCall *call); // fails if an int64 divisor is 0
// The integer that a float holds; otherwise a number that check_whole_number refuses.
MATH_INLINE int64_t whole_number(float value) { return value < 0x1p63f ? math_to_int64(value) : 0; }
// Checks that the scalar params.value[0] of an int64 op equals params.whole.
Status check_whole_number(const OpCall *call);

// Backward from a gradient and a saved tensor: f(grad[i], kept[i]).
MATH_INLINE Status gradient_range(const OpCall *call, int64_t begin, int64_t end,
                                  float (*f)(float, float)) {
    const float *grad = call_in(call, 0), *kept = call_in(call, 1);
    float *out = call_out(call, 0);
    for (int64_t i = begin; i < end; i++) out[i] = f(grad[i], kept[i]);
    return STATUS_OK;
}

// Copies n elements of `size` bytes, `stride` elements apart, to adjacent places.
static inline void strided_copy(char *to, const char *from, int64_t n, int64_t stride,
                                int64_t size) {
    if (stride == 1) {
        memcpy(to, from, (size_t)(n * size));
    } else if (size == (int64_t)sizeof(float)) { // the common case: a loop over whole floats
        float *y = (float *)(void *)to;
        const float *x = (const float *)(const void *)from;
        for (int64_t i = 0; i < n; i++) y[i] = x[i * stride];
    } else {
        for (int64_t i = 0; i < n; i++)
            memcpy(to + i * size, from + i * stride * size, (size_t)size);
    }
}

// For ops that take float32 or int64; Op.whole, if any, is the int64 kernel.
#define NUMBERS .dtypes = dtypes_any, .n_dtypes = 2
// A binary element-wise op that broadcasts; a unary one with one output like its input.
#define ELEMENTWISE_BINARY                                                                         \
    .flags = OP_STRIDED, .work = op_work_elements, .n_inputs = 2, .infer = infer_broadcast
#define ELEMENTWISE_UNARY .n_inputs = 1, .infer = op_infer_same
// Inputs: grad and a saved tensor of equal shape; output: the gradient.
#define ELEMENTWISE_BACKWARD .work = op_work_elements, .n_inputs = 2, .infer = op_infer_same

#endif
