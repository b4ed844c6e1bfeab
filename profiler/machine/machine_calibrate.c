// machine_calibrate.c -- chooses the ceilings to measure, their working sets, and repetitions. Not
// here: the measurements (machine_measure.c, machine_bandwidth.c), or the storage (machine.c).
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profiler/base/system.h"
#include "profiler/machine/machine_parts.h"
#include "tensor/context.h"
#include "tensor/given.h"

// Seconds for each measurement, so that all together take less than 3, usually 2.
static const double peak_seconds[TEAM_COUNT] = {0.6, 0.15}, cache_seconds = 0.09,
                    memory_seconds = 0.3, sweep_seconds = 0.05, slow_seconds = 0.06,
                    dispatch_seconds = 0.1, threads_seconds = 0.2;

enum {
    SWEEP_LEAST = 16 << 10, // bytes per thread: fits in every first level
    SWEEP_MOST = 256 << 20, // bytes in total
    SWEEP_POINTS = 16,
    DRAM_MOST = 512 << 20,
    DRAM_CACHES = 4, // a working set this many times the last cache barely profits from it
};

// ---- the better of two -------------------------------------------------------------------------
// 0 is unknown, so any value is better.
static void keep_higher(double *best, double now) { *best = fmax(*best, now); }
static void keep_shorter(double *best, double now) {
    if (now > 0.0 && (*best == 0.0 || now < *best)) *best = now;
}

static void keep_rates(MachineRates *best, const MachineRates *now) {
    keep_higher(&best->fill, now->fill);
    keep_higher(&best->store, now->store);
    keep_higher(&best->move, now->move);
}

void machine_take_better(Machine *machine, const Machine *other) {
    keep_higher(&machine->peak_flops_per_second, other->peak_flops_per_second);
    keep_higher(&machine->peak_alone, other->peak_alone);
    keep_shorter(&machine->root_seconds, other->root_seconds);
    keep_shorter(&machine->division_seconds, other->division_seconds);
    keep_shorter(&machine->dispatch_seconds, other->dispatch_seconds);
    keep_shorter(&machine->spin_seconds, other->spin_seconds);
    keep_shorter(&machine->wake_seconds, other->wake_seconds);
    for (int i = 0; i < machine->n_levels && i < other->n_levels; i++) {
        MachineLevel *level = &machine->levels[i];
        for (int team = 0; team < TEAM_COUNT; team++)
            keep_rates(&level->rates[team], &other->levels[i].rates[team]);
        keep_higher(&level->bytes_per_second, other->levels[i].bytes_per_second);
    }
}

// ---- measuring ---------------------------------------------------------------------------------

typedef struct Calibration {
    MachineProgress progress;
    void *argument;
    int step, steps;
    double share; // fraction of the seconds of a first measurement
    bool last;    // measure the last level, too
    MachineScratch scratch;
} Calibration;

static void tell(Calibration *calibration, const char *what) {
    double fraction = (double)calibration->step++ / calibration->steps;
    if (calibration->progress) calibration->progress(calibration->argument, what, fraction);
}

// A working set that fits in this level only: half-way between a cache and the one before it, but a
// quarter of the way in the last cache, of which a core may have only a part, and which others use,
// too.
static int64_t working_set(const Calibration *calibration, const Machine *machine, int i,
                           Team team) {
    const MachineLevel *level = &machine->levels[i], *before = i ? level - 1 : NULL;
    int64_t from = before ? machine_capacity(before, team) : 0, most = calibration->scratch.bytes;
    if (i == machine->n_levels - 1) return most;
    bool last_cache = i > 0 && i == machine->n_levels - 2;
    int64_t bytes = from + (machine_capacity(level, team) - from) / (last_cache ? 4 : 2);
    return bytes < most ? bytes : most;
}

