// metronome.h -- a fixed piece of work, timed beside what is measured. Times of different processes
// are divided by it: what a machine gives changes from second to second, and meets both alike. Not
// here: what is divided (Profile.metronome says by what, compare/ divides).
#ifndef PROFILER_MEASURE_METRONOME_H
#define PROFILER_MEASURE_METRONOME_H

#include "tensor/status.h"

// The work is ours alone and never changes, so that no faster kernel divides itself away: on each
// of a few cores in turn, while the others rest, about 0.2 ms of multiplies and adds in the core's
// first cache, and one read of 4 MB. Whoever changes it takes another version: times of two
// versions say nothing of each other.
typedef struct Metronome Metronome;

typedef struct Beat { // seconds, the mean of the cores
    double product, read;
} Beat;

// 4 MB outside the context's ledger. NULL with STATUS_OUT_OF_MEMORY pending.
Metronome *metronome_new(void);
void metronome_free(Metronome *metronome); // NULL: nothing
int metronome_version(void);
// Once on each of so many cores, the next ones of those that the process may use, and at most 4;
// of 1 where the calling thread is. About 0.5 ms each. The thread may run afterwards where it could
// before.
//
//     Beat beat = metronome_beat(metronome, context_current()->threads);
Beat metronome_beat(Metronome *metronome, int cores);

#endif
