// backward.c -- walks the tape from the loss back, over the nodes that lead to it, and runs the
// rule of each.
#include <stdio.h>

#include "autograd/tape.h"
#include "tensor/memory.h"

// ---- one node --------------------------------------------------------------------------------
static Status changed(const Node *node, const char *what, int index, uint32_t was, uint32_t now) {
    return error_set(
        STATUS_STATE,
        "backward of %s: its %s %d was written in place after it was saved (version %u, "
        "now %u). HINT: write to a copy, or run backward first",
        node->call.op->name, what, index, was, now);
}

static Status check_versions(const Node *node) {
    const Saved *in = node_saved(node), *out = node->saved_out;
    if (!node->saves) return STATUS_OK;
    for (int i = 0; i < node->call.n_in; i++)
        if (node_inputs(node)[i] && in[i].storage && in[i].storage->version != in[i].version)
            return changed(node, "input", i, in[i].version, in[i].storage->version);
    for (int i = 0; i < node->call.n_out; i++)
        if (out[i].storage && out[i].storage->version != out[i].version)
            return changed(node, "output", i, out[i].version, out[i].storage->version);
    return STATUS_OK;
}

// ---- what a rule may read ----------------------------------------------------------------------
// Saved buffers are readable while the rule runs, whoever freed their tensors meanwhile. Returns
// which were lent, for take_back.
static unsigned lend_saved(Node *node) {
    Tensor **in = node_inputs(node), **out = node->call.out;
    const Saved *saved = node_saved(node);
    unsigned lent = 0;
    if (!node->saves) return 0;
    for (int i = 0; i < node->call.n_in; i++) {
        if (!in[i] || in[i]->storage || !saved[i].storage) continue;
        in[i]->storage = saved[i].storage;
        lent |= SAVE_IN(i);
    }
    for (int i = 0; i < node->call.n_out; i++) {
        if (out[i]->storage || !node->saved_out[i].storage) continue;
        out[i]->storage = node->saved_out[i].storage;
        lent |= SAVE_OUT(i);
    }
    return lent;
}

static void take_back(Node *node, unsigned lent) {
    if (!lent) return;
    for (int i = 0; i < node->call.n_in; i++)
        if (lent & SAVE_IN(i)) node_inputs(node)[i]->storage = NULL;
    for (int i = 0; i < node->call.n_out; i++)
        if (lent & SAVE_OUT(i)) node->call.out[i]->storage = NULL;
}

static void set_unsaved(Tensor *t, bool on) {
    t->flags = (uint8_t)(on ? t->flags | TENSOR_UNSAVED : t->flags & ~TENSOR_UNSAVED);
}

// Buffers that were not declared in Op.saves must not be read, even while they happen to be alive.
static void mark_unsaved(Node *node) {
    Tensor **in = node_inputs(node), **out = node->call.out;
    const Saved *saved = node_saved(node);
    for (int i = 0; i < node->call.n_in; i++)
        if (in[i]) set_unsaved(in[i], true);
    for (int i = 0; i < node->call.n_out; i++) set_unsaved(out[i], true);
    for (int i = 0; node->saves && i < node->call.n_in; i++) // in one place saved: in all readable
        if (in[i] && saved[i].storage) set_unsaved(in[i], false);
    for (int i = 0; node->saves && i < node->call.n_out; i++)
        if (node->saved_out[i].storage) set_unsaved(out[i], false);
    for (int i = 0; i < node->call.n_out; i++) // what arrived is read, whatever tensor it is
        if (node->grad[i]) set_unsaved(node->grad[i], false);
}

static void unmark(Node *node) {
    Tensor **in = node_inputs(node);
    for (int i = 0; i < node->call.n_in; i++)
        if (in[i]) set_unsaved(in[i], false);
    for (int i = 0; i < node->call.n_out; i++) set_unsaved(node->call.out[i], false);
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
static Status run_rule(Context *context, Tape *tape, Node *node, Tensor *grad_in[],
                       uint32_t version[]) {
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
        bool leaf = call->in[i]->flags & TENSOR_LEAF_GRAD;
        if (leaf && !repeated && deliver_destination(call->in[i], &grad_in[i]))
            return error_status();
        if (grad_in[i]) version[i] = grad_in[i]->storage->version;
    }
    context->backward_slots = grad_in;
    context->backward_count = call->n_in;
    tape->running = node;
    tape->added = 0;
    unsigned lent = lend_saved(node);
    mark_unsaved(node);
    Status status = call->op->backward(call, node->grad, grad_in);
    unmark(node);
    take_back(node, lent);
    context->backward_slots = NULL;
    if (!status) drop_unwritten(call, grad_in, version);
    return status;
}

