// machine.c -- which ceilings to measure, where they are kept, and which to judge by. Not here: how
// each is measured (machine_measure.c), or how a file of them looks (machine_file.c).
#include "profiler/machine/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profiler/machine/machine_device.h"
#include "profiler/machine/machine_levels.h"
#include "profiler/machine/machine_loops.h"
#include "profiler/report/environment.h"
#include "profiler/system.h"
#include "tensor/clock.h"
#include "tensor/context.h"
#include "tensor/pool.h"

// Seconds for each measurement, so that all of them end in less than 3, and usually in 1.
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

static int64_t capacity(const MachineLevel *level, Team team) {
    return team == TEAM_ONE && level->bytes_alone > 0 ? level->bytes_alone : level->bytes;
}

int machine_level(const Machine *machine, Team team, uint64_t distance) {
    int level = 0;
    while (level < machine->n_levels - 1 &&
           distance > (uint64_t)capacity(&machine->levels[level], team))
        level++;
    return level;
}

// A card's name; "" of the host.
static void name_device(char *text, size_t size) {
    const Device *device = context_current()->device;
    const char *name = device->identity ? device->identity : device->name;
    snprintf(text, size, "%.*s", device->on_host ? 0 : (int)strcspn(name, ","), name);
}

// What the ceilings hang on. Without a cache for its blocks a device spends its time allocating.
static void name_fingerprint(char *text, size_t size) {
    const Device *device = context_current()->device;
    Environment environment;
    if (!device->on_host) {
        snprintf(text, size, "%s%s", device->identity ? device->identity : device->name,
                 device->uncached ? ", raw allocation" : "");
        return;
    }
    environment_read(&environment);
    int threads = context_current()->threads;
    snprintf(text, size, "%s, %d thread%s, %s", environment.cpu, threads, threads > 1 ? "s" : "",
             environment.blas);
}

static int threads_of_fingerprint(void) {
    const Context *context = context_current();
    return context->device->on_host ? context->threads : 0;
}

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
// a quarter of the way in one that is shared, because others are in it, too.
static int64_t working_set(const Calibration *calibration, const Machine *machine, int i,
                           Team team) {
    const MachineLevel *level = &machine->levels[i], *before = i ? level - 1 : NULL;
    int64_t from = before ? capacity(before, team) : 0, most = calibration->scratch.bytes;
    if (i == machine->n_levels - 1) return most;
    bool shared = level->bytes_alone >= level->bytes && machine->threads > 1;
    int64_t bytes = from + (capacity(level, team) - from) / (shared ? 4 : 2);
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

static Status calibrate_here(Calibration *calibration, Machine *machine) {
    int64_t bytes = SWEEP_MOST;
    int caches = machine_levels_of_system(MACHINE_CACHE_FOLDER, machine->threads, machine->levels);
    if (caches) {
        int64_t last = machine->levels[caches - 1].bytes;
        bytes = last < DRAM_MOST / DRAM_CACHES ? last * DRAM_CACHES : DRAM_MOST;
        if (bytes < MACHINE_SCRATCH_LEAST) bytes = MACHINE_SCRATCH_LEAST;
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

// The scratch is no part of any model's memory, so it is not to show in the process's peak.
static void forget_process_peak(void) {
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (!file) return; // not Linux, or not allowed
    fputs("5", file);
    fclose(file);
}

// In a context of its own: whoever observes the current one does not notice.
Status machine_calibrate(MachineProgress progress, void *argument, Machine *machine) {
    *machine = (Machine){0};
    if (error_pending()) return error_status();
    Device *device = context_current()->device;
    int threads = context_current()->threads;
    Machine measured = {.measured = true, .threads = threads_of_fingerprint(), .cores_had = 1.0};
    name_device(measured.device, sizeof measured.device);
    name_fingerprint(measured.fingerprint, sizeof measured.fingerprint);
    Context *context = context_new();
    if (!context) return error_status();
    context_push(context);
    context_set_device(device);
    context_set_threads(threads);
    Calibration calibration = {.progress = progress, .argument = argument};
    Status status = device->on_host ? calibrate_here(&calibration, &measured)
                                    : machine_measure_device(progress, argument, &measured);
    context_pop();
    context_free(context);
    forget_process_peak();
    if (!status) *machine = measured;
    return status;
}

// ---- keeping -----------------------------------------------------------------------------------

// FNV-1a.
static uint64_t hash(const char *text) {
    uint64_t value = UINT64_C(0xcbf29ce484222325);
    for (; *text; text++) value = (value ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return value;
}

bool machine_cache_path(char *path, size_t size) {
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    bool given = cache && cache[0] == '/'; // what is not absolute does not count, says XDG
    if (!given && !(home && home[0])) return false;
    char fingerprint[sizeof((Machine *)0)->fingerprint];
    name_fingerprint(fingerprint, sizeof fingerprint);
    int length = snprintf(path, size, "%s%s/ridgepoint/machine-%016llx.json", given ? cache : home,
                          given ? "" : "/.cache", (unsigned long long)hash(fingerprint));
    return length > 0 && (size_t)length < size;
}

// Makes the last two folders on the way to the file, as far as they are missing.
static void make_folders(const char *path) {
    char folder[512];
    snprintf(folder, sizeof folder, "%s", path);
    char *file = strrchr(folder, '/');
    *file = '\0';
    char *last = strrchr(folder, '/');
    *last = '\0';
    mkdir(folder, 0700);
    *last = '/';
    mkdir(folder, 0700);
}

// Of this fingerprint, and whole: else it is as if there were none.
static bool read_kept(const char *path, Machine *machine) {
    if (access(path, R_OK) != 0) return false;
    char fingerprint[sizeof machine->fingerprint];
    name_fingerprint(fingerprint, sizeof fingerprint);
    if (machine_read(path, machine)) {
        error_clear();
        return false;
    }
    bool rates = machine->device[0] || machine->levels[0].rates[TEAM_ALL].fill > 0.0;
    return machine->measured && rates && machine->threads == threads_of_fingerprint() &&
           strcmp(machine->fingerprint, fingerprint) == 0;
}

static bool keep(const Machine *machine, const char *path) {
    make_folders(path);
    if (!machine_write(machine, path)) return true;
    error_clear(); // the measurement is as good without
    return false;
}

static Status obtain_given(const char *path, Machine *machine) {
    Status status = machine_read(path, machine);
    if (status) return status;
    machine->measured = false;
    if (!machine->threads) machine->threads = threads_of_fingerprint();
    name_device(machine->device, sizeof machine->device);
    return STATUS_OK;
}

Status machine_obtain(const MachineRequest *request, Machine *machine, bool *fresh, char *kept_in) {
    enum { ROOM = 512 };
    *machine = (Machine){0};
    *fresh = false;
    kept_in[0] = '\0';
    if (error_pending()) return error_status();
    if (request->peaks_file) return obtain_given(request->peaks_file, machine);
    char path[ROOM];
    bool home = machine_cache_path(path, sizeof path);
    if (home && !request->again && read_kept(path, machine)) {
        memcpy(kept_in, path, strlen(path) + 1);
        return STATUS_OK;
    }
    Status status = machine_calibrate(request->progress, request->argument, machine);
    if (status) return status;
    *fresh = true;
    if (home && keep(machine, path)) memcpy(kept_in, path, strlen(path) + 1);
    return STATUS_OK;
}
