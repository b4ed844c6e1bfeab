// profile.c -- makes a Profile: runs two steps and counts, predicts them by a dry run, then times.
#include "profiler/measure/profile.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "layers/cost.h"
#include "profiler/base/system.h"
#include "profiler/measure/generation.h"
#include "profiler/measure/profile_parts.h"
#include "tensor/clock.h"
#include "tensor/given.h"
#include "tensor/memory.h"
#include "tensor/shadow.h"

ProfileOptions profile_defaults(void) { return (ProfileOptions){.seconds = 1.0}; }

static Status describe(const Work *work, OptimizerConfig config, const ProfileOptions *options,
                       Profile *profile) {
    const Tensor *x = work->x;
    profile->kind = work->kind;
    snprintf(profile->model, sizeof(profile->model), "%s", work->model->type->name);
    profile->input = x->shape;
    profile->batch = x->shape.ndim ? x->shape.dims[0] : 1;
    snprintf(profile->unit, sizeof(profile->unit), "%s", options->unit ? options->unit : "samples");
    profile->accumulate = work_batches(work);
    profile->budget = options->budget;
    profile->units = options->units > 0 ? options->units : profile->batch * profile->accumulate;
    profile->parameters = layer_parameter_count(work->model);
    profile->parameters_stored = profile->parameters;
    profile->trainable_parameters = layer_trainable_count(work->model);
    profile->precision = x->device->has_data ? PRECISION_FLOAT32 : context_current()->precision;
    profile->parameter_bytes = profile->parameters * precision_bytes(profile->precision);
    profile->threads = context_current()->threads;
    if (work->kind == PROFILE_TRAINING)
        snprintf(profile->optimizer, sizeof(profile->optimizer), "%s", optimizer_name(config.kind));
    snprintf(profile->device, sizeof(profile->device), "%s", x->device->name);
    return error_status();
}

static void leave_out(MemoryUse *use, const MemoryUse *others) {
    for (int c = 0; c < MEM_COUNT; c++) use->category[c] -= others->category[c];
    use->total -= others->total;
}

// An existing gradient of a leaf belongs to the work, because the steps will write to it.
static void leave_out_gradient(MemoryUse *use, const Tensor *leaf) {
    if (!leaf || !(leaf->flags & TENSOR_LEAF_GRAD) || !leaf->grad) return;
    use->category[MEM_GRADIENT] -= leaf->grad->storage->bytes;
    use->total -= leaf->grad->storage->bytes;
}

static Status leave_out_gradients(const Work *work, MemoryUse *use) {
    ParameterList list;
    if (work->kind == PROFILE_INFERENCE) return STATUS_OK; // inference writes no gradients
    Status status = layer_parameters(work->model, &list);
    if (status) return status;
    for (int i = 0; i < list.count; i++) leave_out_gradient(use, list.items[i].tensor);
    leave_out_gradient(use, work->x);
    parameter_list_free(&list);
    return STATUS_OK;
}

// The bystanders are all bytes except those that a dry run of the work counts. This single rule
// applies to predictions and measurements, whatever a layer keeps.
Status work_bystanders(const Work *work, MemoryUse *others) {
    const Ledger *ledger = context_ledger();
    if (!ledger) return error_status();
    MemoryUse found = ledger->live;
    Context *context = dry_run_begin(work->model);
    if (!context) return error_status();
    shadow_count(work->x);
    shadow_count(work->labels);
    leave_out(&found, &context->ledger->live);
    dry_run_end(context);
    if (error_pending()) return error_status();
    *others = found;
    return leave_out_gradients(work, others);
}

static Status count(Work *work, const ProfileOptions *options, Profile *profile) {
    StepTimes times[2] = {{0}};
    StepRecord record;
    Status status = profile_count_step(work, options->machine, &record, &profile->measured, times);
    profile->cold_seconds = work->x->device->has_data ? times[0].total : (double)NAN;
    work->step_seconds = fmin(times[0].total, times[1].total);
    if (!status) status = profile_take_counts(profile, &record, work->model);
    step_record_free(&record);
    return status;
}

