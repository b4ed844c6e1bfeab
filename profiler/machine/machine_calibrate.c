// machine_calibrate.c -- which ceilings to measure, in which working sets, and again. Not here: how
// each is measured (machine_measure.c, machine_bandwidth.c), or where they are kept (machine.c).
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profiler/machine/machine_bandwidth.h"
#include "profiler/machine/machine_device.h"
#include "profiler/machine/machine_levels.h"
#include "profiler/machine/machine_parts.h"
#include "profiler/measure/system.h"
#include "tensor/clock.h"
#include "tensor/context.h"
#include "tensor/given.h"
#include "tensor/pool.h"

// Seconds for each measurement, so that all of them end in less than 3, and usually in 2.
static const double peak_seconds[TEAM_COUNT] = {0.6, 0.15}, cache_seconds = 0.09,
                    memory_seconds = 0.3, sweep_seconds = 0.05, slow_seconds = 0.06,
                    dispatch_seconds = 0.1, threads_seconds = 0.2;

enum {
    SWEEP_LEAST = 16 << 10, // bytes a thread: in every first level
    SWEEP_MOST = 256 << 20, // bytes in all
    SWEEP_POINTS = 16,
    DRAM_MOST = 512 << 20,
    DRAM_CACHES = 4, // a working set so many times the last cache finds little of itself there
};

// ---- measuring ---------------------------------------------------------------------------------

typedef struct Calibration {
    MachineProgress progress;
    void *argument;
    int step, steps;
    MachineScratch scratch;
} Calibration;

static void tell(Calibration *calibration, const char *what) {
    double fraction = (double)calibration->step++ / calibration->steps;
    if (calibration->progress) calibration->progress(calibration->argument, what, fraction);
}

// A working set that is in this level and no other: half-way between a cache and the one before it;
// a quarter of the way in the last one, of which one core may have but a part, and others are in
// it.
static int64_t working_set(const Calibration *calibration, const Machine *machine, int i,
                           Team team) {
    const MachineLevel *level = &machine->levels[i], *before = i ? level - 1 : NULL;
    int64_t from = before ? machine_capacity(before, team) : 0, most = calibration->scratch.bytes;
    if (i == machine->n_levels - 1) return most;
    bool last_cache = i > 0 && i == machine->n_levels - 2;
    int64_t bytes = from + (machine_capacity(level, team) - from) / (last_cache ? 4 : 2);
    return bytes < most ? bytes : most;
}

