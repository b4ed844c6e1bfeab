// test_autograd.c -- the destinations of gradients, and the leaf's buffer over steps.
// test_backward.c tests walks and repeated walks, test_gradcheck.c each op's gradient.
#include "tensor/memory.h"
#include "tests/autograd/leaves.h"
#include "tests/helpers/expect.h"

static Tensor *pair_new(float a, float b) {
    return leaf_from_floats_new(SHAPE(2), (float[]){a, b});
}

// ---- destinations -----------------------------------------------------------------------------
START_TEST(a_leaf_used_twice_by_one_op_gets_both_gradients) {
    Tensor *w = pair_new(3, -2);
    Scope *scope = scope_open();
    ck_assert_int_eq(autograd_backward(total(tensor_mul(w, w))), STATUS_OK);
    expect_values(tensor_grad(w), 6, -4);
    ck_assert_int_eq(autograd_backward(total(tensor_sub(w, w))), STATUS_OK);
    expect_values(tensor_grad(w), 6, -4); // includes 1 - 1
    scope_close(scope);
    tensor_free(w);
}
END_TEST

START_TEST(a_hidden_value_used_twice_by_one_op_gets_both_gradients) {
    Tensor *w = pair_new(3, -2);
    Scope *scope = scope_open();
    Tensor *h = tensor_mul_scalar(w, 2.0f);
    autograd_backward(total(tensor_mul(h, h))); // 4 w^2
    expect_values(tensor_grad(w), 24, -16);
    scope_close(scope);
    tensor_free(w);
}
END_TEST

START_TEST(a_leaf_used_by_two_ops_gets_the_sum) {
    Tensor *w = pair_new(3, -2), *x = pair_new(5, 7);
    Scope *scope = scope_open();
    autograd_backward(total(tensor_add(tensor_mul(w, x), tensor_mul_scalar(w, 10.0f))));
    expect_values(tensor_grad(w), 15, 17);
    expect_values(tensor_grad(x), 3, -2);
    scope_close(scope);
    tensor_free(w);
    tensor_free(x);
}
END_TEST

// Two ways lead from h to the loss; add passes the same gradient to both, so nothing may be added
// to it in place.
START_TEST(a_diamond_adds_the_gradients_of_its_two_sides) {
    Tensor *w = pair_new(1, 2);
    Scope *scope = scope_open();
    Tensor *h = tensor_mul_scalar(w, 3.0f);
    Tensor *left = tensor_add(h, h), *right = tensor_mul(h, h);
    Tensor *sum = tensor_add(tensor_add(left, right), h);   // 3h + h^2
    autograd_backward(total(tensor_mul_scalar(sum, 1.0f))); // a dense gradient, not an expanded one
    expect_values(tensor_grad(w), 3 * (3 + 2 * 3), 3 * (3 + 2 * 6));
    scope_close(scope);
    tensor_free(w);
}
END_TEST

START_TEST(a_long_chain_of_diamonds_grows_as_powers_of_two) {
    Tensor *w = pair_new(1, 2);
    Scope *scope = scope_open();
    Tensor *h = w;
    for (int i = 0; i < 20; i++) h = tensor_add(h, h);
    autograd_backward(total(h));
    expect_values(tensor_grad(w), 1 << 20, 1 << 20);
    scope_close(scope);
    tensor_free(w);
}
END_TEST

START_TEST(views_of_a_leaf_lead_back_to_it) {
    Tensor *w = leaf_from_floats_new(SHAPE(2, 3), (float[]){1, 2, 3, 4, 5, 6});
    Scope *scope = scope_open();
    Tensor *flat = tensor_reshape(w, SHAPE(6)), *turned = tensor_transpose(w, 0, 1);
    Tensor *row = tensor_slice(w, 0, 1, 2, 1);
    Tensor *loss = tensor_add(total(tensor_mul(flat, flat)), total(tensor_mul_scalar(turned, 10)));
    autograd_backward(tensor_add(loss, total(tensor_mul_scalar(row, 100.0f))));
    expect_values(tensor_grad(w), 12, 14, 16, 118, 120, 122);
    ck_assert_ptr_ne(tensor_grad(w)->storage, w->storage);
    scope_close(scope);
    tensor_free(w);
}
END_TEST

