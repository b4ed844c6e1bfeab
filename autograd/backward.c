// backward.c -- walks the tape from the loss to its first op, and hands each gradient to whoever
// waits for it: the node that made the tensor, or the leaf.
#include <stdio.h>

#include "autograd/tape.h"
#include "tensor/memory.h"

// ---- where gradients go ----------------------------------------------------------------------
// The gradient's own buffer, made at the leaf's first backward and kept from then on.
static Status leaf_buffer(Tensor *leaf, Tensor **slot, bool *empty) {
    if (*slot) return STATUS_OK;
    Context *context = context_current();
    Device *device = context->dry_run ? device_meta() : leaf->device;
    Tensor *grad = handle_new("gradient", DTYPE_FLOAT32, leaf->ndim, leaf->shape, device, NULL);
    if (!grad) return error_status();
    if (handle_allocate(grad, MEM_GRADIENT)) {
        tensor_disown(grad);
        return error_status();
    }
    *slot = grad;
    *empty = true;
    return STATUS_OK;
}

// A leaf that is freed, while the tape still knows its shape: nobody could read its gradient.
static bool is_freed(const Tensor *leaf) { return leaf->owners == 0; }

// The buffer that a rule may write its result straight into: the empty gradient of a leaf.
static Status destination_of(Tensor *in, Tensor **destination) {
    *destination = NULL;
    if (!(in->flags & TENSOR_LEAF_GRAD) || is_freed(in)) return STATUS_OK;
    bool *empty;
    Tensor **slot = context_gradient(in, &empty);
    if (!slot || leaf_buffer(in, slot, empty)) return error_status();
    if (*empty) *destination = *slot;
    return STATUS_OK;
}

static Status deliver_to_leaf(Tensor *leaf, Tensor *grad) {
    bool *empty;
    Tensor **slot = context_gradient(leaf, &empty);
    if (!slot || leaf_buffer(leaf, slot, empty)) return error_status();
    bool first = *empty;
    *empty = false;
    if (!first) return tensor_accumulate(*slot, grad);
    if (grad->storage == (*slot)->storage) return STATUS_OK; // it was written where it belongs
    return OP_INTO(slot, op_contiguous, NULL, grad);         // a view of somebody else's: copy
}

static Status deliver_to_node(Tape *tape, Tensor *in, Tensor *grad) {
    Tensor **slot = &tape->nodes[in->node].grad[in->node_output];
    if (!*slot) {
        tensor_own(grad);
        *slot = grad;
        return STATUS_OK;
    }
    // Only a gradient that nobody else looks at may be added to in place.
    bool exclusive =
        (*slot)->owners == 1 && (*slot)->storage->references == 1 && tensor_is_contiguous(*slot);
    Tensor *sum = exclusive ? *slot : NULL;
    if (OP_INTO(&sum, op_accumulate, NULL, *slot, grad)) return error_status();
    if (sum == *slot) return STATUS_OK;
    tensor_own(sum);
    tensor_disown(*slot);
    *slot = sum;
    return STATUS_OK;
}

// ---- one node --------------------------------------------------------------------------------
static Status changed(const Node *node, const char *what, int index, uint32_t was, uint32_t now) {
    return error_set(
        STATUS_STATE,
        "backward of %s: its %s %d was written in place after it was saved (version %u, "
        "now %u). HINT: write to a copy, or run backward first",
        node->call.op->name, what, index, was, now);
}

static Status check_versions(const Node *node) {
    Tensor *const *in = node_inputs(node);
    const uint32_t *version = node_versions(node);
    for (int i = 0; i < node->call.n_in; i++)
        if ((node->saved & SAVE_IN(i)) && in[i]->storage->version != version[i])
            return changed(node, "input", i, version[i], in[i]->storage->version);
    for (int i = 0; i < node->call.n_out; i++) {
        uint32_t now = node->saved & SAVE_OUT(i) ? node->call.out[i]->storage->version : 0;
        if ((node->saved & SAVE_OUT(i)) && now != node->out_version[i])
            return changed(node, "output", i, node->out_version[i], now);
    }
    return STATUS_OK;
}

static void set_unsaved(Tensor *t, bool on) {
    t->flags = (uint8_t)(on ? t->flags | TENSOR_UNSAVED : t->flags & ~TENSOR_UNSAVED);
}

