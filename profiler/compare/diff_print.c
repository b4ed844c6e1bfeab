// diff_print.c -- prints a comparison. Percentages are of time: 50% faster takes half the time.
#include "profiler/compare/profile_diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/base/table.h"
#include "profiler/base/text.h"

enum { MOST_ROWS = 12, PATH_WIDTH = 18, VERDICT = 240 };

// ---- words -------------------------------------------------------------------------------------
// 0.023 as "2.3"; no decimals from 10 % on.
static Text percent(double fraction) {
    Text text;
    double value = 100.0 * fabs(fraction);
    snprintf(text.s, sizeof(text.s), value < 9.95 ? "%.1f" : "%.0f", value);
    return text;
}

// "+2.3%", "+23%", or if `fine` "+23.4%"; "x3.10" from a factor of 2 on
static Text change_of(double ratio, bool fine) {
    Text text;
    double value = 100.0 * (ratio - 1.0);
    if (ratio < 1.995)
        snprintf(text.s, sizeof(text.s), fine || fabs(value) < 9.95 ? "%+.1f%%" : "%+.0f%%", value);
    else
        snprintf(text.s, sizeof(text.s), ratio < 99.5 ? "x%.2f" : "x%.1e", ratio);
    return text;
}

static Text interval_of(const Ratio *ratio) {
    Text text;
    bool fine = ratio->high - ratio->low < 0.02;
    snprintf(text.s, sizeof(text.s), "%.20s to %.20s", change_of(ratio->low, fine).s,
             change_of(ratio->high, fine).s);
    return text;
}

// "base.json", "with --fuse"
static Text base_of(const DiffStory *story) {
    Text text;
    snprintf(text.s, sizeof(text.s), "%s%s", story->with, text_fit(story->base, 44).s);
    return text;
}

// "2.1% faster (1.4 to 2.8) than base.json", "3.10 times as slow (3.00 to 3.21) as base.json"
static void say_verdict(const DiffTime *time, const DiffStory *story, char *text, size_t size) {
    const Ratio *ratio = &time->ratio;
    bool faster = time->sure < 0;
    double near = faster ? ratio->high : ratio->low, far = faster ? ratio->low : ratio->high;
    if (ratio->estimate >= 2.0)
        snprintf(text, size, "%.2f times as slow (%.2f to %.2f) as %s", ratio->estimate, ratio->low,
                 ratio->high, base_of(story).s);
    else
        snprintf(text, size, "%.8s%% %s (%.8s to %.8s) than %s", percent(ratio->estimate - 1.0).s,
                 faster ? "faster" : "slower", percent(near - 1.0).s, percent(far - 1.0).s,
                 base_of(story).s);
}

static double seconds_of(const DiffTime *time) { return fabs(time->after - time->before); }

// ---- the sentence ------------------------------------------------------------------------------
// The layer that surely changed most in that direction; NULL: none. The times must be sorted.
static const DiffTime *most_changed(const ProfileDiff *diff, int sign) {
    for (int64_t i = 0; i < diff->n_times; i++)
        if (diff->times[i].sure == sign) return &diff->times[i];
    return NULL;
}

// "fc1 forward"; the optimizer's ops belong to no layer
static Text place_of(const DiffTime *layer) {
    Text text;
    if (layer->phase == REPORT_OPTIMIZER && strcmp(layer->path, "(model)") == 0)
        snprintf(text.s, sizeof(text.s), "the optimizer");
    else
        snprintf(text.s, sizeof(text.s), "%.60s %.20s", text_fit_middle(layer->path, 40).s,
                 report_phase_name(layer->phase));
    return text;
}

// The step has no certain change: names a layer that has one, preferring slower layers.
static void say_unsure(const ProfileDiff *diff, const DiffStory *story, char *text, size_t size) {
    const DiffTime *layer = most_changed(diff, 1);
    if (!layer) layer = most_changed(diff, -1);
    Text interval = interval_of(&diff->step.ratio);
    char verdict[VERDICT];
    if (layer) {
        say_verdict(layer, story, verdict, sizeof(verdict));
        snprintf(text, size, "%s is %s; the step cannot be told from noise: %s", place_of(layer).s,
                 verdict, interval.s);
    } else if (!diff->step.judged && diff->step.ratio.estimate > 0.0) {
        snprintf(text, size, "so few runs cannot tell it from %s: %s", base_of(story).s,
                 interval.s);
    } else {
        snprintf(text, size, "neither faster nor slower than %s, as far as can be told: %s",
                 base_of(story).s, interval.s);
    }
}

