// test_gradcheck.c -- backward rules against central differences, and that the comparison catches
// a wrong rule and explains it.
#include <stdlib.h>
#include <string.h>

#include "autograd/autograd.h"
#include "tensor/context.h"
#include "tests/helpers/harness.h"
#include "tests/ops/op_cases.h"

static Tensor *run_case(Tensor *const inputs[], int n_inputs, void *user) {
    (void)n_inputs;
    return op_case_run(user, inputs);
}

static Status check_case(OpCase *self, char **report) {
    Tensor *leaves[OP_CASE_MAX_INPUTS];
    op_case_leaves_new(self, leaves);
    int n = 0; // an input that repeats the first comes last, and is not passed twice; nor is one
               // without a gradient
    while (n < self->n_in && leaves[n] && self->in[n].values != VALUES_CONDITION) n++;
    size_t length = 0;
    FILE *file = open_memstream(report, &length);
    Status status = autograd_gradcheck(run_case, self, leaves, n, gradcheck_defaults(), file);
    fclose(file);
    op_case_leaves_free(self, leaves);
    return status;
}

// At a kink between the points of a difference there is no slope to compare with.
static bool bends(const OpCase *self) {
    return self->arguments.activation == &op_relu || strncmp(self->name, "clamp ", 6) == 0;
}

static void check_backward(int index) {
    OpCase self = op_case_at(index);
    if (!self.differentiable || !op_case_is_small(&self)) return;
    char *report = NULL;
    Status status = check_case(&self, &report);
    for (int again = 0; status != STATUS_OK && bends(&self) && again < 3; again++) {
        free(report);
        error_clear();
        self.seed++;
        status = check_case(&self, &report);
    }
    ck_assert_msg(status == STATUS_OK, "%s: %s\n%s\n%s", self.name, status_name(status),
                  error_message(), report);
    free(report);
}

// Cases per process: starting one takes longer than most cases.
enum { TOGETHER = 16 };

START_TEST(backward_agrees_with_differences) {
    for (int i = _i * TOGETHER; i < (_i + 1) * TOGETHER && i < op_case_count(); i++) {
        check_backward(i);
        context_release_thread(); // so the next one starts as in a new process
    }
}
END_TEST

// ---- several ops: gradients add up, and pass through views -------------------------------------
static Tensor *diamond(Tensor *const in[], int n_in, void *user) { // x^2 + tanh(x) + x
    (void)n_in, (void)user;
    Tensor *square = tensor_mul(in[0], in[0]);
    return tensor_add(tensor_add(square, tensor_tanh(in[0])), in[0]);
}

static Tensor *attention(Tensor *const in[], int n_in, void *user) { // softmax(q k^T / 2) v
    (void)n_in, (void)user;
    Tensor *scores = tensor_matmul(in[0], tensor_transpose(in[1], -1, -2));
    return tensor_matmul(tensor_softmax(tensor_mul_scalar(scores, 0.5f), -1), in[2]);
}

static Tensor *normalise(Tensor *const in[], int n_in, void *user) { // (x - mean) / deviation
    (void)n_in, (void)user;
    Tensor *centred = tensor_sub(in[0], tensor_mean(in[0], -1, true));
    Tensor *variance = tensor_mean(tensor_mul(centred, centred), -1, true);
    Tensor *deviation = tensor_sqrt(tensor_add_scalar(variance, 1e-3f));
    return tensor_add(tensor_mul(tensor_div(centred, deviation), in[1]), in[2]);
}

static Tensor *halves(Tensor *const in[], int n_in, void *user) { // overlapping slices, reshaped
    (void)n_in, (void)user;
    Tensor *left = tensor_slice(in[0], 1, 0, 3, 1);
    Tensor *right = tensor_slice(in[0], 1, 1, 4, 1);
    Tensor *product = tensor_mul(tensor_transpose(left, 0, 1), tensor_transpose(right, 0, 1));
    return tensor_sum(tensor_reshape(product, SHAPE(2, 3, 2)), 1, false);
}

static Tensor *perceptron(Tensor *const in[], int n_in, void *user) { // the second layer is tied
    (void)n_in;
    Tensor *hidden = tensor_linear(in[0], in[1], in[2], &op_gelu);
    Tensor *logits = tensor_linear(hidden, tensor_transpose(in[1], 0, 1), NULL, NULL);
    return tensor_cross_entropy(logits, user);
}

