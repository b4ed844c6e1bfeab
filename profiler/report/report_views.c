// report_views.c -- prints a view: heading, units and cells of its rows. Nothing is counted here.
// Every column adds up: rows + others + unattributed = step.
#include "profiler/report/report_views.h"

#include <math.h>
#include <string.h>

#include "profiler/report/report_table.h"
#include "profiler/report/report_views_rows.h"
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

typedef struct Unit { // one a column, so that it can be added up by eye
    double size;
    Text name;
} Unit;

typedef struct View {
    const Profile *profile;
    FILE *file;
    ViewBy by;
    ViewRows rows;
    int label_width;
    Unit flops, bytes, seconds;
    double step_seconds; // median; NaN on meta
} View;

// ---- cells -----------------------------------------------------------------------------------
typedef struct Line { // of the table; "": an empty cell
    ViewLabel label;
    Text phase, calls, time, share, bar, flops, bytes, intensity, roof, bound;
} Line;

static void print_line(const View *view, const Line *line) {
    char text[2 * sizeof(Line)];
    int gap = view->label_width - text_width(line->label.s);
    int used = snprintf(text, sizeof(text), "%s%*s %-3s%5s", line->label.s, gap > 0 ? gap : 0, "",
                        line->phase.s, line->calls.s);
    if (view->rows.timed)
        used += snprintf(text + used, sizeof(text) - (size_t)used, " %5s%5s", line->time.s,
                         line->share.s);
    used += snprintf(text + used, sizeof(text) - (size_t)used, " %-*s %5s %5s %6s", BAR_WIDTH,
                     line->bar.s, line->flops.s, line->bytes.s, line->intensity.s);
    if (view->rows.timed)
        used += snprintf(text + used, sizeof(text) - (size_t)used, " %4s %s", line->roof.s,
                         line->bound.s);
    while (used > 0 && text[used - 1] == ' ') used--;
    fprintf(view->file, "%.*s\n", used, text);
}

static Text words(const char *s) {
    Text text;
    snprintf(text.s, sizeof(text.s), "%s", s);
    return text;
}

// A figure that is too long for its column keeps its size and loses its digits: "2e+08".
static Text fit(Text text, double value, int width) {
    if (text_width(text.s) > width) snprintf(text.s, sizeof(text.s), "%.0e", value);
    return text;
}

static Text cell_number(double value) { return fit(text_number(value), value, 5); }

// Small tables count in ones, which have no decimals.
static Text cell_amount(double amount, double unit) {
    return unit > 1.0 ? cell_number(amount / unit) : fit(text_count((int64_t)amount), amount, 5);
}

// "64%"; "12x" where a percentage would not fit.
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

// All but name, phase, bar and bound. A count that nobody knows is no 0.
static Line line_of(const View *view, const ViewRow *row) {
    bool unknown = row->calls > 0 && row->uncounted == row->calls;
    double bytes = (double)row->cost.bytes_read + (double)row->cost.bytes_written;
    double flops = (double)op_cost_total_flops(row->cost);
    Text calls;
    snprintf(calls.s, sizeof(calls.s), "%lld", (long long)row->calls);
    return (Line){
        .calls = fit(calls, (double)row->calls, 5),
        .time = fit(text_duration_in(row->seconds, view->seconds.name.s),
                    row->seconds / view->seconds.size, 5),
        .share = cell_percent(row->seconds / view->step_seconds),
        .flops = unknown ? (Text){"-"} : cell_amount(flops, view->flops.size),
        .bytes = unknown ? (Text){"-"} : cell_amount(bytes, view->bytes.size),
        .intensity = cell_intensity(row->cost),
        .roof = row->roofline.judged ? cell_percent(row->roofline.roof_fraction) : (Text){""},
    };
}

// ---- the table -------------------------------------------------------------------------------
// The unit in which the total has two digits or more before the decimal point, so that small rows
// keep some; below 10,000 there is none, and figures are exact.
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

