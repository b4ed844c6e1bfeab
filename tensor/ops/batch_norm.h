// batch_norm.h -- internal to ops/: shared by batch norm, in training and evaluation, and its
// gradients: walks the channels of a batch plane by plane if planes are wide, else by tiles.
#ifndef TENSOR_OPS_BATCH_NORM_H
#define TENSOR_OPS_BATCH_NORM_H

#include "tensor/ops/layer_norm.h"

// Flags of batch_norm_backward and batch_norm_eval_backward: wanted outputs, in their order.
enum { NORM_WANTS_X = 1, NORM_WANTS_WEIGHT = 2, NORM_WANTS_BIAS = 4 };

typedef struct Channels { // x (samples, count, plane)
    int64_t samples, count, plane;
} Channels;

static inline Channels channels_of(const Tensor *x) {
    Channels of = {x->shape.dims[0], x->shape.dims[1], 1};
    for (int i = 2; i < x->shape.ndim; i++) of.plane *= x->shape.dims[i];
    return of;
}

// Smaller planes are narrow: adjacent elements of one sample then belong to several channels.
enum { CHANNEL_NARROW = 16, CHANNEL_TILE = 256 };

static inline bool channels_are_narrow(Channels of) { return of.plane < CHANNEL_NARROW; }
static inline int64_t channels_size(Channels of) { return of.samples * of.plane; } // each
static inline int64_t channels_step(Channels of) { return of.count * of.plane; }   // per sample
// Number of narrow channels done at a time; their columns are adjacent.
static inline int64_t channels_together(Channels of) {
    return of.plane ? CHANNEL_TILE / of.plane : CHANNEL_TILE;
}

static inline OpWork channels_work(Channels of) {
    double size = (double)channels_size(of);
    return (OpWork){.items = of.count,
                    .cost = size > 1.0 ? size : 1.0,
                    .together = channels_are_narrow(of) ? 64 : 0};
}

// ---- two sums over a channel, plane by plane ---------------------------------------------------
typedef struct LaneSums { // planes summed in lanes of float, and the flushed sums in double
    float first[NORM_LANES], second[NORM_LANES];
    int64_t held; // elements in the lanes
    NormSums sums;
} LaneSums;

MATH_INLINE void lanes_flush(LaneSums *lanes) {
    lanes->sums.first += (double)reduce_pairs(lanes->first, NORM_LANES);
    lanes->sums.second += (double)reduce_pairs(lanes->second, NORM_LANES);
    for (int k = 0; k < NORM_LANES; k++) lanes->first[k] = lanes->second[k] = 0.0f;
    lanes->held = 0;
}

MATH_INLINE void lanes_add(LaneSums *lanes, const void *row, int64_t n,
                           NormTerm (*term)(const void *, int64_t)) {
    for (int64_t from = 0, end; from < n; from = end) {
        end = n - from < REDUCE_BLOCK ? n : from + REDUCE_BLOCK;
        if (lanes->held + (end - from) > REDUCE_BLOCK) lanes_flush(lanes);
        float first[NORM_LANES], second[NORM_LANES]; // local, to stay in registers
        for (int k = 0; k < NORM_LANES; k++) {
            first[k] = lanes->first[k];
            second[k] = lanes->second[k];
        }
        norm_add(first, second, row, from, end, term);
        for (int k = 0; k < NORM_LANES; k++) {
            lanes->first[k] = first[k];
            lanes->second[k] = second[k];
        }
        lanes->held += end - from;
    }
}

// ---- y = (x - mean) scale + shift -------------------------------------------------------------
typedef struct Affine { // per channel; the mean is about + rest
    float about, rest, scale, shift;
} Affine;

MATH_INLINE void affine_plane(const float *x, float *y, int64_t n, Affine a) {
    for (int64_t j = 0; j < n; j++) y[j] = ((x[j] - a.about) - a.rest) * a.scale + a.shift;
}

typedef struct AffineTile { // an Affine for each column of some narrow channels
    float about[CHANNEL_TILE], rest[CHANNEL_TILE], scale[CHANNEL_TILE], shift[CHANNEL_TILE];
} AffineTile;

MATH_INLINE void affine_tile_set(AffineTile *tile, int64_t column, int64_t plane, Affine a) {
    for (int64_t j = column; j < column + plane; j++) {
        tile->about[j] = a.about;
        tile->rest[j] = a.rest;
        tile->scale[j] = a.scale;
        tile->shift[j] = a.shift;
    }
}

MATH_INLINE void affine_columns(const float *x, float *y, Channels of, int64_t width,
                                const AffineTile *tile) {
    int64_t step = channels_step(of);
    for (int64_t s = 0; s < of.samples; s++, x += step, y += step)
        for (int64_t j = 0; j < width; j++)
            y[j] = ((x[j] - tile->about[j]) - tile->rest[j]) * tile->scale[j] + tile->shift[j];
}

MATH_INLINE float number_or(const OpCall *call, int input, int64_t channel, float otherwise) {
    return call->in[input] ? call_in(call, input)[channel] : otherwise;
}

// ---- for both forms of the op, which share their first five inputs ----------------------------
Status batch_norm_check(const OpCall *call);
// Runs `op` for the wanted gradients; in[] are its inputs, NULL where not needed for those.
Status batch_norm_run_backward(const Op *op, const OpCall *saved, Tensor *grad_in[], Tensor *in[5]);

#endif
