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

// All of it, or, where there is no room, nothing.
static bool put(char line[AXIS_WIDTH + 1], int at, const char *text) {
    int length = (int)strlen(text);
    for (int i = at; i < at + length; i++)
        if (i < 0 || i >= AXIS_WIDTH || line[i] != ' ') return false;
    memcpy(line + at, text, (size_t)length);
    return true;
}

// Under the axis: its ends, the ridge below its mark, and what is on either side of it.
static void print_legend(int ridge, FILE *file) {
    static const char mark[] = "^ ridge", below[] = "waits for memory";
    enum { MARK = sizeof(mark) - 1, BELOW = sizeof(below) - 1 };
    char line[AXIS_WIDTH + 1];
    memset(line, ' ', AXIS_WIDTH);
    line[AXIS_WIDTH] = '\0';
    bool flush = ridge + MARK > AXIS_WIDTH;
    put(line, flush ? ridge + 1 - MARK : ridge, flush ? "ridge ^" : mark);
    put(line, AXIS_WIDTH - 4, "1000");
    put(line, 0, ridge < 12 ? "0.1 " : "0.1 FLOP/B ");
    if (ridge >= 12 + BELOW + 1) put(line, ridge - BELOW - 1, below);
    if (!put(line, ridge + MARK + 2, "waits for arithmetic "))
        put(line, ridge + MARK + 2, "for arithmetic ");
    int end = AXIS_WIDTH;
    while (end > 0 && line[end - 1] == ' ') end--;
    fprintf(file, "  %.*s\n", end, line);
}

// A card's name takes a line of its own.
static void print_source(const Machine *machine, FILE *file) {
    if (!machine->measured)
        fprintf(file, "\nROOFLINE  as given: ");
    else if (machine->device[0])
        fprintf(file, "\nROOFLINE  measured on %s:\n  ", text_fit(machine->device, 50).s);
    else
        fprintf(file, "\nROOFLINE  measured here: ");
}

void report_print_roofline(const Profile *profile, FILE *file) {
    if (!profile->has_machine) return;
    const Machine *machine = &profile->machine;
    int level = drawn_level(profile);
    double ridge = machine_ridge(machine, level);
    print_source(machine, file);
    fprintf(file, "%s, %s (%s) -> ridge %s FLOP/B\n",
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
    print_legend(column_of(ridge), file);
}
