// test_ops.c -- every op case against the counting oracle, forward and backward, in guarded memory,
// and on the meta device. test_op_errors.c tests the refusals.
#include <stdlib.h>
#include <string.h>

#include "autograd/autograd.h"
#include "tests/helpers/harness.h"
#include "tests/ops/op_cases.h"
#include "tests/ops/oracle_watch.h"

static OracleWatch watch; // too large for a stack

static void assert_no_error(const char *name) {
    ck_assert_msg(!error_pending(), "%s: %s", name, error_message());
}

// A gradient to start backward from: the same numbers each time.
static Tensor *some_gradient_new(const Tensor *like) {
    float *values = calloc((size_t)like->numel + 1, sizeof *values);
    for (int64_t i = 0; i < like->numel; i++) values[i] = (float)(i * 37 % 19) / 8.0f - 1.1f;
    Tensor *gradient = tensor_from_floats_new(tensor_shape(like), values);
    free(values);
    return gradient;
}

static void walk_back(const OpCase *self, Tensor *result) {
    Tensor *start = some_gradient_new(result);
    autograd_backward_from(result, start);
    assert_no_error(self->name);
    tensor_free(start);
}

// Runs a case, and backward through it when any leaf in the mask wants a gradient.
static Tensor *run_in_scope(const OpCase *self, Tensor *leaves[], unsigned wanted) {
    for (int i = 0; i < self->n_in; i++) {
        if (wanted >> i & 1) tensor_requires_grad(leaves[i], true);
    }
    Tensor *result = op_case_run(self, leaves);
    assert_no_error(self->name);
    if (wanted != 0) walk_back(self, result);
    return result;
}

static void run_case(const OpCase *self, Tensor *leaves[], unsigned wanted) {
    Scope *scope = scope_open();
    run_in_scope(self, leaves, wanted);
    scope_close(scope);
}

// Bit i: leaf i may want a gradient.
static unsigned all_wanted(const OpCase *self) {
    unsigned all = 0;
    for (int i = 0; i < self->n_in; i++) all |= (unsigned)op_case_can_want_gradient(self, i) << i;
    return all;
}

// The second run adds each gradient to an existing one.
static void run_twice(const OpCase *self, Tensor *leaves[], unsigned wanted) {
    run_case(self, leaves, wanted);
    if (wanted == all_wanted(self)) run_case(self, leaves, wanted);
}

// Number of cases that share a process: under a sanitizer, starting one takes longer than running
// most cases.
enum { TOGETHER = 64 };

static int batches(void) { return (op_case_count() + TOGETHER - 1) / TOGETHER; }

static void each_of_batch(int batch, void (*check)(const OpCase *self)) {
    for (int i = batch * TOGETHER; i < (batch + 1) * TOGETHER && i < op_case_count(); i++) {
        OpCase self = op_case_at(i);
        check(&self);
        context_release_thread(); // so the next one starts as in a new process
    }
}

// ---- values and counts ------------------------------------------------------------------------
static void check_case(const OpCase *self, unsigned wanted) {
    Tensor *leaves[OP_CASE_MAX_INPUTS];
    op_case_leaves_new(self, leaves);
    assert_no_error(self->name);
    oracle_watch_start(&watch, self->absolute, self->relative);
    run_twice(self, leaves, wanted);
    oracle_watch_stop(&watch);
    ck_assert_msg(watch.disagreements == 0, "%s, gradients wanted of %#x: %d disagreements%s",
                  self->name, wanted, watch.disagreements, watch.report);
    for (int i = 0; i < self->n_in && wanted != 0; i++) {
        if (leaves[i] == NULL) continue;
        Tensor *gradient = tensor_grad(leaves[i]);
        bool expected = (wanted >> i & 1) != 0;
        ck_assert_msg((gradient != NULL) == expected, "%s: input %d has %s gradient", self->name, i,
                      expected ? "no" : "a");
        if (!expected) continue;
        ck_assert(shape_equal(tensor_shape(gradient), tensor_shape(leaves[i])));
    }
    op_case_leaves_free(self, leaves);
}

static void check_each_subset(const OpCase *self) {
    unsigned all = all_wanted(self);
    unsigned wanted = 0;
    do {
        check_case(self, wanted);
        wanted = (wanted - all) & all; // the next subset of `all`
    } while (wanted != 0);
}

START_TEST(every_case_has_the_values_and_counts_of_the_oracle) {
    each_of_batch(_i, check_each_subset);
}
END_TEST

