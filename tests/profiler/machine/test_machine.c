// test_machine.c -- the machine's ceilings, measured and kept. A calibration is checked for
// properties that hold on any machine, never against a clock. test_machine_file.c tests files,
// test_machine_levels.c the ends of levels.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "profiler/base/environment.h"
#include "profiler/machine/machine.h"
#include "profiler/machine/machine_parts.h"
#include "tensor/memory.h"
#include "tensor/pool.h"
#include "tests/helpers/data_files.h"
#include "tests/helpers/expect.h"

// ---- files and the cache -----------------------------------------------------------------------

static char folder[DATA_PATH], file[DATA_PATH + 16], found[512];

static void make_home(void) {
    strcpy(folder, "/tmp/test_machine_XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(file, sizeof file, "%s/peaks.json", folder);
    setenv("XDG_CACHE_HOME", folder, 1);
}

static void remove_home(void) {
    char inner[DATA_PATH + 16];
    unlink(file);
    if (machine_cache_path(found, sizeof found)) unlink(found);
    snprintf(inner, sizeof inner, "%s/ridgepoint", folder);
    rmdir(inner);
    ck_assert_msg(rmdir(folder) == 0, "something was left in %s", folder);
}

static void write_text(const char *path, const char *text) {
    FILE *stream = fopen(path, "w");
    ck_assert_ptr_nonnull(stream);
    fputs(text, stream);
    fclose(stream);
}

// The name includes the build: other builds do not use the ceilings of a sanitizer's.
static void check_name(const char *path) {
    Environment environment;
    Machine machine = {0};
    char text[1200], name[64];
    uint64_t hash = UINT64_C(0xcbf29ce484222325); // FNV-1a
    environment_read(&environment);
    machine_identify(&machine);
    snprintf(text, sizeof text, "%s; %s %s", machine.fingerprint, environment.compiler,
             environment.flags);
    for (const char *c = text; *c; c++) hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    snprintf(name, sizeof name, "/machine-%016llx.json", (unsigned long long)hash);
    ck_assert_msg(strstr(path, name) != NULL, "%s, not of %s", path, text);
}

START_TEST(the_cache_has_its_place) {
    char path[512];
    unsetenv("XDG_CACHE_HOME");
    setenv("HOME", "/home/someone", 1);
    ck_assert(machine_cache_path(path, sizeof path));
    ck_assert_ptr_nonnull(strstr(path, "/home/someone/.cache/ridgepoint/machine-"));
    ck_assert_str_eq(path + strlen(path) - 5, ".json");
    ck_assert(!machine_cache_path(found, strlen(path))); // no room for the final zero
    setenv("XDG_CACHE_HOME", "relative", 1);
    ck_assert(machine_cache_path(found, sizeof found));
    ck_assert_str_eq(found, path);
    setenv("XDG_CACHE_HOME", "/cache", 1);
    ck_assert(machine_cache_path(path, sizeof path));
    ck_assert_int_eq(strncmp(path, "/cache/ridgepoint/machine-", 26), 0);
    check_name(path);
    context_set_threads(context_current()->threads + 1); // another fingerprint
    ck_assert(machine_cache_path(found, sizeof found));
    ck_assert_str_ne(found, path);
    unsetenv("XDG_CACHE_HOME");
    setenv("HOME", "", 1);
    ck_assert(!machine_cache_path(path, sizeof path));
    unsetenv("HOME");
    ck_assert(!machine_cache_path(path, sizeof path));
}
END_TEST

// ---- measuring ---------------------------------------------------------------------------------

// The first test that needs a machine measures this one, once for the processes of all tests.
static Machine *shared;
static Machine measured_once(void) {
    if (shared->n_levels == 0)
        ck_assert_msg(!machine_calibrate(NULL, NULL, shared), "%s", error_message());
    return *shared;
}

static int told;
static double told_fraction;
static void note(void *argument, const char *what, double fraction) {
    ck_assert(argument == &told && what[0] && fraction >= told_fraction && fraction <= 1.0);
    told_fraction = fraction;
    told++;
}

// Writing to a level first fetches the lines, so no level fetches slower than it moves.
static void check_rates(const MachineLevel *level, bool first, bool alone) {
    for (int team = 0; team <= (int)alone; team++) {
        const MachineRates *rates = &level->rates[team];
        ck_assert(rates->fill > 0.0 && isfinite(rates->fill));
        ck_assert((rates->store > 0.0) == first && (rates->move > 0.0) == !first);
        if (!first) ck_assert(rates->move >= rates->fill);
    }
}

// At least half as fast as memory, because a sanitizer makes both equally slow.
static bool caches_are_fast(const Machine *machine) {
    double memory = machine->levels[machine->n_levels - 1].bytes_per_second;
    return machine->levels[0].bytes_per_second >= 0.5 * memory;
}

static void check_measured(const Machine *machine) {
    ck_assert(machine->measured && machine->fingerprint[0]);
    ck_assert_int_eq(machine->threads, context_current()->threads);
    ck_assert(machine->peak_flops_per_second > 0.0 && isfinite(machine->peak_flops_per_second));
    ck_assert(machine->dispatch_seconds > 0.0);
    ck_assert((machine->wake_seconds > 0.0) == (machine->threads > 1));
    ck_assert((machine->spin_seconds > 0.0) == (machine->threads > 1));
    int last = machine->n_levels - 1;
    ck_assert_int_ge(last, 0);
    for (int i = 0; i <= last; i++) {
        ck_assert(machine->levels[i].bytes > (i ? machine->levels[i - 1].bytes : 0));
        ck_assert(machine->levels[i].bytes_per_second > 0.0);
        check_rates(&machine->levels[i], i == 0 && last > 0, machine->peak_alone > 0.0);
    }
    ck_assert_str_eq(machine->levels[last].name, "DRAM");
    ck_assert_int_eq(machine->levels[last].bytes, INT64_MAX);
    // Other work may slow either level down in one measurement, but not in all of a few.
    bool fast = caches_are_fast(machine);
    for (int tries = 0; tries < 3 && !fast; tries++) {
        Machine again;
        ck_assert_msg(!machine_calibrate(NULL, NULL, &again), "%s", error_message());
        fast = caches_are_fast(&again);
    }
    ck_assert(fast);
}

static void keep_at(const Machine *machine, const char *path) {
    char inner[DATA_PATH + 16];
    snprintf(inner, sizeof inner, "%s/ridgepoint", folder);
    mkdir(inner, 0700);
    ck_assert_msg(!machine_write(machine, path), "%s", error_message());
}

START_TEST(a_measurement_is_kept_and_used_again) {
    make_home();
    Machine first, second;
    bool fresh;
    char kept[512];
    MachineRequest request = {.progress = note, .argument = &told};
    int64_t live = expect_live_bytes();
    ck_assert_msg(!machine_obtain(&request, &first, &fresh, kept), "%s", error_message());
    check_measured(&first);
    ck_assert(fresh && told > 0);
    ck_assert_double_eq(told_fraction, 1.0);
    ck_assert(machine_cache_path(found, sizeof found));
    ck_assert_str_eq(kept, found);
    ck_assert_int_eq(expect_live_bytes(), live);
    told = 0;
    ck_assert(!machine_obtain(&request, &second, &fresh, kept));
    ck_assert(!fresh && told == 0);
    ck_assert_str_eq(kept, found);
    ck_assert_double_eq(first.peak_flops_per_second, second.peak_flops_per_second);
    ck_assert_str_eq(first.fingerprint, second.fingerprint);
    told_fraction = 0.0;
    request.again = true;
    ck_assert(!machine_obtain(&request, &second, &fresh, kept));
    ck_assert(fresh && told > 0);
    remove_home();
}
END_TEST

// The cache file holds: text that is not JSON; nothing; another machine's ceilings; other threads';
// a guess; an earlier version's, without rates.
START_TEST(a_cache_that_does_not_fit_is_measured_anew) {
    if (_i > 0) test_skip_if_long();
    make_home();
    Machine machine = measured_once(), other = machine;
    bool fresh;
    char kept[512];
    const MachineRequest request = {0};
    ck_assert(machine_cache_path(found, sizeof found));
    keep_at(&machine, found);
    if (_i == 2) strcpy(other.fingerprint, "another CPU");
    if (_i == 3) other.threads++;
    if (_i == 4) other.measured = false;
    if (_i == 5) memset(other.levels[0].rates, 0, sizeof other.levels[0].rates);
    if (_i >= 2) ck_assert(!machine_write(&other, found));
    if (_i < 2) write_text(found, _i ? "" : "{\"schema\": ");
    ck_assert_msg(!machine_obtain(&request, &machine, &fresh, kept), "%s", error_message());
    ck_assert(fresh);
    expect_no_error();
    ck_assert(!machine_obtain(&request, &machine, &fresh, kept)); // and the file is repaired
    ck_assert(!fresh);
    remove_home();
}
END_TEST

// The last writer keeps the better ceilings of others; ceilings of another machine are not kept.
START_TEST(kept_ceilings_only_rise) {
    make_home();
    Machine machine = measured_once(), low = machine, kept;
    low.peak_flops_per_second = low.levels[0].rates[TEAM_ALL].fill = 1.0;
    low.dispatch_seconds = 0.5;
    ck_assert(machine_cache_path(found, sizeof found));
    for (int i = 0; i < 2; i++) {
        Machine ours = i ? low : machine;
        keep_at(i ? &machine : &low, found);
        machine_keep(&ours);
        ck_assert(!machine_read(found, &kept));
        const Machine *both[] = {&ours, &kept};
        for (int k = 0; k < 2; k++) {
            ck_assert_double_eq(both[k]->peak_flops_per_second, machine.peak_flops_per_second);
            ck_assert_double_eq(both[k]->levels[0].rates[TEAM_ALL].fill,
                                machine.levels[0].rates[TEAM_ALL].fill);
            ck_assert_double_eq(both[k]->dispatch_seconds, machine.dispatch_seconds);
        }
    }
    Machine better = machine;
    better.peak_flops_per_second *= 2.0;
    for (int i = 0; i < 2; i++) { // given ones, and another machine's
        Machine other = better;
        if (i == 0) other.measured = false;
        if (i == 1) strcpy(other.fingerprint, "another CPU");
        machine_keep(&other);
        ck_assert(!machine_read(found, &kept));
        ck_assert_double_eq(kept.peak_flops_per_second, machine.peak_flops_per_second);
    }
    expect_no_error();
    remove_home();
}
END_TEST

// After ten low profiles in a row, the first three days ago, ceilings are measured anew.
START_TEST(a_machine_that_gives_less_for_days_is_measured_anew) {
    make_home();
    Machine machine = measured_once(), kept;
    char where[512];
    bool fresh;
    int last = machine.n_levels - 1;
    if (last == 0) return;
    ck_assert(machine_cache_path(found, sizeof found));
    keep_at(&machine, found);
    for (int i = 1; i <= last; i++) machine.levels[i].now = 0.69;
    for (int i = 1; i <= 10; i++) {
        machine_keep(&machine);
        ck_assert(!machine_read(found, &kept));
        ck_assert_int_eq(kept.low_profiles, i);
    }
    ck_assert(!machine_obtain(&(MachineRequest){0}, &kept, &fresh, where) && !fresh); // too soon
    machine.levels[last].now = 0.71; // one level is not low
    machine_keep(&machine);
    ck_assert(!machine_read(found, &kept));
    ck_assert_int_eq(kept.low_profiles, 0);
    kept.low_profiles = 10;
    kept.low_since = (int64_t)time(NULL) - 3 * 24 * 3600 - 1;
    kept.peak_flops_per_second = 1e20;
    keep_at(&kept, found);
    ck_assert(!machine_obtain(&(MachineRequest){0}, &kept, &fresh, where));
    ck_assert(fresh && kept.begun_anew && kept.peak_flops_per_second < 1e20);
    ck_assert(!machine_obtain(&(MachineRequest){0}, &kept, &fresh, where));
    ck_assert(!fresh && !kept.begun_anew && kept.low_profiles == 0);
    remove_home();
}
END_TEST

// Ceilings that were too low rise, and too high ones stay. All stay without memory, or if they are
// not this machine's own measurements. The last level takes long, so it needs a request.
START_TEST(a_second_look_makes_ceilings_better_and_nothing_else) {
    Machine machine = measured_once();
    int last = machine.n_levels - 1, asked = _i == 4 ? 0 : last;
    MachineLevel *level = &machine.levels[asked];
    const MachineRates low = {.fill = 1.0, .store = 1.0, .move = 1.0};
    if (last == 0) return; // memory is the only level
    for (int i = 0; i <= last; i++) {
        machine.levels[i].rates[TEAM_ALL] = low;
        machine.levels[i].bytes_per_second = 1.0;
    }
    machine.peak_flops_per_second = 1.0;
    machine.dispatch_seconds = 0.5;
    if (_i == 1) memory_fail_at(3);
    if (_i == 2) machine.measured = false;
    if (_i == 3) strcpy(machine.fingerprint, "another CPU");
    int64_t live = expect_live_bytes();
    bool looks = _i == 0 || _i == 4;
    machine_look(&machine, asked == last, _i == 4);
    memory_fail_at(0);
    expect_no_error();
    ck_assert_int_eq(expect_live_bytes(), live);
    ck_assert_int_eq(level->rates[TEAM_ALL].fill > 1e6, looks);
    ck_assert_int_eq(level->bytes_per_second > 1e6, looks);
    ck_assert_int_eq(machine.peak_flops_per_second > 1e6, looks);
    ck_assert_int_eq(machine.dispatch_seconds < 0.5, looks);
    ck_assert_int_eq(machine.levels[last].rates[TEAM_ALL].move > 1e6, _i == 0);
    ck_assert_double_eq(level->now, looks ? 1.0 : measured_once().levels[asked].now);
    if (!looks) return;
    level->rates[TEAM_ALL].fill = level->bytes_per_second = 1e20;
    machine_look(&machine, asked == last, _i == 4);
    ck_assert_double_eq(level->rates[TEAM_ALL].fill, 1e20);
    ck_assert(level->now > 0.0 && level->now < 1e-3);
}
END_TEST

START_TEST(a_cache_that_cannot_be_written_is_no_error) {
    make_home();
    Machine machine;
    bool fresh;
    write_text(file, ""); // a file in a folder's place
    setenv("XDG_CACHE_HOME", file, 1);
    ck_assert_msg(!machine_obtain(&(MachineRequest){0}, &machine, &fresh, found), "%s",
                  error_message());
    ck_assert(fresh && !found[0]);
    expect_no_error();
    check_measured(&machine);
    remove_home();
}
END_TEST

START_TEST(every_failing_allocation_is_an_ordinary_error) {
    make_home();
    Machine machine;
    bool fresh;
    // Fails the first allocations: environment, cache, context, scratch. All would take minutes.
    for (uint64_t nth = 1; nth <= 6; nth++) {
        memory_fail_at(nth);
        Status status = machine_calibrate(NULL, NULL, &machine);
        memory_fail_at(0);
        ck_assert(status == STATUS_OK || status == STATUS_OUT_OF_MEMORY);
        ck_assert(error_status() == status && (status == STATUS_OK) == (machine.n_levels > 0));
        error_clear();
    }
    error_set(STATUS_SHAPE, "before");
    ck_assert_int_eq(machine_obtain(&(MachineRequest){0}, &machine, &fresh, found), STATUS_SHAPE);
    error_clear();
    remove_home();
}
END_TEST

int main(void) {
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return 1;
    const HarnessTest tests[] = {
        {the_cache_has_its_place, 0},
        {a_measurement_is_kept_and_used_again, 0},
        {a_cache_that_does_not_fit_is_measured_anew, 6},
        {kept_ceilings_only_rise, 0},
        {a_machine_that_gives_less_for_days_is_measured_anew, 0},
        {a_second_look_makes_ceilings_better_and_nothing_else, 5},
        {a_cache_that_cannot_be_written_is_no_error, 0},
        {every_failing_allocation_is_an_ordinary_error, 0},
        {NULL, 0},
    };
    return harness_main("machine", tests);
}