// The gradient of a sum is an expanded view, that of a reshape a view of another's buffer.
START_TEST(a_gradient_that_is_a_view_is_copied_into_the_leafs_own_buffer) {
    Tensor *w = pair_new(1, 2), *x = pair_new(1, 2);
    Scope *scope = scope_open();
    autograd_backward(total(tensor_add(w, x))); // passes the very same gradient to both
    ck_assert_ptr_ne(tensor_grad(w)->storage, tensor_grad(x)->storage);
    ck_assert(tensor_is_contiguous(tensor_grad(w)));
    ck_assert_int_eq(tensor_grad(w)->storage->category, MEM_GRADIENT);
    tensor_write_floats(tensor_grad(w), (float[]){8, 9});
    expect_values(tensor_grad(x), 1, 1);
    scope_close(scope);
    tensor_free(w);
    tensor_free(x);
}
END_TEST

// Both gradients of c (m, n) = a (m, k) . b (k, n), whole or summed first: then the gradient that
// arrives at the product is an expanded view, whose strides no product can read in place.
static void gradients_of_product(int sum_dim, bool linear, float grad_a[6], float grad_b[12]) {
    Tensor *a = leaf_from_floats_new(SHAPE(2, 3), (float[]){1, 2, 3, 4, 5, 6});
    Tensor *b = leaf_from_floats_new(linear ? SHAPE(4, 3) : SHAPE(3, 4),
                                     (float[]){1, -1, 2, -2, 3, -3, 4, -4, 5, -5, 6, -6});
    Scope *scope = scope_open();
    Tensor *c = linear ? tensor_linear(a, b, NULL, NULL) : tensor_matmul(a, b);
    Tensor *ones = tensor_full_new(SHAPE(2, 4), 1.0f);
    Tensor *loss = sum_dim == -1 ? total(tensor_mul(c, ones)) // a dense gradient
                                 : total(tensor_sum(c, sum_dim, false));
    ck_assert_msg(autograd_backward(loss) == STATUS_OK, "%s", error_message());
    tensor_read_floats(tensor_grad(a), grad_a);
    tensor_read_floats(tensor_grad(b), grad_b);
    scope_close(scope);
    tensor_free(a);
    tensor_free(b);
    tensor_free(ones);
}

START_TEST(an_expanded_gradient_goes_through_a_product_like_a_dense_one) {
    const int dims[] = {DIM_ALL, 0, 1};
    for (int linear = 0; linear < 2; linear++) {
        float want_a[6], want_b[12], grad_a[6], grad_b[12];
        gradients_of_product(-1, linear, want_a, want_b);
        for (int i = 0; i < 3; i++) {
            gradients_of_product(dims[i], linear, grad_a, grad_b);
            harness_assert_close(grad_a, want_a, 6, 0.0, 0.0, linear ? "x" : "a");
            harness_assert_close(grad_b, want_b, 12, 0.0, 0.0, linear ? "weight" : "b");
        }
    }
}
END_TEST

START_TEST(a_leaf_that_does_not_take_part_has_no_gradient) {
    Tensor *w = pair_new(1, 2), *other = pair_new(3, 4), *data = tensor_full_new(SHAPE(2), 1.0f);
    Scope *scope = scope_open();
    tensor_mul(other, data); // recorded, but unrelated to the loss
    autograd_backward(total(tensor_mul(w, data)));
    ck_assert_ptr_nonnull(tensor_grad(w));
    ck_assert_ptr_null(tensor_grad(other));
    ck_assert_ptr_null(tensor_grad(data));
    ck_assert_ptr_null(tensor_grad(NULL));
    expect_no_error();
    scope_close(scope);
    tensor_free(w);
    tensor_free(other);
    tensor_free(data);
}
END_TEST

