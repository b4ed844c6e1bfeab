// flat_roofline.c -- calls the profiler's roofline with a machine of one bandwidth, so that the
// bound is only compute or memory.
#include "exercises/scene/flat_roofline.h"

#include <math.h>

#include "profiler/machine/roofline.h"

FlatRoofline flat_roofline(const FlatWork *work) {
    Machine machine = {
        .peak_flops_per_second = work->peak,
        .levels = {{.name = "DRAM", .bytes = INT64_MAX, .bytes_per_second = work->bandwidth}},
        .n_levels = 1};
    RooflineInput input = {.cost.elementwise_flops = (uint64_t)work->flops,
                           .cost.bytes_read = (uint64_t)work->bytes,
                           .ops = 1,
                           .seconds = (double)NAN};
    Bound bound = roofline_judge(&machine, &input).roof_bound;
    input.seconds = work->seconds;
    Roofline roofline = roofline_judge(&machine, &input);
    return (FlatRoofline){.intensity = roofline.intensity,
                          .ridge = roofline.ridge,
                          .compute_seconds = roofline.compute_seconds,
                          .memory_seconds = roofline.memory_seconds,
                          .roof_seconds = roofline.roof_seconds,
                          .roof_fraction = roofline.roof_fraction,
                          .compute_bound = bound == BOUND_COMPUTE};
}
