// machine_parts.h -- internal to machine/: what measuring ceilings and keeping them share.
#ifndef PROFILER_MACHINE_MACHINE_PARTS_H
#define PROFILER_MACHINE_MACHINE_PARTS_H

#include "profiler/machine/machine.h"

// Whose ceilings the current context's device has: its fingerprint, its name, how many threads.
void machine_identify(Machine *machine);

#endif
