// test_lifetimes.c -- ownership and lifetimes where two owners meet: a leaf freed before its
// gradient comes, two tapes or two threads on the same tensors, a dry run's own leaves.
#include <pthread.h>

#include "tensor/memory.h"
#include "tensor/pool.h"
#include "tensor/shadow.h"
#include "tests/autograd/leaves.h"
#include "tests/helpers/expect.h"

// ---- leaves -----------------------------------------------------------------------------------
START_TEST(a_leaf_freed_before_backward_gets_no_gradient_that_nobody_could_free) {
    int64_t live = expect_live_bytes();
    Tensor *x = leaf_new(SHAPE(1000), 1.0f);
    Scope *scope = scope_open();
    Tensor *loss = total(tensor_mul_scalar(x, 2.0f)); // does not save x
    tensor_free(x);
    ck_assert_int_eq(autograd_backward(loss), STATUS_OK);
    scope_close(scope);
    ck_assert_int_eq(expect_live_bytes(), live);
}
END_TEST

START_TEST(a_leaf_that_found_no_memory_for_a_tape_is_no_leaf) {
    Tensor *x = tensor_zeros_new(SHAPE(2));
    memory_fail_at(1);
    ck_assert_int_eq(tensor_requires_grad(x, true), STATUS_OUT_OF_MEMORY);
    memory_fail_at(0);
    error_clear();
    ck_assert_int_eq(x->flags & TENSOR_LEAF_GRAD, 0);
    tensor_free(x);
}
END_TEST

START_TEST(an_output_may_be_its_own_starting_gradient) {
    Tensor *x = leaf_new(SHAPE(2), 3.0f);
    Scope *scope = scope_open();
    Tensor *y = tensor_mul_scalar(x, 2.0f); // saves neither tensor
    ck_assert_msg(autograd_backward_from(y, y) == STATUS_OK, "%s", error_message());
    expect_values(tensor_grad(x), 12, 12);
    ck_assert_msg(autograd_backward_from(tensor_mul_scalar(x, 2.0f), x) == STATUS_OK, "%s",
                  error_message());
    expect_values(tensor_grad(x), 18, 18);
    scope_close(scope);
    tensor_free(x);
}
END_TEST

static Status give_nothing(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    (void)saved, (void)grad_out, (void)grad_in;
    return STATUS_OK;
}

START_TEST(a_rule_that_writes_no_gradient_means_zero) {
    Op constant = op_relu;
    constant.backward = give_nothing;
    Tensor *x = leaf_new(SHAPE(4), 1.0f);
    Scope *scope = scope_open();
    autograd_backward(total(tensor_mul_scalar(x, 5.0f))); // leaves old values in the buffer
    tensor_zero_grad(x);
    ck_assert_int_eq(autograd_backward(total(OP_RUN(constant, NULL, x))), STATUS_OK);
    ck_assert_ptr_null(tensor_grad(x));
    ck_assert_int_eq(autograd_backward(
                         total(tensor_add(tensor_mul_scalar(x, 2.0f), OP_RUN(constant, NULL, x)))),
                     STATUS_OK);
    expect_values(tensor_grad(x), 2, 2, 2, 2);
    scope_close(scope);
    tensor_free(x);
}
END_TEST

START_TEST(nothing_is_written_over_what_the_tape_knows) {
    Tensor *x = tensor_full_new(SHAPE(2), 5.0f), *leaf = leaf_new(SHAPE(2), 1.0f), *slot = leaf;
    Scope *scope = scope_open();
    ck_assert_int_eq(OP_INTO(&slot, op_relu, NULL, x), STATUS_STATE);
    expect_error(STATUS_STATE, "relu of (2,): writes in place what needs a gradient");
    slot = tensor_exp(leaf);
    ck_assert_int_eq(OP_INTO(&slot, op_relu, NULL, x), STATUS_STATE);
    error_clear();
    expect_values(leaf, 1, 1);
    no_grad_begin();
    slot = leaf;
    ck_assert_int_eq(OP_INTO(&slot, op_relu, NULL, x), STATUS_OK);
    no_grad_end();
    expect_values(leaf, 5, 5);
    scope_close(scope);
    tensor_free(x);
    tensor_free(leaf);
}
END_TEST

// ---- two tapes --------------------------------------------------------------------------------
START_TEST(each_tape_counts_what_it_saves_whoever_saved_it_first) {
    Tensor *w = leaf_new(SHAPE(100), 1.0f);
    Scope *scope = scope_open();
    Tensor *h = tensor_detach(tensor_exp(tensor_detach(w)));
    Tensor *product = tensor_mul(w, h);
    ck_assert_int_eq(autograd_saved_bytes(), 400);
    Context *other = context_new();
    context_push(other);
    Scope *inner = scope_open();
    autograd_enable();
    tensor_mul(w, h);
    tensor_mul(w, h);
    ck_assert_int_eq(autograd_saved_bytes(), 400);
    context_pop();
    tensor_release(product); // saves it first, lets go first
    ck_assert_int_eq(autograd_saved_bytes(), 0);
    context_push(other);
    tensor_mul(w, h);
    ck_assert_int_eq(autograd_saved_bytes(), 400);
    scope_close(inner);
    ck_assert_int_eq(autograd_saved_bytes(), 0);
    ck_assert_int_eq(h->storage->saves, 0);
    context_pop();
    context_free(other);
    scope_close(scope);
    tensor_free(w);
}
END_TEST

