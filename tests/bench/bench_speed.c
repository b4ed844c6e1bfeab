// bench_speed.c -- the engine beside the same work by hand, the machine's limit and PyTorch, all in
// one run and in turns, so that their ratios hold whatever else the machine does. Not a test.
//
//     make bench                                    RIDGEPOINT_BENCH_SECONDS=120 for calmer figures
//     RIDGEPOINT_PYTHON=venv/bin/python make bench  the Python that has torch
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tensor/gemm.h"
#include "tensor/pool.h"
#include "tests/bench/cases.h"
#include "tests/bench/limits.h"
#include "tests/bench/peer.h"

enum { LEAST_ROUNDS = 5, MOST_ROUNDS = 200, BLAS_EVERY = 5 };

#ifdef __clang__
#define COMPILER __VERSION__ // "Clang 14.0.6"
#else
#define COMPILER "gcc " __VERSION__
#endif

typedef struct Row {          // medians, seconds per item; NaN: not available
    double ours, hand, ratio; // ratio: the median of each round's ours / hand
    double blas;              // by hand with OpenBLAS's own threads
    double limit, peer;
    int rounds;
} Row;

static void rest(double seconds) {
    struct timespec t = {.tv_nsec = (long)(seconds * 1e9)};
    nanosleep(&t, NULL);
}

// ---- one row -----------------------------------------------------------------------------------
// Afterwards OpenBLAS's threads still spin for a while, so nothing else can be timed then.
static double sample_blas(Work *work, Pool *pool, double seconds) {
    hand_use(pool, pool_threads(pool));
    double sample = measure_work(work, seconds);
    hand_use(pool, 1);
    rest(0.04);
    return sample;
}

static double sample_peer(const Case *of, int threads, double seconds) {
    double sample = peer_sample(of->peer, threads, seconds);
    if (threads > 1 && !isnan(sample)) rest(0.003); // its threads also spin for a while
    return sample;
}

static void add_sample(double *samples, int *n, double sample) {
    if (!isnan(sample)) samples[(*n)++] = sample;
}

static Row measure_row(Subject *subject, Pool *pool, double budget) {
    double ours[MOST_ROUNDS], hand[MOST_ROUNDS], ratio[MOST_ROUNDS], peer[MOST_ROUNDS];
    double blas[MOST_ROUNDS];
    int n_hand = 0, n_blas = 0, n_peer = 0, round = 0, threads = pool_threads(pool);
    double slice = budget / 150.0, items = (double)subject->of->items;
    Work with_blas = subject->hand;
    sample_peer(subject->of, threads, slice); // PyTorch makes its choices now, not in the budget
    double start = measure_now();
    for (; round < MOST_ROUNDS; round++) {
        if (round >= LEAST_ROUNDS && measure_now() - start > budget) break;
        // The two take turns at being first, because the one after PyTorch finds cold caches.
        bool hand_first = round % 2 == 1;
        double by_hand = hand_first ? measure_work(&subject->hand, slice) : 0.0;
        ours[round] = measure_work(&subject->ours, slice);
        if (!hand_first) by_hand = measure_work(&subject->hand, slice);
        ratio[round] = ours[round] / by_hand;
        add_sample(hand, &n_hand, by_hand);
        add_sample(peer, &n_peer, sample_peer(subject->of, threads, slice));
        if (threads > 1 && subject->hand_net && round % BLAS_EVERY == 0)
            add_sample(blas, &n_blas, sample_blas(&with_blas, pool, slice));
    }
    ours_check();
    return (Row){.ours = measure_median(ours, round) / items,
                 .hand = measure_median(hand, n_hand) / items,
                 .ratio = n_hand ? measure_median(ratio, round) : (double)NAN,
                 .blas = measure_median(blas, n_blas) / items,
                 .peer = measure_median(peer, n_peer) / items,
                 .rounds = round};
}

