// budget_recompute.c -- searches for the layers to run again in backward so that a step's peak
// fits: a dry run predicts each set of layers. Not here: the largest batch (budget.c).
#include "profiler/advice/budget_parts.h"
#include "tensor/given.h"
#include "tensor/memory.h"

// ---- candidates --------------------------------------------------------------------------------
typedef struct Candidate { // a layer below the model
    Layer *layer;          // in the plan's copy of the model
    int depth, place;      // depth below the model; index in a preorder walk
    int64_t saved, input;  // bytes kept for backward; bytes of the input
    uint64_t flops;        // FLOPs of the forward
    bool refused;          // cannot be run again
} Candidate;

typedef struct Choosing {
    const BudgetTask *task;
    Plan plan;
    OptimizerConfig config;
    int64_t bytes; // the budget
    int64_t limit; // the bound while shrinking sets: `bytes`, or the lowest peak found
    Candidate *all;
    int count, deepest;
    bool *best; // for each candidate: marked in the best set so far
    int *order; // indices of a set's members
    RecomputeChoice found;
} Choosing;

static int count_below(const Layer *layer) {
    int count = layer->n_children;
    for (int i = 0; i < layer->n_children; i++) count += count_below(layer->children[i]);
    return count;
}

static void collect(Choosing *c, Layer *layer, int depth) {
    if (depth > c->deepest) c->deepest = depth;
    for (int i = 0; i < layer->n_children; i++) {
        Layer *child = layer->children[i];
        c->all[c->count] = (Candidate){.layer = child,
                                       .depth = depth + 1,
                                       .place = c->count,
                                       .refused = child->type->in_steps};
        c->count++;
        collect(c, child, depth + 1);
    }
}

static Candidate *find(Choosing *c, uint64_t serial) {
    for (int i = 0; i < c->count; i++)
        if (c->all[i].layer->serial == serial) return &c->all[i];
    return NULL;
}

// Adds to the call site's own layer and to all layers around it.
static void add_to_site(Choosing *c, int site, uint64_t flops, int64_t saved, int64_t input) {
    const Context *context = context_current();
    for (int s = site; s >= 0; s = context->sites[s].parent) {
        Candidate *candidate = find(c, context->sites[s].owner);
        if (!candidate) continue;
        candidate->flops += flops;
        candidate->saved += saved;
        if (candidate->input == 0) candidate->input = input;
    }
}

static Status look_at_layers(DryStep *step, const StepRecord *record, const Layer *model) {
    Choosing *c = step->argument;
    (void)model;
    int64_t real = precision_bytes(context_current()->precision);
    for (int64_t i = 0; i < record->n_ops; i++) {
        const OpRecord *op = &record->ops[i];
        if (op->phase != PHASE_FORWARD) continue;
        int64_t input = op->in[0].ndim >= 0 ? real * shape_numel(op->in[0]) : 0;
        add_to_site(c, op->site, op_cost_total_flops(op->cost), 0, input);
    }
    int sites = context_current()->n_sites; // sites in use; the array may be larger
    for (int i = 0; i < record->n_saved && i <= sites; i++)
        add_to_site(c, i - 1, 0, record->saved_bytes[i], 0);
    return STATUS_OK;
}

// A lone op keeps its input or its output, so that keeping its input instead saves nothing.
static bool is_worth(const Candidate *candidate) {
    bool alone = candidate->layer->n_children == 0;
    return !candidate->refused && candidate->saved > (alone ? 2 * candidate->input : 0);
}

// ---- sets --------------------------------------------------------------------------------------
typedef struct Tried {
    int64_t bytes;
    uint64_t flops;
} Tried;

static Status mark(const Choosing *c, int i, bool marked) {
    return layer_recompute(c->all[i].layer, marked);
}

// Predicts a step with the layers as marked now.
static Status try_marks(Choosing *c, Tried *tried) {
    DryStep step = {.out = SHAPE_SCALAR};
    Status status = profile_predict_step(&c->plan.work, c->config, &step);
    *tried = (Tried){step.memory.peak.total, step.flops};
    c->found.runs++;
    if (c->task->progress) c->task->progress(c->task->argument, c->found.runs);
    return status;
}

