// report_views.c -- prints a view: heading, units and cells of its rows; counts nothing. Every
// column adds up: rows + others + unattributed = step.
#include "profiler/report/report_views.h"

#include <math.h>
#include <string.h>

#include "profiler/base/table.h"
#include "profiler/report/report_table.h"
#include "profiler/report/report_views_rows.h"
#include "tensor/given.h"
#include "tensor/memory.h"

enum { LABEL_WIDTH = 19, COUNTED_LABEL_WIDTH = 36, BAR_WIDTH = 4 };

static const char *const by_names[VIEW_BY_COUNT] = {"layer", "op", "phase"};
const char *view_by_name(ViewBy by) { return (unsigned)by < VIEW_BY_COUNT ? by_names[by] : "?"; }

static const struct {
    const char *name, *heading;
} sorts[VIEW_SORT_COUNT] = {{"order", "as they ran"},
                            {"time", "most time first"},
                            {"flops", "most FLOPs first"},
                            {"bytes", "most bytes first"},
                            {"roof", "most time above the roof first"}};
const char *view_sort_name(ViewSort sort) {
    return (unsigned)sort < VIEW_SORT_COUNT ? sorts[sort].name : "?";
}

static const struct {
    const char *cell, *label;
} phases[PHASE_COUNT] = {{"fwd", "forward"},         {"bwd", "backward, rest"},
                         {"dx", "backward, inputs"}, {"dW", "backward, weights"},
                         {"fw2", "recomputed"},      {"opt", "optimizer"}};

typedef struct Unit { // one per column, so that it can be summed by eye
    double size;
    Text name;
} Unit;

typedef struct View {
    const Profile *profile;
    ViewBy by;
    ViewRows rows;
    Table table;
    Unit flops, bytes, seconds;
    double step_seconds; // median; NaN on meta
} View;

// ---- cells -----------------------------------------------------------------------------------
static Text words(const char *s) {
    Text text;
    snprintf(text.s, sizeof(text.s), "%s", s);
    return text;
}

// A figure too long for its column keeps its magnitude, not its digits: "2e+08".
static Text fit(Text text, double value, int width) {
    if (text_width(text.s) > width) snprintf(text.s, sizeof(text.s), "%.0e", value);
    return text;
}

static Text cell_number(double value) { return fit(text_number(value), value, 5); }

// Small tables use exact counts, without decimals.
static Text cell_amount(double amount, double unit) {
    return unit > 1.0 ? cell_number(amount / unit) : fit(text_count((int64_t)amount), amount, 5);
}

// "64%"; "12x" if a percentage would not fit.
static Text cell_percent(double fraction) {
    enum { WIDTH = 4 };
    Text text = text_percent(fraction);
    if (text_width(text.s) > WIDTH) snprintf(text.s, sizeof(text.s), "%.0fx", fraction);
    return text_width(text.s) <= WIDTH ? text : words(fraction > 0.0 ? ">99x" : "<-9x");
}

static Text cell_intensity(OpCost cost) {
    double intensity = profile_intensity(cost);
    return isnan(intensity) ? (Text){""} : fit(text_number(intensity), intensity, 6);
}

static Text cell_time(const View *view, double seconds) {
    return fit(text_duration_in(seconds, view->seconds.name.s), seconds / view->seconds.size, 5);
}

// Adds a row; an unknown count is "-", not 0.
static void add_row(const View *view, const ViewRow *row, const char *label, const char *phase,
                    const char *bar, const char *bound) {
    bool unknown = row->calls > 0 && row->uncounted == row->calls;
    double bytes = (double)row->cost.bytes_read + (double)row->cost.bytes_written;
    double flops = (double)op_cost_total_flops(row->cost);
    Text calls;
    snprintf(calls.s, sizeof(calls.s), "%lld", (long long)row->calls);
    table_add(&view->table,
              (TableCells){label, phase, fit(calls, (double)row->calls, 5).s,
                           cell_time(view, row->seconds).s,
                           cell_percent(row->seconds / view->step_seconds).s, bar,
                           unknown ? "-" : cell_amount(flops, view->flops.size).s,
                           unknown ? "-" : cell_amount(bytes, view->bytes.size).s,
                           cell_intensity(row->cost).s,
                           row->roofline.judged ? cell_percent(row->roofline.roof_fraction).s : "",
                           bound});
}

// ---- the table -------------------------------------------------------------------------------
// The unit that gives the total two or more digits before the decimal point, so that small rows
// keep some; below 10,000 figures are exact.
static Unit unit_for(double total, const char *name) {
    static const struct {
        double size;
        const char *prefix;
    } scales[] = {{1e18, "E"}, {1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}};
    enum { SCALES = sizeof(scales) / sizeof(scales[0]) };
    int i = 0;
    while (i < SCALES && total < 10.0 * scales[i].size) i++;
    Unit unit = {.size = i < SCALES ? scales[i].size : 1.0};
    snprintf(unit.name.s, sizeof(unit.name.s), "%s%s", i < SCALES ? scales[i].prefix : "", name);
    return unit;
}

