// chart_roofline.c -- the roofline, log-log: a roof for every level of memory, and a dot for each
// layer, whose size shows the layer's share of the step.
#include <math.h>
#include <string.h>

#include "profiler/look/chart_parts.h"
#include "profiler/report/report_table.h"

enum { LABELS = 64, LABEL_WIDTH = 70, LABEL_HEIGHT = 12 };

typedef struct Frame {
    const Profile *profile;
    SvgAxis x, y;             // FLOP/B, FLOP/s
    double step;              // seconds
    double labels[LABELS][2]; // positions of names so far
    int n_labels;
} Frame;

typedef struct Place {
    double intensity, rate;
} Place;

// False if the layer was not counted or measured, or does no arithmetic.
static bool place_of(const ProfileLayer *layer, Place *place) {
    OpCost cost = layer->phase[REPORT_STEP].cost;
    double seconds = profile_layer_seconds(layer);
    place->intensity = profile_intensity(cost);
    place->rate = (double)op_cost_total_flops(cost) / seconds;
    return place->intensity > 0.0 && place->rate > 0.0 && isfinite(place->rate) &&
           isfinite(place->intensity);
}

static Text intensity_text(double value) { return text_number(value); }
static Text rate_text(double value) { return text_rate(value, "FLOP/s"); }

// Axes from the lowest dot to a little above the roof, including the ridge of every level.
static Frame frame_of(const Profile *profile) {
    const Machine *machine = &profile->machine;
    double peak = machine->peak_flops_per_second;
    Frame frame = {.profile = profile,
                   .x = {.from = 0.1, .to = 100.0, .at = 90, .until = 740, .logarithmic = true},
                   .y = {.from = peak / 1e3, .to = 2.0 * peak, .at = 400, .until = 30},
                   .step = latency_median(&profile->totals[REPORT_STEP].latency)};
    frame.y.logarithmic = true;
    for (int i = 0; i < machine->n_levels; i++)
        frame.x.to = fmax(frame.x.to, 4.0 * machine_ridge(machine, i));
    for (int i = 0; i < profile->n_layers; i++) {
        Place place;
        if (!place_of(&profile->layers[i], &place)) continue;
        frame.x.from = fmax(fmin(frame.x.from, place.intensity / 2.0), 1e-4);
        frame.x.to = fmin(fmax(frame.x.to, 2.0 * place.intensity), 1e6);
        frame.y.from = fmax(fmin(frame.y.from, place.rate / 2.0), 1e-6 * peak);
        frame.y.to = fmax(frame.y.to, 2.0 * place.rate);
    }
    return frame;
}

// Each roof: a level's bandwidth up to the ridge, then the peak.
static void put_roofs(const Svg *svg, const Frame *frame) {
    const Machine *machine = &frame->profile->machine;
    double peak = machine->peak_flops_per_second;
    char text[100];
    for (int i = 0; i < machine->n_levels; i++) {
        const MachineLevel *level = &machine->levels[i];
        double from = fmax(frame->x.from, frame->y.from / level->bytes_per_second);
        double ridge = machine_ridge(machine, i);
        snprintf(text, sizeof(text), "%s: %.30s, ridge at %.20s FLOP/B", level->name,
                 text_rate(level->bytes_per_second, "B/s").s, text_number(ridge).s);
        svg_path_begin(svg, "roof");
        svg_path_point(svg, svg_at(&frame->x, from),
                       svg_at(&frame->y, from * level->bytes_per_second), true);
        svg_path_point(svg, svg_at(&frame->x, ridge), svg_at(&frame->y, peak), false);
        svg_path_end(svg, text);
        double share = (i + 1.0) / (machine->n_levels + 1.0); // label position along the slope
        double label = pow(from, 1.0 - share) * pow(ridge, share);
        svg_text(svg, svg_at(&frame->x, label) - 4,
                 svg_at(&frame->y, label * level->bytes_per_second) - 4, "label end", level->name);
    }
    double ridge = machine_ridge(machine, 0); // the leftmost, of the fastest level
    for (int i = 1; i < machine->n_levels; i++) ridge = fmin(ridge, machine_ridge(machine, i));
    svg_line(svg, svg_at(&frame->x, ridge), svg_at(&frame->y, peak), frame->x.until,
             svg_at(&frame->y, peak), "roof");
    snprintf(text, sizeof(text), "%.40s", text_rate(peak, "FLOP/s").s);
    svg_text(svg, frame->x.until, svg_at(&frame->y, peak) - 6, "label end", text);
}

