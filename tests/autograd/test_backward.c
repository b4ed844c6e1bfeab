// test_backward.c -- walking a graph: once, again if it was kept, from a given gradient; and
// refusals. test_autograd.c tests the destinations of gradients.
#include "tests/autograd/leaves.h"
#include "tests/helpers/expect.h"

static Tensor *pair_new(float a, float b) {
    return leaf_from_floats_new(SHAPE(2), (float[]){a, b});
}

// ---- walking again ----------------------------------------------------------------------------
START_TEST(a_kept_graph_can_be_walked_again_and_doubles_the_gradients) {
    Tensor *w = pair_new(3, -2);
    Scope *scope = scope_open();
    Tensor *h = tensor_mul(w, w), *loss = total(tensor_add(h, tensor_exp(tensor_sub(h, h))));
    int nodes = autograd_node_count();
    ck_assert_int_eq(autograd_backward_keep(loss), STATUS_OK);
    expect_values(tensor_grad(w), 6, -4);
    ck_assert_int_eq(autograd_backward_keep(loss), STATUS_OK);
    expect_values(tensor_grad(w), 12, -8);
    ck_assert_int_eq(autograd_node_count(), nodes);
    ck_assert_int_eq(autograd_backward(loss), STATUS_OK); // the last walk frees it
    expect_values(tensor_grad(w), 18, -12);
    ck_assert_int_eq(autograd_node_count(), 0);
    scope_close(scope);
    tensor_free(w);
}
END_TEST

START_TEST(a_freed_graph_cannot_be_walked_again) {
    Tensor *w = pair_new(3, -2);
    Scope *scope = scope_open();
    Tensor *loss = total(tensor_mul(w, w));
    autograd_backward(loss);
    ck_assert_int_eq(autograd_backward(loss), STATUS_STATE);
    expect_error(STATUS_STATE, "freed by an earlier backward. HINT: run forward again");
    tensor_mul(w, w); // a new graph does not revive the old handles
    ck_assert_int_eq(autograd_backward_keep(loss), STATUS_STATE);
    expect_error(STATUS_STATE, "freed by an earlier backward");
    expect_values(tensor_grad(w), 6, -4);
    scope_close(scope);
    tensor_free(w);
}
END_TEST

START_TEST(backward_from_starts_with_the_gradient_it_is_given) {
    Tensor *w = pair_new(3, -2), *start = tensor_from_floats_new(SHAPE(2), (float[]){10, 100});
    Scope *scope = scope_open();
    ck_assert_int_eq(autograd_backward_from(tensor_mul(w, w), start), STATUS_OK);
    expect_values(tensor_grad(w), 60, -400);
    expect_values(start, 10, 100);
    Tensor *y = tensor_mul(w, w);
    ck_assert_int_eq(autograd_backward_from(y, w), STATUS_OK); // even a leaf may be the start
    expect_values(tensor_grad(w), 60 + 18, -400 + 8);
    scope_close(scope);
    tensor_free(start);
    tensor_free(w);
}
END_TEST

