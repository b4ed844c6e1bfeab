// test_graph.c -- the lifetime of graphs, several graphs at once, and gradients of inner results:
// results that retain theirs, slices that share one. test_backward.c tests a single walk.
#include <stdlib.h>

#include "tests/autograd/leaves.h"
#include "tests/helpers/expect.h"

// ---- lifetime ----------------------------------------------------------------------------------
// A hundred thousand forwards without backward and without no_grad leave nothing behind.
START_TEST(forwards_without_backward_leave_nothing_behind) {
    enum { FORWARDS = 100000 };
    Tensor *w = leaf_new(SHAPE(100), 0.01f), *running = NULL;
    int64_t live = expect_live_bytes();
    for (int i = 0; i < FORWARDS; i++) {
        Scope *scope = scope_open();
        Tensor *y = tensor_mul(tensor_exp(tensor_mul(w, w)), w);
        ck_assert_int_eq(autograd_node_count(), 3);
        tensor_free(running);
        running = tensor_keep(tensor_detach(y)); // like a running mean
        scope_close(scope);
        ck_assert_int_eq(autograd_node_count(), 0);
        ck_assert_int_eq(autograd_saved_bytes(), 0);
        ck_assert_int_eq(expect_live_bytes(), live + 400);
    }
    tensor_free(running);
    tensor_free(w);
}
END_TEST

// A result is held by its readers: a chain's graph is as long as the chain, and freeing it uses no
// stack.
START_TEST(a_graph_deeper_than_the_stack_goes_with_its_result) {
    enum { LINKS = 200000 };
    Tensor *w = leaf_new(SHAPE(1), 1.0f);
    int64_t live = expect_live_bytes();
    for (int walked = 0; walked < 2; walked++) {
        Tensor *h = w;
        for (int i = 0; i < LINKS; i++) {
            Scope *scope = scope_open();
            Tensor *next = tensor_keep(tensor_mul_scalar(h, 1.0f));
            scope_close(scope);
            if (h != w) tensor_free(h);
            h = next;
        }
        ck_assert_int_eq(autograd_node_count(), LINKS);
        if (walked) ck_assert_int_eq(autograd_backward(h), STATUS_OK);
        tensor_free(h);
        ck_assert_int_eq(autograd_node_count(), 0);
    }
    expect_values(tensor_grad(w), 1);
    tensor_free(w);
    ck_assert_int_eq(expect_live_bytes(), live - 4);
}
END_TEST

// In an op with several results each holds the graph, whichever is freed first.
START_TEST(any_result_of_an_op_holds_its_graph) {
    Tensor *w = tensor_from_floats_new(SHAPE(2, 2), (float[]){1, 4, 3, 2});
    tensor_requires_grad(w, true);
    for (int i = 0; i < 100; i++) {
        Scope *scope = scope_open();
        Tensor *norm =
            tensor_layer_norm(w, SHAPE(2), NULL, NULL, 1e-5f); // three results, two of them hidden
        Tensor *loss = scope_close_with(scope, total(norm));
        ck_assert_int_eq(autograd_node_count(), 2);
        if (i % 2) ck_assert_int_eq(autograd_backward(loss), STATUS_OK);
        tensor_free(loss);
        ck_assert_int_eq(autograd_node_count(), 0);
    }
    tensor_free(w);
}
END_TEST

