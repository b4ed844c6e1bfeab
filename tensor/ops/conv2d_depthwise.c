// conv2d_depthwise.c -- convolution of each channel by itself: as a product it would have an inner
// size of only a few taps, so it runs in loops over rows of outputs. The input of a block of
// outputs is first copied with its padding; then no tap has to check the image's borders, and loops
// run over whole STEPs.
#include <string.h>

#include "tensor/ops/conv.h"
#include "tensor/ops/reduce.h"
#include "tensor/pool.h"

enum { WIDEST = 256, STEP = REDUCE_LANES, FLUSH_ROWS = 16 };

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t whole_steps(int64_t n) { return (n + STEP - 1) / STEP * STEP; }

typedef struct Block { // outputs [oh, oh + rows) x [ow, ow + n), and the band of x they read
    int64_t oh, rows, ow, n;
    int64_t whole;                 // n, rounded up to whole steps
    int64_t top, left;             // start of the band in x, maybe in the padding
    int64_t band_rows, band_width; // size of the band
    int64_t rows_most, whole_most; // largest of any block
    float band[CONV_DEPTHWISE_BAND + CONV_OVERSHOOT];
} Block;

// Number of inputs that the taps of n adjacent outputs reach.
static int64_t reach(const ConvSizes *s, int d, int64_t n) {
    const OpWindow *w = &s->window;
    return (n - 1) * w->stride[d] + (int64_t)(w->kernel[d] - 1) * w->dilation[d] + 1;
}

// Makes blocks as wide as possible, then as high as the band allows.
static void block_start(const ConvSizes *s, Block *block) {
    int64_t whole = whole_steps(smaller(s->out_width, WIDEST));
    while (whole > STEP && reach(s, 1, whole) * reach(s, 0, 1) > CONV_DEPTHWISE_BAND) whole -= STEP;
    int64_t rows = CONV_DEPTHWISE_BAND / reach(s, 1, whole);
    block->whole_most = whole;
    block->rows_most = (rows - reach(s, 0, 1)) / s->window.stride[0] + 1;
    block->oh = block->ow = 0;
}

// Places the next block; false: there are no more.
static bool block_place(const ConvSizes *s, Block *block) {
    if (block->oh >= s->out_height) return false;
    block->rows = smaller(s->out_height - block->oh, block->rows_most);
    block->n = smaller(s->out_width - block->ow, block->whole_most);
    block->whole = whole_steps(block->n);
    block->top = window_place(&s->window, 0, block->oh, 0);
    block->left = window_place(&s->window, 1, block->ow, 0);
    block->band_rows = reach(s, 0, block->rows);
    block->band_width = reach(s, 1, block->whole);
    return true;
}

static void block_next(const ConvSizes *s, Block *block) {
    block->ow += block->n;
    if (block->ow < s->out_width) return;
    block->ow = 0;
    block->oh += block->rows;
}

// The band's columns inside the image.
MATH_INLINE Range columns_inside(const ConvSizes *s, const Block *block) {
    Range range = {-block->left, s->width - block->left};
    return range_within(range, 0, block->band_width);
}

// band = the block's part of x (height, width); `end`: of the memory behind x
MATH_INLINE void load_band(const ConvSizes *s, const float *x, const float *end, Block *block) {
    Range inside = columns_inside(s, block);
    for (int64_t r = 0; r < block->band_rows; r++) {
        float *to = block->band + r * block->band_width;
        int64_t ih = block->top + r, copied = inside.end - inside.begin;
        if (ih < 0 || ih >= s->height) copied = 0;
        const float *from = x + ih * s->width + block->left + inside.begin;
        for (int64_t c = 0; c < inside.begin; c++) to[c] = 0.0f;
        conv_copy_row(to + inside.begin, from, copied, end);
        for (int64_t c = inside.begin + copied; c < block->band_width; c++) to[c] = 0.0f;
    }
}

// Index in the band that tap t of the first output in the block's row r reads.
MATH_INLINE int64_t band_at(const ConvSizes *s, const Block *block, int64_t r, int64_t t) {
    const OpWindow *w = &s->window;
    int64_t i = t / w->kernel[1], j = t % w->kernel[1];
    return (r * w->stride[0] + i * w->dilation[0]) * block->band_width + j * w->dilation[1];
}

