// likwid.h -- likwid-bench (github.com/RRZE-HPC/likwid), if installed, as a child process: an
// independent triad, in assembly, on pinned threads.
#ifndef TESTS_BENCH_LIKWID_H
#define TESTS_BENCH_LIKWID_H

#include <stdint.h>

// Name of the kernel: single precision, y = s a + b, 12 bytes an element, ordinary stores, with the
// widest vectors that this processor has.
const char *likwid_kernel(void);

// The triad's B/s over arrays of `bytes` in all; takes about `seconds` if it reaches about `guess`
// B/s. NaN: likwid is not installed, or failed.
double likwid_triad(int threads, int64_t bytes, double seconds, double guess);

#endif
