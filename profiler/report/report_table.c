// report_table.c -- the report's table: times beside counts, or only counts if nothing ran.
#include "profiler/report/report_table.h"

#include <math.h>
#include <string.h>

#include "profiler/base/table.h"

enum { LABEL_WIDTH = 12, BAR_WIDTH = 5 };

typedef struct Units { // one unit per table, so that columns can be summed by eye
    double flops;
    const char *flops_name, *time;
    bool timed;   // false: times are the ops' best times
    bool busy;    // result of profile_is_busy
    double whole; // seconds of the step
} Units;

static Units choose_units(const Profile *profile) {
    static const struct {
        double flops;
        const char *name;
    } scales[] = {{1e15, "PFLOP"}, {1e12, "TFLOP"}, {1e9, "GFLOP"}, {1e6, "MFLOP"}, {1e3, "kFLOP"}};
    enum { SCALES = sizeof(scales) / sizeof(scales[0]) };
    double total = (double)op_cost_total_flops(profile->totals[REPORT_STEP].cost);
    bool timed = profile->totals[REPORT_STEP].latency.count > 0;
    double whole = timed ? latency_median(&profile->totals[REPORT_STEP].latency)
                         : profile->totals[REPORT_STEP].terms.roofs;
    // On a noisy machine the unattributed time may be larger.
    double most = timed ? fmax(whole, fabs(profile->unattributed_seconds)) : whole;
    int i = 0;
    while (i < SCALES - 1 && total < scales[i].flops) i++;
    return (Units){.flops = scales[i].flops,
                   .flops_name = scales[i].name,
                   .time = text_duration_unit(most),
                   .timed = timed,
                   .busy = profile_is_busy(profile),
                   .whole = whole};
}

// ---- cells -----------------------------------------------------------------------------------
static Text cell_time(const ProfilePhase *phase, const Units *units) {
    if (units->timed ? phase->latency.count == 0 : phase->ops == 0) return (Text){""};
    return text_duration_in(units->timed ? phase->latency.statistics.median : phase->terms.roofs,
                            units->time);
}

static Text cell_flops(const ProfilePhase *phase, const Units *units) {
    if (phase->ops == 0) return (Text){""};
    return text_number((double)op_cost_total_flops(phase->cost) / units->flops);
}

static Text cell_intensity(const ProfilePhase *phase) {
    double intensity = profile_intensity(phase->cost);
    return isnan(intensity) ? (Text){""} : text_number(intensity);
}

// A full bar is 60 %: most layers stay below, so their differences show.
static Text cell_bar(double share) { return text_bar(fmin(share / 0.6, 1.0), BAR_WIDTH); }

// ---- times -----------------------------------------------------------------------------------
static Text cell_roof(const Roofline *roofline) {
    if (!roofline->judged) return (Text){""};
    return roofline->roof_fraction < 9.995 ? text_percent(roofline->roof_fraction) : (Text){">9x"};
}

// Share of the step; only its magnitude if the column is too narrow.
static Text cell_share(double share) {
    return share < -0.995 ? (Text){"<-1x"} : share >= 9.995 ? (Text){">9x"} : text_percent(share);
}

static void add_times(const Table *table, const ReportRow *row, const Units *units, bool whole) {
    const ProfilePhase *phase = row->phase;
    double seconds = units->timed ? row->seconds : phase[REPORT_STEP].terms.roofs,
           share = seconds / units->whole;
    table_add(
        table,
        (TableCells){row->label.s, row->parameters.s, cell_flops(&phase[REPORT_STEP], units).s,
                     cell_time(&phase[REPORT_FORWARD], units).s,
                     cell_time(&phase[REPORT_BACKWARD], units).s,
                     text_duration_in(seconds, units->time).s, cell_share(share).s,
                     whole ? "" : cell_bar(share).s, cell_intensity(&phase[REPORT_STEP]).s,
                     units->busy ? "" : cell_roof(&phase[REPORT_STEP].roofline).s, row->bound.s});
}

// The row of the whole step, without bar and bound.
static ReportRow step_row(const Profile *profile) {
    ReportRow row = {.label = {"step"},
                     .parameters = text_short_count(profile->parameters),
                     .saved_bytes = profile->measured.saved_bytes,
                     .seconds = latency_median(&profile->totals[REPORT_STEP].latency)};
    memcpy(row.phase, profile->totals, sizeof(row.phase));
    return row;
}

