// machine.h -- the best that this machine can do: the ceilings of the roofline, the best values
// ever measured, kept in a file.
// Threads: during a measurement the process should do nothing else, or the ceilings come out low.
#ifndef PROFILER_MACHINE_MACHINE_H
#define PROFILER_MACHINE_MACHINE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tensor/status.h"

RIDGEPOINT_API_BEGIN

enum { MACHINE_MAX_LEVELS = 5 };

// The threads that run an op: all threads in use, or the calling one alone where dividing the work
// does not pay. If one thread is in use, the team is TEAM_ALL.
typedef enum Team { TEAM_ALL, TEAM_ONE, TEAM_COUNT } Team;

// The best rates of a level's cache lines, B/s; 0: unknown, or no limit at this level.
typedef struct MachineRates {
    double fill;  // lines that come in, read or fetched to be written. First level: loads
    double store; // first level only: stores
    double move;  // other levels: lines coming in and going out, together
} MachineRates;

// An op ran faster than the benchmark loops behind a ceiling, which is then raised by this
// fraction: 0.12 is 12 % more; at most a quarter. Valid for one report only, and not kept.
typedef struct MachineRaise {
    double by;   // 0: not raised
    char op[48]; // "relu3"
} MachineRaise;

// A level of memory, with the rates for working sets of up to `bytes`.
typedef struct MachineLevel {
    char name[8];            // "L1", "L2", "L3", "DRAM"
    int64_t bytes;           // capacity for all threads in use together; INT64_MAX for the last
    double bytes_per_second; // rate of y = s x, 8 bytes an element; for plots and ridges
    int64_t bytes_alone;     // capacity for one thread; 0: as for all threads
    MachineRates rates[TEAM_COUNT]; // fill 0: time is counted bytes / bytes_per_second
    double now;         // latest measured fraction of bytes_per_second; 0: never measured
    MachineRaise raise; // raise of this level's rates and bandwidth
} MachineLevel;

typedef struct Machine {
    bool measured; // false: given in a file of the user's
    // CPU model, threads, BLAS with its kernel, or a card's identity; "": a given file without one.
    char fingerprint[256];
    char device[64]; // a card's name, "NVIDIA H200"; "": the host, and all card values are 0
    int threads;     // 0: a card
    double peak_flops_per_second; // fp32, by matrix product, best of a few sizes
    double peak_alone;            // peak of one thread; 0: unknown, peak_flops_per_second counts
    MachineRaise raise;           // raise of both peaks
    // Seconds per square root and per division, one thread doing many; 0: unknown.
    double root_seconds, division_seconds;
    MachineLevel levels[MACHINE_MAX_LEVELS]; // small to large; at least one
    int n_levels;
    double dispatch_seconds; // one op on one element, from call to return; for a card: the interval
                             // between ops in a long queue
    double call_seconds;     // a card's launch: the host's time from call to return
    double wake_seconds;     // handing work to a sleeping thread; 0 with one thread
    double spin_seconds;     // handing work to a spinning thread; 0 with one thread
    int64_t memory_bytes;    // memory for a step and its needs; 0: unknown
    // low_profiles counts the latest consecutive profiles in which memory gave under 70 % at every
    // level; low_since is the time of the first of them, in seconds since 1970. After ten over
    // three days the machine counts as changed.
    int low_profiles;
    int64_t low_since;
    bool begun_anew; // machine_obtain has just measured again because the machine changed
    double from_host_bytes_per_second, to_host_bytes_per_second; // rates of a card's copies
} Machine;

// Ridge of a level, FLOP per byte: beyond it the level is not the limit; NaN: no such level.
static inline double machine_ridge(const Machine *machine, int level) {
    if (!machine || level < 0 || level >= MACHINE_MAX_LEVELS) return (double)NAN;
    return machine->peak_flops_per_second / machine->levels[level].bytes_per_second;
}
int64_t machine_capacity(const MachineLevel *level, Team team); // bytes; INT64_MAX: the last level
// The smallest level that holds `distance` bytes moved by the team.
int machine_level(const Machine *machine, Team team, uint64_t distance);
int machine_shared_level(const Machine *machine); // the first level shared by all cores

// Measures the current context's device in less than 3 seconds: the host with the context's
// threads, or a card as described in machine_parts.h. Calls `progress` (may be NULL) with the
// current measurement's name several times a second at most, the last time with fraction 1. Borrows
// memory outside the context's ledger (on the host 64 to 512 MB), and afterwards resets the
// process's own peak (VmHWM) where the system allows it.
typedef void (*MachineProgress)(void *argument, const char *what, double fraction);
Status machine_calibrate(MachineProgress progress, void *argument, Machine *machine);

// Measures all ceilings again (of the last level only if `last`), and keeps the better value of
// each; levels[].now gets the new rate as a fraction. Other programs' memory traffic changes from
// second to second, so one measurement may be unlucky. About 0.2 seconds, with the last level 0.5,
// and `longer` takes five times as long. Borrows memory as machine_calibrate does. Ceilings stay
// unchanged without room, or if they are a card's, given, or another machine's.
void machine_look(Machine *machine, bool last, bool longer);

// After a profile, stores the ceilings for the next process, merged with the stored ones by the
// better value of each; a failure to store is silent.
void machine_keep(Machine *machine);

// Reads and writes a machine file (JSON: a profile's "machine" and a fingerprint). Reading refuses
// anything that is not a machine: missing or non-positive ceilings, levels that do not grow, a
// bandwidth of 0; the message names file, key and remedy. Only peak_flops_per_second and levels are
// required, each level with name, bytes (the last counts as INT64_MAX) and bytes_per_second; all
// else defaults to 0. Writing replaces the file atomically.
Status machine_read(const char *path, Machine *machine);
Status machine_parse(const char *text, size_t size, const char *name, Machine *machine);
Status machine_write(const Machine *machine, const char *path);

// The path where the current context's device keeps its ceilings: $XDG_CACHE_HOME or ~/.cache, then
// ridgepoint/machine-<hash of the fingerprint and, for the host, of this program's build>.json.
// False: there is no home directory.
bool machine_cache_path(char *path, size_t size);

// Finds the ceilings for verdicts: from `peaks_file` if given (a name in machine_known.h, or a
// file; labelled given); else as stored for this fingerprint; else, also if `again` or if the
// machine has changed (low_profiles), measured now and stored (silently not if impossible). *fresh
// tells that they were measured now; *kept_in gets the path ("" if none; room for 512).
typedef struct MachineRequest {
    const char *peaks_file; // a path or a known name; NULL: none
    bool again;
    MachineProgress progress;
    void *argument;
} MachineRequest;
Status machine_obtain(const MachineRequest *request, Machine *machine, bool *fresh, char *kept_in);

RIDGEPOINT_API_END

#endif
