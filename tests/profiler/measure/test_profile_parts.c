// test_profile_parts.c -- the parts of profiling: recording without a trace, differences that are
// found and worded, and memory that runs out at every single allocation.
#include <stdio.h>
#include <string.h>

#include "profiler/measure/profile_parts.h"
#include "profiler/report/report.h"
#include "tensor/memory.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/nets.h"

// ---- the timeline ----------------------------------------------------------------------------
typedef struct Steps { // a task after two steps: gradients, state and caches exist
    NetTask task;
    Optimizer *optimizer;
} Steps;

static void step(Steps *steps) {
    StepTimes times;
    Work work = {.kind = PROFILE_TRAINING,
                 .model = steps->task.model,
                 .optimizer = steps->optimizer,
                 .x = steps->task.x,
                 .labels = steps->task.labels};
    work_step(&work, &times);
    expect_no_error();
    double parts = times.forward + times.backward + times.optimizer;
    ck_assert(times.forward > 0.0 && times.backward > 0.0 && times.optimizer > 0.0);
    ck_assert(parts <= times.total + 1e-12);
}

static Steps steps_new(int seed) {
    Net net = net_random(seed);
    Steps steps = {.task = net_task_new(&net)};
    steps.optimizer = optimizer_new(steps.task.model, optimizer_defaults(net.optimizer));
    for (int i = 0; i < 2; i++) step(&steps);
    return steps;
}

static void steps_free(Steps *steps) {
    optimizer_free(steps->optimizer);
    net_task_free(&steps->task);
}

START_TEST(a_step_is_recorded_whole_in_order_and_under_the_right_sites) {
    Steps steps = steps_new(_i);
    Timeline timeline;
    StepRecord record;
    ck_assert_int_eq(timeline_new(&timeline, (TimelineOptions){.capacity = 1000}), STATUS_OK);
    timeline_start(&timeline);
    step_record_start(&record, NULL);
    step(&steps);
    step_record_stop(&record);
    timeline_stop(&timeline);
    step(&steps); // not observed any more
    ck_assert_int_eq(timeline.count, record.n_ops);
    ck_assert_int_eq(timeline.dropped, 0);
    for (int64_t i = 0; i < timeline.count; i++) {
        const ProfileEvent *event = &timeline.events[i];
        ck_assert(event->begin <= event->end && event->kind == EVENT_OP);
        ck_assert(i == 0 || timeline.events[i - 1].end <= event->begin);
        const OpRecord *op = &record.ops[i];
        ck_assert(event->op == op->op && event->phase == op->phase && event->site == op->site);
    }
    step_record_free(&record);
    timeline_free(&timeline);
    steps_free(&steps);
}
END_TEST

START_TEST(recording_makes_no_request_for_memory) {
    Steps steps = steps_new(_i);
    Timeline timeline;
    ck_assert_int_eq(timeline_new(&timeline, (TimelineOptions){.capacity = 1000}), STATUS_OK);
    uint64_t requests = memory_requests();
    step(&steps);
    uint64_t without = memory_requests() - requests, calls = memory_system_calls();
    requests = memory_requests();
    timeline_start(&timeline);
    step(&steps);
    timeline_stop(&timeline);
    ck_assert_uint_eq(memory_requests() - requests, without);
    if (!context_ledger()->raw) ck_assert_uint_eq(memory_system_calls(), calls);
    timeline_free(&timeline);
    steps_free(&steps);
}
END_TEST

START_TEST(a_full_timeline_drops_and_counts) {
    Steps steps = steps_new(_i);
    Timeline timeline;
    ck_assert_int_eq(timeline_new(&timeline, (TimelineOptions){.capacity = 1000}), STATUS_OK);
    timeline_start(&timeline);
    step(&steps);
    timeline_stop(&timeline);
    int64_t all = timeline.count;
    timeline_free(&timeline);
    ck_assert_int_eq(timeline_new(&timeline, (TimelineOptions){.capacity = all - 2}), STATUS_OK);
    timeline_start(&timeline);
    step(&steps);
    ck_assert_int_eq(timeline.count, all - 2);
    ck_assert_int_eq(timeline.dropped, 2);
    timeline_rewind(&timeline, 0);
    step(&steps);
    timeline_stop(&timeline);
    ck_assert_int_eq(timeline.count, all - 2);
    ck_assert_int_eq(timeline.dropped, 4);
    timeline_free(&timeline);
    steps_free(&steps);
}
END_TEST

// ---- differences -----------------------------------------------------------------------------
// A layer that runs one ReLU more than its dry run.
static Tensor *lie(Layer *self, Tensor *const in[], int n_in) {
    (void)self, (void)n_in;
    Tensor *y = tensor_relu(in[0]);
    return !y->device->has_data ? y : tensor_relu(y);
}
static const LayerType lying_type = {.name = "Lying", .size = sizeof(Layer), .forward = lie};

static Profile profile_layer(Layer *model, int64_t batch, int64_t inputs) { // frees the model
    Profile profile;
    Tensor *x = tensor_zeros_new(SHAPE(batch, inputs));
    Tensor *labels = tensor_from_labels_new(SHAPE(batch), (int64_t[]){0, 0, 0, 0, 0, 0, 0, 0});
    profile_training(model, optimizer_defaults(OPTIMIZER_SGD), x, labels,
                     (ProfileOptions){.iterations = 1}, &profile);
    expect_no_error();
    layer_free(model);
    tensor_free(x);
    tensor_free(labels);
    return profile;
}