static void say_sure(const ProfileDiff *diff, const DiffStory *story, char *text, size_t size) {
    const DiffTime *step = &diff->step, *layer = most_changed(diff, step->sure);
    bool most = layer && seconds_of(layer) < 0.5 * seconds_of(step);
    char verdict[VERDICT];
    say_verdict(step, story, verdict, sizeof(verdict));
    snprintf(text, size, "%s%s%s", verdict,
             !layer ? ""
             : most ? ", most in "
                    : ", in ",
             layer ? place_of(layer).s : "");
}

// ---- tables ------------------------------------------------------------------------------------
static bool is_told(const DiffTime *time) {
    return time->sure != 0 || time->before == 0.0 || time->after == 0.0;
}

static int by_seconds(const void *left, const void *right) {
    const DiffTime *a = left, *b = right;
    double first = seconds_of(a), second = seconds_of(b);
    if ((a->sure != 0) != (b->sure != 0)) return a->sure ? -1 : 1;
    if (is_told(a) != is_told(b)) return is_told(a) ? -1 : 1;
    return (first < second) - (first > second);
}

static void add_time(const Table *table, const DiffTime *time, const char *name) {
    bool both = time->before > 0.0 && time->after > 0.0;
    bool known = both && time->ratio.estimate > 0.0;
    const char *only = time->before > 0.0 ? "gone" : "new";
    table_add(table, (TableCells){name, report_phase_name(time->phase),
                                  time->before > 0.0 ? text_duration(time->before).s : "-",
                                  time->after > 0.0 ? text_duration(time->after).s : "-",
                                  known  ? change_of(time->ratio.estimate, false).s
                                  : both ? change_of(time->after / time->before, false).s
                                         : only,
                                  known ? interval_of(&time->ratio).s : ""});
}

static void print_times(const ProfileDiff *diff, const DiffStory *story, FILE *file) {
    int64_t told = 0, rows = 0;
    while (told < diff->n_times && is_told(&diff->times[told])) told++;
    Table table = {.headings = {"layer", "phase", "base", "now", "change", "95% CI"},
                   .widths = {8, 10, 10, 10, 9, 21},
                   .kinds = {TABLE_PATH, TABLE_WORD},
                   .indent = 2};
    snprintf(table.title, sizeof(table.title), "\nTIME  of a step%s%s",
             diff->units == 1 ? ", for each of its " : "", diff->units == 1 ? story->unit : "");
    for (; rows < told && rows < MOST_ROWS; rows++)
        table_widen(&table, diff->times[rows].path, PATH_WIDTH);
    table_begin(&table, file);
    add_time(&table, &diff->step, "(all)");
    for (int64_t i = 0; i < rows; i++) add_time(&table, &diff->times[i], diff->times[i].path);
    char note[100];
    snprintf(note, sizeof(note), "%lld more: --json FILE", (long long)(told - rows));
    if (rows < told) table_note(&table, 2, note);
    snprintf(note, sizeof(note), "of %lld others no change can be told from noise",
             (long long)(diff->n_times - told));
    if (told < diff->n_times) table_note(&table, 2, note);
}

// The exact count if it fits.
static Text count_text(int64_t count) {
    const int64_t most = 999999999;
    return count < 0 ? (Text){"-"} : count > most ? text_short_count(count) : text_count(count);
}

// The change in percent, or the difference itself if the percentage would be 0.
static Text count_change(const DiffCount *count) {
    const double least = 0.0005;
    double ratio = (double)count->after / (double)count->before;
    if (count->before < 0 || count->after < 0)
        return count->after < 0 ? (Text){"gone"} : (Text){"new"};
    if (count->before > 0 && fabs(ratio - 1.0) >= least) return change_of(ratio, false);
    Text text;
    int64_t more = count->after - count->before;
    Text size = text_short_count(more > 0 ? more : -more);
    snprintf(text.s, sizeof(text.s), "%s%.30s", more > 0 ? "+" : "-", size.s);
    return text;
}

static void print_counts(const ProfileDiff *diff, FILE *file) {
    Table table = {.title = "\nCOUNTS  that differ",
                   .headings = {"layer", "phase", "what", "base", "now", "change"},
                   .widths = {12, 10, 21, 13, 13, 8},
                   .kinds = {TABLE_PATH, TABLE_WORD, TABLE_WORD},
                   .indent = 2};
    int64_t rows = diff->n_counts < MOST_ROWS ? diff->n_counts : MOST_ROWS;
    if (diff->n_counts == 0) {
        fprintf(file, "\nCOUNTS  FLOPs, bytes, parameters, memory, allocations: all as before\n");
        return;
    }
    table_begin(&table, file);
    for (int64_t i = 0; i < rows; i++) {
        const DiffCount *count = &diff->counts[i];
        table_add(&table, (TableCells){count->path[0] ? count->path : "(all)", count->phase,
                                       count->name, count_text(count->before).s,
                                       count_text(count->after).s, count_change(count).s});
    }
    char note[64];
    snprintf(note, sizeof(note), "%lld more: --json FILE", (long long)(diff->n_counts - rows));
    if (rows < diff->n_counts) table_note(&table, 2, note);
}

