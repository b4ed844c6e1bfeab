// test_conditions.c -- edge cases of comparisons, where and triangles: NaN, gradients that are not
// finite, far diagonals, numbers in place of tensors. Values and counts of the rest are in
// test_ops.c, PyTorch's in test_fixtures.c.
#include <math.h>
#include <stdlib.h>

#include "autograd/autograd.h"
#include "tensor/op.h"
#include "tests/helpers/expect.h"

START_TEST(comparisons_are_constants) {
    Scope *scope = scope_open();
    Tensor *x = tensor_full_new(SHAPE(2), 1.5f), *y = tensor_full_new(SHAPE(2), 1.5f);
    tensor_requires_grad(x, true);
    Tensor *(*const each[])(Tensor *, Tensor *) = {tensor_less,    tensor_less_equal,
                                                   tensor_equal,   tensor_not_equal,
                                                   tensor_greater, tensor_greater_equal};
    const float holds[] = {0, 1, 1, 0, 0, 1};
    for (int i = 0; i < 6; i++) {
        Tensor *result = each[i](x, y);
        expect_values(result, holds[i], holds[i]);
        ck_assert_int_eq(result->dtype, DTYPE_FLOAT32);
        ck_assert(!tensor_wants_grad(result));
    }
    ck_assert_int_eq(autograd_node_count(), 0);
    Tensor *chosen = tensor_where(tensor_less(x, y), x, y);
    ck_assert(tensor_wants_grad(chosen));
    ck_assert_int_eq(autograd_saved_bytes(), 2 * (int)sizeof(float)); // only the condition is saved
    scope_close(scope);
    tensor_free(x), tensor_free(y);
}
END_TEST

// Infinite and NaN gradients: each element goes wholly to one of the two gradients, and the other
// gets exactly 0 (of 0's own sign).
START_TEST(what_is_not_chosen_gets_exactly_nothing) {
    enum { N = 7 };
    const float condition[N] = {0.0f, 1.0f, -0.0f, NAN, 0.0f, 0x1p-149f, 0.0f};
    const float start[N] = {INFINITY, INFINITY, NAN, NAN, -INFINITY, -INFINITY, 3.0f};
    Tensor *c = tensor_from_floats_new(SHAPE(N), condition);
    Tensor *g = tensor_from_floats_new(SHAPE(N), start);
    Tensor *a = tensor_full_new(SHAPE(N), 1.0f), *b = tensor_full_new(SHAPE(N), 2.0f);
    tensor_requires_grad(a, true), tensor_requires_grad(b, true);
    Scope *scope = scope_open();
    Tensor *y = tensor_where(c, a, b);
    ck_assert_int_eq(autograd_backward_from(y, g), STATUS_OK);
    for (int i = 0; i < N; i++) {
        bool first = condition[i] != 0.0f;
        ck_assert(tensor_data(y)[i] == (first ? 1.0f : 2.0f));
        float chosen = tensor_data(tensor_grad(first ? a : b))[i];
        float other = tensor_data(tensor_grad(first ? b : a))[i];
        ck_assert_msg(chosen == start[i] || (isnan(chosen) && isnan(start[i])), "element %d", i);
        ck_assert_msg(other == 0.0f && !signbit(other), "element %d: %g", i, (double)other);
    }
    scope_close(scope);
    tensor_free(c), tensor_free(g), tensor_free(a), tensor_free(b);
}
END_TEST

START_TEST(numbers_stand_for_what_is_absent) {
    Scope *scope = scope_open();
    Tensor *c = tensor_from_floats_new(SHAPE(3), (float[]){0, 1, 2});
    Tensor *x = tensor_from_floats_new(SHAPE(2, 1), (float[]){5, 6});
    const OpParams numbers = {.value = {-1.0f, -2.0f}};
    expect_values(OP_RUN(op_where, &numbers, c, NULL, NULL), -2, -1, -1);
    expect_values(OP_RUN(op_where, &numbers, c, x, NULL), -2, 5, 5, -2, 6, 6);
    expect_values(OP_RUN(op_where, &numbers, c, NULL, x), 5, -1, -1, 6, -1, -1);
    expect_values(tensor_masked_fill(x, c, 9.0f), 5, 9, 9, 6, 9, 9);
    scope_close(scope);
    tensor_free(c), tensor_free(x);
}
END_TEST