static Unit unit_of_seconds(double step) {
    const char *name = text_duration_unit(step);
    return (Unit){name[0] == 's' ? 1.0 : name[0] == 'm' ? 1e-3 : 1e-6, words(name)};
}

static void print_heading(const View *view, ViewOptions options, FILE *file) {
    static const char *const titles[VIEW_BY_COUNT] = {"BY LAYER", "BY OP", "BY PHASE"};
    const ViewRows *rows = &view->rows;
    fprintf(file, "%s  %s", titles[view->by], sorts[rows->sort].heading);
    if (rows->sort != options.sort)
        fprintf(file, " (%s: %s)", sorts[options.sort].name,
                rows->timed ? "no ceilings" : "not timed");
    if (rows->shown < rows->count)
        fprintf(file, "; %lld of %lld rows", (long long)rows->shown, (long long)rows->count);
    fprintf(file, "\n");
    if (options.layer) fprintf(file, "  only layers like '%s'\n", text_fit(options.layer, 55).s);
    if (view->by != VIEW_BY_PHASE && view->profile->kind != PROFILE_INFERENCE)
        fprintf(file,
                "  fwd; dx, dW and bwd: backward for inputs, for weights, and the rest; opt\n");
}

static Table table_of(const View *view) {
    static const char *const labels[VIEW_BY_COUNT] = {"layer, phase", "layer, op, phase", "phase"};
    bool timed = view->rows.timed, judged = timed && view->profile->has_machine;
    return (Table){.headings = {labels[view->by], "", "calls", view->seconds.name.s, "step", "",
                                view->flops.name.s, view->bytes.name.s, "FLOP/B",
                                judged ? "roof" : "", judged ? "bound by" : ""},
                   .widths = {timed ? LABEL_WIDTH : COUNTED_LABEL_WIDTH, 4, 5, timed ? 6 : 0,
                              timed ? 5 : 0, BAR_WIDTH + 1, 6, 6, 7, timed ? 5 : 0, timed ? 12 : 0},
                   .kinds = {TABLE_WORD, TABLE_WORD, [5] = TABLE_WORD, [10] = TABLE_WORD}};
}

// The bar shows the sort key. A full one is 60 % of the step: most rows stay below, so their
// differences show.
static Text row_bar(const View *view, const ViewRow *row) {
    bool counts = view->rows.sort == VIEW_SORT_FLOPS || view->rows.sort == VIEW_SORT_BYTES;
    bool seconds = !counts && view->rows.timed;
    double whole = seconds ? view->step_seconds : view_amount(&view->rows.sum, &view->rows);
    return text_bar(fmin(view_amount(row, &view->rows) / whole / 0.6, 1.0), BAR_WIDTH);
}

static void add_rows(const View *view) {
    for (int64_t i = 0; i < view->rows.shown; i++) {
        const ViewRow *row = &view->rows.rows[i];
        bool named = row->layer >= 0;
        ViewLabel label = {""};
        if (named) label = view_row_label(view->profile, row, view->table.widths[0]);
        add_row(view, row, named ? label.s : phases[row->phase].label,
                named ? phases[row->phase].cell : "", row_bar(view, row).s,
                profile_bound_text(&view->profile->machine, &row->roofline).s);
    }
}

// Adds the closing rows: a step is more than its ops, and medians do not add up.
static void add_closing(const View *view) {
    const ViewRows *rows = &view->rows;
    ViewRow step = rows->sum;
    double rest = view->step_seconds - rows->sum.seconds;
    Text others;
    snprintf(others.s, sizeof(others.s), "others (%lld)", (long long)(rows->count - rows->shown));
    if (rows->count > rows->shown) add_row(view, &rows->others, others.s, "", "", "");
    if (rows->timed)
        table_add(&view->table, (TableCells){"unattributed", "", "", cell_time(view, rest).s,
                                             cell_percent(rest / view->step_seconds).s});
    step.seconds = view->step_seconds;
    step.roofline = view->profile->totals[REPORT_STEP].roofline;
    add_row(view, &step, "step", "", "", "");
}

// ---- the whole -------------------------------------------------------------------------------
Status view_print(const Profile *profile, ViewOptions options, FILE *file) {
    if (!GIVEN(profile) || !GIVEN(file)) return STATUS_INVALID_ARGUMENT;
    View view = {.profile = profile,
                 .by = options.by,
                 .step_seconds = latency_median(&profile->totals[REPORT_STEP].latency)};
    Status status = view_rows_make(profile, options, &view.rows);
    if (status) return status;
    const OpCost *cost = &view.rows.sum.cost;
    view.flops = unit_for((double)op_cost_total_flops(*cost), "FLOP");
    view.bytes = unit_for((double)cost->bytes_read + (double)cost->bytes_written, "B");
    view.seconds = unit_of_seconds(view.step_seconds);
    view.table = table_of(&view);
    print_heading(&view, options, file);
    table_begin(&view.table, file);
    add_rows(&view);
    add_closing(&view);
    for (int i = 0; i < profile->n_uncounted; i++)
        fprintf(file, "not counted: op %s has no cost\n", profile->uncounted[i]);
    memory_free(view.rows.rows);
    return STATUS_OK;
}
