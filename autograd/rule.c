// rule.c -- runs the rule of one node: sets what it may read, where it writes, and its layer.
#include <string.h>

#include "autograd/tape.h"
#include "tensor/memory.h"

// ---- saved buffers must not have changed --------------------------------------------------------
static Status changed(const Node *node, const Saved *saved) {
    bool in = saved->place < SAVED_INPUTS;
    return error_set(
        STATUS_STATE,
        "backward of %s: its %s %d was written in place after it was saved (version %u, "
        "now %u). HINT: write to a copy, or run backward first",
        node->call.op->name, in ? "input" : "output",
        in ? saved->place : saved->place - SAVED_INPUTS, saved->version, saved->storage->version);
}

Status rule_check(const Node *node) {
    for (int i = 0; i < node->n_saved; i++) {
        const Saved *saved = &node_saved(node)[i];
        if (saved->storage->version != saved->version) return changed(node, saved);
    }
    return STATUS_OK;
}

// ---- tensors that a rule may read --------------------------------------------------------------
static void set_readable(Tensor *t, bool readable) {
    t->flags = (uint8_t)(readable ? t->flags & ~TENSOR_UNSAVED : t->flags | TENSOR_UNSAVED);
}

static void set_all_readable(const Node *node, bool readable) {
    Tensor **in = node_inputs(node);
    for (int i = 0; i < node->call.n_in; i++)
        if (in[i]) set_readable(in[i], readable);
    for (int i = 0; i < node->call.n_out; i++) set_readable(node->call.out[i], readable);
}

// Makes saved buffers readable while the rule runs, even if their tensors were freed meanwhile.
// Returns the lent ones, for hide_saved. Other tensors must not be read, even if still alive.
static unsigned show_saved(Node *node) {
    unsigned lent = 0;
    set_all_readable(node, false);
    for (int i = 0; i < node->n_saved; i++) {
        const Saved *saved = &node_saved(node)[i];
        Tensor *t = node_tensor(node, saved->place);
        set_readable(t, true); // a tensor saved in one place is readable in all
        if (t->storage) continue;
        t->storage = saved->storage;
        lent |= 1u << i;
    }
    for (int i = 0; i < node->call.n_out; i++) // read, whatever tensors they are
        if (node->grad[i]) set_readable(node->grad[i], true);
    return lent;
}

static void hide_saved(Node *node, unsigned lent) {
    set_all_readable(node, true);
    for (int i = 0; lent >> i; i++)
        if (lent >> i & 1) node_tensor(node, node_saved(node)[i].place)->storage = NULL;
}

static bool is_parameter(const Tensor *leaf) {
    return leaf->storage && leaf->storage->category == MEM_PARAMETER;
}

// A rule that did not write to its destination meant NULL, zero: the buffer holds old numbers.
static void drop_unwritten(const OpCall *call, Tensor *grad_in[], const uint32_t version[]) {
    for (uint64_t left = call->needs_grad; left;) {
        int i = bit_take(&left);
        const Tensor *leaf = call->in[i];
        if (!grad_in[i]) continue;
        bool waits = (leaf->flags & TENSOR_LEAF_GRAD) && leaf->grad_empty;
        if (waits && grad_in[i] == leaf->grad && leaf->grad->storage->version == version[i])
            grad_in[i] = NULL;
    }
}

// Lets the rule write straight to leaves that wait for a gradient. version: of each destination.
static Status make_destinations(Context *context, const OpCall *call, Tensor *grad_in[],
                                uint32_t version[]) {
    context->backward_weights = 0;
    for (uint64_t left = call->needs_grad; left;) {
        int i = bit_take(&left), first = 0;
        Tensor *in = call->in[i];
        if (!(in->flags & TENSOR_LEAF_GRAD)) continue;
        if (is_parameter(in)) context->backward_weights |= (uint64_t)1 << i;
        while (call->in[first] != in) first++;
        // If one leaf is input twice, the first gradient is written and the second added.
        if (first == i && deliver_destination(in, &grad_in[i])) return error_status();
        version[i] = first < i ? version[first] : grad_in[i] ? grad_in[i]->storage->version : 0;
    }
    return STATUS_OK;
}

// version: of each destination, before the rule runs.
static Status call_rule(Context *context, Tape *tape, Node *node, Tensor *grad_in[],
                        uint32_t version[]) {
    OpCall *call = &node->call;
    call->in = node_inputs(node);
    if (make_destinations(context, call, grad_in, version)) return error_status();
    context->backward_slots = grad_in;
    context->backward_count = call->n_in;
    tape->running = node;
    tape->added = 0;
    unsigned lent = show_saved(node);
    Tensor *grad_out[OP_MAX_OUTPUTS]; // a copy that the rule may change
    memcpy(grad_out, node->grad, sizeof(grad_out));
    Status status = call->op->backward(call, grad_out, grad_in);
    if (status && !error_pending())
        error_set(status, "backward of %s failed, and does not say why", call->op->name);
    hide_saved(node, lent);
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

// State of the context and the tape while a rule runs. A rule may walk a graph of its own;
// afterwards the state is restored.
typedef struct Running {
    Tensor **slots;
    int count;
    uint64_t weights, added;
    Node *node;
} Running;

static Running running_of(const Context *context, const Tape *tape) {
    return (Running){.slots = context->backward_slots,
                     .count = context->backward_count,
                     .weights = context->backward_weights,
                     .added = tape->added,
                     .node = tape->running};
}

static void go_on(Context *context, Tape *tape, Running with) {
    context->backward_slots = with.slots;
    context->backward_count = with.count;
    context->backward_weights = with.weights;
    tape->added = with.added;
    tape->running = with.node;
}

Status rule_run(Tape *tape, Node *node) {
    Context *context = context_current();
    context->site = node->site; // backward is charged to the layer that caused it
    if (rule_check(node))
        return error_status(); // checked again: a leaf's gradient may be an operand
    if (retain(node)) return error_status();
    if (node->again) return recompute_walk(tape, node);
    Running outer = running_of(context, tape);
    enum { FEW = 8 };
    Tensor *few[FEW] = {0}, **grad_in = few;
    uint32_t few_versions[FEW], *version = few_versions;
    if (node->call.n_in > FEW) {
        size_t n = (size_t)node->call.n_in;
        grad_in = memory_new(n * (sizeof(Tensor *) + sizeof(uint32_t)));
        if (!grad_in) return STATUS_OUT_OF_MEMORY;
        version = (uint32_t *)(void *)(grad_in + n);
    }
    Status status = call_rule(context, tape, node, grad_in, version);
    if (!status) status = deliver_all(tape, node, grad_in);
    go_on(context, tape, outer);
    if (grad_in != few) memory_free(grad_in);
    return status;
}
