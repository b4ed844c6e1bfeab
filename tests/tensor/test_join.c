// test_join.c -- concat, stack and gather beyond the op cases: integers, many inputs, repeated
// indices, and refusals.
#include "autograd/autograd.h"
#include "tests/helpers/expect.h"

// ---- joining ----------------------------------------------------------------------------------
START_TEST(integers_and_their_views_are_joined) {
    Scope *scope = scope_open();
    Tensor *a = tensor_from_labels_new(SHAPE(2, 2), (int64_t[]){1, 2, 3, 4});
    Tensor *b = tensor_from_labels_new(SHAPE(2, 1), (int64_t[]){1LL << 40, -6});
    Tensor *joined = tensor_concat((Tensor *[]){tensor_transpose(a, 0, 1), b}, 2, 1);
    expect_no_error();
    const int64_t want[] = {1, 3, 1LL << 40, 2, 4, -6};
    ck_assert_mem_eq(tensor_labels(joined), want, sizeof want);
    tensor_free(a);
    tensor_free(b);
    scope_close(scope);
}
END_TEST

START_TEST(the_result_is_a_copy) {
    Scope *scope = scope_open();
    Tensor *x = tensor_full_new(SHAPE(2), 1.0f);
    Tensor *joined = tensor_concat(&x, 1, 0);
    tensor_fill(x, 5.0f);
    expect_values(joined, 1.0f, 1.0f);
    tensor_free(x);
    scope_close(scope);
}
END_TEST

enum { MANY = 100, MASK = 64 }; // needs_grad has 64 bits

// Inputs {0}, {1}, {2} ...; the first `wanting` want gradients.
static void many_new(Tensor *in[MANY], int wanting) {
    for (int i = 0; i < MANY; i++) {
        in[i] = tensor_full_new(SHAPE(1), (float)i);
        if (i < wanting) tensor_requires_grad(in[i], true);
    }
}

static void many_free(Tensor *in[MANY]) {
    for (int i = 0; i < MANY; i++) tensor_free(in[i]);
}

START_TEST(any_number_is_joined) {
    Scope *scope = scope_open();
    Tensor *in[MANY];
    many_new(in, 0);
    float *row = tensor_data(tensor_concat(in, MANY, 0));
    Tensor *stack = tensor_stack(in, MANY, 0);
    expect_no_error();
    ck_assert(shape_equal(tensor_shape(stack), SHAPE(MANY, 1)));
    for (int i = 0; i < MANY; i++) {
        ck_assert(row[i] == (float)i && tensor_data(stack)[i] == (float)i);
    }
    many_free(in);
    scope_close(scope);
}
END_TEST

START_TEST(up_to_64_inputs_get_gradients) {
    Scope *scope = scope_open();
    Tensor *in[MANY];
    many_new(in, MASK);
    Tensor *row = tensor_concat(in, MASK, 0);
    Tensor *loss = tensor_sum(tensor_mul(row, row), DIM_ALL, false);
    ck_assert_int_eq(autograd_backward(loss), STATUS_OK);
    for (int i = 0; i < MASK; i++) expect_values(tensor_grad(in[i]), 2.0f * (float)i);
    many_free(in);
    scope_close(scope);
}
END_TEST

// An input past the mask must not be ignored silently, nor taken for the first.
START_TEST(an_input_beyond_the_64th_is_not_recorded) {
    Scope *scope = scope_open();
    Tensor *in[MANY];
    many_new(in, 0);
    Tensor *odd = in[_i];
    tensor_requires_grad(odd, true);
    Tensor *row = tensor_concat(in, MASK + 1, 0);
    if (_i < MASK) {
        ck_assert_int_eq(autograd_backward(tensor_sum(row, DIM_ALL, false)), STATUS_OK);
        expect_values(tensor_grad(odd), 1.0f);
    } else {
        ck_assert_ptr_null(row);
        expect_error(STATUS_INVALID_ARGUMENT, "the first 64");
        ck_assert_ptr_null(tensor_stack(in, MASK + 1, 0)); // with views, which are no leaves
        expect_error(STATUS_INVALID_ARGUMENT, "the first 64");
    }
    no_grad_begin();
    ck_assert_ptr_nonnull(tensor_concat(in, MASK + 1, 0));
    no_grad_end();
    tensor_requires_grad(odd, false);
    ck_assert_ptr_nonnull(tensor_concat(in, MASK + 1, 0));
    many_free(in);
    scope_close(scope);
}
END_TEST

