// test_scope.c -- ownership: scopes, nested ones, results handed out of them, and handles that are
// reused.
#include "autograd/autograd.h"
#include "tests/helpers/expect.h"

START_TEST(closing_a_scope_frees_every_result_of_its_ops) {
    Tensor *x = tensor_full_new(SHAPE(100), 1.0f);
    int64_t live = expect_live_bytes();
    Scope *scope = scope_open();
    for (int i = 0; i < 10; i++) tensor_relu(x);
    ck_assert_int_eq(expect_live_bytes(), live + 4000);
    scope_close(scope);
    ck_assert_int_eq(expect_live_bytes(), live);
    ck_assert_double_eq((double)tensor_data(x)[99], 1.0); // x itself is unchanged
    tensor_free(x);
}
END_TEST

START_TEST(what_new_functions_give_is_not_a_scopes) {
    int64_t live = expect_live_bytes();
    Scope *scope = scope_open();
    Tensor *x = tensor_full_new(SHAPE(3), 2.0f);
    tensor_release(x); // neither a scope's end nor an early release affects it
    scope_close(scope);
    expect_values(x, 2, 2, 2);
    tensor_free(x);
    ck_assert_int_eq(expect_live_bytes(), live);
}
END_TEST

START_TEST(freeing_an_ops_result_is_left_to_its_scope) {
    Tensor *x = tensor_full_new(SHAPE(3), 2.0f);
    Scope *scope = scope_open();
    Tensor *y = tensor_relu(x);
    tensor_free(y);
    expect_values(y, 2, 2, 2);
    scope_close(scope);
    tensor_free(x);
}
END_TEST

START_TEST(closing_an_outer_scope_closes_the_inner_ones) {
    Tensor *x = tensor_full_new(SHAPE(10), 1.0f);
    int64_t live = expect_live_bytes();
    Scope *outer = scope_open();
    tensor_relu(x);
    scope_open();
    tensor_relu(x);
    scope_open();
    tensor_relu(x);
    scope_close(outer);
    ck_assert_int_eq(expect_live_bytes(), live);
    ck_assert_ptr_null(tensor_relu(x)); // no scope is open now
    expect_error(STATUS_STATE, "outside any scope");
    tensor_free(x);
}
END_TEST

START_TEST(an_inner_scope_leaves_the_outer_ones_results_alone) {
    Tensor *x = tensor_full_new(SHAPE(2), 3.0f);
    Scope *outer = scope_open();
    Tensor *y = tensor_mul_scalar(x, 2.0f);
    Scope *inner = scope_open();
    Tensor *z = tensor_add(y, y);
    expect_values(z, 12, 12);
    scope_close(inner);
    expect_values(y, 6, 6);
    scope_close(outer);
    tensor_free(x);
}
END_TEST

START_TEST(closing_nothing_or_a_scope_that_is_not_open_does_nothing) {
    scope_close(NULL);
    Scope *scope = scope_open();
    scope_close(scope);
    scope_close(scope);
    expect_no_error();
    ck_assert_ptr_null(context_current()->scope);
}
END_TEST

START_TEST(an_op_outside_any_scope_is_an_error_that_names_it) {
    Tensor *x = tensor_full_new(SHAPE(2), 1.0f);
    int64_t live = expect_live_bytes();
    ck_assert_ptr_null(tensor_exp(x));
    expect_error(STATUS_STATE, "exp of (2,): called outside any scope. HINT: open one");
    ck_assert_ptr_null(tensor_reshape(x, SHAPE(1, 2)));
    expect_error(STATUS_STATE, "reshape of (2,)");
    ck_assert_int_eq(tensor_fill(x, 7.0f), STATUS_OK); // in place: returns no tensor
    expect_values(x, 7, 7);
    ck_assert_int_eq(expect_live_bytes(), live);
    tensor_free(x);
}
END_TEST

// ---- handing results out ----------------------------------------------------------------------
START_TEST(closing_with_a_result_hands_it_to_the_enclosing_scope) {
    Tensor *x = tensor_full_new(SHAPE(2), 3.0f);
    int64_t live = expect_live_bytes();
    Scope *outer = scope_open(), *inner = scope_open();
    Tensor *hidden = tensor_mul_scalar(x, 2.0f);
    Tensor *y = scope_close_with(inner, tensor_add(hidden, hidden));
    ck_assert_ptr_eq(y->scope, outer);
    expect_values(y, 12, 12);
    ck_assert_int_eq(expect_live_bytes(), live + 8); // the hidden tensor is freed
    scope_close(outer);
    ck_assert_int_eq(expect_live_bytes(), live);
    tensor_free(x);
}
END_TEST

