// threshold_judge.c -- judges limits, and prints the verdicts.
#include <fnmatch.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "profiler/base/table.h"
#include "profiler/base/text.h"
#include "profiler/compare/threshold_parts.h"

const char *threshold_verdict_name(ThresholdVerdict verdict) {
    static const char *const names[] = {"holds", "broken", "cannot be told", "unknown"};
    return names[verdict];
}

// ---- judging -----------------------------------------------------------------------------------
static int64_t whole(double value) { return value < 0x1p63 ? (int64_t)value : INT64_MAX; }

static Text value_text(Kind kind, double value) {
    return kind == OF_TIME    ? text_duration(value)
           : kind == OF_BYTES ? text_bytes_si(whole(value))
           : kind == OF_COUNT ? text_count(whole(value))
                              : text_rate(value, "/s");
}

static void set(Threshold *threshold, ThresholdVerdict verdict, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void set(Threshold *threshold, ThresholdVerdict verdict, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    threshold->verdict = verdict;
    vsnprintf(threshold->found, sizeof(threshold->found), format, arguments);
    va_end(arguments);
}

// The verdict on an interval for an upper limit `most`.
static ThresholdVerdict judge_interval(double low, double high, double most) {
    return low > most ? THRESHOLD_BROKEN : high > most ? THRESHOLD_UNDECIDED : THRESHOLD_HOLDS;
}

// A rate's limit is a lower one. `of`: "fc1 "
static void judge_value(Threshold *threshold, const char *of, Found found) {
    Kind kind = threshold->key->kind;
    double limit = threshold->limit;
    ThresholdVerdict verdict = kind == OF_RATE ? judge_interval(-found.high, -found.low, -limit)
                                               : judge_interval(found.low, found.high, limit);
    Text value = value_text(kind, found.value);
    if (isnan(found.value)) {
        set(threshold, THRESHOLD_UNKNOWN, "%snothing measured it, or too few samples did", of);
    } else if (found.runs == 0) {
        set(threshold, verdict, "%s", value.s);
    } else {
        set(threshold, verdict, "%s%s (%s to %s, %lld run%s)", of, value.s,
            value_text(kind, found.low).s, value_text(kind, found.high).s, (long long)found.runs,
            found.runs == 1 ? "" : "s");
        threshold->seen = fmax(found.high / found.value, found.value / found.low) - 1.0;
    }
}

// Judges the slowest of the matching layers.
static Status judge_layers(Threshold *threshold, const Profile *profile) {
    const ProfileLayer *slowest = NULL;
    Found most = {.value = (double)NAN};
    for (int i = 0; i < profile->n_layers; i++) {
        const ProfileLayer *layer = &profile->layers[i];
        Found found;
        if (fnmatch(threshold->layer, layer->path, 0) != 0) continue;
        if (threshold_find_layer(layer, &found)) return error_status();
        if (isnan(found.value) || (slowest && !(found.low > most.low))) continue;
        most = found;
        slowest = layer;
    }
    char of[160] = "";
    if (slowest) snprintf(of, sizeof(of), "%s ", text_fit_middle(slowest->path, 30).s);
    if (slowest)
        judge_value(threshold, of, most);
    else
        set(threshold, THRESHOLD_UNKNOWN, "no layer of that name was measured");
    return STATUS_OK;
}

static void set_change(Threshold *threshold, ThresholdVerdict verdict, const DiffTime *time) {
    const Ratio *ratio = &time->ratio;
    bool of_rate = threshold->key->kind == OF_RATE;
    double change = of_rate ? 1.0 / ratio->estimate : ratio->estimate;
    double low = of_rate ? 1.0 / ratio->high : ratio->low;
    double high = of_rate ? 1.0 / ratio->low : ratio->high;
    bool unseen = verdict == THRESHOLD_HOLDS && !threshold->key->find;
    set(threshold, verdict, "%s%s%s%s: %+.1f%% (%+.1f%% to %+.1f%%)%s", unseen ? "none seen; " : "",
        text_fit_middle(time->path, 30).s, time->path[0] ? " " : "",
        of_rate ? "throughput" : report_phase_name(time->phase), 100.0 * (change - 1.0),
        100.0 * (low - 1.0), 100.0 * (high - 1.0), time->judged ? "" : ", of too few runs");
    threshold->seen = time->seen;
}

// The largest allowed ratio of times, after / before.
static double most_of(const Threshold *threshold) {
    bool of_rate = threshold->key->kind == OF_RATE;
    return of_rate ? 1.0 / (1.0 + threshold->limit) : 1.0 + threshold->limit;
}

static void judge_change(Threshold *threshold, const DiffTime *time) {
    const Ratio *ratio = &time->ratio;
    if (!(ratio->estimate > 0.0))
        set(threshold, THRESHOLD_UNKNOWN, "times were not compared");
    else if (!time->judged)
        set_change(threshold, THRESHOLD_UNDECIDED, time);
    else
        set_change(threshold, judge_interval(ratio->low, ratio->high, most_of(threshold)), time);
}

// Judges the layer that changed most for the worse. A limit that allows a slowdown holds unless a
// layer is seen beyond it; no layer needs proof to be within. A limit that demands a speedup is
// judged like a step's.
static void judge_changes(Threshold *threshold, const ProfileDiff *diff) {
    const DiffTime *worst = NULL;
    double most = most_of(threshold);
    bool is_open = false;
    for (int64_t i = 0; i < diff->n_times; i++) {
        const DiffTime *time = &diff->times[i];
        if (!(time->ratio.estimate > 0.0) || fnmatch(threshold->layer, time->path, 0) != 0)
            continue;
        is_open = is_open || (time->is_open && time->ratio.estimate > most);
        bool worse = !worst || time->sure > worst->sure ||
                     (time->sure == worst->sure && time->ratio.low > worst->ratio.low);
        if (worse) worst = time;
    }
    if (!worst)
        set(threshold, THRESHOLD_UNKNOWN, "no such layer's times were compared");
    else if (most < 1.0)
        judge_change(threshold, worst);
    else if (worst->judged && worst->ratio.low > most)
        set_change(threshold, THRESHOLD_BROKEN, worst);
    else
        set_change(threshold, is_open ? THRESHOLD_UNDECIDED : THRESHOLD_HOLDS, worst);
}

static void judge_beside(Threshold *threshold, const ThresholdSides *sides) {
    const ThresholdKey *key = threshold->key;
    bool of_time = key->kind == OF_TIME || key->kind == OF_RATE;
    if (of_time && sides->untimed) {
        set(threshold, THRESHOLD_UNKNOWN, "times were not compared");
    } else if (!key->find) {
        judge_changes(threshold, sides->diff);
    } else if (of_time) {
        judge_change(threshold, &sides->diff->step);
    } else {
        double before = key->find(sides->base, key).value;
        double now = key->find(sides->now, key).value;
        set(threshold, now > before * (1.0 + threshold->limit) ? THRESHOLD_BROKEN : THRESHOLD_HOLDS,
            "%s, and was %s", text_count(whole(now)).s, text_count(whole(before)).s);
    }
}

// True if the limit names another unit: "1000samples/s" cannot judge tokens.
static bool counts_another(const Threshold *threshold, const Profile *profile) {
    return threshold->unit[0] && strcmp(threshold->unit, profile->unit) != 0;
}

Status threshold_judge(ThresholdList *list, const ThresholdSides *sides) {
    for (int i = 0; i < list->n; i++) {
        Threshold *threshold = &list->at[i];
        threshold->seen = 0.0;
        if (threshold->relative)
            judge_beside(threshold, sides);
        else if (counts_another(threshold, sides->now))
            set(threshold, THRESHOLD_UNKNOWN, "its rate is of %s", sides->now->unit);
        else if (threshold->key->find)
            judge_value(threshold, "", threshold->key->find(sides->now, threshold->key));
        else if (judge_layers(threshold, sides->now))
            return error_status();
    }
    return STATUS_OK;
}

int threshold_count(const ThresholdList *list, ThresholdVerdict verdict) {
    int n = 0;
    for (int i = 0; i < list->n; i++) n += list->at[i].verdict == verdict;
    return n;
}

// Prints the number of undecided limits, and the change that would have been detected.
static void print_undecided(const ThresholdList *list, FILE *file) {
    int undecided = threshold_count(list, THRESHOLD_UNDECIDED);
    double seen = 0.0;
    char line[200], change[60] = "";
    for (int i = 0; i < list->n; i++)
        if (list->at[i].verdict == THRESHOLD_UNDECIDED && !(list->at[i].seen <= seen))
            seen = list->at[i].seen;
    if (undecided == 0) return;
    if (seen > 0.0)
        snprintf(change, sizeof(change), "; a change of %.*f%% would have been",
                 seen < 0.0995 ? 1 : 0, 100.0 * seen);
    snprintf(line, sizeof(line),
             "%d of %d cannot be told%s. More --runs may tell; --undecided fail makes it status 1",
             undecided, list->n, change);
    text_print_wrapped(line, "  ", "  ", file);
}

void threshold_print(const ThresholdList *list, FILE *file) {
    static const char *const words[] = {"holds", "BROKEN", "CANNOT BE TOLD",
                                        "UNKNOWN"}; // bad ones in capitals
    Table table = {.title = "THRESHOLDS",
                   .headings = {"limit", "", "found"},
                   .widths = {8, 9, 45},
                   .kinds = {TABLE_NAME, TABLE_WORD, TABLE_NAME},
                   .indent = 2};
    if (threshold_count(list, THRESHOLD_UNDECIDED) > 0) {
        table.widths[1] = 15;
        table.widths[2] = 39;
    }
    for (int i = 0; i < list->n; i++) table_widen(&table, list->at[i].text, 24);
    table_begin(&table, file);
    for (int i = 0; i < list->n; i++) {
        const Threshold *threshold = &list->at[i];
        table_add(&table,
                  (TableCells){threshold->text, words[threshold->verdict], threshold->found});
    }
    print_undecided(list, file);
}
