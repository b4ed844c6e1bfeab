// machine_parts.h -- internal to machine/: the measurements behind machine_calibrate, each with the
// current context's threads, the best of many samples of at least 1 ms, within so many seconds.
#ifndef PROFILER_MACHINE_MACHINE_PARTS_H
#define PROFILER_MACHINE_MACHINE_PARTS_H

#include <sched.h>

#include "profiler/base/json_writer.h"
#include "profiler/machine/machine.h"

// Takes of each ceiling the better one.
void machine_take_better(Machine *machine, const Machine *other);

// Whose ceilings the current context's device has: its fingerprint, its name, how many threads.
void machine_identify(Machine *machine);

// ---- how long something takes (machine_timing.c) ------------------------------------------------
// What is measured, so many times in a row. It may leave an error pending.
typedef void (*MachineWork)(void *argument, int64_t times);

typedef struct MachineTime {
    double device; // seconds by the device's own stamps; where it has none, as `waited`
    double waited; // until the device was done with it, by the clock
} MachineTime;

// Of doing it once: the best of samples of at least 1 ms, within about `seconds`; one in any case.
Status machine_time(MachineWork work, void *argument, double seconds, MachineTime *once);
// The same, but the device begins only when all of a sample is queued, where it can be held so
// long: what it does is then shorter than launching it, and would wait for the host in between.
Status machine_time_queued(MachineWork work, void *argument, double seconds, MachineTime *once);

// ---- the peak and the cost of an op (machine_measure.c) -----------------------------------------
// With a thread for each processor that this process may use, gives each a processor of its own
// until it is left: a system may keep two busy threads on one processor for seconds, and then half
// a machine would be measured. With fewer threads, the system places them.
typedef struct MachinePlaces {
    cpu_set_t before; // of the calling thread
    bool taken;
} MachinePlaces;

void machine_places_take(MachinePlaces *places);
void machine_places_leave(const MachinePlaces *places);

// Memory to measure in, touched: one block, so that the system gets all of it back.
typedef struct MachineScratch {
    float *data;
    int64_t bytes;
} MachineScratch;

enum { MACHINE_SCRATCH_LEAST = 64 << 20 }; // bytes; the matrices of the peak fit into it

Status machine_scratch_new(int64_t bytes, MachineScratch *scratch);
void machine_scratch_free(MachineScratch *scratch);

// FLOP/s of a square product at the best of several sizes.
Status machine_measure_peak(const MachineScratch *scratch, double seconds,
                            double *flops_per_second);

// Seconds that an op on one element takes, without a gradient: where a device runs behind the
// caller's back, how far apart it runs those of a long queue.
Status machine_measure_dispatch(double seconds, double *dispatch_seconds);
// Of such an op, the seconds from call to return.
Status machine_measure_call(double seconds, double *call_seconds);

// Seconds from handing a job to another thread until it has begun and ended, by how that thread
// waits. 0 with one thread.
Status machine_measure_threads(double seconds, double *spin_seconds, double *wake_seconds);

// ---- memory (machine_bandwidth.c) ---------------------------------------------------------------
// In working sets of so many bytes, at most the scratch's: the best rates of six loops (sum, sum of
// rows, y = s x, x = s - x, y = x - y, fill). *counted is that of y = s x in 8 bytes an element:
// what the op reads and writes, not what a cache fetches before it overwrites. `first`: in the
// first level, where nothing is fetched for that.
Status machine_measure_rates(const MachineScratch *scratch, int64_t bytes, bool first,
                             double seconds, MachineRates *rates, double *counted);

// Only *counted of these.
Status machine_measure_bandwidth(const MachineScratch *scratch, int64_t bytes, double seconds,
                                 double *counted);

// Seconds for each of many square roots and divisions, in the first level, on the calling thread.
Status machine_measure_slow(const MachineScratch *scratch, double seconds, double *root_seconds,
                            double *division_seconds);

// ---- levels (machine_levels.c) ------------------------------------------------------------------
// Where one ends and the next begins: as the system says, or else as bandwidths show.
enum { MACHINE_MAX_CACHES = MACHINE_MAX_LEVELS - 1 };

#define MACHINE_CACHE_FOLDER "/sys/devices/system/cpu/cpu0/cache"

// Names and capacities of the data caches that `threads` threads have together, and that one has: a
// cache that k cores share counts ceil(threads / k) times. `folder` is Linux's. Returns how many
// caches, growing from one to the next; 0 where the system does not say. Bandwidths are left 0.
int machine_levels_of_system(const char *folder, int threads,
                             MachineLevel levels[MACHINE_MAX_CACHES]);

// The levels that a sweep over n growing working sets found: one ends where bandwidth falls by more
// than a quarter. A fall may take several working sets. The last level is DRAM.
int machine_levels_of_sweep(const int64_t bytes[], const double bytes_per_second[], int n,
                            MachineLevel levels[MACHINE_MAX_LEVELS]);

// ---- a card (machine_device.c) ------------------------------------------------------------------
// The current context's device, through ops and its table as a model uses them, in about two
// seconds:
//   peak      op matmul of n x n, n doubling from 256 while time and memory allow; 2 n^3 FLOPs
//   levels    op add, y = a + b, which reads 8 bytes an element and writes 4: "L2" where the device
//             says how large its cache is, with half of it as working set; "DRAM" with 16 times as
//             much, 64 MB to 1 GB
//   dispatch  op relu on one element, behind each other in one long queue; and the host's part
//   copies    through the device's from_host and to_host, from and to pageable memory
// Takes at most half of the memory that is free, and gives it back with the context's ledger.
// STATUS_OUT_OF_MEMORY where that is too little to leave the cache.
Status machine_measure_device(MachineProgress progress, void *argument, Machine *machine);

// ---- what a machine file and a profile's JSON have in common (machine_write.c) ------------------
#define MACHINE_SCHEMA "ridgepoint.machine/v1"

// The members "raised" and "raised_by", where an op was faster than what was measured.
void machine_write_raise(JsonWriter *json, const MachineRaise *raise);
// The member "levels" (the last one's bytes are null), and beside it what else was measured of one
// thread.
void machine_write_levels(JsonWriter *json, const Machine *machine);
// What only a card has: its name, the host's part of a launch, copies. Nothing for the host.
void machine_write_device(JsonWriter *json, const Machine *machine);

#endif
