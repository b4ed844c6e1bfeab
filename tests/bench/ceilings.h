// ceilings.h -- a person's own measurement of a machine's ceilings: separate threads, buffers and
// loops, nothing of the engine's. Each call adds to the best result of earlier ones.
#ifndef TESTS_BENCH_CEILINGS_H
#define TESTS_BENCH_CEILINGS_H

#include <stdint.h>

// B/s of STREAM's triad, y[i] = a[i] + s b[i], 12 bytes an element, over arrays of `bytes` in all,
// each thread on its own part. Takes about `seconds`; raises *best if it finds more.
void ceilings_triad(int threads, int64_t bytes, double seconds, double *best);

// FLOP/s of square products by cblas_sgemm, called on each thread: on matrices of its own, and on
// its rows of one large product. Takes about `seconds`; best[i] is for ceilings_sizes[i].
enum { CEILINGS_SIZES = 3 };
extern const int ceilings_sizes[CEILINGS_SIZES]; // 512, 1024, 2048
void ceilings_products(int threads, double seconds, double best[CEILINGS_SIZES]);

#endif
