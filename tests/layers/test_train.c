// test_train.c -- training steps: PyTorch's trajectories, repeatable bits, allocations of a steady
// step, the state each optimizer keeps. test_fit.c tests the loop over a dataset.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layers/train/fit.h"
#include "tensor/memory.h"
#include "tests/helpers/expect.h"

// ---- PyTorch's trajectories -------------------------------------------------------------------
enum { INPUTS = 5, HIDDEN = 7, OUTPUTS = 3, BATCH = 6, STEPS = 5 };

typedef struct Fixture {
    FILE *file;
    float x[BATCH * INPUTS], start[4][HIDDEN * INPUTS];
    int64_t labels[BATCH];
} Fixture;

static const int parameter_sizes[4] = {HIDDEN * INPUTS, HIDDEN, OUTPUTS *HIDDEN, OUTPUTS};

static void read_row(FILE *file, const char *name, float *values, int count) {
    char word[32];
    ck_assert_int_eq(fscanf(file, "%31s", word), 1);
    ck_assert_str_eq(word, name);
    for (int i = 0; i < count; i++) ck_assert_int_eq(fscanf(file, "%f", &values[i]), 1);
}

static Fixture fixture_open(void) {
    Fixture f = {.file = fopen("tests/fixtures/train.txt", "r")};
    ck_assert_msg(f.file != NULL, "tests/fixtures/train.txt: run the tests from the root");
    ck_assert_int_eq(fscanf(f.file, "#%*[^\n]"), 0);
    float labels[BATCH];
    read_row(f.file, "x", f.x, BATCH * INPUTS);
    read_row(f.file, "labels", labels, BATCH);
    for (int i = 0; i < BATCH; i++) f.labels[i] = (int64_t)labels[i];
    for (int i = 0; i < 4; i++) read_row(f.file, "start", f.start[i], parameter_sizes[i]);
    return f;
}

static OptimizerConfig config_of(int trajectory, float decay) {
    OptimizerConfig config = optimizer_defaults((OptimizerKind)(trajectory / 2));
    if (config.kind >= OPTIMIZER_ADAM) config.learning_rate = 0.01f;
    config.weight_decay = decay;
    return config;
}

START_TEST(five_steps_of_an_mlp_follow_pytorch) {
    Fixture f = fixture_open();
    char line[512], kind[16];
    float want[HIDDEN * INPUTS], decay = 0.0f;
    for (int found = -1; found < _i;) {
        ck_assert_ptr_nonnull(fgets(line, sizeof line, f.file));
        found += sscanf(line, "trajectory %15s %f", kind, &decay) == 2;
    }
    OptimizerConfig config = config_of(_i, decay);
    ck_assert_str_eq(kind, optimizer_flag(config.kind));
    Layer *model = mlp_new((int64_t[]){INPUTS, HIDDEN, OUTPUTS}, 3, mlp_defaults());
    ParameterList list;
    layer_parameters(model, &list);
    for (int i = 0; i < 4; i++) tensor_write_floats(list.items[i].tensor, f.start[i]);
    Optimizer *optimizer = optimizer_new(model, config);
    Tensor *x = tensor_from_floats_new(SHAPE(BATCH, INPUTS), f.x);
    Tensor *labels = tensor_from_labels_new(SHAPE(BATCH), f.labels);
    for (int step = 0; step < STEPS; step++) {
        double loss = 0.0;
        ck_assert_int_eq(train_step(model, optimizer, x, labels, &loss), STATUS_OK);
        read_row(f.file, "loss", want, 1);
        ck_assert_double_eq_tol(loss, (double)want[0], 1e-6);
    }
    for (int i = 0; i < 4; i++) {
        read_row(f.file, "after", want, parameter_sizes[i]);
        harness_assert_close(tensor_data(list.items[i].tensor), want, parameter_sizes[i], 2e-6,
                             2e-6, list.items[i].path);
    }
    fclose(f.file);
    parameter_list_free(&list);
    optimizer_free(optimizer);
    layer_free(model);
    tensor_free(x);
    tensor_free(labels);
}
END_TEST

// ---- a small task of our own ------------------------------------------------------------------
typedef struct Task {
    Layer *model;
    Optimizer *optimizer;
    Tensor *x, *labels;
} Task;

static Task task_new(OptimizerConfig config, const int64_t *sizes, int64_t batch, float dropout) {
    MlpOptions options = mlp_defaults();
    options.dropout = dropout;
    Task task = {.model = mlp_new(sizes, 3, options)};
    task.optimizer = optimizer_new(task.model, config);
    task.x = tensor_normal_new(SHAPE(batch, sizes[0]), 0.0f, 1.0f);
    task.labels = tensor_new(SHAPE(batch), DTYPE_INT64);
    for (int64_t i = 0; i < batch; i++) tensor_labels(task.labels)[i] = i % sizes[2];
    expect_no_error();
    return task;
}

