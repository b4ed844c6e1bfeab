// test_whole.c -- arithmetic of whole numbers at its limits, and topk's order: ties, NaN, places
// and gradients. Plain values of both are the op cases' (tests/ops).
#include <math.h>

#include "autograd/autograd.h"
#include "tensor/memory.h"
#include "tensor/ops.h"
#include "tests/helpers/expect.h"

// ---- whole numbers ------------------------------------------------------------------------------
typedef Tensor *(*Two)(Tensor *a, Tensor *b);

static void expect_whole(Tensor *t, const int64_t *want, const char *what) {
    ck_assert_msg(t != NULL, "%s: %s", what, error_message());
    ck_assert_int_eq(t->dtype, DTYPE_INT64);
    const int64_t *got = tensor_labels(t);
    for (int64_t i = 0; i < t->numel; i++)
        ck_assert_msg(got[i] == want[i], "%s: element %lld is %lld, not %lld", what, (long long)i,
                      (long long)got[i], (long long)want[i]);
}

enum { PAIRS = 6 };

START_TEST(whole_numbers_wrap_around_and_divide_towards_0) {
    const int64_t most = INT64_MAX, least = INT64_MIN;
    const int64_t a[PAIRS] = {7, -7, most, least, least, (int64_t)1 << 53};
    const int64_t b[PAIRS] = {-2, 2, 1, -1, most, 3};
    const struct {
        const char *name;
        Two of;
        int64_t want[PAIRS];
    } ops[] = {
        {"add", tensor_add, {5, -5, least, most, -1, ((int64_t)1 << 53) + 3}},
        {"sub", tensor_sub, {9, -9, most - 1, least + 1, 1, ((int64_t)1 << 53) - 3}},
        {"mul", tensor_mul, {-14, -14, most, least, least, (int64_t)3 << 53}},
        {"div", tensor_div, {-3, -3, most, least, -1, 3002399751580330}},
        {"fmod", tensor_fmod, {1, -1, 0, 0, -1, 2}},
        {"remainder", tensor_remainder, {-1, 1, 0, 0, most - 1, 2}},
        {"maximum", tensor_maximum, {7, 2, most, -1, most, (int64_t)1 << 53}},
        {"minimum", tensor_minimum, {-2, -7, 1, least, least, 3}},
    };
    Tensor *x = tensor_from_labels_new(SHAPE(PAIRS), a),
           *y = tensor_from_labels_new(SHAPE(PAIRS), b);
    Scope *scope = scope_open();
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
        expect_whole(ops[i].of(x, y), ops[i].want, ops[i].name);
    expect_whole(tensor_neg(x), (const int64_t[]){-7, 7, -most, least, least, -((int64_t)1 << 53)},
                 "neg");
    expect_whole(tensor_abs(x), (const int64_t[]){7, 7, most, least, least, (int64_t)1 << 53},
                 "abs");
    expect_values(tensor_less(x, y), 0, 1, 0, 1, 1, 0);
    expect_values(tensor_greater_equal(x, y), 1, 0, 1, 0, 0, 1);
    scope_close(scope);
    tensor_free(x);
    tensor_free(y);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

// The numbers that a float32 cannot tell apart.
START_TEST(whole_numbers_are_told_apart_where_floats_are_not) {
    Tensor *x = tensor_from_labels_new(SHAPE(1), (const int64_t[]){1 << 24});
    Tensor *y = tensor_from_labels_new(SHAPE(1), (const int64_t[]){(1 << 24) + 1});
    Scope *scope = scope_open();
    expect_values(tensor_equal(x, y), 0);
    expect_values(tensor_not_equal(x, y), 1);
    expect_values(tensor_less_equal(y, x), 0);
    Tensor *floats[2] = {tensor_cast(x, DTYPE_FLOAT32), tensor_cast(y, DTYPE_FLOAT32)};
    expect_values(tensor_equal(floats[0], floats[1]), 1);
    scope_close(scope);
    tensor_free(x);
    tensor_free(y);
}
END_TEST

START_TEST(whole_numbers_are_not_divided_by_0) {
    Tensor *x = tensor_from_labels_new(SHAPE(2, 1), (const int64_t[]){4, 5});
    Tensor *y = tensor_from_labels_new(SHAPE(3), (const int64_t[]){1, 2, 0});
    Tensor *none = tensor_from_labels_new(SHAPE(0), NULL);
    const Two ops[] = {tensor_div, tensor_fmod, tensor_remainder};
    Scope *scope = scope_open();
    for (int i = 0; i < 3; i++) {
        ck_assert_ptr_null(ops[i](x, y));
        expect_error(STATUS_INVALID_ARGUMENT, "divided by 0, at element 2 of the result");
        ck_assert_ptr_nonnull(ops[i](none, none));
    }
    scope_close(scope);
    tensor_free(x);
    tensor_free(y);
    tensor_free(none);
}
END_TEST

// ---- topk ---------------------------------------------------------------------------------------
START_TEST(topk_finds_the_first_of_equals_and_nan_before_all) {
    const float values[] = {1, NAN, 3, 3, -INFINITY, 3, NAN, 0};
    Tensor *x = tensor_from_floats_new(SHAPE(8), values), *where;
    Scope *scope = scope_open();
    ck_assert_ptr_nonnull(tensor_topk(x, 8, 0, true, &where));
    expect_whole(where, (const int64_t[]){1, 6, 2, 3, 5, 0, 7, 4}, "the largest");
    ck_assert_ptr_nonnull(tensor_topk(x, 8, 0, false, &where));
    expect_whole(where, (const int64_t[]){4, 7, 0, 2, 3, 5, 1, 6}, "the smallest");
    expect_values(tensor_topk(x, 3, -1, false, NULL), -INFINITY, 0, 1);
    scope_close(scope);
    tensor_free(x);
}
END_TEST

// Of many, beside a plain sort by the same order.
START_TEST(topk_of_many_is_the_begin_of_a_sort) {
    enum { N = 257 };
    float values[N];
    for (int i = 0; i < N; i++) values[i] = (float)(i * 37 % 101);
    Tensor *x = tensor_from_floats_new(SHAPE(N), values);
    for (int64_t k = 0; k <= N; k = k < 4 ? k + 1 : k * 2 > N && k < N ? N : k * 2 + 1) {
        Tensor *where;
        bool taken[N] = {false};
        Scope *scope = scope_open();
        ck_assert_msg(tensor_topk(x, k, 0, true, &where) != NULL, "%s", error_message());
        const int64_t *got = tensor_labels(where);
        for (int64_t j = 0; j < k; j++) {
            int best = -1;
            for (int i = 0; i < N; i++)
                if (!taken[i] && (best < 0 || values[i] > values[best])) best = i;
            ck_assert_int_eq(got[j], best);
            taken[best] = true;
        }
        scope_close(scope);
    }
    tensor_free(x);
}
END_TEST

START_TEST(topk_sends_its_gradient_to_what_it_found) {
    Tensor *x = tensor_from_floats_new(SHAPE(2, 3), (const float[]){1, 3, 2, 5, 4, 6});
    tensor_requires_grad(x, true);
    Scope *scope = scope_open();
    Tensor *y = tensor_topk(x, 1, 0, true, NULL), *best = tensor_topk(x, 2, 1, false, NULL);
    Tensor *loss = tensor_add(tensor_sum(tensor_mul_scalar(y, 2.0f), DIM_ALL, false),
                              tensor_sum(best, DIM_ALL, false));
    ck_assert_int_eq(autograd_backward(loss), STATUS_OK);
    expect_values(tensor_grad(x), 1, 0, 1, 3, 3, 2);
    scope_close(scope);
    tensor_free(x);
}
END_TEST

START_TEST(memory_that_runs_out_is_said) {
    Tensor *x = tensor_from_floats_new(SHAPE(2, 3), (const float[]){1, 3, 2, 5, 4, 6});
    Tensor *n = tensor_from_labels_new(SHAPE(2, 1), (const int64_t[]){4, 5});
    bool done = false;
    for (uint64_t fail = 1; !done; fail++) {
        Tensor *where;
        Scope *scope = scope_open();
        memory_fail_at(fail);
        Tensor *y = tensor_topk(x, 2, 0, true, &where);
        done = y && tensor_add(where, n);
        memory_fail_at(0);
        if (!done) expect_error(STATUS_OUT_OF_MEMORY, "");
        scope_close(scope);
    }
    tensor_free(x);
    tensor_free(n);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {{whole_numbers_wrap_around_and_divide_towards_0, 0},
                                 {whole_numbers_are_told_apart_where_floats_are_not, 0},
                                 {whole_numbers_are_not_divided_by_0, 0},
                                 {topk_finds_the_first_of_equals_and_nan_before_all, 0},
                                 {topk_of_many_is_the_begin_of_a_sort, 0},
                                 {topk_sends_its_gradient_to_what_it_found, 0},
                                 {memory_that_runs_out_is_said, 0},
                                 {NULL, 0}};
    return harness_main("whole", tests);
}
