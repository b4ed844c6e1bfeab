// chart.c -- helpers for all drawings: axes with their marks, and legends. Also the two drawings
// that need no profile: the losses of a training, the points of a sweep.
#include "profiler/look/chart_parts.h"

#include <math.h>
#include <string.h>

#include "profiler/base/escape.h"
#include "profiler/compare/sweep.h"

char *chart_layer_link(int layer, char text[CHART_LINK]) {
    snprintf(text, CHART_LINK, "#layer-%d", layer);
    return text;
}

// ---- keys --------------------------------------------------------------------------------------
// The legend in a page: a line of text.
static void put_legend(const Chart *chart, WholeFile *file) {
    whole_file_print(file, "<p class=\"legend\">");
    for (int i = 0; i < chart->n_keys; i++) {
        whole_file_print(file, "<span><i class=\"%s\"></i>", chart->keys[i].class);
        escape_xml(file, chart->keys[i].name);
        whole_file_print(file, "</span> ");
    }
    whole_file_print(file, "</p>\n");
}

// The legend in a file: rows below the drawing. Returns their height; draws nothing if svg is NULL.
static double put_keys(const Chart *chart, const Svg *svg) {
    enum { LEFT = 10, SQUARE = 10, ROW = 18, LETTER = 6, GAP = 24 };
    double x = LEFT, y = chart->height;
    for (int i = 0; i < chart->n_keys; i++) {
        const ChartKey *key = &chart->keys[i];
        double width = SQUARE + GAP + LETTER * (double)strlen(key->name);
        if (x > LEFT && x + width > chart->width) {
            x = LEFT;
            y += ROW;
        }
        if (svg) svg_rect(svg, x, y, x + SQUARE, y + SQUARE, key->class, NULL);
        if (svg) svg_text(svg, x + SQUARE + 5.0, y + SQUARE - 1.0, "label", key->name);
        x += width;
    }
    return chart->n_keys > 0 ? y + ROW - chart->height : 0.0;
}

Svg chart_begin(const Chart *chart, WholeFile *file) {
    SvgKind kind = chart->style ? SVG_FILE : chart->links ? SVG_LINKS : SVG_PICTURE;
    double below = chart->style ? put_keys(chart, NULL) : 0.0;
    Svg svg = svg_begin(file, kind, chart->id, chart->title, chart->width, chart->height + below);
    if (chart->style) svg_style(&svg, chart->style);
    return svg;
}

void chart_end(const Chart *chart, const Svg *svg) {
    if (chart->style) put_keys(chart, svg);
    svg_end(svg);
    if (!chart->style && chart->n_keys > 0) put_legend(chart, svg->file);
}

// ---- axes --------------------------------------------------------------------------------------
enum { MOST_MARKS = 12 };

void chart_axis_across(const Svg *svg, const SvgAxis *x, const SvgAxis *y, ChartText *text,
                       const char *name) {
    double marks[MOST_MARKS];
    int n = svg_marks(x, 8, marks);
    for (int i = 0; i < n; i++) {
        double at = svg_at(x, marks[i]);
        svg_line(svg, at, y->at, at, y->until, "grid");
        svg_text(svg, at, y->at + 16, "label middle", text(marks[i]).s);
    }
    svg_line(svg, x->at, y->at, x->until, y->at, "axis");
    svg_text(svg, x->until, y->at + 32, "label end", name);
}

void chart_axis_up(const Svg *svg, const SvgAxis *x, const SvgAxis *y, ChartText *text,
                   const char *name) {
    double marks[MOST_MARKS];
    int n = svg_marks(y, 6, marks);
    for (int i = 0; i < n; i++) {
        double at = svg_at(y, marks[i]);
        svg_line(svg, x->at, at, x->until, at, "grid");
        svg_text(svg, x->at - 6, at + 4, "label end", text(marks[i]).s);
    }
    svg_line(svg, x->at, y->at, x->at, y->until, "axis");
    svg_text(svg, 4, y->until - 10, "label", name);
}

Text chart_seconds(double seconds) { return text_duration(seconds); }
static Text count_text(double value) { return text_short_count((int64_t)(value + 0.5)); }
static Text loss_text(double value) { return text_number(value); }
static Text share_text(double value) { return text_percent(value); }

