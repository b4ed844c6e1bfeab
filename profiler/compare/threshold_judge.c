// threshold_judge.c -- whether limits hold, and how that is told.
#include <fnmatch.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "profiler/compare/threshold_parts.h"
#include "profiler/report/table.h"
#include "profiler/report/text.h"

const char *threshold_verdict_name(ThresholdVerdict verdict) {
    static const char *const names[] = {"holds", "broken", "unknown"};
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

// Broken where all of the interval is beyond; a rate is to be at least so much. `of`: "fc1 "
static void judge_value(Threshold *threshold, const char *of, Found found) {
    Kind kind = threshold->key->kind;
    double limit = threshold->limit;
    bool least = kind == OF_RATE;
    bool beyond = least ? found.high < limit : found.low > limit;
    bool seems = least ? found.value < limit : found.value > limit;
    Text value = value_text(kind, found.value);
    if (isnan(found.value))
        set(threshold, THRESHOLD_UNKNOWN, "%snothing measured it, or too few samples did", of);
    else if (found.runs == 0)
        set(threshold, beyond ? THRESHOLD_BROKEN : THRESHOLD_HOLDS, "%s", value.s);
    else
        set(threshold, beyond ? THRESHOLD_BROKEN : THRESHOLD_HOLDS, "%s%s (%s to %s, %lld run%s)%s",
            of, value.s, value_text(kind, found.low).s, value_text(kind, found.high).s,
            (long long)found.runs, found.runs == 1 ? "" : "s",
            seems && !beyond ? ", not for sure" : "");
}

// The slowest of those that match stands for all.
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
    if (slowest) snprintf(of, sizeof(of), "%s ", text_fit_end(slowest->path, 30).s);
    if (slowest)
        judge_value(threshold, of, most);
    else
        set(threshold, THRESHOLD_UNKNOWN, "no layer of that name was measured");
    return STATUS_OK;
}

// A limit below the base's asks for a change, which is there or not; any other for none, which a
// second set of runs has to deny.
static bool is_beyond(const DiffTime *time, double most) {
    return time->ratio.low > most && (most < 1.0 || time->sure > 0);
}

static void judge_change(Threshold *threshold, const DiffTime *time, bool of_rate) {
    const Ratio *ratio = &time->ratio;
    double most = of_rate ? 1.0 / (1.0 + threshold->limit) : 1.0 + threshold->limit;
    double change = of_rate ? 1.0 / ratio->estimate : ratio->estimate;
    double low = of_rate ? 1.0 / ratio->high : ratio->low;
    double high = of_rate ? 1.0 / ratio->low : ratio->high;
    if (!(ratio->estimate > 0.0))
        set(threshold, THRESHOLD_UNKNOWN, "times were not compared");
    else if (!time->judged)
        set(threshold, THRESHOLD_UNKNOWN, "of so few runs nothing is sure; --runs 5");
    else
        set(threshold, is_beyond(time, most) ? THRESHOLD_BROKEN : THRESHOLD_HOLDS,
            "%s%s%s: %+.1f%% (%+.1f%% to %+.1f%%)", text_fit_end(time->path, 30).s,
            time->path[0] ? " " : "", of_rate ? "throughput" : report_phase_name(time->phase),
            100.0 * (change - 1.0), 100.0 * (low - 1.0), 100.0 * (high - 1.0));
}

// The one that has changed most for the worse stands for all.
static void judge_changes(Threshold *threshold, const ProfileDiff *diff) {
    const DiffTime *worst = NULL;
    for (int64_t i = 0; i < diff->n_times; i++) {
        const DiffTime *time = &diff->times[i];
        if (!(time->ratio.estimate > 0.0) || fnmatch(threshold->layer, time->path, 0) != 0)
            continue;
        bool worse = !worst || time->sure > worst->sure ||
                     (time->sure == worst->sure && time->ratio.low > worst->ratio.low);
        if (worse) worst = time;
    }
    if (worst)
        judge_change(threshold, worst, false);
    else
        set(threshold, THRESHOLD_UNKNOWN, "no such layer's times were compared");
}

static void judge_beside(Threshold *threshold, const ThresholdSides *sides) {
    const ThresholdKey *key = threshold->key;
    bool of_time = key->kind == OF_TIME || key->kind == OF_RATE;
    if (of_time && sides->untimed) {
        set(threshold, THRESHOLD_UNKNOWN, "times were not compared");
    } else if (!key->find) {
        judge_changes(threshold, sides->diff);
    } else if (of_time) {
        judge_change(threshold, &sides->diff->step, key->kind == OF_RATE);
    } else {
        double before = key->find(sides->base, key->of).value;
        double now = key->find(sides->now, key->of).value;
        set(threshold, now > before * (1.0 + threshold->limit) ? THRESHOLD_BROKEN : THRESHOLD_HOLDS,
            "%s, and was %s", text_count(whole(now)).s, text_count(whole(before)).s);
    }
}

// "1000samples/s" says nothing of tokens.
static bool counts_another(const Threshold *threshold, const Profile *profile) {
    return threshold->unit[0] && strcmp(threshold->unit, profile->unit) != 0;
}

Status threshold_judge(ThresholdList *list, const ThresholdSides *sides, bool *hold) {
    *hold = true;
    for (int i = 0; i < list->n; i++) {
        Threshold *threshold = &list->at[i];
        if (threshold->relative)
            judge_beside(threshold, sides);
        else if (counts_another(threshold, sides->now))
            set(threshold, THRESHOLD_UNKNOWN, "its rate is of %s", sides->now->unit);
        else if (threshold->key->find)
            judge_value(threshold, "", threshold->key->find(sides->now, threshold->key->of));
        else if (judge_layers(threshold, sides->now))
            return error_status();
        *hold = *hold && threshold->verdict == THRESHOLD_HOLDS;
    }
    return STATUS_OK;
}

void threshold_print(const ThresholdList *list, FILE *file) {
    static const char *const words[] = {"holds", "BROKEN", "UNKNOWN"}; // what is to be seen
    Table table = {.title = "THRESHOLDS",
                   .headings = {"limit", "", "found"},
                   .widths = {8, 9, 45},
                   .kinds = {TABLE_NAME, TABLE_WORD, TABLE_NAME},
                   .indent = 2};
    for (int i = 0; i < list->n; i++) table_widen(&table, list->at[i].text, 24);
    table_begin(&table, file);
    for (int i = 0; i < list->n; i++) {
        const Threshold *threshold = &list->at[i];
        table_add(&table,
                  (TableCells){threshold->text, words[threshold->verdict], threshold->found});
    }
}
