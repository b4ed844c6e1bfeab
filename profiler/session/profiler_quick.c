// profiler_quick.c -- functions that answer one question: counts, memory, latency, whole profiles.
#include "profiler/measure/profile_parts.h"
#include "profiler/report/report.h"
#include "profiler/session/profiler.h"
#include "tensor/clock.h"
#include "tensor/given.h"
#include "tensor/memory.h"
#include "tensor/shadow.h"

static Status check_given(const char *who, const Layer *layer, const Tensor *x) {
    if (error_pending()) return error_status();
    if (layer && x) return STATUS_OK;
    return error_set(STATUS_INVALID_ARGUMENT, "%s: %s is NULL", who, layer ? "x" : "the layer");
}

// ---- counts ----------------------------------------------------------------------------------
int64_t profiler_count_parameters(const Layer *layer) { return layer_parameter_count(layer); }

static Status add_up(const StepRecord *record, OpCost *cost) {
    for (int64_t i = 0; i < record->n_ops; i++) {
        if (!op_is_counted(record->ops[i].op, &record->ops[i].params))
            return error_set(STATUS_NOT_IMPLEMENTED, "profiler: op %s has no cost",
                             record->ops[i].op->name);
        cost_add(cost, record->ops[i].cost);
    }
    return record->status;
}

static Status record_forward(Layer *layer, Shape shape, DType dtype, OpCost *cost) {
    Tensor *x = tensor_new_as(shape, dtype, MEM_DATA);
    StepRecord record;
    step_record_start(&record, NULL);
    if (x) work_infer(layer, x);
    step_record_stop(&record);
    Status status = error_status();
    if (!status) status = add_up(&record, cost);
    step_record_free(&record);
    tensor_free(x);
    return status;
}

// Counts one forward by a dry run, in the layer's current mode.
static Status count_forward(Layer *layer, Shape shape, DType dtype, OpCost *cost) {
    *cost = (OpCost){0};
    Context *context = dry_run_begin(layer);
    if (!context) return error_status();
    Status status = record_forward(layer, shape, dtype, cost);
    dry_run_end(context);
    return status;
}

Status profiler_count_flops(Layer *layer, const Tensor *x, uint64_t *flops_per_sample) {
    if (!GIVEN(flops_per_sample)) return STATUS_INVALID_ARGUMENT;
    OpCost cost;
    Status status = check_given("profiler_count_flops", layer, x);
    if (status) return status;
    Shape sample = x->shape;
    if (sample.ndim > 0) sample.dims[0] = 1;
    status = count_forward(layer, sample, (DType)x->dtype, &cost);
    *flops_per_sample = 2 * cost.macs;
    return status;
}

Status profiler_count_bytes(Layer *layer, const Tensor *x, uint64_t *bytes_read,
                            uint64_t *bytes_written) {
    if (!GIVEN(bytes_read) || !GIVEN(bytes_written)) return STATUS_INVALID_ARGUMENT;
    OpCost cost;
    Status status = check_given("profiler_count_bytes", layer, x);
    if (status) return status;
    status = count_forward(layer, x->shape, (DType)x->dtype, &cost);
    *bytes_read = cost.bytes_read;
    *bytes_written = cost.bytes_written;
    return status;
}

// ---- memory ----------------------------------------------------------------------------------
typedef Status (*ProfileFunction)(Layer *model, Tensor *x, ProfileOptions options,
                                  Profile *profile);

static Status measured_peak(ProfileFunction function, Layer *layer, Tensor *x, MemoryUse *peak,
                            int64_t *saved_bytes) {
    Profile profile;
    ProfileOptions options = {.warmup = 2, .iterations = 1, .probe_seconds = -1.0};
    Status status = function(layer, x, options, &profile);
    *peak = profile.measured.peak;
    *saved_bytes = profile.measured.saved_bytes;
    profile_free(&profile);
    return status;
}

Status profiler_measure_memory(Layer *layer, Tensor *x, ProfilerMemory *memory) {
    if (!GIVEN(memory)) return STATUS_INVALID_ARGUMENT;
    *memory = (ProfilerMemory){0};
    Status status = check_given("profiler_measure_memory", layer, x);
    int64_t none;
    if (!status) status = measured_peak(profile_inference, layer, x, &memory->inference, &none);
    if (!status)
        status = measured_peak(profile_backward, layer, x, &memory->training, &memory->saved_bytes);
    return status;
}

