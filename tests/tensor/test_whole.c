// test_whole.c -- integer arithmetic at its limits, and topk's order: ties, NaN, places and
// gradients. The op cases (tests/ops) have plain values of both.
#include <math.h>

#include "autograd/autograd.h"
#include "tensor/memory.h"
#include "tensor/ops.h"
#include "tests/helpers/expect.h"

// ---- integers -----------------------------------------------------------------------------------
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

// Integers that float32 cannot tell apart.
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

// ---- gathering, moving and adding integers that float cannot hold ------------------------------
enum { AT = 5 };
static const int64_t limits[AT] = {((int64_t)1 << 24) + 1, -((int64_t)1 << 53) - 1, INT64_MIN,
                                   INT64_MAX, 0};

START_TEST(whole_numbers_are_chosen_and_picked_exactly) {
    const int64_t *v = limits;
    Tensor *x = tensor_from_labels_new(SHAPE(AT), v),
           *table = tensor_from_labels_new(SHAPE(AT, 1), v);
    Tensor *row = tensor_from_labels_new(SHAPE(1, 1), &v[3]);
    Tensor *places = tensor_from_labels_new(SHAPE(3), (const int64_t[]){3, 0, 2});
    Tensor *truths = tensor_from_floats_new(SHAPE(AT), (const float[]){0, 1, NAN, -0.0f, 2});
    Scope *scope = scope_open();
    expect_whole(tensor_where(truths, x, tensor_neg(x)),
                 (const int64_t[]){-v[0], v[1], v[2], -v[3], 0}, "where");
    expect_whole(tensor_where(truths, x, row), (const int64_t[]){v[3], v[1], v[2], v[3], 0},
                 "where, broadcast");
    expect_whole(tensor_masked_fill(x, truths, -5), (const int64_t[]){v[0], -5, -5, v[3], -5},
                 "masked_fill");
    ck_assert_ptr_null(tensor_masked_fill(x, truths, 0x1p63f)); // one above int64's largest
    expect_error(STATUS_DTYPE, "beside int64");
    ck_assert_ptr_null(tensor_masked_fill(x, truths, 0.5f));
    expect_error(STATUS_DTYPE, "0.5 beside int64");
    expect_whole(tensor_gather(x, 0, places), (const int64_t[]){v[3], v[0], v[2]}, "gather");
    expect_whole(tensor_embedding(places, table), (const int64_t[]){v[3], v[0], v[2]}, "embedding");
    expect_whole(tensor_tril(tensor_expand(x, SHAPE(2, AT)), 1),
                 (const int64_t[]){v[0], v[1], 0, 0, 0, v[0], v[1], v[2], 0, 0}, "tril");
    expect_whole(tensor_sign(x), (const int64_t[]){1, -1, -1, 1, 0}, "sign");
    scope_close(scope);
    tensor_free(x);
    tensor_free(table);
    tensor_free(row);
    tensor_free(places);
    tensor_free(truths);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

START_TEST(whole_numbers_are_padded_exactly) {
    const int64_t *v = limits, one[] = {1}, two[] = {2}, no[] = {0};
    Tensor *x = tensor_from_labels_new(SHAPE(AT), v);
    Scope *scope = scope_open();
    expect_whole(tensor_pad_whole(x, one, one, PAD_CONSTANT, INT64_MAX - 1),
                 (const int64_t[]){INT64_MAX - 1, v[0], v[1], v[2], v[3], v[4], INT64_MAX - 1},
                 "constant");
    expect_whole(tensor_pad(x, no, one, PAD_CONSTANT, -7),
                 (const int64_t[]){v[0], v[1], v[2], v[3], v[4], -7}, "a float's constant");
    expect_whole(tensor_pad_whole(x, two, no, PAD_REFLECT, 0),
                 (const int64_t[]){v[2], v[1], v[0], v[1], v[2], v[3], v[4]}, "reflect");
    expect_whole(tensor_pad_whole(x, two, one, PAD_REPLICATE, 0),
                 (const int64_t[]){v[0], v[0], v[0], v[1], v[2], v[3], v[4], v[4]}, "replicate");
    expect_whole(tensor_pad_whole(x, one, two, PAD_CIRCULAR, 0),
                 (const int64_t[]){v[4], v[0], v[1], v[2], v[3], v[4], v[0], v[1]}, "circular");
    ck_assert_ptr_null(tensor_pad(x, one, one, PAD_CONSTANT, 0.5f));
    expect_error(STATUS_DTYPE, "0.5 beside int64");
    scope_close(scope);
    tensor_free(x);
}
END_TEST

START_TEST(whole_numbers_are_added_up_and_ranked_exactly) {
    const int64_t *v = limits, top[AT] = {3, 0, 4, 1, 2};
    const int64_t running[AT] = {v[0], v[0] + v[1], INT64_MAX + (v[0] + v[1] + 1), v[0] + v[1] - 1,
                                 v[0] + v[1] - 1};
    Tensor *x = tensor_from_labels_new(SHAPE(AT), v), *where;
    Scope *scope = scope_open();
    expect_whole(tensor_sum(x, 0, false), &running[AT - 1], "sum");
    expect_whole(tensor_sum_dims(x, NULL, 0, false), &running[AT - 1], "sum_dims");
    expect_whole(tensor_cumsum(x, 0), running, "cumsum");
    expect_whole(tensor_max(x, 0, false), &v[3], "max");
    expect_whole(tensor_min(x, 0, false), &v[2], "min");
    expect_whole(tensor_argmax(x, 0, false), (const int64_t[]){3}, "argmax");
    expect_whole(tensor_argmin(x, DIM_ALL, false), (const int64_t[]){2}, "argmin");
    Tensor *sorted = tensor_topk(x, AT, 0, true, &where);
    expect_whole(where, top, "where the largest are");
    expect_whole(sorted, (const int64_t[]){v[3], v[0], v[4], v[1], v[2]}, "the largest");
    sorted = tensor_topk(x, 2, 0, false, &where);
    expect_whole(where, (const int64_t[]){2, 1}, "where the smallest are");
    expect_whole(sorted, (const int64_t[]){v[2], v[1]}, "the smallest");
    scope_close(scope);
    tensor_free(x);
}
END_TEST

// Compared with plain loops: sums over each dimension, and the first of the largest, which are
// neighbours beyond 2^53.
START_TEST(whole_numbers_of_many_rows_are_as_in_plain_loops) {
    enum { A = 3, B = 33, C = 257 };
    static int64_t v[A * B * C];
    for (int i = 0; i < A * B * C; i++)
        v[i] = ((int64_t)1 << 60) + (i * 37 % 101) - (i % 2 ? (int64_t)1 << 61 : 0);
    Tensor *x = tensor_from_labels_new(SHAPE(A, B, C), v);
    const int outer[] = {0, 2};
    static int64_t middle[A * C], sums[B], running[A * B * C], most[A * B], place[A * B];
    for (int a = 0; a < A; a++)
        for (int b = 0; b < B; b++)
            for (int c = 0; c < C; c++) {
                int i = (a * B + b) * C + c, row = a * B + b;
                uint64_t before = c ? (uint64_t)running[i - 1] : 0;
                middle[a * C + c] = (int64_t)((uint64_t)middle[a * C + c] + (uint64_t)v[i]);
                sums[b] = (int64_t)((uint64_t)sums[b] + (uint64_t)v[i]);
                running[i] = (int64_t)(before + (uint64_t)v[i]);
                if (c && v[i] <= most[row]) continue;
                most[row] = v[i];
                place[row] = c;
            }
    Scope *scope = scope_open();
    expect_whole(tensor_sum(x, 1, false), middle, "sum");
    expect_whole(tensor_sum_dims(x, outer, 2, false), sums, "sum_dims");
    expect_whole(tensor_cumsum(x, 2), running, "cumsum");
    expect_whole(tensor_max(x, 2, false), most, "max");
    expect_whole(tensor_argmax(x, 2, false), place, "argmax");
    expect_whole(tensor_neg(tensor_min(tensor_neg(x), 2, false)), most, "min");
    scope_close(scope);
    tensor_free(x);
}
END_TEST

// ---- wrapping ----------------------------------------------------------------------------------
START_TEST(whole_numbers_wrap_into_fewer_bits) {
    enum { N = 6 };
    const int64_t v[N] = {300, -1, (int64_t)1 << 31, -129, INT64_MIN, INT64_MAX};
    const struct {
        int bits;
        bool is_signed;
        int64_t want[N];
    } widths[] = {
        {1, false, {0, 1, 0, 1, 0, 1}},
        {1, true, {0, -1, 0, -1, 0, -1}},
        {8, false, {44, 255, 0, 127, 0, 255}},
        {8, true, {44, -1, 0, 127, 0, -1}},
        {32, false, {300, UINT32_MAX, (int64_t)1 << 31, (int64_t)UINT32_MAX - 128, 0, UINT32_MAX}},
        {32, true, {300, -1, INT32_MIN, -129, 0, -1}},
        {63, false, {300, INT64_MAX, (int64_t)1 << 31, INT64_MAX - 128, 0, INT64_MAX}},
        {63, true, {300, -1, (int64_t)1 << 31, -129, 0, -1}},
    };
    Tensor *x = tensor_from_labels_new(SHAPE(N), v);
    Scope *scope = scope_open();
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++)
        expect_whole(tensor_wrap(x, widths[i].bits, widths[i].is_signed), widths[i].want,
                     widths[i].is_signed ? "signed" : "unsigned");
    ck_assert_ptr_eq(tensor_wrap(x, 64, true), x);
    scope_close(scope);
    tensor_free(x);
}
END_TEST

