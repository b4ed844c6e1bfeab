// bench_bounds.c -- compares the profiler's verdicts with those of a person with a stopwatch. Ten
// workloads, made to have one bound each, run in sessions on one thread, with this machine's
// ceilings. Exits with 1 if a verdict differs from the expected one three times, even if only
// because of other work on the machine.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "profiler/base/text.h"
#include "profiler/session/profiler_parts.h"
#include "tests/bench/measure.h"
#include "tests/bench/ours.h"

enum { TRIES = 3, LARGE = 64 << 20, FAULTING = 16 << 20, ROW_FLOATS = 1024 };
static const double session_seconds = 5e-3;

typedef struct Bench {
    Machine machine;
    int64_t large;   // bytes of an array larger than any cache
    char *from, *to; // buffers of that size
    Tensor *a, *b;   // operands of the current workload
} Bench;

// ---- workloads ---------------------------------------------------------------------------------
static void run_matmul(Bench *bench) { tensor_release(tensor_matmul(bench->a, bench->b)); }
static void run_sum(Bench *bench) { tensor_release(tensor_sum(bench->a, DIM_ALL, false)); }
static void run_relu(Bench *bench) { tensor_release(tensor_relu(bench->a)); }
static void run_add(Bench *bench) { tensor_release(tensor_add(bench->a, bench->b)); }
static void run_linear(Bench *bench) {
    tensor_release(tensor_linear(bench->a, bench->b, NULL, NULL));
}

static void run_copy(Bench *bench) {
    PROFILE_KERNEL("copy", 0, 2 * bench->large)
    memcpy(bench->to, bench->from, (size_t)bench->large);
}

static void run_nothing(Bench *bench) {
    (void)bench;
    PROFILE_KERNEL("nothing", 1, 4) {}
}

static void run_sleep(Bench *bench) {
    const double claimed = 20e-6; // seconds of FLOPs
    PROFILE_KERNEL("sleep", claimed * bench->machine.peak_flops_per_second, 0)
    nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
}

// Uses small pages, since otherwise there would be too few faults.
static void run_faults(Bench *bench) {
    (void)bench;
    PROFILE_KERNEL("fault", 0, FAULTING) {
        const int access = PROT_READ | PROT_WRITE, kind = MAP_PRIVATE | MAP_ANONYMOUS;
        char *fresh = mmap(NULL, FAULTING, access, kind, -1, 0);
        if (fresh == MAP_FAILED) break;
        madvise(fresh, FAULTING, MADV_NOHUGEPAGE);
        memset(fresh, 1, FAULTING);
        munmap(fresh, FAULTING);
    }
}

typedef enum Place { NOWHERE, WARM, LAST } Place; // WARM: where all its bytes still lie

typedef struct Workload {
    const char *name, *op;     // op: its row in the session
    void (*run)(Bench *bench); // runs it once
    int64_t a[2], b[2];        // operands' shapes; 0: none, or ROW_FLOATS of a large one
    Bound bound;               // a person's verdict
    Place place;               // and the level, if memory is the bound
} Workload;

enum { N_WORKLOADS = 10, ANY = -1 };
static const Workload workloads[N_WORKLOADS] = {
    {"product 1024^3", "matmul", run_matmul, {1024, 1024}, {1024, 1024}, BOUND_COMPUTE, NOWHERE},
    {"next to nothing", "nothing", run_nothing, {0}, {0}, BOUND_OVERHEAD, NOWHERE},
    {"copy, large", "copy", run_copy, {0}, {0}, BOUND_MEMORY, LAST},
    {"sum, large", "sum", run_sum, {ANY, ROW_FLOATS}, {0}, BOUND_MEMORY, LAST},
    {"batch 1, 784 to 512", "linear", run_linear, {1, 784}, {512, 784}, BOUND_MEMORY, WARM},
    {"sleep of 2 ms", "sleep", run_sleep, {0}, {0}, BOUND_COMPUTE, NOWHERE},
    {"page faults", "fault", run_faults, {0}, {0}, BOUND_MEMORY, LAST},
    {"relu, 256 KiB", "relu", run_relu, {64, ROW_FLOATS}, {0}, BOUND_MEMORY, WARM},
    {"add, large", "add", run_add, {ANY, ROW_FLOATS}, {ANY, ROW_FLOATS}, BOUND_MEMORY, LAST},
    {"batch 4, 784 to 512", "linear", run_linear, {4, 784}, {512, 784}, BOUND_MEMORY, WARM},
};

