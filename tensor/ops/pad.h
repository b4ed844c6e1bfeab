// pad.h -- internal: along one dimension, the input that an output of pad reads, and the outputs
// that read an input; on the CPU and on CUDA.
#ifndef TENSOR_OPS_PAD_H
#define TENSOR_OPS_PAD_H

#include "tensor/math.h"
#include "tensor/op.h"
#include "tensor/ops.h"

typedef struct PadSide { // one dimension
    int64_t before, size, out;
    uint32_t mode; // PadMode
} PadSide;

static inline PadSide pad_side(const OpParams *params, int d, int64_t size) {
    PadSide side = {params->pads.before[d], size, 0, params->flags};
    side.out = size + side.before + params->pads.after[d];
    return side;
}

// Index of the input that output o copies; -1: the constant.
MATH_INLINE int64_t pad_source(const PadSide *side, int64_t o) {
    int64_t i = o - side->before, last = side->size - 1;
    if (i >= 0 && i <= last) return i;
    if (side->mode == PAD_REPLICATE) return i < 0 ? 0 : last;
    if (side->mode == PAD_REFLECT) return i < 0 ? -i : 2 * last - i;
    if (side->mode == PAD_CIRCULAR) return (i % side->size + side->size) % side->size;
    return -1;
}

// Number of outputs that may read input i, and the k-th of them; -1: no such output.
MATH_INLINE int64_t pad_readers(const PadSide *side, int64_t i) {
    int64_t own = i + side->before;
    if (side->mode == PAD_REPLICATE)
        return 1 + (i == 0 ? side->before : 0) +
               (i == side->size - 1 ? side->out - side->before - side->size : 0);
    if (side->mode == PAD_CIRCULAR) return (side->out - 1 - own % side->size) / side->size + 1;
    return side->mode == PAD_REFLECT ? 3 : 1;
}

MATH_INLINE int64_t pad_reader(const PadSide *side, int64_t i, int64_t k) {
    int64_t own = i + side->before, o = own;
    if (side->mode == PAD_REPLICATE) return (i == 0 ? 0 : own) + k;
    if (side->mode == PAD_CIRCULAR) return own % side->size + k * side->size;
    if (side->mode == PAD_REFLECT && k == 0) o = i > 0 ? side->before - i : -1;
    if (side->mode == PAD_REFLECT && k == 2)
        o = i < side->size - 1 ? own + 2 * (side->size - 1 - i) : -1;
    return o < side->out ? o : -1;
}

#endif
