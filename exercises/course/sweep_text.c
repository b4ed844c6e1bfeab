// sweep_text.c -- reads a table of three columns, line by line.
#include "exercises/course/sweep_text.h"

#include "exercises/course/table_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { COLUMNS = 3, SEALED_TEXT = (SWEEP_SIZES + 3 * SWEEP_MOST_ROWS) * 24 };
static const char header[] = "batch,seconds,samples_per_second";
static const double knee_share = 0.8, consistent = 0.01;

// Adds the next row of the table and returns NULL, or tells what is wrong with the line.
static const char *add_row(Sweep *sweep, const char *line) {
    double numbers[COLUMNS];
    int n = sweep->n_rows;
    if (!table_numbers(line, numbers, COLUMNS) || numbers[1] <= 0.0 || numbers[2] <= 0.0)
        return "three numbers above 0 are expected";
    if (n == SWEEP_MOST_ROWS) return "too many lines";
    double batch = n == 0 ? 1.0 : 2.0 * (double)sweep->rows[n - 1].batch;
    if (numbers[0] != batch) return "batches are 1, 2, 4, 8 ...";
    double samples = numbers[0] / numbers[1];
    if (!isfinite(samples) || fabs(numbers[2] - samples) > consistent * samples)
        return "samples_per_second is not batch / seconds";
    sweep->rows[sweep->n_rows++] = (SweepRow){(int64_t)numbers[0], numbers[1], numbers[2]};
    return NULL;
}

static const char *read_rows(TableText *table, Sweep *sweep) {
    bool has_header = false;
    while (table_next(table)) {
        const char *wrong = NULL;
        if (has_header)
            wrong = add_row(sweep, table->line);
        else if (strcmp(table->line, header) != 0)
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

// Writes the text to seal: the model's sizes and the rows. Returns the number of bytes.
static size_t sealed_text(const Sweep *sweep, const char *token, char text[SEALED_TEXT]) {
    int64_t sizes[SWEEP_SIZES];
    size_t used = 0;
    sweep_sizes(token, sizes);
    for (int i = 0; i < SWEEP_SIZES; i++)
        used += (size_t)snprintf(text + used, SEALED_TEXT - used, "%lld ", (long long)sizes[i]);
    for (int i = 0; i < sweep->n_rows; i++) {
        const SweepRow *row = &sweep->rows[i];
        used += (size_t)snprintf(text + used, SEALED_TEXT - used, "%lld,%.9g,%.9g\n",
                                 (long long)row->batch, row->seconds, row->samples_per_second);
    }
    return used;
}

void sweep_seal(const Sweep *sweep, const char *token, char seal[KEY_SEAL]) {
    char text[SEALED_TEXT];
    key_seal(token, text, sealed_text(sweep, token, text), seal);
}

bool sweep_is_of(const Sweep *sweep, const char *token, char problem[CASE_LINE]) {
    char text[SEALED_TEXT];
    TableSeal seal = {"sweep.csv", "sweep", sweep->seal, token};
    return table_is_of(seal, text, sealed_text(sweep, token, text), problem);
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
    TableText table = {.at = text};
    *sweep = (Sweep){.n_rows = 0};
    problem[0] = '\0';
    const char *wrong = text ? read_rows(&table, sweep) : "there is none yet";
    snprintf(sweep->seal, KEY_SEAL, "%s", table.seal);
    if (wrong)
        snprintf(problem, CASE_LINE, "sweep.csv:%d: %s; write it with ./lab sweep", table.number,
                 wrong);
    else
        find_knee(sweep);
    return !wrong;
}