// ---- the table ---------------------------------------------------------------------------------
static void print_heading(void) {
    printf("\n%-26s %2s %8s %8s %6s %8s %8s %8s %11s\n", "workload", "T", "ours", "by hand",
           "x hand", "BLAS thr", "limit", "PyTorch", "goal");
}

static void print_row(const Case *of, int threads, Row row) {
    char ours[MEASURE_TEXT], hand[MEASURE_TEXT], blas[MEASURE_TEXT], limit[MEASURE_TEXT];
    char peer[MEASURE_TEXT], goal[MEASURE_TEXT] = "", ratio[MEASURE_TEXT] = "-";
    if (!isnan(row.ratio)) snprintf(ratio, sizeof ratio, "%.2f", row.ratio);
    if (of->goal > 0.0)
        measure_text(of->goal, goal);
    else
        snprintf(goal, sizeof goal, "%.2f x hand", cases_by_hand_goal);
    bool met = of->goal > 0.0 ? row.ours <= of->goal : row.ratio <= cases_by_hand_goal;
    printf("%-26s %2d %8s %8s %6s %8s %8s %8s %11s %s\n", of->name, threads,
           measure_text(row.ours, ours), measure_text(row.hand, hand), ratio,
           measure_text(row.blas, blas), measure_text(row.limit, limit),
           measure_text(row.peer, peer), goal, met ? "ok" : "over");
    fflush(stdout);
}

typedef struct Table { // for one number of threads
    Pool *pool;
    Limits limits;
    char throughput[160]; // of the element-wise cases
} Table;

static void note_throughput(Table *table, const Case *of, const Row *row) {
    if (!of->hand_op || case_by_row(of)) return;
    size_t used = strlen(table->throughput);
    double elements = (double)(of->sizes[0] * of->sizes[1]);
    snprintf(table->throughput + used, sizeof table->throughput - used, "%.*s %.1f, ",
             (int)strcspn(of->name, ","), of->name, elements / row->ours * 1e-9);
}

static void run_case(Table *table, const Case *of, double budget) {
    Subject subject;
    subject_new(&subject, of);
    limits_measure_product(&table->limits, table->pool);
    Row row = measure_row(&subject, table->pool, budget);
    bool is_dispatch = !of->any_threads; // no machine limit applies to it
    row.limit =
        is_dispatch ? (double)NAN : limits_of(&table->limits, subject.ours.run, subject.ours.state);
    print_row(of, pool_threads(table->pool), row);
    note_throughput(table, of, &row);
    subject_free(&subject);
}

static void run_cases(Table *table, int threads, double budget, const char *only) {
    // One pool for both sides, so that the same threads on the same cores do the work.
    context_set_threads(threads);
    table->pool = context_current()->pool = pool_new(threads); // the context frees it
    ours_check();
    hand_use(table->pool, 1);
    limits_measure(&table->limits, table->pool);
    for (int i = 0; i < n_cases; i++) {
        if (threads > 1 && !cases[i].any_threads) continue;
        if (!only || strstr(cases[i].name, only)) run_case(table, &cases[i], budget);
    }
}

// ---- around the table --------------------------------------------------------------------------
static void print_machine(int threads) {
    char line[256] = "", model[128] = "unknown processor";
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "model name : %127[^\n]", model) == 1) break;
    if (file) fclose(file);
    printf("%s, %d core%s; %s; %s\n", model, threads, threads == 1 ? "" : "s", blas_name(),
           COMPILER);
}

static void print_limits(const Table *table) {
    const Limits *l = &table->limits;
    const double *pace = l->bytes_per_second[LIMITS_READ];
    printf(
        "\nT = %d: product %.0f GFLOP/s; GB/s read from L1 %.0f, L2 %.0f, L3 %.0f, memory %.1f\n",
        l->threads, l->flops_per_second * 1e-9, pace[LIMITS_L1] * 1e-9, pace[LIMITS_L2] * 1e-9,
        pace[LIMITS_L3] * 1e-9, pace[LIMITS_MEMORY] * 1e-9);
    if (table->throughput[0])
        printf("       Gelem/s: %sa copy in memory %.1f\n", table->throughput,
               l->copy_bytes_per_second / (2.0 * sizeof(float)) * 1e-9);
}