START_TEST(every_op_has_an_oracle_and_is_run_by_some_case) {
    static bool seen[OP_COUNT];
    for (int c = 0; c < op_case_count(); c++) {
        OpCase self = op_case_at(c);
        if (!op_case_is_small(&self)) continue;
        check_case(&self, all_wanted(&self));
        for (int i = 0; i < watch.n_records; i++) seen[watch.records[i].op] = true;
    }
    for (int op = 1; op < OP_COUNT; op++) {
        ck_assert_msg(oracle_knows(op), "op %s has no oracle", op_by_id(op)->name);
        ck_assert_msg(seen[op], "op %s is run by no case", op_by_id(op)->name);
    }
}
END_TEST

// ---- the same case elsewhere ------------------------------------------------------------------
// The results of a run: the output and the leaves' gradients, one after the other.
typedef struct Outcome {
    float *values;
    int64_t count;
} Outcome;

static void outcome_add(Outcome *self, const Tensor *t, int64_t from, int64_t count) {
    float *all = calloc((size_t)t->numel + 1, sizeof *all);
    self->values = realloc(self->values, (size_t)(self->count + count + 1) * sizeof(float));
    tensor_read_floats(t, all);
    memcpy(self->values + self->count, all + from, (size_t)count * sizeof(float));
    self->count += count;
    free(all);
}

static Outcome outcome_of(const OpCase *self, int threads) {
    Outcome outcome = {0};
    Tensor *leaves[OP_CASE_MAX_INPUTS];
    context_set_threads(threads);
    op_case_leaves_new(self, leaves);
    unsigned wanted = all_wanted(self);
    Scope *scope = scope_open();
    Tensor *result = run_in_scope(self, leaves, wanted);
    outcome_add(&outcome, result, 0, result->numel);
    for (int i = 0; i < self->n_in; i++) {
        if ((wanted >> i & 1) == 0) continue;
        Tensor *gradient = tensor_grad(leaves[i]);
        outcome_add(&outcome, gradient, 0, gradient->numel);
    }
    scope_close(scope);
    op_case_leaves_free(self, leaves);
    return outcome;
}

static void compare_threads(const OpCase *self) {
    Outcome one = outcome_of(self, 1);
    Outcome three = outcome_of(self, 3);
    assert_no_error(self->name);
    ck_assert_int_eq(one.count, three.count);
    // Only a BLAS may sum in another order when its operands have other sizes.
    bool product = strncmp(self->name, "matmul", 6) == 0 || strncmp(self->name, "linear", 6) == 0 ||
                   strncmp(self->name, "conv", 4) == 0;
    harness_assert_close(three.values, one.values, one.count, product ? self->absolute : 0.0,
                         product ? self->relative : 0.0, self->name);
    free(one.values);
    free(three.values);
}

START_TEST(values_do_not_depend_on_the_number_of_threads) { each_of_batch(_i, compare_threads); }
END_TEST

// The gradient of leaf `input` when the leaves in the mask want gradients.
static Outcome gradient_of(const OpCase *self, int input, unsigned wanted) {
    Outcome outcome = {0};
    Tensor *leaves[OP_CASE_MAX_INPUTS];
    op_case_leaves_new(self, leaves);
    run_case(self, leaves, wanted);
    Tensor *gradient = tensor_grad(leaves[input]);
    outcome_add(&outcome, gradient, 0, gradient->numel);
    op_case_leaves_free(self, leaves);
    return outcome;
}

static void compare_wishes(const OpCase *self) {
    unsigned all = all_wanted(self);
    for (int i = 0; i < self->n_in; i++) {
        if ((all >> i & 1) == 0 || all == 1u << i) continue;
        Outcome together = gradient_of(self, i, all);
        Outcome alone = gradient_of(self, i, 1u << i);
        ck_assert_int_eq(alone.count, together.count);
        harness_assert_close(alone.values, together.values, together.count, self->absolute,
                             self->relative, self->name);
        free(together.values);
        free(alone.values);
    }
}

START_TEST(a_gradient_does_not_depend_on_who_else_wants_one) { each_of_batch(_i, compare_wishes); }
END_TEST

static void compare_meta(const OpCase *self) {
    static OracleWatch dry;
    check_case(self, all_wanted(self));
    context_set_device(device_meta());
    Tensor *leaves[OP_CASE_MAX_INPUTS];
    op_case_leaves_new(self, leaves);
    oracle_watch_start(&dry, 0.0, 0.0);
    run_twice(self, leaves, all_wanted(self));
    oracle_watch_stop(&dry);
    op_case_leaves_free(self, leaves);
    ck_assert_int_eq(dry.n_records, watch.n_records);
    for (int i = 0; i < dry.n_records; i++) {
        const struct OracleRecord *on_meta = &dry.records[i];
        const struct OracleRecord *on_cpu = &watch.records[i];
        ck_assert_str_eq(op_by_id(on_meta->op)->name, op_by_id(on_cpu->op)->name);
        ck_assert(shape_equal(on_meta->out, on_cpu->out));
        ck_assert_msg(memcmp(&on_meta->cost, &on_cpu->cost, sizeof(OpCost)) == 0,
                      "%s: op %s costs something else on meta", self->name,
                      op_by_id(on_meta->op)->name);
    }
}

