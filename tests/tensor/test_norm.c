// test_norm.c -- the layer norm, and the variance, beyond the op cases: precision far from 0,
// tensors saved and ops run for each wanted gradient, cost by closed formulas, and the layer.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layers/cost.h"
#include "tests/helpers/expect.h"

static const float epsilon = 1e-5f;

// ---- precision --------------------------------------------------------------------------------
typedef struct Statistics {
    double mean, rstd;
} Statistics;

static Statistics statistics_of(const float *x, int64_t n) { // by the formula, in double
    double sum = 0.0, squares = 0.0;
    for (int64_t i = 0; i < n; i++) sum += (double)x[i];
    for (int64_t i = 0; i < n; i++) squares += pow((double)x[i] - sum / (double)n, 2.0);
    return (Statistics){sum / (double)n, 1.0 / sqrt(squares / (double)n + (double)epsilon)};
}

static void check_row(const float *values, int64_t n, double room, const char *what) {
    Tensor *x = tensor_from_floats_new(SHAPE(n), values);
    Scope *scope = scope_open();
    Tensor *y = tensor_layer_norm(x, SHAPE(n), NULL, NULL, epsilon);
    ck_assert_msg(y != NULL, "%s", error_message());
    Statistics want = statistics_of(values, n);
    for (int64_t i = 0; i < n; i++) {
        double exact = ((double)values[i] - want.mean) * want.rstd;
        double got = (double)tensor_data(y)[i];
        ck_assert_msg(fabs(got - exact) <= room * (1.0 + fabs(exact)),
                      "%s: row of %lld, element %lld is %.9g, not %.9g", what, (long long)n,
                      (long long)i, got, exact);
    }
    scope_close(scope);
    tensor_free(x);
}

START_TEST(numbers_far_from_zero_keep_their_digits) {
    static const int64_t sizes[] = {2, 3, 17, 33, 257, 1024, 4097, 100000};
    int64_t n = sizes[_i];
    float *values = calloc((size_t)n, sizeof *values);
    RandomState random = {.seed = 11};
    random_uniform(random.seed, 0, 0, n, values);
    for (int64_t i = 0; i < n; i++) values[i] = 1e4f + 3.5f * (values[i] - 0.5f); // spread 1
    check_row(values, n, 2e-6, "around 10,000");
    for (int64_t i = 0; i < n / 3; i++) values[i] = 0.0f; // a mean unlike any element
    check_row(values, n, 2e-6, "two heaps");
    for (int64_t i = 0; i < n; i++) values[i] = 0.1f;
    check_row(values, n, 2e-6, "all equal");
    free(values);
}
END_TEST

// ---- wanted gradients -------------------------------------------------------------------------
enum { ROWS = 6, WIDTH = 10, ELEMENTS = ROWS * WIDTH };

typedef struct Ran {
    Observer observer; // must be first
    char ops[200];     // ops in backward with their outputs: " layer_norm_backward_weight/2"
} Ran;

static void note_op(Observer *self, const OpCall *call) {
    Ran *ran = (Ran *)self;
    size_t used = strlen(ran->ops);
    if (call->op->flags & OP_VIEW) return;
    snprintf(ran->ops + used, sizeof ran->ops - used, " %s/%d", call->op->name, call->n_out);
}

static const struct {
    const char *ops;
    int64_t saved;
} wanted[8] = {
    // bit 0: x, 1: weight, 2: bias
    {"", 0},
    {" layer_norm_backward/1", 4 * (ELEMENTS + 2 * ROWS)},
    {" layer_norm_backward_weight/1", 4 * (ELEMENTS + 2 * ROWS)},
    {" layer_norm_backward/1 layer_norm_backward_weight/1", 4 * (ELEMENTS + 2 * ROWS)},
    {" sum/1", 0},
    {" layer_norm_backward/1 sum/1", 4 * (ELEMENTS + 2 * ROWS)},
    {" layer_norm_backward_weight/2", 4 * (ELEMENTS + 2 * ROWS)},
    {" layer_norm_backward/1 layer_norm_backward_weight/2", 4 * (ELEMENTS + 2 * ROWS)},
};