START_TEST(a_forgotten_tensor_is_no_number) {
    Scope *scope = scope_open();
    Tensor *x = tensor_zeros_new(SHAPE(3));
    ck_assert_ptr_null(tensor_where(x, NULL, x));
    expect_error(STATUS_INVALID_ARGUMENT, "where: a is NULL");
    ck_assert_ptr_null(tensor_where(x, x, NULL));
    expect_error(STATUS_INVALID_ARGUMENT, "where: b is NULL");
    ck_assert_ptr_null(tensor_where(NULL, x, x));
    expect_error(STATUS_INVALID_ARGUMENT, "input 0 is NULL");
    ck_assert_ptr_null(tensor_masked_fill(NULL, x, 1.0f));
    expect_error(STATUS_INVALID_ARGUMENT, "x is NULL");
    scope_close(scope);
    tensor_free(x);
}
END_TEST

// Diagonals very far away do not overflow.
START_TEST(far_diagonals_do_not_overflow) {
    enum { N = 12 };
    const int64_t far[] = {4, 1000, INT64_MAX - 3, INT64_MAX};
    Tensor *x = tensor_full_new(SHAPE(3, 4), 1.0f);
    Scope *scope = scope_open();
    for (int i = 0; i < 4; i++) {
        int64_t below = i == 3 ? INT64_MIN : -far[i];
        ck_assert_double_eq(tensor_item(tensor_sum(tensor_tril(x, far[i]), DIM_ALL, false)), N);
        ck_assert_double_eq(tensor_item(tensor_sum(tensor_triu(x, far[i]), DIM_ALL, false)), 0);
        ck_assert_double_eq(tensor_item(tensor_sum(tensor_tril(x, below), DIM_ALL, false)), 0);
        ck_assert_double_eq(tensor_item(tensor_sum(tensor_triu(x, below), DIM_ALL, false)), N);
    }
    expect_values(tensor_triu(x, 3), 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0);
    expect_values(tensor_tril(x, -2), 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0);
    scope_close(scope);
    tensor_free(x);
}
END_TEST

// Infinite and NaN elements outside a triangle become 0, and so do their gradients.
START_TEST(triangles_leave_nothing_behind) {
    Tensor *x = tensor_full_new(SHAPE(2, 2), NAN), *g = tensor_full_new(SHAPE(2, 2), NAN);
    tensor_requires_grad(x, true);
    Scope *scope = scope_open();
    Tensor *y = tensor_triu(x, 1);
    ck_assert_int_eq(autograd_saved_bytes(), 0);
    ck_assert_int_eq(autograd_backward_from(y, g), STATUS_OK);
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(isnan(tensor_data(y)[i]) != 0, i == 1);
        ck_assert_int_eq(isnan(tensor_data(tensor_grad(x))[i]) != 0, i == 1);
        ck_assert(i == 1 || tensor_data(y)[i] == 0.0f);
        ck_assert(i == 1 || tensor_data(tensor_grad(x))[i] == 0.0f);
    }
    scope_close(scope);
    tensor_free(x), tensor_free(g);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {comparisons_are_constants, 0},
        {what_is_not_chosen_gets_exactly_nothing, 0},
        {numbers_stand_for_what_is_absent, 0},
        {a_forgotten_tensor_is_no_number, 0},
        {far_diagonals_do_not_overflow, 0},
        {triangles_leave_nothing_behind, 0},
        {NULL, 0},
    };
    return harness_main("conditions", tests);
}
