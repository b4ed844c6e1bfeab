// reference_roofline.c -- roofline of exercise 04, answered by the profiler's own: for exercise 09.
// It belongs to the grader; no student's file is linked with it.
#include "exercises/support/reference_roofline.h"

#include "exercises/scene/flat_roofline.h"

static bool is_ceiling(double value) { return value > 0.0; } // NaN is none

Status reference_roofline(const RooflineInput *input, RooflineResult *result) {
    FlatWork work = {input->flops, input->bytes, input->peak_flops_per_second,
                     input->bytes_per_second, input->measured_seconds};
    bool sound = is_ceiling(work.peak) && is_ceiling(work.bandwidth);
    if (!sound || work.flops < 0 || work.bytes < 1) return STATUS_INVALID_ARGUMENT;
    FlatRoofline roofline = flat_roofline(&work);
    *result = (RooflineResult){.intensity = roofline.intensity,
                               .ridge = roofline.ridge,
                               .roof_seconds = roofline.roof_seconds,
                               .roof_fraction = roofline.roof_fraction,
                               .bound = roofline.compute_bound ? COMPUTE_BOUND : MEMORY_BOUND};
    return STATUS_OK;
}
