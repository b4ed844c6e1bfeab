// backward.c -- walks the tape from the loss back, through the nodes that lead to it.
#include "autograd/tape.h"

// ---- the walk --------------------------------------------------------------------------------
static Status check_start(const Tape *tape, const Tensor *output, const char *what) {
    if (!output) return error_set(STATUS_INVALID_ARGUMENT, "%s: the loss is NULL", what);
    if (output->dtype != DTYPE_FLOAT32)
        return error_set(STATUS_DTYPE,
                         "%s: the loss is %s, not float32. HINT: whole numbers have "
                         "no gradient",
                         what, dtype_name((DType)output->dtype));
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

static Status not_the_same(const Node *node) {
    return error_set(STATUS_STATE,
                     "backward: running forward again, %s read a result that it had not read "
                     "before. HINT: what is recomputed does the same each time",
                     node->call.op->name);
}

void walk_reach(Node *node, int *count) {
    if (node->reached) return;
    node->reached = true;
    origin_hold(&node->origin);
    (*count)++;
}

Status walk_reach_all(const Tape *tape, Node *last, uint64_t first, int *count) {
    int visited = 0;
    for (Node *node = last; visited < *count; node = node->previous) {
        if (!node->reached) continue;
        visited++;
        if (rule_check(node)) return error_status();
        Tensor **in = node_inputs(node);
        for (uint64_t left = node->call.needs_grad; left;) {
            Node *from = node_of(tape, in[bit_take(&left)]);
            if (!from) continue;
            if (!from->call.op) return was_walked("a part of this graph");
            if (from->number >= first)
                walk_reach(from, count);
            else if (!from->reached) // the outer walk visits earlier nodes
                return not_the_same(node);
        }
    }
    return STATUS_OK;
}

// Marks and holds the nodes that lead to `last`; *count is their number.
static Status reach_all(const Tape *tape, Node *last, int *count) {
    *count = 0;
    if (!last->call.op) return was_walked("the graph of this loss");
    walk_reach(last, count);
    return walk_reach_all(tape, last, 0, count);
}

static void drop_gradients(Node *node) {
    for (int i = 0; i < node->call.n_out; i++) {
        if (node->grad[i]) tensor_disown(node->grad[i]);
        node->grad[i] = NULL;
    }
}

// Lets go of a walked node and, unless kept, of what it saved. Returns the node before it, since
// freeing this one may free others that were not marked.
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

Status walk(Tape *tape, Node *last, int count, bool keep) {
    Scope *scope = scope_open(); // frees the leftovers of each rule before the next one runs
    Status status = error_status();
    for (Node *node = last; count > 0;) {
        if (!node->reached) {
            node = node->previous;
            continue;
        }
        bool has_gradient = node->grad[0] || node->grad[1] || node->grad[2];
        if (has_gradient && !status) {
            status = rule_run(tape, node);
            scope_empty(scope);
        }
        node = leave(node, keep); // frees its buffers as early as possible
        count--;
    }
    scope_close(scope);
    return status;
}

// Makes the starting gradient: d (factor x loss) / d loss.
static Tensor *seed_new(Context *context, const Tensor *loss, float factor) {
    Tensor *seed =
        handle_new("gradient", DTYPE_FLOAT32, &loss->shape, loss->device, context->scope);
    if (!seed || handle_allocate(seed, MEM_ACTIVATION) || tensor_fill(seed, factor)) return NULL;
    return seed;
}

// If `grad` is NULL, starts from `factor`.
static Status backward_from(Tensor *output, Tensor *grad, float factor, bool keep) {
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
    if (!status && !grad) grad = seed_new(context, output, factor);
    // A leaf's gradient is copied, because the walk may write to it.
    if (!status && grad && grad->storage && grad->storage->category == MEM_GRADIENT)
        grad = OP_RUN(op_contiguous, NULL, grad);
    if (!grad) status = error_status();
    if (!status) {
        tensor_own(grad);
        node->grad[output->origin_output] = grad;
        status = walk(tape, node, count, keep);
    } else {
        walk(tape, node, count, true);
    }
    context->no_grad--;
    context->phase = phase;
    context->site = site;
    scope_close(scope);
    return status;
}

static Status backward(Tensor *loss, float factor, bool keep) {
    if (error_pending()) return error_status();
    if (check_start(tape_current(), loss, "autograd_backward")) return error_status();
    if (loss->numel == 1) return backward_from(loss, NULL, factor, keep);
    char text[SHAPE_TEXT];
    return error_set(STATUS_SHAPE,
                     "autograd_backward: the loss has shape %s, not one element. "
                     "HINT: tensor_mean it, or use autograd_backward_from",
                     shape_text(loss->shape, text));
}

Status autograd_backward(Tensor *loss) { return backward(loss, 1.0f, false); }
Status autograd_backward_keep(Tensor *loss) { return backward(loss, 1.0f, true); }
Status autograd_backward_scaled(Tensor *loss, float factor) {
    return backward(loss, factor, false);
}

Status autograd_backward_from(Tensor *output, Tensor *grad_output) {
    if (error_pending()) return error_status();
    if (check_start(tape_current(), output, "autograd_backward_from")) return error_status();
    if (grad_output && grad_output->dtype != DTYPE_FLOAT32)
        return error_set(STATUS_DTYPE, "autograd_backward_from: the gradient is %s, not float32",
                         dtype_name((DType)grad_output->dtype));
    if (grad_output && shape_equal(output->shape, grad_output->shape))
        return backward_from(output, grad_output, 1.0f, false);
    return error_set(STATUS_SHAPE,
                     "autograd_backward_from: the gradient must have the output's shape");
}