static Task small_task(OptimizerKind kind) {
    return task_new(optimizer_defaults(kind), (int64_t[]){20, 30, 4}, 16, 0.0f);
}

static double step(Task *task) {
    double loss = 0.0;
    Status status = train_step(task->model, task->optimizer, task->x, task->labels, &loss);
    ck_assert_msg(status == STATUS_OK, "%s", error_message());
    return loss;
}

static void task_free(Task *task) {
    optimizer_free(task->optimizer);
    layer_free(task->model);
    tensor_free(task->x);
    tensor_free(task->labels);
}

START_TEST(every_optimizer_lowers_the_loss) {
    Task task = small_task((OptimizerKind)_i);
    if (_i == OPTIMIZER_LION) optimizer_set_learning_rate(task.optimizer, 0.001f); // few steps
    double first = step(&task), last = first;
    for (int i = 0; i < 60; i++) last = step(&task);
    ck_assert_msg(last < 0.8 * first, "from %g to %g", first, last);
    task_free(&task);
}
END_TEST

// ---- repeatable -------------------------------------------------------------------------------
enum { TRACE = 8, WEIGHT = 300 * 257 };

typedef struct Trace {
    double losses[TRACE];
    float weight[WEIGHT];
} Trace;

static void train_with_threads(int threads, OptimizerKind kind, int64_t inputs, int64_t batch,
                               Trace *trace) {
    memset(trace, 0, sizeof *trace);
    context_set_threads(threads);
    context_seed(11);
    Task task = task_new(optimizer_defaults(kind), (int64_t[]){inputs, 300, 11}, batch, 0.1f);
    for (int i = 0; i < TRACE; i++) trace->losses[i] = step(&task);
    Tensor *weight = task.model->children[0]->parameters[0].tensor;
    ck_assert_int_eq(tensor_read_floats(weight, trace->weight), STATUS_OK);
    task_free(&task);
}

START_TEST(two_runs_with_one_seed_and_thread_count_give_the_same_bits) {
    static Trace first, second;
    for (int threads = 1; threads <= 3; threads++) {
        train_with_threads(threads, (OptimizerKind)_i, 257, 130, &first);
        train_with_threads(threads, (OptimizerKind)_i, 257, 130, &second);
        ck_assert_mem_eq(&first, &second, sizeof first);
    }
}
END_TEST

// Products of up to 2^18 multiply-adds are not split. The update of 33,000 weights is split, but
// its result does not depend on the places.
START_TEST(the_number_of_threads_changes_no_bit_while_products_are_small) {
    static Trace one, many;
    train_with_threads(1, (OptimizerKind)_i, 110, 7, &one);
    for (int threads = 2; threads <= 3; threads++) {
        train_with_threads(threads, (OptimizerKind)_i, 110, 7, &many);
        ck_assert_mem_eq(&one, &many, sizeof one);
    }
}
END_TEST

// OpenBLAS sums in another order in a block of another shape, so bigger products agree only up to
// rounding. Measured: within 8 steps no loss moved by more than 7e-8 of its size, one unit in the
// last place; by 7e-6 with RMSprop, whose first steps are ten times the rate in the gradient's
// sign, however small the gradient is.
START_TEST(the_number_of_threads_changes_large_products_by_rounding_only) {
    static Trace one, many;
    train_with_threads(1, (OptimizerKind)_i, 257, 130, &one);
    for (int threads = 2; threads <= 3; threads++) {
        train_with_threads(threads, (OptimizerKind)_i, 257, 130, &many);
        double share = _i < OPTIMIZER_RMSPROP ? 1e-6 : 5e-5;
        for (int i = 0; i < TRACE; i++)
            ck_assert_double_eq_tol(many.losses[i], one.losses[i], share * one.losses[i]);
    }
}
END_TEST

// ---- memory -----------------------------------------------------------------------------------
START_TEST(a_steady_training_step_makes_no_system_call_for_memory) {
    if (context_ledger()->raw) test_skip("RIDGEPOINT_ALLOC=raw: there is no cache");
    context_set_threads(2);
    Task task =
        task_new(optimizer_defaults((OptimizerKind)_i), (int64_t[]){257, 300, 11}, 130, 0.1f);
    for (int i = 0; i < 3; i++) step(&task);
    uint64_t calls = memory_system_calls();
    int64_t live = expect_live_bytes(), reserved = context_ledger()->reserved_bytes;
    for (int i = 0; i < 10; i++) {
        step(&task);
        ck_assert_int_eq(expect_live_bytes(), live);
    }
    ck_assert_uint_eq(memory_system_calls(), calls);
    ck_assert_int_eq(context_ledger()->reserved_bytes, reserved);
    task_free(&task);
}
END_TEST

