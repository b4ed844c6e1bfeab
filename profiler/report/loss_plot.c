// loss_plot.c -- plots the losses of a training: ten rows over its steps, and a level for
// comparison.
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "profiler/base/text.h"
#include "profiler/report/plots.h"

enum { ROWS = 10, LABEL_WIDTH = 8 };

void loss_curve_add(LossCurve *curve, int64_t step, double loss) {
    if (!isfinite(loss) || step < curve->first || step > curve->last) return;
    int64_t steps = curve->last - curve->first + 1;
    int64_t column = (step - curve->first) * LOSS_COLUMNS / steps;
    curve->sum[column] += loss;
    curve->n[column]++;
}

int loss_curve_means(const LossCurve *curve, double mean[LOSS_COLUMNS]) {
    int reached = 0;
    double last = (double)NAN;
    for (int i = 0; i < LOSS_COLUMNS; i++) {
        if (curve->n[i] > 0) {
            last = curve->sum[i] / (double)curve->n[i];
            reached = i + 1;
        }
        mean[i] = last;
    }
    bool all = reached > 0 && curve->last - curve->first + 1 < LOSS_COLUMNS;
    return all ? LOSS_COLUMNS : reached;
}

static int row_of(double value, double low, double high) {
    return (int)((value - low) / (high - low) * (ROWS - 1) + 0.5);
}

static void print_row(int row, double value, const int *rows, int columns, int level, FILE *file) {
    char cells[LOSS_COLUMNS + 1];
    memset(cells, row == level ? '-' : ' ', LOSS_COLUMNS);
    for (int i = 0; i < columns; i++)
        if (rows[i] == row) cells[i] = '*';
    int length = LOSS_COLUMNS;
    while (length > 0 && cells[length - 1] == ' ') length--;
    cells[length] = '\0';
    char label[16] = "";
    if (row % 3 == 0) snprintf(label, sizeof(label), value < 999.0 ? "%.2f" : "%.0e", value);
    fprintf(file, "%*s %c%s\n", LABEL_WIDTH - 2, label, row % 3 == 0 ? '+' : '|', cells);
}

static void print_axis(const LossCurve *curve, FILE *file) {
    char first[40], last[40];
    snprintf(first, sizeof(first), "step %.30s", text_count(curve->first).s);
    snprintf(last, sizeof(last), "%.30s", text_count(curve->last).s);
    int room = LOSS_COLUMNS - (int)strlen(first);
    fprintf(file, "%*s%s%*s\n", LABEL_WIDTH, "", first, room, last);
}

void loss_plot(const LossCurve *curve, double level, const char *name, FILE *file) {
    double mean[LOSS_COLUMNS], low = level, high = level;
    int rows[LOSS_COLUMNS], columns = loss_curve_means(curve, mean);
    if (columns == 0) return;
    for (int i = 0; i < columns; i++) {
        low = fmin(low, mean[i]); // fmin ignores NaN
        high = fmax(high, mean[i]);
    }
    if (high - low < 1e-9) high = low + 1e-9;
    for (int i = 0; i < columns; i++) rows[i] = isnan(mean[i]) ? -1 : row_of(mean[i], low, high);
    for (int row = ROWS - 1; row >= 0; row--)
        print_row(row, low + (high - low) * row / (ROWS - 1), rows, columns,
                  row_of(level, low, high), file);
    print_axis(curve, file);
    fprintf(file, "%*s*** training loss   --- %s, %.2f\n", LABEL_WIDTH, "", name, level);
}