// Random steps: ops on existing tensors, and freeing some. At the end the rest is walked.
START_TEST(random_graphs_leave_nothing_behind) {
    enum { MOST = 24, STEPS = 400 };
    RandomState random = {.seed = 4711 + (uint64_t)_i};
    Tensor *leaf = leaf_new(SHAPE(6), 0.5f), *held[MOST];
    int64_t live = expect_live_bytes();
    int n = 0;
    for (int step = 0; step < STEPS; step++) {
        uint32_t bits = random_next(&random);
        if (n == MOST || (n > 0 && bits % 5 == 0)) {
            int at = (int)(bits / 8 % (uint32_t)n);
            tensor_free(held[at]);
            held[at] = held[--n];
            continue;
        }
        Tensor *a = n > 0 && bits % 3 ? held[bits / 16 % (uint32_t)n] : leaf;
        Tensor *b = n > 0 && bits % 2 ? held[bits / 512 % (uint32_t)n] : leaf;
        Scope *scope = scope_open();
        Tensor *made[] = {tensor_add(a, b),
                          tensor_mul(a, b),
                          tensor_tanh(a),
                          tensor_detach(a),
                          tensor_concat((Tensor *[]){tensor_slice(a, 0, 0, 3, 1),
                                                     tensor_slice(b, 0, 1, 6, 2)},
                                        2, 0),
                          tensor_sigmoid(tensor_sub(a, b))};
        held[n++] = scope_close_with(scope, made[bits / 4096 % 6]);
        if (bits % 29 != 0) continue;
        scope = scope_open();
        Status status = autograd_backward(total(tensor_tanh(held[n - 1])));
        ck_assert(status == STATUS_OK || status == STATUS_STATE); // partly walked before
        error_clear();
        scope_close(scope);
    }
    while (n > 0) tensor_free(held[--n]);
    ck_assert_int_eq(autograd_node_count(), 0);
    ck_assert_int_eq(autograd_saved_bytes(), 0);
    tensor_zero_grad(leaf);
    int64_t gradient = leaf->grad ? 24 : 0;
    ck_assert_int_eq(expect_live_bytes(), live + gradient);
    tensor_free(leaf);
}
END_TEST

// ---- several graphs ----------------------------------------------------------------------------
START_TEST(losses_of_different_graphs_do_not_know_each_other) {
    Tensor *v = leaf_new(SHAPE(2), 3.0f), *w = leaf_new(SHAPE(2), 5.0f);
    Scope *scope = scope_open();
    Tensor *first = total(tensor_mul(v, v)), *second = total(tensor_mul(w, w));
    Tensor *third = total(tensor_mul(v, w));
    ck_assert_int_eq(autograd_backward(second), STATUS_OK);
    ck_assert_int_eq(autograd_backward(first), STATUS_OK);
    expect_values(tensor_grad(v), 6, 6);
    expect_values(tensor_grad(w), 10, 10);
    ck_assert_int_eq(autograd_backward(third), STATUS_OK);
    expect_values(tensor_grad(v), 11, 11);
    expect_values(tensor_grad(w), 13, 13);
    ck_assert_int_eq(autograd_node_count(), 0);
    scope_close(scope);
    tensor_free(v);
    tensor_free(w);
}
END_TEST

START_TEST(a_part_that_was_walked_already_is_found_before_anything_changes) {
    Tensor *v = leaf_new(SHAPE(2), 3.0f), *w = leaf_new(SHAPE(2), 5.0f);
    Scope *scope = scope_open();
    Tensor *trunk = tensor_mul(v, v);
    Tensor *first = total(trunk), *second = total(tensor_mul(trunk, w));
    ck_assert_int_eq(autograd_backward(first), STATUS_OK);
    ck_assert_int_eq(autograd_backward(second), STATUS_STATE);
    expect_error(STATUS_STATE, "a part of this graph was freed by an earlier backward. HINT: run "
                               "forward again, or use autograd_backward_keep");
    ck_assert_ptr_null(tensor_grad(w));
    expect_values(tensor_grad(v), 6, 6);
    ck_assert_int_eq(autograd_backward(total(tensor_mul(trunk, w))), STATUS_STATE); // newer
    error_clear();
    trunk = tensor_mul(v, v);
    first = total(trunk), second = total(tensor_mul(trunk, w));
    ck_assert_int_eq(autograd_backward_keep(first), STATUS_OK);
    ck_assert_int_eq(autograd_backward(second), STATUS_OK);
    expect_values(tensor_grad(w), 9, 9);
    expect_values(tensor_grad(v), 12 + 30, 12 + 30);
    scope_close(scope);
    tensor_free(v);
    tensor_free(w);
}
END_TEST

START_TEST(a_graph_belongs_to_the_context_that_recorded_it) {
    Tensor *w = leaf_new(SHAPE(2), 5.0f);
    Scope *scope = scope_open();
    Tensor *y = tensor_mul(w, w), *loss = total(y);
    Context *other = context_new();
    context_push(other);
    ck_assert_int_eq(autograd_enable(), STATUS_OK);
    Scope *inner = scope_open();
    ck_assert(!tensor_wants_grad(tensor_exp(y))); // a constant in this block
    ck_assert_int_eq(autograd_backward(loss), STATUS_STATE);
    expect_error(STATUS_STATE, "recorded in another context");
    scope_close(inner);
    context_pop();
    context_free(other);
    ck_assert_int_eq(autograd_backward(loss), STATUS_OK);
    expect_values(tensor_grad(w), 10, 10);
    scope_close(scope);
    tensor_free(w);
}
END_TEST