START_TEST(work_that_was_not_predicted_is_found_and_named) {
    Layer *model = sequential_new();
    layer_add_child(model, "fc", linear_new(3, 5, true));
    layer_add_child(model, "liar", layer_new(&lying_type));
    Profile profile = profile_layer(model, 4, 3);
    ck_assert(!profile.reconciled);
    ck_assert_str_eq(profile.difference,
                     "liar forward: elementwise_flops: predicted 20, executed 40");
    profile_free(&profile);
}
END_TEST

// A layer that allocates for itself when it runs: 400 bytes of activation.
static Tensor *hoard(Layer *self, Tensor *const in[], int n_in) {
    (void)self, (void)n_in;
    if (in[0]->device->has_data)
        tensor_free(tensor_new_as(SHAPE(100), DTYPE_FLOAT32, MEM_ACTIVATION));
    return tensor_relu(in[0]);
}
static const LayerType hoarding_type = {.name = "Hoarding",
                                        .size = sizeof(Layer),
                                        .forward = hoard};

// A layer with a fixed batch size, as in careless models' reshapes.
static Tensor *fix_batch(Layer *self, Tensor *const in[], int n_in) {
    (void)self, (void)n_in;
    return tensor_reshape(in[0], SHAPE(4, 3));
}
static const LayerType fixed_type = {.name = "Fixed", .size = sizeof(Layer), .forward = fix_batch};

START_TEST(a_model_of_one_batch_is_profiled_with_that) {
    Layer *model = sequential_new();
    layer_add_child(model, "fixed", layer_new(&fixed_type));
    layer_add_child(model, "fc", linear_new(3, 5, true));
    Profile profile = profile_layer(model, 4, 3);
    ck_assert_msg(profile.reconciled, "%s", profile.difference);
    ck_assert(profile.one_batch);
    ck_assert_int_eq(profile.bytes_per_sample, 0);
    char report[8192] = {0};
    FILE *file = fmemopen(report, sizeof report - 1, "w");
    report_print(&profile, file);
    fclose(file);
    ck_assert_msg(strstr(report, "the model takes no other batch") != NULL, "%s", report);
    profile_free(&profile);
}
END_TEST

START_TEST(a_byte_that_was_not_predicted_is_found_and_named) {
    Layer *model = sequential_new();
    layer_add_child(model, "fc", linear_new(3, 5, true));
    layer_add_child(model, "hoard", layer_new(&hoarding_type));
    Profile profile = profile_layer(model, 4, 3);
    ck_assert(!profile.reconciled);
    ck_assert_msg(strstr(profile.difference, "memory at the peak: activation_bytes: predicted ") !=
                      NULL,
                  "%s", profile.difference);
    profile_free(&profile);
}
END_TEST

// Fills `profile` with predictions for the task, as profile_training does.
static void predict(Profile *profile, NetTask *task) {
    Work work = {
        .kind = PROFILE_TRAINING, .model = task->model, .x = task->x, .labels = task->labels};
    profile_predict(&work, optimizer_defaults(OPTIMIZER_SGD), SHAPE_SCALAR, profile);
    expect_no_error();
}

// Changes a stored count of the table by one: the prediction differs from it, and says so.
static int spoil_fields(Profile *profile, NetTask *task, FieldScope scope, void *of,
                        const char *where) {
    int n = 0;
    for (const ProfileField *f = profile_fields(scope); f->key; f++) {
        int64_t *count = profile_field_at(f, of);
        char want[192];
        if (!(f->uses & FIELD_COMPARED) || f->derived) continue;
        ++*count;
        predict(profile, task);
        --*count;
        ck_assert(!profile->reconciled);
        snprintf(want, sizeof want, "%s: %s: predicted %lld, executed %lld", where, f->key,
                 (long long)*count, (long long)*count + 1);
        ck_assert_str_eq(profile->difference, want);
        n++;
    }
    return n;
}

START_TEST(a_single_wrong_count_is_found_and_named) {
    Net net = net_random(0);
    net.optimizer = OPTIMIZER_SGD;
    Profile profile = net_profile(&net, 1);
    NetTask task = net_task_new(&net);
    char where[128];
    for (int i = 0; i < profile.n_layers; i++) {
        ProfileLayer *layer = &profile.layers[i];
        ReportPhase phase = (ReportPhase)(i % REPORT_COUNT);
        snprintf(where, sizeof where, "%s %s", layer->path, report_phase_name(phase));
        ck_assert_int_eq(spoil_fields(&profile, &task, FIELDS_PHASE, &layer->phase[phase], where),
                         sizeof(OpCost) / sizeof(uint64_t));
        snprintf(where, sizeof where, "%s forward", layer->path);
        spoil_fields(&profile, &task, FIELDS_LAYER, layer, where);
    }
    ck_assert_int_eq(spoil_fields(&profile, &task, FIELDS_USE, &profile.measured.peak,
                                  "memory at the peak"),
                     MEM_COUNT);
    predict(&profile, &task);
    ck_assert_msg(profile.reconciled, "%s", profile.difference);
    profile_free(&profile);
    net_task_free(&task);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_step_is_recorded_whole_in_order_and_under_the_right_sites, 24},
        {recording_makes_no_request_for_memory, 24},
        {a_full_timeline_drops_and_counts, 6},
        {work_that_was_not_predicted_is_found_and_named, 0},
        {a_model_of_one_batch_is_profiled_with_that, 0},
        {a_byte_that_was_not_predicted_is_found_and_named, 0},
        {a_single_wrong_count_is_found_and_named, 0},
        {NULL, 0},
    };
    return harness_main("profile_parts", tests);
}
