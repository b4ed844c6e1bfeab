// ex04_roofline.h -- exercise 04: what is the limit, arithmetic or memory?
//
// WHY    A machine has two ceilings: peak FLOP per second and peak bytes per second. Work with much
//        arithmetic for each byte meets the first, work with little meets the second.
//        The roofline model (Williams, Waterman and Patterson 2009) puts both into one picture, and
//        answers the question that decides what to do next: would faster arithmetic help, or only
//        less traffic? The answer follows from the counts of exercises 02 and 03 and from the
//        machine. It does NOT follow from how fast the work ran: 5 of 100 GFLOP/s may mean that
//        memory is the limit, or that the program is bad. Only the intensity tells.
//
//            intensity     = FLOPs / bytes                     FLOP per byte, of the work
//            ridge         = peak FLOP/s / peak bytes/s        FLOP per byte, of the machine
//            bound         = compute where intensity >= ridge, on the ridge, too; else memory
//            roof_seconds  = the longer of FLOPs / peak FLOP/s and bytes / peak bytes/s: both go
//                            on at the same time, so the shorter one hides behind the longer
//            roof_fraction = roof_seconds / measured seconds   1: as fast as can be
//
// TODO   Write roofline in ex04_roofline.c. The code is plain arithmetic; the lesson is in the
//        units, and in that the measured time does not decide the bound.
//
// APPROACH  Numbers in [] are the clauses of the contract; cases ask for each of them.
//   1. Refuse input that makes no sense (see below) before you divide.
//   2. intensity [1] and ridge [2] are quotients of doubles. flops and bytes are integers: convert
//      first, 7 / 2 is 3 in C. They may need all of 64 bits [10].
//   3. The bound compares intensity with ridge, and uses nothing else [3].
//   4. Compute the roof time in seconds [4], and then the fraction [5], which is not cut off at 1.
//      Without a measured time (NaN, zero or negative) the fraction, and only it, is NaN [6].
//
// EXAMPLE  a machine of 1000 GFLOP/s and 200 GB/s: ridge 5 FLOP/B
//   Linear(4096,4096,bias=false), 8 rows    268,435,456 FLOP, 67,371,008 B: intensity 3.984
//                                           MEMORY_BOUND, roof 0.337 ms
//   the same, 16 rows                       536,870,912 FLOP, 67,633,152 B: intensity 7.938
//                                           COMPUTE_BOUND, roof 0.537 ms
//   ... that took 10.74 ms                  roof_fraction 0.05, and still COMPUTE_BOUND: nothing
//                                           about memory explains this; look elsewhere
//
// HINTS  ./lab hint 04; pages: ./lab explain bound_from_efficiency, ridge_inverted
#ifndef EXERCISES_EX04_ROOFLINE_H
#define EXERCISES_EX04_ROOFLINE_H

#include <math.h>
#include <stdint.h>

#include "tensor/status.h"

typedef struct RooflineInput {
    int64_t flops, bytes;         // counts for the work
    double peak_flops_per_second; // the machine's peak: 1000 GFLOP/s is 1e12
    double bytes_per_second;      // the machine's peak: 200 GB/s is 2e11
    double measured_seconds;      // time of the work on the machine; NaN, 0 or less: not measured
} RooflineInput;

typedef enum RooflineBound { COMPUTE_BOUND, MEMORY_BOUND } RooflineBound;

typedef struct RooflineResult {
    double intensity, ridge; // FLOP per byte
    double roof_seconds;     // seconds, not milliseconds
    double roof_fraction;    // NaN: not measured
    RooflineBound bound;
} RooflineResult;

// Fills in *result. Work without FLOPs (a copy) is fine [7]. STATUS_INVALID_ARGUMENT: negative
// FLOPs or bytes below 1 [8], or a ceiling that is not above 0, which includes NaN [9]. After a
// failure *result may hold anything.
Status roofline(const RooflineInput *input, RooflineResult *result);

#endif