// ---- y = the sum over taps -------------------------------------------------------------------
// sum (whole) += scale * x (whole * stride)
MATH_INLINE void add_tap(float *restrict sum, const float *restrict x, float scale, int64_t whole,
                         int64_t stride) {
    for (int64_t o = 0; o < whole; o++) sum[o] += scale * x[o * stride];
}

// y (out height, out width) = start (NULL: y) + the sum over taps of weight * shifted x (height,
// width); the weight's taps are `step` apart.
KERNEL static void correlate(const ConvSizes *s, const float *weight, int64_t step,
                             const float *start, const float *x, const float *end, float *y) {
    int64_t stride = s->window.stride[1];
    float sum[WIDEST];
    Block block;
    for (block_start(s, &block); block_place(s, &block); block_next(s, &block)) {
        load_band(s, x, end, &block);
        for (int64_t r = 0; r < block.rows; r++) {
            float *row = y + (block.oh + r) * s->out_width + block.ow;
            for (int64_t o = 0; o < block.whole; o++) sum[o] = start ? *start : 0.0f;
            for (int64_t t = 0; t < s->taps; t++) {
                const float *from = block.band + band_at(s, &block, r, t);
                if (stride == 1)
                    add_tap(sum, from, weight[t * step], block.whole, 1);
                else
                    add_tap(sum, from, weight[t * step], block.whole, stride);
            }
            if (start)
                for (int64_t o = 0; o < block.n; o++) row[o] = sum[o];
            else
                for (int64_t o = 0; o < block.n; o++) row[o] += sum[o];
        }
    }
}

// ---- the input's gradient --------------------------------------------------------------------
// With stride 1, dx is the correlation of dy with the reversed taps.
static ConvSizes turned(const ConvSizes *s) {
    ConvSizes t = *s;
    t.height = s->out_height;
    t.width = s->out_width;
    t.out_height = s->height;
    t.out_width = s->width;
    for (int d = 0; d < 2; d++)
        t.window.before[d] =
            (s->window.kernel[d] - 1) * s->window.dilation[d] - s->window.before[d];
    return t;
}

// dx (height, width) += weight * dy (out height, out width), where each tap read
KERNEL static void spread(const ConvSizes *s, const float *weight, const float *dy, float *dx) {
    const OpWindow *w = &s->window;
    for (int64_t oh = 0; oh < s->out_height; oh++, dy += s->out_width)
        for (int64_t t = 0; t < s->taps; t++) {
            int64_t i = t / w->kernel[1], j = t % w->kernel[1], ih = window_place(w, 0, oh, i);
            Range inside = window_range(w, 1, j, s->out_width);
            if (ih < 0 || ih >= s->height) continue;
            float *to = dx + ih * s->width + window_place(w, 1, 0, j);
            for (int64_t o = inside.begin; o < inside.end; o++)
                to[o * w->stride[1]] += weight[t] * dy[o];
        }
}

// ---- the weight's gradient -------------------------------------------------------------------
// lanes += dy (whole) * x (whole * stride), lane by lane
MATH_INLINE void dot_tap(float *restrict lanes, const float *restrict dy, const float *restrict x,
                         int64_t whole, int64_t stride) {
    for (int64_t o = 0; o < whole; o += STEP)
        for (int64_t k = 0; k < STEP; k++) lanes[k] += dy[o + k] * x[(o + k) * stride];
}

// sums (n taps from `first` on) += the sum over a plane of dy * shifted x: adds a few rows in
// lanes, and their sums in double
KERNEL static void dot_plane(const ConvSizes *s, const float *dy, const float *x, const float *end,
                             int64_t first, int64_t n, double *sums) {
    int64_t stride = s->window.stride[1];
    float gradient[WIDEST], lanes[STEP][STEP];
    Block block;
    for (block_start(s, &block); block_place(s, &block); block_next(s, &block)) {
        load_band(s, x, end, &block);
        memset(lanes, 0, sizeof(lanes));
        for (int64_t r = 0; r < block.rows; r++) {
            const float *row = dy + (block.oh + r) * s->out_width + block.ow;
            for (int64_t o = 0; o < block.n; o++) gradient[o] = row[o];
            for (int64_t o = block.n; o < block.whole; o++) gradient[o] = 0.0f;
            for (int64_t t = 0; t < n; t++) {
                const float *from = block.band + band_at(s, &block, r, first + t);
                if (stride == 1)
                    dot_tap(lanes[t], gradient, from, block.whole, 1);
                else
                    dot_tap(lanes[t], gradient, from, block.whole, stride);
            }
            if ((r + 1) % FLUSH_ROWS != 0 && r + 1 < block.rows) continue;
            for (int64_t t = 0; t < n; t++) sums[t] += (double)reduce_sum(lanes[t], STEP);
            memset(lanes, 0, sizeof(lanes));
        }
    }
}

