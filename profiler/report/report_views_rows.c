// report_views_rows.c -- groups the ops of a step into rows, names and sorts them, and sums up
// hidden rows. Not here: the layout of a row.
#include "profiler/report/report_views_rows.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "layers/cost.h"
#include "profiler/report/report_table.h"
#include "tensor/memory.h"

// ---- names -----------------------------------------------------------------------------------
// Paths differ in their ends ("encoder.0.fc1"), ops in their beginnings ("relu_backward").
ViewLabel view_row_label(const Profile *profile, const ViewRow *row, int width) {
    enum { LEAST_OP = 6 };
    ViewLabel label = {""};
    Text layer = profile_layer_title(profile, &profile->layers[row->layer]), op = {""};
    if (row->op) {
        int room = width - 1 - text_width(layer.s);
        op = text_fit(row->op->name, room > LEAST_OP ? room : LEAST_OP);
        width -= 1 + text_width(op.s);
    }
    snprintf(label.s, sizeof(label.s), "%s%s%s", text_fit_middle(layer.s, width).s,
             row->op ? " " : "", op.s);
    return label;
}

// ---- the requested layers ---------------------------------------------------------------------
static bool matches(const Profile *profile, const ProfileLayer *layer, const char *pattern) {
    return !pattern || fnmatch(pattern, layer->path, FNM_CASEFOLD) == 0 || // as --explain
           fnmatch(pattern, profile_layer_title(profile, layer).s, FNM_CASEFOLD) == 0;
}

static Status check_pattern(const Profile *profile, const char *pattern) {
    char names[300];
    for (int i = 0; i < profile->n_layers; i++)
        if (matches(profile, &profile->layers[i], pattern)) return STATUS_OK;
    profile_layer_titles(profile, names, sizeof(names));
    return error_set(STATUS_INVALID_ARGUMENT,
                     "--layer: no layer matches '%s'. HINT: the layers are %s",
                     text_fit(pattern, 24).s, names);
}

// ---- rows ------------------------------------------------------------------------------------
// Makes a row of one op; fields that the view does not distinguish are equal in all rows.
static ViewRow row_of_op(const Profile *profile, ViewOptions options, int64_t index) {
    const ProfileOp *op = &profile->ops[index];
    const ProfileLayer *layer = &profile->layers[op->layer];
    ViewRow row = {
        .matches = matches(profile, layer, options.layer),
        .layer = options.by == VIEW_BY_PHASE ? -1 : op->layer,
        .op = options.by == VIEW_BY_OP ? op->record.op : NULL,
        .phase = op->record.phase,
        .first = index,
        .calls = 1,
        .uncounted = op_is_counted(op->record.op, &op->record.params) ? 0 : 1,
        .seconds = latency_median(&op->latency),
        .cost = op->record.cost,
    };
    traffic_add_op(&row.traffic, &op->record.traffic, &op->record.cost);
    return row;
}

static void add_row(ViewRow *to, const ViewRow *row) {
    to->calls += row->calls;
    to->uncounted += row->uncounted;
    to->seconds += row->seconds;
    cost_add(&to->cost, row->cost);
    traffic_add(&to->traffic, &row->traffic);
}

static void judge_row(const Profile *profile, ViewRow *row) {
    if (!profile->has_machine || row->calls == 0) return;
    RooflineInput input = roofline_input(row->cost, &row->traffic, row->calls, row->seconds);
    row->roofline = roofline_judge(&profile->machine, &input);
}

// ---- grouping --------------------------------------------------------------------------------
#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

static int compare_groups(const ViewRow *a, const ViewRow *b) {
    if (a->layer != b->layer) return COMPARE(a->layer, b->layer);
    if (a->phase != b->phase) return COMPARE(a->phase, b->phase);
    if (a->op != b->op) { // users' kernels share one id
        int ids = COMPARE(a->op->id, b->op->id), names = strcmp(a->op->name, b->op->name);
        if (ids || names) return ids ? ids : names;
    }
    return COMPARE(b->matches, a->matches);
}

static int by_group(const void *left, const void *right) {
    const ViewRow *a = left, *b = right;
    int groups = compare_groups(a, b);
    return groups ? groups : COMPARE(a->first, b->first);
}

