// test_cuda_profile.c -- profiles and sessions on a device with a time of its own, on one clock of
// host and emulated device, so that figures are exact. test_cuda_stamps.c tests the stamps.
#include <math.h>
#include <string.h>

#include "profiler/explain/explain_parts.h"
#include "profiler/files/profile_json.h"
#include "profiler/report/report.h"
#include "tensor/memory.h"
#include "tests/cuda/cuda_task.h"
#include "tests/helpers/profile_document.h"

enum { SAMPLES = 8, OUT_OF_MEMORY = 2 };

static ProfileOptions few(int64_t samples) {
    ProfileOptions options = profile_defaults();
    options.warmup = 2;
    options.iterations = samples;
    return options;
}

static Status profile_task(CudaTask *task, ProfileOptions options, Profile *profile) {
    return profile_training(task->model, optimizer_defaults(OPTIMIZER_ADAMW), task->x, task->labels,
                            options, profile);
}

static void check_seconds(double seconds, int64_t nanoseconds, const char *what) {
    ck_assert_msg(fabs(seconds - 1e-9 * (double)nanoseconds) < 1e-12, "%s: %.4f us, expected %.3f",
                  what, 1e6 * seconds, 1e-3 * (double)nanoseconds);
}

// ---- exact figures -----------------------------------------------------------------------------
// With 300 ns per launch the host is far ahead of the device; with 9000 ns the device waits for it.
static const int64_t hosts[] = {300, 9000};

START_TEST(each_op_takes_what_the_device_works_for_it) {
    CudaTask task;
    Profile profile;
    cuda_task_start(&task, hosts[_i]);
    ck_assert_msg(profile_task(&task, few(SAMPLES), &profile) == 0, "%s", error_message());
    ck_assert(profile.has_device_times);
    ck_assert_int_eq(profile.n_ops, task.n_ops);
    int64_t device = 0;
    for (int64_t i = 0; i < profile.n_ops; i++) {
        const ProfileOp *op = &profile.ops[i];
        ck_assert_ptr_eq(op->record.op, task.ops[i]);
        ck_assert_int_eq(op->latency.count, SAMPLES);
        check_seconds(op->latency.statistics.min, CUDA_KERNEL * task.work[i], task.ops[i]->name);
        check_seconds(op->latency.statistics.max, CUDA_KERNEL * task.work[i], task.ops[i]->name);
        device += CUDA_KERNEL * task.work[i];
    }
    double layers = 0.0;
    for (int i = 0; i < profile.n_layers; i++) layers += profile_layer_seconds(&profile.layers[i]);
    check_seconds(layers, device, "all layers");
    profile_free(&profile);
    cuda_task_free(&task);
}
END_TEST

START_TEST(a_step_takes_what_the_slower_of_the_two_takes) {
    CudaTask task;
    Profile profile;
    cuda_task_start(&task, hosts[_i]);
    ck_assert_msg(profile_task(&task, few(SAMPLES), &profile) == 0, "%s", error_message());
    const ProfilePhase *totals = profile.totals;
    double step = latency_median(&totals[REPORT_STEP].latency), device = 0.0, phases = 0.0;
    for (int64_t i = 0; i < task.n_ops; i++) device += 1e-9 * CUDA_KERNEL * (double)task.work[i];
    double host = 1e-9 * (double)(hosts[_i] * task.launches);
    ck_assert_msg(step > fmax(device, host) - 1e-6 && step < fmax(device, host) + 10e-6, "%g",
                  step);
    // A phase ends on the device: forward's time is all that the device did until then.
    static const ReportPhase three[] = {REPORT_FORWARD, REPORT_BACKWARD, REPORT_OPTIMIZER};
    for (int i = 0; i < 3; i++) phases += latency_median(&totals[three[i]].latency);
    ck_assert_msg(fabs(phases - step) < 1e-6, "%g of %g", phases, step);
    ck_assert_double_eq_tol(profile.unattributed_seconds, step - device, 1e-12);
    ck_assert_double_eq_tol(profile.device_busy_fraction, fmin(1.0, device / step), 1e-9);
    ck_assert_int_eq(profile.launches, task.launches);
    check_seconds(latency_median(&profile.launch), hosts[_i], "a launch");
    ck_assert_int_eq(profile.launch.count, SAMPLES);
    // x and labels: 140 and 40 bytes, at 10 bytes per nanosecond.
    ck_assert_int_eq(profile.batch_copy_bytes, 140 + 40);
    check_seconds(latency_median(&profile.batch_copy), 2 * CUDA_COPY + 14 + 4, "the batch");
    ck_assert(isfinite(profile.overhead_fraction) && profile.overhead_fraction >= 0.0);
    profile_free(&profile);
    cuda_task_free(&task);
}
END_TEST