typedef struct Start {
    double seconds, resident_mb; // NaN: there is no such program
} Start;

// Times `program --version` from fork to exit.
static Start start_once(const char *program) {
    const Start none = {(double)NAN, (double)NAN};
    double start = measure_now();
    pid_t process = fork();
    if (process == 0) {
        if (!freopen("/dev/null", "w", stdout)) _exit(1);
        execl(program, program, "--version", (char *)NULL);
        _exit(127);
    }
    int status;
    struct rusage use;
    if (process < 0 || wait4(process, &status, 0, &use) != process || status != 0) return none;
    return (Start){measure_now() - start, (double)use.ru_maxrss / 1000.0};
}

// Call it first of all: a child counts memory that its parent had as its own.
static Start measure_start(const char *program) {
    enum { STARTS = 21 };
    double seconds[STARTS];
    Start start = {(double)NAN, (double)NAN};
    if (access(program, X_OK)) return start;
    for (int i = 0; i < STARTS; i++) {
        start = start_once(program);
        seconds[i] = start.seconds;
    }
    start.seconds = measure_median(seconds, STARTS);
    return start;
}

static void print_start(Start start) {
    char text[MEASURE_TEXT];
    if (isnan(start.seconds)) return;
    printf("\nprofile_mlp --version: %s (goal 10 ms), %.1f MB resident (goal 30 MB)",
           measure_text(start.seconds, text), start.resident_mb);
    if (peer_version()[0])
        printf("; import torch: %s, %.0f MB", measure_text(peer_start_seconds(), text),
               peer_resident_mb());
    printf("\n");
}

static void print_legend(void) {
    printf(
        "\nMedians of interleaved rounds; x hand is the median of each round's ratio. By hand: "
        "plain C over\nthe same OpenBLAS calls and thread pool, no engine, the same losses; BLAS "
        "thr: the same with\nOpenBLAS's own threads. Limit: each op's counted FLOPs and bytes at "
        "this machine's pace. MLP:\n784-512-256-10 with ReLU. T: threads.\n");
}

static double total_seconds(void) {
    const char *text = getenv("RIDGEPOINT_BENCH_SECONDS");
    double seconds = text ? strtod(text, NULL) : 0.0;
    return seconds > 0.0 ? seconds : 60.0;
}

static void print_company(double others, double wall) {
    if (others > 0.05 * wall)
        printf(
            "\nOther programs used %.1f s of CPU in these %.0f s: figures of all cores suffer.\n",
            others, wall);
}

// An argument selects the cases whose names contain it: bench_speed "SGD step"
int main(int argc, char **argv) {
    const char *only = argc > 1 ? argv[1] : NULL;
    int cores = pool_default_threads(), thread_counts = cores > 1 ? 2 : 1, n_rows = 0;
    for (int i = 0; i < n_cases; i++)
        if (!only || strstr(cases[i].name, only))
            n_rows += cases[i].any_threads ? thread_counts : 1;
    if (n_rows == 0) return 1;
    double budget = 0.6 * total_seconds() / n_rows; // the rest is for limits and preparation

    double begin = measure_now(), busy = measure_cpu_seconds(false);
    Start start = measure_start("./profile_mlp");
    print_machine(cores);
    if (peer_start("tests/bench/peer.py"))
        printf("PyTorch %s\n", peer_version());
    else
        printf("no PyTorch here (RIDGEPOINT_PYTHON=... names a Python that has torch)\n");
    print_heading();
    Table tables[2] = {{0}};
    for (int i = 0; i < thread_counts; i++) run_cases(&tables[i], i + 1, budget, only);
    print_legend();
    for (int i = 0; i < thread_counts; i++) print_limits(&tables[i]);
    print_start(start);
    peer_stop();
    print_company(measure_cpu_seconds(false) - busy - measure_cpu_seconds(true),
                  measure_now() - begin);
    context_release_thread();
    return 0;
}
