// cost.c -- the cost of a call: its traffic, and the FLOPs given by the rules of its story.
#include "tensor/given.h"
#include "tensor/op.h"

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

// ---- stories -----------------------------------------------------------------------------------
unsigned op_given(const OpCall *call) {
    if (!GIVEN(call)) return 0;
    unsigned given = 0;
    for (int i = 0; i < call->n_in; i++) given |= call->in[i] ? SAVE_IN(i) : 0;
    for (int i = 0; i < call->n_out; i++) given |= SAVE_OUT(i);
    return call->adds ? given | GIVEN_SUM : given;
}

// Whether a fused activation's rule is known: it must count per element, as z has y's shape.
static bool by_element(OpRule rule) {
    return rule.basis == BASIS_NONE || rule.basis == PER_OUTPUT ||
           (rule.basis == PER_INPUT && rule.input == 0);
}

static bool fused_is_counted(const Op *activation) {
    const OpStory *story = activation->story;
    return story && !activation->cost && !story->factors && story->bias.basis == BASIS_NONE &&
           by_element(story->elementwise) && by_element(story->transcendental);
}

static OpRule per_output(OpRule rule) {
    if (rule.basis == PER_INPUT) rule.basis = PER_OUTPUT;
    return rule;
}

// Adds the activation's FLOPs; if its backward reads its input, that is an extra output.
static void fuse(OpStory *story, const Op *activation, const OpParams *params) {
    OpParams alone = *params;
    alone.activation = NULL;
    OpStory of = op_story(activation, &alone, SAVE_IN(0) | SAVE_OUT(0));
    story->activation = activation;
    story->keeps |= (of.keeps & KEEP_X ? KEEP_EXTRA : 0) | (of.keeps & KEEP_Y);
    if (!fused_is_counted(activation)) return;
    story->elementwise = per_output(of.elementwise);
    story->transcendental = per_output(of.transcendental);
}

OpStory op_story(const Op *op, const OpParams *params, unsigned given) {
    static const OpParams none;
    if (!GIVEN(op)) return (OpStory){0};
    if (!params) params = &none;
    OpStory story = op->story ? *op->story : (OpStory){0};
    if (story.vary) story.vary(&story, params, given);
    if (given & GIVEN_SUM && story.elementwise.basis == BASIS_NONE)
        story.elementwise = (OpRule){story.scatters ? PER_INPUT : PER_OUTPUT, .each = 1};
    if (params->activation) fuse(&story, params->activation, params);
    return story;
}

// ---- rules -------------------------------------------------------------------------------------
typedef __int128 Wide;                          // holds products of sizes without overflow
static const uint64_t most = (uint64_t)1 << 61; // stands for all larger counts

static uint64_t clip(Wide count) {
    return count < 0 ? 0 : count > (Wide)most ? most : (uint64_t)count;
}

static uint64_t by_rows(const Tensor *t, int64_t length, OpRule rule) {
    Wide rows = length ? t->numel / length : 0;
    return clip(rows * ((Wide)rule.each * length + rule.more));
}

static uint64_t by_columns(int64_t in, int64_t out, OpRule rule) {
    return in && out ? clip((Wide)out * ((Wide)rule.each * (in / out) + rule.more)) : 0;
}

static uint64_t by_sums(int64_t in, int64_t out, OpRule rule) {
    return clip((Wide)(in > out ? in - out : 0) + (Wide)rule.more * out);
}

