// test_cuda.c -- the cuda device against the cpu: every op case forward and backward, and training.
// Values within the case's tolerance; the ops that ran, their costs and the bytes saved, equal.
#include <math.h>
#include <string.h>

#include "tests/cuda/cuda_device.h"
#include "tests/cuda/cuda_runs.h"
#include "tests/helpers/expect.h"

enum { CASES_A_TEST = 16 };

START_TEST(the_device_opens) { // tests/tools/on_gpu asks with it whether there is a GPU
    ck_assert_str_eq(cuda_device_use()->name, "cuda");
}
END_TEST

static void compare_counts(const char *name, const Outcome *cuda, const Outcome *cpu) {
    ck_assert_int_eq(cuda->n_records, cpu->n_records);
    for (int i = 0; i < cuda->n_records; i++) {
        const char *op = op_by_id(cuda->records[i].op)->name;
        ck_assert_str_eq(op, op_by_id(cpu->records[i].op)->name);
        ck_assert_msg(memcmp(&cuda->records[i].cost, &cpu->records[i].cost, sizeof(OpCost)) == 0,
                      "%s: op %s costs something else on cuda", name, op);
    }
    ck_assert_msg(cuda->saved_bytes == cpu->saved_bytes, "%s: saves %lld bytes, on the cpu %lld",
                  name, (long long)cuda->saved_bytes, (long long)cpu->saved_bytes);
}

static void check_case(const OpCase *self, Device *device) {
    Outcome *cpu = outcome_of_case(self, device_cpu(), false);
    Outcome *cuda = outcome_of_case(self, device, false);
    compare_counts(self->name, cuda, cpu);
    ck_assert_int_eq(cuda->count, cpu->count);
    harness_assert_close(cuda->values, cpu->values, cpu->count, self->absolute, self->relative,
                         self->name);
    outcome_free(cpu);
    outcome_free(cuda);
    ck_assert_msg(expect_live_bytes() == 0, "%s leaks", self->name);
}

START_TEST(every_case_is_the_same_as_on_the_cpu) {
    Device *device = cuda_device_use();
    int end = (_i + 1) * CASES_A_TEST;
    for (int i = _i * CASES_A_TEST; i < end && i < op_case_count(); i++) {
        OpCase self = op_case_at(i);
        check_case(&self, device);
    }
}
END_TEST

START_TEST(every_op_is_run_by_some_case) {
    Device *device = cuda_device_use();
    static bool seen[OP_COUNT];
    OpFunction function = NULL; // of the last case, and how many of it have run: a few show its ops
    int runs = 0;
    for (int c = 0; c < op_case_count(); c++) {
        OpCase self = op_case_at(c);
        runs = self.function == function ? runs : 0;
        function = self.function;
        if (!op_case_is_small(&self) || runs++ >= 8) continue;
        Outcome *outcome = outcome_of_case(&self, device, false);
        for (int i = 0; i < outcome->n_records; i++) seen[outcome->records[i].op] = true;
        outcome_free(outcome);
    }
    for (int op = 1; op < OP_COUNT; op++)
        ck_assert_msg(seen[op], "op %s was run by no case on cuda", op_by_id(op)->name);
}
END_TEST

START_TEST(training_goes_as_on_the_cpu) {
    OutcomeTraining training = outcome_training(_i);
    Device *device = cuda_device_use();
    Outcome *cpu = outcome_of_training(training, device_cpu());
    Outcome *cuda = outcome_of_training(training, device);
    for (int i = 0; i < OUTCOME_STEPS; i++) {
        double got = (double)cuda->values[i], want = (double)cpu->values[i];
        // Or within the last bits of losses near 1: RMSprop's steps get no smaller with the
        // gradient.
        ck_assert_msg(fabs(got - want) <= 1e-4 * fabs(want) + 1e-7,
                      "step %d: loss %.9g, on the cpu %.9g", i, got, want);
    }
    ck_assert(cuda->values[OUTCOME_STEPS - 1] < cuda->values[0]);
    outcome_free(cpu);
    outcome_free(cuda);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {the_device_opens, 0},
        {every_case_is_the_same_as_on_the_cpu, (op_case_count() + CASES_A_TEST - 1) / CASES_A_TEST},
        {every_op_is_run_by_some_case, 0},
        {training_goes_as_on_the_cpu, OUTCOME_TRAININGS},
        {NULL, 0},
    };
    return harness_main("cuda", tests);
}
