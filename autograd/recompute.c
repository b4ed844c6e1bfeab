// recompute.c -- a part of forward as one node, which keeps only the inputs: it first runs without
// saving, and in backward once more, at the end of the same tape, to be walked there. So gradients
// arrive in their usual order, and no other code knows the difference.
#include "autograd/recompute.h"

#include "autograd/tape.h"
#include "tensor/memory.h"
#include "tensor/shadow.h"

bool autograd_recomputing(void) { return context_current()->phase == PHASE_RECOMPUTE; }

Recompute *recompute_new(Recompute of) {
    Recompute *self = memory_new(sizeof(Recompute));
    if (!self) return NULL;
    *self = of;
    self->holders = 1;
    return self;
}

void recompute_release(Recompute *self) {
    if (self && --self->holders == 0) memory_free(self);
}

// Never dispatched: gives the node its name, and saves all inputs. params: seed and offset of the
// random numbers at its start; count: number of inputs given to it; flags: bit i if result i is the
// node's.
static unsigned saves_inputs(const OpCall *call) { return (1u << call->n_in) - 1; }
static const Op op_recompute = {.name = "recompute", .saves = saves_inputs};

// ---- forward: saves nothing --------------------------------------------------------------------
// A run to be recorded as one node.
typedef struct Part {
    Recompute *again;
    Tensor *in[SAVED_INPUTS];
    int n_in;
    uint64_t first;   // number of its own first node
    uint64_t version; // sum over all inputs
    uint64_t state;
    RandomState random;
} Part;

static Status refuse(const char *why) {
    return error_set(STATUS_INVALID_ARGUMENT, "layer_recompute: it %s", why);
}

static uint64_t versions_of(const Part *part) {
    uint64_t sum = 0;
    for (int i = 0; i < part->n_in; i++)
        if (part->in[i]) sum += part->in[i]->storage->version;
    return sum;
}

static Status begin(Part *part, Tensor *const in[], int n_in) {
    if (n_in > SAVED_INPUTS) return refuse("has more than 16 inputs");
    for (int i = 0; i < n_in; i++) {
        part->in[i] = tensor_here(in[i]);
        if (part->in[i] && !part->in[i]->storage) return refuse("has an input that has been freed");
    }
    part->n_in = n_in;
    part->version = versions_of(part);
    part->state = part->again->state(part->again->part);
    return error_status();
}

static bool is_among(const Tensor *t, Tensor *const list[], int count) {
    for (int i = 0; i < count; i++)
        if (list[i] == t) return true;
    return false;
}

// Adds tensors of outside graphs that the part read without being given them to its inputs. *site:
// where its first op ran; the inputs are charged to this site.
static Status find_captured(const Tape *tape, Part *part, int *site) {
    for (Node *node = tape->last; node && node->number >= part->first; node = node->previous) {
        Tensor **in = node_inputs(node);
        *site = node->site;
        for (uint64_t left = node->call.needs_grad; left;) {
            Tensor *t = in[bit_take(&left)];
            const Node *from = node_of(tape, t);
            if (!from || from->number >= part->first || is_among(t, part->in, part->n_in)) continue;
            if (part->n_in == SAVED_INPUTS) return refuse("reads more than 16 tensors");
            if (!t->storage) return refuse("reads a result that it lets go of");
            part->in[part->n_in++] = t;
        }
    }
    return STATUS_OK;
}

// Makes a second handle for the same elements, in the innermost scope, without a graph.
static Tensor *alias_new(Scope *scope, const Tensor *t) {
    Tensor *alias = handle_new("recompute", (DType)t->dtype, &t->shape, t->device, scope);
    if (!alias) return NULL;
    for (int i = 0; i < t->shape.ndim; i++) alias->stride[i] = t->stride[i];
    alias->offset = t->offset;
    alias->element_bytes = t->element_bytes;
    alias->flags = t->flags & (TENSOR_CONTIGUOUS | TENSOR_RETAIN_GRAD);
    alias->storage = storage_retain(t->storage);
    return alias;
}

// Replaces results whose graph leads into the part by results of the node; results without a
// gradient get plain handles.
static Status take_results(const Tape *tape, const Part *part, OpCall *call, Tensor *out[],
                           int n_out) {
    Tensor *inner[RECOMPUTE_RESULTS], *given[RECOMPUTE_RESULTS];
    for (int i = 0; i < n_out; i++) {
        inner[i] = out[i];
        given[i] = out[i];
        const Node *node = out[i] ? node_of(tape, out[i]) : NULL;
        if (!node || node->number < part->first) continue;
        for (int k = 0; k < i; k++)
            if (inner[k] == inner[i]) given[i] = given[k];
        if (given[i] != out[i]) continue;
        bool real = out[i]->dtype == DTYPE_FLOAT32;
        if (real && call->n_out == OP_MAX_OUTPUTS) return refuse("has more than 3 results");
        given[i] = alias_new(context_current()->scope, out[i]);
        if (!given[i]) return error_status();
        if (!real) continue;
        call->out[call->n_out++] = given[i];
        call->params.flags |= 1u << i;
    }
    for (int i = 0; i < n_out; i++) out[i] = given[i];
    for (int i = 0; i < n_out; i++)
        if (inner[i] != given[i] && !is_among(inner[i], inner, i)) tensor_release(inner[i]);
    return STATUS_OK;
}