static void print_heading(const View *view, ViewOptions options) {
    static const char *const titles[VIEW_BY_COUNT] = {"BY LAYER", "BY OP", "BY PHASE"};
    const ViewRows *rows = &view->rows;
    fprintf(view->file, "%s  %s", titles[view->by], sorts[rows->sort].heading);
    if (rows->sort != options.sort)
        fprintf(view->file, " (%s: %s)", sorts[options.sort].name,
                rows->timed ? "no ceilings" : "not timed");
    if (rows->shown < rows->count)
        fprintf(view->file, "; %lld of %lld rows", (long long)rows->shown, (long long)rows->count);
    fprintf(view->file, "\n");
    if (options.layer)
        fprintf(view->file, "  only layers like '%s'\n", text_fit(options.layer, 55).s);
    if (view->by != VIEW_BY_PHASE && view->profile->kind != PROFILE_INFERENCE)
        fprintf(view->file,
                "  fwd; dx, dW and bwd: backward for inputs, for weights, and the rest; opt\n");
    bool judged = rows->timed && view->profile->has_machine;
    Line line = {.calls = words("calls"),
                 .time = view->seconds.name,
                 .share = words("step"),
                 .flops = view->flops.name,
                 .bytes = view->bytes.name,
                 .intensity = words("FLOP/B"),
                 .roof = words(judged ? "roof" : ""),
                 .bound = words(judged ? "bound by" : "")};
    static const char *const labels[VIEW_BY_COUNT] = {"layer, phase", "layer, op, phase", "phase"};
    snprintf(line.label.s, sizeof(line.label.s), "%s", labels[view->by]);
    print_line(view, &line);
}

// The bar is of what the rows are sorted by. A full one is 60 % of the step: most rows stay below,
// and their differences show.
static Text row_bar(const View *view, const ViewRow *row) {
    bool counts = view->rows.sort == VIEW_SORT_FLOPS || view->rows.sort == VIEW_SORT_BYTES;
    bool seconds = !counts && view->rows.timed;
    double whole = seconds ? view->step_seconds : view_amount(&view->rows.sum, &view->rows);
    return text_bar(fmin(view_amount(row, &view->rows) / whole / 0.6, 1.0), BAR_WIDTH);
}

static void print_rows(const View *view) {
    for (int64_t i = 0; i < view->rows.shown; i++) {
        const ViewRow *row = &view->rows.rows[i];
        Line line = line_of(view, row);
        if (row->layer >= 0) {
            line.label = view_row_label(view->profile, row, view->label_width);
            line.phase = words(phases[row->phase].cell);
        } else {
            snprintf(line.label.s, sizeof(line.label.s), "%s", phases[row->phase].label);
        }
        line.bar = row_bar(view, row);
        line.bound = report_bound(view->profile, &row->roofline);
        print_line(view, &line);
    }
}

// What closes every view: a step is more than its ops, and medians do not add up.
static void print_closing(const View *view) {
    const ViewRows *rows = &view->rows;
    int64_t hidden = rows->count - rows->shown;
    Line line = line_of(view, &rows->others);
    snprintf(line.label.s, sizeof(line.label.s), "others (%lld)", (long long)hidden);
    if (hidden > 0) print_line(view, &line);
    ViewRow rest = {.seconds = view->step_seconds - rows->sum.seconds}, step = rows->sum;
    Line unattributed = line_of(view, &rest);
    line =
        (Line){.label = {"unattributed"}, .time = unattributed.time, .share = unattributed.share};
    if (rows->timed) print_line(view, &line);
    step.seconds = view->step_seconds;
    step.roofline = view->profile->totals[REPORT_STEP].roofline;
    line = line_of(view, &step);
    line.label = (ViewLabel){"step"};
    print_line(view, &line);
    for (int i = 0; i < view->profile->n_uncounted; i++)
        fprintf(view->file, "not counted: op %s has no cost\n", view->profile->uncounted[i]);
}

// ---- the whole -------------------------------------------------------------------------------
Status view_print(const Profile *profile, ViewOptions options, FILE *file) {
    View view = {.profile = profile,
                 .file = file,
                 .by = options.by,
                 .step_seconds = latency_median(&profile->totals[REPORT_STEP].latency)};
    Status status = view_rows_make(profile, options, &view.rows);
    if (status) return status;
    const OpCost *cost = &view.rows.sum.cost;
    view.label_width = view.rows.timed ? LABEL_WIDTH : COUNTED_LABEL_WIDTH;
    view.flops = unit_for((double)op_cost_total_flops(*cost), "FLOP");
    view.bytes = unit_for((double)cost->bytes_read + (double)cost->bytes_written, "B");
    view.seconds = unit_of_seconds(view.step_seconds);
    print_heading(&view, options);
    print_rows(&view);
    print_closing(&view);
    memory_free(view.rows.rows);
    return STATUS_OK;
}