// ---- losses ------------------------------------------------------------------------------------
bool chart_losses(const LossCurve *curve, const char *style, WholeFile *file) {
    double mean[LOSS_COLUMNS], low = HUGE_VAL, high = -HUGE_VAL;
    int n = loss_curve_means(curve, mean);
    for (int i = 0; i < n; i++) {
        low = fmin(low, mean[i]);
        high = fmax(high, mean[i]);
    }
    if (n < 2 || !(high > low)) return false;
    const Chart chart = {.id = "losses",
                         .title = "Mean loss as the training went on",
                         .width = 720,
                         .height = 260,
                         .style = style};
    Svg svg = chart_begin(&chart, file);
    double steps = (double)(curve->last - curve->first + 1);
    SvgAxis x = {.from = 0.0, .to = steps, .at = 70, .until = 700};
    SvgAxis y = {.from = fmin(0.0, low), .to = high, .at = 215, .until = 30};
    chart_axis_across(&svg, &x, &y, count_text, "step");
    chart_axis_up(&svg, &x, &y, loss_text, "loss");
    svg_path_begin(&svg, "line");
    for (int i = 0; i < n; i++)
        svg_path_point(&svg, svg_at(&x, steps * (i + 0.5) / LOSS_COLUMNS), svg_at(&y, mean[i]),
                       i == 0);
    svg_path_end(&svg, "mean loss");
    chart_end(&chart, &svg);
    return true;
}

// ---- sweeps ------------------------------------------------------------------------------------
static void put_point(const Svg *svg, const Sweep *sweep, int64_t i, const SvgAxis *x,
                      const SvgAxis *y) {
    char name[SWEEP_NAME], title[SWEEP_NAME + 200];
    double takes, gives;
    if (!sweep_trade(sweep, i, &takes, &gives)) return;
    bool chosen = i == sweep->chosen, pareto = sweep->points[i].pareto;
    sweep_name(sweep, i, name);
    snprintf(title, sizeof(title), "%s: %.30s, %.30s%s", name, text_duration(takes).s,
             sweep->learns ? text_number(gives).s : text_rate(gives, "/s").s,
             chosen   ? " (chosen)"
             : pareto ? " (none is better in all)"
                      : "");
    svg_dot(svg, svg_at(x, takes), svg_at(y, gives), chosen ? 8 : 5,
            chosen   ? "dot chosen"
            : pareto ? "dot pareto"
                     : "dot",
            NULL, title);
    svg_text(svg, svg_at(x, takes) + 8, svg_at(y, gives) - 6, "label", name);
}

bool chart_sweep(const Sweep *sweep, const char *style, WholeFile *file) {
    SvgAxis x = {.from = HUGE_VAL, .to = -HUGE_VAL, .at = 80, .until = 640, .logarithmic = true};
    SvgAxis y = {.from = HUGE_VAL, .to = -HUGE_VAL, .at = 350, .until = 40};
    y.logarithmic = !sweep->learns;
    for (int64_t i = 0; i < sweep->n; i++) {
        double takes, gives;
        if (!sweep_trade(sweep, i, &takes, &gives)) continue;
        x.from = fmin(x.from, takes);
        x.to = fmax(x.to, takes);
        y.from = fmin(y.from, gives);
        y.to = fmax(y.to, gives);
    }
    if (!(x.to > x.from) || !(y.to > y.from)) return false;
    const Chart chart = {.id = "sweep",
                         .title = "What each point takes, and what it gives",
                         .width = 760,
                         .height = 400,
                         .style = style};
    Svg svg = chart_begin(&chart, file);
    bool judged = sweep->by_accuracy;
    char rate[32];
    snprintf(rate, sizeof(rate), "%.20s/s", sweep->unit);
    chart_axis_across(&svg, &x, &y, chart_seconds, sweep->learns ? "to train" : "a step");
    chart_axis_up(&svg, &x, &y,
                  !sweep->learns ? count_text
                  : judged       ? share_text
                                 : loss_text,
                  !sweep->learns ? rate
                  : judged       ? "accuracy"
                                 : "loss");
    for (int64_t i = 0; i < sweep->n; i++) put_point(&svg, sweep, i, &x, &y);
    chart_end(&chart, &svg);
    return true;
}
