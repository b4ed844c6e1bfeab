// test_cuda.c -- the cuda device compared with the cpu: every op case forward and backward, and
// training. Values agree within the case's tolerance; ops, costs and saved bytes are equal.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cuda/cuda_device.h"
#include "tests/cuda/cuda_runs.h"
#include "tests/helpers/expect.h"

enum { CASES_A_TEST = 16 };

START_TEST(the_device_opens) { // tests/tools/on_gpu runs it to see if there is a GPU
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

// ---- integers that no float can hold: values of cases are compared as floats -------------------
enum { WHOLES = 5000, MOST_RESULTS = 18 };

// Some values are at the limits, most are close to each other beyond 2^53.
static int64_t whole_at(int64_t i) {
    static const int64_t limits[] = {INT64_MIN, INT64_MAX, 0, -1, ((int64_t)1 << 24) + 1};
    if (i % 1009 < 5) return limits[i % 1009];
    return (i % 2 ? -1 : 1) * (((int64_t)1 << 60) + i * 37 % 4999);
}

static int whole_results(Tensor *x, Tensor *truths, Tensor *places, Tensor *y[MOST_RESULTS]) {
    const int64_t one[] = {1, 3}, two[] = {2, 0};
    Tensor *rows = tensor_reshape(x, SHAPE(5, WHOLES / 5)), *where;
    Tensor *below = tensor_neg(places); // 0, and indices that count from the end
    int n = 0;
    y[n++] = tensor_where(truths, x, tensor_neg(x));
    y[n++] = tensor_masked_fill(x, truths, -3.0f);
    y[n++] = tensor_sum(x, DIM_ALL, false);
    y[n++] = tensor_sum(rows, 0, false);
    y[n++] = tensor_sum(rows, 1, false);
    y[n++] = tensor_max(x, 0, false);
    y[n++] = tensor_min(rows, 1, false);
    y[n++] = tensor_argmax(rows, 0, false);
    y[n++] = tensor_argmin(x, 0, false);
    y[n++] = tensor_cumsum(rows, 1);
    y[n++] = tensor_topk(rows, 7, 1, false, &where);
    y[n++] = where;
    y[n++] = tensor_gather(x, 0, places);
    y[n++] = tensor_embedding(places, tensor_reshape(x, SHAPE(WHOLES / 4, 4)));
    y[n++] = tensor_gather_signed(x, 0, below);
    y[n++] = tensor_embedding_signed(below, tensor_reshape(x, SHAPE(WHOLES / 4, 4)));
    y[n++] = tensor_pad_whole(rows, one, two, PAD_CONSTANT, INT64_MIN + 1);
    y[n++] = tensor_wrap(tensor_sign(tensor_triu(rows, 2)), 8, false);
    return n;
}

static void read_whole_results(Device *device, int64_t *values[MOST_RESULTS],
                               int64_t count[MOST_RESULTS]) {
    static int64_t whole[WHOLES], place[257];
    static float truth[WHOLES];
    context_set_device(device);
    for (int64_t i = 0; i < WHOLES; i++) whole[i] = whole_at(i), truth[i] = i % 3 ? 1.0f : 0.0f;
    for (int64_t i = 0; i < 257; i++) place[i] = i * 31 % (WHOLES / 4);
    Tensor *x = tensor_from_labels_new(SHAPE(WHOLES), whole), *y[MOST_RESULTS];
    Tensor *truths = tensor_from_floats_new(SHAPE(WHOLES), truth);
    Tensor *places = tensor_from_labels_new(SHAPE(257), place);
    Scope *scope = scope_open();
    int n = whole_results(x, truths, places, y);
    for (int i = 0; i < n; i++) {
        Tensor *dense = tensor_contiguous(y[i]);
        ck_assert_msg(dense != NULL, "result %d: %s", i, error_message());
        count[i] = dense->numel;
        values[i] = calloc((size_t)count[i] + 1, sizeof *values[i]);
        ck_assert_int_eq(tensor_read_labels(dense, values[i]), STATUS_OK);
    }
    scope_close(scope);
    tensor_free(x);
    tensor_free(truths);
    tensor_free(places);
}

START_TEST(whole_numbers_are_exactly_those_of_the_cpu) {
    Device *device = cuda_device_use();
    int64_t *cpu[MOST_RESULTS], *cuda[MOST_RESULTS], count[MOST_RESULTS], counted[MOST_RESULTS];
    read_whole_results(device_cpu(), cpu, count);
    read_whole_results(device, cuda, counted);
    for (int k = 0; k < MOST_RESULTS; k++) {
        ck_assert_int_eq(count[k], counted[k]);
        for (int64_t i = 0; i < count[k]; i++)
            ck_assert_msg(cpu[k][i] == cuda[k][i], "result %d element %lld: %lld, on the cpu %lld",
                          k, (long long)i, (long long)cuda[k][i], (long long)cpu[k][i]);
        free(cpu[k]);
        free(cuda[k]);
    }
}
END_TEST

START_TEST(every_op_is_run_by_some_case) {
    Device *device = cuda_device_use();
    static bool seen[OP_COUNT];
    OpFunction function = NULL; // the last case's, and its number of runs: a few show its ops
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
    OutcomeTraining training = outcome_training(_i, harness_is_slow() ? 20 : 100);
    Device *device = cuda_device_use();
    Outcome *cpu = outcome_of_training(training, device_cpu());
    Outcome *cuda = outcome_of_training(training, device);
    for (int i = 0; i < training.steps; i++) {
        double got = (double)cuda->values[i], want = (double)cpu->values[i];
        // Or within the last bits of losses near 1: RMSprop's steps do not shrink with the
        // gradient.
        ck_assert_msg(fabs(got - want) <= 1e-4 * fabs(want) + 1e-7,
                      "step %d: loss %.9g, on the cpu %.9g", i, got, want);
    }
    ck_assert(cuda->values[training.steps - 1] < cuda->values[0]);
    outcome_free(cpu);
    outcome_free(cuda);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {the_device_opens, 0},
        {every_case_is_the_same_as_on_the_cpu, (op_case_count() + CASES_A_TEST - 1) / CASES_A_TEST},
        {whole_numbers_are_exactly_those_of_the_cpu, 0},
        {every_op_is_run_by_some_case, 0},
        {training_goes_as_on_the_cpu, OUTCOME_TRAININGS},
        {NULL, 0},
    };
    return harness_main("cuda", tests);
}