// Estimates the time before a slow first forward: from a step's FLOPs, at half the peak.
static void foresee(Work *work, const ProfileOptions *options) {
    LayerCost cost;
    double flops = 0.0;
    if (!options->progress || !options->machine || !work->x->device->on_host) return;
    if (!layer_cost(work->model, &work->x, 1, &cost)) {
        int phases = work->kind == PROFILE_INFERENCE ? PHASE_FORWARD + 1 : PHASE_COUNT;
        for (int p = 0; p < phases; p++) flops += (double)op_cost_total_flops(cost.phase[p]);
        flops *= (double)work_batches(work);
        work->step_seconds = 2.0 * flops / options->machine->peak_flops_per_second;
        profile_tell(work, options, &(StepTimes){.total = work->step_seconds}, 2.3);
    }
    error_clear(); // the profile itself will report any error
}

// Runs a forward to find the output's shape. A learning rate of 0 keeps weights, but 0 x NaN is
// NaN: a batch with such a loss must not be stepped on.
static Status try_forward(Work *work, const ProfileOptions *options, Shape *out) {
    double begin = clock_seconds();
    no_grad_begin();
    Scope *scope = scope_open();
    Tensor *y = layer_forward(work->model, work->x);
    if (y) *out = y->shape;
    bool training = work->kind == PROFILE_TRAINING;
    Tensor *loss = training ? work_loss(work, y) : NULL;
    double value = loss && loss->device->has_data ? tensor_item(loss) : 0.0;
    scope_close(scope);
    no_grad_end();
    double seconds = (double)work_batches(work) * (clock_seconds() - begin);
    bool backward = work->kind != PROFILE_INFERENCE; // backward takes about twice as long
    StepTimes step = {.forward = seconds, .total = backward ? 3.0 * seconds : seconds};
    work->step_seconds = step.total;
    profile_tell(work, options, &step, 2.0);
    if (error_pending() || isfinite(value)) return error_status();
    return train_explain_non_finite(work->model, work->x, 0, value);
}

// True if the last level takes enough of the step to measure it again.
static bool waits_for_memory(const Profile *profile) {
    const double share = 0.05;
    const ProfilePhase *step = &profile->totals[REPORT_STEP];
    int last = profile->machine.n_levels - 1;
    if (!profile->has_machine || step->latency.count == 0) return false;
    LevelTime time = roofline_level_time(&profile->machine.levels[last], TEAM_ALL,
                                         &step->traffic.level[TEAM_ALL][last]);
    return time.seconds > share * latency_median(&step->latency);
}

void profile_take_process(Profile *profile) {
    const Ledger *ledger = context_current()->ledger;
    profile->process_peak_bytes = system_bytes("/proc/self/status", "VmHWM");
    profile->unaccounted_bytes = ledger_unaccounted(ledger);
    profile->reserved_bytes = ledger->reserved_bytes;
    profile->cached_bytes = ledger->cached_bytes;
}

static Status run(Work *work, OptimizerConfig config, ProfileOptions options, Profile *profile) {
    MemoryUse others;
    Shape out;
    foresee(work, &options);
    Status status = try_forward(work, &options, &out);
    if (!status) status = work_bystanders(work, &others);
    if (!status) status = work_begin(work, config, out);
    if (status) return status;
    status = count(work, &options, profile);
    leave_out(&profile->measured.start, &others);
    leave_out(&profile->measured.peak, &others);
    if (!status) status = profile_predict(work, config, out, profile);
    profile_take_process(profile); // repeated after the measurement
    bool runs = work->x->device->has_data, looks = runs && !options.ceilings_stay;
    if (!status && looks && profile->has_machine) machine_look(&profile->machine, false, false);
    if (!status && runs) status = profile_measure(work, options, profile);
    if (!status) profile_predict_probes(work, config, out, profile);
    if (!status && looks && profile->has_machine)
        machine_look(&profile->machine, waits_for_memory(profile), false);
    if (!status && profile->has_machine) profile_judge(profile, looks);
    Device *device = work->x->device;
    profile->has_card = !status && device->memory;
    if (profile->has_card) status = device->memory(device, &profile->card);
    return status;
}

static Status check(const Work *work, const ProfileOptions *options) {
    bool training = work->kind == PROFILE_TRAINING;
    if (!work->model || !work->x || (training && !work->labels))
        return error_set(STATUS_INVALID_ARGUMENT, "profile: %s is NULL",
                         !work->model ? "the model"
                         : !work->x   ? "x"
                                      : "labels");
    if (options->accumulate < 0 || options->accumulate > (training ? PROFILE_MOST_BATCHES : 1))
        return error_set(STATUS_INVALID_ARGUMENT,
                         "profile: the gradients of %lld batches are to add up. HINT: of a "
                         "training step, 1 to %d",
                         (long long)options->accumulate, PROFILE_MOST_BATCHES);
    if (options->iterations <= INT64_MAX / (int64_t)sizeof(double)) return STATUS_OK;
    return error_set(STATUS_INVALID_ARGUMENT,
                     "profile: %lld samples are more than memory has an address for",
                     (long long)options->iterations);
}

