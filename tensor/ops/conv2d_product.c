// conv2d_product.c -- convolution on the CPU: unfolds images into matrices, a tile at a time, and
// multiplies those. For images of any size, a thread unfolds at most TILE_FLOATS at once, so the
// workspace is bounded, and a tile is still in cache for the product.
#include <string.h>

#include "tensor/context.h"
#include "tensor/gemm.h"
#include "tensor/ops/conv.h"

// A tile is at most 512 KiB, half of a usual second-level cache. ROWS_MOST keeps it wide enough for
// the product; images with fewer than ITEMS_WANTED tiles are cut further, for the threads.
enum {
    TILE_FLOATS = 1 << 17,
    ROWS_MOST = 512,
    ITEMS_WANTED = 16,
    COLUMNS_LEAST = 64,
    ALIGN = 16, // tile sizes are multiples, which suit the product's kernels
};

// ---- division of the work ---------------------------------------------------------------------
// Tiles are (rows, columns) of the unfolded (k, p). An item is done by one thread, which owns its
// part of the output; each kernel defines its own items.
typedef struct Tiling {
    int64_t rows, columns;
    int64_t items;
    int64_t parts; // items per image and group, or, for the weight, per group
    int64_t slots; // threads that take part, each with its own workspace
    double cost;   // cost of all items
} Tiling;

static int64_t at_least(int64_t a, int64_t least) { return a > least ? a : least; }
static int64_t at_most(int64_t a, int64_t most) { return a < most ? a : most; }
static int64_t align(int64_t n) { return (n + ALIGN - 1) / ALIGN * ALIGN; }
static int64_t cut_evenly(int64_t n, int64_t most) { // into pieces of at most `most`
    return n > 0 ? divide_up(n, divide_up(n, most)) : 1;
}

static Tiling tiling_of(const ConvSizes *s, int64_t rows, int64_t columns_wanted) {
    bool plain = conv_is_plain(s); // nothing is unfolded, so no size is limited
    Tiling t = {.rows = plain ? at_least(rows, 1) : cut_evenly(rows, ROWS_MOST)};
    int64_t fits = plain ? columns_wanted : at_most(TILE_FLOATS / t.rows, columns_wanted);
    int64_t most = at_least(fits / ALIGN * ALIGN, ALIGN);
    t.columns = at_most(align(cut_evenly(s->p, most)), s->p);
    return t;
}

static void tiling_share(Tiling *t, const ConvSizes *s, int64_t items) {
    double macs =
        (double)s->images * (double)s->groups * (double)s->outputs * (double)s->k * (double)s->p;
    t->items = items;
    t->slots = cpu_pays(macs / WORK_MACS) ? at_most(context_current()->threads, items) : 1;
    t->cost = macs / WORK_MACS;
}

static int64_t tiling_floats(const Tiling *t) { return t->rows * t->columns + CONV_OVERSHOOT; }

typedef struct Job {
    const OpCall *call;
    ConvSizes sizes;
    Tiling tiling;
    void (*item)(const struct Job *job, int64_t item, float *tile);
} Job;

static int64_t workspace_bytes(Job job) {
    const ConvSizes *s = &job.sizes;
    bool none = conv_is_depthwise(s) || conv_is_plain(s) || job.tiling.items == 0 || s->k == 0 ||
                s->images == 0;
    return none ? 0 : job.tiling.slots * tiling_floats(&job.tiling) * (int64_t)sizeof(float);
}

static void run_slots(void *argument, int64_t begin, int64_t end) {
    const Job *job = argument;
    const Tiling *t = &job->tiling;
    for (int64_t slot = begin; slot < end; slot++) {
        float *tile = job->call->workspace ? job->call->workspace + slot * tiling_floats(t) : NULL;
        for (int64_t i = t->items * slot / t->slots; i < t->items * (slot + 1) / t->slots; i++)
            job->item(job, i, tile);
    }
}

static OpWork slots_work(const Tiling *t) {
    return (OpWork){.items = t->slots, .cost = t->cost / (double)t->slots};
}

static Status run(Job *job, void (*depthwise)(const OpCall *call, const ConvSizes *sizes)) {
    if (call_numel(job->call) == 0) return STATUS_OK;
    if (conv_is_depthwise(&job->sizes))
        depthwise(job->call, &job->sizes);
    else if (job->tiling.items)
        cpu_parallel(slots_work(&job->tiling), run_slots, job);
    return STATUS_OK;
}

static int64_t handoffs(Job job) {
    if (call_numel(job.call) == 0) return 0;
    if (conv_is_depthwise(&job.sizes))
        return cpu_handoffs(depthwise_work(&job.sizes, pool_plane_count(job.call->out[0])));
    return job.tiling.items ? cpu_handoffs(slots_work(&job.tiling)) : 0;
}

