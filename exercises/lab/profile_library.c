// profile_library.c -- the library's side of `lab profile`.
#include "exercises/lab/profile_library.h"

#include <math.h>

#include "exercises/scene/flat_roofline.h"
#include "exercises/support/layer_shape.h"
#include "layers/cost.h"
#include "layers/train/optimizer.h"
#include "profiler/machine/machine.h"
#include "profiler/measure/profile.h"
#include "profiler/report/preset.h"
#include "profiler/report/report.h"
#include "profiler/session/profiler.h"
#include "tensor/context.h"

// Replaces support/layer_shape.c: these models hold real values, so a dry run finds their shapes.
Status layer_output_shape(const Layer *layer, Shape in, Shape *out) {
    Context *context = dry_run_begin(layer);
    Tensor *x = context ? tensor_new(in, DTYPE_FLOAT32) : NULL;
    Scope *scope = x ? scope_open() : NULL;
    Tensor *y = scope ? layer_forward((Layer *)(uintptr_t)layer, x) : NULL;
    Status status = y ? STATUS_OK : error_status();
    if (y) *out = tensor_shape(y);
    scope_close(scope);
    tensor_free(x);
    if (context) dry_run_end(context);
    error_clear(); // the caller gets the status, and may go on
    return status;
}

static Status count(Layer *model, Tensor *x, LibraryNumbers *numbers) {
    uint64_t bytes_read = 0, bytes_written = 0;
    Profile profile;
    Status status = profiler_count_bytes(model, x, &bytes_read, &bytes_written);
    numbers->parameters = profiler_count_parameters(model);
    numbers->bytes_read = (int64_t)bytes_read;
    numbers->bytes_written = (int64_t)bytes_written;
    if (status) return status;
    status = profiler_profile_forward_pass(model, x, &profile);
    if (!status) numbers->flops = (int64_t)preset_count(PRESET_TEXTBOOK, &profile).forward;
    profile_free(&profile);
    return status;
}

static void take_ceilings(const Machine *machine, LibraryNumbers *numbers) {
    const MachineLevel *last = &machine->levels[machine->n_levels - 1];
    numbers->peak_flops_per_second = machine->peak_flops_per_second;
    numbers->bytes_per_second = last->bytes_per_second;
    snprintf(numbers->level, sizeof numbers->level, "%s", last->name);
}

static void judge(int64_t batch, LibraryNumbers *numbers) {
    FlatRoofline roofline =
        flat_roofline(&(FlatWork){.flops = numbers->flops * batch,
                                  .bytes = numbers->bytes_read + numbers->bytes_written,
                                  .peak = numbers->peak_flops_per_second,
                                  .bandwidth = numbers->bytes_per_second,
                                  .seconds = (double)NAN});
    numbers->intensity = roofline.intensity;
    numbers->ridge = roofline.ridge;
    numbers->roof_seconds = roofline.roof_seconds;
    numbers->compute_bound = roofline.compute_bound;
}

static Status time_forward(Layer *model, Tensor *x, LibraryNumbers *numbers) {
    Latency latency;
    Status status = profiler_measure_latency(model, x, 10, 100, &latency);
    numbers->median_seconds = latency_median(&latency);
    numbers->min_seconds = status ? (double)NAN : latency.statistics.min;
    latency_free(&latency);
    return status;
}

// Takes the ceilings from the report, so that the screen shows only one machine.
static Status profile_step(Layer *model, Tensor *x, const char *peaks, FILE *report,
                           LibraryNumbers *numbers) {
    Machine machine;
    bool fresh;
    char kept_in[512];
    ProfileOptions options = profile_defaults();
    Profile profile = {.kind = PROFILE_BACKWARD};
    MachineRequest request = {.peaks_file = peaks};
    Status status = machine_obtain(&request, &machine, &fresh, kept_in);
    options.machine = &machine;
    if (!status) status = profile_backward(model, x, options, &profile);
    if (!status) {
        report_print(&profile, report);
        take_ceilings(&profile.machine, numbers);
        numbers->parameter_bytes = profile.parameter_bytes;
        numbers->gradient_bytes = profile.measured.peak.category[MEM_GRADIENT];
        numbers->optimizer_bytes = 8 * profile.trainable_parameters; // two numbers per parameter
        numbers->saved_bytes = profile.measured.saved_bytes;
    }
    profile_free(&profile);
    return status;
}

Status library_profile(Layer *model, Tensor *x, const char *peaks, FILE *report,
                       LibraryNumbers *numbers) {
    *numbers = (LibraryNumbers){.parameters = 0};
    Status status = profile_step(model, x, peaks, report, numbers);
    if (!status) status = count(model, x, numbers);
    if (status) return status;
    judge(tensor_shape(x).dims[0], numbers);
    return time_forward(model, x, numbers);
}
