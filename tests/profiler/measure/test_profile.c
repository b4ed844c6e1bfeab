// test_profile.c -- profile_training on random networks: runs match predictions, parts add up to
// wholes, bytes follow closed formulas, and the model is left unchanged. test_profile_parts.c tests
// recording, test_profile_faults.c failures.
#include <math.h>
#include <string.h>

#include "tests/helpers/expect.h"
#include "tests/helpers/nets.h"

enum { NETS = 60, SAMPLES = 3 };

// ---- counts ----------------------------------------------------------------------------------
enum { FIELDS = sizeof(OpCost) / sizeof(uint64_t) };

static uint64_t field(const ProfilePhase *phase, int f) {
    return ((const uint64_t *)(const void *)&phase->cost)[f];
}

static void check_sums(const Profile *profile) {
    for (int p = 0; p < REPORT_COUNT; p++)
        for (int f = 0; f < FIELDS; f++) {
            uint64_t sum = 0;
            for (int i = 0; i < profile->n_layers; i++)
                sum += field(&profile->layers[i].phase[p], f);
            ck_assert_msg(sum == field(&profile->totals[p], f), "%s, field %d: %llu, totals %llu",
                          report_phase_name((ReportPhase)p), f, (unsigned long long)sum,
                          (unsigned long long)field(&profile->totals[p], f));
        }
}

// Backward is its two parts and a rest, which an MLP's products do not have. The step is its three
// phases.
static void check_phases(const ProfilePhase phase[REPORT_COUNT], const char *path) {
    for (int f = 0; f < FIELDS; f++) {
        uint64_t parts =
            field(&phase[REPORT_BACKWARD_INPUT], f) + field(&phase[REPORT_BACKWARD_WEIGHT], f);
        uint64_t backward = field(&phase[REPORT_BACKWARD], f);
        ck_assert_msg(f == 0 ? parts == backward : parts <= backward, "%s: field %d", path, f);
        uint64_t step =
            field(&phase[REPORT_FORWARD], f) + backward + field(&phase[REPORT_OPTIMIZER], f);
        ck_assert_msg(step == field(&phase[REPORT_STEP], f), "%s: the step's field %d", path, f);
    }
}

static void check_products(const Profile *profile, const Net *net) {
    uint64_t forward = 0, first = 0;
    for (int i = 0; i + 1 < net->n_sizes; i++) {
        uint64_t macs = (uint64_t)(net->batch * net->sizes[i] * net->sizes[i + 1]);
        forward += macs;
        if (i == 0) first = macs;
    }
    ck_assert_uint_eq(profile->totals[REPORT_FORWARD].cost.macs, forward);
    ck_assert_uint_eq(profile->totals[REPORT_BACKWARD_WEIGHT].cost.macs, forward);
    ck_assert_uint_eq(profile->totals[REPORT_BACKWARD_INPUT].cost.macs, forward - first);
    ck_assert_uint_eq(profile->totals[REPORT_OPTIMIZER].cost.macs, 0);
}

START_TEST(predicted_is_executed_and_parts_add_up_to_the_whole) {
    Net net = net_random(_i);
    Profile profile = net_profile(&net, SAMPLES);
    ck_assert_msg(profile.reconciled, "%s", profile.difference);
    ck_assert_int_eq(profile.n_uncounted, 0);
    check_sums(&profile);
    check_phases(profile.totals, "totals");
    for (int i = 0; i < profile.n_layers; i++)
        check_phases(profile.layers[i].phase, profile.layers[i].path);
    check_products(&profile, &net);
    profile_free(&profile);
}
END_TEST

