// test_edges.c -- values and owners at the edges: rounding, infinity and NaN, changes since
// forward, inputs that are returned. test_ops.c tests that ops are right.
#include <math.h>

#include "autograd/autograd.h"
#include "layers/train/optimizer.h"
#include "tests/helpers/expect.h"

// ---- owners ------------------------------------------------------------------------------------
START_TEST(what_is_kept_is_freed_once_whatever_it_was) {
    int64_t live = expect_live_bytes();
    Tensor *x = tensor_full_new(SHAPE(2, 3), 1.0f);
    Scope *scope = scope_open();
    Tensor *given = _i ? tensor_transpose(x, 0, 1) : x; // a copy, or x itself
    Tensor *kept = tensor_keep(tensor_contiguous(given));
    ck_assert_int_eq(kept == x, _i == 0);
    scope_close(scope);
    tensor_free(x);
    expect_values(kept, 1, 1, 1, 1, 1, 1);
    tensor_free(kept);
    ck_assert_int_eq(expect_live_bytes(), live);
    Tensor *a = tensor_zeros_new(SHAPE(2)), *b = tensor_zeros_new(SHAPE(2));
    ck_assert_ptr_ne(a, b); // the free list has each handle once
    tensor_free(a);
    tensor_free(b);
}
END_TEST

START_TEST(adding_a_part_of_a_buffer_to_another_reads_it_as_it_was) {
    Tensor *x = tensor_from_floats_new(SHAPE(8), (float[]){1, 2, 3, 4, 5, 6, 7, 8});
    Scope *scope = scope_open();
    Tensor *low = tensor_slice(x, 0, 0, 7, 1), *high = tensor_slice(x, 0, 1, 8, 1);
    ck_assert_int_eq(_i ? tensor_accumulate(low, high) : tensor_accumulate(high, low), STATUS_OK);
    if (_i)
        expect_values(x, 3, 5, 7, 9, 11, 13, 15, 8);
    else
        expect_values(x, 1, 3, 5, 7, 9, 11, 13, 15);
    ck_assert_int_eq(tensor_accumulate(x, x), STATUS_OK); // adding a view to itself needs no copy
    ck_assert(tensor_data(x)[0] == (_i ? 6.0f : 2.0f));
    scope_close(scope);
    tensor_free(x);
}
END_TEST

START_TEST(a_layer_has_one_parent_and_is_freed_once) {
    int64_t live = expect_live_bytes();
    Layer *model = sequential_new(), *other = sequential_new(), *fc = linear_new(3, 2, true);
    ck_assert_int_eq(layer_add_child(model, "fc", fc), STATUS_OK);
    ck_assert_ptr_eq(fc->parent, model);
    ck_assert_int_eq(layer_add_child(model, "again", fc), STATUS_STATE);
    expect_error(STATUS_STATE,
                 "this Linear is a child already, \"fc\" of a Sequential. HINT: make");
    ck_assert_int_eq(layer_add_child(other, "fc", fc), STATUS_STATE);
    error_clear();
    ck_assert_str_eq(fc->name, "fc");
    ck_assert_int_eq(model->n_children + other->n_children, 1);
    ck_assert_int_eq(layer_add_child(model, "fc", relu_new()), STATUS_INVALID_ARGUMENT);
    expect_error(STATUS_INVALID_ARGUMENT, "has a \"fc\" already");
    ck_assert_int_eq(layer_add_child(model, "inner", other), STATUS_OK);
    ck_assert_int_eq(layer_add_child(other, "model", model), STATUS_STATE);
    expect_error(STATUS_STATE, "this Sequential would contain itself");
    ck_assert_int_eq(layer_add_child(model, "self", model), STATUS_STATE);
    error_clear();
    ck_assert_int_eq(layer_add_child(other, "fc", linear_new(2, 2, false)), STATUS_OK);
    static const char *const names[] = {"", "a.b", NULL};
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(layer_add_child(model, names[i], relu_new()), STATUS_INVALID_ARGUMENT);
        expect_error(STATUS_INVALID_ARGUMENT, "is no name");
    }
    ck_assert_int_eq(layer_add_child(model, "none", NULL), STATUS_INVALID_ARGUMENT);
    expect_error(STATUS_INVALID_ARGUMENT, "the child is NULL");
    layer_free(fc); // freeing a child takes it out of its parent
    ck_assert_int_eq(model->n_children, 1);
    ck_assert_ptr_eq(model->children[0], other);
    ck_assert_int_eq(layer_parameter_count(model), 4);
    layer_free(model);
    ck_assert_int_eq(expect_live_bytes(), live);
}
END_TEST