START_TEST(detach_and_no_grad_stop_the_gradient) {
    Tensor *w = pair_new(3, -2);
    Scope *scope = scope_open();
    Tensor *h = tensor_mul_scalar(w, 2.0f), *constant = tensor_detach(h);
    autograd_backward(total(tensor_mul(h, constant))); // as if 2w were a constant: 2 * 2w
    expect_values(tensor_grad(w), 12, -8);
    no_grad_begin();
    Tensor *silent = total(tensor_mul(w, w));
    no_grad_end();
    ck_assert_int_eq(autograd_node_count(), 0);
    ck_assert_int_ne(autograd_backward(silent), STATUS_OK);
    expect_error(STATUS_STATE, "no graph leads to this loss. HINT: mark its parameters");
    scope_close(scope);
    tensor_free(w);
}
END_TEST

// ---- the leaf's buffer over steps -------------------------------------------------------------
START_TEST(gradients_add_up_until_zero_grad_and_the_buffer_stays) {
    Tensor *w = pair_new(3, -2);
    Scope *scope = scope_open();
    autograd_backward(total(tensor_mul(w, w)));
    const Tensor *grad = tensor_grad(w);
    const void *buffer = grad->storage->data;
    autograd_backward(total(tensor_mul(w, w)));
    expect_values(tensor_grad(w), 12, -8);
    tensor_zero_grad(w);
    ck_assert_ptr_null(tensor_grad(w)); // NULL, as after PyTorch's zero_grad
    uint64_t requests = memory_requests();
    tensor_zero_grad(w);
    tensor_zero_grad(NULL);
    ck_assert_uint_eq(memory_requests(), requests);
    autograd_backward(total(tensor_mul_scalar(w, 5.0f)));
    expect_values(tensor_grad(w), 5, 5); // overwritten, not added to
    ck_assert_ptr_eq(tensor_grad(w), grad);
    ck_assert_ptr_eq(tensor_grad(w)->storage->data, buffer);
    scope_close(scope);
    tensor_free(w);
}
END_TEST

START_TEST(the_gradient_buffer_dies_with_its_leaf) {
    int64_t before = context_ledger()->live.category[MEM_GRADIENT];
    Tensor *w = pair_new(3, -2);
    Scope *scope = scope_open();
    autograd_backward(total(w));
    scope_close(scope);
    ck_assert_int_eq(context_ledger()->live.category[MEM_GRADIENT], before + 8);
    tensor_free(w);
    ck_assert_int_eq(context_ledger()->live.category[MEM_GRADIENT], before);
}
END_TEST

START_TEST(a_leaf_frozen_after_forward_gets_nothing_and_disturbs_nobody) {
    Tensor *w = pair_new(3, -2), *frozen = leaf_from_floats_new(SHAPE(2, 1), (float[]){1, 1});
    Scope *scope = scope_open();
    Tensor *first = tensor_mul(w, w); // becomes node 0
    Tensor *loss = total(tensor_matmul(tensor_reshape(first, SHAPE(1, 2)), frozen));
    tensor_requires_grad(frozen, false);
    ck_assert_msg(autograd_backward(loss) == STATUS_OK, "%s", error_message());
    expect_values(tensor_grad(w), 6, -4);
    ck_assert_ptr_null(tensor_grad(frozen));
    scope_close(scope);
    tensor_free(w);
    tensor_free(frozen);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_leaf_used_twice_by_one_op_gets_both_gradients, 0},
        {a_hidden_value_used_twice_by_one_op_gets_both_gradients, 0},
        {a_leaf_used_by_two_ops_gets_the_sum, 0},
        {a_diamond_adds_the_gradients_of_its_two_sides, 0},
        {a_long_chain_of_diamonds_grows_as_powers_of_two, 0},
        {views_of_a_leaf_lead_back_to_it, 0},
        {a_gradient_that_is_a_view_is_copied_into_the_leafs_own_buffer, 0},
        {an_expanded_gradient_goes_through_a_product_like_a_dense_one, 0},
        {a_leaf_that_does_not_take_part_has_no_gradient, 0},
        {detach_and_no_grad_stop_the_gradient, 0},
        {gradients_add_up_until_zero_grad_and_the_buffer_stays, 0},
        {the_gradient_buffer_dies_with_its_leaf, 0},
        {a_leaf_frozen_after_forward_gets_nothing_and_disturbs_nobody, 0},
        {NULL, 0},
    };
    return harness_main("autograd", tests);
}
