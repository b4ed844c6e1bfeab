// ex09_profile_forward_pass.h -- exercise 09: one table from counts and times.
//
// WHY    A count alone says how much work there is, a time alone how long it took. Together, for
//        every layer, they say where the time goes, how well it is used, and what an improvement
//        would gain. That table is a profile. Believe it only if it adds up: the rows and the rest
//        take as long as the whole, FLOPs and seconds belong to the same work, and no first, cold
//        run is in it. Most wrong profiles are wrong in one of these three ways.
//
// TODO   Write profile_forward_pass in exercises/ex09_profile_forward_pass.c. You may call correct
//        versions of exercises 02, 03 and 04: reference_count_flops, reference_count_bytes,
//        reference_roofline.
//
// APPROACH  [1] to [17] are the requirements: each has a case that fails without it.
//   1. [1] Warm up: call layer_forward(model, x) once (more often is fine). The first call of every
//      layer is slow; leave it out of all numbers. [14] If layer_forward returns NULL, here or
//      later, it failed: return error_status().
//   2. The whole: read CLOCK_MONOTONIC, call layer_forward(model, x), read the clock again: [2]
//      `seconds`, of one forward pass.
//   3. [3] The rows: every layer without children, in the order in which they run, also those that
//      do nothing. (A Sequential may hold a Sequential, and is no row itself; a model that is one
//      layer is one row.) [4] Call layer_forward(layer, input), and nothing else, between two
//      readings of the clock; the tensor that it returns is the next layer's input.
//          [5] flops             of the WHOLE batch. reference_count_flops counts one sample; the
//                                batch is the first size of the layer's input, tensor_shape(input)
//          [6] flops_per_second  flops / seconds: both of the whole batch
//          [7] bound             reference_roofline of the layer's FLOPs and bytes (those read and
//                                those written), both of the whole batch. No bytes at all (Flatten,
//                                Dropout): NEITHER
//   4. The totals. [8] flops is the sum over the rows. [9] unattributed_seconds is the time that no
//      row explains: seconds - sum of the rows' seconds. It is the containers' own time.
//          [10] share              row's seconds / the WHOLE's seconds, so that the shares and the
//                                  unattributed part add up to 1
//          [11] flops_per_second   total FLOPs / the whole's seconds; no sum or mean over the rows
//          [12] samples_per_second samples (not batches) a second
//          [13] amdahl_limit       how many times as fast the whole would be if the row that takes
//                                  longest (one of them, where two take equally long) took no time
//                                  at all: 1 / (1 - its share)
//   5. [15] If a count returns a status other than STATUS_OK, return it. [16] For more than
//      FORWARD_MOST_ROWS rows, return STATUS_INVALID_ARGUMENT. [17] If you allocate, return
//      STATUS_OUT_OF_MEMORY when malloc gives NULL, and free all memory on every way out.
//
//   You may rely on: no pointer is NULL; x has at least one sample; a container holds at least one
//   layer; both of the machine's numbers are above 0; whatever runs takes longer than a step of the
//   clock. You may measure in any order, and run a layer more often than that.
//
// EXAMPLE  Linear(4,3) ReLU Linear(3,2) @ 10x4, peak 100 GFLOP/s, 10 GB/s (ridge 10 FLOP/B).
//          The layers take 2, 1 and 4 ms, the whole takes 8 ms.
//     row  layer        FLOPs              seconds   share   FLOP/s          bound
//     0    Linear(4,3)  10 * 24 =    240   0.002     0.250   120,000         MEMORY
//     1    ReLU         10 *  3 =     30   0.001     0.125    30,000         MEMORY
//     2    Linear(3,2)  10 * 12 =    120   0.004     0.500    30,000         MEMORY
//     sum                            390   0.007     0.875
//     unattributed 0.001 s (0.125)         whole: 0.008 s, 390 / 0.008 = 48,750 FLOP/s
//     10 / 0.008 = 1,250 samples/s; without row 2: 1 / (1 - 0.5) = 2 times as fast
//
// HINTS
//   * A function that calls itself for each child, with a Tensor ** that it moves along, needs no
//     shapes and no list.
//   * Results of layer_forward need not be freed.
//   * ./lab hint 09; pages: ./lab explain flops_per_sample, share_of_wrong_total, unattributed_time
#ifndef EXERCISES_EX09_PROFILE_FORWARD_PASS_H
#define EXERCISES_EX09_PROFILE_FORWARD_PASS_H

#include "exercises/support/reference.h"
#include "exercises/support/reference_roofline.h"

enum { FORWARD_MOST_ROWS = 8 };

typedef struct ForwardMachine {
    double peak_flops_per_second, bytes_per_second;
} ForwardMachine;

typedef enum ForwardBound {
    FORWARD_COMPUTE,
    FORWARD_MEMORY,
    FORWARD_NEITHER // nothing is computed and nothing is moved
} ForwardBound;

typedef struct ForwardRow {
    int64_t flops; // for the whole batch
    double seconds;
    double share; // part of the whole's seconds: 0.25, not 25
    double flops_per_second;
    ForwardBound bound;
} ForwardRow;

typedef struct ForwardProfile {
    ForwardRow rows[FORWARD_MOST_ROWS];
    int64_t n_rows;
    int64_t flops;               // for the whole batch, all rows
    double seconds;              // time of one layer_forward of the whole model
    double unattributed_seconds; // part of `seconds` that is in no row
    double flops_per_second;
    double samples_per_second;
    double amdahl_limit;
} ForwardProfile;

// Profiles one forward pass of the batch x. Returns STATUS_OK; the status of a forward or count
// that failed, such as STATUS_SHAPE [14] [15]; STATUS_INVALID_ARGUMENT for a model of more than
// FORWARD_MOST_ROWS rows [16]; STATUS_OUT_OF_MEMORY [17]. *profile is only read with STATUS_OK.
Status profile_forward_pass(Layer *model, Tensor *x, ForwardMachine machine,
                            ForwardProfile *profile);

#endif