// ---- memory ----------------------------------------------------------------------------------
START_TEST(measured_memory_is_the_predicted_and_its_categories_add_up) {
    static const int64_t state_bytes[OPTIMIZER_COUNT] = {0, 4, 8, 8, 4, 4};
    Net net = net_random(_i);
    Profile profile = net_profile(&net, SAMPLES);
    const ProfileMemory *measured = &profile.measured, *predicted = &profile.predicted;
    int64_t sum = 0, parameters = profile.parameters;
    for (int c = 0; c < MEM_COUNT; c++) {
        sum += measured->peak.category[c];
        ck_assert_msg(measured->peak.category[c] == predicted->peak.category[c],
                      "%s: %lld, not %lld", memory_category_name((MemoryCategory)c),
                      (long long)measured->peak.category[c],
                      (long long)predicted->peak.category[c]);
    }
    ck_assert_int_eq(measured->peak.total, sum);
    ck_assert_int_eq(predicted->peak.total, sum);
    ck_assert_int_eq(measured->saved_bytes, predicted->saved_bytes);
    ck_assert_str_eq(measured->peak_op, predicted->peak_op);
    ck_assert_int_eq(profile.unaccounted_bytes, 0);
    ck_assert_int_eq(measured->peak.category[MEM_PARAMETER], 4 * parameters);
    ck_assert_int_eq(measured->peak.category[MEM_GRADIENT], 4 * parameters);
    ck_assert_int_eq(measured->peak.category[MEM_OPTIMIZER],
                     state_bytes[net.optimizer] * parameters);
    ck_assert_int_eq(measured->peak.category[MEM_DATA], net.batch * (4 * net.sizes[0] + 8));
    profile_free(&profile);
}
END_TEST

// Saved for backward: the output of each ReLU, which is also the next layer's input; for the loss,
// the logits and each row's maximum and sum. The batch is data, and a weight is a parameter.
START_TEST(saved_bytes_follow_the_closed_formula) {
    Net net = net_random(_i);
    net.options = mlp_defaults();
    Profile profile = net_profile(&net, SAMPLES);
    int64_t total = 0;
    for (int i = 0; i < profile.n_layers; i++) {
        const ProfileLayer *layer = &profile.layers[i];
        int number = 0;
        int64_t want = 0;
        if (sscanf(layer->path, "relu%d", &number) == 1) want = 4 * net.batch * net.sizes[number];
        if (strcmp(layer->path, "loss") == 0)
            want = net.batch * (4 * net.sizes[net.n_sizes - 1] + 8);
        ck_assert_msg(layer->saved_bytes == want, "%s: %lld instead of %lld", layer->path,
                      (long long)layer->saved_bytes, (long long)want);
        total += want;
    }
    ck_assert_int_eq(profile.n_layers, 2 * (net.n_sizes - 1) - 1 + 2); // loss and (model)
    ck_assert_int_eq(profile.measured.saved_bytes, total);
    profile_free(&profile);
}
END_TEST

START_TEST(one_more_sample_takes_what_was_said) {
    Net net = net_random(_i);
    Profile profile = net_profile(&net, 1);
    net.batch++;
    Profile larger = net_profile(&net, 1);
    ck_assert_int_eq(larger.measured.peak.total - profile.measured.peak.total,
                     profile.bytes_per_sample);
    profile_free(&larger);
    profile_free(&profile);
}
END_TEST

START_TEST(inference_takes_what_was_said) {
    Net net = net_random(_i);
    net.options.dropout = 0.0f; // inference has no dropout
    NetTask task = net_task_new(&net);
    int64_t labels = tensor_bytes(task.labels); // inference needs no labels
    ledger_reset_peak(context_ledger());
    no_grad_begin();
    Scope *scope = scope_open();
    ck_assert_ptr_nonnull(layer_forward(task.model, task.x));
    scope_close(scope);
    no_grad_end();
    int64_t peak = context_ledger()->peak.total;
    net_task_free(&task);
    Profile profile = net_profile(&net, 1);
    ck_assert_int_eq(profile.inference_bytes, peak - labels);
    profile_free(&profile);
}
END_TEST

