// ceilings.h -- what a person would measure by hand of a machine's ceilings: threads, buffers and
// loops of its own, nothing of the engine's. Each call adds to the best that earlier ones found.
#ifndef TESTS_BENCH_CEILINGS_H
#define TESTS_BENCH_CEILINGS_H

#include <stdint.h>

// B/s of STREAM's triad, y[i] = a[i] + s b[i], 12 bytes an element, over arrays of `bytes` in all,
// every thread on its own. For about `seconds`; the larger of *best and what was found.
void ceilings_triad(int threads, int64_t bytes, double seconds, double *best);

// FLOP/s of square products by cblas_sgemm, called on each thread: on matrices of its own, and on
// its rows of one large product. For about `seconds`; best[i] is that of ceilings_sizes[i].
enum { CEILINGS_SIZES = 3 };
extern const int ceilings_sizes[CEILINGS_SIZES]; // 512, 1024, 2048
void ceilings_products(int threads, double seconds, double best[CEILINGS_SIZES]);

#endif
