// machine_write.h -- internal to profiler/: what a machine file and a profile's JSON have in
// common.
#ifndef PROFILER_MACHINE_MACHINE_WRITE_H
#define PROFILER_MACHINE_MACHINE_WRITE_H

#include "profiler/files/json_writer.h"
#include "profiler/machine/machine.h"

#define MACHINE_SCHEMA "ridgepoint.machine/v1"

// The members "raised" and "raised_by", where an op was faster than what was measured.
void machine_write_raise(JsonWriter *json, const MachineRaise *raise);
// The member "levels" (the last one's bytes are null), and beside it what else was measured of one
// thread.
void machine_write_levels(JsonWriter *json, const Machine *machine);
// What only a card has: its name, the host's part of a launch, copies. Nothing for the host.
void machine_write_device(JsonWriter *json, const Machine *machine);

#endif
