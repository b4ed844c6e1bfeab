// leaf.c -- marks tensors whose gradient is wanted, and gives access to gradients.
#include "autograd/tape.h"
#include "tensor/shadow.h"

Status tensor_requires_grad(Tensor *leaf, bool wanted) {
    if (error_pending()) return error_status();
    if (!leaf) return error_set(STATUS_INVALID_ARGUMENT, "tensor_requires_grad: the leaf is NULL");
    leaf = tensor_here(leaf);
    if (!leaf) return error_status();
    if (leaf->dtype != DTYPE_FLOAT32)
        return error_set(STATUS_DTYPE, "tensor_requires_grad: only float32 tensors have gradients");
    if (leaf->origin)
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

Status tensor_retain_grad(Tensor *result) {
    if (error_pending()) return error_status();
    if (!result)
        return error_set(STATUS_INVALID_ARGUMENT, "tensor_retain_grad: the tensor is NULL");
    result = tensor_here(result);
    if (!result) return error_status();
    if (result->flags & TENSOR_LEAF_GRAD) return STATUS_OK; // a leaf always keeps its gradient
    if (!tensor_wants_grad(result))
        return error_set(STATUS_STATE,
                         "tensor_retain_grad: no gradient will come here. HINT: mark the "
                         "tensors it is computed from with tensor_requires_grad, and "
                         "ask before backward");
    result->flags |= TENSOR_RETAIN_GRAD;
    return STATUS_OK;
}

bool tensor_wants_grad(const Tensor *tensor) {
    const Tape *tape = tape_current();
    tensor = tensor_here((Tensor *)tensor); // does not modify the tensor
    if (!tensor || !tape || tensor->dtype != DTYPE_FLOAT32) return false;
    const Node *node = node_of(tape, tensor);
    return (tensor->flags & TENSOR_LEAF_GRAD) || (node && node->call.op); // NULL: walked already
}

Tensor *tensor_grad(Tensor *tensor) {
    tensor = tensor_here(tensor);
    if (!tensor) return NULL;
    if (tensor->origin && !(tensor->flags & TENSOR_RETAIN_GRAD)) {
        error_set(STATUS_STATE, "tensor_grad: this is an op's result, whose gradient is not kept. "
                                "HINT: tensor_retain_grad before backward");
        return NULL;
    }
    return tensor->grad_empty ? NULL : tensor->grad;
}

void tensor_zero_grad(Tensor *tensor) {
    tensor = tensor_here(tensor);
    if (tensor && tensor->grad) tensor->grad_empty = true;
}
