// ex04_roofline.c -- exercise 04, solved.
#include "exercises/ex04_roofline.h"

Status roofline(const RooflineInput *input, RooflineResult *result) {
    bool ceilings = input->peak_flops_per_second > 0.0 && input->bytes_per_second > 0.0;
    if (!ceilings || input->flops < 0 || input->bytes < 1) return STATUS_INVALID_ARGUMENT;
    double flops = (double)input->flops, bytes = (double)input->bytes;
    result->intensity = flops / bytes;
    result->ridge = input->peak_flops_per_second / input->bytes_per_second;
    result->bound = result->intensity >= result->ridge ? COMPUTE_BOUND : MEMORY_BOUND;
    double compute_seconds = flops / input->peak_flops_per_second;
    double memory_seconds = bytes / input->bytes_per_second;
    result->roof_seconds = fmax(compute_seconds, memory_seconds);
    bool measured = input->measured_seconds > 0.0; // false for NaN
    result->roof_fraction = measured ? result->roof_seconds / input->measured_seconds : (double)NAN;
    return STATUS_OK;
}
