// comparison.c -- several networks side by side. All numbers come from Profiles, except intensity,
// which is computed here.
#include "profiler/report/comparison.h"

#include <string.h>

#include "profiler/base/table.h"
#include "profiler/report/report_table.h"

enum { NAME_WIDTH = 17 };

static const char *const sort_names[COMPARISON_SORT_COUNT] = {"order", "parameters", "flops",
                                                              "bytes", "memory",     "time"};

const char *comparison_sort_name(ComparisonSort sort) {
    return (unsigned)sort < COMPARISON_SORT_COUNT ? sort_names[sort] : "?";
}

// ---- sorting -----------------------------------------------------------------------------------
static double amount(const Profile *profile, ComparisonSort sort) {
    const ProfilePhase *step = &profile->totals[REPORT_STEP];
    const double amounts[COMPARISON_SORT_COUNT] = {
        [COMPARISON_PARAMETERS] = (double)profile->parameters,
        [COMPARISON_FLOPS] = (double)op_cost_total_flops(step->cost),
        [COMPARISON_BYTES] = (double)(step->cost.bytes_read + step->cost.bytes_written),
        [COMPARISON_MEMORY] = (double)profile->predicted.peak.total,
        [COMPARISON_TIME] = step->latency.count > 0 ? step->latency.statistics.median : 0.0};
    return amounts[sort];
}

// Insertion sort, so equal rows stay in the order typed.
static void sort_rows(Compared *rows, int n, ComparisonSort sort) {
    for (int i = 1; i < n; i++) {
        Compared row = rows[i];
        int at = i;
        for (; at > 0 && amount(rows[at - 1].profile, sort) < amount(row.profile, sort); at--)
            rows[at] = rows[at - 1];
        rows[at] = row;
    }
}

// ---- counts and memory -------------------------------------------------------------------------
// No network exceeds int64, which is all that a file can hold.
static Text short_count(uint64_t count) { return text_short_count((int64_t)count); }

static void add_counts(const Table *table, const Profile *profile, const char *name) {
    OpCost step = profile->totals[REPORT_STEP].cost;
    table_add(table, (TableCells){name, short_count((uint64_t)profile->parameters).s,
                                  short_count(profile->totals[REPORT_FORWARD].cost.macs).s,
                                  short_count(op_cost_total_flops(step)).s,
                                  text_bytes_si((int64_t)(step.bytes_read + step.bytes_written)).s,
                                  text_number(profile_intensity(step)).s,
                                  text_bytes_si(profile->predicted.saved_bytes).s,
                                  text_bytes_si(profile->inference_bytes).s,
                                  text_bytes_si(profile->predicted.peak.total).s});
}

static void print_counts(const Compared *rows, int n, FILE *file) {
    bool inference = rows[0].profile->kind == PROFILE_INFERENCE;
    int kept = inference ? 0 : 8;
    Table table = {.headings = {"network", "params", "MACs", "FLOP", "bytes", "FLOP/B", "kept",
                                "infer", inference ? "memory" : "step"},
                   .widths = {NAME_WIDTH, 8, 8, 8, 8, 7, kept, kept, 8},
                   .kinds = {TABLE_NAME}};
    snprintf(table.title, sizeof(table.title), "%*s%23s%s", NAME_WIDTH + 16, "forward",
             inference ? "forward, all" : "------- step -------",
             inference ? "    peak" : " -- memory at peak ---");
    table_begin(&table, file);
    for (int i = 0; i < n; i++) add_counts(&table, rows[i].profile, rows[i].name);
}

// Prints the networks' inputs, once if they are equal.
static void print_inputs(const Compared *rows, int n, FILE *file) {
    bool alike = true;
    char shape[SHAPE_TEXT];
    Text times = {""};
    if (rows[0].profile->accumulate > 1)
        snprintf(times.s, sizeof(times.s), ", %lld times in a step",
                 (long long)rows[0].profile->accumulate);
    for (int i = 1; i < n; i++)
        alike = alike && shape_equal(rows[i].profile->input, rows[0].profile->input);
    for (int i = 0; i < (alike ? 1 : n); i++)
        fprintf(file, "  %s is given %s%s\n", alike ? "each" : text_fit(rows[i].name, 40).s,
                shape_text(rows[i].profile->input, shape), times.s);
}

// ---- times -------------------------------------------------------------------------------------
static Text interval(const Latency *latency) {
    const LatencyStatistics *s = &latency->statistics;
    if (!s->ci95_reached) return (Text){"too few samples"};
    return text_durations(s->ci95_low, s->ci95_high);
}

// "1,234 images/s"
static Text rate_of(const Profile *profile, const Latency *latency) {
    Text rate;
    snprintf(rate.s, sizeof(rate.s), "%.60s %s/s", report_rate(profile->units, latency).s,
             profile->unit);
    return rate;
}

// Prints measured times or, if nothing ran, bounds by another machine's ceilings.
static void print_times(const Compared *rows, int n, bool ran, FILE *file) {
    const char *machine = rows[0].profile->machine.fingerprint;
    Table table = {.title = "\nTIME  of a step, one network after the other",
                   .headings = {"network", ran ? "median" : "time", "this run, 95% CI", "rate",
                                ran ? "" : "peak fits"},
                   .widths = {NAME_WIDTH, 10, ran ? 21 : 0, 19, 12},
                   .kinds = {TABLE_NAME}};
    if (!ran)
        snprintf(table.title, sizeof(table.title), "\nAT BEST  of a step, op after op, on %s",
                 machine[0] ? machine : "the machine given");
    table_begin(&table, file);
    for (int i = 0; i < n; i++) {
        const Profile *profile = rows[i].profile;
        const ProfilePhase *step = &profile->totals[REPORT_STEP];
        const Latency best = {.statistics.median = step->terms.roofs},
                      *latency = ran ? &step->latency : &best;
        int64_t room = profile->machine.memory_bytes;
        const char *fits = room == 0 ? "-" : profile->measured.peak.total <= room ? "yes" : "NO";
        table_add(&table, (TableCells){rows[i].name, text_duration(latency->statistics.median).s,
                                       interval(latency).s, rate_of(profile, latency).s,
                                       !ran              ? fits
                                       : profile->steady ? ""
                                                         : "not steady"});
    }
}

// ---- the whole ---------------------------------------------------------------------------------
void comparison_print(Compared *rows, int n, ComparisonSort sort, FILE *file) {
    if (n == 0) return;
    sort_rows(rows, n, sort);
    const Profile *first = rows[0].profile;
    bool ran = first->totals[REPORT_STEP].latency.count > 0;
    fprintf(file, "COMPARISON  %s",
            first->kind == PROFILE_INFERENCE ? "inference" : "training step");
    if (first->optimizer[0]) fprintf(file, ", %s", first->optimizer);
    fprintf(file, ", %s%s; %s%s\n", precision_brief(first->precision),
            ran ? "" : ", counted, not run", sort == COMPARISON_ORDER ? "as typed" : "by ",
            sort == COMPARISON_ORDER ? "" : comparison_sort_name(sort));
    print_counts(rows, n, file);
    print_inputs(rows, n, file);
    if (ran || first->has_machine) print_times(rows, n, ran, file);
}
