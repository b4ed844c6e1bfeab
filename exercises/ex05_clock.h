// ex05_clock.h -- exercise 05: how long did it take?
//
// WHY    Every number that a profiler prints about speed is a difference of two readings of a
//        clock, so a wrong clock makes every number wrong. A computer has many clocks. People and
//        the network set the wall clock, even while you measure. Another clock stops while your
//        program waits. All of them advance in steps, and work shorter than a step seems to take
//        no time at all. After this exercise you know which clock to read, how to subtract two
//        readings, and how to time work that is far shorter than a step of the clock.
//
// TODO   Write clock_elapsed in exercises/ex05_clock.c.
//
// APPROACH (a number in brackets is a clause, which is graded on its own)
//   1. Read CLOCK_MONOTONIC with clock_gettime. It never jumps, and it runs while you wait [1].
//   2. Call work(argument) [2], and read the clock again.
//   3. A reading is a struct timespec: whole seconds, and the nanoseconds beyond them. The elapsed
//      time is the difference of the seconds plus the difference of the nanoseconds times 1e-9 [3].
//      The second difference is often negative. Added to the first, it is right as it is [4].
//   4. Ask clock_getres for the clock's step [5]. If fewer than 100 steps passed, the reading is
//      too coarse: start again, and run the work twice as often between the two readings. Keep
//      doubling (1, 2, 4, 8 ... runs) until at least 100 steps have passed [6].
//   5. *seconds is the time of ONE run: divide by the number of runs between the readings [7].
//
// EXAMPLE
//   readings {10 s, 900,000,000 ns} and {12 s, 150,000,000 ns}, one run between them:
//       (12 - 10) + (150,000,000 - 900,000,000) * 1e-9 = 2 - 0.75 = 1.25 s
//   A clock whose step is 15.625 ms, and work that takes 0.2 s. 100 steps are 1.5625 s.
//       1 run is 12 or 13 steps: too few; so are 2 and 4 runs, which take 0.4 s and 0.8 s.
//       8 runs: 1.59375 s, 102 steps: enough. 1.59375 / 8 = 0.19921875 s, within 1 % of the truth.
//
// HINTS
//   * Readings as doubles lose digits: subtract the whole seconds as integers first. They may be
//     more than an int holds [8].
//   * Never assume a step of 1 ns: some clocks advance in steps of 1 us, 1 ms or 15.6 ms.
//   * Each try starts with its own reading. Earlier tries are not part of the result [9].
//   * You may need a million runs. Each run takes equally long here.
#ifndef EXERCISES_EX05_CLOCK_H
#define EXERCISES_EX05_CLOCK_H

#include <time.h>

#include "tensor/status.h"

// *seconds: the time that one call of work(argument) takes, within 1 %. Returns STATUS_OK [10].
Status clock_elapsed(void (*work)(void *), void *argument, double *seconds);

#endif
