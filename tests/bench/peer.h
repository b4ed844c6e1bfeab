// peer.h -- PyTorch in a second process that runs the same workloads on request (peer.py,
// peer_cuda.py), so that its samples alternate with ours.
#ifndef TESTS_BENCH_PEER_H
#define TESTS_BENCH_PEER_H

#include <stdbool.h>

// Starts the script with $RIDGEPOINT_PYTHON, or python3. False: no interpreter with torch.
bool peer_start(const char *script);
const char *peer_version(void);  // such as "2.4.1"; "" without a peer
double peer_start_seconds(void); // until torch was imported; NaN without a peer
double peer_resident_mb(void);   // after that import
// Seconds per run of a workload, from about `seconds` of runs; NaN without a peer.
double peer_sample(const char *workload, int threads, double seconds);
void peer_stop(void);

#endif