// ---- times -----------------------------------------------------------------------------------
static void check_samples(const Latency *latency, bool happened, int64_t samples,
                          const char *what) {
    ck_assert_msg(latency->count == (happened ? samples : 0), "%s: %lld samples", what,
                  (long long)latency->count);
    for (int64_t i = 0; i < latency->count; i++)
        ck_assert_msg(latency->samples[i] >= 0.0 && latency->samples[i] < 10.0, "%s: %g s", what,
                      latency->samples[i]);
    if (happened) ck_assert_int_eq(latency->statistics.n, samples);
}

// Time adds up as counts do, except for rounding, since sums come in another order.
static void check_layer_times(const ProfileLayer *layer, int64_t samples) {
    const ProfilePhase *phase = layer->phase;
    for (int64_t i = 0; i < samples; i++) {
        double of[REPORT_COUNT];
        for (int p = 0; p < REPORT_COUNT; p++)
            of[p] = phase[p].latency.samples ? phase[p].latency.samples[i] : 0.0;
        double parts = of[REPORT_BACKWARD_INPUT] + of[REPORT_BACKWARD_WEIGHT];
        ck_assert_msg(parts <= of[REPORT_BACKWARD] + 1e-12, "%s: backward's parts", layer->path);
    }
}

START_TEST(every_latency_has_as_many_samples_as_asked_for_and_the_medians_add_up) {
    Net net = net_random(_i);
    int64_t samples = 1 + 4 * _i;
    Profile profile = net_profile(&net, samples);
    double layers = 0.0;
    for (int r = 0; r < REPORT_COUNT; r++)
        check_samples(&profile.totals[r].latency, profile.totals[r].ops > 0, samples, "totals");
    check_samples(&profile.inference, true, samples, "inference");
    for (int i = 0; i < profile.n_layers; i++) {
        const ProfileLayer *layer = &profile.layers[i];
        for (int r = 0; r < REPORT_STEP; r++)
            check_samples(&layer->phase[r].latency, layer->phase[r].ops > 0, samples, layer->path);
        check_layer_times(layer, samples);
        layers += profile_layer_seconds(layer);
    }
    double step = latency_median(&profile.totals[REPORT_STEP].latency);
    ck_assert(step - layers == profile.unattributed_seconds); // equal to the bit
    double all = profile.threads * profile.totals[REPORT_STEP].latency.statistics.mean;
    ck_assert(profile.cpu_seconds > 0.0 && profile.cpu_seconds <= 1.1 * all);
    ck_assert(profile.cold_seconds > 0.0 && isfinite(profile.overhead_fraction));
    ck_assert_int_eq(profile.warmup, 2);
    profile_free(&profile);
}
END_TEST

