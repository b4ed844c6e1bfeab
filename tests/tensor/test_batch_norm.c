// test_batch_norm.c -- batch norm beyond the op cases: odd running statistics, precision for
// numbers of any size, tensors saved and ops run for each wanted gradient, and their cost.
#include <math.h>
#include <stdlib.h>

#include "layers/layer.h"
#include "tests/helpers/expect.h"

static const float epsilon = 1e-5f;

START_TEST(running_statistics_that_are_not_whole_are_refused) {
    Tensor *x = tensor_zeros_new(SHAPE(2, 3)), *c = tensor_zeros_new(SHAPE(3));
    Tensor *two = tensor_zeros_new(SHAPE(2)), *far = tensor_zeros_new(SHAPE(6));
    Tensor *n = tensor_from_labels_new(SHAPE(1), (int64_t[]){0});
    Tensor *many = tensor_from_labels_new(SHAPE(2), (int64_t[]){0, 0});
    Scope *scope = scope_open();
    Tensor *view = tensor_slice(far, 0, 0, SLICE_END, 2);
    const struct {
        RunningStatistics running;
        Status status;
        const char *mention;
    } wrong[] = {
        {{.mean = c}, STATUS_INVALID_ARGUMENT, "not whole"},
        {{.variance = c}, STATUS_INVALID_ARGUMENT, "not whole"},
        {{.batches = n}, STATUS_INVALID_ARGUMENT, "not whole"},
        {{c, c, many, 0.1f}, STATUS_SHAPE, "one number"},
        {{c, c, NULL, NAN}, STATUS_INVALID_ARGUMENT, "nothing counts them"},
        {{c, c, n, INFINITY}, STATUS_INVALID_ARGUMENT, "momentum is inf"},
        {{two, c, n, 0.1f}, STATUS_SHAPE, "the running mean is not (3,)"},
        {{c, two, n, 0.1f}, STATUS_SHAPE, "the running variance is not (3,)"},
        {{c, c, c, 0.1f}, STATUS_DTYPE, "input 5 is float32"},
        {{c, view, n, 0.1f}, STATUS_INVALID_ARGUMENT, "needs contiguous inputs"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ck_assert_ptr_null(tensor_batch_norm(x, NULL, NULL, epsilon, wrong[i].running));
        expect_error(wrong[i].status, wrong[i].mention);
    }
    ck_assert_ptr_null(tensor_batch_norm_eval(x, NULL, NULL, epsilon, (RunningStatistics){0}));
    expect_error(STATUS_INVALID_ARGUMENT, "input 3 is NULL");
    expect_values(n, 0);
    tensor_requires_grad(c, true);
    ck_assert_ptr_null(tensor_batch_norm(x, NULL, NULL, epsilon, (RunningStatistics){c, c, n, 1}));
    expect_error(STATUS_STATE, "writes in place what needs a gradient");
    scope_close(scope);
    tensor_free(x), tensor_free(c), tensor_free(two), tensor_free(far), tensor_free(n);
    tensor_free(many);
}
END_TEST

// ---- precision ---------------------------------------------------------------------------------
static const struct {
    int64_t samples, channels, plane;
} sizes[] = {{2, 3, 1}, {257, 5, 1}, {70, 3, 3}, {3, 2, 17}, {4, 2, 4097}, {2000, 1, 1}};

START_TEST(numbers_of_any_size_keep_their_digits) {
    int64_t samples = sizes[_i].samples, channels = sizes[_i].channels, plane = sizes[_i].plane;
    int64_t n = samples * channels * plane;
    float *x = calloc((size_t)n, sizeof *x);
    for (int heaps = 0; heaps < 4; heaps++) {
        float added = heaps == 3 ? 0.0f : epsilon;
        random_uniform(11, 0, 0, n, x);
        for (int64_t i = 0; i < n; i++) x[i] = 1e4f + 3.5f * (x[i] - 0.5f);
        for (int64_t i = 0; i < n / 3 && heaps == 1; i++) x[i] = 0.0f; // a mean unlike any element
        for (int64_t i = 0; i < n && heaps == 2; i++) x[i] *= 3e34f;   // squares overflow float
        for (int64_t i = 0; i < n && heaps == 3; i++) x[i] *= 1e-30f;
        Tensor *t = tensor_from_floats_new(SHAPE(samples, channels, plane), x);
        Scope *scope = scope_open();
        Tensor *y = tensor_batch_norm(t, NULL, NULL, added, (RunningStatistics){0});
        for (int64_t c = 0; c < channels; c++) {
            double mean = 0.0, squares = 0.0, count = (double)(samples * plane);
            for (int64_t i = 0; i < n; i++)
                if (i / plane % channels == c) mean += (double)x[i] / count;
            for (int64_t i = 0; i < n; i++)
                if (i / plane % channels == c) squares += pow((double)x[i] - mean, 2.0) / count;
            double rstd = 1.0 / sqrt(squares + (double)added);
            for (int64_t i = 0; i < n; i++) {
                double want = ((double)x[i] - mean) * rstd, got = (double)tensor_data(y)[i];
                ck_assert_msg(i / plane % channels != c ||
                                  fabs(got - want) <= 2e-6 * (1.0 + fabs(want)),
                              "heaps %d, element %d: %.9g, not %.9g", heaps, (int)i, got, want);
            }
        }
        scope_close(scope);
        tensor_free(t);
    }
    free(x);
}
END_TEST

// Equal numbers give exactly 0, whatever their rounded mean is.
START_TEST(equal_numbers_are_their_mean_exactly) {
    static const float values[] = {0.1f, 3.7f, 12345.678f};
    float value = values[_i / 2], none = value * value * 1e-18f;
    Tensor *x = tensor_full_new(_i % 2 ? SHAPE(7, 2, 33) : SHAPE(77, 2), value);
    Tensor *mean = tensor_zeros_new(SHAPE(2)), *variance = tensor_full_new(SHAPE(2), 1.0f);
    RunningStatistics running = {mean, variance, NULL, 1.0f};
    Scope *scope = scope_open();
    Tensor *y = tensor_batch_norm(x, NULL, NULL, epsilon, running);
    for (int64_t i = 0; i < y->numel; i++) ck_assert(fabsf(tensor_data(y)[i]) < 1e-5f * value);
    expect_values(mean, value, value);
    for (int c = 0; c < 2; c++) ck_assert(fabsf(tensor_data(variance)[c]) < none);
    scope_close(scope);
    tensor_free(x), tensor_free(mean), tensor_free(variance);
}
END_TEST

// ---- wanted gradients --------------------------------------------------------------------------
enum { SAMPLES = 4, CHANNELS = 3, PLANE = 5, CHANNEL = SAMPLES * PLANE };
enum { ELEMENTS = SAMPLES * CHANNELS * PLANE };

typedef struct Ran {   // ops that ran in backward
    Observer observer; // must be first
    const Op *op;
    int outputs;
    OpCost cost;
} Ran;

static void note_op(Observer *self, const OpCall *call) {
    Ran *ran = (Ran *)self;
    if (call->op != &op_batch_norm_backward && call->op != &op_batch_norm_eval_backward) return;
    ck_assert_ptr_null(ran->op); // a single op for all gradients
    ran->op = call->op;
    ran->outputs = call->n_out;
    ran->cost = op_cost(call);
}

static uint64_t training_flops(bool x, bool weight, bool bias) {
    if (x) return 9 * ELEMENTS + CHANNELS;
    return (weight ? 4 * ELEMENTS - CHANNELS : 0) + (bias ? ELEMENTS - CHANNELS : 0);
}

static uint64_t eval_flops(bool x, bool weight, bool bias) {
    return (x ? ELEMENTS + CHANNELS : 0) + (x || weight ? CHANNELS : 0) +
           (weight ? 4 * ELEMENTS - CHANNELS : 0) + (bias ? ELEMENTS - CHANNELS : 0);
}

// Bits of _i: 1 x, 2 weight, 4 bias, 8 evaluation.
START_TEST(only_what_is_wanted_is_kept_and_computed) {
    bool x = _i & 1, weight = _i & 2, bias = _i & 4, eval = _i & 8;
    Layer *norm = batch_norm1d_new(CHANNELS, batch_norm_defaults());
    Tensor *leaf = tensor_normal_new(SHAPE(SAMPLES, CHANNELS, PLANE), 0.0f, 1.0f);
    ck_assert_int_eq(autograd_enable(), STATUS_OK);
    layer_train(norm, !eval);
    tensor_requires_grad(leaf, x);
    tensor_requires_grad(norm->parameters[0].tensor, weight);
    tensor_requires_grad(norm->parameters[1].tensor, bias);
    Ran ran = {.observer = {.op_end = note_op}};
    Scope *scope = scope_open();
    Tensor *y = layer_forward(norm, tensor_mul_scalar(leaf, 1.0f)); // an activation
    int64_t saved = 0; // all but parameters and buffers
    if (eval ? weight : x || weight) saved += 4 * ELEMENTS;
    if (!eval && (x || weight)) saved += 4 * 2 * CHANNELS;
    ck_assert_int_eq(autograd_saved_bytes(), saved);
    observer_add(&ran.observer);
    if (x || weight || bias) autograd_backward(tensor_sum(tensor_mul(y, y), DIM_ALL, false));
    observer_remove(&ran.observer);
    expect_no_error();
    const Op *op = eval ? &op_batch_norm_eval_backward : &op_batch_norm_backward;
    if (x || weight || bias) ck_assert_ptr_eq(ran.op, op);
    ck_assert_int_eq(ran.outputs, x + weight + bias);
    ck_assert_uint_eq(ran.cost.elementwise_flops,
                      (eval ? eval_flops : training_flops)(x, weight, bias));
    ck_assert_uint_eq(ran.cost.transcendental_flops, eval && (x || weight) ? CHANNELS : 0);
    scope_close(scope);
    tensor_free(leaf);
    layer_free(norm);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {running_statistics_that_are_not_whole_are_refused, 0},
        {numbers_of_any_size_keep_their_digits, sizeof sizes / sizeof *sizes},
        {equal_numbers_are_their_mean_exactly, 6},
        {only_what_is_wanted_is_kept_and_computed, 16},
        {NULL, 0},
    };
    return harness_main("batch_norm", tests);
}