// ---- gradients of results ----------------------------------------------------------------------
START_TEST(a_result_may_retain_its_gradient) {
    Tensor *w = leaf_new(SHAPE(2), 5.0f);
    Scope *scope = scope_open();
    Tensor *h = tensor_mul_scalar(w, 3.0f), *loss = total(tensor_mul(h, h));
    ck_assert_int_eq(tensor_retain_grad(h), STATUS_OK);
    ck_assert_int_eq(tensor_retain_grad(loss), STATUS_OK);
    ck_assert_ptr_null(tensor_grad(h)); // none yet, and no error
    ck_assert(!error_pending());
    ck_assert_int_eq(autograd_backward_keep(loss), STATUS_OK);
    expect_values(tensor_grad(h), 30, 30);
    expect_values(tensor_grad(loss), 1);
    expect_values(tensor_grad(w), 90, 90);
    ck_assert_int_eq(autograd_backward(loss), STATUS_OK); // adds up, as a leaf's gradient does
    expect_values(tensor_grad(h), 60, 60);
    tensor_zero_grad(h);
    ck_assert_ptr_null(tensor_grad(h));
    scope_close(scope);
    tensor_free(w);
}
END_TEST

START_TEST(a_gradient_that_is_not_kept_is_an_error_and_not_nothing) {
    Tensor *w = leaf_new(SHAPE(2), 5.0f), *plain = tensor_full_new(SHAPE(2), 1.0f);
    Scope *scope = scope_open();
    Tensor *h = tensor_mul_scalar(w, 3.0f);
    ck_assert_int_eq(autograd_backward(total(h)), STATUS_OK);
    ck_assert_ptr_null(tensor_grad(h));
    expect_error(STATUS_STATE, "whose gradient is not kept. HINT: tensor_retain_grad before");
    ck_assert_int_eq(tensor_retain_grad(tensor_detach(h)), STATUS_STATE);
    expect_error(STATUS_STATE, "no gradient will come here");
    ck_assert_int_eq(tensor_retain_grad(plain), STATUS_STATE);
    error_clear();
    ck_assert_int_eq(tensor_retain_grad(NULL), STATUS_INVALID_ARGUMENT);
    error_clear();
    ck_assert_int_eq(tensor_retain_grad(w), STATUS_OK); // a leaf retains its own anyway
    ck_assert_ptr_null(tensor_grad(plain));             // it wants none: no error
    ck_assert_ptr_null(tensor_grad(NULL));
    ck_assert(!error_pending());
    ck_assert(tensor_wants_grad(w) && !tensor_wants_grad(h)); // h was walked already
    ck_assert(!tensor_wants_grad(plain) && !tensor_wants_grad(NULL));
    scope_close(scope);
    tensor_free(w);
    tensor_free(plain);
}
END_TEST

// Backward writes to a leaf's gradient while it runs.
START_TEST(a_leaf_s_own_gradient_may_start_a_walk_and_is_no_operand_of_it) {
    Tensor *w = leaf_new(SHAPE(2), 3.0f);
    Scope *scope = scope_open();
    ck_assert_int_eq(autograd_backward(total(tensor_mul_scalar(w, 3.0f))), STATUS_OK);
    Tensor *grad = tensor_grad(w); // 3
    ck_assert_int_eq(autograd_backward_from(tensor_add(w, w), grad), STATUS_OK);
    expect_values(grad, 9, 9); // 3 + 2 * 3
    tensor_zero_grad(w);
    ck_assert_int_eq(autograd_backward_from(tensor_mul_scalar(w, 2.0f), grad), STATUS_OK);
    expect_values(tensor_grad(w), 18, 18);
    Tensor *loss = total(tensor_add(tensor_mul(w, grad), tensor_mul(w, grad)));
    ck_assert_int_eq(autograd_backward(loss), STATUS_STATE); // the first product writes into grad
    expect_error(STATUS_STATE, "was written in place after it was saved");
    scope_close(scope);
    tensor_free(w);
}
END_TEST