// The part of a phase's median that no layer's median accounts for.
static double rest_of(const Profile *profile, ReportPhase phase) {
    double rest = latency_median(&profile->totals[phase].latency);
    for (int i = 0; i < profile->n_layers; i++)
        if (profile->layers[i].phase[phase].ops > 0)
            rest -= latency_median(&profile->layers[i].phase[phase].latency);
    return rest;
}

// "samples", or "sample" for one
static Text unit_of(const Profile *profile, int64_t units) {
    Text text;
    int length = snprintf(text.s, sizeof(text.s), "%.15s", profile->unit);
    if (units == 1 && length > 0 && text.s[length - 1] == 's') text.s[length - 1] = '\0';
    return text;
}

// "64 samples", "1 image"
static Text units_of_step(const Profile *profile) {
    Text text;
    snprintf(text.s, sizeof(text.s), "%.32s %.15s", text_count(profile->units).s,
             unit_of(profile, profile->units).s);
    return text;
}

// Adds the time outside all layers' medians: for the step, and for its phases.
static void add_unattributed(const Table *table, const Profile *profile, const Units *units) {
    double rest = profile->unattributed_seconds;
    if (units->busy && rest < 0.0) return; // other programs disturbed the two passes differently
    table_add(table,
              (TableCells){"unattributed", "", "",
                           text_duration_in(rest_of(profile, REPORT_FORWARD), units->time).s,
                           text_duration_in(rest_of(profile, REPORT_BACKWARD), units->time).s,
                           text_duration_in(rest, units->time).s,
                           cell_share(rest / units->whole).s});
}

static void print_below(const Table *table, const Profile *profile, const Units *units) {
    const ProfilePhase *step = &profile->totals[REPORT_STEP];
    report_terms(&step->terms, latency_median(&step->latency), table->file);
    double between = profile->unattributed_seconds - rest_of(profile, REPORT_FORWARD) -
                     rest_of(profile, REPORT_BACKWARD);
    if (fabs(between) > 0.01 * units->whole)
        fprintf(table->file, "  of what is unattributed, %s %s lie outside forward and backward\n",
                text_duration_in(between, units->time).s, units->time);
    if (profile->data_wait.count == 0) return;
    double wait = latency_median(&profile->data_wait); // between steps, so no part of one
    table_add(table,
              (TableCells){"data wait", "", "", "", "", text_duration_in(wait, units->time).s,
                           text_percent(wait / units->whole).s, "before each step"});
}

// Prints measured times or, if nothing ran, the best times by given ceilings. A layer's row sums to
// its "sum", each column to the step. (The step's own row has more: the optimizer, whose time has
// its own row, and the time between phases.)
static void print_times(const Profile *profile, const ReportRow *rows, int n, const Units *units,
                        FILE *file) {
    bool timed = units->timed, judged = profile->has_machine;
    int width = timed ? 6 : 7;
    Table table = {.headings = {"layer", "params", units->flops_name, "fwd", "bwd", "sum", "%", "",
                                "FLOP/B", judged ? "roof" : "", judged ? "bound by" : ""},
                   .widths = {LABEL_WIDTH, 8, 7, width, width, width, 5, BAR_WIDTH + 1, 7,
                              timed ? 5 : 0, 12},
                   .kinds = {TABLE_WORD, [7] = TABLE_WORD, [10] = TABLE_WORD}};
    snprintf(table.title, sizeof(table.title), "%s (%s)  step = %s%s%s", timed ? "TIME" : "AT BEST",
             units->time, units_of_step(profile).s,
             timed ? "; multiply-add = 2 FLOP" : ", op after op",
             timed && profile->kind == PROFILE_INFERENCE ? "" : "; FLOP, FLOP/B: fwd + bwd");
    for (int i = 0; i < n; i++) table_widen(&table, rows[i].label.s, (int)sizeof(Text));
    table_begin(&table, file);
    for (int i = 0; i < n; i++) add_times(&table, &rows[i], units, false);
    if (timed) add_unattributed(&table, profile, units);
    add_times(&table, &rows[n], units, true);
    if (timed) print_below(&table, profile, units);
}