// ---- over planes -----------------------------------------------------------------------------
static float *plane(const Tensor *t, int64_t index) {
    return (float *)(void *)tensor_raw(t) + index * pool_plane_size(t);
}

static const float *plane_end(const Tensor *t) {
    return (const float *)(const void *)tensor_raw(t) + t->numel;
}

OpWork depthwise_work(const ConvSizes *s, int64_t planes) {
    double macs =
        (double)s->images * (double)s->groups * (double)s->outputs * (double)s->p * (double)s->taps;
    return (OpWork){.items = planes, .cost = macs / (double)planes};
}

static void over_planes(const OpCall *call, const ConvSizes *s, int64_t planes, PoolTask task) {
    cpu_parallel(depthwise_work(s, planes), task, (void *)(uintptr_t)call);
}

static void forward_planes(void *argument, int64_t begin, int64_t end) {
    const OpCall *call = argument;
    ConvSizes s = conv_sizes_forward(call);
    int64_t outputs = s.groups * s.outputs;
    const float zero = 0.0f;
    for (int64_t out = begin; out < end; out++)
        correlate(&s, call_in(call, 1) + out % outputs * s.taps, 1,
                  call->in[2] ? call_in(call, 2) + out % outputs : &zero,
                  plane(call->in[0], out / s.outputs), plane_end(call->in[0]),
                  plane(call->out[0], out));
}

void depthwise_forward(const OpCall *call, const ConvSizes *s) {
    over_planes(call, s, pool_plane_count(call->out[0]), forward_planes);
}

static void input_planes(void *argument, int64_t begin, int64_t end) {
    const OpCall *call = argument;
    ConvSizes s = conv_sizes_backward_input(call), back = turned(&s);
    bool dense = s.window.stride[0] == 1 && s.window.stride[1] == 1;
    for (int64_t in = begin; in < end; in++) {
        float *dx = plane(call->out[0], in);
        conv_fill(dx, s.height * s.width, conv_start(call, in % s.groups));
        for (int64_t o = 0; o < s.outputs; o++) {
            const float *weight = call_in(call, 1) + (in % s.groups * s.outputs + o) * s.taps;
            const float *dy = plane(call->in[0], in * s.outputs + o);
            if (dense)
                correlate(&back, weight + s.taps - 1, -1, NULL, dy, plane_end(call->in[0]), dx);
            else
                spread(&s, weight, dy, dx);
        }
    }
}

void depthwise_backward_input(const OpCall *call, const ConvSizes *s) {
    over_planes(call, s, pool_plane_count(call->out[0]), input_planes);
}

// Handles as many taps at a time as there are sets of lanes.
static void weight_outputs(void *argument, int64_t begin, int64_t end) {
    const OpCall *call = argument;
    ConvSizes s = conv_sizes_backward_weight(call);
    int64_t outputs = s.groups * s.outputs;
    for (int64_t o = begin; o < end; o++)
        for (int64_t first = 0; first < s.taps; first += STEP) {
            int64_t taps = smaller(s.taps - first, STEP);
            float *dweight = call_out(call, 0) + o * s.taps + first;
            double sums[STEP] = {0};
            for (int64_t t = 0; t < taps && call->adds; t++) sums[t] = (double)dweight[t];
            for (int64_t n = 0; n < s.images; n++) {
                int64_t out = n * outputs + o;
                dot_plane(&s, plane(call->in[0], out), plane(call->in[1], out / s.outputs),
                          plane_end(call->in[1]), first, taps, sums);
            }
            for (int64_t t = 0; t < taps; t++) dweight[t] = (float)sums[t];
        }
}

void depthwise_backward_weight(const OpCall *call, const ConvSizes *s) {
    over_planes(call, s, s->groups * s->outputs, weight_outputs);
}
