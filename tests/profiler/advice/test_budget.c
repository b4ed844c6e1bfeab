// test_budget.c -- the largest batch that fits, found by dry runs, compared with walks over all
// batches and with real steps. test_budget_faults.c: no real steps, side effects.
#include "profiler/advice/budget.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/nets.h"

static Budget largest(const NetTask *task, OptimizerConfig config, int64_t bytes, bool verify) {
    Budget budget;
    Status status = budget_largest_batch(&(BudgetTask){.model = task->model, .x = task->x}, config,
                                         bytes, verify, &budget);
    ck_assert_msg(!status, "%s", error_message());
    expect_no_error();
    ck_assert_int_ge(budget.batch, 0);
    ck_assert_int_le(budget.peak_bytes, bytes);
    ck_assert_int_gt(budget.next_bytes, bytes);
    return budget;
}

// The peak of a training step as profile_training measures it.
static int64_t measured_peak(NetTask *task, OptimizerConfig config) {
    Profile profile;
    ProfileOptions options = {.warmup = 2, .iterations = 1};
    Status status = profile_training(task->model, config, task->x, task->labels, options, &profile);
    ck_assert_msg(!status, "%s", error_message());
    int64_t peak = profile.measured.peak.total;
    profile_free(&profile);
    return peak;
}

