// test_random_shapes.c -- every op case again with its sizes drawn at random, against the counting
// oracle: values and counts, forward and backward. test_ops.c has the chosen sizes.
#include <stdlib.h>
#include <string.h>

#include "autograd/autograd.h"
#include "tests/helpers/harness.h"
#include "tests/ops/op_cases.h"
#include "tests/ops/oracle_watch.h"

enum { GROUPS = 16, LARGEST = 19, SMALL = 5, SIZES = 512 };

static OracleWatch watch; // too large for a stack

// Replaces each size by a random one of 1 to `largest`; equal sizes stay equal within a case. Sizes
// 0, and 1, which broadcasts, stay.
static OpCase with_other_sizes(OpCase self, int largest) {
    uint64_t draw = self.seed + (uint64_t)largest;
    int64_t sizes[SIZES] = {0, 1};
    for (int i = 0; i < self.n_in; i++) {
        for (int d = 0; d < self.in[i].shape.ndim; d++) {
            int64_t *size = &self.in[i].shape.dims[d], *other = &sizes[*size % SIZES];
            draw = draw * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            if (*size > 1 && *other == 0) *other = 1 + (int64_t)((draw >> 33) % (uint64_t)largest);
            *size = *size > 1 ? *other : *size;
        }
    }
    return self;
}

static void run(const OpCase *self, Tensor *leaves[]) {
    bool wanted = false;
    Scope *scope = scope_open();
    for (int i = 0; i < self->n_in; i++) {
        if (!op_case_can_want_gradient(self, i)) continue;
        tensor_requires_grad(leaves[i], true);
        wanted = true;
    }
    Tensor *result = op_case_run(self, leaves);
    if (result && wanted) {
        Tensor *start = tensor_full_new(tensor_shape(result), 0.75f);
        autograd_backward_from(result, start);
        tensor_free(start);
    }
    scope_close(scope);
}

// False: the op refuses these shapes, which it may.
static bool check(const OpCase *self) {
    Tensor *leaves[OP_CASE_MAX_INPUTS];
    if (op_case_leaves_new(self, leaves)) return error_clear(), false;
    // Sums may be longer here than those for which the case's tolerance was chosen.
    oracle_watch_start(&watch, 8 * self->absolute, 8 * self->relative);
    run(self, leaves);
    oracle_watch_stop(&watch);
    bool taken = !error_pending();
    error_clear();
    op_case_leaves_free(self, leaves);
    ck_assert_msg(watch.disagreements == 0, "%s, other sizes: %d disagreements%s", self->name,
                  watch.disagreements, watch.report);
    return taken;
}

START_TEST(cases_of_any_size_have_the_oracles_values_and_counts) {
    int cases = 0, taken = 0;
    for (int c = _i; c < op_case_count(); c += GROUPS) {
        OpCase self = with_other_sizes(op_case_at(c), LARGEST);
        cases++;
        taken += check(&self);
    }
    ck_assert_msg(taken > cases * 4 / 5, "%d cases, and only %d could be run", cases, taken);
}
END_TEST

START_TEST(every_op_is_among_them) {
    static bool seen[OP_COUNT];
    for (int c = 0; c < op_case_count(); c++) {
        OpCase self = with_other_sizes(op_case_at(c), SMALL);
        if (!check(&self)) continue;
        for (int i = 0; i < watch.n_records; i++) seen[watch.records[i].op] = true;
    }
    for (int op = 1; op < OP_COUNT; op++)
        ck_assert_msg(seen[op], "op %s has run at no size but the chosen ones", op_by_id(op)->name);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {cases_of_any_size_have_the_oracles_values_and_counts, GROUPS},
        {every_op_is_among_them, 0},
        {NULL, 0},
    };
    return harness_main("random_shapes", tests);
}