// Measures the levels; the last is DRAM, whose passes are long.
static Status measure_levels(Calibration *calibration, Machine *machine, Team team) {
    Status status = STATUS_OK;
    int levels = calibration->last ? machine->n_levels : machine->n_levels - 1;
    for (int i = 0; !status && i < levels; i++) {
        MachineLevel *level = &machine->levels[i];
        double seconds = i < machine->n_levels - 1 ? cache_seconds : memory_seconds, counted = 0.0;
        MachineRates now = {0};
        char what[48];
        snprintf(what, sizeof what, "bandwidth of %.7s%s", level->name,
                 team == TEAM_ONE ? ", one thread" : "");
        tell(calibration, what);
        int64_t bytes = working_set(calibration, machine, i, team);
        bool first = i == 0 && machine->n_levels > 1;
        status = machine_measure_rates(&calibration->scratch, bytes, first,
                                       calibration->share * seconds, &now, &counted);
        keep_rates(&level->rates[team], &now);
        if (status || team != TEAM_ALL) continue;
        keep_higher(&level->bytes_per_second, counted);
        level->now = counted / level->bytes_per_second;
    }
    return status;
}

static Status sweep_levels(Calibration *calibration, Machine *machine) {
    int64_t bytes[SWEEP_POINTS];
    double bandwidth[SWEEP_POINTS];
    int n = 0;
    Status status = STATUS_OK;
    tell(calibration, "bandwidth by working set");
    for (int64_t size = (int64_t)SWEEP_LEAST * machine->threads;
         !status && size <= SWEEP_MOST && n < SWEEP_POINTS; size *= 2, n++) {
        bytes[n] = size;
        status =
            machine_measure_bandwidth(&calibration->scratch, size, sweep_seconds, &bandwidth[n]);
    }
    if (!status) machine->n_levels = machine_levels_of_sweep(bytes, bandwidth, n, machine->levels);
    return status;
}

static Status measure_ceilings(Calibration *calibration, Machine *machine, Team team) {
    double *peak = team == TEAM_ONE ? &machine->peak_alone : &machine->peak_flops_per_second, now;
    tell(calibration, team == TEAM_ONE ? "matrix product, one thread" : "matrix product");
    Status status =
        machine_measure_peak(&calibration->scratch, calibration->share * peak_seconds[team], &now);
    if (!status) keep_higher(peak, now);
    if (!status && machine->n_levels == 0) status = sweep_levels(calibration, machine);
    return status ? status : measure_levels(calibration, machine, team);
}

// Measures one thread alone if there are more, for small ops. Levels found only by a sweep are
// those of all threads.
static Status measure_alone(Calibration *calibration, Machine *machine) {
    double root = 0.0, division = 0.0;
    tell(calibration, "square roots");
    Status status = machine_measure_slow(&calibration->scratch, calibration->share * slow_seconds,
                                         &root, &division);
    keep_shorter(&machine->root_seconds, root);
    keep_shorter(&machine->division_seconds, division);
    if (status || machine->threads < 2 || machine->levels[0].bytes_alone == 0) return status;
    return measure_ceilings(calibration, machine, TEAM_ONE);
}

static Status measure_machine(Calibration *calibration, Machine *machine) {
    double dispatch = 0.0, spin = 0.0, wake = 0.0, share = calibration->share;
    Status status = measure_ceilings(calibration, machine, TEAM_ALL);
    if (status) return status;
    tell(calibration, "dispatch");
    status = machine_measure_dispatch(share * dispatch_seconds, &dispatch);
    if (status) return status;
    tell(calibration, "threads");
    status = machine_measure_threads(share * threads_seconds, &spin, &wake);
    keep_shorter(&machine->dispatch_seconds, dispatch);
    keep_shorter(&machine->spin_seconds, spin);
    keep_shorter(&machine->wake_seconds, wake);
    calibration->step = calibration->steps;
    if (!status) tell(calibration, "done");
    return status;
}

// Bytes for a working set that barely profits from the last cache.
static int64_t scratch_bytes(int64_t last_cache) {
    int64_t bytes =
        last_cache < DRAM_MOST / DRAM_CACHES ? last_cache * DRAM_CACHES : (int64_t)DRAM_MOST;
    return bytes > MACHINE_SCRATCH_LEAST ? bytes : MACHINE_SCRATCH_LEAST;
}