static const ChartKey bounds[] = {{"dot compute", "bound by arithmetic"},
                                  {"dot memory", "by memory"},
                                  {"dot other", "by what is neither, or is not explained"}};

static const char *class_of(Bound bound) {
    return bounds[bound == BOUND_COMPUTE ? 0 : bound == BOUND_MEMORY ? 1 : 2].class;
}

// Puts a name beside its dot, or below a name in the way. Names collide at one unit less than the
// line height, so that rounding cannot make a moved name collide with the same name again.
static void put_name(const Svg *svg, Frame *frame, double x, double y, const char *name) {
    for (int i = 0; i < frame->n_labels; i++) {
        const double *other = frame->labels[i];
        if (fabs(other[0] - x) >= LABEL_WIDTH || fabs(other[1] - y) >= LABEL_HEIGHT - 1) continue;
        y = other[1] + LABEL_HEIGHT;
        i = -1; // check all again
    }
    svg_text(svg, x, y, "label", name);
    if (frame->n_labels == LABELS) return;
    frame->labels[frame->n_labels][0] = x;
    frame->labels[frame->n_labels++][1] = y;
}

static void put_layer(const Svg *svg, Frame *frame, int i, bool links) {
    const Profile *profile = frame->profile;
    const ProfileLayer *layer = &profile->layers[i];
    const ProfilePhase *step = &layer->phase[REPORT_STEP];
    char title[ROOFLINE_TEXT + 200], evidence[ROOFLINE_TEXT], link[CHART_LINK];
    double seconds = profile_layer_seconds(layer), share = seconds / frame->step;
    Place place;
    if (!place_of(layer, &place)) return;
    RooflineInput input = profile_phase_input(step, seconds);
    roofline_evidence(&profile->machine, &input, &step->roofline, evidence);
    snprintf(title, sizeof(title), "%.100s, %.8s of the step: %s",
             profile_layer_title(profile, layer).s, text_percent(share).s, evidence);
    double x = svg_at(&frame->x, place.intensity), y = svg_at(&frame->y, place.rate);
    double radius = 3.0 + 12.0 * sqrt(fmin(fmax(share, 0.0), 1.0));
    svg_dot(svg, x, y, radius, class_of(step->roofline.bound),
            links ? chart_layer_link(i, link) : NULL, title);
    if (share >= 0.03 || profile->n_layers <= 12)
        put_name(svg, frame, x + radius + 2.0, y + 4.0, profile_layer_title(profile, layer).s);
}

bool chart_roofline(const Profile *profile, const char *style, WholeFile *file) {
    bool timed = profile->totals[REPORT_STEP].latency.count > 0;
    if (!profile->has_machine || !timed) return false;
    Frame frame = frame_of(profile);
    const Chart chart = {.id = "roofline",
                         .title = "Roofline: FLOP/s of each layer over its FLOP per byte",
                         .width = 760,
                         .height = 450,
                         .keys = bounds,
                         .n_keys = sizeof(bounds) / sizeof(bounds[0]),
                         .links = true,
                         .style = style};
    Svg svg = chart_begin(&chart, file);
    chart_axis_across(&svg, &frame.x, &frame.y, intensity_text, "FLOP/B");
    chart_axis_up(&svg, &frame.x, &frame.y, rate_text, "FLOP/s");
    put_roofs(&svg, &frame);
    for (int i = 0; i < profile->n_layers; i++) put_layer(&svg, &frame, i, !style);
    chart_end(&chart, &svg);
    return true;
}
