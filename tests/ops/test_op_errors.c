// test_op_errors.c -- calls that ops refuse: every refusal has its status, names the op and the
// shapes, allocates nothing and leaves the engine usable.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "autograd/autograd.h"
#include "tests/helpers/harness.h"
#include "tests/ops/op_refusals.h"

// Fails unless `status` is pending with a message that contains `mention` and a hint; clears it.
static void assert_refused(const char *what, Status status, const char *mention) {
    ck_assert_msg(error_status() == status, "%s: %s instead of %s: %s", what,
                  status_name(error_status()), status_name(status), error_message());
    ck_assert_msg(strstr(error_message(), mention) != NULL, "%s: \"%s\" does not mention \"%s\"",
                  what, error_message(), mention);
    ck_assert_msg(strstr(error_message(), ". HINT: ") != NULL, "%s: no hint in \"%s\"", what,
                  error_message());
    error_clear();
}

// ---- wrong shapes, types and values -----------------------------------------------------------
enum { REFUSAL_COUNT = sizeof refusals / sizeof *refusals };

START_TEST(bad_inputs_are_refused_by_name) {
    const struct Refusal *refusal = &refusals[_i];
    OpCase self = op_case_of(refusal->op, refusal->inputs, refusal->arguments);
    Tensor *leaves[OP_CASE_MAX_INPUTS];
    op_case_leaves_new(&self, leaves);
    ck_assert_msg(!error_pending(), "%s", error_message());
    Scope *scope = scope_open();
    int64_t live = context_current()->ledger->live.total;
    Tensor *result = op_case_run(&self, leaves);
    ck_assert_msg(result == NULL, "%s was accepted", self.name);
    ck_assert_int_eq(context_current()->ledger->live.total, live);
    size_t name_length = strcspn(refusal->op, "_"); // adam_step is the op adamw_step
    ck_assert_msg(strncmp(error_message(), refusal->op, name_length) == 0,
                  "\"%s\" does not begin with the op", error_message());
    assert_refused(self.name, refusal->status, refusal->mention);
    Tensor *fine = tensor_full_new(SHAPE(2), 2.0f);
    ck_assert_msg(tensor_relu(fine) != NULL, "after %s: %s", self.name, error_message());
    tensor_free(fine);
    scope_close(scope);
    op_case_leaves_free(&self, leaves);
}
END_TEST

START_TEST(negative_labels_are_refused) {
    Scope *scope = scope_open();
    Tensor *logits = tensor_zeros_new(SHAPE(2, 3));
    Tensor *labels = tensor_from_labels_new(SHAPE(2), (int64_t[]){0, -1});
    ck_assert_ptr_null(tensor_cross_entropy(logits, labels));
    assert_refused("cross_entropy", STATUS_INVALID_ARGUMENT, "label -1");
    tensor_free(logits);
    tensor_free(labels);
    scope_close(scope);
}
END_TEST

START_TEST(bounds_in_the_wrong_order_are_refused) {
    Scope *scope = scope_open();
    Tensor *x = tensor_zeros_new(SHAPE(3));
    ck_assert_ptr_null(tensor_clamp(x, 1.0f, 0.5f));
    assert_refused("clamp", STATUS_INVALID_ARGUMENT, "between 1 and 0.5");
    ck_assert_ptr_null(tensor_clamp(x, 0.0f, NAN));
    assert_refused("clamp", STATUS_INVALID_ARGUMENT, "nan");
    ck_assert_ptr_nonnull(tensor_clamp(x, -INFINITY, INFINITY));
    tensor_free(x);
    scope_close(scope);
}
END_TEST

START_TEST(dimensions_that_are_not_there_are_refused) {
    Scope *scope = scope_open();
    Tensor *x = tensor_zeros_new(SHAPE(3));
    ck_assert_ptr_null(tensor_sum_dims(x, NULL, 1, false));
    assert_refused("sum_dims", STATUS_INVALID_ARGUMENT, "NULL. HINT");
    ck_assert_ptr_nonnull(tensor_mean_dims(x, NULL, 0, false));
    tensor_free(x);
    scope_close(scope);
}
END_TEST