// ---- the search ------------------------------------------------------------------------------
// Tries every budget around every peak of the batches up to 40, each peak that of a real step.
START_TEST(the_largest_batch_is_the_one_that_a_walk_finds) {
    enum { MOST = 40 };
    Net net = net_random(_i);
    OptimizerConfig config = optimizer_defaults(net.optimizer);
    config.clip_norm = _i % 3 == 0 ? 1.0f : 0.0f;
    int64_t peak[MOST + 2] = {0};
    for (net.batch = 1; net.batch <= MOST + 1; net.batch++) {
        NetTask task = net_task_new(&net);
        peak[net.batch] = measured_peak(&task, config);
        ck_assert_int_gt(peak[net.batch], peak[net.batch - 1]);
        net_task_free(&task);
    }
    net.batch = 1 + _i % 7; // x may have any batch
    NetTask task = net_task_new(&net);
    for (int64_t batch = 0; batch <= MOST; batch++) {
        const int64_t budgets[] = {peak[batch], (peak[batch] + peak[batch + 1]) / 2,
                                   peak[batch + 1] - 1};
        for (int i = 0; i < 3; i++) {
            Budget budget = largest(&task, config, budgets[i], false);
            ck_assert_int_eq(budget.batch, batch);
            ck_assert_int_eq(budget.peak_bytes, peak[batch]);
            ck_assert_int_eq(budget.next_bytes, peak[batch + 1]);
            ck_assert_int_eq(budget.measured_bytes, -1);
        }
    }
    net_task_free(&task);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

// The layer y = x * scale, so that no matrix product limits the rows to 2^31.
static Tensor *scale(Layer *self, Tensor *const in[], int n_in) {
    (void)n_in;
    return tensor_mul(in[0], self->parameters[0].tensor);
}
static const LayerType scaling_type = {.name = "Scale", .size = sizeof(Layer), .forward = scale};

START_TEST(any_budget_is_searched_up_to_more_bytes_than_there_are) {
    NetTask task = {.model = layer_new(&scaling_type), .x = tensor_zeros_new(SHAPE(1, 5 + _i))};
    layer_add_parameter(task.model, "scale", tensor_full_new(SHAPE(5 + _i), 1.0f));
    int64_t previous = 0;
    for (int power = 0; power <= 60; power++) {
        int64_t bytes = ((int64_t)1 << power) - power % 2;
        Budget budget = largest(&task, optimizer_defaults((OptimizerKind)_i), bytes, false);
        ck_assert_int_ge(budget.batch, previous);
        previous = budget.batch;
        if (budget.batch == 0) ck_assert_int_eq(budget.peak_bytes, 0);
        ck_assert(budget.next_bytes < INT64_MAX);
    }
    ck_assert_int_gt(previous, (int64_t)1 << 50);
    net_task_free(&task);
}
END_TEST

static int forwards; // forwards of the layer below

static Tensor *count_forward(Layer *self, Tensor *const in[], int n_in) {
    (void)self, (void)n_in;
    forwards++;
    return tensor_relu(in[0]);
}
static const LayerType counting_type = {.name = "Counting",
                                        .size = sizeof(Layer),
                                        .forward = count_forward};

START_TEST(five_dry_runs_are_the_rule_and_eight_the_most) {
    int64_t runs = 0, searches = 0;
    for (int seed = 0; seed < 40; seed++) {
        Net net = net_random(seed);
        NetTask task = net_task_new(&net);
        layer_add_child(task.model, "counting", layer_new(&counting_type));
        for (int power = 10; power <= 36; power++, searches++) {
            forwards = 0;
            largest(&task, optimizer_defaults(net.optimizer), ((int64_t)1 << power) + 777, false);
            ck_assert_msg(forwards <= 2 * 8, "seed %d, 2^%d: %d", seed, power, forwards / 2);
            runs += forwards / 2; // two steps per dry run
        }
        net_task_free(&task);
    }
    ck_assert_int_le(runs, 5 * searches);
}
END_TEST

// A matrix product of 2^31 rows, or more FLOPs than 64 bits hold: long before 2^60 bytes are full.
START_TEST(what_cannot_be_counted_does_not_fit) {
    context_set_device(device_meta());
    const int64_t width = _i ? 1 << 16 : 20;
    Net net = {.sizes = {width, width, 10}, .n_sizes = 3, .batch = 3, .options = mlp_defaults()};
    NetTask task = net_task_new(&net);
    Budget budget = largest(&task, optimizer_defaults(OPTIMIZER_ADAM), (int64_t)1 << 60, true);
    ck_assert_int_gt(budget.batch, (int64_t)1 << 25);
    ck_assert_int_lt(budget.batch, (int64_t)1 << 31);
    ck_assert(budget.next_bytes == INT64_MAX);
    ck_assert_int_eq(budget.measured_bytes, -1);
    net_task_free(&task);
}
END_TEST

// ---- real steps ------------------------------------------------------------------------------
START_TEST(a_real_step_of_the_batch_takes_what_was_predicted) {
    Net net = net_random(_i);
    OptimizerConfig config = optimizer_defaults(net.optimizer);
    config.clip_norm = _i % 2 ? 0.5f : 0.0f;
    NetTask task = net_task_new(&net);
    int64_t one = largest(&task, config, 1, false).next_bytes;
    const int64_t budgets[] = {one, 2 * one, 5 * one + 3, one + 200000};
    for (int i = 0; i < 4; i++) {
        Budget budget = largest(&task, config, budgets[i], true);
        ck_assert_int_ge(budget.batch, 1);
        ck_assert_int_eq(budget.measured_bytes, budget.peak_bytes);
    }
    ck_assert_int_eq(largest(&task, config, one - 1, true).measured_bytes, -1);
    net_task_free(&task);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

START_TEST(each_optimizer_takes_what_was_predicted) {
    Net net = net_random(_i);
    NetTask task = net_task_new(&net);
    int64_t peak[OPTIMIZER_COUNT];
    ck_assert_int_eq(budget_by_optimizer(&(BudgetTask){.model = task.model, .x = task.x}, peak),
                     STATUS_OK);
    for (int k = 0; k < OPTIMIZER_COUNT; k++)
        ck_assert_int_eq(peak[k], measured_peak(&task, optimizer_defaults((OptimizerKind)k)));
    ck_assert_int_lt(peak[OPTIMIZER_SGD], peak[OPTIMIZER_MOMENTUM]);
    ck_assert_int_lt(peak[OPTIMIZER_MOMENTUM], peak[OPTIMIZER_ADAM]);
    ck_assert_int_eq(peak[OPTIMIZER_ADAM], peak[OPTIMIZER_ADAMW]);
    net_task_free(&task);
}
END_TEST

// Reshapes (batch, 3, 4) to (batch, 12).
static Tensor *flatten(Layer *self, Tensor *const in[], int n_in) {
    (void)self, (void)n_in;
    return tensor_reshape(in[0], SHAPE(in[0]->shape.dims[0], 12));
}
static const LayerType flattening_type = {.name = "Flatten",
                                          .size = sizeof(Layer),
                                          .forward = flatten};

START_TEST(samples_may_have_more_dimensions_and_want_gradients) {
    NetTask task = {.model = sequential_new(), .x = tensor_zeros_new(SHAPE(2, 3, 4))};
    layer_add_child(task.model, "fc1", linear_new(4, 4, true));
    layer_add_child(task.model, "flatten", layer_new(&flattening_type));
    layer_add_child(task.model, "fc2", linear_new(12, 5, true));
    OptimizerConfig config = optimizer_defaults(OPTIMIZER_ADAMW);
    int64_t batch[2];
    for (int wanted = 0; wanted < 2; wanted++) {
        tensor_requires_grad(task.x, wanted);
        Budget budget = largest(&task, config, 50000, true);
        ck_assert_int_eq(budget.measured_bytes, budget.peak_bytes);
        batch[wanted] = budget.batch;
    }
    ck_assert_int_gt(batch[0], batch[1]);
    net_task_free(&task);
}
END_TEST

START_TEST(a_frozen_parameter_and_tensors_alive_beside_make_no_difference_to_the_agreement) {
    Net net = net_random(_i);
    net.options.bias = true; // the bias stays trainable
    NetTask task = net_task_new(&net), other = net_task_new(&net);
    Optimizer *optimizer = optimizer_new(other.model, optimizer_defaults(OPTIMIZER_ADAM));
    Tensor *beside = tensor_zeros_new(SHAPE(12345));
    measured_peak(&other, optimizer_defaults(OPTIMIZER_SGD)); // leaves it with gradients, too
    for (int frozen = 0; frozen < 2; frozen++) {
        tensor_requires_grad(task.model->children[0]->parameters[0].tensor, !frozen);
        Budget budget = largest(&task, optimizer_defaults(net.optimizer), 300000, true);
        ck_assert_int_ge(budget.batch, 1);
        ck_assert_int_eq(budget.measured_bytes, budget.peak_bytes);
        measured_peak(&task, optimizer_defaults(net.optimizer)); // leaves gradients behind
    }
    tensor_free(beside);
    optimizer_free(optimizer);
    net_task_free(&other);
    net_task_free(&task);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {the_largest_batch_is_the_one_that_a_walk_finds, 24},
        {any_budget_is_searched_up_to_more_bytes_than_there_are, OPTIMIZER_COUNT},
        {five_dry_runs_are_the_rule_and_eight_the_most, 0},
        {what_cannot_be_counted_does_not_fit, 2},
        {a_real_step_of_the_batch_takes_what_was_predicted, 48},
        {each_optimizer_takes_what_was_predicted, 24},
        {samples_may_have_more_dimensions_and_want_gradients, 0},
        {a_frozen_parameter_and_tensors_alive_beside_make_no_difference_to_the_agreement, 12},
        {NULL, 0},
    };
    return harness_main("budget", tests);
}
