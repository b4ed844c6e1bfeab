// metronome.h -- a fixed piece of work, timed beside a measurement. Times of different processes
// are divided by its time: a machine's speed changes from second to second, and affects both alike.
// Not here: the division (Profile.metronome tells the divisor, compare/ divides).
#ifndef PROFILER_MEASURE_METRONOME_H
#define PROFILER_MEASURE_METRONOME_H

#include "tensor/status.h"

// The work never changes, so a faster kernel cannot hide itself by the division: on each of a few
// cores in turn, while the others rest, about 0.2 ms of multiplies and adds in the core's first
// cache, and one read of 4 MB. A change of the work needs a new version: times of two versions
// cannot be compared.
typedef struct Metronome Metronome;

typedef struct Beat { // seconds, mean over the cores
    double product, read;
} Beat;

// Takes 4 MB outside the context's ledger. NULL with STATUS_OUT_OF_MEMORY pending.
Metronome *metronome_new(void);
void metronome_free(Metronome *metronome); // NULL is fine
int metronome_version(void);
// Runs once on each of `cores` cores (at most 4), the next ones that the process may use; with 1,
// on the calling thread's core. About 0.5 ms each. Afterwards the thread's affinity is as before.
//
//     Beat beat = metronome_beat(metronome, context_current()->threads);
Beat metronome_beat(Metronome *metronome, int cores);

#endif