START_TEST(meta_runs_the_same_ops_at_the_same_cost) { each_of_batch(_i, compare_meta); }
END_TEST

// ---- guards -----------------------------------------------------------------------------------
enum { GUARD = 19 }; // odd, so that the leaf is badly aligned

// A leaf in the middle of a larger tensor whose other elements are NaN (labels: out of range). The
// test notices an op that writes there, or that uses what it reads there.
static Tensor *guarded_base_new(const OpCase *self, int input, int64_t numel) {
    int64_t total = numel + 2 * GUARD;
    float *values = calloc((size_t)total, sizeof *values);
    int64_t *labels = calloc((size_t)total, sizeof *labels);
    op_case_leaf_values(self, input, values + GUARD);
    OpValues kind = self->in[input].values;
    bool integers = kind == VALUES_LABELS || kind == VALUES_SIGNED || kind == VALUES_WHOLE;
    for (int64_t i = 0; i < total; i++) {
        bool inside = i >= GUARD && i < GUARD + numel;
        labels[i] = inside && integers ? (int64_t)values[i] : -1;
        if (!inside) values[i] = NAN;
    }
    Tensor *base = integers ? tensor_from_labels_new(SHAPE(total), labels)
                            : tensor_from_floats_new(SHAPE(total), values);
    free(values);
    free(labels);
    return base;
}

static void assert_guards(const OpCase *self, const Tensor *base, int input) {
    float *values = calloc((size_t)base->numel, sizeof *values);
    tensor_read_floats(base, values);
    for (int64_t i = 0; i < base->numel; i++) {
        if (i >= GUARD && i < base->numel - GUARD) continue;
        bool intact = base->dtype == DTYPE_INT64 ? values[i] == -1.0f : isnan(values[i]);
        ck_assert_msg(intact, "%s: wrote %d elements before or after input %d", self->name,
                      (int)(i < GUARD ? GUARD - i : i - base->numel + GUARD + 1), input);
    }
    free(values);
}

static void check_guards(const OpCase *self) {
    Tensor *bases[OP_CASE_MAX_INPUTS] = {NULL};
    Tensor *leaves[OP_CASE_MAX_INPUTS] = {NULL};
    Outcome plain = outcome_of(self, 1);
    Outcome guarded = {0};
    unsigned wanted = all_wanted(self);
    Scope *scope = scope_open();
    for (int i = 0; i < self->n_in; i++) {
        if (self->in[i].layout == LAYOUT_SAME) continue;
        Shape shape = op_case_leaf_shape(self, i);
        int64_t numel = 1;
        for (int d = 0; d < shape.ndim; d++) numel *= shape.dims[d];
        bases[i] = guarded_base_new(self, i, numel);
        if (wanted >> i & 1) tensor_requires_grad(bases[i], true);
        leaves[i] = tensor_reshape(tensor_slice(bases[i], 0, GUARD, GUARD + numel, 1), shape);
    }
    Tensor *result = run_in_scope(self, leaves, 0);
    if (wanted != 0) walk_back(self, result);
    outcome_add(&guarded, result, 0, result->numel);
    for (int i = 0; i < self->n_in; i++) {
        if (bases[i] == NULL) continue;
        assert_guards(self, bases[i], i);
        if (wanted >> i & 1) {
            outcome_add(&guarded, tensor_grad(bases[i]), GUARD, bases[i]->numel - 2 * GUARD);
        }
    }
    scope_close(scope);
    ck_assert_int_eq(guarded.count, plain.count);
    harness_assert_close(guarded.values, plain.values, plain.count, self->absolute, self->relative,
                         self->name);
    for (int i = 0; i < self->n_in; i++) tensor_free(bases[i]);
    free(plain.values);
    free(guarded.values);
}

START_TEST(ops_stay_inside_their_operands) { each_of_batch(_i, check_guards); }
END_TEST

int main(void) {
    int cases = batches();
    const HarnessTest tests[] = {
        {every_case_has_the_values_and_counts_of_the_oracle, cases},
        {every_op_has_an_oracle_and_is_run_by_some_case, 0},
        {values_do_not_depend_on_the_number_of_threads, cases},
        {a_gradient_does_not_depend_on_who_else_wants_one, cases},
        {meta_runs_the_same_ops_at_the_same_cost, cases},
        {ops_stay_inside_their_operands, cases},
        {NULL, 0},
    };
    return harness_main("ops", tests);
}
