// formula.c -- tells whether stored numbers follow a formula, as masks, sequences and tables of
// sines do and learned numbers do not. Reads numbers alone, no names.
#include <math.h>
#include <string.h>

#include "layers/files/onnx/import.h"
#include "tensor/memory.h"

enum { MOST_READ = 1 << 22, FEWEST = 8 }; // fewer numbers may follow one by chance

static bool near(double x, double wanted, double by) { return fabs(x - wanted) <= by; }

// A mask has two values, or one that is as good as minus infinity.
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

bool value_is_formula(Import *import, const Value *value) {
    int64_t n = shape_numel(value->shape), longest = 1;
    int ndim = value->shape.ndim;
    if (!value->stored || n < 2 || n > MOST_READ || !onnx_is_float(value->type)) return false;
    for (int i = 0; i < ndim; i++)
        if (value->shape.dims[i] > longest) longest = value->shape.dims[i];
    float *x = onnx_stored_new(import, value->stored, n);
    bool uniform = true;
    for (int64_t i = 1; i < n && x && uniform; i++) uniform = x[i] == x[0];
    bool formula = x && !uniform &&
                   (is_mask(x, n) || are_whole(x, n) || (n == longest && is_sequence(x, n)) ||
                    are_waves(x, n, value->shape.dims[ndim - 1]));
    memory_free(x);
    return formula;
}

bool value_is_one_filter(Import *import, Value *value) {
    int64_t n = shape_numel(value->shape), channels = value->shape.dims[0];
    bool depthwise = value->shape.ndim > 2 && channels > 1 && value->shape.dims[1] == 1;
    if (!depthwise || onnx_name_is_path(value->name) || value_is_uniform(import, value))
        return false;
    float *x = onnx_stored_new(import, value->stored, n);
    size_t filter = (size_t)(n / channels);
    bool same = x != NULL;
    for (int64_t i = 1; i < channels && same; i++)
        same = memcmp(x, x + (size_t)i * filter, filter * sizeof(float)) == 0;
    memory_free(x);
    return same;
}