// The device marks the phases in turn, forward and backward of each batch.
START_TEST(a_step_of_three_batches_has_three_forwards_of_time) {
    CudaTask task;
    Profile one, three;
    ProfileOptions options = few(SAMPLES);
    cuda_task_start(&task, hosts[_i]);
    ck_assert_msg(profile_task(&task, options, &one) == 0, "%s", error_message());
    options.accumulate = 3;
    ck_assert_msg(profile_task(&task, options, &three) == 0, "%s", error_message());
    ck_assert_msg(three.reconciled, "%s", three.difference);
    double phases = 0.0, step = latency_median(&three.totals[REPORT_STEP].latency);
    static const ReportPhase parts[] = {REPORT_FORWARD, REPORT_BACKWARD, REPORT_OPTIMIZER};
    for (int i = 0; i < 3; i++) phases += latency_median(&three.totals[parts[i]].latency);
    ck_assert_msg(fabs(phases - step) < 2e-6, "%g of %g", phases, step);
    double forward = latency_median(&one.totals[REPORT_FORWARD].latency);
    double forwards = latency_median(&three.totals[REPORT_FORWARD].latency);
    ck_assert_msg(fabs(forwards - 3.0 * forward) < 0.05 * forwards + 1e-6, "%g, not 3 x %g",
                  forwards, forward);
    double update = latency_median(&one.totals[REPORT_OPTIMIZER].latency);
    ck_assert_double_eq_tol(latency_median(&three.totals[REPORT_OPTIMIZER].latency), update, 1e-6);
    profile_free(&one);
    profile_free(&three);
    cuda_task_free(&task);
}
END_TEST

START_TEST(the_batch_stays_what_it_is) {
    CudaTask task;
    Profile profile;
    cuda_task_start(&task, 300);
    float before[35], after[35];
    ck_assert_int_eq(tensor_read_floats(task.x, before), STATUS_OK);
    ck_assert_int_eq(profile_task(&task, few(2), &profile), STATUS_OK);
    ck_assert_int_eq(tensor_read_floats(task.x, after), STATUS_OK);
    ck_assert_mem_eq(before, after, sizeof before);
    profile_free(&profile);
    cuda_task_free(&task);
}
END_TEST

// ---- verdict, report, JSON ---------------------------------------------------------------------
static const Machine machine = {
    .peak_flops_per_second = 1e9,
    .levels = {{.name = "HBM", .bytes = INT64_MAX, .bytes_per_second = 1e9}},
    .n_levels = 1,
    .dispatch_seconds = 1e-9};

START_TEST(a_batch_that_takes_longer_to_carry_than_to_learn_from_is_transfer_bound) {
    CudaTask task;
    Profile profile;
    char *text;
    size_t size;
    cuda_task_start(&task, 300);
    Machine carries = machine; // at 1 kB/s or 1 TB/s
    carries.from_host_bytes_per_second = _i ? 1e3 : 1e12;
    ProfileOptions options = few(SAMPLES);
    options.machine = &carries;
    ck_assert_msg(profile_task(&task, options, &profile) == 0, "%s", error_message());
    const ProfilePhase *step = &profile.totals[REPORT_STEP];
    ck_assert_int_eq(step->roofline.bound == BOUND_TRANSFER, _i);
    ck_assert_double_eq_tol(step->roofline.roof_fraction, // of the step's own time
                            step->roofline.roof_seconds / step->latency.statistics.median, 1e-12);
    FILE *file = open_memstream(&text, &size);
    explain_totals(&profile, file);
    fclose(file);
    ck_assert_int_eq(strstr(text, ": transfer") != NULL, _i);
    free(text);
    profile_free(&profile);
    cuda_task_free(&task);
}
END_TEST