// ---- refusals ---------------------------------------------------------------------------------
START_TEST(a_loss_that_cannot_be_walked_is_refused_with_a_reason) {
    Tensor *w = pair_new(3, -2), *plain = tensor_full_new(SHAPE(2), 1.0f);
    Tensor *labels = tensor_new(SHAPE(2), DTYPE_INT64);
    Scope *scope = scope_open();
    Tensor *y = tensor_mul(w, w);
    ck_assert_int_eq(autograd_backward(y), STATUS_SHAPE);
    expect_error(STATUS_SHAPE, "the loss has shape (2,), not one element. HINT: tensor_mean");
    ck_assert_int_eq(autograd_backward(NULL), STATUS_INVALID_ARGUMENT);
    expect_error(STATUS_INVALID_ARGUMENT, "the loss is NULL");
    ck_assert_int_eq(autograd_backward(plain), STATUS_STATE);
    expect_error(STATUS_STATE, "no graph leads to this loss");
    ck_assert_int_eq(autograd_backward_from(y, NULL), STATUS_SHAPE);
    expect_error(STATUS_SHAPE, "the output's shape");
    Tensor *scalar = total(w);
    ck_assert_int_eq(autograd_backward_from(y, scalar), STATUS_SHAPE);
    expect_error(STATUS_SHAPE, "the output's shape");
    ck_assert_int_eq(tensor_requires_grad(y, true), STATUS_STATE);
    expect_error(STATUS_STATE, "this is an op's result, not a leaf");
    ck_assert_int_eq(tensor_requires_grad(labels, true), STATUS_DTYPE);
    expect_error(STATUS_DTYPE, "only float32");
    ck_assert_int_eq(tensor_requires_grad(NULL, true), STATUS_INVALID_ARGUMENT);
    error_clear();
    error_set(STATUS_IO, "earlier");
    ck_assert_int_eq(autograd_backward(y), STATUS_IO);
    error_clear();
    ck_assert_int_ne(autograd_backward_from(y, labels), STATUS_OK); // the right shape, but int64
    expect_error(STATUS_DTYPE, "float32");
    ck_assert_int_eq(autograd_node_count(), 2); // a refusal does not free the graph
    scope_close(scope);
    tensor_free(w);
    tensor_free(plain);
    tensor_free(labels);
}
END_TEST

START_TEST(writing_in_place_what_backward_needs_is_found_out) {
    Tensor *w = pair_new(3, -2), *x = tensor_full_new(SHAPE(2), 5.0f);
    Scope *scope = scope_open();
    Tensor *loss = total(tensor_mul(w, x));
    tensor_fill(x, 6.0f);
    ck_assert_int_eq(autograd_backward(loss), STATUS_STATE);
    expect_error(STATUS_STATE, "backward of mul: its input 1 was written in place after it was "
                               "saved (version 1, now 2)");
    Tensor *y = tensor_exp(w); // exp saves its output
    loss = total(y);
    no_grad_begin();
    tensor_fill(tensor_reshape(y, SHAPE(1, 2)), 0.0f); // writes through a view
    no_grad_end();
    ck_assert_int_eq(autograd_backward(loss), STATUS_STATE);
    expect_error(STATUS_STATE, "backward of exp: its output 0 was written in place");
    loss = total(tensor_add(w, x)); // add saves nothing, so writing is harmless
    tensor_fill(x, 7.0f);
    ck_assert_int_eq(autograd_backward(loss), STATUS_OK);
    scope_close(scope);
    tensor_free(w);
    tensor_free(x);
}
END_TEST

START_TEST(writing_in_place_into_the_graph_itself_is_refused) {
    Tensor *w = pair_new(3, -2), *x = tensor_full_new(SHAPE(2), 5.0f);
    Scope *scope = scope_open();
    ck_assert_int_ne(tensor_fill(w, 0.0f), STATUS_OK);
    expect_error(STATUS_STATE, "no_grad_begin");
    ck_assert_int_ne(tensor_accumulate(x, w), STATUS_OK); // w's gradient would be lost
    expect_error(STATUS_STATE, "in place");
    ck_assert_int_ne(tensor_accumulate(tensor_mul(w, x), x), STATUS_OK);
    expect_error(STATUS_STATE, "in place");
    expect_values(w, 3, -2);
    scope_close(scope);
    tensor_free(w);
    tensor_free(x);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_kept_graph_can_be_walked_again_and_doubles_the_gradients, 0},
        {a_freed_graph_cannot_be_walked_again, 0},
        {backward_from_starts_with_the_gradient_it_is_given, 0},
        {a_loss_that_cannot_be_walked_is_refused_with_a_reason, 0},
        {writing_in_place_what_backward_needs_is_found_out, 0},
        {writing_in_place_into_the_graph_itself_is_refused, 0},
        {NULL, 0},
    };
    return harness_main("backward", tests);
}
