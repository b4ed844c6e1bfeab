// reference_roofline.c -- the roofline of exercise 04: two ceilings and the work below them. The
// profiler's own (profiler/machine/roofline.h) has further bounds, which need a time to be seen.
#include "exercises/support/reference_roofline.h"

#include <stdbool.h>

static bool is_ceiling(double value) { return value > 0.0; } // NaN is none

Status reference_roofline(const RooflineInput *input, RooflineResult *result) {
    double peak = input->peak_flops_per_second, bandwidth = input->bytes_per_second;
    if (input->flops < 0 || input->bytes < 1 || !is_ceiling(peak) || !is_ceiling(bandwidth))
        return STATUS_INVALID_ARGUMENT;
    double compute = (double)input->flops / peak, memory = (double)input->bytes / bandwidth;
    result->intensity = (double)input->flops / (double)input->bytes;
    result->ridge = peak / bandwidth;
    result->roof_seconds = fmax(compute, memory);
    bool measured = input->measured_seconds > 0.0;
    result->roof_fraction = measured ? result->roof_seconds / input->measured_seconds : (double)NAN;
    result->bound = result->intensity >= result->ridge ? COMPUTE_BOUND : MEMORY_BOUND;
    return STATUS_OK;
}