START_TEST(the_report_tells_in_80_columns) {
    CudaTask task;
    Profile profile;
    char *text, expected[120];
    size_t size;
    cuda_task_start(&task, 9000);
    ck_assert_int_eq(profile_task(&task, few(SAMPLES), &profile), STATUS_OK);
    FILE *file = open_memstream(&text, &size);
    report_print(&profile, file);
    fclose(file);
    snprintf(expected, sizeof expected,
             "\n  GPU busy %.0f%% of the step; %d launches of 9.00 us; batch copy 180 B 4.02 us\n",
             100.0 * profile.device_busy_fraction, (int)task.launches);
    ck_assert_msg(strstr(text, expected) != NULL, "%s in\n%s", expected, text);
    ck_assert_ptr_nonnull(strstr(text, "\n  cuda: Fake GPU, "));
    ck_assert_ptr_nonnull(strstr(text, "\nthe step's batch lies on the device: "));
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
        ck_assert_uint_le(strcspn(line, "\n"), REPORT_WIDTH);
    free(text);
    // Large figures take a second line.
    profile.launches = 123456;
    profile.batch_copy_bytes = INT64_C(123456789012);
    file = open_memstream(&text, &size);
    report_print(&profile, file);
    fclose(file);
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
        ck_assert_uint_le(strcspn(line, "\n"), REPORT_WIDTH);
    free(text);
    profile_free(&profile);
    cuda_task_free(&task);
}
END_TEST

START_TEST(the_json_has_it_in_the_step) {
    CudaTask task;
    Profile profile;
    char *text;
    size_t size;
    cuda_task_start(&task, 9000);
    ck_assert_int_eq(profile_task(&task, few(SAMPLES), &profile), STATUS_OK);
    FILE *file = open_memstream(&text, &size);
    JsonWriter *json = json_writer_new(file, "memory");
    ProfileTraining training = {.absent = "no"};
    ck_assert_int_eq(profile_write_json(&profile, &training, "test", json), STATUS_OK);
    fclose(file);
    json_t *document = document_parse(text);
    check_seconds(document_real(document, "totals.step.launch_seconds"), 9000, "a launch");
    ck_assert_int_eq(document_integer(document, "totals.step.launches"), task.launches);
    ck_assert_double_eq(document_real(document, "totals.step.device_busy_fraction"),
                        profile.device_busy_fraction);
    check_seconds(document_real(document, "totals.step.batch_copy_seconds"), 4018, "the batch");
    ck_assert_int_eq(document_integer(document, "totals.step.batch_copy_bytes"), 180);
    json_t *step = document_at(document, "totals.step");
    ck_assert_ptr_null(json_object_get(step, "launch_reason"));
    ck_assert_ptr_null(json_object_get(step, "batch_copy_reason"));
    ck_assert(json_is_string(document_at(document, "environment.gpu")));
    json_decref(document);
    free(text);
    profile_free(&profile);
    cuda_task_free(&task);
}
END_TEST

// ---- sessions ----------------------------------------------------------------------------------
static double device_seconds_of(const ProfilerSummary *summary, EventKind kind, int64_t *calls) {
    double seconds = 0.0;
    *calls = 0;
    for (int i = 0; i < summary->n_rows; i++) {
        if (summary->rows[i].kind != kind) continue;
        seconds += summary->rows[i].device_seconds;
        *calls += summary->rows[i].calls;
    }
    return seconds;
}

START_TEST(a_sessions_rows_have_the_devices_time_and_copies) {
    enum { STEPS = 3 };
    CudaTask task;
    ProfilerSummary summary;
    cuda_task_start(&task, 300);
    Profiler *profiler = profiler_new(profiler_defaults());
    ck_assert_int_eq(profiler_start(profiler), STATUS_OK);
    for (int i = 0; i < STEPS; i++) {
        ck_assert_int_eq(tensor_write_floats(task.x, (float[35]){1.0f}), STATUS_OK);
        ck_assert_int_eq(cuda_task_step(&task), STATUS_OK);
        profiler_step(profiler);
    }
    ck_assert_int_eq(profiler_stop(profiler), STATUS_OK);
    ck_assert_int_eq(profiler_summarise(profiler, &summary), STATUS_OK);
    int64_t calls, work = 0;
    for (int64_t i = 0; i < task.n_ops; i++) work += task.work[i];
    double ops = device_seconds_of(&summary, EVENT_OP, &calls);
    ck_assert_int_eq(calls, STEPS * task.n_ops);
    // Each op may also have waited for its launch, at most for one reading of the clock.
    double least = 1e-9 * CUDA_KERNEL * STEPS * (double)work;
    ck_assert(ops >= least - 1e-12 && ops <= least + 1e-9 * (double)(calls * CUDA_READING));
    double copies = device_seconds_of(&summary, EVENT_COPY, &calls);
    ck_assert_int_eq(calls, STEPS);
    ck_assert(copies >= STEPS * 2014e-9 - 1e-12 && copies <= STEPS * 2114e-9 + 1e-12);
    double self = summary.unattributed_seconds;
    for (int i = 0; i < summary.n_rows; i++) self += summary.rows[i].self_seconds;
    ck_assert_double_eq_tol(self, summary.seconds, 1e-9);
    profiler_summary_free(&summary);
    profiler_free(profiler);
    cuda_task_free(&task);
}
END_TEST

