// machine.h -- what this machine can do at best: the ceilings of the roofline, the best that was
// ever seen, and kept.
// Threads: while one measures, the process should do nothing else, or the ceilings come out low.
#ifndef PROFILER_MACHINE_MACHINE_H
#define PROFILER_MACHINE_MACHINE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tensor/status.h"

RIDGEPOINT_API_BEGIN

enum { MACHINE_MAX_LEVELS = 5 };

// Who does an op: all threads in use, or the calling one alone, because dividing it does not pay.
// Where one thread is in use, it is all.
typedef enum Team { TEAM_ALL, TEAM_ONE, TEAM_COUNT } Team;

// How fast a level's lines move, B/s at best; 0: not known, or no limit of this level.
typedef struct MachineRates {
    double fill;  // lines that come: read, or fetched to be written. Of the first level loads
    double store; // of the first level alone: stores
    double move;  // beyond it: lines that come and lines that go, together
} MachineRates;

// By how much an op was seen to be faster than the loops that a ceiling is from, at most a quarter:
// 0.12 of it more. Of one report alone, and not kept.
typedef struct MachineRaise {
    double by;   // 0: no op was
    char op[48]; // "relu3"
} MachineRaise;

// A level of memory: what a working set of up to `bytes` is read and written at.
typedef struct MachineLevel {
    char name[8];            // "L1", "L2", "L3", "DRAM"
    int64_t bytes;           // capacity for all threads in use together; INT64_MAX for the last
    double bytes_per_second; // of y = s x: 8 bytes an element. The picture's, and the ridge's
    int64_t bytes_alone;     // capacity for one thread; 0: as for all
    MachineRates rates[TEAM_COUNT]; // no fill: time is counted bytes / bytes_per_second
    double now;         // what it gave when it was last looked at, of bytes_per_second; 0: never
    MachineRaise raise; // of its rates and its bandwidth
} MachineLevel;

typedef struct Machine {
    bool measured; // else given: a file of the user's
    // CPU model, threads, BLAS with its kernel, or a card's identity; "": a given file without.
    char fingerprint[256];
    char device[64]; // a card's name, "NVIDIA H200"; "": the host, and then what is a card's is 0
    int threads;     // 0: a card's
    double peak_flops_per_second; // fp32, by matrix product, at the best of a few sizes
    double peak_alone;            // the same of one thread; 0: not known, as of all
    MachineRaise raise;           // of both
    // Seconds that one thread takes for each square root and division of many; 0: not known.
    double root_seconds, division_seconds;
    MachineLevel levels[MACHINE_MAX_LEVELS]; // small to large; at least one
    int n_levels;
    double dispatch_seconds; // one op on one element, from call to return; of a card: of many in a
                             // row, from one to the next
    double call_seconds;     // of a card: the host's part of that, from call to return
    double wake_seconds;     // handing work to a thread that sleeps; 0 with one thread
    double spin_seconds;     // handing work to a thread that spins; 0 with one thread
    int64_t memory_bytes;    // there is for a step and all it needs; 0: not known
    // low_profiles counts the latest profiles, one after the other, in which memory gave under 70 %
    // at every level; low_since is when the first of them was, in seconds since 1970. After ten
    // over three days the machine counts as changed.
    int low_profiles;
    int64_t low_since;
    bool begun_anew; // machine_obtain has just measured again for that reason
    double from_host_bytes_per_second, to_host_bytes_per_second; // a card's copies
} Machine;

// FLOP per byte at which the level stops being the limit; NaN: there is no such level.
static inline double machine_ridge(const Machine *machine, int level) {
    if (!machine || level < 0 || level >= MACHINE_MAX_LEVELS) return (double)NAN;
    return machine->peak_flops_per_second / machine->levels[level].bytes_per_second;
}
int64_t machine_capacity(const MachineLevel *level, Team team); // bytes; INT64_MAX: of the last
// The smallest level that holds `distance` bytes, of what the team moves.
int machine_level(const Machine *machine, Team team, uint64_t distance);
int machine_shared_level(const Machine *machine); // the first that all cores share

// Measures the current context's device, in less than 3 seconds: the host with the context's
// threads, or a card as machine_parts.h says. `progress` (may be NULL) is called with what is
// being measured, several times a second at most, and last with fraction 1. It borrows memory
// outside the context's ledger (on the host 64 to 512 MB), and afterwards resets the process's own
// peak (VmHWM) where the system lets it.
typedef void (*MachineProgress)(void *argument, const char *what, double fraction);
Status machine_calibrate(MachineProgress progress, void *argument, Machine *machine);

// Looks again at all of it, of the levels at the last one only where `last`, and keeps the better
// of each; levels[].now says what they gave. What other programs move changes from second to
// second, and one look may fall into a bad moment. About 0.2 seconds, with the last level 0.5, and
// `longer` five times as long. Borrows as machine_calibrate does; where there is no room, or the
// ceilings are a card's, given, or another machine's, they stay as they are.
void machine_look(Machine *machine, bool last, bool longer);

// After a profile keeps them for the next process, with the better of each that is kept already;
// quietly not, where that cannot be.
void machine_keep(Machine *machine);

// Reads and writes a machine file (JSON: a profile's "machine" and a fingerprint). Reading
// refuses what is not a machine: missing or non-positive ceilings, levels that do not grow, a
// bandwidth of 0; the message names file, key and what to do. Only peak_flops_per_second and levels
// have to be there, each with name, bytes (the last: INT64_MAX, whatever it says) and
// bytes_per_second; all else defaults to 0. Writing replaces the file at once.
Status machine_read(const char *path, Machine *machine);
Status machine_parse(const char *text, size_t size, const char *name, Machine *machine);
Status machine_write(const Machine *machine, const char *path);

// Where the ceilings of the current context's device are kept: $XDG_CACHE_HOME or ~/.cache, then
// ridgepoint/machine-<hash of the fingerprint and, of the host, of how this program was
// built>.json. False: no home to keep it in.
bool machine_cache_path(char *path, size_t size);

// The ceilings to judge by: of `peaks_file` where given (machine_known.h's of that name, or a
// file's; labelled given), else as kept for this fingerprint, else, when `again`, or when the
// machine has changed (low_profiles), measured now and kept (quietly not, where that cannot be).
// *fresh tells that it was measured now; *kept_in is where ("" when nowhere; room for 512).
typedef struct MachineRequest {
    const char *peaks_file; // or a name; NULL: none
    bool again;
    MachineProgress progress;
    void *argument;
} MachineRequest;
Status machine_obtain(const MachineRequest *request, Machine *machine, bool *fresh, char *kept_in);

RIDGEPOINT_API_END

#endif