// Measures with one thread, then with all, in `bytes` bytes.
static Status measure_here(Calibration *calibration, Machine *machine, int64_t bytes) {
    Status status = machine_scratch_new(bytes, &calibration->scratch);
    context_set_threads(1);
    if (!status) status = measure_alone(calibration, machine);
    context_set_threads(machine->threads);
    MachinePlaces places;
    machine_places_take(&places);
    if (!status) status = measure_machine(calibration, machine);
    machine_places_leave(&places);
    machine_scratch_free(&calibration->scratch);
    return status;
}

static Status calibrate_here(Calibration *calibration, Machine *machine) {
    int64_t bytes = SWEEP_MOST;
    int caches = machine_levels_of_system(MACHINE_CACHE_FOLDER, machine->threads, machine->levels);
    if (caches) {
        bytes = scratch_bytes(machine->levels[caches - 1].bytes);
        machine->levels[caches] = (MachineLevel){.name = "DRAM", .bytes = INT64_MAX};
        machine->n_levels = caches + 1;
    }
    bool alone = caches > 0 && machine->threads > 1;
    int levels = caches ? machine->n_levels : 1 + MACHINE_MAX_LEVELS; // at most, by a sweep
    calibration->steps = 4 + levels + (alone ? 1 + levels : 0);
    return measure_here(calibration, machine, bytes);
}

// The scratch belongs to no model's memory, so it must not show in the process's peak.
static void forget_process_peak(void) {
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (!file) return; // not Linux, or not allowed
    fputs("5", file);
    fclose(file);
}

// Starts a separate context, so that observers of the current one notice nothing.
static Status begin_apart(int threads) {
    Device *device = context_current()->device;
    Context *context = context_new();
    if (!context) return error_status();
    context_push(context);
    context_set_device(device);
    context_set_threads(threads);
    return STATUS_OK;
}

static void end_apart(void) {
    Context *context = context_current();
    context_pop();
    context_free(context);
    forget_process_peak();
}

Status machine_calibrate(MachineProgress progress, void *argument, Machine *machine) {
    if (!GIVEN(machine)) return STATUS_INVALID_ARGUMENT;
    *machine = (Machine){0};
    if (error_pending()) return error_status();
    bool on_host = context_current()->device->on_host;
    Machine measured = {.measured = true};
    machine_identify(&measured);
    Status status = begin_apart(context_current()->threads);
    if (status) return status;
    Calibration calibration = {
        .progress = progress, .argument = argument, .share = 1.0, .last = true};
    status = on_host ? calibrate_here(&calibration, &measured)
                     : machine_measure_device(progress, argument, &measured);
    end_apart();
    if (!status) *machine = measured;
    return status;
}

// Improving ceilings is optional: without room they stay.
void machine_look(Machine *machine, bool last, bool longer) {
    if (!GIVEN(machine)) return;
    Machine here = {.measured = true}, seen = *machine;
    int caches = machine->n_levels - 1;
    if (error_pending() || !machine->measured || machine->device[0] || caches < 1 ||
        !(machine->levels[caches].rates[TEAM_ALL].fill > 0.0))
        return;
    machine_identify(&here);
    int64_t bytes =
        last ? scratch_bytes(machine->levels[caches - 1].bytes) : (int64_t)MACHINE_SCRATCH_LEAST;
    if (strcmp(here.fingerprint, machine->fingerprint) != 0 || !system_has_memory(bytes)) return;
    if (begin_apart(machine->threads)) {
        error_clear();
        return;
    }
    Calibration calibration = {.share = longer ? 0.5 : 0.1, .last = last};
    for (int i = 0; i < seen.n_levels; i++) seen.levels[i].now = 0.0;
    if (!measure_here(&calibration, &seen, bytes)) *machine = seen;
    end_apart();
    error_clear();
}