static Status retain(const Node *node) {
    for (int i = 0; i < node->call.n_out; i++) {
        Tensor *out = node->call.out[i];
        bool wanted = (out->flags & TENSOR_RETAIN_GRAD) && node->grad[i];
        if (wanted && deliver_to_tensor(out, node->grad[i])) return error_status();
    }
    return STATUS_OK;
}

static Status backward_node(Context *context, Tape *tape, Node *node) {
    enum { FEW = 8 };
    Tensor *few[FEW], **grad_in = few;
    uint32_t few_versions[FEW], *version = few_versions;
    if (node->call.n_in > FEW) {
        size_t n = (size_t)node->call.n_in;
        grad_in = memory_new(n * (sizeof(Tensor *) + sizeof(uint32_t)));
        if (!grad_in) return STATUS_OUT_OF_MEMORY;
        version = (uint32_t *)(void *)(grad_in + n);
    }
    context->site = node->site; // backward is charged to the layer that caused it
    Status status = retain(node);
    if (!status) status = run_rule(context, tape, node, grad_in, version);
    if (!status) status = deliver_all(tape, node, grad_in);
    if (grad_in != few) memory_free(grad_in);
    return status;
}

// ---- the walk --------------------------------------------------------------------------------
static Status check_start(const Tape *tape, const Tensor *output, const char *what) {
    if (!output) return error_set(STATUS_INVALID_ARGUMENT, "%s: the loss is NULL", what);
    if (!output->origin)
        return error_set(STATUS_STATE,
                         "%s: no graph leads to this loss. HINT: mark its parameters with "
                         "tensor_requires_grad, and compute it outside no_grad",
                         what);
    if (!tape || !node_of(tape, output))
        return error_set(STATUS_STATE,
                         "%s: this loss was recorded in another context. HINT: make that one the "
                         "current one",
                         what);
    return STATUS_OK;
}

static Status was_walked(const char *what) {
    return error_set(STATUS_STATE,
                     "backward: %s was freed by an earlier backward. HINT: run forward again, or "
                     "use autograd_backward_keep",
                     what);
}

static void reach(Node *node, int *count) {
    if (node->reached) return;
    node->reached = true;
    origin_hold(&node->origin);
    (*count)++;
}

// Marks the nodes that lead to `last`, and holds them: *count. What would stop the walk is found
// here, before any gradient has changed.
static Status reach_all(const Tape *tape, Node *last, int *count) {
    int visited = 0;
    *count = 0;
    if (!last->call.op) return was_walked("the graph of this loss");
    reach(last, count);
    for (Node *node = last; visited < *count; node = node->previous) {
        if (!node->reached) continue;
        visited++;
        if (check_versions(node)) return error_status();
        Tensor **in = node_inputs(node);
        for (int i = 0; i < node->call.n_in; i++) {
            Node *from = call_needs(&node->call, i) ? node_of(tape, in[i]) : NULL;
            if (!from) continue;
            if (!from->call.op) return was_walked("a part of this graph");
            reach(from, count);
        }
    }
    return STATUS_OK;
}

static void drop_gradients(Node *node) {
    for (int i = 0; i < node->call.n_out; i++) {
        if (node->grad[i]) tensor_disown(node->grad[i]);
        node->grad[i] = NULL;
    }
}

// Lets go of a node that was walked, and, unless it is kept, of what it saved. Returns the node
// before it: others than those that were reached may go with it.
static Node *leave(Node *node, bool keep) {
    node->reached = false;
    if (keep)
        drop_gradients(node);
    else
        node_spend(node);
    Node *previous = node->previous;
    origin_let_go(&node->origin);
    return previous;
}

static Status walk(Context *context, Tape *tape, Node *last, int count, bool keep) {
    Scope *scope = scope_open(); // what a rule leaves behind goes before the next one runs
    Status status = error_status();
    for (Node *node = last; count > 0;) {
        if (!node->reached) {
            node = node->previous;
            continue;
        }
        bool has_gradient = node->grad[0] || node->grad[1] || node->grad[2];
        if (has_gradient && !status) {
            status = backward_node(context, tape, node);
            scope_empty(scope);
        }
        node = leave(node, keep); // its buffers are free as soon as they can be
        count--;
    }
    scope_close(scope);
    return status;
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
    Node *node = node_of(tape, output);
    Phase phase = context->phase;
    int site = context->site, count;
    Scope *scope = scope_open();
    if (!scope) return error_status();
    context->phase = PHASE_BACKWARD;
    context->site = node->site;
    context->no_grad++;
    Status status = reach_all(tape, node, &count);
    if (!status && !grad) grad = seed_new(context, output);
    if (!grad) status = error_status();
    if (!status) {
        tensor_own(grad);
        node->grad[output->origin_output] = grad;
        status = walk(context, tape, node, count, keep);
    } else {
        walk(context, tape, node, count, true);
    }
    context->no_grad--;
    context->phase = phase;
    context->site = site;
    scope_close(scope);
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
