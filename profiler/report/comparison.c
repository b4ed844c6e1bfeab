// comparison.c -- several networks side by side. Every number is one of a Profile; none is worked
// out here but intensity.
#include "profiler/report/comparison.h"

#include <string.h>

#include "profiler/report/report_table.h"

enum { NAME_WIDTH = 17, COUNT_WIDTH = 8, RATE_WIDTH = 7 };

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

// By insertion: what is equal stays as typed.
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
static void print_name(const Compared *row, FILE *file) {
    fputs(text_pad_right(text_fit(row->name, NAME_WIDTH).s, NAME_WIDTH).s, file);
}

static void print_cell(Text text, int width, FILE *file) {
    fputs(text_pad_left(text.s, width).s, file);
}

// Beyond what a file can hold as int64 there is no network.
static Text short_count(uint64_t count) { return text_short_count((int64_t)count); }

static void print_counts(const Compared *row, FILE *file) {
    const Profile *profile = row->profile;
    const ProfilePhase *totals = profile->totals;
    OpCost step = totals[REPORT_STEP].cost;
    const Text counts[] = {short_count((uint64_t)profile->parameters),
                           short_count(totals[REPORT_FORWARD].cost.macs),
                           short_count(op_cost_total_flops(step)),
                           text_bytes_si((int64_t)(step.bytes_read + step.bytes_written))};
    print_name(row, file);
    for (int i = 0; i < 4; i++) print_cell(counts[i], COUNT_WIDTH, file);
    print_cell(text_number(profile_intensity(step)), RATE_WIDTH, file);
    if (profile->kind != PROFILE_INFERENCE) {
        print_cell(text_bytes_si(profile->predicted.saved_bytes), COUNT_WIDTH, file);
        print_cell(text_bytes_si(profile->inference_bytes), COUNT_WIDTH, file);
    }
    print_cell(text_bytes_si(profile->predicted.peak.total), COUNT_WIDTH, file);
    fputc('\n', file);
}

static void print_head(const Profile *first, FILE *file) {
    bool inference = first->kind == PROFILE_INFERENCE;
    fprintf(file, "%*s%8s%8s%23s%s\n", NAME_WIDTH, "", "", "forward",
            inference ? "forward, all" : "------- step -------",
            inference ? "    peak" : " -- memory at peak ---");
    fprintf(file, "%-*s%8s%8s%8s%8s%7s", NAME_WIDTH, "network", "params", "MACs", "FLOP", "bytes",
            "FLOP/B");
    if (!inference) fprintf(file, "%8s%8s", "kept", "infer");
    fprintf(file, "%8s\n", inference ? "memory" : "step");
}

// What each is given: once, where it is the same.
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

static void print_times(const Compared *row, FILE *file) {
    const Profile *profile = row->profile;
    const Latency *step = &profile->totals[REPORT_STEP].latency;
    Text rate;
    snprintf(rate.s, sizeof(rate.s), "%.60s %s/s", report_rate(profile->units, step).s,
             profile->unit);
    print_name(row, file);
    print_cell(text_duration(latency_median(step)), 10, file);
    print_cell(interval(step), 21, file);
    print_cell(rate, 19, file);
    fprintf(file, "%s\n", profile->steady ? "" : "  not steady");
}

static void print_times_table(const Compared *rows, int n, FILE *file) {
    fprintf(file, "\nTIME  of a step, one network after the other\n%-*s%10s%21s%19s\n", NAME_WIDTH,
            "network", "median", "this run, 95% CI", "rate");
    for (int i = 0; i < n; i++) print_times(&rows[i], file);
}

// ---- bounds ------------------------------------------------------------------------------------
// By the ceilings of a machine that is not here.
static void print_bests(const Compared *rows, int n, FILE *file) {
    const char *machine = rows[0].profile->machine.fingerprint;
    fprintf(file, "\nAT BEST  of a step, op after op, on %s\n%-*s%10s%19s%12s\n",
            machine[0] ? machine : "the machine given", NAME_WIDTH, "network", "time", "rate",
            "peak fits");
    for (int i = 0; i < n; i++) {
        const Profile *profile = rows[i].profile;
        const Latency best = {.statistics.median = profile->totals[REPORT_STEP].op_roofs};
        int64_t room = profile->machine.memory_bytes;
        Text rate;
        snprintf(rate.s, sizeof(rate.s), "%.60s %s/s", report_rate(profile->units, &best).s,
                 profile->unit);
        print_name(&rows[i], file);
        print_cell(text_duration(best.statistics.median), 10, file);
        print_cell(rate, 19, file);
        bool fits = profile->measured.peak.total <= room;
        print_cell(text_plain(room == 0 ? "-" : fits ? "yes" : "NO"), 12, file);
        fprintf(file, "\n");
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
    print_head(first, file);
    for (int i = 0; i < n; i++) print_counts(&rows[i], file);
    print_inputs(rows, n, file);
    if (ran) print_times_table(rows, n, file);
    if (!ran && first->has_machine) print_bests(rows, n, file);
}
