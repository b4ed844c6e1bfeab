// test_tape.c -- the tensors that the tape saves for backward, their bytes and lifetimes, and the
// error of an op that forgot to declare what its backward reads. test_autograd.c tests gradients'
// values.
#include "tensor/memory.h"
#include "tests/autograd/leaves.h"
#include "tests/helpers/expect.h"

// ---- an op that forgets to save ---------------------------------------------------------------
static Status backward_reading_its_input(const OpCall *saved, Tensor *grad_out[],
                                         Tensor *grad_in[]) {
    return OP_INTO(&grad_in[0], op_mul, NULL, grad_out[0], saved->in[0]);
}
static Status backward_reading_its_output(const OpCall *saved, Tensor *grad_out[],
                                          Tensor *grad_in[]) {
    return OP_INTO(&grad_in[0], op_mul, NULL, grad_out[0], saved->out[0]);
}
static Status backward_of_a_wrong_shape(const OpCall *saved, Tensor *grad_out[],
                                        Tensor *grad_in[]) {
    (void)saved;
    grad_in[0] = tensor_reshape(grad_out[0], SHAPE(1, -1));
    return grad_in[0] ? STATUS_OK : error_status();
}
static unsigned its_input(const OpCall *call) {
    (void)call;
    return SAVE_IN(0);
}

// An op like exp, whose kernel it runs, except for `backward` and `saves`.
static Op op_like_exp(Status (*backward)(const OpCall *, Tensor *[], Tensor *[]),
                      unsigned (*saves)(const OpCall *)) {
    Op op = op_exp;
    op.name = "forgetful";
    op.backward = backward;
    op.saves = saves;
    return op;
}

START_TEST(reading_in_backward_what_was_not_saved_is_an_error_though_it_is_alive) {
    const Op ops[2] = {op_like_exp(backward_reading_its_input, NULL),
                       op_like_exp(backward_reading_its_output, its_input)};
    Tensor *w = leaf_new(SHAPE(2), 0.0f);
    Scope *scope = scope_open();
    for (int i = 0; i < 2; i++) {
        Tensor *y = OP_RUN(ops[i], NULL, w);
        ck_assert_int_eq(autograd_backward(total(y)), STATUS_STATE);
        expect_error(STATUS_STATE, "which was not saved. HINT: declare it in the op's `saves`");
        expect_values(tensor_exp(y), (float)2.718281828, (float)2.718281828); // readable again
    }
    const Op careful = op_like_exp(backward_reading_its_input, its_input);
    ck_assert_int_eq(autograd_backward(total(OP_RUN(careful, NULL, w))), STATUS_OK);
    scope_close(scope);
    tensor_free(w);
}
END_TEST

START_TEST(a_rule_that_gives_a_gradient_of_another_shape_is_named) {
    const Op op = op_like_exp(backward_of_a_wrong_shape, NULL);
    Tensor *w = leaf_new(SHAPE(2), 0.0f);
    Scope *scope = scope_open();
    ck_assert_int_eq(autograd_backward(total(OP_RUN(op, NULL, w))), STATUS_SHAPE);
    expect_error(STATUS_SHAPE,
                 "backward of forgetful: the gradient of input 0 has shape (1, 2), not (2,)");
    scope_close(scope);
    tensor_free(w);
}
END_TEST

static Status backward_to_all(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    for (int i = 0; i < saved->n_in; i++)
        if (OP_INTO(&grad_in[i], op_mul, NULL, grad_out[0], saved->in[i])) return error_status();
    return STATUS_OK;
}
static unsigned all_inputs(const OpCall *call) { return (1u << call->n_in) - 1; }

START_TEST(an_op_of_many_inputs_gives_each_its_gradient) {
    enum { MANY = 11 };
    Op op = op_like_exp(backward_to_all, all_inputs);
    op.n_inputs = MANY;
    Tensor *in[MANY];
    for (int i = 0; i < MANY; i++) in[i] = leaf_new(SHAPE(2), (float)i);
    Scope *scope = scope_open();
    Tensor *loss = total(op_run(&op, NULL, in, MANY)); // exp(0) is 1
    ck_assert_msg(autograd_backward(loss) == STATUS_OK, "%s", error_message());
    for (int i = 0; i < MANY; i++) expect_values(tensor_grad(in[i]), (float)i, (float)i);
    loss = total(op_run(&op, NULL, in, MANY));
    no_grad_begin();
    tensor_fill(in[9], 0.0f);
    no_grad_end();
    ck_assert_int_eq(autograd_backward(loss), STATUS_STATE); // even a late input is watched
    expect_error(STATUS_STATE, "backward of forgetful: its input 9 was written in place");
    scope_close(scope);
    for (int i = 0; i < MANY; i++) tensor_free(in[i]);
}
END_TEST

