// test_profile_batches.c -- a step of several batches whose gradients add up: its counts, its times
// and bytes, and those of one large batch. tests/layers/test_accumulate.c tests its learning.
#include "layers/containers.h"
#include "profiler/advice/budget.h"
#include "profiler/measure/profile.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/nets.h"

static Profile profile_of(const NetTask *task, const Net *net, int64_t accumulate) {
    Profile profile;
    // Without probes: tries of other batches would leave gradients of their own.
    ProfileOptions options = {
        .warmup = 2, .iterations = 2, .accumulate = accumulate, .probe_seconds = -1.0};
    ck_assert_msg(!profile_training(task->model, optimizer_defaults(net->optimizer), task->x,
                                    task->labels, options, &profile),
                  "%s", error_message());
    ck_assert_msg(profile.reconciled, "%s", profile.difference);
    return profile;
}

static const OpCost *cost_of(const Profile *profile, ReportPhase phase) {
    return &profile->totals[phase].cost;
}

// N forwards, N backwards and the additions of their gradients, one optimizer.
static void check_counts(const Profile *many, const Profile *one, int64_t n) {
    static const ReportPhase as_often[] = {REPORT_FORWARD, REPORT_BACKWARD};
    for (int i = 0; i < 2; i++) {
        const OpCost *a = cost_of(many, as_often[i]), *b = cost_of(one, as_often[i]);
        ck_assert_uint_eq(a->macs, (uint64_t)n * b->macs);
        ck_assert_uint_eq(a->transcendental_flops, (uint64_t)n * b->transcendental_flops);
    }
    ck_assert_mem_eq(cost_of(many, REPORT_OPTIMIZER), cost_of(one, REPORT_OPTIMIZER),
                     sizeof(OpCost));
    const OpCost *forward = cost_of(many, REPORT_FORWARD);
    ck_assert_uint_eq(op_cost_total_flops(*forward),
                      (uint64_t)n * op_cost_total_flops(*cost_of(one, REPORT_FORWARD)));
    // Each batch after the first adds every element of every gradient once.
    uint64_t added = op_cost_total_flops(*cost_of(many, REPORT_BACKWARD)) -
                     (uint64_t)n * op_cost_total_flops(*cost_of(one, REPORT_BACKWARD));
    ck_assert_uint_eq(added, (uint64_t)((n - 1) * one->trainable_parameters));
    ck_assert_int_eq(many->measured.saved_bytes, one->measured.saved_bytes);
    ck_assert_int_eq(many->units, n * one->units);
    ck_assert_int_eq(many->accumulate, n);
    ck_assert_int_eq(many->batch, one->batch);
}

START_TEST(a_step_is_so_many_batches_and_one_update) {
    static const int64_t times[] = {2, 3, 17};
    Net net = net_random(_i);
    net.options.dropout = 0.0f;
    int64_t n = times[_i % 3], batch = net.batch;
    NetTask task = net_task_new(&net);
    Profile one = profile_of(&task, &net, 1), many = profile_of(&task, &net, n);
    check_counts(&many, &one, n);
    ck_assert_int_eq(one.large_batch_bytes, 0);
    ck_assert_int_eq(many.totals[REPORT_FORWARD].latency.count, 2);
    ck_assert_double_gt(latency_median(&many.totals[REPORT_STEP].latency), 0.0);
    net_task_free(&task);
    net.batch = n * batch;
    task = net_task_new(&net);
    Profile large = profile_of(&task, &net, 0);
    ck_assert_int_eq(many.large_batch_bytes, large.measured.peak.total);
    ck_assert_int_le(many.measured.peak.total, large.measured.peak.total);
    net_task_free(&task);
    profile_free(&one);
    profile_free(&many);
    profile_free(&large);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

// One batch is given three times, each weighted a third.
START_TEST(gradients_are_the_mean_of_the_batches) {
    Net net = net_random(_i);
    net.options.dropout = 0.0f;
    NetTask task = net_task_new(&net);
    Tensor *weight = task.model->children[0]->parameters[0].tensor;
    float one[60 * 60], three[60 * 60];
    Profile profile = profile_of(&task, &net, 1);
    tensor_read_floats(tensor_grad(weight), one);
    profile_free(&profile);
    profile = profile_of(&task, &net, 3);
    tensor_read_floats(tensor_grad(weight), three);
    profile_free(&profile);
    harness_assert_close(three, one, (int)weight->numel, 1e-6, 1e-5, "gradients");
    net_task_free(&task);
}
END_TEST

// The largest part of the peak grows with the batch.
START_TEST(the_peak_is_well_below_that_of_a_large_batch) {
    Net net = {.sizes = {20, 30, 10}, .n_sizes = 3, .batch = 32, .options = mlp_defaults()};
    NetTask task = net_task_new(&net);
    Profile many = profile_of(&task, &net, 8);
    ck_assert_int_lt(4 * many.measured.peak.total, many.large_batch_bytes);
    profile_free(&many);
    net_task_free(&task);
}
END_TEST

START_TEST(the_largest_batch_is_that_of_such_a_step) {
    Net net = net_random(_i);
    NetTask task = net_task_new(&net);
    BudgetTask wanted = {.model = task.model, .x = task.x, .labels = task.labels, .accumulate = 3};
    OptimizerConfig config = optimizer_defaults(net.optimizer);
    Budget budget;
    ck_assert_int_eq(budget_largest_batch(&wanted, config, 400000, true, &budget), STATUS_OK);
    ck_assert_int_ge(budget.batch, 1);
    ck_assert_int_eq(budget.measured_bytes, budget.peak_bytes);
    net_task_free(&task);
}
END_TEST

START_TEST(what_makes_no_sense_is_refused) {
    static const int64_t wrong[] = {-1, INT64_MIN, PROFILE_MOST_BATCHES + 1, INT64_MAX};
    Net net = net_random(0);
    NetTask task = net_task_new(&net);
    Profile profile;
    ProfileOptions options = {.warmup = 2, .iterations = 1};
    for (int i = 0; i < 4; i++) {
        options.accumulate = wrong[i];
        profile_training(task.model, optimizer_defaults(net.optimizer), task.x, task.labels,
                         options, &profile);
        expect_error(STATUS_INVALID_ARGUMENT, "are to add up");
        profile_free(&profile);
    }
    options.accumulate = 2; // inference adds nothing up
    ck_assert_int_eq(profile_inference(task.model, task.x, options, &profile),
                     STATUS_INVALID_ARGUMENT);
    error_clear();
    profile_free(&profile);
    ck_assert_int_eq(profile_backward(task.model, task.x, options, &profile),
                     STATUS_INVALID_ARGUMENT);
    error_clear();
    profile_free(&profile);
    net_task_free(&task);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_step_is_so_many_batches_and_one_update, 24},
        {gradients_are_the_mean_of_the_batches, 12},
        {the_peak_is_well_below_that_of_a_large_batch, 0},
        {the_largest_batch_is_that_of_such_a_step, 6},
        {what_makes_no_sense_is_refused, 0},
        {NULL, 0},
    };
    return harness_main("profile_batches", tests);
}