// ---- tiles -----------------------------------------------------------------------------------
// Address of the unfolded tile for a product; *ld is the distance between its rows.
static const float *unfolded(const Job *job, const Tensor *x, int64_t image, int64_t group,
                             const ConvTile *tile, float *workspace, int64_t *ld) {
    const ConvSizes *s = &job->sizes;
    const float *all = (const float *)(const void *)tensor_raw(x);
    const float *from = all + (image * s->groups + group) * s->channels * s->height * s->width;
    if (conv_is_plain(s)) {
        *ld = s->p;
        return from + tile->k0 * s->p + tile->p0;
    }
    conv_unfold(s, from, all + x->numel, tile, workspace);
    *ld = tile->columns;
    return workspace;
}

// ---- forward ---------------------------------------------------------------------------------
// An item: some columns of one image and group.
static Tiling forward_tiling(const ConvSizes *s) {
    int64_t pairs = s->images * s->groups;
    int64_t wanted = pairs ? divide_up(s->p * pairs, ITEMS_WANTED) : s->p;
    Tiling t = tiling_of(s, s->k, at_least(align(wanted), COLUMNS_LEAST));
    t.parts = divide_up(s->p, t.columns);
    tiling_share(&t, s, pairs * t.parts);
    return t;
}

static Job forward_job(const OpCall *call) {
    ConvSizes s = conv_sizes_forward(call);
    return (Job){call, s, forward_tiling(&s), NULL};
}

int64_t conv_forward_workspace(const OpCall *call) { return workspace_bytes(forward_job(call)); }
int64_t conv_forward_handoffs(const OpCall *call) { return handoffs(forward_job(call)); }

KERNEL static void add_bias(float *y, int64_t rows, int64_t ld, int64_t columns,
                            const float *bias) {
    for (int64_t o = 0; o < rows; o++)
        for (int64_t c = 0; c < columns; c++) y[o * ld + c] += bias[o];
}

// y (outputs, columns) = weight (outputs, k) . unfolded x (k, columns) + bias (outputs)
static void forward_item(const Job *job, int64_t item, float *workspace) {
    const OpCall *call = job->call;
    const ConvSizes *s = &job->sizes;
    int64_t pair = item / job->tiling.parts, group = pair % s->groups, first = group * s->outputs;
    ConvTile tile = {.p0 = item % job->tiling.parts * job->tiling.columns};
    tile.columns = at_most(job->tiling.columns, s->p - tile.p0);
    Gemm gemm = {.m = s->outputs, .n = tile.columns, .lda = at_least(s->k, 1), .ldc = s->p};
    gemm.c = call_out(call, 0) + pair * s->outputs * s->p + tile.p0;
    gemm.ldb = at_least(tile.columns, 1);
    do { // also once for k = 0: an empty sum
        tile.rows = at_most(job->tiling.rows, s->k - tile.k0);
        gemm.k = tile.rows;
        gemm.a = call_in(call, 1) + first * s->k + tile.k0;
        if (s->k > 0)
            gemm.b =
                unfolded(job, call->in[0], pair / s->groups, group, &tile, workspace, &gemm.ldb);
        gemm_alone(&gemm);
        gemm.add = true;
        tile.k0 += tile.rows;
    } while (tile.k0 < s->k);
    if (call->in[2]) add_bias(gemm.c, s->outputs, s->p, tile.columns, call_in(call, 2) + first);
}

Status conv2d_cpu(const OpCall *call, int64_t begin, int64_t end) {
    (void)begin, (void)end;
    Job job = forward_job(call);
    job.item = forward_item;
    return run(&job, depthwise_forward);
}

// ---- the input's gradient, also used as a transposed convolution -------------------------------
// An item: some channels of one image and group.
static Tiling input_tiling(const ConvSizes *s) {
    int64_t pairs = s->images * s->groups;
    int64_t wanted = pairs ? divide_up(ITEMS_WANTED, pairs) : 1;
    int64_t channels = divide_up(s->channels, at_least(at_most(wanted, s->channels), 1));
    Tiling t = tiling_of(s, channels * s->taps, TILE_FLOATS);
    t.parts = channels ? divide_up(s->channels, channels) : 0;
    tiling_share(&t, s, pairs * t.parts);
    return t;
}

static Job input_job(const OpCall *call) {
    ConvSizes s = conv_sizes_backward_input(call);
    return (Job){call, s, input_tiling(&s), NULL};
}

int64_t conv_backward_input_workspace(const OpCall *call) {
    return workspace_bytes(input_job(call));
}
int64_t conv_backward_input_handoffs(const OpCall *call) { return handoffs(input_job(call)); }