// ---- counts ----------------------------------------------------------------------------------
static void print_counted(const Profile *profile, const ReportRow *rows, int n, const Units *units,
                          FILE *file) {
    Table table = {.headings = {"layer", "params", "fwd", "bwd", "sum", "fwd", "bwd", "kept for"},
                   .below = {[5] = "FLOP/B", [6] = "FLOP/B", [7] = "backward"},
                   .widths = {LABEL_WIDTH, 8, 9, 9, 9, 9, 9, 11},
                   .kinds = {TABLE_WORD}};
    snprintf(table.title, sizeof(table.title), "COST (%s)  step = %s; multiply-add = 2 FLOP",
             units->flops_name, units_of_step(profile).s);
    for (int i = 0; i < n; i++) table_widen(&table, rows[i].label.s, (int)sizeof(Text));
    table_begin(&table, file);
    for (int i = 0; i <= n; i++) {
        const ProfilePhase *phase = rows[i].phase;
        table_add(&table, (TableCells){rows[i].label.s, rows[i].parameters.s,
                                       cell_flops(&phase[REPORT_FORWARD], units).s,
                                       cell_flops(&phase[REPORT_BACKWARD], units).s,
                                       cell_flops(&phase[REPORT_STEP], units).s,
                                       cell_intensity(&phase[REPORT_FORWARD]).s,
                                       cell_intensity(&phase[REPORT_BACKWARD]).s,
                                       text_bytes_si(rows[i].saved_bytes).s});
    }
}

// Answers a common question: why backward is not twice forward.
static void print_products(const Profile *profile, FILE *file, const Units *units) {
    const OpCost *step = &profile->totals[REPORT_STEP].cost;
    const OpCost *forward = &profile->totals[REPORT_FORWARD].cost;
    const OpCost *backward = &profile->totals[REPORT_BACKWARD].cost;
    if (step->macs == 0) return;
    fprintf(file, "  %s of %s %s are matrix products (PyTorch's count)",
            text_number(2.0 * (double)step->macs / units->flops).s,
            text_number((double)op_cost_total_flops(*step) / units->flops).s, units->flops_name);
    uint64_t again = profile->totals[REPORT_RECOMPUTE].cost.macs;
    double times = (double)(backward->macs - again) / (double)forward->macs;
    if (forward->macs > 0 && profile->totals[REPORT_BACKWARD].ops > 0)
        fprintf(file, "; their backward is\n  %.4g x forward", times);
    const ProfilePhase *first = profile->n_layers > 0 ? profile->layers[0].phase : NULL;
    if (first && first[REPORT_BACKWARD].ops > 0 && first[REPORT_BACKWARD_INPUT].cost.macs == 0 &&
        times < 1.9995) // avoids "2 x, not 2 x"
        fprintf(file, ", not 2 x, because the first layer's input needs no gradient");
    fprintf(file, ".\n");
    if (again > 0)
        fprintf(file, "  Recomputed layers add %s %s to it, %.4g x forward, run again.\n",
                text_number(2.0 * (double)again / units->flops).s, units->flops_name,
                (double)again / (double)forward->macs);
}

// FLOP per parameter: two if each weight is multiplied once, a rule of thumb for transformers.
static void print_per_parameter(const Profile *profile, FILE *file) {
    double flops = profile_flops_per_parameter(profile);
    if (flops > 0.0) // not NaN
        fprintf(file, "  Forward takes %s FLOP for each parameter and %s.\n", text_number(flops).s,
                unit_of(profile, 1).s);
}

void report_print_table(const Profile *profile, FILE *file) {
    Units units = choose_units(profile);
    ReportRow rows[REPORT_MOST_ROWS + 1];
    int n = report_rows(profile, LABEL_WIDTH + text_columns(file) - TEXT_COLUMNS, rows);
    rows[n] = step_row(profile);
    if (units.timed || units.whole > 0.0)
        print_times(profile, rows, n, &units, file);
    else
        print_counted(profile, rows, n, &units, file);
    print_products(profile, file, &units);
    print_per_parameter(profile, file);
}