static Context *shared;
static Tensor *leaf, *kept;

static void *record_there(void *argument) {
    context_push(shared);
    Scope *scope = scope_open();
    leaf = leaf_new(SHAPE(1), 1.0f);
    kept = tensor_keep(tensor_mul_scalar(leaf, 2.0f));
    scope_close(scope);
    context_pop();
    context_release_thread();
    return argument;
}

static void *walk_there(void *argument) {
    context_push(shared);
    ck_assert_int_eq(autograd_backward(kept), STATUS_OK);
    context_pop();
    context_release_thread();
    return argument;
}

START_TEST(a_graph_walked_by_another_thread_is_known_to_be_gone) {
    pthread_t thread;
    shared = context_new();
    pthread_create(&thread, NULL, record_there, NULL);
    pthread_join(thread, NULL);
    pthread_create(&thread, NULL, walk_there, NULL);
    pthread_join(thread, NULL);
    context_push(shared);
    ck_assert_int_eq(autograd_backward(kept), STATUS_STATE);
    expect_error(STATUS_STATE, "freed by an earlier backward");
    tensor_free(kept);
    tensor_free(leaf);
    context_pop();
    context_free(shared);
}
END_TEST

// ---- dry runs ---------------------------------------------------------------------------------
START_TEST(a_leaf_made_in_a_dry_run_takes_its_gradient_with_it) {
    Context *dry = shadow_context_new(device_cpu());
    context_push(dry);
    autograd_enable();
    for (int size = 2; size < 5; size++) { // reuses the handle, with another shape
        Scope *scope = scope_open();
        Tensor *x = tensor_new(SHAPE(size), DTYPE_FLOAT32);
        tensor_requires_grad(x, true);
        ck_assert_ptr_null(tensor_grad(x));
        ck_assert_msg(autograd_backward(total(x)) == STATUS_OK, "%s", error_message());
        ck_assert_int_eq(tensor_grad(x)->numel, size);
        scope_close(scope);
        tensor_free(x);
        ck_assert_int_eq(expect_live_bytes(), 0);
    }
    context_pop();
    context_free(dry);
}
END_TEST

START_TEST(a_dry_run_writes_no_values_but_takes_its_random_numbers) {
    Tensor *w = tensor_full_new(SHAPE(2), 1.0f);
    uint32_t version = w->storage->version;
    Context *dry = shadow_context_new(device_cpu());
    context_push(dry);
    ck_assert_int_eq(tensor_write_floats(w, (float[]){5, 6}), STATUS_OK);
    ck_assert_int_eq(tensor_fill_uniform(w, 2.0f, 3.0f), STATUS_OK);
    uint64_t offset = dry->random.offset;
    ck_assert_int_eq(tensor_fill_normal(w, 0.0f, 1.0f), STATUS_OK);
    ck_assert_uint_gt(dry->random.offset, offset);
    context_pop();
    context_free(dry);
    expect_values(w, 1, 1);
    ck_assert_uint_eq(w->storage->version, version);
    tensor_free(w);
}
END_TEST

// ---- scopes and threads -----------------------------------------------------------------------
START_TEST(closing_a_scope_again_with_a_result_changes_nothing) {
    Tensor *x = tensor_zeros_new(SHAPE(2));
    Scope *outer = scope_open(), *inner = scope_open();
    Tensor *y = scope_close_with(inner, tensor_relu(x));
    ck_assert_ptr_eq(y->scope, outer);
    ck_assert_ptr_eq(scope_close_with(inner, y), y);
    ck_assert_ptr_eq(y->scope, outer);
    scope_close(outer);
    tensor_free(x);
}
END_TEST

START_TEST(an_op_without_memory_for_threads_does_its_work_alone) {
    Context *context = context_new();
    context_push(context);
    context_set_threads(2);
    Scope *scope = scope_open();
    Tensor *x = tensor_full_new(SHAPE(1 << 18), 3.0f); // large enough to be split
    pool_free(context->pool);
    context->pool = NULL;
    int without = 0;
    for (uint64_t n = 1; !context->pool; n++) {
        memory_fail_at(n);
        Tensor *y = tensor_relu(x);
        memory_fail_at(0);
        ck_assert_int_eq(y == NULL, error_pending());
        error_clear();
        if (!y || context->pool) continue;
        ck_assert(tensor_data(y)[(1 << 18) - 1] == 3.0f);
        without++;
    }
    ck_assert_int_ge(without, 1);
    scope_close(scope);
    tensor_free(x);
    context_pop();
    context_free(context);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_leaf_freed_before_backward_gets_no_gradient_that_nobody_could_free, 0},
        {a_leaf_that_found_no_memory_for_a_tape_is_no_leaf, 0},
        {an_output_may_be_its_own_starting_gradient, 0},
        {a_rule_that_writes_no_gradient_means_zero, 0},
        {nothing_is_written_over_what_the_tape_knows, 0},
        {each_tape_counts_what_it_saves_whoever_saved_it_first, 0},
        {a_graph_walked_by_another_thread_is_known_to_be_gone, 0},
        {a_leaf_made_in_a_dry_run_takes_its_gradient_with_it, 0},
        {a_dry_run_writes_no_values_but_takes_its_random_numbers, 0},
        {closing_a_scope_again_with_a_result_changes_nothing, 0},
        {an_op_without_memory_for_threads_does_its_work_alone, 0},
        {NULL, 0},
    };
    return harness_main("lifetimes", tests);
}
