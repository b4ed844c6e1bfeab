// memory_plot.c -- plots memory over one step: ten rows of bytes over the step's ops, stacked by
// category, with phases and peak marked below. memory_print.c prints tables.
#include <string.h>

#include "profiler/base/text.h"
#include "profiler/report/plots.h"

enum { PLOT_ROWS = 10, PLOT_WIDTH = 66, LABEL_WIDTH = 10 }; // room on the right is for "opt"

typedef struct Picture {
    const Profile *profile;
    const MemoryCurve *curve;
    int columns;     // columns in use: each is one or more points, or part of one
    bool relative;   // the axis starts at the bytes live before the step
    MemoryUse base;  // start of the axis: zero, or those bytes
    int64_t span;    // bytes from the base to the peak
    bool shown[128]; // by letter
} Picture;

// A column's categories from the bottom up: constant ones first, so that changes show at the top.
// Letters are first letters of categories, except 'b' on top: activations requested in backward.
static const MemoryCategory stacked[MEM_COUNT] = {MEM_PARAMETER, MEM_OPTIMIZER, MEM_GRADIENT,
                                                  MEM_DATA,      MEM_STAGING,   MEM_WORKSPACE,
                                                  MEM_ACTIVATION};

// If most of the peak was live before the step, a plot from 0 would hide the changes; then the axis
// starts at that level, if the step never goes below it.
static Picture picture_of(const Profile *profile, const MemoryCurve *curve) {
    const MemoryUse *start = &profile->measured.start;
    int64_t peak = curve->points[curve->peak].live.total, n = curve->n_points;
    Picture picture = {.profile = profile, .curve = curve, .relative = start->total > peak / 2};
    picture.columns = n < PLOT_WIDTH ? (int)(PLOT_WIDTH / n * n) : PLOT_WIDTH;
    for (int64_t i = 0; i < n; i++)
        picture.relative = picture.relative && curve->points[i].live.total >= start->total;
    if (picture.relative) picture.base = *start;
    picture.span = peak - picture.base.total;
    return picture;
}

// ---- columns ---------------------------------------------------------------------------------
static int64_t first_point(const Picture *picture, int column) {
    return column * picture->curve->n_points / picture->columns;
}

static int64_t last_point(const Picture *picture, int column) {
    int64_t next = first_point(picture, column + 1);
    return next > first_point(picture, column) ? next - 1 : first_point(picture, column);
}

static const MemoryPoint *highest(const Picture *picture, int column) {
    const MemoryPoint *points = picture->curve->points;
    int64_t most = first_point(picture, column);
    for (int64_t i = most; i <= last_point(picture, column); i++)
        if (points[i].live.total > points[most].live.total) most = i;
    return &points[most];
}

static int column_of(const Picture *picture, int64_t point) {
    int column = 0;
    while (last_point(picture, column) < point) column++;
    return column;
}

// The letter of a column's stack `height` bytes above the base; ' ': the stack ends below.
static char letter_at(const Picture *picture, const MemoryPoint *point, double height) {
    double above = (double)(point->live.total - picture->base.total), top = 0.0;
    if (height >= above) return ' ';
    if (height >= above - (double)point->in_backward) return 'b';
    for (int i = 0; i < MEM_COUNT - 1; i++) {
        MemoryCategory c = stacked[i];
        int64_t part = point->live.category[c] - picture->base.category[c];
        top += part > 0 ? (double)part : 0.0;
        if (height < top) return memory_category_name(c)[0];
    }
    return memory_category_name(stacked[MEM_COUNT - 1])[0];
}

// ---- rows ------------------------------------------------------------------------------------
static void print_line(FILE *file, const char *label, char edge, const char *row, int length) {
    while (length > 0 && row[length - 1] == ' ') length--;
    fprintf(file, "%*s %c%.*s\n", LABEL_WIDTH - 2, label, edge, length, row);
}

static Text label_at(const Picture *picture, int64_t bytes) {
    Text label = {""}, amount = text_bytes_si(bytes);
    snprintf(label.s, sizeof(label.s), "%s%.32s", picture->relative && bytes ? "+" : "", amount.s);
    return label;
}

static void print_rows(Picture *picture, FILE *file) {
    for (int row = 0; row < PLOT_ROWS; row++) {
        char cells[PLOT_WIDTH];
        double step = (double)picture->span / PLOT_ROWS;
        double height = (PLOT_ROWS - row - 0.5) * step; // middle of the row
        for (int column = 0; column < picture->columns; column++) {
            cells[column] = letter_at(picture, highest(picture, column), height);
            picture->shown[(unsigned char)cells[column]] = true;
        }
        int64_t top = (int64_t)((PLOT_ROWS - row) * step + 0.5);
        Text label = row % 2 == 0 ? label_at(picture, top) : (Text){""};
        print_line(file, label.s, row % 2 == 0 ? '+' : '|', cells, picture->columns);
    }
}

