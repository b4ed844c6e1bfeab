// test_einsum.c -- einsum compared with PyTorch's: values, gradients, and products as
// FlopCounterMode counts them (tests/fixtures/make_einsum.py explains the lines); gradcheck;
// refusals; memory that runs out. The ops inside have tests of their own.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autograd/autograd.h"
#include "tensor/memory.h"
#include "tensor/op.h"
#include "tensor/ops.h"
#include "tests/helpers/expect.h"

enum { MOST_OPERANDS = 3, MOST_LINE = 16384 };
static int n_cases;

typedef struct Case {
    char equation[64];
    long long flops;
    int n;
    Tensor *in[MOST_OPERANDS];
    Shape y;
    float *values;
    double gradients[MOST_OPERANDS];
} Case;

// ---- reading ------------------------------------------------------------------------------------
static double take(char **at) {
    char *end;
    double value = strtod(*at, &end);
    ck_assert_msg(end != *at, "a number is missing at \"%.20s\"", *at);
    *at = end;
    return value;
}

static Shape take_shape(char **at) {
    Shape shape = {.ndim = (int)take(at)};
    for (int i = 0; i < shape.ndim; i++) shape.dims[i] = (int64_t)take(at);
    return shape;
}

static Tensor *operand_new(int k, Shape shape) {
    int64_t n = shape_numel(shape);
    float *values = calloc((size_t)n + 1, sizeof *values);
    for (int64_t i = 0; i < n; i++) values[i] = (float)((i * 37 + k * 11) % 41 - 20) / 16.0f;
    Tensor *t = tensor_from_floats_new(shape, values);
    free(values);
    return t;
}

static Case case_at(int index) {
    static char line[MOST_LINE];
    Case c = {.n = 0};
    FILE *file = fopen("tests/fixtures/einsum.txt", "r");
    ck_assert_ptr_nonnull(file);
    for (int i = 0; i <= index; i++) ck_assert_ptr_nonnull(fgets(line, sizeof line, file));
    fclose(file);
    char *at = strchr(line, ' ');
    ck_assert(at && at - line < (long)sizeof c.equation);
    memcpy(c.equation, line, (size_t)(at - line));
    for (char *under; (under = strchr(c.equation, '_'));) *under = ' ';
    c.flops = (long long)take(&at);
    c.n = (int)take(&at);
    for (int k = 0; k < c.n; k++) c.in[k] = operand_new(k, take_shape(&at));
    c.y = take_shape(&at);
    c.values = calloc((size_t)shape_numel(c.y) + 1, sizeof(float));
    for (int64_t i = 0; i < shape_numel(c.y); i++) c.values[i] = (float)take(&at);
    for (int k = 0; k < c.n; k++) c.gradients[k] = take(&at);
    return c;
}

static void case_free(Case *c) {
    for (int k = 0; k < c->n; k++) tensor_free(c->in[k]);
    free(c->values);
}

static int count_lines(void) {
    FILE *file = fopen("tests/fixtures/einsum.txt", "r");
    int count = 0;
    for (int c; file && (c = getc(file)) != EOF;) count += c == '\n';
    if (file) fclose(file);
    return count;
}

// ---- PyTorch's ----------------------------------------------------------------------------------
typedef struct Counter {
    Observer observer;
    uint64_t macs;
} Counter;

static void count_macs(Observer *self, const OpCall *call) {
    ((Counter *)self)->macs += op_cost(call).macs;
}

static void compare_gradient(const Case *c, int k) {
    float sum;
    Tensor *gradient = tensor_grad(c->in[k]);
    ck_assert_msg(gradient != NULL, "%s: operand %d has no gradient", c->equation, k);
    tensor_read_floats(tensor_sum(tensor_abs(gradient), DIM_ALL, false), &sum);
    ck_assert_msg(fabs((double)sum - c->gradients[k]) <= 2e-4 + 1e-5 * c->gradients[k],
                  "%s: operand %d's gradients come to %.9g, not %.9g", c->equation, k, (double)sum,
                  c->gradients[k]);
}

