// resize.h -- internal: the image elements that make up one resized element, along one side; on the
// CPU and on CUDA. Computed in float, so that the nearest element is the same as PyTorch's.
#ifndef TENSOR_OPS_RESIZE_H
#define TENSOR_OPS_RESIZE_H

#include "tensor/math.h"
#include "tensor/op.h"
#include "tensor/ops.h"

enum { RESIZE_TAPS = 4 }; // maximum number of taps

typedef struct ResizeSide {
    int64_t size, out;
    float step; // distance in the image between outputs
    uint32_t mode, coordinates, rounding;
} ResizeSide;

static inline uint32_t resize_flags(ResizeOptions o) {
    return (uint32_t)o.mode | (uint32_t)o.coordinates << 4 | (uint32_t)o.rounding << 8;
}
static inline int resize_taps_of(uint32_t mode) {
    return mode == RESIZE_NEAREST ? 1 : mode == RESIZE_LINEAR ? 2 : 4;
}

// d: 0 the height, 1 the width
static inline ResizeSide resize_side(const OpParams *params, int d) {
    ResizeSide side = {params->window.input[d], params->window.kernel[d], params->value[d],
                       params->flags & 15,      params->flags >> 4 & 15,  params->flags >> 8};
    bool same = side.out == side.size && side.mode == RESIZE_LINEAR;
    if (side.mode == RESIZE_NEAREST && side.coordinates == RESIZE_ASYMMETRIC &&
        side.rounding == RESIZE_FLOOR)
        same = same || side.out == side.size;
    if (side.coordinates == RESIZE_ALIGN_CORNERS)
        side.step = side.out > 1 ? (float)(side.size - 1) / (float)(side.out - 1) : 0.0f;
    else if (same || side.step == 0.0f)
        side.step = (float)side.size / (float)side.out;
    return side;
}

// Position of output o in the image.
MATH_INLINE float resize_place(const ResizeSide *side, int64_t o) {
    if (side->coordinates == RESIZE_PYTORCH_HALF_PIXEL && side->out == 1) return 0.0f;
    if (side->coordinates == RESIZE_ALIGN_CORNERS || side->coordinates == RESIZE_ASYMMETRIC)
        return side->step * (float)o;
    return side->step * ((float)o + 0.5f) - 0.5f;
}

MATH_INLINE int64_t resize_within(const ResizeSide *side, int64_t i) {
    return i < 0 ? 0 : i < side->size ? i : side->size - 1;
}

// Cubic weights (Keys 1981, a = -0.75) of a tap at distance d, for d up to 1, and from 1 to 2
MATH_INLINE float resize_near(float d) { return ((1.25f * d - 2.25f) * d) * d + 1.0f; }
MATH_INLINE float resize_far(float d) { return ((-0.75f * d + 3.75f) * d - 6.0f) * d + 3.0f; }

// Taps of output o and their weights; the mode determines their number.
MATH_INLINE void resize_taps(const ResizeSide *side, int64_t o, int64_t index[RESIZE_TAPS],
                             float weight[RESIZE_TAPS]) {
    float place = resize_place(side, o);
    if (side->mode == RESIZE_NEAREST) {
        float whole = side->rounding == RESIZE_FLOOR                ? floorf(place)
                      : side->rounding == RESIZE_CEIL               ? ceilf(place)
                      : side->rounding == RESIZE_ROUND_PREFER_FLOOR ? ceilf(place - 0.5f)
                                                                    : floorf(place + 0.5f);
        index[0] = resize_within(side, (int64_t)whole);
        weight[0] = 1.0f;
        return;
    }
    if (side->mode == RESIZE_LINEAR) place = place < 0.0f ? 0.0f : place;
    float whole = floorf(place), past = place - whole;
    int64_t first = (int64_t)whole;
    if (side->mode == RESIZE_LINEAR) {
        index[0] = resize_within(side, first);
        // If the size does not change, the second tap, which may be infinite, is not read, as
        // in PyTorch.
        index[1] = resize_within(side, side->out == side->size ? first : first + 1);
        weight[0] = 1.0f - past;
        weight[1] = past;
        return;
    }
    for (int t = 0; t < RESIZE_TAPS; t++) index[t] = resize_within(side, first + t - 1);
    weight[0] = resize_far(past + 1.0f);
    weight[1] = resize_near(past);
    weight[2] = resize_near(1.0f - past);
    weight[3] = resize_far(2.0f - past);
}

// Range that contains all outputs with element i among their taps, and some more.
typedef struct ResizeRange {
    int64_t begin, end;
} ResizeRange;
MATH_INLINE ResizeRange resize_readers(const ResizeSide *side, int64_t i) {
    ResizeRange range = {0, side->out};
    if (side->step <= 0.0f) return range;
    // Taps are within 3 of their position, and a position within 1 of step * output.
    double first = ((double)i - 4.0) / (double)side->step - 1.0;
    double last = ((double)i + 4.0) / (double)side->step + 2.0;
    if (i > 0 && first > 0.0) range.begin = first < (double)side->out ? (int64_t)first : side->out;
    if (i < side->size - 1 && last < (double)side->out) range.end = (int64_t)last;
    return range;
}

#endif