// A set is better if it fits with fewer FLOPs; or, as long as none fits, if its peak is lower, or
// equal with fewer FLOPs.
static void keep_if_better(Choosing *c, Tried tried) {
    RecomputeChoice *found = &c->found;
    bool fits = tried.bytes <= c->bytes, first = fits && !found->fits;
    bool fewer = tried.flops < found->flops, as_many = tried.bytes == found->peak_bytes;
    bool better = fits ? fewer : tried.bytes < found->peak_bytes || (as_many && fewer);
    if (!first && (!better || fits != found->fits)) return;
    found->fits = fits;
    found->peak_bytes = tried.bytes;
    found->flops = tried.flops;
    found->layers = 0;
    for (int i = 0; i < c->count; i++) {
        c->best[i] = c->all[i].layer->recompute;
        found->layers += c->best[i];
    }
}

// Keys by which members are unmarked, lowest first: fewest bytes saved per FLOP; most FLOPs; the
// last layers, which run again while everything before them is still kept.
static double bytes_for_a_flop(const Candidate *candidate) {
    return (double)candidate->saved / (1.0 + (double)candidate->flops);
}
static double fewer_flops(const Candidate *candidate) { return -(double)candidate->flops; }
static double place(const Candidate *candidate) { return -(double)candidate->place; }
static double (*const orders[])(const Candidate *) = {bytes_for_a_flop, fewer_flops, place};
enum { ORDERS = sizeof(orders) / sizeof(orders[0]) };

// Lists all candidates worth marking at a depth (0: any). Insertion sort, since sets are small.
static int list_members(Choosing *c, int depth, double (*order)(const Candidate *)) {
    int n = 0;
    for (int i = 0; i < c->count; i++) {
        if ((depth > 0 && c->all[i].depth != depth) || !is_worth(&c->all[i])) continue;
        int at = n++;
        double mine = order(&c->all[i]);
        for (; at > 0 && order(&c->all[c->order[at - 1]]) > mine; at--)
            c->order[at] = c->order[at - 1];
        c->order[at] = i;
    }
    return n;
}

static Status mark_members(const Choosing *c, const int *members, int n, bool marked) {
    Status status = STATUS_OK;
    for (int i = 0; i < n && !status; i++) status = mark(c, members[i], marked);
    return status;
}

// Unmarks as many of the marked members as the limit allows: all at once, or each half by itself.
// *tried: the remaining set.
static Status spare(Choosing *c, const int *members, int n, Tried *tried) {
    Tried without;
    Status status = mark_members(c, members, n, false);
    if (!status) status = try_marks(c, &without);
    if (status) return status;
    if (without.bytes <= c->limit) {
        *tried = without;
        return STATUS_OK;
    }
    status = mark_members(c, members, n, true);
    if (status || n == 1) return status;
    status = spare(c, members, n / 2, tried);
    return status ? status : spare(c, members + n / 2, n - n / 2, tried);
}

// Finds the members whose rerun fails, by trying each alone.
static Status find_refused(Choosing *c, int n) {
    Tried ignored;
    for (int i = 0; i < n; i++) {
        Candidate *candidate = &c->all[c->order[i]];
        if (profile_unmark(c->plan.work.model) || mark(c, c->order[i], true)) return error_status();
        candidate->refused = try_marks(c, &ignored) != STATUS_OK;
        if (error_status() == STATUS_OUT_OF_MEMORY) return error_status();
        c->found.refused += candidate->refused;
        error_clear();
    }
    return STATUS_OK;
}

// Marks all layers of a depth (0: of all depths, nested). *n: their number.
static Status mark_depth(Choosing *c, int depth, double (*order)(const Candidate *), int *n,
                         Tried *tried) {
    *n = list_members(c, depth, order);
    Status status = profile_unmark(c->plan.work.model);
    if (*n == 0 || status) return status;
    status = mark_members(c, c->order, *n, true);
    return status ? status : try_marks(c, tried);
}

static Status try_depth(Choosing *c, int depth) {
    Status status = STATUS_OK;
    for (int i = 0; i < ORDERS && !status; i++) {
        Tried tried;
        int n;
        status = mark_depth(c, depth, orders[i], &n, &tried);
        if (status && status != STATUS_OUT_OF_MEMORY) {
            error_clear();
            status = find_refused(c, n);
            if (!status) status = mark_depth(c, depth, orders[i], &n, &tried);
        }
        if (status || n == 0) return status;
        bool fits = tried.bytes <= c->limit;
        if (fits) status = spare(c, c->order, n, &tried);
        if (!status) keep_if_better(c, tried);
        if (!fits) return status; // fits in no order
    }
    return status;
}

