// test_op_faults.c -- each op case, forward and backward, with each of its allocations failing
// once: an ordinary error, after which nothing is left.
#include "autograd/autograd.h"
#include "tensor/memory.h"
#include "tests/helpers/expect.h"
#include "tests/ops/op_cases.h"

enum { PARTS = 16 }; // parts of the table, one process each

// Runs forward and backward on the meta device. True: no allocation failed.
// all: every float input wants a gradient, even where a numeric gradient would differ.
static bool run_failing(const OpCase *self, bool all, uint64_t nth) {
    Tensor *leaves[OP_CASE_MAX_INPUTS];
    op_case_leaves_new(self, leaves);
    for (int i = 0; i < self->n_in; i++)
        if (op_case_can_want_gradient(self, i) ||
            (all && leaves[i] && leaves[i]->dtype == DTYPE_FLOAT32))
            tensor_requires_grad(leaves[i], true);
    Scope *scope = scope_open();
    memory_fail_at(nth);
    Tensor *result = op_case_run(self, leaves);
    Tensor *start = result ? tensor_new_as(result->shape, DTYPE_FLOAT32, MEM_ACTIVATION) : NULL;
    if (start && tensor_wants_grad(result)) autograd_backward_from(result, start);
    memory_fail_at(0);
    bool fine = !error_pending();
    ck_assert_msg(fine || nth == 0 || error_status() == STATUS_OUT_OF_MEMORY, "%s: %s", self->name,
                  error_message());
    error_clear();
    tensor_free(start);
    scope_close(scope);
    op_case_leaves_free(self, leaves);
    return fine;
}

START_TEST(an_op_without_memory_is_an_ordinary_error) {
    enum { MOST = 400 };
    context_set_device(device_meta());
    for (int c = _i; c < op_case_count(); c += PARTS) {
        OpCase self = op_case_at(c);
        int64_t live = expect_live_bytes();
        uint64_t nth = 1;
        bool all = run_failing(&self, true, 0);
        while (nth < MOST && !run_failing(&self, all, nth)) nth++;
        ck_assert_msg(nth < MOST, "%s: more than %d requests", self.name, MOST);
        ck_assert_msg(expect_live_bytes() == live, "%s: something is left", self.name);
    }
    context_set_device(device_cpu());
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {{an_op_without_memory_is_an_ordinary_error, PARTS}, {NULL, 0}};
    return harness_main("op_faults", tests);
}