START_TEST(an_op_without_a_backward_is_not_recorded) {
    const Op op = op_like_exp(NULL, NULL);
    Tensor *w = leaf_new(SHAPE(2), 0.0f);
    Scope *scope = scope_open();
    Tensor *loss = total(OP_RUN(op, NULL, w));
    ck_assert_int_eq(autograd_node_count(), 0);
    ck_assert_int_eq(autograd_backward(loss), STATUS_STATE);
    error_clear();
    scope_close(scope);
    tensor_free(w);
}
END_TEST

// ---- saved tensors ----------------------------------------------------------------------------
START_TEST(saved_bytes_count_each_activation_once_and_leaves_not_at_all) {
    Tensor *w = leaf_new(SHAPE(100), 1.0f);
    Scope *scope = scope_open();
    Tensor *h = tensor_exp(w); // saves its output: 400 bytes
    ck_assert_int_eq(autograd_saved_bytes(), 400);
    Tensor *y = tensor_mul(h, h); // saves h, twice, which is saved already
    ck_assert_int_eq(autograd_saved_bytes(), 400);
    Tensor *z = tensor_mul(y, w); // saves y; w is no activation
    ck_assert_int_eq(autograd_saved_bytes(), 800);
    tensor_reshape(z, SHAPE(10, 10)); // a view saves nothing
    tensor_add(z, z);
    ck_assert_int_eq(autograd_saved_bytes(), 800);
    scope_close(scope);
    ck_assert_int_eq(autograd_saved_bytes(), 0);
    tensor_free(w);
}
END_TEST

START_TEST(what_backward_needs_outlives_its_scope_and_nothing_else_does) {
    Tensor *w = leaf_new(SHAPE(100), 1.0f);
    int64_t live = expect_live_bytes();
    Scope *outer = scope_open(), *inner = scope_open();
    Tensor *kept = tensor_exp(w), *unneeded = tensor_add(kept, w);
    Tensor *loss = scope_close_with(inner, total(unneeded));
    ck_assert_int_eq(expect_live_bytes(), live + 400 + 4); // exp's output, the loss
    ck_assert_int_eq(autograd_backward(loss), STATUS_OK);
    ck_assert_int_eq(expect_live_bytes(), live + 4 + 400); // the loss, and now w's gradient
    scope_close(outer);
    tensor_free(w);
    ck_assert_int_eq(expect_live_bytes(), live - 400);
}
END_TEST

// A chain of n saved activations: backward needs two gradients at a time besides them, and reaches
// its own peak at once, because each node's buffers are freed as soon as it is done.
START_TEST(activations_die_during_backward_as_soon_as_they_can) {
    enum { LINKS = 30, BYTES = 4000 };
    Tensor *w = leaf_new(SHAPE(BYTES / 4), 0.01f);
    int64_t baseline = expect_live_bytes();
    for (int step = 0; step < 3; step++) {
        Scope *scope = scope_open();
        Tensor *h = w;
        for (int i = 0; i < LINKS; i++) {
            Tensor *next = tensor_sigmoid(h);
            if (h != w) tensor_release(h);
            h = next;
        }
        Tensor *loss = total(h);
        tensor_release(h);
        int64_t forward = expect_live_bytes();
        ck_assert_int_eq(forward, baseline + LINKS * BYTES + 4);
        ck_assert_int_eq(autograd_saved_bytes(), LINKS * BYTES);
        ledger_reset_peak(context_ledger());
        tensor_zero_grad(w);
        autograd_backward(loss);
        ck_assert_int_le(context_ledger()->peak.total, forward + 2 * BYTES + 8);
        ck_assert_int_eq(autograd_saved_bytes(), 0);
        ck_assert_int_eq(autograd_node_count(), 0);
        scope_close(scope);
        if (step == 0) baseline += BYTES; // w's gradient, allocated once
        ck_assert_int_eq(expect_live_bytes(), baseline);
    }
    tensor_free(w);
}
END_TEST