// ---- values ------------------------------------------------------------------------------------
// The mean of n equal numbers is exactly that number wherever their sum is exact.
START_TEST(means_and_quotients_are_divided_and_not_multiplied) {
    for (int n = 1; n <= 300; n++) {
        Tensor *ones = tensor_full_new(SHAPE(n), 1.0f), *rows = tensor_full_new(SHAPE(n, 3), 3.0f);
        Scope *scope = scope_open();
        expect_values(tensor_mean(ones, DIM_ALL, false), 1);
        expect_values(tensor_mean(rows, 0, false), 3, 3, 3);
        Tensor *quotient = tensor_div_scalar(tensor_sum(ones, DIM_ALL, false), (float)n);
        expect_values(quotient, 1);
        scope_close(scope);
        tensor_free(ones);
        tensor_free(rows);
    }
    Tensor *tiny = tensor_from_floats_new(SHAPE(3), (float[]){0.0f, 1e-39f, -2e-39f});
    Scope *scope = scope_open();
    expect_values(tensor_div_scalar(tiny, 1e-39f), 0, 1, -2); // 1 / 1e-39 overflows float
    scope_close(scope);
    tensor_free(tiny);
}
END_TEST

// Numbers of one sign, equal ones above all, err in one direction: the sum of up to a block is off
// by a few roundings at most, and longer sums are not off by more.
START_TEST(long_sums_of_equal_numbers_lose_little) {
    static const int64_t lengths[] = {1,    17,   255,  511,  512,    575,    1000,
                                      1024, 4095, 4096, 4097, 100003, 1 << 22};
    static const float values[] = {0.1f, 0.7f, 1e-3f, 1e30f, -0.3f};
    for (int i = 0; i < 5; i++) {
        Tensor *x = tensor_full_new(SHAPE(lengths[_i]), values[i]);
        Scope *scope = scope_open();
        double sum = tensor_item(tensor_sum(x, DIM_ALL, false));
        double exact = (double)values[i] * (double)lengths[_i];
        ck_assert_msg(fabs(sum - exact) <= 2.5e-7 * fabs(exact) * (lengths[_i] < 512 ? 2 : 1),
                      "%lld times %g: off by %g", (long long)lengths[_i], (double)values[i],
                      fabs(sum - exact) / fabs(exact));
        scope_close(scope);
        tensor_free(x);
    }
}
END_TEST

// For numbers of any size a row of two becomes -1 and 1.
START_TEST(layer_norm_of_large_numbers_is_that_of_small_ones) {
    static const float sizes[] = {1.0f, 1e15f, 1e19f, 1e25f, 1e30f, 3e38f};
    float a = sizes[_i];
    enum { N = 600 };
    Tensor *x = tensor_zeros_new(SHAPE(2, N));
    for (int i = 0; i < 2 * N; i++) tensor_data(x)[i] = i < N ? (i % 2 ? a : -a) : i % 2 ? a : 0;
    tensor_requires_grad(x, true);
    Scope *scope = scope_open();
    Tensor *y = tensor_layer_norm(x, SHAPE(N), NULL, NULL, 0.0f);
    for (int i = 0; i < 2 * N; i++)
        ck_assert_msg(fabsf(tensor_data(y)[i] - (i % 2 ? 1.0f : -1.0f)) < 1e-6f, "%g: [%d] is %g",
                      (double)a, i, (double)tensor_data(y)[i]);
    ck_assert_int_eq(autograd_backward(tensor_sum(y, DIM_ALL, false)), STATUS_OK);
    for (int i = 0; i < 2 * N; i++) ck_assert(isfinite(tensor_data(tensor_grad(x))[i]));
    scope_close(scope);
    tensor_free(x);
}
END_TEST

START_TEST(the_gradient_of_a_mean_is_divided_too) {
    Tensor *x = tensor_full_new(SHAPE(41), 1.0f);
    tensor_requires_grad(x, true);
    Scope *scope = scope_open();
    ck_assert_int_eq(autograd_backward(tensor_mean(x, DIM_ALL, false)), STATUS_OK);
    ck_assert(tensor_data(tensor_grad(x))[40] == 1.0f / 41.0f);
    scope_close(scope);
    tensor_free(x);
}
END_TEST