// Only what is wanted is saved, run or copied; gradients are written straight to their place.
// Exactly 0 for equal numbers, whatever their rounded mean is; else as good as float allows.
START_TEST(a_variance_holds_its_digits_and_is_zero_of_equal_numbers) {
    enum { MOST = 1000 };
    const struct {
        float from, step;
    } rows[] = {{3.7f, 0.0f},  {0.1f, 0.0f},     {1e-20f, 0.0f},  {1e8f, 0.0f},    {1e8f, 8.0f},
                {1.0f, 1e-6f}, {1e-20f, 1e-21f}, {-3e38f, 5e34f}, {-1e-30f, 1e-3f}};
    float x[MOST], got;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        for (int64_t n = 3; n <= MOST; n = n == 3 ? 17 : n == 17 ? MOST : MOST + 1) {
            double mean = 0.0, squares = 0.0;
            for (int64_t i = 0; i < n; i++) x[i] = rows[k].from + rows[k].step * (float)i;
            for (int64_t i = 0; i < n; i++) mean += (double)x[i] / (double)n;
            for (int64_t i = 0; i < n; i++)
                squares += ((double)x[i] - mean) * ((double)x[i] - mean);
            float want = rows[k].step == 0.0f ? 0.0f : (float)sqrt(squares / (double)(n - 1));
            Scope *scope = scope_open();
            Tensor *t = tensor_from_floats_new(SHAPE(n), x);
            got = (float)tensor_item(tensor_std(t, 0, 1.0f, false));
            ck_assert_msg(fabsf(got - want) <= 1e-6f * want, "%g + %g i, %d: %g, not %g",
                          (double)rows[k].from, (double)rows[k].step, (int)n, (double)got,
                          (double)want);
            if (want == 0.0f) ck_assert(tensor_item(tensor_var(t, 0, 1.0f, false)) == 0.0);
            scope_close(scope);
            tensor_free(t);
        }
}
END_TEST

START_TEST(only_what_is_wanted_is_kept_and_computed) {
    Tensor *leaf[3] = {tensor_normal_new(SHAPE(2, 3, WIDTH), 0.0f, 1.0f),
                       tensor_normal_new(SHAPE(WIDTH), 0.0f, 1.0f),
                       tensor_normal_new(SHAPE(WIDTH), 0.0f, 1.0f)};
    Tensor *start = tensor_normal_new(SHAPE(2, 3, WIDTH), 0.0f, 1.0f);
    ck_assert_int_eq(autograd_enable(), STATUS_OK);
    for (int i = 0; i < 3; i++) tensor_requires_grad(leaf[i], _i >> i & 1);
    Ran ran = {.observer = {.op_end = note_op}};
    Scope *scope = scope_open();
    Tensor *x = tensor_mul_scalar(leaf[0], 1.0f); // an activation
    Tensor *y = tensor_layer_norm(x, SHAPE(WIDTH), leaf[1], leaf[2], epsilon);
    ck_assert_int_eq(autograd_saved_bytes(), wanted[_i].saved);
    observer_add(&ran.observer);
    if (_i) ck_assert_int_eq(autograd_backward_from(y, start), STATUS_OK);
    observer_remove(&ran.observer);
    ck_assert_int_eq(strncmp(ran.ops, wanted[_i].ops, strlen(wanted[_i].ops)), 0);
    ck_assert_str_eq(ran.ops + strlen(wanted[_i].ops), _i & 1 ? " mul_scalar/1" : "");
    scope_close(scope);
    for (int i = 0; i < 3; i++) tensor_free(leaf[i]);
    tensor_free(start);
}
END_TEST

