// cost.c -- the cost of a call: its traffic, and the FLOPs given by the rules of its story, which
// are sizes that are multiplied (count.h).
#include "tensor/count.h"
#include "tensor/given.h"

// ---- traffic -----------------------------------------------------------------------------------
static bool seen_before(const OpCall *call, int index) {
    for (int i = 0; i < index; i++)
        if (call->in[i] == call->in[index]) return true;
    return false;
}

// Bytes read and written of a sum that the op adds to.
static uint64_t added_bytes(const OpCall *call) {
    int64_t all = tensor_bytes(call->out[0]), reached = tensor_bytes(call->in[0]);
    bool part = call->op->story && call->op->story->scatters && reached < all;
    return (uint64_t)(part ? reached : all);
}

OpCost op_cost_traffic(const OpCall *call) {
    if (!GIVEN(call)) return (OpCost){0};
    OpCost cost = {0};
    bool few = call->n_in <= 8; // the parameters of a step are distinct by construction
    for (int i = 0; i < call->n_in; i++) {
        if (!call->in[i]) continue;
        if (!few || !seen_before(call, i))
            cost.bytes_read += (uint64_t)tensor_distinct_bytes(call->in[i]);
        if (call->op->mutates && call->op->mutates(call, i))
            cost.bytes_written += (uint64_t)tensor_distinct_bytes(call->in[i]);
    }
    for (int i = call->adds ? 1 : 0; i < call->n_out; i++)
        cost.bytes_written += (uint64_t)tensor_bytes(call->out[i]);
    if (call->adds) {
        cost.bytes_read += added_bytes(call);
        cost.bytes_written += added_bytes(call);
    }
    return cost;
}

// ---- values ------------------------------------------------------------------------------------
// A product of sizes: at most OP_COUNT_MOST, and 0 if one is negative.
static int64_t product_of(int64_t a, int64_t b) {
    const int64_t most = (int64_t)OP_COUNT_MOST;
    int64_t product;
    if (a <= 0 || b <= 0) return 0;
    return __builtin_mul_overflow(a, b, &product) || product > most ? most : product;
}

uint64_t op_count_value(const OpCount *count) {
    int64_t product = count->each ? product_of(count->each, count->n) : 0;
    product += count->more;
    for (int i = 0; i < count->n_factors; i++) product = product_of(product, count->factor[i]);
    uint64_t all = (product > 0 ? (uint64_t)product : 0) + (uint64_t)count->plus;
    return all < OP_COUNT_MOST ? all : OP_COUNT_MOST;
}

// ---- sizes -------------------------------------------------------------------------------------
// Begins a count as (each x n + more) + 0, without other factors: the rest of `factor` is not set.
static void begin(OpCount *count, int64_t each, int64_t n, int64_t more) {
    count->n_factors = 0;
    count->each = each;
    count->n = n;
    count->more = more;
    count->plus = 0;
}

static void times(OpCount *count, int64_t factor) { count->factor[count->n_factors++] = factor; }

static void times_shape(OpCount *count, const Shape *shape, int dims) {
    for (int i = 0; i < dims; i++) times(count, shape->dims[i]);
}

// Elements of a shape x each.
static void by_elements(OpCount *count, const Shape *shape, int64_t each) {
    begin(count, 0, 0, 1);
    if (each != 1) times(count, each);
    times_shape(count, shape, shape->ndim);
}

// Rows of `length` elements x (each x length + more).
static void by_rows(OpCount *count, const Shape *shape, int64_t length, const OpRule *rule) {
    bool fixed = rule->each == 0; // `more` a row, of any length
    begin(count, rule->each, fixed ? 0 : length, fixed ? 1 : rule->more);
    times(count, length ? shape_numel(*shape) / length : 0);
    if (fixed && rule->more != 1) times(count, rule->more);
}

