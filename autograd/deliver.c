// deliver.c -- delivers gradients: to the node that made the tensor, or to the tensor itself, a
// leaf or a result whose gradient is retained.
#include "autograd/tape.h"

// True if only the tape still knows the tensor: nobody could read its gradient.
static bool is_freed(const Tensor *t) { return t->owners == 0; }

// Makes the gradient's buffer when the first gradient arrives; it is kept from then on.
static Status make_buffer(Tensor *tensor) {
    if (tensor->grad) return STATUS_OK;
    Tensor *grad = handle_new("gradient", DTYPE_FLOAT32, &tensor->shape, tensor->device, NULL);
    if (!grad) return error_status();
    if (handle_allocate(grad, MEM_GRADIENT)) {
        tensor_disown(grad);
        return error_status();
    }
    tensor->grad = grad;
    tensor->grad_empty = true;
    return STATUS_OK;
}

Status deliver_destination(Tensor *leaf, Tensor **destination) {
    if (is_freed(leaf)) return STATUS_OK;
    if (make_buffer(leaf)) return error_status();
    if (leaf->grad_empty) *destination = leaf->grad;
    return STATUS_OK;
}

Status deliver_to_tensor(Tensor *tensor, Tensor *grad) {
    if (is_freed(tensor)) return STATUS_OK;
    if (make_buffer(tensor)) return error_status();
    bool first = tensor->grad_empty;
    tensor->grad_empty = false;
    if (!first) return tensor_accumulate(tensor->grad, grad);
    if (grad->storage == tensor->grad->storage) return STATUS_OK; // the rule wrote it in place
    return OP_INTO(&tensor->grad, op_contiguous, NULL, grad);     // not its own: copy
}

// Only a gradient that nobody else looks at may be added to in place.
static bool is_exclusive(const Tensor *grad) {
    return grad->owners == 1 && grad->storage->references == 1 && tensor_is_contiguous(grad);
}

static Status deliver_to_node(Node *node, int output, Tensor *grad) {
    Tensor **slot = &node->grad[output];
    // A leaf's buffer that another input got, too, must be copied: more will be added to it.
    bool leafs = grad->storage->category == MEM_GRADIENT;
    if (leafs && !*slot && !(grad = OP_RUN(op_contiguous, NULL, grad))) return error_status();
    if (!*slot) {
        tensor_own(grad);
        *slot = grad;
        return STATUS_OK;
    }
    Tensor *sum = is_exclusive(*slot) ? *slot : NULL;
    if (OP_INTO(&sum, op_accumulate, NULL, *slot, grad)) return error_status();
    if (sum == *slot) return STATUS_OK;
    tensor_own(sum);
    tensor_disown(*slot);
    *slot = sum;
    return STATUS_OK;
}

// True if the node reads this storage: a leaf's gradient may be an operand.
static bool reads(const Node *node, const Storage *storage) {
    Tensor **in = node_inputs(node);
    for (int i = 0; i < node->call.n_in; i++)
        if (in[i] && in[i]->storage == storage) return true;
    return false;
}

Tensor *deliver_so_far(Recorder *self, int input) {
    Tape *tape = (Tape *)self;
    if (!call_needs(&tape->running->call, input)) return NULL;
    Tensor *in = node_inputs(tape->running)[input], *sum = NULL;
    const Node *node = node_of(tape, in);
    if (node) {
        sum = node->grad[in->origin_output];
        if (sum && !is_exclusive(sum)) sum = NULL;
    } else if ((in->flags & TENSOR_LEAF_GRAD) && !is_freed(in)) {
        sum = in->grad_empty ? NULL : in->grad;
    }
    if (!sum || reads(tape->running, sum->storage)) return NULL;
    tape->added |= (uint64_t)1 << input;
    return sum;
}

static Status wrong_shape(const OpCall *call, int input, const Tensor *grad) {
    const Tensor *in = call->in[input];
    char got[SHAPE_TEXT], want[SHAPE_TEXT];
    return error_set(STATUS_SHAPE, "backward of %s: the gradient of input %d has shape %s, not %s",
                     call->op->name, input, shape_text(grad->shape, got),
                     shape_text(in->shape, want));
}

Status deliver_all(Tape *tape, Node *node, Tensor *grad_in[]) {
    OpCall *call = &node->call;
    for (uint64_t left = call->needs_grad & ~tape->added; left;) {
        int i = bit_take(&left);
        Tensor *in = call->in[i], *grad = grad_in[i];
        if (!grad) continue;
        bool leaf = in->flags & TENSOR_LEAF_GRAD;
        Node *from = leaf ? NULL : node_of(tape, in);
        if (!leaf && !from) continue; // frozen since the forward pass
        if (!same_shape(&grad->shape, &in->shape)) return wrong_shape(call, i, grad);
        Status status =
            leaf ? deliver_to_tensor(in, grad) : deliver_to_node(from, in->origin_output, grad);
        if (status) return status;
    }
    return STATUS_OK;
}