START_TEST(views_refuse_what_does_not_fit) {
    Scope *scope = scope_open();
    Tensor *x = tensor_zeros_new(SHAPE(2, 3));
    ck_assert_ptr_null(tensor_reshape(x, SHAPE(4, 2)));
    assert_refused("reshape", STATUS_SHAPE, "(2, 3)");
    ck_assert_ptr_null(tensor_reshape(x, SHAPE(-1, -1)));
    assert_refused("reshape to two unknowns", STATUS_SHAPE, "reshape");
    ck_assert_ptr_null(tensor_reshape(x, SHAPE(4, -1)));
    assert_refused("reshape to a fraction", STATUS_SHAPE, "(2, 3)");
    ck_assert_ptr_null(tensor_permute(x, (int[]){0, 0}));
    assert_refused("permute", STATUS_SHAPE, "permute");
    ck_assert_ptr_null(tensor_transpose(x, 0, 2));
    assert_refused("transpose", STATUS_SHAPE, "transpose");
    ck_assert_ptr_null(tensor_expand(x, SHAPE(2, 4)));
    assert_refused("expand", STATUS_SHAPE, "(2, 3)");
    ck_assert_ptr_null(tensor_expand(x, SHAPE(3)));
    assert_refused("expand to fewer dims", STATUS_SHAPE, "(3");
    ck_assert_ptr_null(tensor_expand(tensor_slice(x, 0, 0, 1, 1), SHAPE(-4, 3)));
    assert_refused("expand to a negative size", STATUS_SHAPE, "expand");
    const int64_t ranges[][3] = {{2, 1, 1}, {-4, 2, 1}, {0, 4, 1}, {0, 3, 0}};
    for (int i = 0; i < 4; i++) {
        ck_assert_ptr_null(tensor_slice(x, 1, ranges[i][0], ranges[i][1], ranges[i][2]));
        assert_refused("slice", STATUS_SHAPE, "(2, 3)");
    }
    ck_assert_ptr_null(tensor_slice(x, 2, INT64_MIN, SLICE_END, 1));
    assert_refused("slice of no dimension", STATUS_SHAPE, "dimension 2");
    tensor_free(x);
    scope_close(scope);
}
END_TEST

// ---- absent inputs, other devices, changes that come too late ---------------------------------
static const char *const every_op[] = {"add",
                                       "sub",
                                       "mul",
                                       "div",
                                       "add_scalar",
                                       "sub_scalar",
                                       "mul_scalar",
                                       "div_scalar",
                                       "exp",
                                       "log",
                                       "sqrt",
                                       "relu",
                                       "sigmoid",
                                       "tanh",
                                       "gelu",
                                       "matmul",
                                       "linear",
                                       "sum",
                                       "mean",
                                       "max",
                                       "argmax",
                                       "softmax",
                                       "log_softmax",
                                       "cross_entropy",
                                       "mse",
                                       "contiguous",
                                       "detach",
                                       "flatten",
                                       "transpose",
                                       "dropout",
                                       "fill",
                                       "assign",
                                       "accumulate",
                                       "neg",
                                       "abs",
                                       "pow",
                                       "clamp",
                                       "maximum",
                                       "leaky_relu",
                                       "silu",
                                       "binary_cross_entropy",
                                       "concat",
                                       "stack",
                                       "gather",
                                       "clip_norm",
                                       "conv2d",
                                       "max_pool2d",
                                       "avg_pool2d",
                                       "adaptive_avg_pool2d",
                                       "layer_norm",
                                       "embedding",
                                       "less",
                                       "less_equal",
                                       "equal",
                                       "not_equal",
                                       "greater",
                                       "greater_equal",
                                       "where",
                                       "masked_fill",
                                       "triangle",
                                       "min",
                                       "argmin",
                                       "sum_dims",
                                       "mean_dims",
                                       "var",
                                       "std",
                                       "cumsum",
                                       "l1",
                                       "huber",
                                       "smooth_l1",
                                       "kl_divergence",
                                       "rms_norm",
                                       "group_norm",
                                       "instance_norm",
                                       "batch_norm",
                                       "batch_norm_eval",
                                       "attention",
                                       "rotary"};
enum { EVERY_OP_COUNT = sizeof every_op / sizeof *every_op };
static const OpArguments valid_arguments = {.dim = DIM_ALL,
                                            .activation = &op_gelu,
                                            .conv = {1, 1, 0, 0, 0, 0, 1, 1, 1},
                                            .pool = {.kernel_h = 1, .kernel_w = 1},
                                            .output = {1, 1}};

START_TEST(null_is_refused) {
    Scope *scope = scope_open();
    Tensor *in[3] = {NULL};
    ck_assert_ptr_null(op_function_by_name(every_op[_i])(in, 3, &valid_arguments));
    assert_refused(every_op[_i], STATUS_INVALID_ARGUMENT, "NULL");
    scope_close(scope);
}
END_TEST

START_TEST(null_as_second_input_is_refused) {
    const char *const names[] = {"add",        "div",           "matmul",
                                 "linear",     "cross_entropy", "mse",
                                 "accumulate", "maximum",       "binary_cross_entropy",
                                 "concat",     "stack",         "gather",
                                 "embedding",  "conv2d",        "less",
                                 "where",      "masked_fill",   "greater",
                                 "attention",  "rotary"};
    Scope *scope = scope_open();
    Tensor *in[3] = {tensor_zeros_new(SHAPE(2, 2)), NULL, NULL};
    ck_assert_ptr_null(op_function_by_name(names[_i])(in, 3, &valid_arguments));
    assert_refused(names[_i], STATUS_INVALID_ARGUMENT, "NULL");
    tensor_free(in[0]);
    scope_close(scope);
}
END_TEST

