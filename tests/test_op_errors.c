// test_op_errors.c -- what ops refuse: every refusal has its status, names the op and the shapes,
// allocates nothing and leaves the engine usable.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "autograd/autograd.h"
#include "tests/harness.h"
#include "tests/op_cases.h"

// Fails unless `status` is pending with a message that contains `mention`; clears it.
static void assert_refused(const char *what, Status status, const char *mention) {
    ck_assert_msg(error_status() == status, "%s: %s instead of %s: %s", what,
                  status_name(error_status()), status_name(status), error_message());
    ck_assert_msg(strstr(error_message(), mention) != NULL, "%s: \"%s\" does not mention \"%s\"",
                  what, error_message(), mention);
    error_clear();
}

// ---- wrong shapes, types and values -----------------------------------------------------------
// The defaults, but for what is named.
#define CONV(...)                                                                                  \
    {                                                                                              \
        .conv = {.stride_h = 1, .stride_w = 1, .dilation_h = 1, .dilation_w = 1, __VA_ARGS__ }     \
    }
#define POOL(...)                                                                                  \
    {                                                                                              \
        .pool = {.kernel_w = 2, .dilation_h = 1, .dilation_w = 1, __VA_ARGS__ }                    \
    }
static const struct Refusal {
    const char *op, *inputs;
    OpArguments arguments;
    Status status;
    const char *mention; // beside the op's name
} refusals[] = {
    {"add", "(2, 3) (4)", {0}, STATUS_SHAPE, "(2, 3)"},
    {"sub", "(3, 1) (2, 1)", {0}, STATUS_SHAPE, "(3, 1)"},
    {"mul", "(0) (3)", {0}, STATUS_SHAPE, "(0"},
    {"div", "(2, 3) (3, 2)", {0}, STATUS_SHAPE, "(3, 2)"},
    {"add", "(3) labels (3)", {0}, STATUS_DTYPE, "int64"},
    {"relu", "labels (3)", {0}, STATUS_DTYPE, "int64"},
    {"exp", "labels (3)", {0}, STATUS_DTYPE, "int64"},
    {"sum", "labels (3)", {.dim = 0}, STATUS_DTYPE, "int64"},
    {"neg", "labels (3)", {0}, STATUS_DTYPE, "int64"},
    {"abs", "labels (3)", {0}, STATUS_DTYPE, "int64"},
    {"pow", "labels (3)", {.value = 2.0f}, STATUS_DTYPE, "int64"},
    {"silu", "labels (3)", {0}, STATUS_DTYPE, "int64"},
    {"leaky_relu", "labels (3)", {.value = 0.1f}, STATUS_DTYPE, "int64"},
    {"clamp", "labels (3)", {0}, STATUS_DTYPE, "int64"},
    {"clamp", "(3)", {.value = NAN}, STATUS_INVALID_ARGUMENT, "HINT"},
    {"maximum", "(2, 3) (4)", {0}, STATUS_SHAPE, "(2, 3)"},
    {"maximum", "(3) labels (3)", {0}, STATUS_DTYPE, "int64"},
    {"gelu", "(3)", {.activation = ACTIVATION_RELU}, STATUS_INVALID_ARGUMENT, "HINT"},
    {"gelu", "(3)", {.activation = ACTIVATION_COUNT}, STATUS_INVALID_ARGUMENT, "HINT"},
    {"activation", "(3)", {.activation = ACTIVATION_COUNT}, STATUS_INVALID_ARGUMENT, "HINT"},
    {"matmul", "(2, 3) (4, 5)", {0}, STATUS_SHAPE, "(4, 5)"},
    {"matmul", "(3) (3, 2)", {0}, STATUS_SHAPE, "(3"},
    {"matmul", "(2, 3) ()", {0}, STATUS_SHAPE, "(2, 3)"},
    {"matmul", "(2, 3, 4) (3, 4, 5)", {0}, STATUS_SHAPE, "(2, 3, 4)"},
    {"matmul", "(2, 3) labels (3, 2)", {0}, STATUS_DTYPE, "int64"},
    {"linear", "(2, 3) (4, 5)", {0}, STATUS_SHAPE, "(2, 3)"},
    {"linear", "(2, 3) (4, 3) (3)", {0}, STATUS_SHAPE, "(4"},
    {"linear", "(2, 3) (4, 3) (1, 4)", {0}, STATUS_SHAPE, "(1, 4)"},
    {"linear", "(2, 3) (1, 4, 3)", {0}, STATUS_SHAPE, "(1, 4, 3)"},
    {"linear", "() (4, 3)", {0}, STATUS_SHAPE, "(4, 3)"},
    {"linear", "(2, 3) (4, 3)", {.activation = ACTIVATION_COUNT}, STATUS_INVALID_ARGUMENT, "HINT"},
    {"conv2d", "(2, 3, 5) (4, 3, 3, 3)", CONV(.groups = 1), STATUS_SHAPE, "HINT"},
    {"conv2d", "(2, 3, 5, 5) (4, 3, 3)", CONV(.groups = 1), STATUS_SHAPE, "(4, 3, 3)"},
    {"conv2d", "(2, 3, 5, 5) (4, 2, 3, 3)", CONV(.groups = 1), STATUS_SHAPE, "3 channels"},
    {"conv2d", "(2, 3, 5, 5) (4, 1, 3, 3)", CONV(.groups = 2), STATUS_SHAPE, "2 groups do not"},
    {"conv2d", "(2, 4, 5, 5) (3, 2, 3, 3)", CONV(.groups = 2), STATUS_SHAPE, "3 outputs"},
    {"conv2d", "(2, 4, 5, 5) (4, 4, 3, 3)", CONV(.groups = 2), STATUS_SHAPE, "4 a group"},
    {"conv2d", "(2, 3, 5, 5) (4, 3, 3, 3) (3)", CONV(.groups = 1), STATUS_SHAPE, "(4,)"},
    {"conv2d", "(2, 3, 5, 5) (4, 3, 3, 3) (4, 1)", CONV(.groups = 1), STATUS_SHAPE, "(4,)"},
    {"conv2d", "(2, 3, 2, 5) (4, 3, 3, 3)", CONV(.groups = 1), STATUS_SHAPE, "does not fit"},
    {"conv2d",
     "(2, 3, 5, 5) (4, 3, 3, 3)",
     {.conv = {1, 1, 0, 0, 0, 0, 1, 3, 1}},
     STATUS_SHAPE,
     "3 x 3, dilation (1, 3), does not fit into 5 x 5"},
    {"conv2d", "(2, 3, 0, 5) (4, 3, 1, 1)", CONV(.groups = 1), STATUS_SHAPE, "0 x 5"},
    {"conv2d", "(2, 3, 5, 5) (4, 3, 0, 3)", CONV(.groups = 1), STATUS_INVALID_ARGUMENT, "0 x 3"},
    {"conv2d", "(2, 3, 5, 5) (4, 3, 3, 3)", CONV(.groups = 0), STATUS_INVALID_ARGUMENT, "groups"},
    {"conv2d",
     "(2, 3, 5, 5) (4, 3, 3, 3)",
     {.conv = {.groups = 1}},
     STATUS_INVALID_ARGUMENT,
     "stride (0"},
    {"conv2d",
     "(2, 3, 5, 5) (4, 3, 3, 3)",
     {.conv = {1, 1, 0, 0, 0, 0, 0, 1, 1}},
     STATUS_INVALID_ARGUMENT,
     "dilation (0"},
    {"conv2d", "(2, 3, 5, 5) (4, 3, 3, 3)", CONV(.groups = 1, .padding_left = -1),
     STATUS_INVALID_ARGUMENT, "padding"},
    {"conv2d",
     "(2, 3, 5, 5) (4, 3, 3, 3)",
     {.conv = {(int64_t)1 << 31, 1, 0, 0, 0, 0, 1, 1, 1}},
     STATUS_INVALID_ARGUMENT,
     "2^31"},
    {"conv2d", "(2, 3, 5, 5) (4, 3, 3, 3)",
     CONV(.groups = 1, .padding_top = INT32_MAX, .padding_bottom = INT32_MAX,
          .padding_left = INT32_MAX, .padding_right = INT32_MAX),
     STATUS_OVERFLOW, "conv2d"},
    {"conv2d", "labels (2, 3, 5, 5) (4, 3, 3, 3)", CONV(.groups = 1), STATUS_DTYPE, "int64"},
    {"max_pool2d", "(3, 5, 5)", POOL(.kernel_h = 2), STATUS_SHAPE, "(n, c, h, w)"},
    {"max_pool2d", "(2, 3, 5, 5)", POOL(.kernel_h = 0), STATUS_INVALID_ARGUMENT, "kernel"},
    {"max_pool2d", "(2, 3, 5, 5)", POOL(.kernel_h = 6), STATUS_SHAPE, "does not fit"},
    {"max_pool2d", "(2, 3, 5, 5)", POOL(.kernel_h = 2, .padding_top = 2), STATUS_INVALID_ARGUMENT,
     "at most half the kernel of 2 x 2"},
    {"max_pool2d", "(2, 3, 5, 5)", POOL(.kernel_h = 2, .stride_w = -1), STATUS_INVALID_ARGUMENT,
     "stride"},
    {"max_pool2d", "(2, 3, 5, 0)", POOL(.kernel_h = 2), STATUS_SHAPE, "a plane has"},
    {"max_pool2d", "labels (2, 3, 5, 5)", POOL(.kernel_h = 2), STATUS_DTYPE, "int64"},
    {"avg_pool2d", "(5, 5)", POOL(.kernel_h = 2), STATUS_SHAPE, "(n, c, h, w)"},
    {"avg_pool2d",
     "(2, 3, 5, 5)",
     {.pool = {2, 2, 0, 0, 0, 0, 0, 0, 2, 1, false, false}},
     STATUS_INVALID_ARGUMENT,
     "no dilation"},
    {"avg_pool2d", "(2, 3, 5, 5)", POOL(.kernel_h = 3, .padding_right = 2), STATUS_INVALID_ARGUMENT,
     "half the kernel"},
    {"avg_pool2d",
     "(9, 9, 2, 2)",
     {.pool = {INT32_MAX, INT32_MAX, 1, 1, INT32_MAX / 2, INT32_MAX / 2, INT32_MAX / 2,
               INT32_MAX / 2, 1, 1, false, false}},
     STATUS_OVERFLOW,
     "2^60"},
    {"adaptive_avg_pool2d", "(3, 5, 5)", {.output = {1, 1}}, STATUS_SHAPE, "(n, c, h, w)"},
    {"adaptive_avg_pool2d", "(2, 3, 0, 5)", {.output = {1, 1}}, STATUS_SHAPE, "(2, 3, 0, 5)"},
    {"adaptive_avg_pool2d", "(2, 3, 5, 5)", {.output = {0, 1}}, STATUS_INVALID_ARGUMENT, "0 x 1"},
    {"adaptive_avg_pool2d", "(2, 3, 5, 5)", {.output = {1, -1}}, STATUS_INVALID_ARGUMENT, "HINT"},
    {"sum", "(2, 3)", {.dim = 2}, STATUS_SHAPE, "(2, 3)"},
    {"sum", "(2, 3)", {.dim = -3}, STATUS_SHAPE, "(2, 3)"},
    {"sum", "()", {.dim = 0}, STATUS_SHAPE, "()"},
    {"max", "(2, 3)", {.dim = 5}, STATUS_SHAPE, "(2, 3)"},
    {"max", "(2, 0)", {.dim = 1}, STATUS_SHAPE, "(2, 0)"},
    {"max", "(0)", {.dim = DIM_ALL}, STATUS_SHAPE, "(0"},
    {"argmax", "(2, 0)", {.dim = 1}, STATUS_SHAPE, "(2, 0)"},
    {"argmax", "(2, 3)", {.dim = 2}, STATUS_SHAPE, "(2, 3)"},
    {"softmax", "(2, 3)", {.dim = 2}, STATUS_SHAPE, "(2, 3)"},
    {"softmax", "(2, 3)", {.dim = DIM_ALL}, STATUS_SHAPE, "(2, 3)"},
    {"log_softmax", "(2, 3)", {.dim = -3}, STATUS_SHAPE, "(2, 3)"},
    {"cross_entropy", "(4) labels (4)", {0}, STATUS_SHAPE, "HINT"},
    {"cross_entropy", "(3, 4) labels (4)", {0}, STATUS_SHAPE, "(3, 4)"},
    {"cross_entropy", "(3, 4) labels (3, 1)", {0}, STATUS_SHAPE, "(3, 1)"},
    {"cross_entropy", "(3, 4) (3)", {0}, STATUS_DTYPE, "float32"},
    {"cross_entropy", "(3, 4) stray (3)", {0}, STATUS_INVALID_ARGUMENT, "label 4"},
    {"mse", "(3) (4)", {0}, STATUS_SHAPE, "(4"},
    {"mse", "(3, 1) (3)", {0}, STATUS_SHAPE, "(3, 1)"},
    {"binary_cross_entropy", "(3) (4)", {0}, STATUS_SHAPE, "(4"},
    {"binary_cross_entropy", "(3, 1) (3)", {0}, STATUS_SHAPE, "(3, 1)"},
    {"binary_cross_entropy", "(3) labels (3)", {0}, STATUS_DTYPE, "int64"},
    {"concat", "(2, 3) (2, 4)", {.dim = 0}, STATUS_SHAPE, "input 1 is (2, 4)"},
    {"concat", "(2, 3) (3)", {.dim = 1}, STATUS_SHAPE, "input 1 is (3"},
    {"concat", "(1) (1) (1) (1) (1) (1, 1)", {.dim = 0}, STATUS_SHAPE, "input 5 is (1, 1)"},
    {"concat", "(2, 3) (2, 3)", {.dim = 2}, STATUS_SHAPE, "no dimension 2"},
    {"concat", "(2, 3) (2, 3)", {.dim = -3}, STATUS_SHAPE, "no dimension -3"},
    {"concat", "() ()", {.dim = 0}, STATUS_SHAPE, "tensor_stack"},
    {"concat", "(3) labels (3)", {.dim = 0}, STATUS_DTYPE, "int64"},
    {"stack", "(2, 3) (2, 3) (3, 2)", {.dim = 0}, STATUS_SHAPE, "tensor 2 is (3, 2)"},
    {"stack", "(2, 3) (2, 3)", {.dim = 3}, STATUS_SHAPE, "-3 to 2"},
    {"stack", "(2, 3) (2, 3)", {.dim = -4}, STATUS_SHAPE, "-3 to 2"},
    {"stack", "(1, 1, 1, 1, 1, 1)", {.dim = 0}, STATUS_SHAPE, "at most 6"},
    {"gather", "(2, 3) labels (2)", {.dim = 0}, STATUS_SHAPE, "(2, 3)"},
    {"gather", "(2, 3) labels (3, 1)", {.dim = 1}, STATUS_SHAPE, "(3, 1)"},
    {"gather", "(2, 3) labels (2, 3)", {.dim = 2}, STATUS_SHAPE, "no dimension 2"},
    {"gather", "(3, 3) (3, 3)", {.dim = 0}, STATUS_DTYPE, "float32"},
    {"gather", "(3, 3) stray (2, 2)", {.dim = 1}, STATUS_INVALID_ARGUMENT, "index 3 at (0, 0)"},
    {"dropout", "(3)", {.value = -0.5f}, STATUS_INVALID_ARGUMENT, "HINT"},
    {"dropout", "(3)", {.value = 1.5f}, STATUS_INVALID_ARGUMENT, "HINT"},
    {"slice", "(2, 3)", {.dim = 2}, STATUS_SHAPE, "(2, 3)"},
    {"accumulate", "(3) (1)", {0}, STATUS_SHAPE, "(1"},
    {"accumulate", "transposed (3, 4) (3, 4)", {0}, STATUS_INVALID_ARGUMENT, "contiguous"},
    {"fill", "transposed (3, 4)", {0}, STATUS_INVALID_ARGUMENT, "contiguous"},
    {"sgd_step", "state (1) transposed (3, 4) (3, 4)", {0}, STATUS_INVALID_ARGUMENT, "contiguous"},
    {"fill", "labels (3)", {0}, STATUS_DTYPE, "int64"},
    {"sgd_step", "state (2) (3) (3)", {0}, STATUS_INVALID_ARGUMENT, "state"},
    {"sgd_step", "state (1) (3) (4)", {0}, STATUS_SHAPE, "parameter"},
    {"sgd_step", "state (1) (3) (3) (1)", {.value = 0.9f}, STATUS_SHAPE, "parameter"},
    {"adam_step", "state (1) (3) (3) (3) (3)", {0}, STATUS_INVALID_ARGUMENT, "state"},
    {"adam_step", "state (2) (3) (3) (3) (2)", {0}, STATUS_SHAPE, "parameter"},
};
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
    const int64_t ranges[][3] = {{2, 1, 1}, {-1, 2, 1}, {0, 4, 1}, {0, 3, 0}};
    for (int i = 0; i < 4; i++) {
        ck_assert_ptr_null(tensor_slice(x, 1, ranges[i][0], ranges[i][1], ranges[i][2]));
        assert_refused("slice", STATUS_SHAPE, "(2, 3)");
    }
    tensor_free(x);
    scope_close(scope);
}
END_TEST

