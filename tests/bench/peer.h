// peer.h -- PyTorch as a second process that runs the same workloads when asked (peer.py,
// peer_cuda.py), so that its samples lie between ours.
#ifndef TESTS_BENCH_PEER_H
#define TESTS_BENCH_PEER_H

#include <stdbool.h>

// Starts the script with $RIDGEPOINT_PYTHON, or python3. False: no interpreter with torch there.
bool peer_start(const char *script);
const char *peer_version(void);  // "2.4.1"; "" when there is none
double peer_start_seconds(void); // until torch was imported; NaN when there is none
double peer_resident_mb(void);   // by then
// Seconds per run of a workload, from about `seconds` of runs; NaN when there is none.
double peer_sample(const char *workload, int threads, double seconds);
void peer_stop(void);

#endif