START_TEST(null_among_parameters_is_refused) {
    Tensor *state = tensor_zeros_new(SHAPE(1));
    Tensor *parameter = tensor_zeros_new(SHAPE(3));
    Tensor *inputs[] = {state, parameter, NULL};
    ck_assert_int_ne(tensor_sgd_step(inputs, 1, (SgdParams){0}), STATUS_OK);
    assert_refused("sgd_step", STATUS_INVALID_ARGUMENT, "NULL");
    inputs[0] = NULL;
    inputs[2] = parameter;
    ck_assert_int_ne(tensor_sgd_step(inputs, 1, (SgdParams){0}), STATUS_OK);
    assert_refused("sgd_step", STATUS_INVALID_ARGUMENT, "NULL");
    tensor_free(state);
    tensor_free(parameter);
}
END_TEST

START_TEST(the_first_error_survives_the_calls_after_it) {
    Scope *scope = scope_open();
    Tensor *in[3] = {tensor_zeros_new(SHAPE(2, 3)), NULL, NULL};
    ck_assert_ptr_null(tensor_matmul(in[0], in[0]));
    ck_assert_ptr_null(op_function_by_name(every_op[_i])(in, 3, &valid_arguments));
    assert_refused(every_op[_i], STATUS_SHAPE, "matmul");
    tensor_free(in[0]);
    scope_close(scope);
}
END_TEST

START_TEST(devices_do_not_mix) {
    const char *const names[] = {"add",        "matmul",  "linear", "mse",
                                 "accumulate", "maximum", "concat", "conv2d"};
    Scope *scope = scope_open();
    Tensor *in[2] = {tensor_zeros_new(SHAPE(2, 2))};
    context_set_device(device_meta());
    in[1] = tensor_zeros_new(SHAPE(2, 2));
    ck_assert_ptr_null(op_function_by_name(names[_i])(in, 2, &valid_arguments));
    ck_assert(strstr(error_message(), "cpu") != NULL && strstr(error_message(), "meta") != NULL);
    assert_refused(names[_i], STATUS_DEVICE, names[_i]);
    tensor_free(in[0]);
    tensor_free(in[1]);
    scope_close(scope);
}
END_TEST

// Otherwise a kernel would read no data, or silently write none.
START_TEST(what_is_written_into_is_where_the_inputs_are) {
    Scope *scope = scope_open();
    Tensor *on[2] = {tensor_zeros_new(SHAPE(2, 2))}, *slot;
    context_set_device(device_meta());
    on[1] = tensor_zeros_new(SHAPE(2, 2));
    slot = on[1 - _i];
    ck_assert_int_eq(OP_INTO(&slot, op_relu, NULL, on[_i]), STATUS_DEVICE);
    assert_refused("relu", STATUS_DEVICE, _i ? "inputs are on meta" : "inputs are on cpu");
    tensor_free(on[0]);
    tensor_free(on[1]);
    scope_close(scope);
}
END_TEST

START_TEST(an_op_outside_any_scope_is_refused) {
    Tensor *x = tensor_zeros_new(SHAPE(2));
    ck_assert_ptr_null(tensor_relu(x));
    assert_refused("relu", STATUS_STATE, "scope");
    tensor_free(x);
}
END_TEST

START_TEST(writing_into_a_leaf_that_wants_a_gradient_is_refused) {
    Scope *scope = scope_open();
    Tensor *x = tensor_zeros_new(SHAPE(2));
    tensor_requires_grad(x, true);
    ck_assert_int_ne(tensor_fill(x, 1.0f), STATUS_OK);
    assert_refused("fill", STATUS_STATE, "no_grad_begin");
    ck_assert_int_ne(tensor_accumulate(x, x), STATUS_OK);
    assert_refused("accumulate", STATUS_STATE, "no_grad_begin");
    no_grad_begin();
    ck_assert_int_eq(tensor_fill(x, 1.0f), STATUS_OK);
    no_grad_end();
    tensor_free(x);
    scope_close(scope);
}
END_TEST

START_TEST(backward_through_what_was_overwritten_is_refused) {
    Scope *scope = scope_open();
    Tensor *x = tensor_full_new(SHAPE(2), 0.5f);
    tensor_requires_grad(x, true);
    Tensor *loss = tensor_sum(tensor_mul(x, x), DIM_ALL, false);
    no_grad_begin();
    tensor_fill(x, 3.0f);
    no_grad_end();
    ck_assert_int_ne(autograd_backward(loss), STATUS_OK);
    assert_refused("backward", STATUS_STATE, "mul");
    tensor_free(x);
    scope_close(scope);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {bad_inputs_are_refused_by_name, REFUSAL_COUNT},
        {negative_labels_are_refused, 0},
        {bounds_in_the_wrong_order_are_refused, 0},
        {dimensions_that_are_not_there_are_refused, 0},
        {views_refuse_what_does_not_fit, 0},
        {null_is_refused, EVERY_OP_COUNT},
        {null_as_second_input_is_refused, 20},
        {null_among_parameters_is_refused, 0},
        {the_first_error_survives_the_calls_after_it, EVERY_OP_COUNT},
        {devices_do_not_mix, 8},
        {what_is_written_into_is_where_the_inputs_are, 2},
        {an_op_outside_any_scope_is_refused, 0},
        {writing_into_a_leaf_that_wants_a_gradient_is_refused, 0},
        {backward_through_what_was_overwritten_is_refused, 0},
        {NULL, 0},
    };
    return harness_main("op_errors", tests);
}