START_TEST(gradients_of_two_steps_add_up) {
    float once[WIDTH];
    Tensor *x = tensor_normal_new(SHAPE(ROWS, WIDTH), 0.0f, 1.0f);
    Layer *norm = layer_norm_new(SHAPE(WIDTH), epsilon, true);
    Tensor *weight = norm->parameters[0].tensor, *bias = norm->parameters[1].tensor;
    for (int step = 1; step <= 2; step++) {
        Scope *scope = scope_open();
        Tensor *y = layer_forward(norm, x);
        autograd_backward(tensor_sum(tensor_mul(y, y), DIM_ALL, false));
        expect_no_error();
        for (int i = 0; i < WIDTH && step == 2; i++) once[i] *= 2.0f;
        if (step == 1) tensor_read_floats(tensor_grad(weight), once);
        harness_assert_close(tensor_data(tensor_grad(weight)), once, WIDTH, 1e-5, 1e-6, "dweight");
        scope_close(scope);
    }
    float more[WIDTH], rows[WIDTH];
    for (int i = 0; i < WIDTH; i++) rows[i] = ROWS;
    tensor_zero_grad(bias); // now only one of the two can be written straight to its place
    Scope *scope = scope_open();
    autograd_backward(tensor_sum(layer_forward(norm, x), DIM_ALL, false));
    expect_no_error();
    harness_assert_close(tensor_data(tensor_grad(bias)), rows, WIDTH, 0.0, 0.0, "dbias");
    tensor_read_floats(tensor_grad(weight), more);
    tensor_zero_grad(weight);
    autograd_backward(tensor_sum(layer_forward(norm, x), DIM_ALL, false));
    for (int i = 0; i < WIDTH; i++) once[i] += tensor_data(tensor_grad(weight))[i];
    harness_assert_close(more, once, WIDTH, 1e-4, 0.0, "dweight of the third step");
    scope_close(scope);
    layer_free(norm);
    tensor_free(x);
}
END_TEST

// ---- cost -------------------------------------------------------------------------------------
START_TEST(the_cost_is_that_of_the_closed_formulas) {
    enum { E = 8 * 5 * 12, R = 8 * 5, N = 12 };
    Layer *norm = layer_norm_new(SHAPE(N), epsilon, true);
    Tensor *x = tensor_zeros_new(SHAPE(8, 5, N));
    tensor_requires_grad(x, true);
    LayerCost cost;
    ck_assert_int_eq(layer_cost(norm, &x, 1, &cost), STATUS_OK);
    const OpCost *forward = &cost.phase[PHASE_FORWARD];
    ck_assert_uint_eq(forward->elementwise_flops, 6 * E + R);
    ck_assert_uint_eq(forward->transcendental_flops, R);
    ck_assert_uint_eq(forward->bias_flops, E);
    ck_assert_uint_eq(forward->bytes_read, 4 * (E + 2 * N));
    ck_assert_uint_eq(forward->bytes_written, 4 * (E + 2 * R));
    const OpCost *input = &cost.phase[PHASE_BACKWARD_INPUT];
    ck_assert_uint_eq(input->elementwise_flops, 10 * E);
    ck_assert_uint_eq(input->bytes_read, 4 * (2 * E + N + 2 * R));
    ck_assert_uint_eq(input->bytes_written, 4 * E);
    const OpCost *weight = &cost.phase[PHASE_BACKWARD_WEIGHT];
    ck_assert_uint_eq(weight->elementwise_flops, 3 * E + 2 * (E - N));
    ck_assert_uint_eq(weight->bytes_read, 4 * (2 * E + 2 * R));
    ck_assert_uint_eq(weight->bytes_written, 4 * 2 * N);
    ck_assert_uint_eq(op_cost_total_flops(cost.phase[PHASE_BACKWARD]), 0);
    ck_assert_int_eq(cost.saved_bytes, 4 * 2 * R); // x is the caller's
    tensor_free(x);
    layer_free(norm);
}
END_TEST

