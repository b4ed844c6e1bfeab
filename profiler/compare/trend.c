// trend.c -- finds the changes in a series, and draws it in one line.
#include "profiler/compare/trend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/base/text.h"
#include "tensor/memory.h"

static const double worth = 0.02, confidence = 0.99;

// ---- changes -----------------------------------------------------------------------------------
typedef struct Side { // up to five successive entries
    double *runs;     // all runs of these entries
    int64_t n;
    double least, most; // range of the entries' medians; without both extremes for four or more
    double first, last; // medians of the first and the last entry
} Side;

static int by_value(const void *left, const void *right) {
    const double *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

// The value to compare of the entry's run r.
static double value_of(const HistoryEntry *entry, int r, bool divided) {
    return divided ? entry->runs[r] / entry->beats[r] : entry->runs[r];
}

static double median_of(const HistoryEntry *entry, bool divided) {
    double runs[RATIO_MOST];
    for (int r = 0; r < entry->n_runs; r++) runs[r] = value_of(entry, r, divided);
    qsort(runs, (size_t)entry->n_runs, sizeof(double), by_value);
    return 0.5 * (runs[(entry->n_runs - 1) / 2] + runs[entry->n_runs / 2]);
}

// True if all these entries have a metronome of the same version.
static bool can_divide(const History *history, const int *which, int from, int to) {
    int version = history->entries[which[from]].metronome;
    bool can = version > 0;
    for (int i = from; i < to; i++) can = can && history->entries[which[i]].metronome == version;
    return can;
}

static void take_entry(const HistoryEntry *entry, bool divided, Side *side) {
    for (int r = 0; r < entry->n_runs && side->n < RATIO_MOST; r++)
        side->runs[side->n++] = value_of(entry, r, divided);
}

// With four or more entries, leaves out both extremes, so that a single outlier decides nothing.
static void gather(const History *history, const int *which, int from, int to, bool divided,
                   Side *side) {
    double medians[TREND_WINDOW] = {0}, sorted[TREND_WINDOW];
    int n = to - from, astray = n >= 4;
    for (int i = 0; i < n; i++) medians[i] = median_of(&history->entries[which[from + i]], divided);
    memcpy(sorted, medians, sizeof(sorted));
    qsort(sorted, (size_t)n, sizeof(double), by_value);
    side->least = sorted[astray];
    side->most = sorted[n - 1 - astray];
    side->first = medians[0];
    side->last = medians[n - 1];
    side->n = 0;
    for (int i = 0; i < n; i++)
        if (medians[i] >= side->least && medians[i] <= side->most)
            take_entry(&history->entries[which[from + i]], divided, side);
}

// True if the entries before `at` and from `at` on differ; fills *change.
static bool differ(const History *history, const int *which, int from, int at, int to, Side *sides,
                   TrendChange *change) {
    int first = at - TREND_WINDOW > from ? at - TREND_WINDOW : from;
    int last = at + TREND_WINDOW < to ? at + TREND_WINDOW : to;
    Side *before = &sides[0], *after = &sides[1];
    Ratio *ratio = &change->ratio;
    bool divided = can_divide(history, which, first, last);
    gather(history, which, first, at, divided, before);
    gather(history, which, at, last, divided, after);
    *change = (TrendChange){.entry = at, .divided = divided};
    bool slower = before->most < after->least, faster = after->most < before->least;
    double between =
        slower ? 0.5 * (before->most + after->least) : 0.5 * (after->most + before->least);
    bool here = slower ? before->last < between && between < after->first
                       : after->first < between && between < before->last;
    if (!(slower || faster) || !here) return false;
    if (ratio_find(before->runs, before->n, after->runs, after->n, confidence, ratio)) return false;
    return ratio->reached && (ratio->low > 1.0 + worth || ratio->high < 1.0 - worth);
}

typedef struct Search {
    const History *history;
    const int *which;
    Side sides[2];
    TrendChange *changes; // their `entry` indexes `which` until all are found
    int n;
} Search;

static void search(Search *all, int from, int to) {
    TrendChange best = {.entry = -1, .ratio.estimate = 1.0}, change;
    for (int at = from + 1; at < to && !error_pending(); at++) {
        if (!differ(all->history, all->which, from, at, to, all->sides, &change)) continue;
        double size = fabs(log(change.ratio.estimate)), most = fabs(log(best.ratio.estimate));
        if (best.entry < 0 || size > most) best = change;
    }
    if (best.entry < 0 || all->n == TREND_MOST || error_pending()) return;
    all->changes[all->n++] = best;
    search(all, best.entry, to); // newest first, as they matter most
    search(all, from, best.entry);
}

static int by_entry(const void *left, const void *right) {
    const TrendChange *a = left, *b = right;
    return (a->entry > b->entry) - (a->entry < b->entry);
}

// Measures each change again, by the entries between its neighbouring changes only.
static void measure_again(Search *all, int n) {
    for (int i = 0; i < all->n; i++) {
        TrendChange *change = &all->changes[i], again;
        int from = i > 0 ? all->changes[i - 1].entry : 0;
        int to = i + 1 < all->n ? all->changes[i + 1].entry : n;
        if (differ(all->history, all->which, from, change->entry, to, all->sides, &again))
            *change = again;
    }
    for (int i = 0; i < all->n; i++) all->changes[i].entry = all->which[all->changes[i].entry];
}

int trend_changes(const History *history, const int *which, int n,
                  TrendChange changes[TREND_MOST]) {
    Search all = {.history = history, .which = which, .changes = changes};
    for (int i = 0; i < 2; i++) all.sides[i].runs = memory_new(RATIO_MOST * sizeof(double));
    if (!error_pending()) search(&all, 0, n);
    qsort(changes, (size_t)all.n, sizeof(TrendChange), by_entry);
    if (!error_pending()) measure_again(&all, n);
    for (int i = 0; i < 2; i++) memory_free(all.sides[i].runs);
    return error_pending() ? -1 : all.n;
}

// ---- the line ----------------------------------------------------------------------------------
enum { SPARKS = 32, MOST_TOLD = 12 };

// Draws the last values, scaled from their least to their most.
static void draw(const double *values, int n, char line[SPARKS + 1]) {
    static const char levels[] = "_.-=+*#";
    enum { LEVELS = sizeof(levels) - 1 };
    int first = n > SPARKS ? n - SPARKS : 0;
    double least = HUGE_VAL, most = -HUGE_VAL;
    for (int i = first; i < n; i++) {
        least = fmin(least, values[i]);
        most = fmax(most, values[i]);
    }
    for (int i = first; i < n; i++) {
        double share = most > least ? (values[i] - least) / (most - least) : 0.0;
        line[i - first] = levels[(int)(share * (LEVELS - 1) + 0.5)];
    }
    line[n - first] = '\0';
}

// "1.19 ms" if all values equal the last
static void print_line(const char *name, const double *values, int n, Text (*text)(double value),
                       FILE *file) {
    char line[SPARKS + 1];
    double least = HUGE_VAL, most = -HUGE_VAL;
    for (int i = 0; i < n; i++) {
        least = fmin(least, values[i]);
        most = fmax(most, values[i]);
    }
    draw(values, n, line);
    fprintf(file, "    %-10s %s  %s", name, line, text(values[n - 1]).s);
    if (most > least) fprintf(file, " (%s-%s)", text(least).s, text(most).s);
    fputc('\n', file);
}

static int64_t whole(double value) { return value < 0x1p63 ? (int64_t)value : INT64_MAX; }
static Text count_text(double value) { return text_short_count(whole(value)); }
static Text bytes_text(double value) { return text_bytes_si(whole(value)); }

// ---- one work ----------------------------------------------------------------------------------
typedef struct Series {
    const History *history;
    int *which, *timed; // owned; indices of its entries, and of those that ran
    double *values;     // owned; one value per entry, in order
    int n;
} Series;

static void say_change(const Series *series, int entry, const char *what, FILE *file) {
    char text[400];
    snprintf(text, sizeof(text), "changed at entry %d, %s: %.300s", entry + 1,
             series->history->entries[entry].created, what);
    text_print_wrapped(text, "    ", "      ", file);
}

static Status print_times(Series *series, FILE *file) {
    TrendChange changes[TREND_MOST];
    char what[200];
    int n = 0;
    for (int i = 0; i < series->n; i++) {
        const HistoryEntry *entry = &series->history->entries[series->which[i]];
        if (entry->n_runs == 0) continue;
        series->values[n] = median_of(entry, false);
        series->timed[n++] = series->which[i];
    }
    if (n == 0) return STATUS_OK;
    print_line("step", series->values, n, text_duration, file);
    int found = trend_changes(series->history, series->timed, n, changes);
    if (found > MOST_TOLD) fprintf(file, "    of its changes the last %d:\n", MOST_TOLD);
    for (int i = found > MOST_TOLD ? found - MOST_TOLD : 0; i < found; i++) {
        const Ratio *ratio = &changes[i].ratio;
        bool slower = ratio->estimate > 1.0;
        double near = slower ? ratio->low : ratio->high, far = slower ? ratio->high : ratio->low;
        snprintf(what, sizeof(what), "%.1f%% %s (%.1f to %.1f)%s",
                 100.0 * fabs(ratio->estimate - 1.0), slower ? "slower" : "faster",
                 100.0 * fabs(near - 1.0), 100.0 * fabs(far - 1.0),
                 changes[i].divided ? "" : ", as measured");
        say_change(series, changes[i].entry, what, file);
    }
    return found < 0 ? error_status() : STATUS_OK;
}

static int64_t count_of(const HistoryEntry *entry, int count) {
    const int64_t counts[] = {entry->peak_bytes, entry->total_flops, entry->parameters};
    return counts[count];
}

static void print_counts(const Series *series, FILE *file) {
    static const struct {
        const char *name;
        Text (*text)(double value);
    } counts[] = {{"peak", bytes_text}, {"FLOPs", count_text}, {"parameters", count_text}};
    for (int c = 0; c < 3; c++) {
        char what[300];
        for (int i = 0; i < series->n; i++)
            series->values[i] = (double)count_of(&series->history->entries[series->which[i]], c);
        print_line(counts[c].name, series->values, series->n, counts[c].text, file);
        int told = 0;
        for (int i = series->n - 1; i > 0 && told < MOST_TOLD; i--) { // newest first
            int64_t was = count_of(&series->history->entries[series->which[i - 1]], c);
            int64_t is = count_of(&series->history->entries[series->which[i]], c);
            if (was == is) continue;
            snprintf(what, sizeof(what), "%s, and was %s", text_count(is).s, text_count(was).s);
            say_change(series, series->which[i], what, file);
            told++;
        }
    }
}

// Selects the entries of the same work as entry `first`.
static void select_alike(Series *series, int first) {
    const HistoryEntry *entries = series->history->entries;
    series->n = 0;
    for (int i = first; i < series->history->n; i++)
        if (strcmp(entries[i].work, entries[first].work) == 0) series->which[series->n++] = i;
}

static bool is_first(const History *history, int entry) {
    for (int i = 0; i < entry; i++)
        if (strcmp(history->entries[i].work, history->entries[entry].work) == 0) return false;
    return true;
}

Status trend_print(const History *history, FILE *file) {
    Series series = {.history = history,
                     .which = memory_new((size_t)history->n * sizeof(int)),
                     .timed = memory_new((size_t)history->n * sizeof(int)),
                     .values = memory_new((size_t)history->n * sizeof(double))};
    Status status = error_status();
    fprintf(file, "TREND  %d entr%s, the last on the right: from _ the least to # the most\n",
            history->n, history->n == 1 ? "y" : "ies");
    for (int i = 0; i < history->n && !status; i++) {
        if (!is_first(history, i)) continue;
        fputc('\n', file);
        text_print_wrapped(history->entries[i].work, "  ", "    ", file);
        select_alike(&series, i);
        status = print_times(&series, file);
        print_counts(&series, file);
    }
    memory_free(series.which);
    memory_free(series.timed);
    memory_free(series.values);
    return status;
}