static Status try_all(Choosing *c) {
    Status status = STATUS_OK;
    for (int depth = 1; depth <= c->deepest && !status; depth++) status = try_depth(c, depth);
    return status ? status : try_depth(c, 0);
}

static Status choose(Choosing *c) {
    DryStep step = {.out = SHAPE_SCALAR, .look = look_at_layers, .argument = c};
    Layer *model = layer_here(c->plan.work.model);
    c->plan.work.model = model; // the plan's copy: trials mark only this one
    if (!model || profile_unmark(model)) return error_status();
    int count = count_below(model);
    c->all = memory_new((size_t)(count + 1) * sizeof(Candidate));
    c->best = memory_new((size_t)(count + 1) * sizeof(bool));
    c->order = memory_new((size_t)(count + 1) * sizeof(int));
    if (!c->all || !c->best || !c->order) return STATUS_OUT_OF_MEMORY;
    collect(c, model, 0);
    Status status = profile_predict_step(&c->plan.work, c->config, &step);
    c->found = (RecomputeChoice){.plain_bytes = step.memory.peak.total,
                                 .plain_flops = step.flops,
                                 .peak_bytes = step.memory.peak.total,
                                 .flops = step.flops,
                                 .fits = step.memory.peak.total <= c->bytes,
                                 .runs = 1};
    if (status || c->found.fits) return status;
    c->limit = c->bytes;
    status = try_all(c);
    // If none fits, shrink sets within the lowest peak found: fewer marked layers may need even
    // less memory than all.
    while (!status && !c->found.fits && c->found.layers > 0 && c->limit != c->found.peak_bytes) {
        c->limit = c->found.peak_bytes;
        status = try_all(c);
    }
    return status;
}

// These three walk the layers below in preorder: read the marks; restore them; set new ones. *at:
// index of the next mark.
static void take_marks(const Layer *layer, bool *marks, int *at) {
    for (int i = 0; i < layer->n_children; i++) {
        marks[(*at)++] = layer->children[i]->recompute;
        take_marks(layer->children[i], marks, at);
    }
}

static void put_back(Layer *layer, const bool *marks, int *at) {
    for (int i = 0; i < layer->n_children; i++) {
        layer->children[i]->recompute = marks[(*at)++];
        put_back(layer->children[i], marks, at);
    }
}

static Status put_marks(Layer *layer, const bool *marks, int *at) {
    Status status = STATUS_OK;
    for (int i = 0; i < layer->n_children && !status; i++) {
        status = layer_recompute(layer->children[i], marks[(*at)++]);
        if (!status) status = put_marks(layer->children[i], marks, at);
    }
    return status;
}

// Sets the best marks, or, out of memory, restores the old ones.
static Status mark_real(Layer *model, const Choosing *c) {
    bool *before = memory_new((size_t)(c->count + 1) * sizeof(bool));
    if (!before) return STATUS_OUT_OF_MEMORY;
    take_marks(model, before, &(int){0});
    Status status = put_marks(model, c->best, &(int){0});
    if (status)
        put_back(model, before, &(int){0});
    else
        model->recompute = false;
    memory_free(before);
    return status;
}

Status budget_recompute(const BudgetTask *task, OptimizerConfig optimizer, int64_t bytes,
                        RecomputeChoice *choice) {
    if (!GIVEN(task) || !GIVEN(choice)) return STATUS_INVALID_ARGUMENT;
    if (budget_check_bytes(bytes)) return error_status();
    Choosing c = {.task = task, .config = optimizer, .bytes = bytes};
    Status status = budget_plan_begin(task, &c.plan);
    if (status) return status;
    status = choose(&c);
    budget_plan_end(&c.plan);
    Layer *model = status ? NULL : layer_here(task->model);
    if (!status) status = model ? mark_real(model, &c) : error_status();
    if (!status) *choice = c.found;
    memory_free(c.all);
    memory_free(c.best);
    memory_free(c.order);
    return status;
}
