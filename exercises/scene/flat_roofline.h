// flat_roofline.h -- the profiler's roofline for a machine with one level of memory. It hides the
// profiler's header, because exercise 04 has a RooflineInput of its own.
#ifndef EXERCISES_SCENE_FLAT_ROOFLINE_H
#define EXERCISES_SCENE_FLAT_ROOFLINE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct FlatWork {
    int64_t flops, bytes;            // flops at least 0, bytes at least 1
    double peak, bandwidth, seconds; // FLOP/s and bytes/s, above 0; measured seconds
} FlatWork;

typedef struct FlatRoofline {
    double intensity, ridge;
    double compute_seconds, memory_seconds, roof_seconds;
    double roof_fraction; // NaN: not measured
    bool compute_bound;   // decided by the work alone, whatever its time
} FlatRoofline;

FlatRoofline flat_roofline(const FlatWork *work);

#endif