// A step has one group of inputs per parameter, of as many inputs as the story names.
static uint64_t by_parameters(const OpCall *call, const OpStory *story, OpRule rule) {
    int group = 0;
    Wide n = 0;
    while (rule.input + group < STORY_INPUTS && story->in[rule.input + group]) group++;
    for (int i = rule.input; group && i < call->n_in; i += group)
        n += call->in[i] ? call->in[i]->numel : 0;
    return clip(rule.each * n);
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

// Counts the scores of an attention's queries and keys.
static uint64_t by_scores(const Tensor *queries, const Tensor *keys, OpRule rule) {
    Wide rows = 1, length = keys->shape.dims[keys->shape.ndim - 2];
    for (int i = 0; i < queries->shape.ndim - 1; i++) rows *= queries->shape.dims[i];
    return clip(rows * (rule.each * length + rule.more));
}

static uint64_t by_regions(const OpCall *call, OpRule rule) {
    const OpWindow *w = &call->params.window;
    const Shape *shape = &call->in[0]->shape;
    Wide planes = (Wide)shape->dims[0] * shape->dims[1];
    return clip(planes * op_window_held(w, 0) * op_window_held(w, 1) +
                (Wide)rule.more * call->in[0]->numel);
}

static uint64_t count(const OpCall *call, const OpStory *story, OpRule rule) {
    if (rule.basis == BASIS_NONE || rule.input < 0 || rule.input >= call->n_in) return 0;
    const Tensor *in = call->in[rule.input];
    int64_t outputs = call->n_out ? call->out[0]->numel : 0;
    if (!in) return 0; // an absent input counts 0
    switch (rule.basis) {
    case PER_OUTPUT:
        return clip((Wide)rule.each * outputs);
    case PER_INPUT:
        return clip((Wide)rule.each * in->numel);
    case PER_ROW:
        return by_rows(in, in->shape.ndim ? in->shape.dims[in->shape.ndim - 1] : 1, rule);
    case PER_BLOCK:
        return by_rows(in, shape_numel(call->params.shape), rule);
    case PER_CHANNEL:
        return in->shape.dims[1] ? by_rows(in, in->numel / in->shape.dims[1], rule) : 0;
    case PER_SUM:
        return by_sums(call->in[0]->numel, outputs, rule);
    case PER_COLUMN:
        return by_columns(in->numel, outputs, rule);
    case PER_PARAMETER:
        return by_parameters(call, story, rule);
    case PER_SCORE:
        return by_scores(in, call->in[rule.input + 1], rule);
    case PER_REGION:
        return by_regions(call, rule);
    default:
        return 0;
    }
}

static uint64_t products(const OpCall *call, const OpStory *story) {
    Shape in[STORY_INPUTS];
    int64_t factor[STORY_FACTORS];
    if (!story->factors) return 0;
    for (int i = 0; i < STORY_INPUTS; i++)
        in[i] = i < call->n_in && call->in[i] ? call->in[i]->shape : (Shape){.ndim = -1};
    int n = story->factors(in, call->out[0]->shape, &call->params, factor);
    uint64_t macs = n > 0;
    bool none = false; // some factor is 0
    for (int i = 0; i < n; i++) none = none || factor[i] == 0;
    for (int i = 0; i < n && !none; i++) macs = clip((Wide)macs * factor[i]);
    return none ? 0 : macs;
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
    cost.macs = products(call, story);
    cost.elementwise_flops = count(call, story, story->elementwise);
    cost.transcendental_flops = count(call, story, story->transcendental);
    cost.bias_flops = count(call, story, story->bias);
    return cost;
}

Status op_cost_check(OpCost cost, double *sum) {
    if (!GIVEN(sum)) return STATUS_INVALID_ARGUMENT;
    *sum += 2.0 * (double)cost.macs + (double)cost.bias_flops + (double)cost.elementwise_flops +
            (double)cost.transcendental_flops + (double)cost.bytes_read +
            (double)cost.bytes_written;
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
    return (OpSlow){.roots = count(call, plain, plain->roots),
                    .divisions = count(call, plain, plain->divisions)};
}

// With a fused activation, both costs must be known.
bool op_is_counted(const Op *op, const OpParams *params) {
    if (!GIVEN(op)) return false;
    bool known = op->cost || op->story || op->flags & OP_VIEW;
    return known && (!params || !params->activation || fused_is_counted(params->activation));
}

OpCost op_cost(const OpCall *call) {
    if (!GIVEN(call)) return (OpCost){0};
    const Op *op = call->op;
    if (op->flags & OP_VIEW || !op_is_counted(op, &call->params)) return (OpCost){0};
    return op->cost ? op->cost(call) : op_cost_by_rules(call);
}
