// flat_roofline.h -- the profiler's roofline over a machine with one level of memory. Apart from
// the profiler's header, because exercise 04 has a RooflineInput of its own.
#ifndef EXERCISES_SCENE_FLAT_ROOFLINE_H
#define EXERCISES_SCENE_FLAT_ROOFLINE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct FlatWork {
    int64_t flops, bytes;            // at least 0, at least 1
    double peak, bandwidth, seconds; // FLOP/s and bytes/s above 0; measured
} FlatWork;

typedef struct FlatRoofline {
    double intensity, ridge;
    double compute_seconds, memory_seconds, roof_seconds;
    double roof_fraction; // NaN: not measured
    bool compute_bound;   // of the work alone, whatever time it took
} FlatRoofline;

FlatRoofline flat_roofline(const FlatWork *work);

#endif