// ---- latency ---------------------------------------------------------------------------------
static double seconds_of(Layer *layer, Tensor *x, int64_t calls) {
    device_synchronize(x->device);
    int64_t start = clock_nanoseconds();
    for (int64_t i = 0; i < calls; i++) work_infer(layer, x);
    device_synchronize(x->device);
    return 1e-9 * (double)(clock_nanoseconds() - start);
}

// Repeats a sample that is too short with twice the calls.
static Status take_samples(Layer *layer, Tensor *x, int64_t iterations, Latency *latency) {
    int64_t calls = 1;
    while (latency->count < iterations) {
        double seconds = seconds_of(layer, x, calls);
        if (error_pending()) return error_status();
        if (seconds < PROFILE_LEAST_SAMPLE)
            calls *= 2;
        else
            latency->samples[latency->count++] = seconds / (double)calls;
    }
    return statistics_summarise(latency->samples, latency->count, &latency->statistics);
}

static Status measure_inference(Layer *layer, Tensor *x, int64_t warmup, int64_t iterations,
                                Latency *latency) {
    LayerModes modes;
    Status status = layer_modes_save(layer, &modes);
    if (status) return status;
    layer_train(layer, false);
    for (int64_t i = 0; i < warmup && !error_pending(); i++) work_infer(layer, x);
    status = take_samples(layer, x, iterations, latency);
    layer_modes_restore(layer, &modes);
    return status;
}

Status profiler_measure_latency(Layer *layer, Tensor *x, int64_t warmup, int64_t iterations,
                                Latency *latency) {
    if (!GIVEN(latency)) return STATUS_INVALID_ARGUMENT;
    *latency = (Latency){0};
    Status status = check_given("profiler_measure_latency", layer, x);
    if (status) return status;
    if (iterations < 1 || iterations > INT64_MAX / (int64_t)sizeof(double) || warmup < 0)
        return error_set(STATUS_INVALID_ARGUMENT,
                         "profiler_measure_latency: %lld iterations after a warm-up of %lld. HINT: "
                         "at least 1 iteration, at least 0 of warm-up",
                         (long long)iterations, (long long)warmup);
    x = tensor_here(x);
    if (!x) return error_status();
    if (!x->device->has_data) return STATUS_OK; // nothing runs: no samples
    latency->samples = memory_new((size_t)iterations * sizeof(double));
    if (!latency->samples) return STATUS_OUT_OF_MEMORY;
    status = measure_inference(layer, x, warmup, iterations, latency);
    if (status) latency_free(latency);
    return status;
}

// ---- whole profiles --------------------------------------------------------------------------
static Status profile_judged(ProfileFunction function, const char *who, Layer *layer, Tensor *x,
                             Profile *profile) {
    *profile = (Profile){0};
    Status status = check_given(who, layer, x);
    if (status) return status;
    x = tensor_here(x);
    if (!x) return error_status();
    ProfileOptions options = profile_defaults();
    Machine machine;
    if (x->device->has_data) { // otherwise nothing runs, and no ceilings are needed
        bool fresh;
        char kept_in[512];
        Device *before = context_current()->device;
        context_set_device(x->device); // device of the ceilings
        status = machine_obtain(&(MachineRequest){0}, &machine, &fresh, kept_in);
        context_set_device(before);
        if (status) return status;
        options.machine = &machine;
    }
    return function(layer, x, options, profile);
}

Status profiler_profile_layer(Layer *layer, Tensor *x, Profile *profile) {
    if (!GIVEN(profile)) return STATUS_INVALID_ARGUMENT;
    return profile_judged(profile_backward, "profiler_profile_layer", layer, x, profile);
}

Status profiler_profile_forward_pass(Layer *model, Tensor *x, Profile *profile) {
    if (!GIVEN(profile)) return STATUS_INVALID_ARGUMENT;
    return profile_judged(profile_inference, "profiler_profile_forward_pass", model, x, profile);
}

Status profiler_profile_backward_pass(Layer *model, Tensor *x, Profile *profile) {
    if (!GIVEN(profile)) return STATUS_INVALID_ARGUMENT;
    return profile_judged(profile_backward, "profiler_profile_backward_pass", model, x, profile);
}

Status profiler_quick(Layer *model, Tensor *x, FILE *file) {
    if (!GIVEN(file)) return STATUS_INVALID_ARGUMENT;
    Profile profile;
    Status status = profile_judged(profile_backward, "profiler_quick", model, x, &profile);
    if (!status) {
        report_print(&profile, file);
        if (fflush(file) != 0 || ferror(file))
            status = error_set(STATUS_IO, "profiler_quick: the report could not be written. HINT: "
                                          "is the disk full, or the reader gone?");
    }
    profile_free(&profile);
    return status;
}