// Merges one row per op into one row per group.
static void group(ViewRows *rows) {
    if (rows->count == 0) return;
    qsort(rows->rows, (size_t)rows->count, sizeof(ViewRow), by_group);
    int64_t last = 0;
    for (int64_t i = 1; i < rows->count; i++) {
        if (compare_groups(&rows->rows[last], &rows->rows[i]) == 0)
            add_row(&rows->rows[last], &rows->rows[i]);
        else
            rows->rows[++last] = rows->rows[i];
    }
    rows->count = last + 1;
}

// ---- sorting ---------------------------------------------------------------------------------
static double amount_flops(const ViewRow *row) { return (double)op_cost_total_flops(row->cost); }
static double amount_seconds(const ViewRow *row) { return row->seconds; }
static double amount_bytes(const ViewRow *row) {
    return (double)row->cost.bytes_read + (double)row->cost.bytes_written;
}
static double amount_above_roof(const ViewRow *row) {
    return row->seconds - row->roofline.roof_seconds;
}

double view_amount(const ViewRow *row, const ViewRows *rows) {
    static double (*const amounts[VIEW_SORT_COUNT])(const ViewRow *) = {
        amount_seconds, amount_seconds, amount_flops, amount_bytes, amount_above_roof};
    bool untimed_order = rows->sort == VIEW_SORT_ORDER && !rows->timed;
    return untimed_order ? amount_flops(row) : amounts[rows->sort](row);
}

// Order: matching rows first, then the largest amount, then execution order.
static int by_amount(const void *left, const void *right) {
    const ViewRow *a = left, *b = right;
    if (a->matches != b->matches) return COMPARE(b->matches, a->matches);
    return a->amount != b->amount ? COMPARE(b->amount, a->amount) : COMPARE(a->first, b->first);
}

// Replaces an unavailable sort key: without ceilings by time, without times by FLOPs.
static ViewSort possible_sort(const Profile *profile, ViewSort sort, bool timed) {
    if (sort == VIEW_SORT_ROOF && !profile->has_machine) sort = VIEW_SORT_TIME;
    bool needs_time = sort == VIEW_SORT_TIME || sort == VIEW_SORT_ROOF;
    return needs_time && !timed ? VIEW_SORT_FLOPS : sort;
}

static void sort_rows(ViewRows *rows) {
    for (int64_t i = 0; i < rows->count; i++) {
        ViewRow *row = &rows->rows[i];
        row->amount = rows->sort == VIEW_SORT_ORDER ? 0.0 : view_amount(row, rows);
    }
    if (rows->count > 0) qsort(rows->rows, (size_t)rows->count, sizeof(ViewRow), by_amount);
}

// ---- the whole -------------------------------------------------------------------------------
static void sum_up(const Profile *profile, int64_t top, ViewRows *rows) {
    while (rows->shown < rows->count && rows->rows[rows->shown].matches &&
           (top <= 0 || rows->shown < top))
        rows->shown++;
    for (int64_t i = 0; i < rows->count; i++) {
        add_row(&rows->sum, &rows->rows[i]);
        if (i >= rows->shown) add_row(&rows->others, &rows->rows[i]);
    }
    judge_row(profile, &rows->others);
}

Status view_rows_make(const Profile *profile, ViewOptions options, ViewRows *rows) {
    Status status = options.layer ? check_pattern(profile, options.layer) : STATUS_OK;
    *rows = (ViewRows){.count = profile->n_ops,
                       .timed = profile->totals[REPORT_STEP].latency.count > 0};
    if (status) return status;
    rows->sort = possible_sort(profile, options.sort, rows->timed);
    rows->rows = memory_new((size_t)profile->n_ops * sizeof(ViewRow));
    if (!rows->rows) return STATUS_OUT_OF_MEMORY;
    for (int64_t i = 0; i < rows->count; i++) rows->rows[i] = row_of_op(profile, options, i);
    group(rows);
    for (int64_t i = 0; i < rows->count; i++) judge_row(profile, &rows->rows[i]);
    sort_rows(rows);
    sum_up(profile, options.top, rows);
    return STATUS_OK;
}
