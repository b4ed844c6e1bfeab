// chart_memory.c -- live bytes over one step, stacked by category: constant categories are at the
// bottom, changing ones on top.
#include <string.h>

#include "profiler/look/chart_parts.h"
#include "tensor/storage.h"

enum { COLUMNS = 240 }; // more would only make the file larger

static const MemoryCategory stacked[MEM_COUNT] = {MEM_PARAMETER, MEM_OPTIMIZER, MEM_GRADIENT,
                                                  MEM_DATA,      MEM_STAGING,   MEM_WORKSPACE,
                                                  MEM_ACTIVATION};

static Text bytes_text(double bytes) { return text_bytes_si((int64_t)bytes); }
static Text op_text(double op) { return text_count((int64_t)op); }

// The highest of the points in a column.
static const MemoryPoint *point_at(const MemoryCurve *curve, int column, int columns) {
    int64_t from = column * curve->n_points / columns;
    int64_t to = (column + 1) * curve->n_points / columns;
    const MemoryPoint *most = &curve->points[from];
    for (int64_t i = from + 1; i < to; i++)
        if (curve->points[i].live.total > most->live.total) most = &curve->points[i];
    return most;
}

// Bytes of the first n categories of the stack.
static int64_t height_of(const MemoryUse *live, int n) {
    int64_t bytes = 0;
    for (int c = 0; c < n; c++) bytes += live->category[stacked[c]];
    return bytes;
}

// The area of the first n categories; larger areas are drawn first, smaller ones over them.
static void put_area(const Svg *svg, const MemoryCurve *curve, const SvgAxis *x, const SvgAxis *y,
                     int n) {
    int columns = curve->n_points < COLUMNS ? (int)curve->n_points : COLUMNS;
    double each = (x->until - x->at) / columns, was = -1.0;
    char title[80];
    svg_path_begin(svg, memory_category_name(stacked[n - 1]));
    svg_path_point(svg, x->at, y->at, true);
    for (int c = 0; c < columns; c++) {
        double height = svg_at(y, (double)height_of(&point_at(curve, c, columns)->live, n));
        if (height == was) continue; // no corner is needed
        if (c > 0) svg_path_point(svg, x->at + c * each, was, false);
        svg_path_point(svg, x->at + c * each, height, false);
        was = height;
    }
    svg_path_point(svg, x->until, was, false);
    svg_path_point(svg, x->until, y->at, false);
    const MemoryUse *peak = &curve->points[curve->peak].live;
    snprintf(title, sizeof(title), "%s: %.20s at the peak", memory_category_name(stacked[n - 1]),
             text_bytes_si(peak->category[stacked[n - 1]]).s);
    svg_path_end(svg, title);
}

static void draw(const Profile *profile, const MemoryCurve *curve, const char *style,
                 WholeFile *file) {
    const MemoryUse *most = &curve->points[curve->peak].live;
    double peak = (double)most->total, ops = (double)curve->n_points;
    SvgAxis x = {.from = 0.0, .to = ops, .at = 80, .until = 740};
    SvgAxis y = {.from = 0.0, .to = 1.08 * peak, .at = 260, .until = 30};
    ChartKey keys[MEM_COUNT];
    char text[200];
    int n = 0;
    for (int c = 0; c < MEM_COUNT; c++) {
        const char *name = memory_category_name(stacked[c]);
        if (most->category[stacked[c]] > 0) keys[n++] = (ChartKey){name, name};
    }
    const Chart chart = {.id = "memory",
                         .title = "Live memory over one step, by category",
                         .width = 760,
                         .height = 310,
                         .keys = keys,
                         .n_keys = n,
                         .style = style};
    Svg svg = chart_begin(&chart, file);
    chart_axis_across(&svg, &x, &y, op_text, "op of the step");
    chart_axis_up(&svg, &x, &y, bytes_text, "bytes");
    for (int c = MEM_COUNT; c > 0; c--) put_area(&svg, curve, &x, &y, c);
    double at = svg_at(&x, (double)curve->peak + 0.5);
    svg_line(&svg, at, y.at, at, y.until, "mark");
    snprintf(text, sizeof(text), "peak %.20s: %.120s", text_bytes_si((int64_t)peak).s,
             profile->measured.peak_op);
    svg_text(&svg, at > 400 ? at - 6 : at + 6, y.until - 6, at > 400 ? "label end" : "label", text);
    chart_end(&chart, &svg);
}

bool chart_memory(const Profile *profile, const char *style, WholeFile *file) {
    MemoryCurve curve;
    bool known = profile->n_ops > 0 && memory_curve_new(profile, &curve) == STATUS_OK;
    if (!known) return false;
    draw(profile, &curve, style, file);
    memory_curve_free(&curve);
    return true;
}
