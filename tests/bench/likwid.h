// likwid.h -- likwid-bench (github.com/RRZE-HPC/likwid), where it is installed, as a child process:
// somebody else's triad, in assembly, on pinned threads.
#ifndef TESTS_BENCH_LIKWID_H
#define TESTS_BENCH_LIKWID_H

#include <stdint.h>

// The kernel it is asked for: single precision, y = s a + b, 12 bytes an element, ordinary stores;
// with the widest vectors that this processor has.
const char *likwid_kernel(void);

// B/s of it over arrays of `bytes` in all; about `seconds` when it comes to about `guess` B/s. NaN:
// it is not installed, or could not.
double likwid_triad(int threads, int64_t bytes, double seconds, double guess);

#endif