// As in torch.nn.functional.dropout: a product with 0, not an assignment of 0.
START_TEST(dropout_hides_nothing_that_is_not_finite) {
    static const float probabilities[] = {0.0f, 0.5f, 1.0f};
    Tensor *x = tensor_full_new(SHAPE(1000), _i % 2 ? NAN : INFINITY);
    tensor_requires_grad(x, true);
    Scope *scope = scope_open();
    Tensor *y = tensor_dropout(x, probabilities[_i / 2]);
    for (int i = 0; i < 1000; i++) ck_assert(!isfinite(tensor_data(y)[i]));
    Tensor *nans = tensor_full_new(SHAPE(1000), NAN);
    ck_assert_int_eq(autograd_backward_from(y, nans), STATUS_OK);
    for (int i = 0; i < 1000; i++) ck_assert(isnan(tensor_data(tensor_grad(x))[i]));
    tensor_free(nans);
    scope_close(scope);
    tensor_free(x);
}
END_TEST

// Certain and right costs nothing, certain and wrong everything; where PyTorch 2.15 gives a number,
// it is this one (for half of the infinities it gives NaN).
START_TEST(certainty_costs_nothing_or_everything) {
    static const struct {
        float logit, target, loss, slope;
    } rows[] = {{INFINITY, 0.0f, INFINITY, 1.0f},
                {INFINITY, 1.0f, 0.0f, 0.0f},
                {INFINITY, 0.5f, INFINITY, 0.5f},
                {-INFINITY, 0.0f, 0.0f, 0.0f},
                {-INFINITY, 1.0f, INFINITY, -1.0f},
                {-INFINITY, 0.5f, INFINITY, -0.5f},
                {1e30f, 0.0f, 1e30f, 1.0f},
                {1e30f, 1.0f, 0.0f, 0.0f},
                {-1e30f, 0.5f, 5e29f, -0.5f},
                {NAN, 0.0f, NAN, NAN},
                {NAN, 1.0f, NAN, NAN},
                {NAN, 0.5f, NAN, NAN}};
    Tensor *x = tensor_full_new(SHAPE(1), rows[_i].logit);
    Tensor *t = tensor_full_new(SHAPE(1), rows[_i].target);
    tensor_requires_grad(x, true);
    Scope *scope = scope_open();
    Tensor *loss = tensor_binary_cross_entropy_with_logits(x, t);
    ck_assert_int_eq(autograd_backward(loss), STATUS_OK);
    ck_assert(harness_close(tensor_data(loss), &rows[_i].loss, 1, 0.0, 1e-6, "loss"));
    ck_assert(harness_close(tensor_data(tensor_grad(x)), &rows[_i].slope, 1, 0.0, 1e-6, "slope"));
    scope_close(scope);
    tensor_free(x);
    tensor_free(t);
}
END_TEST

// ---- changes since forward ---------------------------------------------------------------------
// Writes through tensor_labels, which bumps no version.
START_TEST(labels_that_changed_since_forward_are_looked_at_again) {
    static const int64_t strays[] = {3, -1, INT64_MAX, INT64_MIN};
    Tensor *x = tensor_full_new(SHAPE(2, 3), 1.0f);
    Tensor *labels = tensor_from_labels_new(SHAPE(2), (const int64_t[]){0, 2});
    tensor_requires_grad(x, true);
    Scope *scope = scope_open();
    Tensor *loss = tensor_cross_entropy(x, labels);
    tensor_labels(labels)[1] = strays[_i];
    ck_assert_int_eq(autograd_backward(loss), STATUS_INVALID_ARGUMENT);
    expect_error(STATUS_INVALID_ARGUMENT, "in row 1 is not in [0, 3)");
    ck_assert_ptr_null(tensor_grad(x));
    scope_close(scope);
    tensor_free(x);
    tensor_free(labels);
}
END_TEST

// ---- optimizers --------------------------------------------------------------------------------
// A term that is not counted is not computed: 0 times an infinite parameter would be NaN.
enum { PLAIN, MOMENTUM, NESTEROV, ADAM, ADAMW, RMSPROP, LION, STEPS };

static Status step(int kind, Tensor *p, Tensor *g, Tensor *m, Tensor *v) {
    Tensor *state = tensor_full_new(SHAPE(kind == ADAM || kind == ADAMW ? 2 : 1), 0.5f);
    Tensor *few[] = {state, p, g, m}, *all[] = {state, p, g, m, v};
    SgdParams sgd = {kind == PLAIN ? 0.0f : 0.5f, 0.0f, kind == NESTEROV};
    Status status =
        kind <= NESTEROV  ? tensor_sgd_step(few, 1, sgd)
        : kind == RMSPROP ? tensor_rmsprop_step(few, 1, (RmspropParams){0.5f, 0.1f, 0})
        : kind == LION
            ? tensor_lion_step(few, 1, (LionParams){0.5f, 0.5f, 0})
            : tensor_adam_step(all, 1, (AdamParams){0.5f, 0.5f, 0.1f, 0.0f, kind == ADAMW});
    tensor_free(state);
    return status;
}