START_TEST(a_kept_graph_keeps_its_buffers_as_long_as_its_results_live) {
    Tensor *w = leaf_new(SHAPE(100), 0.5f);
    Scope *scope = scope_open();
    Tensor *loss = total(tensor_exp(tensor_exp(w)));
    int64_t saved = autograd_saved_bytes();
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(autograd_backward_keep(loss), STATUS_OK);
        ck_assert_int_eq(autograd_saved_bytes(), saved);
    }
    scope_close_with(scope, loss);
    ck_assert_int_eq(autograd_saved_bytes(), saved);
    tensor_free(loss);
    ck_assert_int_eq(autograd_saved_bytes(), 0);
    tensor_free(w);
}
END_TEST

START_TEST(a_backward_that_failed_leaves_no_memory_behind) {
    const Op op = op_like_exp(backward_reading_its_input, NULL);
    Tensor *w = leaf_new(SHAPE(100), 0.0f);
    int64_t live = expect_live_bytes();
    for (int keep = 0; keep < 2; keep++) {
        Scope *scope = scope_open();
        Tensor *loss = total(tensor_exp(OP_RUN(op, NULL, tensor_exp(w))));
        Status status = keep ? autograd_backward_keep(loss) : autograd_backward(loss);
        ck_assert_int_eq(status, STATUS_STATE);
        error_clear();
        scope_close(scope);
        ck_assert_int_eq(expect_live_bytes(), live);
    }
    tensor_free(w);
}
END_TEST

START_TEST(a_leaf_may_die_before_backward) {
    Tensor *w = leaf_new(SHAPE(2), 3.0f), *x = leaf_new(SHAPE(2), 5.0f);
    int64_t live = expect_live_bytes();
    Scope *scope = scope_open();
    Tensor *loss = total(tensor_mul(tensor_mul(w, x), w));
    tensor_free(x); // the tape still needs its values
    ck_assert_int_eq(autograd_backward(loss), STATUS_OK);
    expect_values(tensor_grad(w), 30, 30);
    scope_close(scope);
    tensor_free(w);
    ck_assert_int_le(expect_live_bytes(), live - 16);
}
END_TEST

// After a first step the tape has its nodes, and the cache its blocks: nothing more is allocated.
START_TEST(a_steady_backward_makes_no_system_call) {
    if (context_ledger()->raw) test_skip("RIDGEPOINT_ALLOC=raw: there is no cache");
    Tensor *w = leaf_new(SHAPE(64, 64), 0.1f);
    uint64_t calls = 0;
    for (int step = 0; step < 5; step++) {
        if (step == 2) calls = memory_system_calls();
        Scope *scope = scope_open();
        Tensor *h = w;
        for (int i = 0; i < 50; i++) h = tensor_mul_scalar(tensor_matmul(h, w), 0.1f);
        tensor_zero_grad(w);
        autograd_backward(total(h));
        scope_close(scope);
    }
    ck_assert_uint_eq(memory_system_calls(), calls);
    tensor_free(w);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {reading_in_backward_what_was_not_saved_is_an_error_though_it_is_alive, 0},
        {a_rule_that_gives_a_gradient_of_another_shape_is_named, 0},
        {an_op_of_many_inputs_gives_each_its_gradient, 0},
        {an_op_without_a_backward_is_not_recorded, 0},
        {saved_bytes_count_each_activation_once_and_leaves_not_at_all, 0},
        {what_backward_needs_outlives_its_scope_and_nothing_else_does, 0},
        {activations_die_during_backward_as_soon_as_they_can, 0},
        {a_kept_graph_keeps_its_buffers_as_long_as_its_results_live, 0},
        {a_backward_that_failed_leaves_no_memory_behind, 0},
        {a_leaf_may_die_before_backward, 0},
        {a_steady_backward_makes_no_system_call, 0},
        {NULL, 0},
    };
    return harness_main("tape", tests);
}