static Status profile_work(Work *work, OptimizerConfig config, ProfileOptions options,
                           Profile *profile) {
    memset(profile, 0, sizeof(*profile));
    profile->unattributed_seconds = profile->overhead_fraction = (double)NAN;
    profile->overhead_low = profile->overhead_high = profile->others_share = (double)NAN;
    profile->cpu_seconds = profile->device_busy_fraction = (double)NAN;
    if (options.warmup == 1) options.warmup = 2;
    if (error_pending()) return error_status();
    if (check(work, &options)) return error_status();
    work->model = layer_here(work->model); // shadows in a dry run, where nothing is measured
    work->x = tensor_here(work->x);
    work->labels = tensor_here(work->labels);
    if (error_pending()) return error_status();
    work->begun = clock_seconds();
    Status status = describe(work, config, &options, profile);
    if (status) return status;
    profile->has_machine = options.machine != NULL;
    if (options.machine) profile->machine = *options.machine;
    profile->machine.raise = (MachineRaise){0}; // left by an earlier profile
    for (int i = 0; i < profile->machine.n_levels; i++)
        profile->machine.levels[i].raise = (MachineRaise){0};
    config.learning_rate = 0.0f; // same work, unchanged model
    LayerModes modes;
    status = layer_modes_save(work->model, &modes);
    if (status) return status;
    layer_train(work->model, work->kind != PROFILE_INFERENCE);
    Context *context = context_current();
    int site = context->site; // of the caller; paths begin at the model, as in the dry run
    Device *device = context->device;
    context->site = -1;
    context->device = work->x->device; // the work's other tensors go there, too
    status = run(work, config, options, profile);
    context->site = site;
    context->device = device;
    work_end(work);
    layer_modes_restore(work->model, &modes);
    return status;
}

Status profile_training(Layer *model, OptimizerConfig config, Tensor *x, Tensor *labels,
                        ProfileOptions options, Profile *profile) {
    if (!GIVEN(profile)) return STATUS_INVALID_ARGUMENT;
    Work work = {.kind = PROFILE_TRAINING,
                 .source = options.source,
                 .model = model,
                 .x = x,
                 .labels = labels,
                 .loss = options.loss,
                 .accumulate = options.accumulate};
    return profile_work(&work, config, options, profile);
}

Status profile_backward(Layer *model, Tensor *x, ProfileOptions options, Profile *profile) {
    if (!GIVEN(profile)) return STATUS_INVALID_ARGUMENT;
    Work work = {.kind = PROFILE_BACKWARD, .model = model, .x = x};
    return profile_work(&work, (OptimizerConfig){0}, options, profile);
}

Status profile_inference(Layer *model, Tensor *x, ProfileOptions options, Profile *profile) {
    if (!GIVEN(profile)) return STATUS_INVALID_ARGUMENT;
    Work work = {.kind = PROFILE_INFERENCE, .model = model, .x = x, .source = options.source};
    return profile_work(&work, (OptimizerConfig){0}, options, profile);
}

void latency_free(Latency *latency) {
    if (!latency) return;
    if (latency->across) memory_free(latency->across->samples);
    memory_free(latency->across);
    memory_free(latency->samples);
    *latency = (Latency){0};
}

static void free_latencies(ProfilePhase phases[REPORT_COUNT]) {
    for (int p = 0; p < REPORT_COUNT; p++) latency_free(&phases[p].latency);
}

void profile_free(Profile *profile) {
    if (!profile) return;
    for (int i = 0; i < profile->n_layers; i++) free_latencies(profile->layers[i].phase);
    free_latencies(profile->totals);
    for (int64_t i = 0; i < profile->n_ops; i++) latency_free(&profile->ops[i].latency);
    for (int i = 0; i < PROFILE_TIMES; i++) latency_free(profile_time(profile, i));
    memory_free(profile->ops);
    memory_free(profile->memory_events);
    memory_free(profile->layers);
    generation_free(profile->generation);
    memory_free(profile->generation);
    memory_free(profile->trials);
    memset(profile, 0, sizeof(*profile));
}
