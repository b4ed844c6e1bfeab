// ex81_throughput.h -- exercise 81, throughput: how many runs in a second?
//
// WHY    Who serves requests asks for runs in a second, not for seconds of a run. It is the same
//        measurement, turned around, and only if it is of many runs at once, warm, and by a clock
//        that goes on while the program waits.
//
// TODO   Write throughput in exercises/ex81_throughput.c.
//
// APPROACH
//   1. Run the work once, to warm up.
//   2. Read CLOCK_MONOTONIC, run the work `runs` times, read the clock again.
//   3. Divide runs by the seconds between the two readings.
//
// EXAMPLE
//   10 runs between readings of 4.0 s and 4.5 s: 10 / 0.5 = 20 runs in a second
//
// HINTS
//   * A reading for each run would be in the time, too.
#ifndef EXERCISES_EX81_THROUGHPUT_H
#define EXERCISES_EX81_THROUGHPUT_H

#include <stdint.h>
#include <time.h>

#include "tensor/status.h"

// [1] *per_second is how often work(argument) runs in a second, of `runs` runs in a row, by
// CLOCK_MONOTONIC, to within 1 %; [2] after one run that is not measured, [3] with two readings of
// the clock. [4] runs < 1 is STATUS_INVALID_ARGUMENT, and nothing is run; else STATUS_OK.
Status throughput(void (*work)(void *), void *argument, int64_t runs, double *per_second);

#endif