static Tensor *operand(const Bench *bench, const int64_t shape[2]) {
    if (shape[0] == 0) return NULL;
    int64_t rows = bench->large / (int64_t)sizeof(float) / shape[1];
    return tensor_uniform_new(SHAPE(shape[0] == ANY ? rows : shape[0], shape[1]), -1.0f, 1.0f);
}

// ---- the profiler's verdict --------------------------------------------------------------------
// Runs the workload `times` times; returns seconds.
static double run_times(Bench *bench, const Workload *workload, int64_t times) {
    double start = measure_now();
    Scope *scope = scope_open();
    for (int64_t i = 0; i < times; i++) workload->run(bench);
    scope_close(scope);
    ours_check();
    return measure_now() - start;
}

static ProfilerRow row_of(const Profiler *profiler, const char *op) {
    ProfilerSummary summary;
    ProfilerRow row = {.roofline.bound = BOUND_COUNT};
    profiler_summarise(profiler, &summary);
    ours_check();
    for (int i = 0; i < summary.n_rows; i++)
        if (summary.rows[i].kind == EVENT_OP && !strcmp(summary.rows[i].name, op))
            row = summary.rows[i];
    profiler_summary_free(&summary);
    return row;
}

static ProfilerRow profile_once(Bench *bench, const Workload *workload, int64_t times) {
    ProfilerOptions options = profiler_defaults();
    options.machine = &bench->machine;
    options.capacity = 3 * times; // an op, and its result's allocation and release
    Profiler *profiler = profiler_new(options);
    profiler_start(profiler);
    ours_check();
    run_times(bench, workload, times);
    profiler_stop(profiler);
    ProfilerRow row = row_of(profiler, workload->op);
    profiler_free(profiler);
    return row;
}

static double seconds_per_call(const ProfilerRow *row) {
    return row->self_seconds / (double)row->calls;
}

// The fastest of some short sessions: a person, too, would measure on a quiet machine.
static ProfilerRow profile_workload(Bench *bench, const Workload *workload) {
    enum { SESSIONS = 20, LEAST = 1, MOST = 10000, WARM_UP = 3 };
    double once = run_times(bench, workload, WARM_UP) / WARM_UP, wanted = session_seconds / once;
    int64_t times = wanted < LEAST ? LEAST : wanted > MOST ? MOST : (int64_t)wanted;
    ProfilerRow best = profile_once(bench, workload, times);
    for (int i = 1; i < SESSIONS; i++) {
        ProfilerRow row = profile_once(bench, workload, times);
        if (seconds_per_call(&row) < seconds_per_call(&best)) best = row;
    }
    return best;
}

// ---- a person's verdict ------------------------------------------------------------------------
static int64_t bytes_of(const Tensor *t) { return t ? tensor_distinct_bytes(t) : 0; }

// The level that holds the operands and a result as large as the smaller (or only) operand.
static int expected_level(const Bench *bench, const Workload *workload) {
    int64_t a = bytes_of(bench->a), b = bytes_of(bench->b), result = b > 0 && b < a ? b : a;
    if (workload->place == LAST) return bench->machine.n_levels - 1;
    return machine_level(&bench->machine, TEAM_ALL, (uint64_t)(a + b + result));
}

static bool agrees(const Workload *workload, const Roofline *roofline, int level) {
    return roofline->bound == workload->bound &&
           (workload->bound != BOUND_MEMORY || roofline->level == level);
}

