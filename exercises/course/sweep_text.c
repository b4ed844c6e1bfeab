// sweep_text.c -- a table of three columns, line by line.
#include "exercises/course/sweep_text.h"

#include "exercises/course/exercise.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LINE = 120, COLUMNS = 3 };
static const char header[] = "batch,seconds,samples_per_second";
static const double knee_share = 0.8, consistent = 0.01;

// The next line, without what surrounds it; false: there is none. A longer one is cut, and its
// numbers then do not fit.
static bool next_line(const char **at, int *number, char line[MOST_LINE]) {
    if (**at == '\0') return false;
    size_t length = strcspn(*at, "\n");
    const char *begin = *at;
    *at += length + (begin[length] == '\n');
    ++*number;
    while (length > 0 && strchr(" \t\r", begin[length - 1])) length--;
    while (length > 0 && strchr(" \t", *begin)) begin++, length--;
    snprintf(line, MOST_LINE, "%.*s", (int)(length < MOST_LINE ? length : MOST_LINE), begin);
    return true;
}

// Decimal digits only: strtod would also take nan, inf, hexadecimals and spaces.
static bool read_numbers(const char *line, double numbers[COLUMNS]) {
    for (int i = 0; i < COLUMNS; i++) {
        char *end;
        size_t length = strspn(line, "0123456789.eE+-");
        if (length == 0) return false;
        numbers[i] = strtod(line, &end);
        if (end != line + length || !isfinite(numbers[i]) || numbers[i] <= 0.0) return false;
        if (*end != (i + 1 < COLUMNS ? ',' : '\0')) return false;
        line = end + 1;
    }
    return true;
}

// NULL: the line is the table's next; else what is wrong with it.
static const char *add_row(Sweep *sweep, const char *line) {
    double numbers[COLUMNS];
    int n = sweep->n_rows;
    if (!read_numbers(line, numbers)) return "three numbers above 0 are expected";
    if (n == SWEEP_MOST_ROWS) return "too many lines";
    double batch = n == 0 ? 1.0 : 2.0 * (double)sweep->rows[n - 1].batch;
    if (numbers[0] != batch) return "batches are 1, 2, 4, 8 ...";
    double samples = numbers[0] / numbers[1];
    if (!isfinite(samples) || fabs(numbers[2] - samples) > consistent * samples)
        return "samples_per_second is not batch / seconds";
    sweep->rows[sweep->n_rows++] = (SweepRow){(int64_t)numbers[0], numbers[1], numbers[2]};
    return NULL;
}

static const char *read_rows(const char *text, Sweep *sweep, int *number) {
    char line[MOST_LINE];
    bool has_header = false;
    while (next_line(&text, number, line)) {
        if (sscanf(line, SWEEP_SEAL_LINE "%16s", sweep->seal) == 1) continue;
        if (line[0] == '\0' || line[0] == '#') continue;
        const char *wrong = NULL;
        if (has_header)
            wrong = add_row(sweep, line);
        else if (strcmp(line, header) != 0)
            wrong = "the header is batch,seconds,samples_per_second";
        has_header = true;
        if (wrong) return wrong;
    }
    return sweep->n_rows < SWEEP_LEAST_ROWS ? "fewer than 8 batches" : NULL;
}

// ---- whose it is -------------------------------------------------------------------------------
void sweep_sizes(const char *token, int64_t sizes[SWEEP_SIZES]) {
    DrawKey key = {.secret = token, .student = ""};
    Draw draw = draw_begin(key, "11", "sweep", 0);
    const int64_t own[SWEEP_SIZES] = {784, 64 * draw_between(&draw, 5, 12),
                                      64 * draw_between(&draw, 2, 6), 10};
    const int64_t practice[SWEEP_SIZES] = {784, 512, 256, 10};
    memcpy(sizes, token[0] ? own : practice, sizeof own);
}

void sweep_seal(const Sweep *sweep, const char *token, char seal[KEY_SEAL]) {
    char text[(SWEEP_SIZES + 3 * SWEEP_MOST_ROWS) * 24];
    int64_t sizes[SWEEP_SIZES];
    size_t used = 0;
    sweep_sizes(token, sizes);
    for (int i = 0; i < SWEEP_SIZES; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%lld ", (long long)sizes[i]);
    for (int i = 0; i < sweep->n_rows; i++) {
        const SweepRow *row = &sweep->rows[i];
        used += (size_t)snprintf(text + used, sizeof text - used, "%lld,%.9g,%.9g\n",
                                 (long long)row->batch, row->seconds, row->samples_per_second);
    }
    key_seal(token, text, used, seal);
}

bool sweep_is_of(const Sweep *sweep, const char *token, char problem[CASE_LINE]) {
    char wanted[KEY_SEAL];
    if (!sweep->seal[0] || !token[0]) return true;
    sweep_seal(sweep, token, wanted);
    if (strcmp(wanted, sweep->seal) == 0) return true;
    snprintf(problem, CASE_LINE,
             "sweep.csv: measured with another key, or changed since; write it with ./lab sweep");
    return false;
}

// ---- reading -----------------------------------------------------------------------------------
static void find_knee(Sweep *sweep) {
    for (int i = 0; i < sweep->n_rows; i++)
        if (sweep->rows[i].samples_per_second > sweep->rows[sweep->best].samples_per_second)
            sweep->best = i;
    double enough = knee_share * sweep->rows[sweep->best].samples_per_second;
    while (sweep->rows[sweep->knee].samples_per_second < enough) sweep->knee++;
}

bool sweep_read(const char *text, Sweep *sweep, char problem[CASE_LINE]) {
    int number = 0;
    *sweep = (Sweep){.n_rows = 0};
    problem[0] = '\0';
    const char *wrong = text ? read_rows(text, sweep, &number) : "there is none yet";
    if (wrong)
        snprintf(problem, CASE_LINE, "sweep.csv:%d: %s; write it with ./lab sweep", number, wrong);
    else
        find_knee(sweep);
    return !wrong;
}