// ---- the layer --------------------------------------------------------------------------------
START_TEST(the_layer_has_pytorchs_parameters_and_values) {
    char text[128];
    Layer *norm = layer_norm_new(SHAPE(2, 3), 0.5f, true);
    ck_assert_str_eq(norm->type->name, "LayerNorm");
    ck_assert_str_eq(layer_attributes_text(norm, text, sizeof text),
                     "normalized_size=6, epsilon=0.5, affine=true");
    ck_assert_int_eq(norm->n_parameters, 2);
    ck_assert_str_eq(norm->parameters[0].name, "weight");
    ck_assert_str_eq(norm->parameters[1].name, "bias");
    expect_values(norm->parameters[0].tensor, 1, 1, 1, 1, 1, 1);
    expect_values(norm->parameters[1].tensor, 0, 0, 0, 0, 0, 0);
    ck_assert_int_eq(norm->parameters[0].tensor->shape.ndim, 2);
    Scope *scope = scope_open();
    Tensor *x = tensor_from_floats_new(SHAPE(1, 2, 3), (float[]){1, -1, 1, -1, 1, -1});
    const float y = (float)(1.0 / sqrt(1.5));
    expect_values(layer_forward(norm, x), y, -y, y, -y, y, -y);
    Layer *plain = layer_norm_new(SHAPE(3), 0.0f, false);
    ck_assert_int_eq(plain->n_parameters, 0);
    ck_assert_ptr_nonnull(layer_forward(plain, x));
    scope_close(scope);
    layer_free(norm);
    layer_free(plain);
    tensor_free(x);
}
END_TEST

START_TEST(a_layer_that_cannot_be_is_refused) {
    int64_t live = expect_live_bytes();
    ck_assert_ptr_null(layer_norm_new(SHAPE_SCALAR, epsilon, true));
    expect_error(STATUS_INVALID_ARGUMENT, "a row of 0 dimensions");
    ck_assert_ptr_null(layer_norm_new((Shape){.ndim = 7}, epsilon, false));
    expect_error(STATUS_INVALID_ARGUMENT, "a row of 7 dimensions");
    ck_assert_ptr_null(layer_norm_new(SHAPE(3), -1.0f, true));
    expect_error(STATUS_INVALID_ARGUMENT, "epsilon is -1");
    ck_assert_ptr_null(layer_norm_new(SHAPE(3), NAN, true));
    expect_error(STATUS_INVALID_ARGUMENT, "epsilon is nan");
    ck_assert_ptr_null(layer_norm_new(SHAPE(2, -3), epsilon, true));
    expect_error(STATUS_INVALID_ARGUMENT, "(2, -3)");
    ck_assert_ptr_null(layer_norm_new(SHAPE(1LL << 40, 1LL << 40), epsilon, false));
    expect_error(STATUS_INVALID_ARGUMENT, "(1099511627776, 1099511627776)");
    Layer *norm = layer_norm_new(SHAPE(3), epsilon, false);
    Tensor *x = tensor_zeros_new(SHAPE(2, 4)), *both[] = {x, x};
    Scope *scope = scope_open();
    ck_assert_ptr_null(layer_forward(norm, x));
    expect_error(STATUS_SHAPE, "layer_norm of (2, 4), none, none: x does not end in (3,)");
    ck_assert_ptr_null(layer_forward_many(norm, both, 2));
    expect_error(STATUS_INVALID_ARGUMENT, "LayerNorm takes one input, got 2");
    ck_assert_ptr_null(tensor_layer_norm(x, (Shape){.ndim = 7}, NULL, NULL, epsilon));
    expect_error(STATUS_SHAPE, "a row of 7 dimensions");
    scope_close(scope);
    tensor_free(x);
    layer_free(norm);
    ck_assert_int_eq(expect_live_bytes(), live);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {numbers_far_from_zero_keep_their_digits, 8},
        {a_variance_holds_its_digits_and_is_zero_of_equal_numbers, 0},
        {only_what_is_wanted_is_kept_and_computed, 8},
        {gradients_of_two_steps_add_up, 0},
        {the_cost_is_that_of_the_closed_formulas, 0},
        {the_layer_has_pytorchs_parameters_and_values, 0},
        {a_layer_that_cannot_be_is_refused, 0},
        {NULL, 0},
    };
    return harness_main("norm", tests);
}
