// report_roofline.c -- the roofline of the terminal report: ceilings, and where the layers stand on
// a logarithmic axis of intensity, with the ridge between waiting for memory and for arithmetic.
#include <math.h>
#include <string.h>

#include "profiler/report/report_table.h"

enum { AXIS_WIDTH = 76, AXIS_FROM = -1, AXIS_TO = 3 }; // powers of ten, in FLOP/B

static int column_of(double intensity) {
    double at = (log10(intensity) - AXIS_FROM) / (AXIS_TO - AXIS_FROM);
    return (int)lround(fmin(fmax(at, 0.0), 1.0) * (AXIS_WIDTH - 1));
}

// A digit for a layer that ends in one ("fc1", and it has parameters), else its first letter.
static char mark_of(const Profile *profile, const ProfileLayer *layer) {
    const char *path = layer->path, *dot = strrchr(path, '.');
    size_t length = strlen(path);
    char last = length > 0 ? path[length - 1] : ' ';
    if (layer->parameters > 0 && last >= '0' && last <= '9') return last;
    char first = dot ? dot[1] : report_layer_name(profile, layer).s[0];
    return first > ' ' && first <= '~' ? first : '?';
}

// The level that most of the step's memory time goes to: its ridge is the one drawn.
static int drawn_level(const Profile *profile) {
    return profile->totals[REPORT_STEP].roofline.level;
}

// Below the axis, what its left side means, and the ridge by name: under its mark as far as the
// words before it let it, and left of the mark where the line would not hold it.
static void print_caption(int ridge, FILE *file) {
    static const char left[] = "0.1 FLOP/B  waits for memory", name[] = "^ ridge", end[] = "1000";
    enum { LEFT = sizeof(left), NAME = sizeof(name) - 1, END = sizeof(end) - 1 };
    int at = ridge > LEFT ? ridge : LEFT, rest = AXIS_WIDTH - at - NAME - END;
    if (rest > 0)
        fprintf(file, "  %s%*s%s%*s%s\n", left, at - LEFT + 1, "", name, rest, "", end);
    else
        fprintf(file, "  %s%*s\n", left, ridge + 2 - LEFT, "ridge ^");
}

void report_print_roofline(const Profile *profile, FILE *file) {
    if (!profile->has_machine || profile->totals[REPORT_STEP].latency.count == 0) return;
    const Machine *machine = &profile->machine;
    int level = drawn_level(profile);
    double ridge = machine_ridge(machine, level);
    fprintf(file, "\nROOFLINE  %s: %s, %s (%s) -> ridge %s FLOP/B\n",
            machine->measured ? "measured here" : "as given",
            text_rate(machine->peak_flops_per_second, "FLOP/s").s,
            text_rate(machine->levels[level].bytes_per_second, "B/s").s,
            machine->levels[level].name, text_number(ridge).s);
    char marks[AXIS_WIDTH + 1], axis[AXIS_WIDTH + 1];
    memset(marks, ' ', AXIS_WIDTH);
    memset(axis, '-', AXIS_WIDTH);
    marks[AXIS_WIDTH] = axis[AXIS_WIDTH] = '\0';
    for (int power = AXIS_FROM; power <= AXIS_TO; power++) axis[column_of(pow(10.0, power))] = '+';
    for (int i = 0; i < profile->n_layers; i++) {
        double intensity = profile_intensity(profile->layers[i].phase[REPORT_STEP].cost);
        if (intensity > 0.0) marks[column_of(intensity)] = mark_of(profile, &profile->layers[i]);
    }
    axis[column_of(ridge)] = '^';
    int end = AXIS_WIDTH;
    while (end > 0 && marks[end - 1] == ' ') end--;
    fprintf(file, "  %.*s\n  %s\n", end, marks, axis);
    print_caption(column_of(ridge), file);
}