// A term that is not counted is not computed: 0 times an infinite parameter would be NaN.
START_TEST(without_weight_decay_a_gradient_knows_no_parameter) {
    Tensor *p = tensor_full_new(SHAPE(3), INFINITY), *g = tensor_full_new(SHAPE(3), 1.0f);
    Tensor *m = tensor_zeros_new(SHAPE(3)), *v = tensor_zeros_new(SHAPE(3));
    ck_assert_int_eq(step(_i, p, g, m, v), STATUS_OK);
    expect_values(p, INFINITY, INFINITY, INFINITY);
    ck_assert(isfinite(tensor_data(m)[1]) && isfinite(tensor_data(v)[1]));
    tensor_free(p);
    tensor_free(g);
    tensor_free(m);
    tensor_free(v);
}
END_TEST

START_TEST(an_optimizer_of_senseless_numbers_is_refused) {
    static const struct {
        size_t field;
        float value;
        bool fine;
    } changes[] = {
        {offsetof(OptimizerConfig, learning_rate), -0.1f, false},
        {offsetof(OptimizerConfig, learning_rate), NAN, false},
        {offsetof(OptimizerConfig, learning_rate), INFINITY, false},
        {offsetof(OptimizerConfig, learning_rate), 0.0f, true},
        {offsetof(OptimizerConfig, beta1), 1.0f, false},
        {offsetof(OptimizerConfig, beta1), -0.1f, false},
        {offsetof(OptimizerConfig, beta1), 0.0f, true},
        {offsetof(OptimizerConfig, beta2), 1.5f, false},
        {offsetof(OptimizerConfig, epsilon), -1e-8f, false},
        {offsetof(OptimizerConfig, epsilon), 0.0f, true},
        {offsetof(OptimizerConfig, weight_decay), -1.0f, false},
        {offsetof(OptimizerConfig, momentum), -0.9f, false},
        {offsetof(OptimizerConfig, clip_norm), -1.0f, false},
    };
    Layer *model = linear_new(2, 2, true);
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        OptimizerConfig config = optimizer_defaults(OPTIMIZER_ADAM);
        *(float *)(void *)((char *)&config + changes[i].field) = changes[i].value;
        Optimizer *optimizer = optimizer_new(model, config);
        ck_assert_int_eq(optimizer != NULL, changes[i].fine);
        if (!changes[i].fine) expect_error(STATUS_INVALID_ARGUMENT, "HINT: from 0");
        optimizer_free(optimizer);
    }
    Optimizer *optimizer = optimizer_new(model, optimizer_defaults(OPTIMIZER_SGD));
    optimizer_set_learning_rate(optimizer, NAN);
    expect_error(STATUS_INVALID_ARGUMENT, "learning_rate is nan");
    optimizer_set_learning_rate(optimizer, -3.0f);
    expect_error(STATUS_INVALID_ARGUMENT, "learning_rate is -3");
    optimizer_free(optimizer);
    static const int kinds[] = {77, -1, OPTIMIZER_COUNT};
    for (int i = 0; i < 3; i++) {
        OptimizerConfig config = optimizer_defaults(OPTIMIZER_ADAM);
        config.kind = (OptimizerKind)kinds[i];
        ck_assert_ptr_null(optimizer_new(model, config));
        expect_error(STATUS_INVALID_ARGUMENT, "there is no kind");
    }
    layer_free(model);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {what_is_kept_is_freed_once_whatever_it_was, 2},
        {adding_a_part_of_a_buffer_to_another_reads_it_as_it_was, 2},
        {a_layer_has_one_parent_and_is_freed_once, 0},
        {means_and_quotients_are_divided_and_not_multiplied, 0},
        {long_sums_of_equal_numbers_lose_little, 13},
        {layer_norm_of_large_numbers_is_that_of_small_ones, 6},
        {the_gradient_of_a_mean_is_divided_too, 0},
        {dropout_hides_nothing_that_is_not_finite, 6},
        {certainty_costs_nothing_or_everything, 12},
        {labels_that_changed_since_forward_are_looked_at_again, 4},
        {without_weight_decay_a_gradient_knows_no_parameter, STEPS},
        {an_optimizer_of_senseless_numbers_is_refused, 0},
        {NULL, 0},
    };
    return harness_main("edges", tests);
}
