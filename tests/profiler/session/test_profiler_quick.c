// test_profiler_quick.c -- single answers from one call: each compared with a formula, a whole
// profile, or a layer that counts for itself. test_profiler_whole.c tests whole profiles.
#include <string.h>

#include "profiler/session/profiler.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/nets.h"
#include "tests/helpers/virtual_clock.h"

// ---- counts ------------------------------------------------------------------------------------
START_TEST(parameters_are_the_sum_over_the_layers) {
    Net net = net_random(_i);
    NetTask task = net_task_new(&net);
    int64_t want = 0;
    for (int i = 1; i < net.n_sizes; i++)
        want += net.sizes[i] * (net.sizes[i - 1] + (net.options.bias ? 1 : 0));
    ck_assert_int_eq(profiler_count_parameters(task.model), want);
    net_task_free(&task);
    ck_assert_int_eq(profiler_count_parameters(NULL), -1);
    expect_error(STATUS_INVALID_ARGUMENT, ": ");
}
END_TEST

START_TEST(flops_are_twice_the_multiply_adds_of_a_sample_wherever_it_lives) {
    Net net = net_random(_i / 2);
    if (_i % 2) context_set_device(device_meta());
    NetTask task = net_task_new(&net);
    int64_t live = expect_live_bytes(), storages = context_ledger()->live_storages;
    uint64_t want = 0, flops = 0;
    for (int i = 1; i < net.n_sizes; i++) want += 2u * (uint64_t)(net.sizes[i] * net.sizes[i - 1]);
    ck_assert_int_eq(profiler_count_flops(task.model, task.x, &flops), STATUS_OK);
    ck_assert_uint_eq(flops, want);
    ck_assert_int_eq(expect_live_bytes(), live);
    ck_assert_int_eq(context_ledger()->live_storages, storages);
    net_task_free(&task);
    context_set_device(device_cpu());
}
END_TEST

START_TEST(bytes_are_those_of_a_forward_of_the_whole_batch) {
    Net net = net_random(_i);
    NetTask task = net_task_new(&net);
    layer_train(task.model, false);
    uint64_t read, written;
    ck_assert_int_eq(profiler_count_bytes(task.model, task.x, &read, &written), STATUS_OK);
    Profile profile;
    profile_inference(task.model, task.x, (ProfileOptions){.warmup = 2, .iterations = 1}, &profile);
    ck_assert_uint_eq(read, profile.totals[REPORT_FORWARD].cost.bytes_read);
    ck_assert_uint_eq(written, profile.totals[REPORT_FORWARD].cost.bytes_written);
    profile_free(&profile);
    net_task_free(&task);
    Layer *linear = linear_new(7, 5, true);
    Tensor *x = tensor_zeros_new(SHAPE(3, 7));
    ck_assert_int_eq(profiler_count_bytes(linear, x, &read, &written), STATUS_OK);
    ck_assert(read == 4 * (3 * 7 + 7 * 5 + 5) && written == 4 * 3 * 5);
    tensor_free(x);
    layer_free(linear);
}
END_TEST

