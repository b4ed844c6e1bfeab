// machine.c -- stores ceilings, and chooses those for verdicts. Not here: measuring them
// (machine_calibrate.c), or the format of their file (machine_read.c).
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "profiler/base/environment.h"
#include "profiler/machine/machine_known.h"
#include "profiler/machine/machine_parts.h"
#include "tensor/context.h"
#include "tensor/given.h"

int64_t machine_capacity(const MachineLevel *level, Team team) {
    if (!GIVEN(level)) return 0;
    return team == TEAM_ONE && level->bytes_alone > 0 ? level->bytes_alone : level->bytes;
}

int machine_shared_level(const Machine *machine) {
    if (!GIVEN(machine)) return 0;
    int level = 0;
    while (level < machine->n_levels - 1 && machine->levels[level].bytes_alone > 0 &&
           machine->levels[level].bytes_alone < machine->levels[level].bytes)
        level++;
    return level;
}

int machine_level(const Machine *machine, Team team, uint64_t distance) {
    if (!GIVEN(machine)) return 0;
    int level = 0;
    while (level < machine->n_levels - 1 &&
           distance > (uint64_t)machine_capacity(&machine->levels[level], team))
        level++;
    return level;
}

// A card's name; "" for the host.
static void name_device(char *text, size_t size) {
    const Device *device = context_current()->device;
    const char *name = device->identity ? device->identity : device->name;
    snprintf(text, size, "%.*s", device->on_host ? 0 : (int)strcspn(name, ","), name);
}

// Names what the ceilings depend on. Without a block cache a device spends its time allocating.
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

// Names the build, which matters, too: loops built with sanitizers move a tenth of the bytes, so
// their roofs are another build's. A card's kernels do not depend on the host's compiler.
static void name_build(char *text, size_t size) {
    Environment environment;
    environment_read(&environment);
    text[0] = '\0';
    if (context_current()->device->on_host)
        snprintf(text, size, "; %s %s", environment.compiler, environment.flags);
}

static int threads_of_fingerprint(void) {
    const Context *context = context_current();
    return context->device->on_host ? context->threads : 0;
}

void machine_identify(Machine *machine) {
    machine->threads = threads_of_fingerprint();
    name_device(machine->device, sizeof machine->device);
    name_fingerprint(machine->fingerprint, sizeof machine->fingerprint);
}

// ---- keeping -----------------------------------------------------------------------------------

// FNV-1a.
static uint64_t hash(const char *text) {
    uint64_t value = UINT64_C(0xcbf29ce484222325);
    for (; *text; text++) value = (value ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return value;
}

bool machine_cache_path(char *path, size_t size) {
    if (!GIVEN(path)) return false;
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    bool given = cache && cache[0] == '/'; // XDG ignores paths that are not absolute
    if (!given && !(home && home[0])) return false;
    char build[sizeof((Machine *)0)->fingerprint + sizeof(Environment)];
    name_fingerprint(build, sizeof((Machine *)0)->fingerprint);
    name_build(build + strlen(build), sizeof(build) - strlen(build));
    int length = snprintf(path, size, "%s%s/ridgepoint/machine-%016llx.json", given ? cache : home,
                          given ? "" : "/.cache", (unsigned long long)hash(build));
    return length > 0 && (size_t)length < size;
}

// Creates the last two folders of the file's path if they are missing.
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

// Reads the stored ceilings of this fingerprint; false if they are missing or incomplete.
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

// ---- a machine that has changed ----------------------------------------------------------------
static bool is_low(const Machine *machine) {
    const double low = 0.7;
    bool looked = false;
    for (int i = 1; i < machine->n_levels; i++) { // level 0 is private to the core
        if (machine->levels[i].now >= low) return false;
        looked = looked || machine->levels[i].now > 0.0;
    }
    return looked;
}

static void count_low(Machine *machine, const Machine *before) {
    bool low = is_low(machine);
    machine->low_profiles = low ? before->low_profiles + 1 : 0;
    machine->low_since = !low ? 0 : before->low_profiles ? before->low_since : (int64_t)time(NULL);
}

static bool has_changed(const Machine *kept) {
    enum { PROFILES = 10, SECONDS = 3 * 24 * 3600 };
    return kept->low_profiles >= PROFILES && (int64_t)time(NULL) - kept->low_since >= SECONDS;
}

static bool keep(const Machine *machine, const char *path) {
    Machine seen = *machine; // without the raises, which belong to one report
    seen.raise.by = 0.0;
    for (int i = 0; i < seen.n_levels; i++) seen.levels[i].raise.by = 0.0;
    make_folders(path);
    if (!machine_write(&seen, path)) return true;
    error_clear(); // the measurement is valid without a file
    return false;
}

static Status obtain_given(const char *path, Machine *machine) {
    const KnownMachine *known = machine_known(path);
    if (known) {
        machine_of_known(known, machine);
        return STATUS_OK;
    }
    Status status = machine_read(path, machine);
    if (status) return status;
    machine->measured = false;
    if (!context_current()->device->has_data) return STATUS_OK; // any machine's ceilings will do
    if (!machine->threads) machine->threads = threads_of_fingerprint();
    name_device(machine->device, sizeof machine->device);
    return STATUS_OK;
}

Status machine_obtain(const MachineRequest *request, Machine *machine, bool *fresh, char *kept_in) {
    if (!GIVEN(request) || !GIVEN(machine) || !GIVEN(fresh) || !GIVEN(kept_in))
        return STATUS_INVALID_ARGUMENT;
    enum { ROOM = 512 };
    *machine = (Machine){0};
    *fresh = false;
    kept_in[0] = '\0';
    if (error_pending()) return error_status();
    if (request->peaks_file) return obtain_given(request->peaks_file, machine);
    char path[ROOM];
    bool home = machine_cache_path(path, sizeof path);
    bool found = home && !request->again && read_kept(path, machine);
    bool changed = found && has_changed(machine);
    if (found && !changed) {
        memcpy(kept_in, path, strlen(path) + 1);
        return STATUS_OK;
    }
    Status status = machine_calibrate(request->progress, request->argument, machine);
    if (status) return status;
    *fresh = true;
    machine->begun_anew = changed;
    if (home && keep(machine, path)) memcpy(kept_in, path, strlen(path) + 1);
    return STATUS_OK;
}

// Merges the stored ceilings, because another process may have measured better ones meanwhile.
void machine_keep(Machine *machine) {
    if (!GIVEN(machine)) return;
    Machine kept, here = {0};
    char path[512];
    if (error_pending() || !machine->measured || !machine_cache_path(path, sizeof path)) return;
    machine_identify(&here);
    if (strcmp(here.fingerprint, machine->fingerprint) != 0) return;
    bool found = read_kept(path, &kept);
    if (found) machine_take_better(machine, &kept);
    count_low(machine, found ? &kept : &here);
    keep(machine, path);
}
