// leaf.c -- leaves: marking them, and looking at the gradients that backward left there.
#include "autograd/tape.h"

Status tensor_requires_grad(Tensor *leaf, bool wanted) {
    if (error_pending()) return error_status();
    if (!leaf) return error_set(STATUS_INVALID_ARGUMENT, "tensor_requires_grad: the leaf is NULL");
    if (leaf->dtype != DTYPE_FLOAT32)
        return error_set(STATUS_DTYPE, "tensor_requires_grad: only float32 tensors have gradients");
    Tape *tape = tape_current();
    if (tape && leaf->tape_generation == tape->recorder.generation)
        return error_set(STATUS_STATE, "tensor_requires_grad: this is an op's result, not a leaf. "
                                       "HINT: mark the tensors it was computed from");
    if (!wanted) {
        leaf->flags &= (uint8_t)~TENSOR_LEAF_GRAD;
        return STATUS_OK;
    }
    Status status = autograd_enable();
    if (!status) leaf->flags |= TENSOR_LEAF_GRAD;
    return status;
}

Tensor *tensor_grad(Tensor *leaf) {
    bool *empty;
    Tensor **grad = leaf ? context_gradient(leaf, &empty) : NULL;
    return grad && *grad && !*empty ? *grad : NULL;
}

void tensor_zero_grad(Tensor *leaf) {
    bool *empty;
    Tensor **grad = leaf ? context_gradient(leaf, &empty) : NULL;
    if (grad && *grad) *empty = true;
}