// There is only one set of stamps: a second user gets an error, and the first goes on.
START_TEST(two_cannot_have_the_stamps_at_once) {
    CudaTask task;
    Profile profile;
    cuda_task_start(&task, 300);
    Profiler *first = profiler_new(profiler_defaults()),
             *second = profiler_new(profiler_defaults());
    ck_assert_int_eq(profiler_start(first), STATUS_OK);
    ck_assert_int_eq(profiler_start(second), STATUS_STATE);
    expect_error(STATUS_STATE, "has the time stamps of cuda. HINT: stop it first");
    ck_assert_int_eq(profile_task(&task, few(2), &profile), STATUS_STATE);
    expect_error(STATUS_STATE, "has the time stamps of cuda. HINT: stop it first");
    profile_free(&profile);
    ck_assert_int_eq(cuda_task_step(&task), STATUS_OK);
    ck_assert_int_eq(profiler_stop(first), STATUS_OK);
    ck_assert_int_eq(profiler_start(second), STATUS_OK);
    ck_assert_int_eq(profiler_stop(second), STATUS_OK);
    profiler_free(first);
    profiler_free(second);
    cuda_task_free(&task);
}
END_TEST

// ---- failures ----------------------------------------------------------------------------------
START_TEST(any_call_for_times_may_fail_and_the_next_profile_is_right) {
    static const char *const functions[] = {"cudaEventCreate",      "cudaEventRecord",
                                            "cudaEventSynchronize", "cudaEventElapsedTime",
                                            "cudaLaunchHostFunc",   "cudaStreamSynchronize"};
    int64_t (*calls)(const char *) = cuda_device_fake("fake_calls");
    void (*fail_once)(const char *, int64_t, int) = cuda_device_fake("fake_fail_once");
    CudaTask task;
    Profile profile;
    cuda_task_start(&task, 300);
    const char *function = functions[_i];
    int failures = 0;
    for (int64_t n = 1; n < 1000; n = n * 3 / 2 + 1) {
        fail_once(function, calls(function) + n, OUT_OF_MEMORY);
        Status status = profile_task(&task, few(2), &profile);
        profile_free(&profile);
        ck_assert_int_eq(autograd_node_count(), 0);
        if (!status) break;
        failures++;
        ck_assert_ptr_nonnull(strstr(error_message(), " HINT: "));
        expect_error(status, function);
    }
    void (*fail_never)(void) = cuda_device_fake("fake_fail_never");
    fail_never();
    ck_assert_int_ge(failures, 2);
    ck_assert_msg(profile_task(&task, few(2), &profile) == 0, "%s", error_message());
    check_seconds(latency_median(&profile.ops[0].latency), CUDA_KERNEL * task.work[0], "an op");
    profile_free(&profile);
    cuda_task_free(&task);
}
END_TEST

START_TEST(memory_may_run_out_at_any_request) {
    CudaTask task;
    Profile profile;
    cuda_task_start(&task, 300);
    Status status = STATUS_OUT_OF_MEMORY;
    for (uint64_t n = 1; status; n += 7) {
        memory_fail_at(n);
        status = profile_task(&task, few(2), &profile);
        memory_fail_at(0);
        profile_free(&profile);
        if (status) expect_error(STATUS_OUT_OF_MEMORY, "");
        ck_assert_int_eq(autograd_node_count(), 0);
    }
    cuda_task_free(&task);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {each_op_takes_what_the_device_works_for_it, 2},
        {a_step_takes_what_the_slower_of_the_two_takes, 2},
        {a_step_of_three_batches_has_three_forwards_of_time, 2},
        {the_batch_stays_what_it_is, 0},
        {a_batch_that_takes_longer_to_carry_than_to_learn_from_is_transfer_bound, 2},
        {the_report_tells_in_80_columns, 0},
        {the_json_has_it_in_the_step, 0},
        {a_sessions_rows_have_the_devices_time_and_copies, 0},
        {two_cannot_have_the_stamps_at_once, 0},
        {any_call_for_times_may_fail_and_the_next_profile_is_right, 6},
        {memory_may_run_out_at_any_request, 0},
        {NULL, 0},
    };
    return harness_main("cuda_profile", tests);
}
