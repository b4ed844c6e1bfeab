// formula.c -- tells whether stored numbers follow a formula, as masks, sequences and tables of
// sines do and learned numbers do not. It looks at numbers only, not at names.
#include <math.h>

#include "layers/files/onnx/import.h"
#include "tensor/memory.h"

enum { MOST_READ = 1 << 22, FEWEST = 8 }; // fewer numbers may follow one by chance

static bool near(double x, double wanted, double by) { return fabs(x - wanted) <= by; }

// A mask has two distinct values, or one that stands for minus infinity.
static bool is_mask(const float *x, int64_t n) {
    int64_t other = 0;
    for (int64_t i = 0; i < n; i++)
        if (x[i] <= -1e9f) return true;
    if (n < FEWEST) return false;
    while (other < n && x[other] == x[0]) other++;
    for (int64_t i = other; i < n; i++)
        if (x[i] != x[0] && x[i] != x[other]) return false;
    return other < n;
}

static bool are_whole(const float *x, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        if (x[i] != rintf(x[i])) return false;
    return n >= FEWEST;
}

// In a sequence each number is the one before plus a step, or times a ratio.
static bool is_sequence(const float *x, int64_t n) {
    if (n < FEWEST || x[0] == x[1]) return false;
    double step = (double)x[1] - (double)x[0], ratio = (double)x[1] / (double)x[0];
    bool sums = true, products = x[0] != 0.0f && isfinite(ratio);
    for (int64_t i = 1; i < n && (sums || products); i++) {
        double by = 1e-3 * fabs((double)x[i]);
        sums = sums && near((double)x[i], (double)x[i - 1] + step, by + 1e-3 * fabs(step));
        products = products && near((double)x[i], (double)x[i - 1] * ratio, by);
    }
    return sums || products;
}

// Each row has the sine and the cosine of each angle, in pairs, or all sines and then all cosines.
static bool are_waves(const float *x, int64_t n, int64_t columns) {
    bool beside = true, behind = true;
    if (columns < 2 || columns % 2 != 0 || n < FEWEST) return false;
    for (int64_t row = 0; row < n && (beside || behind); row += columns)
        for (int64_t k = 0; k < columns / 2; k++) {
            const float *r = x + row;
            double a = hypot((double)r[2 * k], (double)r[2 * k + 1]);
            double b = hypot((double)r[k], (double)r[k + columns / 2]);
            beside = beside && near(a, 1.0, 1e-3);
            behind = behind && near(b, 1.0, 1e-3);
        }
    return beside || behind;
}

// Each row is a multiple of every other: positions times frequencies, or one filter for all
// channels of a blurring pool.
static bool is_outer(const float *x, int64_t n, int64_t columns) {
    int64_t most = 0;
    if (columns < 2 || n < 2 * columns || n < FEWEST) return false;
    for (int64_t i = 1; i < n; i++)
        if (fabsf(x[i]) > fabsf(x[most])) most = i;
    const float *row = x + most / columns * columns;
    double largest = (double)x[most];
    for (int64_t i = 0; i < n; i++) {
        double times = (double)x[i / columns * columns + most % columns] / largest;
        if (!near((double)x[i], times * (double)row[i % columns], 1e-5 * fabs(largest)))
            return false;
    }
    return true;
}

bool value_is_formula(Import *import, const Value *value) {
    int64_t n = shape_numel(value->shape), longest = 1;
    int ndim = value->shape.ndim;
    if (!value->stored || n < 2 || n > MOST_READ || !onnx_is_float(value->type)) return false;
    for (int i = 0; i < ndim; i++)
        if (value->shape.dims[i] > longest) longest = value->shape.dims[i];
    float *x = onnx_stored_new(import, value->stored, n);
    bool uniform = true;
    for (int64_t i = 1; i < n && x && uniform; i++) uniform = x[i] == x[0];
    bool formula =
        x && !uniform &&
        (is_mask(x, n) || are_whole(x, n) || (n == longest && is_sequence(x, n)) ||
         is_outer(x, n, value->shape.dims[ndim - 1]) || is_outer(x, n, n / value->shape.dims[0]) ||
         are_waves(x, n, value->shape.dims[ndim - 1]));
    memory_free(x);
    return formula;
}

bool value_has_limits(Import *import, const Value *value) {
    int64_t n = shape_numel(value->shape);
    float *x = onnx_stored_new(import, value->stored, n);
    bool has = false;
    for (int64_t i = 0; i < n && x && !has; i++) has = !(fabsf(x[i]) < 1e9f);
    memory_free(x);
    return has;
}
