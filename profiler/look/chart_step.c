// chart_step.c -- a step as a strip: its ops end to end by median time, by thread and by layer; and
// the parts of each layer's time.
#include <math.h>
#include <string.h>

#include "profiler/look/chart_parts.h"
#include "profiler/report/report_table.h"

static const ChartKey phases[] = {{"forward", "forward"},
                                  {"backward", "backward"},
                                  {"optimizer", "optimizer"}};

static const char *class_of(Phase phase) {
    return phases[phase == PHASE_FORWARD ? 0 : phase == PHASE_OPTIMIZER ? 2 : 1].class;
}

// ---- rows --------------------------------------------------------------------------------------
enum { WIDTH = 760, LEFT = 130, RIGHT = 750, TOP = 8 };

typedef struct Rows { // one row per layer
    double top, height, bottom;
    int every; // rows per name, if names do not fit every row
} Rows;

static Rows rows_of(int n, double top) {
    const double most = 1200.0; // greatest height of all rows
    double height = fmin(16.0, fmax(4.0, most / (n > 0 ? n : 1)));
    return (Rows){top, height, top + n * height, height >= 10.0 ? 1 : (int)ceil(10.0 / height)};
}

static double row_at(const Rows *rows, int i) { return rows->top + i * rows->height; }

static void put_names(const Svg *svg, const Profile *profile, const Rows *rows) {
    for (int i = 0; i < profile->n_layers; i++) {
        double y = row_at(rows, i);
        if (i % rows->every == 0)
            svg_text(svg, LEFT - 6, y + fmin(rows->height, 11.0) - 1.0, "label end",
                     text_fit_middle(profile_layer_title(profile, &profile->layers[i]).s, 18).s);
        if (i % 2 == 0) svg_rect(svg, LEFT, y, RIGHT, y + rows->height, "band", NULL);
    }
}

// ---- the strip ---------------------------------------------------------------------------------
typedef struct Run { // successive ops of one layer and phase
    int64_t first, end;
    double from, to; // seconds
    bool handed;     // other threads took part
} Run;

static bool next_run(const Profile *profile, Run *run) {
    const ProfileOp *ops = profile->ops, *first = &ops[run->end];
    *run = (Run){.first = run->end, .end = run->end, .from = run->to, .to = run->to};
    if (run->first >= profile->n_ops) return false;
    while (run->end < profile->n_ops && ops[run->end].layer == first->layer &&
           class_of(ops[run->end].record.phase) == class_of(first->record.phase)) {
        run->to += fmax(0.0, latency_median(&ops[run->end].latency));
        run->handed = run->handed || ops[run->end].record.traffic.handoffs > 0;
        run->end++;
    }
    return true;
}

static void put_run(const Svg *svg, const Profile *profile, const SvgAxis *x, const Rows *rows,
                    const Run *run) {
    const ProfileOp *first = &profile->ops[run->first];
    const ProfileLayer *layer = &profile->layers[first->layer];
    const char *class = class_of(first->record.phase);
    double from = svg_at(x, run->from), to = fmax(svg_at(x, run->to), from + 0.5);
    char title[300];
    snprintf(title, sizeof(title), "%.100s %s: %.20s, %lld op%s from %.40s on",
             profile_layer_title(profile, layer).s, class, text_duration(run->to - run->from).s,
             (long long)(run->end - run->first), run->end - run->first == 1 ? "" : "s",
             first->record.op->name);
    svg_rect(svg, from, TOP + 1, to, TOP + 15, class, NULL); // the layer's row has the title
    if (run->handed) svg_rect(svg, from, TOP + 17, to, TOP + 31, class, NULL);
    double y = row_at(rows, first->layer);
    svg_rect(svg, from, y + 0.5, to, y + rows->height - 0.5, class, title);
}