// Indices have no gradient: the scores' graph may be freed, and values picked by them have a graph
// only if the picked tensor has one.
START_TEST(whole_numbers_lead_to_no_graph) {
    Tensor *scores = leaf_from_floats_new(SHAPE(3), (float[]){1, 4, 3}), *indices;
    Tensor *experts = leaf_new(SHAPE(3, 2), 5.0f), *frozen = tensor_full_new(SHAPE(3, 2), 7.0f);
    Scope *scope = scope_open();
    Tensor *best = tensor_topk(scores, 2, 0, true, &indices);
    Tensor *picked = tensor_embedding(tensor_reshape(indices, SHAPE(1, 2)), experts);
    ck_assert(tensor_wants_grad(best) && !tensor_wants_grad(indices));
    ck_assert(!tensor_wants_grad(tensor_embedding(indices, frozen)));
    ck_assert_int_eq(autograd_backward(total(best)), STATUS_OK);
    ck_assert_int_eq(autograd_backward(total(picked)), STATUS_OK);
    expect_values(tensor_grad(scores), 0, 1, 1);
    expect_values(tensor_grad(experts), 0, 0, 1, 1, 1, 1);
    tensor_topk(scores, 1, 0, true, &indices);
    ck_assert_int_eq(autograd_backward(indices), STATUS_DTYPE);
    expect_error(STATUS_DTYPE, "the loss is int64");
    ck_assert_int_eq(tensor_retain_grad(indices), STATUS_STATE);
    error_clear();
    scope_close(scope);
    ck_assert_int_eq(autograd_node_count(), 0);
    tensor_free(scores);
    tensor_free(experts);
    tensor_free(frozen);
}
END_TEST

START_TEST(a_slice_of_nothing_takes_no_time) {
    Tensor *w = leaf_new(SHAPE(1000000, 1000000, 0), 1.0f);
    Scope *scope = scope_open();
    Tensor *loss = tensor_add(total(tensor_slice(w, 1, 0, 999999, 1)),
                              total(tensor_slice(w, 0, 1, 1000000, 2)));
    ck_assert_int_eq(autograd_backward(loss), STATUS_OK);
    ck_assert_int_eq(tensor_grad(w)->numel, 0);
    scope_close(scope);
    tensor_free(w);
}
END_TEST

START_TEST(no_grad_ends_with_the_scope_it_began_in) {
    Tensor *w = leaf_new(SHAPE(2), 5.0f);
    Scope *outer = scope_open(), *inner = scope_open();
    no_grad_begin();
    ck_assert(!tensor_wants_grad(tensor_exp(w)));
    scope_open(); // left open, as by an early return
    no_grad_begin();
    scope_close(inner);
    ck_assert(tensor_wants_grad(tensor_exp(w)));
    no_grad_begin();
    scope_close(scope_open());
    ck_assert(!tensor_wants_grad(tensor_exp(w))); // ending one that opened later ends nothing
    no_grad_end();
    ck_assert(tensor_wants_grad(tensor_exp(w)));
    no_grad_begin();
    inner = scope_open();
    no_grad_end();
    scope_close(inner);
    ck_assert(tensor_wants_grad(tensor_exp(w))); // an ended one does not begin again
    scope_close(outer);
    tensor_free(w);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {forwards_without_backward_leave_nothing_behind, 0},
        {a_graph_deeper_than_the_stack_goes_with_its_result, 0},
        {any_result_of_an_op_holds_its_graph, 0},
        {random_graphs_leave_nothing_behind, 60},
        {losses_of_different_graphs_do_not_know_each_other, 0},
        {a_part_that_was_walked_already_is_found_before_anything_changes, 0},
        {a_graph_belongs_to_the_context_that_recorded_it, 0},
        {a_result_may_retain_its_gradient, 0},
        {a_gradient_that_is_not_kept_is_an_error_and_not_nothing, 0},
        {a_leaf_s_own_gradient_may_start_a_walk_and_is_no_operand_of_it, 0},
        {whole_numbers_lead_to_no_graph, 0},
        {a_slice_of_nothing_takes_no_time, 0},
        {no_grad_ends_with_the_scope_it_began_in, 0},
        {NULL, 0},
    };
    return harness_main("graph", tests);
}
