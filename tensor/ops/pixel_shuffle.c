// pixel_shuffle.c -- moves channels to positions of the image, and back: views around one copy.
#include "tensor/op.h"
#include "tensor/ops.h"

// Views x as (n, a, b, c, d, e), permutes the dimensions, and reshapes to `out`.
static Tensor *rearranged(Tensor *x, Shape parts, const int *order, Shape out) {
    return tensor_reshape(tensor_permute(tensor_reshape(x, parts), order), out);
}

static bool fits(const char *op, const Tensor *x, int64_t factor, bool channels) {
    char text[SHAPE_TEXT];
    const int64_t *dims = x->shape.dims;
    bool four = x->shape.ndim == 4 && factor >= 1 && factor <= INT16_MAX;
    for (int i = 1; four && i < 4; i++) four = dims[i] <= INT32_MAX; // no size beyond 2^63
    if (four && (channels ? dims[1] % (factor * factor) == 0
                          : dims[2] % factor == 0 && dims[3] % factor == 0))
        return true;
    error_set(four ? STATUS_SHAPE : STATUS_INVALID_ARGUMENT,
              "%s of %s by %lld. HINT: x is (n, c, h, w), the factor from 1 to 32767, and %s", op,
              shape_text(x->shape, text), (long long)factor,
              channels ? "its square divides c" : "it divides h and w");
    return false;
}

Tensor *tensor_pixel_shuffle(Tensor *x, int64_t factor) {
    if (!x) return OP_RUN(op_reshape, NULL, x);
    if (!fits("pixel_shuffle", x, factor, true)) return NULL;
    const int64_t *d = x->shape.dims, c = d[1] / (factor * factor);
    return rearranged(x, SHAPE(d[0], c, factor, factor, d[2], d[3]),
                      (const int[]){0, 1, 4, 2, 5, 3},
                      SHAPE(d[0], c, d[2] * factor, d[3] * factor));
}

Tensor *tensor_pixel_unshuffle(Tensor *x, int64_t factor) {
    if (!x) return OP_RUN(op_reshape, NULL, x);
    if (!fits("pixel_unshuffle", x, factor, false)) return NULL;
    const int64_t *d = x->shape.dims, h = d[2] / factor, w = d[3] / factor;
    return rearranged(x, SHAPE(d[0], d[1], h, factor, w, factor), (const int[]){0, 1, 3, 5, 2, 4},
                      SHAPE(d[0], d[1] * factor * factor, h, w));
}

Tensor *tensor_depth_to_space(Tensor *x, int64_t factor) {
    if (!x) return OP_RUN(op_reshape, NULL, x);
    if (!fits("depth_to_space", x, factor, true)) return NULL;
    const int64_t *d = x->shape.dims, c = d[1] / (factor * factor);
    return rearranged(x, SHAPE(d[0], factor, factor, c, d[2], d[3]),
                      (const int[]){0, 3, 4, 1, 5, 2},
                      SHAPE(d[0], c, d[2] * factor, d[3] * factor));
}