// Outputs x (each x n + more), with n elements of the input for each output.
static void by_outputs(OpCount *count, const Shape *in, const Shape *out, int64_t each,
                       int64_t more) {
    int64_t outputs = shape_numel(*out);
    begin(count, each, outputs ? shape_numel(*in) / outputs : 0, more);
    times_shape(count, out, out->ndim);
}

// n - 1 additions for each output, and `more`. A sum of nothing takes none.
static void by_sums(OpCount *count, const Shape *in, const Shape *out, int64_t more) {
    if (shape_numel(*in) < shape_numel(*out))
        by_elements(count, out, more);
    else if (more == 1)
        by_elements(count, in, 1);
    else
        by_outputs(count, in, out, 1, more - 1);
}

// Scores of an attention's queries and keys.
static void by_scores(OpCount *count, const Shape *queries, const Shape *keys, const OpRule *rule) {
    begin(count, rule->each, keys->dims[keys->ndim - 2], rule->more);
    times_shape(count, queries, queries->ndim - 1);
}

// Adjacent regions share an element, except where they meet between two elements: the greatest
// common divisor is the number of such places.
int64_t op_window_held(const OpWindow *window, int side) {
    if (!GIVEN(window)) return 0;
    int64_t n = window->kernel[side], size = window->input[side], a = n, b = size;
    while (b > 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return n + size - a;
}

static void by_regions(OpCount *count, const Shape *in, const OpWindow *window,
                       const OpRule *rule) {
    begin(count, 0, 0, 1);
    count->plus = rule->more * shape_numel(*in);
    times_shape(count, in, 2);
    for (int side = 0; side < 2; side++) times(count, op_window_held(window, side));
}

void op_count_rule(const OpSizes *sizes, const OpRule *rule, OpCount *count) {
    begin(count, 0, 0, 0);
    if (rule->basis == BASIS_NONE || rule->input < 0 || rule->input >= STORY_INPUTS) return;
    const Shape *in = sizes->in[rule->input], *out = sizes->out;
    bool needs_out =
        rule->basis == PER_OUTPUT || rule->basis == PER_COLUMN || rule->basis == PER_SUM;
    bool needs_in = rule->basis != PER_PARAMETER;
    if ((needs_in && !in) || (needs_out && !out)) return;
    switch (rule->basis) {
    case PER_OUTPUT:
        by_elements(count, out, rule->each);
        break;
    case PER_INPUT:
        by_elements(count, in, rule->each);
        break;
    case PER_ROW:
        by_rows(count, in, in->ndim ? in->dims[in->ndim - 1] : 1, rule);
        break;
    case PER_BLOCK:
        by_rows(count, in, shape_numel(sizes->params->shape), rule);
        break;
    case PER_CHANNEL:
        by_rows(count, in, in->dims[1] ? shape_numel(*in) / in->dims[1] : 0, rule);
        break;
    case PER_COLUMN:
        by_outputs(count, in, out, rule->each, rule->more);
        break;
    case PER_SUM:
        by_sums(count, sizes->in[0], out, rule->more);
        break;
    case PER_PARAMETER:
        begin(count, rule->each, sizes->parameters, rule->more);
        break;
    case PER_SCORE:
        by_scores(count, in, sizes->in[rule->input + 1], rule);
        break;
    case PER_REGION:
        by_regions(count, in, &sizes->params->window, rule);
        break;
    default:
        break;
    }
}

void op_count_products(const OpSizes *sizes, const OpStory *story, OpCount *count) {
    Shape in[STORY_INPUTS];
    begin(count, 0, 0, 0);
    if (!story->factors || !sizes->out) return;
    for (int i = 0; i < STORY_INPUTS; i++)
        in[i] = sizes->in[i] ? *sizes->in[i] : (Shape){.ndim = -1};
    int n = story->factors(in, *sizes->out, sizes->params, count->factor);
    if (n <= 0) return;
    count->n_factors = n;
    count->more = 1;
}

// ---- the cost of a call ------------------------------------------------------------------------
// Elements of a step's parameters: a step has one group of inputs per parameter, of as many inputs
// as the story names.
static int64_t parameters_of(const OpCall *call, const OpStory *story, int first) {
    int group = 0;
    int64_t n = 0;
    while (first + group < STORY_INPUTS && story->in[first + group]) group++;
    for (int i = first; group && i < call->n_in; i += group)
        if (call->in[i] && __builtin_add_overflow(n, call->in[i]->numel, &n)) return INT64_MAX;
    return n;
}

// Written in place: a copy of what was just stored in parts makes the processor wait.
static void sizes_of(const OpCall *call, OpSizes *sizes) {
    for (int i = 0; i < STORY_INPUTS; i++)
        sizes->in[i] = i < call->n_in && call->in[i] ? &call->in[i]->shape : NULL;
    sizes->out = call->n_out ? &call->out[0]->shape : NULL;
    sizes->parameters = 0;
    sizes->params = &call->params;
}

static uint64_t count(const OpCall *call, OpSizes *sizes, const OpStory *story,
                      const OpRule *rule) {
    if (rule->basis == BASIS_NONE) return 0;
    if (rule->basis == PER_PARAMETER) sizes->parameters = parameters_of(call, story, rule->input);
    OpCount by_rule;
    op_count_rule(sizes, rule, &by_rule);
    return op_count_value(&by_rule);
}

// The descriptor's story, as nearly always, without a copy; else the call's own, made in *room.
static const OpStory *story_of(const OpCall *call, OpStory *room) {
    const OpStory *own = call->op->story;
    if (own && !own->vary && !call->adds && !call->params.activation) return own;
    *room = op_story(call->op, &call->params, op_given(call));
    return room;
}

OpCost op_cost_by_rules(const OpCall *call) {
    if (!GIVEN(call)) return (OpCost){0};
    OpStory room;
    const OpStory *story = story_of(call, &room);
    OpCost cost = op_cost_traffic(call);
    OpSizes sizes;
    sizes_of(call, &sizes);
    if (story->factors) {
        OpCount products;
        op_count_products(&sizes, story, &products);
        cost.macs = op_count_value(&products);
    }
    cost.elementwise_flops = count(call, &sizes, story, &story->elementwise);
    cost.transcendental_flops = count(call, &sizes, story, &story->transcendental);
    cost.bias_flops = count(call, &sizes, story, &story->bias);
    return cost;
}

Status op_cost_check(OpCost cost, double *sum) {
    if (!GIVEN(sum)) return STATUS_INVALID_ARGUMENT;
    *sum += 2.0 * (double)cost.macs + (double)cost.bias_flops + (double)cost.elementwise_flops +
            (double)cost.transcendental_flops + (double)cost.bytes_read +
            (double)cost.bytes_written;
    const uint64_t most = OP_COUNT_MOST;
    bool clipped = cost.macs >= most || cost.bias_flops >= most || cost.elementwise_flops >= most ||
                   cost.transcendental_flops >= most;
    if (!clipped && *sum < 0.9 * (double)INT64_MAX) return STATUS_OK;
    return error_set(STATUS_OVERFLOW, "the step takes more FLOPs or bytes than 64 bits count. "
                                      "HINT: a smaller batch, or fewer layers");
}

OpSlow op_slow(const OpCall *call) {
    if (!GIVEN(call)) return (OpSlow){0};
    const OpStory *plain = call->op->story;
    if (!plain || (plain->roots.basis == BASIS_NONE && plain->divisions.basis == BASIS_NONE))
        return (OpSlow){0};
    OpSizes sizes;
    sizes_of(call, &sizes);
    return (OpSlow){.roots = count(call, &sizes, plain, &plain->roots),
                    .divisions = count(call, &sizes, plain, &plain->divisions)};
}

OpCost op_cost(const OpCall *call) {
    if (!GIVEN(call)) return (OpCost){0};
    const Op *op = call->op;
    if (op->flags & OP_VIEW || !op_is_counted(op, &call->params)) return (OpCost){0};
    return op->cost ? op->cost(call) : op_cost_by_rules(call);
}
