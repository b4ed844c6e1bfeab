// machine_known.h -- published ceilings of machines by name, each row with its source. For bounds
// on the meta device; measuring is better for a machine at hand.
#ifndef PROFILER_MACHINE_MACHINE_KNOWN_H
#define PROFILER_MACHINE_MACHINE_KNOWN_H

#include "profiler/machine/machine.h"
#include "tensor/tensor.h"

typedef struct KnownMachine {
    const char *name;    // "a100-bf16"
    const char *model;   // "NVIDIA A100 SXM4 40 GB"
    bool card;           // false: a CPU, one socket with all cores
    Precision precision; // of the peak: products in it, sums in fp32; dense
    double peak_flops_per_second, bytes_per_second; // bytes_per_second: of its memory
    // Its last cache. Data found there takes bytes / rate, or no time where no rate is published
    // (0), because a bound must not be too high.
    int64_t cache_bytes;
    double cache_bytes_per_second;
    int64_t memory_bytes; // 0: depends on what is installed
    const char *source;
} KnownMachine;

const KnownMachine *machine_known(const char *name); // NULL: unknown, or `name` is NULL
const KnownMachine *machine_known_at(int i);         // NULL after the last
void machine_of_known(const KnownMachine *known, Machine *machine);

#endif