START_TEST(closing_the_last_scope_with_a_result_makes_it_yours) {
    Tensor *x = tensor_full_new(SHAPE(2), 3.0f);
    int64_t live = expect_live_bytes();
    Scope *scope = scope_open();
    Tensor *y = scope_close_with(scope, tensor_mul_scalar(x, 2.0f));
    ck_assert_ptr_null(y->scope);
    expect_values(y, 6, 6);
    tensor_free(y);
    ck_assert_int_eq(expect_live_bytes(), live);
    tensor_free(x);
}
END_TEST

START_TEST(closing_over_inner_scopes_still_hands_out_a_result_of_theirs) {
    Tensor *x = tensor_full_new(SHAPE(2), 3.0f);
    Scope *outer = scope_open(), *middle = scope_open();
    scope_open();
    Tensor *y = scope_close_with(middle, tensor_mul_scalar(x, 2.0f));
    ck_assert_ptr_eq(y->scope, outer);
    ck_assert_ptr_eq(context_current()->scope, outer);
    expect_values(y, 6, 6);
    scope_close(outer);
    tensor_free(x);
}
END_TEST

// A layer with nothing to do returns its input, which keeps its owner.
START_TEST(an_input_passed_through_keeps_its_owner) {
    Tensor *mine = tensor_full_new(SHAPE(2), 3.0f);
    Scope *outer = scope_open();
    Tensor *outers = tensor_mul_scalar(mine, 2.0f);
    ck_assert_ptr_eq(scope_close_with(scope_open(), mine), mine);
    ck_assert_ptr_null(mine->scope);
    ck_assert_ptr_eq(scope_close_with(scope_open(), outers), outers);
    ck_assert_ptr_eq(outers->scope, outer);
    ck_assert_ptr_null(scope_close_with(scope_open(), NULL));
    ck_assert_ptr_eq(scope_close_with(NULL, mine), mine);
    ck_assert_ptr_eq(context_current()->scope, outer);
    scope_close(outer);
    expect_values(mine, 3, 3);
    tensor_free(mine);
}
END_TEST

START_TEST(a_kept_result_outlives_its_scope_until_it_is_freed) {
    Tensor *x = tensor_full_new(SHAPE(2), 3.0f);
    int64_t live = expect_live_bytes();
    Scope *scope = scope_open();
    Tensor *first = tensor_mul_scalar(x, 2.0f), *middle = tensor_mul_scalar(x, 3.0f);
    Tensor *last = tensor_mul_scalar(x, 4.0f);
    ck_assert_ptr_eq(tensor_keep(middle), middle); // from the middle of the scope's list
    ck_assert_ptr_eq(tensor_keep(middle), middle); // keeping twice makes two owners
    tensor_free(middle);
    scope_close(scope);
    (void)first, (void)last;
    ck_assert_int_eq(expect_live_bytes(), live + 8);
    expect_values(middle, 9, 9);
    tensor_free(middle);
    ck_assert_int_eq(expect_live_bytes(), live);
    tensor_free(x);
}
END_TEST

START_TEST(a_released_result_dies_early_and_alone) {
    Tensor *x = tensor_full_new(SHAPE(2), 3.0f);
    int64_t live = expect_live_bytes();
    Scope *scope = scope_open();
    Tensor *y[3];
    for (int i = 0; i < 3; i++) y[i] = tensor_mul_scalar(x, (float)i);
    tensor_release(y[1]);
    ck_assert_int_eq(expect_live_bytes(), live + 16);
    tensor_release(y[0]);
    expect_values(y[2], 6, 6);
    tensor_release(y[2]);
    ck_assert_int_eq(expect_live_bytes(), live);
    scope_close(scope);
    tensor_free(x);
}
END_TEST

START_TEST(a_kept_view_keeps_the_bytes_of_a_result_that_died) {
    Tensor *x = tensor_full_new(SHAPE(4), 3.0f);
    int64_t live = expect_live_bytes();
    Scope *scope = scope_open();
    Tensor *view = tensor_keep(tensor_slice(tensor_mul_scalar(x, 2.0f), 0, 1, 3, 1));
    scope_close(scope);
    ck_assert_int_eq(expect_live_bytes(), live + 16);
    expect_values(view, 6, 6);
    tensor_free(view);
    ck_assert_int_eq(expect_live_bytes(), live);
    tensor_free(x);
}
END_TEST