// Buffers that were not declared in Op.saves must not be read, even while they happen to be alive.
static void mark_unsaved(Node *node, bool mark) {
    Tensor **in = node_inputs(node), **out = node->call.out;
    for (int i = 0; i < node->call.n_in; i++)
        if (in[i]) set_unsaved(in[i], mark);
    for (int i = 0; i < node->call.n_out; i++) set_unsaved(out[i], mark);
    if (!mark) return;
    for (int i = 0; i < node->call.n_in; i++) // saved in one place is readable in all
        if (in[i] && (node->saved & SAVE_IN(i))) set_unsaved(in[i], false);
    for (int i = 0; i < node->call.n_out; i++)
        if (node->saved & SAVE_OUT(i)) set_unsaved(out[i], false);
    for (int i = 0; i < node->call.n_out; i++) // what arrived is read, whatever tensor it is
        if (node->grad[i]) set_unsaved(node->grad[i], false);
}

static bool is_parameter(const Tensor *t) {
    return (t->flags & TENSOR_LEAF_GRAD) && t->storage && t->storage->category == MEM_PARAMETER;
}

// A rule that left its destination alone meant NULL, zero: what is in the buffer is old.
static void drop_unwritten(const OpCall *call, Tensor *grad_in[], const uint32_t version[]) {
    for (int i = 0; i < call->n_in; i++) {
        if (!grad_in[i] || !call_needs(call, i)) continue;
        bool *empty;
        Tensor **slot = NULL;
        if (call->in[i]->flags & TENSOR_LEAF_GRAD) slot = context_gradient(call->in[i], &empty);
        if (slot && *empty && grad_in[i] == *slot && grad_in[i]->storage->version == version[i])
            grad_in[i] = NULL;
    }
}

// version: of each destination, before the rule.
static Status run_rule(Context *context, Node *node, Tensor *grad_in[], uint32_t version[]) {
    OpCall *call = &node->call;
    call->in = node_inputs(node);
    context->backward_weights = 0;
    for (int i = 0; i < call->n_in; i++) {
        grad_in[i] = NULL;
        version[i] = 0;
        if (!call_needs(call, i)) continue;
        if (is_parameter(call->in[i])) context->backward_weights |= (uint64_t)1 << i;
        bool repeated = false; // one leaf at two inputs: the first writes, the second is added
        for (int k = 0; k < i; k++) {
            if (call->in[k] != call->in[i]) continue;
            repeated = true;
            version[i] = version[k];
        }
        if (!repeated && destination_of(call->in[i], &grad_in[i])) return error_status();
        if (grad_in[i]) version[i] = grad_in[i]->storage->version;
    }
    context->backward_slots = grad_in;
    context->backward_count = call->n_in;
    mark_unsaved(node, true);
    Status status = call->op->backward(call, node->grad, grad_in);
    mark_unsaved(node, false);
    context->backward_slots = NULL;
    if (!status) drop_unwritten(call, grad_in, version);
    return status;
}

static Status deliver(Tape *tape, Node *node, Tensor *grad_in[]) {
    OpCall *call = &node->call;
    for (int i = 0; i < call->n_in; i++) {
        Tensor *in = call->in[i], *grad = grad_in[i];
        if (!grad || !call_needs(call, i)) continue;
        bool leaf = in->flags & TENSOR_LEAF_GRAD;
        if (!leaf && in->tape_generation != tape->recorder.generation) continue; // frozen meanwhile
        if (leaf && is_freed(in)) continue;
        if (!tensor_same_shape(grad, in)) {
            char got[SHAPE_TEXT], want[SHAPE_TEXT];
            return error_set(STATUS_SHAPE,
                             "backward of %s: the gradient of input %d has shape %s, "
                             "not %s",
                             call->op->name, i, shape_text(tensor_shape(grad), got),
                             shape_text(tensor_shape(in), want));
        }
        Status status = leaf ? deliver_to_leaf(in, grad) : deliver_to_node(tape, in, grad);
        if (status) return status;
    }
    return STATUS_OK;
}

static Status backward_node(Context *context, Tape *tape, Node *node) {
    enum { FEW = 8 };
    Tensor *few[FEW], **grad_in = few;
    uint32_t few_versions[FEW], *version = few_versions;
    if (check_versions(node)) return error_status();
    if (node->call.n_in > FEW) {
        size_t n = (size_t)node->call.n_in;
        grad_in = memory_new(n * (sizeof(Tensor *) + sizeof(uint32_t)));
        if (!grad_in) return STATUS_OUT_OF_MEMORY;
        version = (uint32_t *)(void *)(grad_in + n);
    }
    context->site = node->site; // backward is charged to the layer that caused it
    Scope *scope = scope_open();
    Status status = scope ? run_rule(context, node, grad_in, version) : error_status();
    if (!status) status = deliver(tape, node, grad_in);
    scope_close(scope);
    if (grad_in != few) memory_free(grad_in);
    return status;
}

