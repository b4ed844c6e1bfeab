// test_probe.c -- short tries of changes: the gain of a larger batch, another optimizer and fewer
// threads where it is known beforehand; the model, the context and the profile's own figures stay
// unchanged.
#include <string.h>

#include "profiler/measure/profile.h"
#include "tensor/memory.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/nets.h"
#include "tests/helpers/planted.h"
#include "tests/helpers/virtual_clock.h"

// ---- a model of one op whose time is known -----------------------------------------------------
static bool each;     // each sample takes 300 us; else a batch 1200 us
static int disturbed; // this many steps of 16 samples take five times as long
static Status planted_kernel(const OpCall *call, int64_t begin, int64_t end) {
    (void)begin, (void)end;
    double seconds = each ? 300e-6 * (double)call->in[0]->shape.dims[0] : 1200e-6;
    if (call->in[0]->shape.dims[0] == 16 && disturbed-- > 0) seconds *= 5.0;
    virtual_clock_pass(seconds);
    return STATUS_OK;
}

static Profile profile_planted(int64_t batch, double seconds) {
    Layer *layer = planted_new(planted_kernel);
    Tensor *x = tensor_full_new(SHAPE(batch, 3), 1.0f);
    ProfileOptions options = profile_defaults();
    options.warmup = 2;
    options.iterations = 6;
    options.probe_seconds = seconds;
    Profile profile;
    virtual_clock_begin();
    Status status = profile_inference(layer, x, options, &profile);
    virtual_clock_end();
    ck_assert_msg(!status, "%s", error_message());
    layer_free(layer);
    tensor_free(x);
    return profile;
}

START_TEST(time_that_all_samples_share_is_shared_by_more) {
    each = false;
    Profile profile = profile_planted(4, 5.0);
    const Probe *larger = &profile.probes[PROBE_LARGER_BATCH];
    ck_assert_msg(larger->rounds >= 3 && larger->low > 3.9 && larger->high < 4.1, "%d: %g to %g",
                  larger->rounds, larger->low, larger->high);
    ck_assert(larger->low <= larger->high);
    ck_assert_int_eq(profile.probes[PROBE_SGD].rounds, 0);
    profile_free(&profile);
}
END_TEST

START_TEST(time_that_each_sample_takes_is_not) {
    each = true;
    Profile profile = profile_planted(4, 5.0);
    const Probe *larger = &profile.probes[PROBE_LARGER_BATCH];
    ck_assert_msg(larger->low > 0.95 && larger->high < 1.05, "%g to %g", larger->low, larger->high);
    profile_free(&profile);
}
END_TEST

// The first round's seven steps are slow: a quarter of the rounds on either side is left out.
START_TEST(a_round_beside_other_work_is_left_out) {
    each = false;
    disturbed = 7;
    Profile profile = profile_planted(4, 5.0);
    const Probe *larger = &profile.probes[PROBE_LARGER_BATCH];
    ck_assert_int_lt(disturbed, 1);
    ck_assert_msg(larger->rounds >= 5 && larger->low > 3.9, "%d: %g to %g", larger->rounds,
                  larger->low, larger->high);
    profile_free(&profile);
    disturbed = 0;
}
END_TEST

START_TEST(what_is_of_no_use_or_takes_too_long_is_not_looked_at) {
    each = false;
    Profile profile = profile_planted(1, 5.0);
    ck_assert_int_gt(profile.probes[PROBE_LARGER_BATCH].rounds, 0);
    profile_free(&profile);
    profile = profile_planted(4, -1.0);
    for (int k = 0; k < PROBE_COUNT; k++) ck_assert_int_eq(profile.probes[k].rounds, 0);
    profile_free(&profile);
    each = true;
    profile = profile_planted(16, 1e-3); // rounds of 5 ms each
    for (int k = 0; k < PROBE_COUNT; k++) ck_assert_int_eq(profile.probes[k].rounds, 0);
    profile_free(&profile);
}
END_TEST

// ---- a training --------------------------------------------------------------------------------
static Profile profile_net(NetTask *task, OptimizerKind optimizer, double seconds) {
    ProfileOptions options = profile_defaults();
    options.iterations = 6;
    options.warmup = 2;
    options.probe_seconds = seconds;
    Profile profile;
    Status status = profile_training(task->model, optimizer_defaults(optimizer), task->x,
                                     task->labels, options, &profile);
    ck_assert_msg(!status, "%s", error_message());
    return profile;
}

// A step long enough for the clock, so that each round has as many.
static NetTask net_new(void) {
    Net net = {.sizes = {400, 300, 10}, .n_sizes = 3, .batch = 16, .options = mlp_defaults()};
    return net_task_new(&net);
}

START_TEST(an_optimizer_without_state_is_tried_where_there_is_some) {
    static const OptimizerKind kinds[] = {OPTIMIZER_SGD, OPTIMIZER_MOMENTUM, OPTIMIZER_ADAM,
                                          OPTIMIZER_LION};
    for (int k = 0; k < 4; k++) {
        NetTask task = net_new();
        Profile profile = profile_net(&task, kinds[k], 5.0);
        ck_assert_int_eq(profile.probes[PROBE_SGD].rounds > 0, kinds[k] != OPTIMIZER_SGD);
        ck_assert(profile.reconciled);
        profile_free(&profile);
        net_task_free(&task);
    }
}
END_TEST