// The longest phase of a layer that could be judged; NULL: none.
static const DiffTime *longest_judged(const ProfileDiff *diff) {
    const DiffTime *longest = NULL;
    for (int64_t i = 0; i < diff->n_times; i++)
        if (diff->times[i].seen > 0.0 && (!longest || diff->times[i].after > longest->after))
            longest = &diff->times[i];
    return longest;
}

// "; a change of 2.1% of the step, or of 4.0% of fc1 forward, would have been seen"
static void say_seen(const ProfileDiff *diff, char *text, size_t size) {
    const DiffTime *layer = longest_judged(diff);
    text[0] = '\0';
    if (!(diff->step.seen > 0.0)) return;
    int used = snprintf(text, size, "; a change of %.8s%% of the step", percent(diff->step.seen).s);
    if (layer && used > 0 && (size_t)used < size)
        used += snprintf(text + used, size - (size_t)used, ", or of %.8s%% of %.70s,",
                         percent(layer->seen).s, place_of(layer).s);
    if (used > 0 && (size_t)used < size)
        snprintf(text + used, size - (size_t)used, " would have been seen");
}

// A machine's pace: "4.0% slower".
static Text pace_text(double ratio) {
    Text text;
    snprintf(text.s, sizeof(text.s), "%.8s%% %s", percent(ratio - 1.0).s,
             ratio > 1.0 ? "slower" : "faster");
    return text;
}

// Prints the metronomes' difference, or the reason for not dividing times.
static void print_metronome(const ProfileDiff *diff, FILE *file) {
    const double worth = 0.02;
    char line[300];
    if (diff->undivided[0])
        snprintf(line, sizeof(line),
                 "Times are as measured, and not divided by what the machine gave: %s",
                 diff->undivided);
    else if (fabs(diff->product - 1.0) > worth || fabs(diff->read - 1.0) > worth)
        snprintf(
            line, sizeof(line),
            "A loop that never changes computes %.30s now than beside the base, and reads %.30s; "
            "times are divided by it",
            pace_text(diff->product).s, pace_text(diff->read).s);
    else
        return;
    text_print_wrapped(line, "  ", "  ", file);
}

// Prints the numbers of runs, the certainty, and other differences between the two sides.
static void print_rest(const ProfileDiff *diff, const DiffStory *story, FILE *file) {
    char line[600], seen[200];
    if (story->untimed) return;
    say_seen(diff, seen, sizeof(seen));
    snprintf(line, sizeof(line), "%lld runs, the base %lld%s%s", (long long)diff->runs_after,
             (long long)diff->runs_before,
             diff->step.ratio.reached ? "; 95% sure, of all layers together"
                                      : ": so few are never 95% sure; --runs 5",
             seen);
    fputc('\n', file);
    text_print_wrapped(line, "  ", "  ", file);
    print_metronome(diff, file);
}

// ---- all together ------------------------------------------------------------------------------
void diff_sentence(ProfileDiff *diff, const DiffStory *story, char text[DIFF_SENTENCE]) {
    qsort(diff->times, (size_t)diff->n_times, sizeof(DiffTime), by_seconds);
    if (story->untimed)
        snprintf(text, DIFF_SENTENCE, "%s %s; times are not compared",
                 diff->n_counts > 0 ? "other counts than" : "the same counts as", base_of(story).s);
    else if (diff->step.sure == 0)
        say_unsure(diff, story, text, DIFF_SENTENCE);
    else
        say_sure(diff, story, text, DIFF_SENTENCE);
}

void diff_print(ProfileDiff *diff, const DiffStory *story, FILE *file) {
    char text[DIFF_SENTENCE];
    diff_sentence(diff, story, text);
    text_print_wrapped(text, "", "  ", file);
    if (story->untimed) text_print_wrapped(story->untimed, "  ", "  ", file);
    if (!story->untimed) print_times(diff, story, file);
    print_counts(diff, file);
    print_rest(diff, story, file);
    if (story->build[0]) text_print_wrapped(story->build, "  ", "  ", file);
}