// ---- the walk --------------------------------------------------------------------------------
static Status check_start(const Tape *tape, const Tensor *output, const char *what) {
    if (!output) return error_set(STATUS_INVALID_ARGUMENT, "%s: the loss is NULL", what);
    if (tape && output->tape_generation == tape->recorder.generation &&
        output->node < (uint32_t)tape->count)
        return STATUS_OK;
    if (output->tape_generation != 0)
        return error_set(STATUS_STATE,
                         "%s: the graph of this loss was freed by an earlier backward. "
                         "HINT: run forward again, or use autograd_backward_keep",
                         what);
    return error_set(STATUS_STATE,
                     "%s: no graph leads to this loss. HINT: mark its parameters with "
                     "tensor_requires_grad, and compute it outside no_grad",
                     what);
}

static void drop_gradients(Node *node) {
    for (int i = 0; i < node->call.n_out; i++) {
        if (node->grad[i]) tensor_disown(node->grad[i]);
        node->grad[i] = NULL;
    }
}

static Status walk(Context *context, Tape *tape, int last, bool keep) {
    for (int i = last; i >= 0; i--) {
        Node *node = &tape->nodes[i];
        bool reached = node->grad[0] || node->grad[1] || node->grad[2];
        if (reached && backward_node(context, tape, node)) return error_status();
        if (keep)
            drop_gradients(node);
        else
            tape_drop_node(tape, node); // its buffers are free as soon as they can be
    }
    return STATUS_OK;
}

// d loss / d loss = 1
static Tensor *seed_new(Context *context, const Tensor *loss) {
    Device *device = context->dry_run ? device_meta() : loss->device;
    Tensor *seed =
        handle_new("gradient", DTYPE_FLOAT32, loss->ndim, loss->shape, device, context->scope);
    if (!seed || handle_allocate(seed, MEM_ACTIVATION) || tensor_fill(seed, 1.0f)) return NULL;
    return seed;
}

// `grad` NULL: starts from 1.
static Status backward_from(Tensor *output, Tensor *grad, bool keep) {
    Context *context = context_current();
    Tape *tape = tape_current();
    Node *node = &tape->nodes[output->node];
    Phase phase = context->phase;
    int site = context->site;
    Scope *scope = scope_open();
    if (!scope) return error_status();
    context->phase = PHASE_BACKWARD;
    context->site = node->site;
    context->no_grad++;
    if (!grad) grad = seed_new(context, output);
    Status status = error_status();
    if (grad) {
        tensor_own(grad);
        node->grad[output->node_output] = grad;
        status = walk(context, tape, (int)output->node, keep);
    }
    context->no_grad--;
    context->phase = phase;
    context->site = site;
    scope_close(scope);
    if (!keep)
        tape_clear(tape);
    else if (status)
        for (int i = 0; i < tape->count; i++) drop_gradients(&tape->nodes[i]);
    return status;
}

static Status backward(Tensor *loss, bool keep) {
    if (error_pending()) return error_status();
    if (check_start(tape_current(), loss, "autograd_backward")) return error_status();
    if (loss->numel == 1) return backward_from(loss, NULL, keep);
    char text[SHAPE_TEXT];
    return error_set(STATUS_SHAPE,
                     "autograd_backward: the loss has shape %s, not one element. "
                     "HINT: tensor_mean it, or use autograd_backward_from",
                     shape_text(tensor_shape(loss), text));
}

Status autograd_backward(Tensor *loss) { return backward(loss, false); }
Status autograd_backward_keep(Tensor *loss) { return backward(loss, true); }

Status autograd_backward_from(Tensor *output, Tensor *grad_output) {
    if (error_pending()) return error_status();
    if (check_start(tape_current(), output, "autograd_backward_from")) return error_status();
    if (grad_output && grad_output->dtype != DTYPE_FLOAT32)
        return error_set(STATUS_DTYPE, "autograd_backward_from: the gradient is %s, not float32",
                         dtype_name((DType)grad_output->dtype));
    if (grad_output && tensor_same_shape(output, grad_output))
        return backward_from(output, grad_output, false);
    return error_set(STATUS_SHAPE,
                     "autograd_backward_from: the gradient must have the output's shape");
}