// A step that takes longer than `seconds` is observed three times, and the parts without time are
// named; kernels run alone all the same.
START_TEST(of_long_steps_there_are_few) {
    Net net = net_random(3);
    NetTask task = net_task_new(&net);
    Profile profile;
    Machine machine;
    ck_assert_int_eq(machine_read("tests/fixtures/peaks.json", &machine), STATUS_OK);
    ProfileOptions options = {.seconds = 1e-7, .machine = &machine};
    profile_training(task.model, optimizer_defaults(net.optimizer), task.x, task.labels, options,
                     &profile);
    expect_no_error();
    ck_assert_int_eq(profile.totals[REPORT_STEP].latency.count, 3);
    ck_assert_int_eq(profile.layers[0].phase[REPORT_FORWARD].latency.count, 3);
    ck_assert_int_eq(profile.inference.count, 0);
    ck_assert(isnan(profile.overhead_fraction) && profile.warmup == 2);
    ck_assert(isfinite(profile.totals[REPORT_STEP].terms.kernels));
    ck_assert_int_eq(profile.n_left_out, 2);
    ck_assert_str_eq(profile.left_out[0], "forward alone");
    ck_assert_str_eq(profile.left_out[1], "trying what would help");
    profile_free(&profile);
    net_task_free(&task);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

START_TEST(without_a_number_of_iterations_time_decides_within_bounds) {
    Net net = net_random(3);
    NetTask task = net_task_new(&net);
    for (int i = 0; i < 2; i++) {
        Profile profile;
        ProfileOptions options = {.seconds = i ? 60.0 : 0.0};
        OptimizerConfig config = optimizer_defaults(net.optimizer);
        profile_training(task.model, config, task.x, task.labels, options, &profile);
        expect_no_error();
        ck_assert_int_eq(profile.totals[REPORT_STEP].latency.count, i ? 200 : 10);
        if (i == 0)
            ck_assert(profile.warmup == 2 && !profile.steady);
        else
            ck_assert(profile.warmup >= 10 && profile.warmup <= 200);
        ck_assert(!profile.steady || !profile.trend);
        ck_assert(profile.overhead_low <= profile.overhead_fraction);
        ck_assert(profile.overhead_high >= profile.overhead_fraction);
        profile_free(&profile);
    }
    net_task_free(&task);
}
END_TEST

// ---- progress ----------------------------------------------------------------------------------
typedef struct Told {
    double first, last;
    int count;
} Told;

static void note(void *argument, double fraction) {
    Told *told = argument;
    ck_assert(fraction >= 0.0 && fraction <= 1.0);
    if (told->count++ == 0) told->first = fraction;
    told->last = fraction;
}

// No test with a clock can check the prediction's quality; progress leads from near 0 to near 1.
START_TEST(progress_is_told_from_the_first_forward_to_the_last) {
    Net net = {.sizes = {64, 32, 8}, .n_sizes = 3, .batch = 16, .options = mlp_defaults()};
    NetTask task = net_task_new(&net);
    Told told = {.count = 0};
    ProfileOptions options = {.iterations = 40, .progress = note, .argument = &told};
    Profile profile;
    OptimizerConfig config = optimizer_defaults(OPTIMIZER_SGD);
    profile_training(task.model, config, task.x, task.labels, options, &profile);
    expect_no_error();
    ck_assert_int_ge(told.count, 2 + 2 + 40 + 2 + 40); // steps, warm-up, samples, forward
    ck_assert_msg(told.first < 0.5 && told.last > 0.5, "%g to %g", told.first, told.last);
    profile_free(&profile);
    net_task_free(&task);
}
END_TEST

START_TEST(a_rate_counts_what_it_is_told_and_a_step_trains_by_the_loss_that_is_given) {
    Net net = {.sizes = {6, 3}, .n_sizes = 2, .batch = 4, .options = mlp_defaults()};
    NetTask task = net_task_new(&net);
    Tensor *target = tensor_full_new(SHAPE(4, 3), 0.5f);
    ProfileOptions options = {.warmup = 2, .iterations = 1, .loss = loss_mse};
    OptimizerConfig config = optimizer_defaults(OPTIMIZER_SGD);
    Profile profile;
    profile_training(task.model, config, task.x, target, options, &profile);
    expect_no_error();
    ck_assert_msg(profile.reconciled, "%s", profile.difference);
    ck_assert_str_eq(profile.unit, "samples");
    ck_assert_int_eq(profile.units, 4);
    bool mse = false;
    for (int64_t i = 0; i < profile.n_ops; i++)
        mse = mse || strcmp(profile.ops[i].record.op->name, "mse") == 0;
    ck_assert(mse);
    profile_free(&profile);
    options = (ProfileOptions){.warmup = 2, .iterations = 1, .unit = "tokens", .units = 28};
    profile_training(task.model, config, task.x, task.labels, options, &profile);
    ck_assert_str_eq(profile.unit, "tokens");
    ck_assert_int_eq(profile.units, 28);
    profile_free(&profile);
    tensor_free(target);
    net_task_free(&task);
}
END_TEST

// ---- the model -------------------------------------------------------------------------------
static void read_parameters(const Layer *model, float *values) {
    ParameterList list;
    ck_assert_int_eq(layer_parameters(model, &list), STATUS_OK);
    for (int i = 0; i < list.count; values += list.items[i++].tensor->numel)
        tensor_read_floats(list.items[i].tensor, values);
    parameter_list_free(&list);
}

START_TEST(profiling_leaves_the_model_and_the_context_as_they_were) {
    static float start[20000], end[20000];
    Net net = net_random(_i);
    NetTask task = net_task_new(&net);
    size_t bytes = sizeof(float) * (size_t)layer_parameter_count(task.model);
    ck_assert_uint_le(bytes, sizeof start);
    read_parameters(task.model, start);
    const Context *context = context_current(), before = *context;
    Profile profile;
    ProfileOptions options = {.iterations = SAMPLES};
    profile_training(task.model, optimizer_defaults(net.optimizer), task.x, task.labels, options,
                     &profile);
    expect_no_error();
    read_parameters(task.model, end);
    ck_assert_mem_eq(start, end, bytes);
    ck_assert(task.model->training);
    ck_assert_ptr_eq(context_current(), context);
    ck_assert_ptr_eq(context->observers, before.observers);
    ck_assert_ptr_eq(context->scope, before.scope);
    ck_assert(context->site == before.site && context->phase == before.phase);
    ck_assert(context->no_grad == before.no_grad && autograd_node_count() == 0);
    profile_free(&profile);
    net_task_free(&task);
}
END_TEST

START_TEST(a_model_on_meta_has_the_same_counts_and_no_times) {
    Net net = net_random(_i);
    Profile cpu = net_profile(&net, SAMPLES);
    context_set_device(device_meta());
    Profile meta = net_profile(&net, SAMPLES);
    profile_expect_counted_only(&meta);
    ck_assert_str_eq(meta.device, "meta");
    ck_assert_int_eq(cpu.n_layers, meta.n_layers);
    for (int p = 0; p < REPORT_COUNT; p++) {
        ck_assert_int_eq(meta.totals[p].latency.count, 0);
        for (int i = 0; i < cpu.n_layers; i++) {
            const ProfilePhase *a = &cpu.layers[i].phase[p], *b = &meta.layers[i].phase[p];
            ck_assert_msg(memcmp(&a->cost, &b->cost, sizeof a->cost) == 0, "%s %s",
                          cpu.layers[i].path, report_phase_name((ReportPhase)p));
            ck_assert_int_eq(b->latency.count, 0);
        }
    }
    ck_assert(isnan(meta.unattributed_seconds) && isnan(meta.overhead_fraction));
    ck_assert(isnan(meta.cold_seconds) && meta.inference.count == 0);
    ck_assert_mem_eq(&cpu.measured.peak, &meta.measured.peak, sizeof cpu.measured.peak);
    ck_assert_int_eq(cpu.bytes_per_sample, meta.bytes_per_sample);
    profile_free(&meta);
    profile_free(&cpu);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {predicted_is_executed_and_parts_add_up_to_the_whole, NETS},
        {measured_memory_is_the_predicted_and_its_categories_add_up, NETS},
        {saved_bytes_follow_the_closed_formula, 10},
        {one_more_sample_takes_what_was_said, 10},
        {inference_takes_what_was_said, 10},
        {every_latency_has_as_many_samples_as_asked_for_and_the_medians_add_up, 6},
        {of_long_steps_there_are_few, 0},
        {without_a_number_of_iterations_time_decides_within_bounds, 0},
        {progress_is_told_from_the_first_forward_to_the_last, 0},
        {a_rate_counts_what_it_is_told_and_a_step_trains_by_the_loss_that_is_given, 0},
        {profiling_leaves_the_model_and_the_context_as_they_were, 10},
        {a_model_on_meta_has_the_same_counts_and_no_times, 10},
        {NULL, 0},
    };
    return harness_main("profile", tests);
}