// ---- below -----------------------------------------------------------------------------------
typedef enum Part { PART_FORWARD, PART_BACKWARD, PART_OPTIMIZER, PART_COUNT } Part;
static const char *const part_names[PART_COUNT] = {"fwd", "bwd", "opt"};

static Part part_of(Phase phase) {
    return phase == PHASE_FORWARD     ? PART_FORWARD
           : phase == PHASE_OPTIMIZER ? PART_OPTIMIZER
                                      : PART_BACKWARD;
}

// The phase of a column's last op, so that a single op at the end of a long step is visible.
static Part part_at(const Picture *picture, int column) {
    return part_of(picture->curve->points[last_point(picture, column)].phase);
}

// Draws '|' at the start of a phase, with its name below if there is room before the next one.
static void print_axis(const Picture *picture, FILE *file) {
    char axis[PLOT_WIDTH], names[REPORT_WIDTH - LABEL_WIDTH];
    int columns = picture->columns;
    memset(axis, '-', sizeof(axis));
    memset(names, ' ', sizeof(names));
    for (int begin = 0, end; begin < columns; begin = end) {
        Part part = part_at(picture, begin);
        for (end = begin + 1; end < columns && part_at(picture, end) == part;) end++;
        size_t room = (size_t)(end < columns ? end - begin : PLOT_WIDTH), size = 3;
        axis[begin] = '|';
        if (room > size) memcpy(names + begin, part_names[part], size);
    }
    axis[column_of(picture, picture->curve->peak)] = '^';
    print_line(file, label_at(picture, 0).s, '+', axis, columns);
    if (picture->profile->n_ops > 0) print_line(file, "", ' ', names, sizeof(names));
}

static void print_peak(const Picture *picture, FILE *file) {
    const Profile *profile = picture->profile;
    const MemoryPoint *peak = &picture->curve->points[picture->curve->peak];
    fprintf(file, "  ^ the peak, %s bytes: ", text_count(peak->live.total).s);
    if (peak->live.total == profile->measured.start.total) {
        fprintf(file, "as the step begins\n");
        return;
    }
    if (peak->op == profile->n_ops) {
        fprintf(file, "after the last op\n");
        return;
    }
    const ProfileOp *op = &profile->ops[peak->op];
    const char *phase = phase_name(op->record.phase);
    Text name = text_fit(op->record.op->name, 42);
    int room = REPORT_WIDTH - 4 - text_width(name.s) - (int)strlen(phase) - 7;
    fprintf(file, "op %lld of %lld,\n    %s in %s (%s)\n", (long long)peak->op + 1,
            (long long)profile->n_ops, name.s, text_fit(profile->layers[op->layer].path, room).s,
            phase);
}

static void print_legend(const Picture *picture, FILE *file) {
    const char *separator = "  letters: ";
    for (int i = 0; i < MEM_COUNT; i++) {
        const char *name = memory_category_name(stacked[i]);
        if (!picture->shown[(unsigned char)name[0]]) continue;
        fprintf(file, "%s%s", separator, name);
        separator = ", ";
    }
    if (picture->shown['b'])
        fprintf(file, "%sb: backward's", separator[0] == ',' ? "; " : separator);
    fprintf(file, "\n");
}

static void print_title(const Profile *profile, FILE *file) {
    int64_t ops[PART_COUNT] = {0};
    for (int64_t i = 0; i < profile->n_ops; i++) ops[part_of(profile->ops[i].record.phase)]++;
    fprintf(file, "MEMORY  one step: live bytes over its %lld op%s", (long long)profile->n_ops,
            profile->n_ops == 1 ? "" : "s");
    const char *separator = " (";
    for (int part = 0; part < PART_COUNT; part++) {
        if (ops[part] == 0) continue;
        fprintf(file, "%s%s %lld", separator, part_names[part], (long long)ops[part]);
        separator = ", ";
    }
    fprintf(file, "%s\n", profile->n_ops ? ")" : "");
}

void memory_plot(const Profile *profile, const MemoryCurve *curve, FILE *file) {
    Picture picture = picture_of(profile, curve);
    print_title(profile, file);
    Text before = text_bytes_si(profile->measured.start.total);
    if (picture.span == 0) {
        fprintf(file, "  nothing was asked for: %s, as before the step\n", before.s);
        return;
    }
    if (picture.relative)
        fprintf(file, "  above the %s that were live before the step\n", before.s);
    else
        fprintf(file, "  %s of them were live before the step\n", before.s);
    print_rows(&picture, file);
    print_axis(&picture, file);
    print_legend(&picture, file);
    print_peak(&picture, file);
}