START_TEST(nothing_is_left_of_it) {
    NetTask task = net_new();
    ParameterList list;
    ck_assert(!layer_parameters(task.model, &list));
    const Tensor *weight = list.items[0].tensor;
    size_t bytes = (size_t)weight->storage->bytes;
    void *before = memory_new(bytes);
    memcpy(before, weight->storage->data, bytes);
    Profile first = profile_net(&task, OPTIMIZER_ADAM, -1.0);
    int64_t live = expect_live_bytes();
    int threads = context_current()->threads;
    Profile profile = profile_net(&task, OPTIMIZER_ADAM, 5.0);
    ck_assert_int_eq(expect_live_bytes(), live);
    ck_assert_int_eq(context_current()->threads, threads);
    ck_assert(!error_pending());
    ck_assert_int_eq(memcmp(before, weight->storage->data, bytes), 0);
    ck_assert_int_eq(profile.measured.peak.total, first.measured.peak.total);
    ck_assert_int_eq(profile.unaccounted_bytes, 0);
    ck_assert_int_eq(profile.probes[PROBE_LARGER_BATCH].bytes, -3 * 16 * profile.bytes_per_sample);
    memory_free(before);
    parameter_list_free(&list);
    profile_free(&first);
    profile_free(&profile);
    net_task_free(&task);
}
END_TEST

// ---- recomputation -----------------------------------------------------------------------------
// Blocks of 8 -> 128 -> 8: each needs to keep only its input.
static Layer *blocks_new(void) {
    Layer *model = sequential_new();
    for (int i = 0; i < 4; i++) {
        Layer *block = sequential_new();
        layer_append(block, linear_new(8, 128, true));
        layer_append(block, activation_new(&op_tanh));
        layer_append(block, linear_new(128, 8, true));
        layer_append(model, block);
    }
    return model;
}

static Profile profile_blocks(Layer *model, Tensor *x) {
    ProfileOptions options = profile_defaults();
    options.iterations = 6;
    options.warmup = 2;
    options.probe_seconds = 5.0;
    Profile profile;
    ck_assert_msg(!profile_backward(model, x, options, &profile), "%s", error_message());
    return profile;
}

START_TEST(layers_are_run_again_where_that_lowers_the_peak) {
    Layer *model = blocks_new();
    Tensor *x = tensor_full_new(SHAPE(256, 8), 0.5f);
    Profile plain = profile_blocks(model, x);
    const Probe *probe = &plain.probes[PROBE_RECOMPUTE];
    ck_assert_str_eq(plain.recompute.pattern, "*");
    // Other work widens the interval, so the test must not ask for more, or less.
    ck_assert_msg(probe->rounds > 0 && probe->high > 0.05 && probe->low < 1.5, "%g to %g",
                  probe->low, probe->high);
    ck_assert_int_eq(plain.recompute.layers, 0);
    for (int i = 0; i < model->n_children; i++) ck_assert(!model->children[i]->recompute);
    int64_t marked;
    ck_assert(!layer_recompute_matching(model, "*", &marked) && marked == 4);
    Profile again = profile_blocks(model, x);
    ck_assert_int_eq(again.measured.peak.total, plain.recompute.pattern_bytes);
    ck_assert_int_eq(probe->bytes, plain.measured.peak.total - again.measured.peak.total);
    ck_assert_int_eq(again.recompute.layers, 4); // nothing more is tried
    ck_assert(!again.recompute.pattern[0] && again.probes[PROBE_RECOMPUTE].rounds == 0);
    for (int i = 0; i < model->n_children; i++) ck_assert(model->children[i]->recompute);
    for (int i = 1; i < 4; i++) ck_assert(!layer_recompute(model->children[i], false));
    Profile one = profile_blocks(model, x); // one is marked by choice, though most of the peak
    ck_assert_int_eq(one.recompute.layers, 1);
    ck_assert(!one.recompute.pattern[0] && model->children[0]->recompute);
    profile_free(&plain);
    profile_free(&again);
    profile_free(&one);
    layer_free(model);
    tensor_free(x);
}
END_TEST

// Each layer keeps only the next one's input.
START_TEST(of_a_perceptron_nothing_is_run_again) {
    NetTask task = net_new();
    Profile profile = profile_net(&task, OPTIMIZER_SGD, 5.0);
    ck_assert(!profile.recompute.pattern[0]);
    ck_assert_int_eq(profile.probes[PROBE_RECOMPUTE].rounds, 0);
    profile_free(&profile);
    net_task_free(&task);
}
END_TEST

// Whichever allocation fails, and however little is done: the profile stays.
START_TEST(a_look_that_fails_is_no_failure) {
    NetTask task = net_new();
    uint64_t before = memory_requests();
    Profile profile = profile_net(&task, OPTIMIZER_ADAM, -1.0);
    uint64_t without = memory_requests() - before;
    profile_free(&profile);
    before = memory_requests();
    profile = profile_net(&task, OPTIMIZER_ADAM, 5.0);
    uint64_t with = memory_requests() - before;
    profile_free(&profile);
    ck_assert_uint_gt(with, without + 10);
    uint64_t part = harness_is_slow() ? 2 : 8;
    for (uint64_t i = 1; i < with - without; i += 1 + i / part) {
        memory_fail_at(without + i);
        profile = profile_net(&task, OPTIMIZER_ADAM, 5.0);
        memory_fail_at(0);
        ck_assert(profile.reconciled && !error_pending());
        profile_free(&profile);
    }
    net_task_free(&task);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {time_that_all_samples_share_is_shared_by_more, 0},
        {time_that_each_sample_takes_is_not, 0},
        {a_round_beside_other_work_is_left_out, 0},
        {what_is_of_no_use_or_takes_too_long_is_not_looked_at, 0},
        {an_optimizer_without_state_is_tried_where_there_is_some, 0},
        {nothing_is_left_of_it, 0},
        {layers_are_run_again_where_that_lowers_the_peak, 0},
        {of_a_perceptron_nothing_is_run_again, 0},
        {a_look_that_fails_is_no_failure, 0},
        {NULL, 0},
    };
    return harness_main("probe", tests);
}