static Status record(Tape *tape, Part *part, Tensor *out[], int n_out) {
    Context *context = context_current();
    int given = part->n_in, site = context->site, first_site = site;
    if (part->version != versions_of(part)) return refuse("writes into an input");
    if (part->state != part->again->state(part->again->part)) return refuse("writes into itself");
    if (find_captured(tape, part, &first_site)) return error_status();
    OpCall call = {.op = &op_recompute, .in = part->in, .n_in = part->n_in};
    for (int i = 0; i < part->n_in; i++) {
        const Tensor *t = part->in[i];
        bool wanted = t && (t->flags & TENSOR_LEAF_GRAD || node_of(tape, t));
        if (wanted && t->dtype == DTYPE_FLOAT32) call.needs_grad |= (uint64_t)1 << i;
    }
    call.params.seed = part->random.seed;
    call.params.offset = part->random.offset;
    call.params.count = given;
    if (take_results(tape, part, &call, out, n_out)) return error_status();
    if (call.n_out == 0) return STATUS_OK; // no result has a gradient
    context->site = first_site;
    Status status = tape->recorder.record(&tape->recorder, &call);
    context->site = site;
    if (status) return status;
    tape->last->site = site;
    tape->last->state = part->state;
    tape->last->again = part->again;
    part->again->holders++;
    return STATUS_OK;
}

void recompute_forward(Recompute *self, Tensor *const in[], int n_in, Tensor *out[], int n_out) {
    const Context *context = context_current();
    Tape *tape = tape_current();
    if (!tape || tape->light || context->no_grad) {
        self->run(self->part, in, n_in, out);
        return;
    }
    Part part = {.again = self, .first = tape->recorded, .random = context->random};
    Tensor *results[RECOMPUTE_RESULTS] = {NULL};
    if (begin(&part, in, n_in)) return;
    Scope *scope = scope_open();
    if (!scope) return;
    tape->light++;
    self->run(self->part, part.in, n_in, results);
    tape->light--;
    scope_close_with_each(scope, results, n_out); // forgets nodes without a result
    if (error_pending() || record(tape, &part, results, n_out)) return;
    for (int i = 0; i < n_out; i++) out[i] = results[i];
}

// ---- backward: runs the part again -------------------------------------------------------------
// Makes the inputs available while the part runs, even if they were freed meanwhile.
static void revive_inputs(Node *node) {
    for (int i = 0; i < node->n_saved; i++) {
        const Saved *saved = &node_saved(node)[i];
        Tensor *t = node_tensor(node, saved->place);
        if (!t->storage) t->storage = storage_retain(saved->storage);
        tensor_own(t);
    }
}

static void let_inputs_go(Node *node) {
    for (int i = 0; i < node->n_saved; i++)
        tensor_disown(node_tensor(node, node_saved(node)[i].place));
}

static Status check_part(const Node *node) {
    const Recompute *again = node->again;
    if (!again->part)
        return error_set(STATUS_STATE,
                         "backward: the layer that is to run forward again was freed. "
                         "HINT: run backward first");
    if (again->state(again->part) == node->state) return STATUS_OK;
    return error_set(STATUS_STATE,
                     "backward: the layer that is to run forward again is not what it was: "
                     "its parameters were written, frozen or exchanged, its mode was changed, or "
                     "its children. HINT: run backward first");
}

static void run_again(Context *context, Tape *tape, Node *node, Tensor *out[]) {
    RandomState random = context->random;
    Phase phase = context->phase;
    Tensor **slots = context->backward_slots;
    int no_grad = context->no_grad, light = tape->light;
    context->random =
        (RandomState){.seed = node->call.params.seed, .offset = node->call.params.offset};
    context->phase = PHASE_RECOMPUTE;
    context->no_grad = 0;
    context->backward_slots = NULL;
    tape->light = 0;
    revive_inputs(node);
    node->again->run(node->again->part, node_inputs(node), (int)node->call.params.count, out);
    let_inputs_go(node);
    tape->light = light;
    context->backward_slots = slots;
    context->no_grad = no_grad;
    context->phase = phase;
    context->random = random;
}

static Status gave_others(void) {
    return error_set(STATUS_STATE, "backward: forward was run again, and gave other results. HINT: "
                                   "what is recomputed does the same each time");
}

// Moves the gradients of the results to the results of the second run, and marks their nodes.
static Status hand_over(const Tape *tape, Node *node, Tensor *const out[], uint64_t first,
                        int *count) {
    uint64_t results = node->call.params.flags;
    for (int k = 0; k < node->call.n_out; k++) {
        const Tensor *t = out[bit_take(&results)];
        if (!node->grad[k]) continue;
        Node *from = t ? node_of(tape, t) : NULL;
        if (!from || from->number < first || !same_shape(&t->shape, &node->grad[k]->shape) ||
            from->grad[t->origin_output])
            return gave_others();
        from->grad[t->origin_output] = node->grad[k];
        node->grad[k] = NULL;
        walk_reach(from, count);
    }
    return walk_reach_all(tape, tape->last, first, count);
}

Status recompute_walk(Tape *tape, Node *node) {
    Tensor *out[RECOMPUTE_RESULTS] = {NULL};
    uint64_t first = tape->recorded;
    int count = 0;
    if (check_part(node)) return error_status();
    Scope *scope = scope_open();
    if (!scope) return error_status();
    run_again(context_current(), tape, node, out);
    if (!error_pending()) hand_over(tape, node, out, first, &count);
    scope_close(scope); // backward reads only saved buffers of the results
    return walk(tape, tape->last, count, false);
}