// ---- memory ------------------------------------------------------------------------------------
START_TEST(memory_is_what_a_dry_run_predicts_and_leaves_others_out) {
    Net net = net_random(_i);
    NetTask task = net_task_new(&net), again = net_task_new(&net);
    Tensor *bystander = tensor_zeros_new(SHAPE(1000));
    const ProfileOptions options = {.warmup = 2, .iterations = 1};
    Profile inference, training;
    profile_inference(again.model, again.x, options, &inference);
    profile_backward(again.model, again.x, options, &training);
    expect_no_error();
    for (int i = 0; i < 2; i++) { // a new model, then one with gradients
        ProfilerMemory memory;
        ck_assert_int_eq(profiler_measure_memory(task.model, task.x, &memory), STATUS_OK);
        const int64_t *now = memory.inference.category, *most = memory.training.category;
        ck_assert_mem_eq(&memory.inference, &inference.predicted.peak, sizeof memory.inference);
        ck_assert_mem_eq(&memory.training, &training.predicted.peak, sizeof memory.training);
        ck_assert_int_eq(memory.saved_bytes, training.predicted.saved_bytes);
        ck_assert(now[MEM_PARAMETER] == training.parameter_bytes && now[MEM_GRADIENT] == 0);
        ck_assert(now[MEM_DATA] == tensor_bytes(task.x) && most[MEM_OPTIMIZER] == 0);
        ck_assert_int_eq(most[MEM_GRADIENT], training.parameter_bytes);
    }
    profile_free(&inference);
    profile_free(&training);
    tensor_free(bystander);
    net_task_free(&task);
    net_task_free(&again);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

// ---- latency -----------------------------------------------------------------------------------
static struct {
    int64_t calls;
    double seconds; // seconds of each call on the virtual clock
    bool training, gradients, fails;
} seen;

static Tensor *count_calls(Layer *self, Tensor *const in[], int n_in) {
    (void)n_in;
    seen.calls++;
    virtual_clock_pass(seen.seconds);
    seen.training = seen.training || self->training;
    seen.gradients = seen.gradients || !context_current()->no_grad;
    if (seen.fails && seen.calls == 5) error_set(STATUS_STATE, "counting: the fifth call");
    return tensor_relu(in[0]);
}
static const LayerType counting_type = {.name = "Counting",
                                        .size = sizeof(Layer),
                                        .forward = count_calls};

// A forward of 3 us is repeated 8 times in each sample of at least 20 us, after tries with 1, 2 and
// 4.
START_TEST(a_latency_has_as_many_samples_as_asked_for) {
    Layer *layer = layer_new(&counting_type);
    bool slow = _i >= 2;
    Tensor *x = tensor_zeros_new(SHAPE(1));
    Latency latency;
    memset(&seen, 0, sizeof seen);
    seen.seconds = slow ? 1e-3 : 3e-6;
    int64_t warmup = _i % 2 ? 3 : 0, iterations = 4;
    virtual_clock_begin();
    Status status = profiler_measure_latency(layer, x, warmup, iterations, &latency);
    virtual_clock_end();
    ck_assert_int_eq(status, STATUS_OK);
    ck_assert(latency.count == 4 && latency.statistics.n == 4);
    ck_assert_double_eq_tol(latency.statistics.min, seen.seconds, 1e-6);
    ck_assert_double_eq_tol(latency.statistics.max, seen.seconds, 1e-6);
    ck_assert(!seen.training && !seen.gradients && layer->training);
    ck_assert_int_eq(seen.calls, warmup + (slow ? iterations : 1 + 2 + 4 + 8 * iterations));
    latency_free(&latency);
    ck_assert(latency.count == 0 && !latency.samples);
    latency_free(&latency); // freeing twice is fine
    layer_free(layer);
    tensor_free(x);
}
END_TEST

START_TEST(a_latency_that_cannot_be_measured_says_why) {
    Layer *layer = layer_new(&counting_type);
    Tensor *x = tensor_zeros_new(SHAPE(2, 2));
    Latency latency;
    const int64_t wrong[][2] = {{0, 0}, {0, -1}, {-1, 1}, {0, INT64_MAX}};
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(profiler_measure_latency(layer, x, wrong[i][0], wrong[i][1], &latency),
                         STATUS_INVALID_ARGUMENT);
        ck_assert(latency.count == 0 && !latency.samples);
        expect_error(STATUS_INVALID_ARGUMENT, "iterations after a warm-up of");
    }
    for (int warmup = 0; warmup < 6; warmup++) { // the fifth call is in a sample, or in the warm-up
        memset(&seen, 0, sizeof seen);
        seen.fails = true;
        ck_assert_int_eq(profiler_measure_latency(layer, x, warmup, 10, &latency), STATUS_STATE);
        ck_assert(latency.count == 0 && !latency.samples && layer->training);
        expect_error(STATUS_STATE, "the fifth call");
    }
    tensor_free(x);
    context_set_device(device_meta());
    x = tensor_zeros_new(SHAPE(2, 2));
    ck_assert_int_eq(profiler_measure_latency(layer, x, 0, 1, &latency), STATUS_OK);
    ck_assert_int_eq(latency.count, 0);
    layer_free(layer);
    tensor_free(x);
    context_set_device(device_cpu());
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {parameters_are_the_sum_over_the_layers, 12},
        {flops_are_twice_the_multiply_adds_of_a_sample_wherever_it_lives, 24},
        {bytes_are_those_of_a_forward_of_the_whole_batch, 24},
        {memory_is_what_a_dry_run_predicts_and_leaves_others_out, 24},
        {a_latency_has_as_many_samples_as_asked_for, 4},
        {a_latency_that_cannot_be_measured_says_why, 0},
        {NULL, 0},
    };
    return harness_main("profiler_quick", tests);
}
