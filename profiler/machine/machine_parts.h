// machine_parts.h -- internal to machine/: the measurements of machine_calibrate. Each uses the
// context's threads, and keeps the best of many samples of >= 1 ms, within the given seconds.
#ifndef PROFILER_MACHINE_MACHINE_PARTS_H
#define PROFILER_MACHINE_MACHINE_PARTS_H

#include <sched.h>

#include "profiler/base/json_writer.h"
#include "profiler/machine/machine.h"

// Takes the better value of each ceiling.
void machine_take_better(Machine *machine, const Machine *other);

// Sets the identity of the current context's device: fingerprint, name, number of threads.
void machine_identify(Machine *machine);

// ---- how long something takes (machine_timing.c) ------------------------------------------------
// Runs the measured work `times` times in a row. It may leave an error pending.
typedef void (*MachineWork)(void *argument, int64_t times);

typedef struct MachineTime {
    double device; // seconds by the device's own stamps; without stamps, as `waited`
    double waited; // seconds by the clock until the device finished
} MachineTime;

// Times one run: the best of samples of at least 1 ms, at least one, within about `seconds`.
Status machine_time(MachineWork work, void *argument, double seconds, MachineTime *once);
// Like machine_time, but the device begins only when a whole sample is queued, if it can be held
// that long: for work shorter than its launch, which would otherwise wait for the host in between.
Status machine_time_queued(MachineWork work, void *argument, double seconds, MachineTime *once);

// ---- the peak and the cost of an op (machine_measure.c) -----------------------------------------
// If there is a thread for each processor of this process, pins each to a processor of its own
// until machine_places_leave: otherwise a system may keep two busy threads on one processor for
// seconds, and only half the machine would be measured. With fewer threads, the system places them.
typedef struct MachinePlaces {
    cpu_set_t before; // affinity of the calling thread
    bool taken;
} MachinePlaces;

void machine_places_take(MachinePlaces *places);
void machine_places_leave(const MachinePlaces *places);

// Memory for measurements, already touched: one block, so that the system gets all of it back.
typedef struct MachineScratch {
    float *data;
    int64_t bytes;
} MachineScratch;

enum { MACHINE_SCRATCH_LEAST = 64 << 20 }; // bytes; the matrices of the peak fit into it

Status machine_scratch_new(int64_t bytes, MachineScratch *scratch);
void machine_scratch_free(MachineScratch *scratch);

// Measures the FLOP/s of a square matrix product, best of several sizes.
Status machine_measure_peak(const MachineScratch *scratch, double seconds,
                            double *flops_per_second);

// Measures the seconds of an op on one element, without a gradient; on an asynchronous device, the
// interval between such ops in a long queue.
Status machine_measure_dispatch(double seconds, double *dispatch_seconds);
// Measures the seconds of such an op from call to return.
Status machine_measure_call(double seconds, double *call_seconds);

// Measures the seconds from handing a job to another thread until it has begun and ended, for a
// spinning and for a sleeping thread. 0 with one thread.
Status machine_measure_threads(double seconds, double *spin_seconds, double *wake_seconds);

// ---- memory (machine_bandwidth.c) ---------------------------------------------------------------
// Finds, for working sets of `bytes` bytes (at most the scratch's), the best rates of six loops
// (sum, sum of rows, y = s x, x = s - x, y = x - y, fill). *counted is the rate of y = s x at 8
// bytes an element: the op's own reads and writes, without lines a cache fetches before it
// overwrites them. `first`: in the first level, where no such fetch happens.
Status machine_measure_rates(const MachineScratch *scratch, int64_t bytes, bool first,
                             double seconds, MachineRates *rates, double *counted);

// Measures only *counted.
Status machine_measure_bandwidth(const MachineScratch *scratch, int64_t bytes, double seconds,
                                 double *counted);

// Times a square root and a division, of many in the first level, on the calling thread.
Status machine_measure_slow(const MachineScratch *scratch, double seconds, double *root_seconds,
                            double *division_seconds);

// ---- levels (machine_levels.c) ------------------------------------------------------------------
// Boundaries of levels: as the system reports them, or else as bandwidths show.
enum { MACHINE_MAX_CACHES = MACHINE_MAX_LEVELS - 1 };

#define MACHINE_CACHE_FOLDER "/sys/devices/system/cpu/cpu0/cache"

// Finds names and capacities of the data caches available to `threads` threads together and to one:
// a cache shared by k cores counts ceil(threads / k) times. `folder` is Linux's. Returns the number
// of caches, in growing order; 0 if the system does not tell. Bandwidths are left 0.
int machine_levels_of_system(const char *folder, int threads,
                             MachineLevel levels[MACHINE_MAX_CACHES]);

// Finds the levels from a sweep over n growing working sets: a level ends where bandwidth falls by
// more than a quarter. A fall may span several working sets. The last level is DRAM.
int machine_levels_of_sweep(const int64_t bytes[], const double bytes_per_second[], int n,
                            MachineLevel levels[MACHINE_MAX_LEVELS]);

// ---- a card (machine_device.c) ------------------------------------------------------------------
// Measures the current context's device, through ops and its table as a model uses them, in about
// two seconds:
//   peak      op matmul of n x n, n doubling from 256 while time and memory allow; 2 n^3 FLOPs
//   levels    op add, y = a + b, which reads 8 bytes an element and writes 4: "L2" if the device
//             reports its cache size, with half of it as working set; "DRAM" with 16 times as
//             much, 64 MB to 1 GB
//   dispatch  op relu on one element, many in one long queue; and the host's part
//   copies    through the device's from_host and to_host, from and to pageable memory
// Takes at most half of the free memory, and returns it with the context's ledger.
// STATUS_OUT_OF_MEMORY if that is too little to exceed the cache.
Status machine_measure_device(MachineProgress progress, void *argument, Machine *machine);

// ---- what a machine file and a profile's JSON have in common (machine_write.c) ------------------
#define MACHINE_SCHEMA "ridgepoint.machine/v1"

// Writes the members "raised" and "raised_by" if an op was faster than the measured ceiling.
void machine_write_raise(JsonWriter *json, const MachineRaise *raise);
// Writes the member "levels" (the last level's bytes are null), and the other values measured for
// one thread.
void machine_write_levels(JsonWriter *json, const Machine *machine);
// Writes a card's members: name, the host's part of a launch, copies. Nothing for the host.
void machine_write_device(JsonWriter *json, const Machine *machine);

#endif