START_TEST(state_takes_the_documented_bytes_per_parameter) {
    const int64_t state_bytes[OPTIMIZER_COUNT] = {0, 4, 8, 8, 4, 4};
    bool counts = _i == OPTIMIZER_ADAM || _i == OPTIMIZER_ADAMW;
    const MemoryUse *live = &context_ledger()->live;
    Task task = small_task((OptimizerKind)_i);
    int64_t parameters = layer_parameter_count(task.model);
    ck_assert_int_eq(live->category[MEM_GRADIENT], 0); // made at the first backward
    step(&task);
    ck_assert_int_eq(live->category[MEM_PARAMETER], 4 * parameters);
    ck_assert_int_eq(live->category[MEM_GRADIENT], 4 * parameters);
    ck_assert_int_eq(live->category[MEM_OPTIMIZER], state_bytes[_i] * parameters);
    ck_assert_int_eq(live->category[MEM_ACTIVATION], 0);
    ck_assert_int_eq(live->category[MEM_STAGING], counts ? 8 : 4); // rate (and step count)
    ck_assert_int_eq(ledger_unaccounted(context_ledger()), 0);
    task_free(&task);
    ck_assert_int_eq(live->total, 0);
}
END_TEST

// ---- settings ---------------------------------------------------------------------------------
START_TEST(a_new_learning_rate_counts_from_the_next_step) {
    Task task = small_task((OptimizerKind)_i);
    Tensor *weight = task.model->children[0]->parameters[0].tensor;
    float before[600], after[600];
    step(&task);
    optimizer_set_learning_rate(task.optimizer, 0.0f);
    tensor_read_floats(weight, before);
    step(&task);
    tensor_read_floats(weight, after);
    ck_assert_mem_eq(before, after, sizeof before);
    optimizer_set_learning_rate(task.optimizer, 0.01f);
    step(&task);
    tensor_read_floats(weight, after);
    ck_assert_mem_ne(before, after, sizeof before);
    task_free(&task);
}
END_TEST

// Momentum 0 is plain SGD, and SGD ignores the configured momentum.
START_TEST(momentum_counts_for_momentum_only_and_may_be_zero) {
    double losses[3][4];
    for (int k = 0; k < 3; k++) {
        OptimizerConfig config = optimizer_defaults(k == 1 ? OPTIMIZER_MOMENTUM : OPTIMIZER_SGD);
        config.learning_rate = 0.1f;
        config.momentum = k == 2 ? 0.9f : 0.0f;
        context_seed(21);
        Task task = task_new(config, (int64_t[]){20, 20, 20}, 16, 0.0f);
        for (int i = 0; i < 4; i++) losses[k][i] = step(&task);
        task_free(&task);
    }
    ck_assert_mem_eq(losses[0], losses[1], sizeof losses[0]);
    ck_assert_mem_eq(losses[0], losses[2], sizeof losses[0]);
}
END_TEST

START_TEST(a_wrong_label_stops_the_step_and_the_next_one_works) {
    Task task = small_task(OPTIMIZER_ADAM);
    double loss = 0.0;
    int64_t live = 0;
    for (int i = 0; i < 3; i++) {
        tensor_labels(task.labels)[2] = i == 1 ? 99 : 2;
        Status status = train_step(task.model, task.optimizer, task.x, task.labels, &loss);
        ck_assert_int_eq(status, i == 1 ? STATUS_INVALID_ARGUMENT : STATUS_OK);
        if (i == 1) expect_error(STATUS_INVALID_ARGUMENT, "label 99 in row 2 is not in [0, 4)");
        if (i == 0) live = expect_live_bytes();
        ck_assert_int_eq(expect_live_bytes(), live);
    }
    task_free(&task);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {five_steps_of_an_mlp_follow_pytorch, 2 * OPTIMIZER_COUNT},
        {every_optimizer_lowers_the_loss, OPTIMIZER_COUNT},
        {two_runs_with_one_seed_and_thread_count_give_the_same_bits, OPTIMIZER_COUNT},
        {the_number_of_threads_changes_no_bit_while_products_are_small, OPTIMIZER_COUNT},
        {the_number_of_threads_changes_large_products_by_rounding_only, OPTIMIZER_COUNT},
        {a_steady_training_step_makes_no_system_call_for_memory, OPTIMIZER_COUNT},
        {state_takes_the_documented_bytes_per_parameter, OPTIMIZER_COUNT},
        {a_new_learning_rate_counts_from_the_next_step, OPTIMIZER_COUNT},
        {momentum_counts_for_momentum_only_and_may_be_zero, 0},
        {a_wrong_label_stops_the_step_and_the_next_one_works, 0},
        {NULL, 0},
    };
    return harness_main("train", tests);
}
