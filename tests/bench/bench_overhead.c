// bench_overhead.c -- what watching costs: the same work with a session and without, in turns. Not
// a test: it only reports.
//
//     make bench                                   RIDGEPOINT_BENCH_SECONDS=120 for calmer figures
#include <math.h>
#include <stdio.h>

#include "profiler/session/profiler.h"
#include "tensor/pool.h"
#include "tests/bench/measure.h"
#include "tests/bench/ours.h"

enum { LEAST_ROUNDS = 21, MOST_ROUNDS = 1000 };
static const double event_goal = 100e-9, step_goal = 0.01, start_goal = 1e-3;

typedef struct Samples { // samples of one figure, one per round
    double values[MOST_ROUNDS];
    int n;
} Samples;

static void add(Samples *samples, double value) { samples->values[samples->n++] = value; }
static double median(Samples *samples) { return measure_median(samples->values, samples->n); }
static bool goes_on(const Samples *samples, double begin, double seconds) {
    return samples->n < LEAST_ROUNDS ||
           (samples->n < MOST_ROUNDS && measure_now() - begin < seconds);
}

static Profiler *session_new(ProfilerOptions options) {
    Profiler *profiler = profiler_new(options);
    ours_check();
    return profiler;
}

// Times the work alone and watched; the two take turns at being first.
typedef double (*Timed)(void *state, Profiler *watching);
typedef struct Pair {
    double alone, watched;
} Pair;

static Pair time_pair(Timed timed, void *state, Profiler *profiler, bool watched_first) {
    Pair pair = {0};
    for (int i = 0; i < 2; i++) {
        bool watched = (i == 0) == watched_first;
        if (watched) profiler_start(profiler);
        double seconds = timed(state, watched ? profiler : NULL);
        if (watched) profiler_stop(profiler);
        *(watched ? &pair.watched : &pair.alone) = seconds;
    }
    ours_check();
    return pair;
}

static const char *judged(double value, double goal) { return value < goal ? "ok" : "over"; }

// ---- an event ----------------------------------------------------------------------------------
enum { OPS = 10000, OPS_PER_SCOPE = 100 }; // ops done between two scheduler ticks

static double time_ops(void *x, Profiler *watching) {
    (void)watching;
    double start = measure_now();
    for (int i = 0; i < OPS; i += OPS_PER_SCOPE) {
        Scope *scope = scope_open();
        for (int j = 0; j < OPS_PER_SCOPE; j++) tensor_relu(x);
        scope_close(scope);
    }
    return measure_now() - start;
}

static void measure_event(const char *what, ProfilerOptions options, double seconds) {
    static Samples more, alone;
    more.n = alone.n = 0;
    Tensor *x = tensor_full_new(SHAPE(1), 1.0f);
    ours_check();
    int64_t events = 0;
    for (double begin = measure_now(); goes_on(&more, begin, seconds);) {
        Profiler *profiler = session_new(options); // empty, but its memory is touched
        Pair pair = time_pair(time_ops, x, profiler, more.n % 2);
        events = profiler_timeline(profiler)->count / OPS;
        profiler_free(profiler);
        add(&alone, pair.alone / OPS);
        add(&more, (pair.watched - pair.alone) / OPS);
    }
    tensor_free(x);
    double op = median(&more), event = op / (double)events;
    char alone_text[MEASURE_TEXT], op_text[MEASURE_TEXT], event_text[MEASURE_TEXT];
    printf("%-22s %8s %9s %8lld %9s %9s %s\n", what, measure_text(median(&alone), alone_text),
           measure_text(op, op_text), (long long)events, measure_text(event, event_text), "100 ns",
           judged(event, event_goal));
}

static void measure_events(double seconds) {
    static const Machine machine = {
        .peak_flops_per_second = 1e11,
        .levels = {{.name = "L1", .bytes = 32 << 10, .bytes_per_second = 3e11},
                   {.name = "L2", .bytes = 1 << 20, .bytes_per_second = 1e11},
                   {.name = "L3", .bytes = 16 << 20, .bytes_per_second = 5e10},
                   {.name = "DRAM", .bytes = INT64_MAX, .bytes_per_second = 2e10}},
        .n_levels = 4};
    printf("%-22s %8s %9s %8s %9s %9s\n", "one-element relu", "alone", "more", "events", "an event",
           "goal");
    ProfilerOptions options = profiler_defaults();
    options.memory = false;
    measure_event("  ops only", options, seconds / 3.0);
    options.machine = &machine;
    measure_event("  ops, with ceilings", options, seconds / 3.0);
    options.memory = true;
    measure_event("  and memory", options, seconds / 3.0);
}

// ---- a step ------------------------------------------------------------------------------------
static double time_step(void *net, Profiler *watching) {
    double start = measure_now();
    ours_net_step(net, 1);
    if (watching) profiler_step(watching);
    return measure_now() - start;
}

static void measure_step(int threads, double seconds) {
    enum { BATCH = 64, STEP_EVENTS = 400 };
    static const int64_t sizes[] = {784, 512, 256, 10};
    static Samples alone, ratio;
    alone.n = ratio.n = 0;
    context_set_threads(threads);
    OursNet net;
    ours_net_new(&net, sizes, 4, BATCH, optimizer_defaults(OPTIMIZER_ADAM));
    ProfilerOptions options = profiler_defaults();
    options.capacity = STEP_EVENTS * MOST_ROUNDS;
    Profiler *profiler = session_new(options);
    time_pair(time_step, &net, profiler, false); // warms up; also names the layers
    for (double begin = measure_now(); goes_on(&ratio, begin, seconds);) {
        Pair pair = time_pair(time_step, &net, profiler, ratio.n % 2);
        add(&alone, pair.alone);
        add(&ratio, pair.watched / pair.alone - 1.0);
    }
    double more = median(&ratio), events = (double)profiler_timeline(profiler)->count;
    char text[MEASURE_TEXT];
    printf("  %d thread%s %12s alone, watched %+.2f%%, %.0f events a step; goal 1%%: %s\n", threads,
           threads == 1 ? " " : "s", measure_text(median(&alone), text), 100.0 * more,
           events / (ratio.n + 1), judged(more, step_goal));
    profiler_free(profiler);
    ours_net_free(&net);
}

// ---- start and stop ----------------------------------------------------------------------------
static void measure_start(void) {
    enum { TIMES = 101 };
    static Samples made, started;
    for (int i = 0; i < TIMES; i++) {
        double begin = measure_now();
        Profiler *profiler = session_new(profiler_defaults());
        double start = measure_now();
        profiler_start(profiler);
        profiler_stop(profiler);
        double stop = measure_now();
        profiler_free(profiler);
        add(&started, stop - start);
        add(&made, measure_now() - begin);
    }
    char start_text[MEASURE_TEXT], made_text[MEASURE_TEXT];
    double start = median(&started);
    printf("\nstart and stop %s; goal 1 ms: %s; with the session made and freed %s\n",
           measure_text(start, start_text), judged(start, start_goal),
           measure_text(median(&made), made_text));
}

int main(void) {
    int cores = pool_default_threads();
    double seconds = measure_budget(60.0) / 4.0;
    printf("What does watching cost? Medians of interleaved rounds.\n\n");
    measure_events(seconds / 3.0);
    printf("\nMLP 784-512-256-10, batch 64, Adam step\n");
    measure_step(1, seconds / 3.0);
    if (cores > 1) measure_step(cores, seconds / 3.0);
    measure_start();
    context_release_thread();
    return 0;
}