// The last is DRAM, whose passes are long.
static Status measure_levels(Calibration *calibration, Machine *machine, Team team) {
    Status status = STATUS_OK;
    for (int i = 0; !status && i < machine->n_levels; i++) {
        MachineLevel *level = &machine->levels[i];
        double seconds = i < machine->n_levels - 1 ? cache_seconds : memory_seconds, counted;
        char what[48];
        snprintf(what, sizeof what, "bandwidth of %.7s%s", level->name,
                 team == TEAM_ONE ? ", one thread" : "");
        tell(calibration, what);
        int64_t bytes = working_set(calibration, machine, i, team);
        bool first = i == 0 && machine->n_levels > 1;
        status = machine_measure_rates(&calibration->scratch, bytes, first, seconds,
                                       &level->rates[team], &counted);
        if (team == TEAM_ALL) level->bytes_per_second = counted;
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
    double *peak = team == TEAM_ONE ? &machine->peak_alone : &machine->peak_flops_per_second;
    tell(calibration, team == TEAM_ONE ? "matrix product, one thread" : "matrix product");
    Status status = machine_measure_peak(&calibration->scratch, peak_seconds[team], peak);
    if (!status && machine->n_levels == 0) status = sweep_levels(calibration, machine);
    return status ? status : measure_levels(calibration, machine, team);
}

// Product and bandwidth keep every thread busy, so what of the cores' time they did not get was
// somebody else's.
static Status measure_together(Calibration *calibration, Machine *machine) {
    double begin = clock_seconds(), processor = system_processor_seconds();
    Status status = measure_ceilings(calibration, machine, TEAM_ALL);
    int cores = pool_default_threads();
    int threads = machine->threads < cores ? machine->threads : cores;
    double had = system_processor_seconds() - processor;
    machine->cores_had = had / (clock_seconds() - begin) / threads;
    if (machine->cores_had > 1.0) machine->cores_had = 1.0;
    return status;
}

// One thread alone, where there are more: what small ops have. Levels that only a sweep finds are
// those of all threads.
static Status measure_alone(Calibration *calibration, Machine *machine) {
    tell(calibration, "square roots");
    Status status = machine_measure_slow(&calibration->scratch, slow_seconds,
                                         &machine->root_seconds, &machine->division_seconds);
    if (status || machine->threads < 2 || machine->n_levels == 0) return status;
    return measure_ceilings(calibration, machine, TEAM_ONE);
}

static Status measure_machine(Calibration *calibration, Machine *machine) {
    Status status = measure_together(calibration, machine);
    if (status) return status;
    tell(calibration, "dispatch");
    status = machine_measure_dispatch(dispatch_seconds, &machine->dispatch_seconds);
    if (status) return status;
    tell(calibration, "threads");
    status =
        machine_measure_threads(threads_seconds, &machine->spin_seconds, &machine->wake_seconds);
    calibration->step = calibration->steps;
    if (!status) tell(calibration, "done");
    return status;
}

// So many bytes that the last cache finds little of them.
static int64_t scratch_bytes(int64_t last_cache) {
    int64_t bytes =
        last_cache < DRAM_MOST / DRAM_CACHES ? last_cache * DRAM_CACHES : (int64_t)DRAM_MOST;
    return bytes > MACHINE_SCRATCH_LEAST ? bytes : MACHINE_SCRATCH_LEAST;
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
    int levels = caches ? machine->n_levels : 1 + MACHINE_MAX_LEVELS; // or what a sweep finds
    calibration->steps = 4 + levels + (alone ? 1 + levels : 0);
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

static void look_here(Machine *machine) {
    MachineLevel *last = &machine->levels[machine->n_levels - 1];
    MachineRates rates, *best = &last->rates[TEAM_ALL];
    MachineScratch scratch;
    double counted;
    MachinePlaces places;
    if (machine_scratch_new(scratch_bytes(last[-1].bytes), &scratch)) return;
    machine_places_take(&places);
    Status status =
        machine_measure_rates(&scratch, scratch.bytes, false, memory_seconds, &rates, &counted);
    machine_places_leave(&places);
    machine_scratch_free(&scratch);
    if (status) return;
    best->fill = fmax(best->fill, rates.fill);
    best->move = fmax(best->move, rates.move);
    last->bytes_per_second = fmax(last->bytes_per_second, counted);
}

// The scratch is no part of any model's memory, so it is not to show in the process's peak.
static void forget_process_peak(void) {
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (!file) return; // not Linux, or not allowed
    fputs("5", file);
    fclose(file);
}

// In a context of its own: whoever observes the current one does not notice.
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
    Machine measured = {.measured = true, .cores_had = 1.0};
    machine_identify(&measured);
    Status status = begin_apart(context_current()->threads);
    if (status) return status;
    Calibration calibration = {.progress = progress, .argument = argument};
    status = on_host ? calibrate_here(&calibration, &measured)
                     : machine_measure_device(progress, argument, &measured);
    end_apart();
    if (!status) *machine = measured;
    return status;
}

// It makes ceilings better, and is no condition of anything: where there is no room they stay.
void machine_look_again(Machine *machine) {
    if (!GIVEN(machine)) return;
    Machine here = {.measured = true};
    int last = machine->n_levels - 1;
    if (error_pending() || !machine->measured || machine->device[0] || last < 1 ||
        !(machine->levels[last].rates[TEAM_ALL].fill > 0.0))
        return;
    machine_identify(&here);
    if (strcmp(here.fingerprint, machine->fingerprint) != 0 ||
        !system_has_memory(scratch_bytes(machine->levels[last - 1].bytes)))
        return;
    if (!begin_apart(machine->threads)) {
        look_here(machine);
        end_apart();
    }
    error_clear();
}

MachinePace machine_pace(int64_t bytes) {
    const double seconds = 0.025; // of each
    const int64_t least = 1 << 20;
    MachinePace pace = {0};
    MachineScratch scratch;
    if (error_pending() || !context_current()->device->on_host ||
        !system_has_memory(MACHINE_SCRATCH_LEAST))
        return pace;
    bytes = bytes < least ? least : bytes < MACHINE_SCRATCH_LEAST ? bytes : MACHINE_SCRATCH_LEAST;
    if (!begin_apart(context_current()->threads)) {
        if (!machine_scratch_new(MACHINE_SCRATCH_LEAST, &scratch)) {
            machine_measure_peak(&scratch, seconds, &pace.flops_per_second);
            machine_measure_bandwidth(&scratch, bytes, seconds, &pace.bytes_per_second);
            pace.line_seconds = machine_measure_line(seconds);
            machine_scratch_free(&scratch);
        }
        end_apart();
    }
    if (error_pending()) pace = (MachinePace){0};
    error_clear();
    return pace;
}
