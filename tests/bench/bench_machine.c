// bench_machine.c -- is the calibration true? The ceilings that verdicts stand on, beside the same
// measured by hand, and by likwid-bench where it is installed. Not a test: it only reports.
//
//     make bench                                   RIDGEPOINT_BENCH_SECONDS=120 for calmer figures
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profiler/machine/machine.h"
#include "tensor/context.h"
#include "tensor/pool.h"
#include "tests/bench/ceilings.h"
#include "tests/bench/likwid.h"
#include "tests/bench/measure.h"
#include "tests/bench/ours.h"
#include "tests/bench/team.h"

enum { LEAST_ROUNDS = 3, MOST_ROUNDS = 30, WITHIN_PERCENT = 10 };
static const double row_seconds = 0.15; // for one figure in one round

typedef struct Ceiling {     // per second, the best of all rounds
    double ours, lowest;     // lowest: of all calibrations
    double by_hand, likwid;  // 0: none
    int64_t bytes;           // bytes of the working set
    char name[MEASURE_TEXT]; // name of the level
} Ceiling;

typedef struct Table { // for one number of threads
    int threads, n_levels;
    Ceiling product, level[MACHINE_MAX_LEVELS];
    double products[CEILINGS_SIZES];
    char fingerprint[sizeof((Machine *)0)->fingerprint];
} Table;

static void keep_best(double *best, double value) {
    if (value > *best) *best = value;
}

static void add_calibration(Ceiling *ceiling, double pace) {
    keep_best(&ceiling->ours, pace);
    if (ceiling->lowest == 0.0 || pace < ceiling->lowest) ceiling->lowest = pace;
}

// Half-way between a cache and the one before it; for memory, four times the last cache.
static int64_t working_set(const Machine *machine, int level) {
    int64_t before = level > 0 ? machine->levels[level - 1].bytes : 0;
    bool last = level == machine->n_levels - 1;
    return last ? 4 * before : before + (machine->levels[level].bytes - before) / 2;
}

static void calibrate(Table *table) {
    Machine machine;
    context_set_threads(table->threads);
    machine_calibrate(NULL, NULL, &machine);
    ours_check();
    memcpy(table->fingerprint, machine.fingerprint, sizeof table->fingerprint);
    add_calibration(&table->product, machine.peak_flops_per_second);
    table->n_levels = machine.n_levels;
    for (int i = 0; i < machine.n_levels; i++) {
        Ceiling *level = &table->level[i];
        snprintf(level->name, sizeof level->name, "%s", machine.levels[i].name);
        level->bytes = working_set(&machine, i);
        add_calibration(level, machine.levels[i].bytes_per_second);
    }
}

static void run_round(Table *table) {
    calibrate(table);
    ceilings_products(table->threads, CEILINGS_SIZES * row_seconds, table->products);
    for (int i = 0; i < CEILINGS_SIZES; i++) keep_best(&table->product.by_hand, table->products[i]);
    for (int i = 0; i < table->n_levels; i++) {
        Ceiling *level = &table->level[i];
        ceilings_triad(table->threads, level->bytes, row_seconds, &level->by_hand);
        double likwid = likwid_triad(table->threads, level->bytes, row_seconds, level->ours);
        if (!isnan(likwid)) keep_best(&level->likwid, likwid);
    }
}

// ---- the tables --------------------------------------------------------------------------------
static bool is_within(const Ceiling *ceiling) {
    double off = fabs(ceiling->ours / ceiling->by_hand - 1.0);
    return 100.0 * off <= (double)WITHIN_PERCENT;
}

static void print_row(const char *name, const Ceiling *ceiling, const char *unit) {
    char likwid[MEASURE_TEXT] = "-";
    if (ceiling->likwid > 0.0) snprintf(likwid, sizeof likwid, "%.1f", ceiling->likwid * 1e-9);
    printf("%-15s %-7s %8.1f %8.1f %8.1f %8s %6.2f %s\n", name, unit, ceiling->ours * 1e-9,
           ceiling->lowest * 1e-9, ceiling->by_hand * 1e-9, likwid,
           ceiling->ours / ceiling->by_hand, is_within(ceiling) ? "yes" : "no");
}

static void print_level(const Ceiling *level) {
    char name[64];
    double kib = (double)level->bytes / 1024.0;
    bool small = kib < 1024.0;
    snprintf(name, sizeof name, "%s, %.0f %s", level->name, small ? kib : kib / 1024.0,
             small ? "KiB" : "MiB");
    print_row(name, level, "GB/s");
}

static void print_table(const Table *table) {
    char threads[MEASURE_TEXT];
    snprintf(threads, sizeof threads, "%d thread%s", table->threads,
             table->threads == 1 ? "" : "s");
    printf("\n%-15s %-7s %8s %8s %8s %8s %6s within %d%%\n", threads, "", "ours", "lowest",
           "by hand", "likwid", "ratio", (int)WITHIN_PERCENT);
    print_row("product", &table->product, "GFLOP/s");
    for (int i = 0; i < table->n_levels; i++) print_level(&table->level[i]);
    printf("product by hand:");
    for (int i = 0; i < CEILINGS_SIZES; i++)
        printf(" n = %d %.0f%s", ceilings_sizes[i], table->products[i] * 1e-9,
               i + 1 < CEILINGS_SIZES ? "," : "\n");
}

static void print_legend(int rounds) {
    printf("\nThe best of %d interleaved rounds; lowest: the worst of that many calibrations. By\n"
           "hand: cblas_sgemm and STREAM's triad on threads of their own. likwid: likwid-bench\n"
           "-t %s, one run a round, which other work disturbs more. A triad\n"
           "counts 12 bytes an element; where a store first fetches the line that it\n"
           "overwrites (write-allocate), 16 travel.\n",
           rounds, likwid_kernel());
}

static void count_within(const Table *table, int *within, int *all) {
    *all += 1 + table->n_levels;
    *within += is_within(&table->product);
    for (int i = 0; i < table->n_levels; i++) *within += is_within(&table->level[i]);
}

int main(void) {
    int cores = pool_default_threads(), n_tables = cores > 1 ? 2 : 1, rounds = 0;
    if (cores > TEAM_MOST) cores = TEAM_MOST;
    Table tables[2] = {{.threads = 1}, {.threads = cores}};
    double begin = measure_now(), budget = measure_budget(60.0) / 2.0;
    while (rounds < LEAST_ROUNDS || (rounds < MOST_ROUNDS && measure_now() - begin < budget)) {
        for (int i = 0; i < n_tables; i++) run_round(&tables[i]);
        rounds++;
    }
    int within = 0, all = 0;
    printf("Is the calibration true? %s\n", tables[n_tables - 1].fingerprint);
    for (int i = 0; i < n_tables; i++) {
        print_table(&tables[i]);
        count_within(&tables[i], &within, &all);
    }
    print_legend(rounds);
    printf("\n%d of %d ceilings are within %d%% of the same by hand.\n", within, all,
           (int)WITHIN_PERCENT);
    context_release_thread();
    return 0;
}