static const char *bound_text(const Machine *machine, Bound bound, int level, char text[24]) {
    bool memory = bound == BOUND_MEMORY;
    snprintf(text, 24, "%s%s%.7s", bound_name(bound), memory ? " " : "",
             memory ? machine->levels[level].name : "");
    return text;
}

static void print_row(const Bench *bench, const Workload *workload, const ProfilerRow *row,
                      int level) {
    char expected[24], verdict[24];
    const Roofline *r = &row->roofline;
    printf("%-19s %-11s %-11s %5s%10s%9s%7s%6s\n", workload->name,
           bound_text(&bench->machine, workload->bound, level, expected),
           bound_text(&bench->machine, r->bound, r->level, verdict),
           text_percent(r->roof_fraction).s, text_duration(seconds_per_call(row)).s,
           text_duration(r->roof_seconds / (double)row->calls).s, text_number(r->intensity).s,
           text_number(r->ridge).s);
}

static void print_why(const Bench *bench, const ProfilerRow *row, bool again) {
    enum { WIDTH = 76 };
    char text[ROOFLINE_TEXT];
    RooflineInput input = profiler_row_input(row);
    printf("  Not as expected%s:\n", again ? ", so once more" : "");
    const char *rest = roofline_evidence(&bench->machine, &input, &row->roofline, text);
    while (*rest) {
        int length = (int)strlen(rest);
        if (length > WIDTH)
            for (length = WIDTH; length > 1 && rest[length] != ' ';) length--;
        printf("    %.*s\n", length, rest);
        rest += length + (rest[length] == ' ');
    }
}

// True if the verdict is the expected one.
static bool check_workload(Bench *bench, const Workload *workload) {
    bench->a = operand(bench, workload->a);
    bench->b = operand(bench, workload->b);
    ours_check();
    int level = expected_level(bench, workload), tries = 0;
    bool good = false;
    while (!good && tries++ < TRIES) {
        ProfilerRow row = profile_workload(bench, workload);
        good = agrees(workload, &row.roofline, level);
        print_row(bench, workload, &row, level);
        if (!good) print_why(bench, &row, tries < TRIES);
    }
    tensor_free(bench->a);
    tensor_free(bench->b);
    return good;
}

static void bench_new(Bench *bench) {
    machine_calibrate(NULL, NULL, &bench->machine);
    ours_check();
    int caches = bench->machine.n_levels - 1;
    bench->large = LARGE;
    if (caches > 0 && bench->large < 2 * bench->machine.levels[caches - 1].bytes)
        bench->large = 2 * bench->machine.levels[caches - 1].bytes;
    bench->from = measure_memory((size_t)bench->large);
    bench->to = measure_memory((size_t)bench->large);
}

static void print_company(double others, double wall) {
    if (others > 0.05 * wall)
        printf("Other programs used %.1f s of CPU in these %.0f s.\n", others, wall);
}

int main(void) {
    double begin = measure_now(), busy = measure_cpu_seconds(false);
    int good = 0;
    Bench bench;
    context_set_threads(1);
    bench_new(&bench);
    printf("Does the profiler say what a stopwatch would? %s\n\n", bench.machine.fingerprint);
    printf("%-19s %-11s %-11s %5s%10s%9s%7s%6s\n", "workload", "expected", "verdict", "roof",
           "measured", "roof", "FLOP/B", "ridge");
    for (int i = 0; i < N_WORKLOADS; i++) good += check_workload(&bench, &workloads[i]);
    printf("\n%d of %d verdicts are the expected ones. Large: %lld MiB an array.\n", good,
           N_WORKLOADS, (long long)(bench.large >> 20));
    print_company(measure_cpu_seconds(false) - busy - measure_cpu_seconds(true),
                  measure_now() - begin);
    free(bench.from);
    free(bench.to);
    context_release_thread();
    return good == N_WORKLOADS ? 0 : 1;
}