bool chart_step(const Profile *profile, const char *style, WholeFile *file) {
    Run run = {0};
    while (next_run(profile, &run)) {
    }
    if (!(run.to > 0.0)) return false;
    Rows rows = rows_of(profile->n_layers, TOP + 44);
    SvgAxis x = {.from = 0.0, .to = run.to, .at = LEFT, .until = RIGHT};
    SvgAxis y = {.from = 0.0, .to = 1.0, .at = rows.bottom + 4.0, .until = TOP};
    const Chart chart = {.id = "step",
                         .title = "The ops of a step, by thread and by layer",
                         .width = WIDTH,
                         .height = rows.bottom + 44.0,
                         .keys = phases,
                         .n_keys = sizeof(phases) / sizeof(phases[0]),
                         .style = style};
    Svg svg = chart_begin(&chart, file);
    chart_axis_across(&svg, &x, &y, chart_seconds, "ops end to end, by their medians");
    put_names(&svg, profile, &rows);
    svg_text(&svg, LEFT - 6, TOP + 12, "label end", "this thread");
    if (profile->threads > 1) svg_text(&svg, LEFT - 6, TOP + 28, "label end", "other threads");
    for (run = (Run){0}; next_run(profile, &run);) put_run(&svg, profile, &x, &rows, &run);
    chart_end(&chart, &svg);
    return true;
}

// ---- parts of the time -------------------------------------------------------------------------
static const ChartKey parts[] = {{"roof", "the roofs"},
                                 {"kernel", "kernels beyond them, alone and warm"},
                                 {"handoff", "threads, handed to and woken"},
                                 {"left", "left"}};
enum { PARTS = sizeof(parts) / sizeof(parts[0]) };

static bool seconds_of(const ProfileLayer *layer, double seconds[PARTS]) {
    const TimeTerms *terms = &layer->phase[REPORT_STEP].terms;
    double left = time_terms_left(terms, profile_layer_seconds(layer));
    const double all[PARTS] = {terms->roofs, terms->kernels, terms->threads, left};
    memcpy(seconds, all, sizeof(all));
    return !isnan(left);
}

static void put_parts(const Svg *svg, const Profile *profile, const SvgAxis *x, const Rows *rows,
                      int i) {
    const ProfileLayer *layer = &profile->layers[i];
    double seconds[PARTS], from = 0.0, y = row_at(rows, i);
    char title[240];
    if (!seconds_of(layer, seconds)) return;
    for (int p = 0; p < PARTS; p++) {
        if (!(seconds[p] > 0.0)) continue;
        snprintf(title, sizeof(title), "%.100s: %s %.20s of %.20s",
                 profile_layer_title(profile, layer).s, parts[p].name, text_duration(seconds[p]).s,
                 text_duration(profile_layer_seconds(layer)).s);
        svg_rect(svg, svg_at(x, from), y + 1.0, svg_at(x, from + seconds[p]),
                 y + rows->height - 1.0, parts[p].class, title);
        from += seconds[p];
    }
}

bool chart_parts(const Profile *profile, const char *style, WholeFile *file) {
    double most = 0.0, seconds[PARTS];
    bool known = false;
    for (int i = 0; i < profile->n_layers; i++) {
        double all = 0.0;
        if (!seconds_of(&profile->layers[i], seconds)) continue;
        for (int p = 0; p < PARTS; p++) all += fmax(0.0, seconds[p]);
        most = fmax(most, all);
        known = true;
    }
    if (!known || !(most > 0.0)) return false;
    Rows rows = rows_of(profile->n_layers, TOP);
    SvgAxis x = {.from = 0.0, .to = most, .at = LEFT, .until = RIGHT};
    SvgAxis y = {.from = 0.0, .to = 1.0, .at = rows.bottom + 4.0, .until = TOP};
    const Chart chart = {.id = "parts",
                         .title = "Where the time of each layer went",
                         .width = WIDTH,
                         .height = rows.bottom + 44.0,
                         .keys = parts,
                         .n_keys = PARTS,
                         .style = style};
    Svg svg = chart_begin(&chart, file);
    chart_axis_across(&svg, &x, &y, chart_seconds, "of a step");
    put_names(&svg, profile, &rows);
    for (int i = 0; i < profile->n_layers; i++) put_parts(&svg, profile, &x, &rows, i);
    chart_end(&chart, &svg);
    return true;
}