// ---- absent, elsewhere, too late --------------------------------------------------------------
static const char *const every_op[] = {
    "add",        "sub",        "mul",         "div",
    "add_scalar", "sub_scalar", "mul_scalar",  "div_scalar",
    "exp",        "log",        "sqrt",        "relu",
    "sigmoid",    "tanh",       "gelu",        "matmul",
    "linear",     "sum",        "mean",        "max",
    "argmax",     "softmax",    "log_softmax", "cross_entropy",
    "mse",        "contiguous", "detach",      "flatten",
    "transpose",  "dropout",    "fill",        "accumulate",
    "neg",        "abs",        "pow",         "clamp",
    "maximum",    "leaky_relu", "silu",        "binary_cross_entropy",
    "concat",     "stack",      "gather",      "clip_norm",
    "conv2d",     "max_pool2d", "avg_pool2d",  "adaptive_avg_pool2d",
};
enum { EVERY_OP_COUNT = sizeof every_op / sizeof *every_op };
static const OpArguments valid_arguments = {.dim = DIM_ALL,
                                            .activation = ACTIVATION_GELU,
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
                                 "conv2d"};
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
        {views_refuse_what_does_not_fit, 0},
        {null_is_refused, EVERY_OP_COUNT},
        {null_as_second_input_is_refused, 13},
        {null_among_parameters_is_refused, 0},
        {the_first_error_survives_the_calls_after_it, EVERY_OP_COUNT},
        {devices_do_not_mix, 8},
        {an_op_outside_any_scope_is_refused, 0},
        {writing_into_a_leaf_that_wants_a_gradient_is_refused, 0},
        {backward_through_what_was_overwritten_is_refused, 0},
        {NULL, 0},
    };
    return harness_main("op_errors", tests);
}