// Ops on integers are not recorded, and a gradient through them is refused, not 0.
START_TEST(whole_numbers_have_no_gradient) {
    Tensor *x = tensor_from_labels_new(SHAPE(2, 2), (const int64_t[]){1, 2, 3, 4});
    Tensor *truths = tensor_from_floats_new(SHAPE(2), (const float[]){0, 1});
    tensor_requires_grad(truths, true);
    Scope *scope = scope_open();
    Tensor *chosen = tensor_where(truths, x, tensor_neg(x));
    Tensor *const results[] = {tensor_max(chosen, 0, false), tensor_sum(chosen, DIM_ALL, false),
                               tensor_cumsum(chosen, 1), tensor_triu(chosen, 0)};
    for (size_t i = 0; i < sizeof results / sizeof results[0]; i++) {
        ck_assert_ptr_nonnull(results[i]);
        ck_assert(autograd_backward(tensor_sum(results[i], DIM_ALL, false)) != STATUS_OK);
        error_clear();
    }
    scope_close(scope);
    ck_assert_ptr_null(tensor_grad(truths));
    tensor_free(x);
    tensor_free(truths);
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

// Many values, compared with a plain sort by the same order.
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
                                 {whole_numbers_are_chosen_and_picked_exactly, 0},
                                 {whole_numbers_are_padded_exactly, 0},
                                 {whole_numbers_are_added_up_and_ranked_exactly, 0},
                                 {whole_numbers_of_many_rows_are_as_in_plain_loops, 0},
                                 {whole_numbers_wrap_into_fewer_bits, 0},
                                 {whole_numbers_have_no_gradient, 0},
                                 {whole_numbers_are_not_divided_by_0, 0},
                                 {topk_finds_the_first_of_equals_and_nan_before_all, 0},
                                 {topk_of_many_is_the_begin_of_a_sort, 0},
                                 {topk_sends_its_gradient_to_what_it_found, 0},
                                 {memory_that_runs_out_is_said, 0},
                                 {NULL, 0}};
    return harness_main("whole", tests);
}
