// machine_known.h -- ceilings of machines that are not at hand, by name: what their makers publish,
// each row with its source. For bounds on the meta device; a machine at hand is better measured.
#ifndef PROFILER_MACHINE_MACHINE_KNOWN_H
#define PROFILER_MACHINE_MACHINE_KNOWN_H

#include "profiler/machine/machine.h"
#include "tensor/tensor.h"

typedef struct KnownMachine {
    const char *name;    // "a100-bf16"
    const char *model;   // "NVIDIA A100 SXM4 40 GB"
    bool card;           // else a CPU of one socket, all cores
    Precision precision; // of the peak: products of it, sums in fp32; dense
    double peak_flops_per_second, bytes_per_second; // of its memory
    // Its last cache; what is found there takes bytes / rate, or, where nobody publishes one (0),
    // no time: a bound must not be too high.
    int64_t cache_bytes;
    double cache_bytes_per_second;
    int64_t memory_bytes; // 0: whatever is built in
    const char *source;
} KnownMachine;

const KnownMachine *machine_known(const char *name); // NULL: there is none, or no name
const KnownMachine *machine_known_at(int i);         // NULL behind the last
void machine_of_known(const KnownMachine *known, Machine *machine);

#endif
