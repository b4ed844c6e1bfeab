// machine_parts.h -- internal to machine/: what measuring ceilings and keeping them share.
#ifndef PROFILER_MACHINE_MACHINE_PARTS_H
#define PROFILER_MACHINE_MACHINE_PARTS_H

#include "profiler/machine/machine.h"

// Takes of each ceiling the better one.
void machine_take_better(Machine *machine, const Machine *other);

// Whose ceilings the current context's device has: its fingerprint, its name, how many threads.
void machine_identify(Machine *machine);

#endif