// dx (channels, height, width) = folded weight^T (k, outputs) . dy (outputs, p)
static void input_item(const Job *job, int64_t item, float *workspace) {
    const OpCall *call = job->call;
    const ConvSizes *s = &job->sizes;
    int64_t parts = job->tiling.parts, pair = item / parts, plane = s->height * s->width;
    int64_t begin = item % parts * s->channels / parts * s->taps;
    int64_t end = (item % parts + 1) * s->channels / parts * s->taps;
    float *dx = call_out(call, 0) + pair * s->channels * plane;
    bool plain = conv_is_plain(s);
    Gemm gemm = {.m = job->tiling.rows, .k = s->outputs, .trans_a = true, .lda = s->k};
    gemm.ldb = s->p;
    gemm.add = plain && conv_has_start(call);
    if (!plain || gemm.add)
        for (int64_t c = begin / s->taps; c < end / s->taps; c++)
            conv_fill(dx + c * plane, plane, conv_start(call, pair % s->groups * s->channels + c));
    for (int64_t k = begin; k < end; k += job->tiling.rows)
        for (int64_t p = 0; p < s->p; p += job->tiling.columns) {
            ConvTile tile = {k, at_most(job->tiling.rows, end - k), p,
                             at_most(job->tiling.columns, s->p - p)};
            gemm.m = tile.rows;
            gemm.n = tile.columns;
            gemm.a = call_in(call, 1) + pair % s->groups * s->outputs * s->k + k;
            gemm.b = call_in(call, 0) + pair * s->outputs * s->p + p;
            gemm.c = plain ? dx + k * s->p + p : workspace;
            gemm.ldc = plain ? s->p : tile.columns;
            gemm_alone(&gemm);
            if (!plain) conv_fold(s, workspace, &tile, dx);
        }
}

Status conv2d_backward_input_cpu(const OpCall *call, int64_t begin, int64_t end) {
    (void)begin, (void)end;
    Job job = input_job(call);
    job.item = input_item;
    return run(&job, depthwise_backward_input);
}

// ---- the weight's gradient -------------------------------------------------------------------
// An item: some columns, or, if there are few, some rows, of one group's weight (outputs, k).
static bool by_outputs(const ConvSizes *s) { return s->k < s->outputs; }

static Tiling weight_tiling(const ConvSizes *s) {
    int64_t threads = context_current()->threads;
    int64_t side = by_outputs(s) ? s->outputs : s->k;
    int64_t parts = at_least(at_most(divide_up(threads, s->groups), side / ALIGN), 1);
    Tiling t = tiling_of(s, by_outputs(s) ? s->k : divide_up(s->k, parts), TILE_FLOATS);
    t.parts = parts;
    tiling_share(&t, s, s->groups * parts);
    return t;
}

static Job weight_job(const OpCall *call) {
    ConvSizes s = conv_sizes_backward_weight(call);
    return (Job){call, s, weight_tiling(&s), NULL};
}

int64_t conv_backward_weight_workspace(const OpCall *call) {
    return workspace_bytes(weight_job(call));
}
int64_t conv_backward_weight_handoffs(const OpCall *call) { return handoffs(weight_job(call)); }

// dweight (outputs, rows) = the sum over images of dy (outputs, p) . unfolded x (rows, p)^T, for
// outputs from o on.
static void weight_rows(const Job *job, int64_t group, int64_t o, int64_t outputs, ConvTile tile,
                        float *workspace) {
    const OpCall *call = job->call;
    const ConvSizes *s = &job->sizes;
    Gemm gemm = {.m = outputs, .n = tile.rows, .lda = s->p, .ldc = s->k, .trans_b = true};
    gemm.add = call->adds;
    gemm.c = call_out(call, 0) + (group * s->outputs + o) * s->k + tile.k0;
    for (int64_t n = 0; n < s->images; n++)
        for (tile.p0 = 0; tile.p0 < s->p; tile.p0 += tile.columns) {
            tile.columns = at_most(job->tiling.columns, s->p - tile.p0);
            gemm.k = tile.columns;
            gemm.a = call_in(call, 0) + ((n * s->groups + group) * s->outputs + o) * s->p + tile.p0;
            gemm.b = unfolded(job, call->in[1], n, group, &tile, workspace, &gemm.ldb);
            gemm_alone(&gemm);
            gemm.add = true;
        }
}

static void weight_item(const Job *job, int64_t item, float *workspace) {
    const ConvSizes *s = &job->sizes;
    int64_t parts = job->tiling.parts, group = item / parts, part = item % parts;
    bool rows = by_outputs(s);
    int64_t o = rows ? part * s->outputs / parts : 0;
    int64_t outputs = rows ? (part + 1) * s->outputs / parts - o : s->outputs;
    int64_t k = rows ? 0 : part * s->k / parts, end = rows ? s->k : (part + 1) * s->k / parts;
    for (; k < end; k += job->tiling.rows) {
        ConvTile tile = {.k0 = k, .rows = at_most(job->tiling.rows, end - k)};
        weight_rows(job, group, o, outputs, tile, workspace);
    }
}

Status conv2d_backward_weight_cpu(const OpCall *call, int64_t begin, int64_t end) {
    (void)begin, (void)end;
    Job job = weight_job(call);
    job.item = weight_item;
    if (job.sizes.images > 0) return run(&job, depthwise_backward_weight);
    size_t bytes = (size_t)call_numel(call) * sizeof(float); // an empty sum
    if (bytes && !call->adds) memset(call_out(call, 0), 0, bytes);
    return STATUS_OK;
}