// ---- reused handles ---------------------------------------------------------------------------
START_TEST(a_recycled_handle_remembers_nothing_of_its_past) {
    Tensor *x = tensor_full_new(SHAPE(2, 3), 1.0f);
    tensor_requires_grad(x, true);
    for (int i = 0; i < 100; i++) {
        Scope *scope = scope_open();
        Tensor *strided = tensor_slice(tensor_transpose(x, 0, 1), 0, 1, 3, 1);
        ck_assert(!tensor_is_contiguous(strided));
        scope_close(scope);
        Tensor *fresh = tensor_full_new(SHAPE(5), 2.0f); // may get the view's old handle
        ck_assert(tensor_is_contiguous(fresh));
        ck_assert_int_eq(fresh->offset, 0);
        ck_assert_int_eq(fresh->shape.ndim, 1);
        ck_assert_int_eq(fresh->flags, TENSOR_CONTIGUOUS);
        ck_assert_ptr_null(fresh->origin);
        ck_assert_ptr_null(fresh->scope);
        ck_assert_ptr_null(fresh->grad);
        expect_values(fresh, 2, 2, 2, 2, 2);
        tensor_free(fresh);
    }
    tensor_free(x);
}
END_TEST

START_TEST(random_keeping_releasing_and_closing_loses_and_frees_nothing_twice) {
    enum { KEPT = 64 };
    RandomState random = {.seed = 77 + (uint64_t)_i};
    Tensor *x = tensor_full_new(SHAPE(8), 1.0f), *kept[KEPT], *last = x;
    int n_kept = 0;
    int64_t live = expect_live_bytes();
    Scope *root = scope_open(), *open[200] = {root};
    int depth = 1;
    for (int step = 0; step < 2000; step++) {
        switch (random_next_below(&random, 6)) {
        case 0:
            if (depth < 200) open[depth++] = scope_open();
            break;
        case 1: // several inputs at once
            if (depth > 1) {
                depth = 1 + (int)random_next_below(&random, depth - 1);
                last = scope_close_with(open[depth], random_next(&random) & 1 ? last : x);
            }
            break;
        case 2:
            if (n_kept < KEPT && last != x && last->scope) kept[n_kept++] = tensor_keep(last);
            break;
        case 3:
            if (last->scope) tensor_release(last);
            last = x;
            break;
        default:
            last = tensor_add_scalar(random_next(&random) & 1 ? x : last, 1.0f);
        }
        ck_assert_msg(last != NULL, "%s", error_message());
        ck_assert(!(tensor_data(last)[0] < 1.0f));
    }
    scope_close(root);
    ck_assert_int_eq(expect_live_bytes(), live + 32 * n_kept);
    for (int i = 0; i < n_kept; i++) tensor_free(kept[i]);
    ck_assert_int_eq(expect_live_bytes(), live);
    tensor_free(x);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {closing_a_scope_frees_every_result_of_its_ops, 0},
        {what_new_functions_give_is_not_a_scopes, 0},
        {freeing_an_ops_result_is_left_to_its_scope, 0},
        {closing_an_outer_scope_closes_the_inner_ones, 0},
        {an_inner_scope_leaves_the_outer_ones_results_alone, 0},
        {closing_nothing_or_a_scope_that_is_not_open_does_nothing, 0},
        {an_op_outside_any_scope_is_an_error_that_names_it, 0},
        {closing_with_a_result_hands_it_to_the_enclosing_scope, 0},
        {closing_the_last_scope_with_a_result_makes_it_yours, 0},
        {closing_over_inner_scopes_still_hands_out_a_result_of_theirs, 0},
        {an_input_passed_through_keeps_its_owner, 0},
        {a_kept_result_outlives_its_scope_until_it_is_freed, 0},
        {a_released_result_dies_early_and_alone, 0},
        {a_kept_view_keeps_the_bytes_of_a_result_that_died, 0},
        {a_recycled_handle_remembers_nothing_of_its_past, 0},
        {random_keeping_releasing_and_closing_loses_and_frees_nothing_twice, 10},
        {NULL, 0},
    };
    return harness_main("scope", tests);
}