START_TEST(nothing_cannot_be_joined) {
    Scope *scope = scope_open();
    ck_assert_ptr_null(tensor_concat(NULL, 0, 0));
    expect_error(STATUS_INVALID_ARGUMENT, "concat: got 0 tensors");
    ck_assert_ptr_null(tensor_stack(NULL, -1, 0));
    expect_error(STATUS_INVALID_ARGUMENT, "stack: got -1 tensors");
    scope_close(scope);
}
END_TEST

// A tensor without elements may have any width; the widths of seventeen may overflow.
START_TEST(a_sum_of_sizes_that_overflows_is_refused) {
    Scope *scope = scope_open();
    Tensor *wide = tensor_zeros_new(SHAPE(0, INT64_MAX / 16)), *in[17];
    for (int i = 0; i < 17; i++) in[i] = wide;
    expect_no_error();
    ck_assert_ptr_null(tensor_concat(in, 17, 1));
    expect_error(STATUS_OVERFLOW, "too large along dimension 1");
    tensor_free(wide);
    scope_close(scope);
}
END_TEST

// ---- picking ----------------------------------------------------------------------------------
START_TEST(repeated_indices_add_up) {
    Scope *scope = scope_open();
    Tensor *x = tensor_from_floats_new(SHAPE(3, 2), (float[]){1, 2, 3, 4, 5, 6});
    Tensor *index = tensor_from_labels_new(SHAPE(4, 1), (int64_t[]){2, 0, 2, 2});
    tensor_requires_grad(x, true);
    Tensor *picked = tensor_gather(x, 0, index);
    expect_values(picked, 5.0f, 1.0f, 5.0f, 5.0f);
    Tensor *start = tensor_from_floats_new(SHAPE(4, 1), (float[]){1, 10, 100, 1000});
    ck_assert_int_eq(autograd_backward_from(picked, start), STATUS_OK);
    expect_values(tensor_grad(x), 10.0f, 0.0f, 0.0f, 0.0f, 1101.0f, 0.0f);
    tensor_free(x);
    tensor_free(index);
    tensor_free(start);
    scope_close(scope);
}
END_TEST

START_TEST(stray_indices_are_refused_with_their_place) {
    Scope *scope = scope_open();
    Tensor *x = tensor_zeros_new(SHAPE(2, 3));
    Tensor *scalar = tensor_zeros_new(SHAPE_SCALAR);
    Tensor *index = tensor_from_labels_new(SHAPE(2, 2), (int64_t[]){0, 2, -1, 0});
    ck_assert_ptr_null(tensor_gather(x, 1, index));
    expect_error(STATUS_INVALID_ARGUMENT, "index -1 at (1, 0) is not in [0, 3)");
    ck_assert_ptr_null(tensor_gather(x, 0, index));
    expect_error(STATUS_INVALID_ARGUMENT, "index 2 at (0, 1) is not in [0, 2)");
    Tensor *cube = tensor_reshape(index, SHAPE(2, 2, 1)), *deep = tensor_zeros_new(SHAPE(2, 2, 3));
    ck_assert_ptr_null(tensor_gather(deep, 2, cube));
    expect_error(STATUS_INVALID_ARGUMENT, "index -1 at (1, 0, 0) is not in [0, 3)");
    ck_assert_ptr_null(tensor_gather(scalar, 0, index));
    expect_error(STATUS_SHAPE, "no dimension 0");
    tensor_free(x);
    tensor_free(deep);
    tensor_free(scalar);
    tensor_free(index);
    scope_close(scope);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {integers_and_their_views_are_joined, 0},
        {the_result_is_a_copy, 0},
        {any_number_is_joined, 0},
        {up_to_64_inputs_get_gradients, 0},
        {an_input_beyond_the_64th_is_not_recorded, MASK + 1},
        {nothing_cannot_be_joined, 0},
        {a_sum_of_sizes_that_overflows_is_refused, 0},
        {repeated_indices_add_up, 0},
        {stray_indices_are_refused_with_their_place, 0},
        {NULL, 0},
    };
    return harness_main("join", tests);
}