START_TEST(backward_agrees_through_several_ops) {
    static const struct {
        GradcheckFunction function;
        Shape shapes[3];
    } graphs[] = {
        {diamond, {{1, {5}}}},
        {attention, {{3, {2, 3, 4}}, {3, {2, 5, 4}}, {3, {2, 5, 2}}}},
        {normalise, {{2, {3, 5}}, {1, {5}}, {1, {5}}}},
        {halves, {{2, {4, 4}}}},
        {perceptron, {{2, {3, 4}}, {2, {5, 4}}, {1, {5}}}},
    };
    Tensor *in[3];
    int n = 0;
    Tensor *labels = tensor_from_labels_new(SHAPE(3), (int64_t[]){1, 0, 3});
    for (; n < 3 && graphs[_i].shapes[n].ndim > 0; n++) {
        in[n] = tensor_uniform_new(graphs[_i].shapes[n], -1.0f, 1.0f);
    }
    Status status =
        autograd_gradcheck(graphs[_i].function, labels, in, n, gradcheck_defaults(), stderr);
    ck_assert_msg(status == STATUS_OK, "graph %d: %s", _i, error_message());
    for (int i = 0; i < n; i++) tensor_free(in[i]);
    tensor_free(labels);
}
END_TEST

// ---- a planted mistake ------------------------------------------------------------------------
// mul_scalar with a backward that forgets the factor.
static Status forgetful_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    OpParams params = {.value = {1.0f}};
    (void)saved;
    return OP_INTO(&grad_in[0], op_mul_scalar, &params, grad_out[0]);
}

static Tensor *forgetful(Tensor *const inputs[], int n_inputs, void *user) {
    OpParams params = {.value = {3.0f}};
    (void)n_inputs;
    return OP_RUN(*(const Op *)user, &params, inputs[0]);
}

START_TEST(a_wrong_rule_is_caught_and_explained) {
    static Op wrong;
    wrong = op_mul_scalar;
    wrong.backward = forgetful_backward;
    Tensor *x = tensor_from_floats_new(SHAPE(2, 2), (float[]){0.5f, -1.0f, 2.0f, 0.25f});
    char *report = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&report, &length);
    Status status = autograd_gradcheck(forgetful, &wrong, &x, 1, gradcheck_defaults(), file);
    fclose(file);
    ck_assert_str_eq(status_name(status), "STATUS_INVALID_ARGUMENT");
    ck_assert_msg(strstr(report, "backward") != NULL && strstr(report, "numeric") != NULL,
                  "the report names its columns: %s", report);
    ck_assert_msg(strstr(error_message(), "4 of 4") != NULL, "%s", error_message());
    error_clear();
    free(report);
    tensor_free(x);
}
END_TEST

// relu has a kink at 0: differences straddle it, so the two must disagree there.
static Tensor *bend(Tensor *const inputs[], int n_inputs, void *user) {
    (void)n_inputs, (void)user;
    return tensor_relu(inputs[0]);
}

START_TEST(a_single_wrong_element_is_found) {
    Tensor *x = tensor_from_floats_new(SHAPE(3), (float[]){1.0f, 0.0f, -1.0f});
    char *report = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&report, &length);
    Status status = autograd_gradcheck(bend, NULL, &x, 1, gradcheck_defaults(), file);
    fclose(file);
    ck_assert_str_eq(status_name(status), "STATUS_INVALID_ARGUMENT");
    ck_assert_msg(length > 0, "the report is empty");
    error_clear();
    free(report);
    tensor_free(x);
}
END_TEST

static Tensor *fails(Tensor *const inputs[], int n_inputs, void *user) {
    (void)n_inputs, (void)user;
    return tensor_matmul(inputs[0], inputs[0]);
}

START_TEST(a_function_that_fails_gives_its_own_status) {
    Tensor *x = tensor_zeros_new(SHAPE(2, 3));
    Status status = autograd_gradcheck(fails, NULL, &x, 1, gradcheck_defaults(), NULL);
    ck_assert_str_eq(status_name(status), "STATUS_SHAPE");
    ck_assert_ptr_nonnull(strstr(error_message(), "matmul"));
    error_clear();
    tensor_free(x);
}
END_TEST

START_TEST(the_inputs_are_as_they_were) {
    float before[] = {0.5f, -1.0f, 2.0f};
    float after[3];
    Tensor *x = tensor_from_floats_new(SHAPE(3), before);
    ck_assert_int_eq(autograd_gradcheck(bend, NULL, &x, 1, gradcheck_defaults(), NULL), STATUS_OK);
    tensor_read_floats(x, after);
    ck_assert_mem_eq(before, after, sizeof before);
    tensor_free(x);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {backward_agrees_with_differences, (op_case_count() + TOGETHER - 1) / TOGETHER},
        {backward_agrees_through_several_ops, 5},
        {a_wrong_rule_is_caught_and_explained, 0},
        {a_single_wrong_element_is_found, 0},
        {a_function_that_fails_gives_its_own_status, 0},
        {the_inputs_are_as_they_were, 0},
        {NULL, 0},
    };
    return harness_main("gradcheck", tests);
}