START_TEST(values_gradients_and_counts_are_pytorchs) {
    Case c = case_at(_i);
    Counter counter = {.observer = {.op_end = count_macs}};
    char text[SHAPE_TEXT];
    for (int k = 0; k < c.n; k++) tensor_requires_grad(c.in[k], true);
    Scope *scope = scope_open();
    observer_add(&counter.observer);
    Tensor *y = tensor_einsum(c.equation, c.in, c.n);
    observer_remove(&counter.observer);
    ck_assert_msg(y != NULL, "%s: %s", c.equation, error_message());
    ck_assert_msg(shape_equal(y->shape, c.y), "%s: %s", c.equation, shape_text(y->shape, text));
    float *values = calloc((size_t)y->numel + 1, sizeof *values);
    tensor_read_floats(y, values);
    harness_assert_close(values, c.values, y->numel, 2e-6, 4e-6, c.equation);
    ck_assert_msg(2 * counter.macs == (uint64_t)c.flops, "%s: %llu FLOPs, not %lld", c.equation,
                  (unsigned long long)(2 * counter.macs), c.flops);
    Tensor *loss = tensor_sum(tensor_mul(y, y), DIM_ALL, false);
    ck_assert_int_eq(autograd_backward(loss), STATUS_OK);
    for (int k = 0; k < c.n; k++) compare_gradient(&c, k);
    scope_close(scope);
    free(values);
    case_free(&c);
    expect_no_error();
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

// ---- gradcheck ----------------------------------------------------------------------------------
static Tensor *attention(Tensor *const in[], int n, void *unused) {
    (void)unused;
    return tensor_einsum("bhij,...hjd->bihd", in, n);
}

START_TEST(gradients_are_those_of_differences) {
    Tensor *in[2] = {operand_new(0, SHAPE(1, 2, 2, 3)), operand_new(1, SHAPE(2, 3, 2))};
    for (int i = 0; i < 2; i++) tensor_requires_grad(in[i], true);
    GradcheckOptions options = gradcheck_defaults();
    ck_assert_msg(!autograd_gradcheck(attention, NULL, in, 2, options, NULL), "%s",
                  error_message());
    for (int i = 0; i < 2; i++) tensor_free(in[i]);
}
END_TEST

// ---- refusals -----------------------------------------------------------------------------------
START_TEST(what_is_no_equation_is_refused) {
    static const struct {
        const char *equation;
        int n;
        Status status;
        const char *said;
    } bad[] = {
        {"ij,jk->ik", 1, STATUS_INVALID_ARGUMENT, "more operands than were given"},
        {"ij->ij", 2, STATUS_INVALID_ARGUMENT, "fewer operands than there are"},
        {"ij,jk->iz", 2, STATUS_INVALID_ARGUMENT, "a letter in the result that no operand has"},
        {"ij,jk->ii", 2, STATUS_INVALID_ARGUMENT, "a letter twice in the result"},
        {"ij,jk->i->k", 2, STATUS_INVALID_ARGUMENT, "something behind the result"},
        {"ij,jk->i,k", 2, STATUS_INVALID_ARGUMENT, "something behind the result"},
        {"i1,jk->ik", 2, STATUS_INVALID_ARGUMENT, "neither a letter nor"},
        {"i..,jk->ik", 2, STATUS_INVALID_ARGUMENT, "neither a letter nor"},
        {"ij,jk-ik", 2, STATUS_INVALID_ARGUMENT, "neither a letter nor"},
        {"......,jk->ik", 2, STATUS_INVALID_ARGUMENT, "\"...\" twice"},
        {"ijk,jk->ik", 2, STATUS_SHAPE, "of 2 dimensions has 3 letters"},
        {"i,jk->ik", 2, STATUS_SHAPE, "of 2 dimensions has 1 letters"},
        {"ij,ik->jk", 2, STATUS_SHAPE, "i is 2 and 3"},
        {"ii,jk->ik", 2, STATUS_SHAPE, "i is 2 and 3"},
        {"ij,kl,mn,op->ijklmnop", 4, STATUS_INVALID_ARGUMENT, "more dimensions than a tensor has"},
        {"", 1, STATUS_SHAPE, "of 2 dimensions has 0 letters"},
    };
    Tensor *in[4] = {operand_new(0, SHAPE(2, 3)), operand_new(1, SHAPE(3, 4)),
                     operand_new(2, SHAPE(2, 2)), operand_new(3, SHAPE(2, 2))};
    Scope *scope = scope_open();
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ck_assert_msg(!tensor_einsum(bad[i].equation, in, bad[i].n), "%s", bad[i].equation);
        expect_error(bad[i].status, bad[i].said);
    }
    ck_assert_ptr_null(tensor_einsum(NULL, in, 1));
    expect_error(STATUS_INVALID_ARGUMENT, "no equation");
    ck_assert_ptr_null(tensor_einsum("i", in, 0));
    expect_error(STATUS_INVALID_ARGUMENT, "HINT: 1 to 16");
    ck_assert_ptr_null(tensor_einsum("ij,jk", (Tensor *[]){in[0], NULL}, 2));
    expect_error(STATUS_INVALID_ARGUMENT, "operand 1 is NULL");
    scope_close(scope);
    for (int i = 0; i < 4; i++) tensor_free(in[i]);
}
END_TEST

START_TEST(memory_that_runs_out_is_said) {
    Tensor *in[2] = {operand_new(0, SHAPE(2, 3, 3, 4)), operand_new(1, SHAPE(4, 2, 5))};
    bool done = false;
    for (uint64_t n = 1; !done; n++) {
        Scope *scope = scope_open();
        memory_fail_at(n);
        done = tensor_einsum("bijk,kbl->lb", in, 2) != NULL;
        memory_fail_at(0);
        if (!done) expect_error(STATUS_OUT_OF_MEMORY, "");
        scope_close(scope);
    }
    for (int i = 0; i < 2; i++) tensor_free(in[i]);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

int main(void) {
    n_cases = count_lines();
    const HarnessTest tests[] = {{values_gradients_and_counts_are_pytorchs, n_cases},
                                 {gradients_are_those_of_differences, 0},
                                 {what_is_no_equation_is_refused, 0},
                                 {memory_that_runs_out_is_said, 0},
                                 {NULL, 0}};
    return harness_main("einsum", tests);
}
