// profile_diff.c -- pairs the layers of two profiles by their paths, and compares what each has.
#include "profiler/compare/profile_diff.h"

#include <stdio.h>
#include <string.h>

#include "tensor/memory.h"

static const double confidence_together = 0.95, confidence_of_set = 0.98;
// By so much the same op takes longer at one moment than at another, in all processes of each, by
// whose cache its operands lie in (relu of 64 kB on two cores: 0.8 us).
static const double moment = 1e-6;
static const ReportPhase phases[] = {REPORT_FORWARD, REPORT_BACKWARD, REPORT_OPTIMIZER};
enum { N_PHASES = sizeof(phases) / sizeof(phases[0]) };

// ---- pairs -------------------------------------------------------------------------------------
typedef struct Pair { // either may be NULL: a layer that only one has
    const ProfileLayer *before, *after;
} Pair;

typedef struct Pairs {
    Pair *at; // owned
    int n;
} Pairs;

// A path may be there several times (a layer that is called twice): the first meets the first. The
// search begins behind the pair before, where it ends as a rule.
static Status pair_layers(const Profile *base, const Profile *now, Pairs *pairs) {
    bool *met = memory_new((size_t)base->n_layers * sizeof(bool));
    pairs->at = memory_new((size_t)(base->n_layers + now->n_layers) * sizeof(Pair));
    for (int i = 0, cursor = 0; met && pairs->at && i < now->n_layers; i++) {
        const ProfileLayer *layer = &now->layers[i], *found = NULL;
        for (int k = 0; k < base->n_layers && !found; k++) {
            int at = (cursor + k) % base->n_layers;
            if (met[at] || strcmp(base->layers[at].path, layer->path) != 0) continue;
            found = &base->layers[at];
            met[at] = true;
            cursor = at + 1;
        }
        pairs->at[pairs->n++] = (Pair){found, layer};
    }
    for (int i = 0; met && pairs->at && i < base->n_layers; i++)
        if (!met[i]) pairs->at[pairs->n++] = (Pair){&base->layers[i], NULL};
    memory_free(met);
    return error_status();
}

// ---- times -------------------------------------------------------------------------------------
typedef struct Scale { // what seconds are divided by, and what a machine's own pace allows
    double before, after;
    double shorter, longer; // ratios of pace
    double slack;           // seconds, of what was measured at different moments
} Scale;

static bool knows_pace(const Profile *profile) {
    return profile->pace.flops_per_second > 0.0 && profile->pace.bytes_per_second > 0.0;
}

static Scale scale_of(const Profile *base, const Profile *now, DiffHow how, ProfileDiff *diff) {
    bool alike = base->units == now->units || base->units == 0 || now->units == 0 ||
                 strcmp(base->unit, now->unit) != 0;
    Scale scale = {1.0, 1.0, 1.0, 1.0, how.apart ? moment : 0.0};
    diff->units = alike ? now->units : 1;
    if (!alike) {
        scale.before = (double)base->units;
        scale.after = (double)now->units;
    }
    diff->pace_flops = diff->pace_bytes = (double)NAN;
    if (!how.apart || !knows_pace(base) || !knows_pace(now)) return scale;
    diff->pace_flops = base->pace.flops_per_second / now->pace.flops_per_second;
    diff->pace_bytes = base->pace.bytes_per_second / now->pace.bytes_per_second;
    scale.shorter = fmin(1.0, fmin(diff->pace_flops, diff->pace_bytes));
    scale.longer = fmax(1.0, fmax(diff->pace_flops, diff->pace_bytes));
    double common = scale.longer == 1.0 ? fmax(diff->pace_flops, diff->pace_bytes)
                                        : fmax(fmin(diff->pace_flops, diff->pace_bytes), 1.0);
    if (how.elsewhere) scale.before /= common;
    scale.shorter /= how.elsewhere ? common : 1.0;
    scale.longer /= how.elsewhere ? common : 1.0;
    return scale;
}

static double median_of(const Latency *latency, double scale) {
    const Latency *all = latency ? latency_whole(latency) : NULL;
    return all && all->count > 0 ? all->statistics.median / scale : 0.0;
}

static bool has_runs(const Latency *latency) {
    return latency && latency->across && latency->across->count > 1;
}

static Status compare_times(const Latency *before, const Latency *after, const Scale *scale,
                            double confidence, DiffTime *time) {
    time->before = median_of(before, scale->before);
    time->after = median_of(after, scale->after);
    if (!has_runs(before) || !has_runs(after) || !(before->across->statistics.min > 0.0) ||
        !(after->across->statistics.min > 0.0))
        return STATUS_OK;
    Ratio *ratio = &time->ratio;
    Status status = ratio_find(before->across->samples, before->across->count,
                               after->across->samples, after->across->count, confidence, ratio);
    double units = scale->before / scale->after;
    double slack = scale->slack / (time->before * scale->after); // in after's units, as a ratio
    ratio->estimate *= units;
    ratio->low = fmax(ratio->low * units / scale->longer - slack, 0.0);
    ratio->high = ratio->high * units / scale->shorter + slack;
    time->judged = ratio->confidence >= fmin(confidence, confidence_of_set); // five runs are enough
    if (time->judged) time->sure = ratio->low > 1.0 ? 1 : ratio->high < 1.0 ? -1 : 0;
    return status;
}

static const Latency *latency_of(const ProfileLayer *layer, ReportPhase phase) {
    const ProfilePhase *of = layer ? &layer->phase[phase] : NULL;
    return of && of->latency.count > 0 ? &of->latency : NULL;
}

// Where those of all layers are to hold together, each is surer, by how many there are
// (Bonferroni).
static Status compare_layers(const Pairs *pairs, const Scale *scale, bool one_of_two,
                             ProfileDiff *diff) {
    diff->times = memory_new((size_t)pairs->n * N_PHASES * sizeof(DiffTime));
    if (!diff->times) return error_status();
    for (int i = 0; i < pairs->n; i++)
        for (int p = 0; p < N_PHASES; p++)
            diff->compared += latency_of(pairs->at[i].before, phases[p]) &&
                              latency_of(pairs->at[i].after, phases[p]);
    double confidence = 1.0 - (1.0 - confidence_together) / fmax(1.0, (double)diff->compared);
    if (one_of_two) confidence = confidence_of_set;
    for (int i = 0; i < pairs->n; i++) {
        const Pair *pair = &pairs->at[i];
        for (int p = 0; p < N_PHASES; p++) {
            const Latency *before = latency_of(pair->before, phases[p]);
            const Latency *after = latency_of(pair->after, phases[p]);
            DiffTime *time = &diff->times[diff->n_times];
            if (!before && !after) continue;
            *time = (DiffTime){.path = pair->after ? pair->after->path : pair->before->path,
                               .phase = phases[p]};
            if (compare_times(before, after, scale, confidence, time)) return error_status();
            diff->n_times++;
        }
    }
    return STATUS_OK;
}

// ---- counts ------------------------------------------------------------------------------------
// Of what is not there, nothing is no difference.
static void add_count(ProfileDiff *diff, DiffCount count) {
    bool something = count.before > 0 || count.after > 0 || (count.before >= 0 && count.after >= 0);
    if (something && count.before != count.after) diff->counts[diff->n_counts++] = count;
}

enum { COST_COUNTS = 7 };
static void add_cost(ProfileDiff *diff, const char *path, ReportPhase phase,
                     const ProfilePhase *before, const ProfilePhase *after) {
    static const OpCost none;
    const OpCost *a = before ? &before->cost : &none, *b = after ? &after->cost : &none;
    const struct {
        const char *name;
        uint64_t before, after;
    } all[COST_COUNTS] = {{"total_flops", op_cost_total_flops(*a), op_cost_total_flops(*b)},
                          {"macs", a->macs, b->macs},
                          {"bias_flops", a->bias_flops, b->bias_flops},
                          {"elementwise_flops", a->elementwise_flops, b->elementwise_flops},
                          {"transcendental_flops", a->transcendental_flops,
                           b->transcendental_flops},
                          {"bytes_read", a->bytes_read, b->bytes_read},
                          {"bytes_written", a->bytes_written, b->bytes_written}};
    for (int i = 0; i < COST_COUNTS; i++) {
        DiffCount count = {path, report_phase_name(phase), "", before ? (int64_t)all[i].before : -1,
                           after ? (int64_t)all[i].after : -1};
        snprintf(count.name, sizeof(count.name), "%s", all[i].name);
        add_count(diff, count);
    }
}

static void add_memory(ProfileDiff *diff, const ProfileMemory *before, const ProfileMemory *after) {
    add_count(diff, (DiffCount){"", "", "peak_bytes", before->peak.total, after->peak.total});
    for (int c = 0; c < MEM_COUNT; c++) {
        DiffCount count = {"", "", "", before->peak.category[c], after->peak.category[c]};
        snprintf(count.name, sizeof(count.name), "%s_bytes",
                 memory_category_name((MemoryCategory)c));
        add_count(diff, count);
    }
    add_count(diff, (DiffCount){"", "", "saved_bytes", before->saved_bytes, after->saved_bytes});
}

static Status compare_counts(const Profile *base, const Profile *now, const Pairs *pairs,
                             ProfileDiff *diff) {
    enum { OF_WHOLE = 3 + MEM_COUNT + COST_COUNTS * (N_PHASES + 1), OF_LAYER = 2 };
    size_t most = OF_WHOLE + (size_t)pairs->n * (OF_LAYER + COST_COUNTS * N_PHASES);
    diff->counts = memory_new(most * sizeof(DiffCount));
    if (!diff->counts) return error_status();
    const ProfilePhase *a = base->totals, *b = now->totals;
    add_cost(diff, "", REPORT_STEP, &a[REPORT_STEP], &b[REPORT_STEP]);
    add_memory(diff, &base->predicted, &now->predicted);
    add_count(diff, (DiffCount){"", "", "parameters", base->parameters, now->parameters});
    if (base->allocations > 0 && now->allocations > 0) // of one that ran, and says it
        add_count(diff,
                  (DiffCount){"", "", "step_allocations", base->allocations, now->allocations});
    for (int p = 0; p < N_PHASES; p++) add_cost(diff, "", phases[p], &a[phases[p]], &b[phases[p]]);
    for (int i = 0; i < pairs->n; i++) {
        const ProfileLayer *before = pairs->at[i].before, *after = pairs->at[i].after;
        const char *path = after ? after->path : before->path;
        for (int p = 0; p < N_PHASES; p++)
            add_cost(diff, path, phases[p], before ? &before->phase[phases[p]] : NULL,
                     after ? &after->phase[phases[p]] : NULL);
        add_count(diff, (DiffCount){path, "", "parameters", before ? before->parameters : -1,
                                    after ? after->parameters : -1});
        add_count(diff, (DiffCount){path, "", "saved_bytes", before ? before->saved_bytes : -1,
                                    after ? after->saved_bytes : -1});
    }
    return STATUS_OK;
}

// ---- the whole ---------------------------------------------------------------------------------
static int64_t runs_of(const Profile *profile) {
    const Latency *step = &profile->totals[REPORT_STEP].latency;
    return step->across ? step->across->count : step->count > 0;
}

Status profile_diff(const Profile *base, const Profile *now, DiffHow how, ProfileDiff *diff) {
    *diff = (ProfileDiff){.step = {.path = "", .phase = REPORT_STEP},
                          .runs_before = runs_of(base),
                          .runs_after = runs_of(now)};
    Pairs pairs = {0};
    Scale scale = scale_of(base, now, how, diff);
    Status status = pair_layers(base, now, &pairs);
    if (!status) status = compare_counts(base, now, &pairs, diff);
    if (!status)
        status =
            compare_times(&base->totals[REPORT_STEP].latency, &now->totals[REPORT_STEP].latency,
                          &scale, confidence_together, &diff->step);
    if (!status) status = compare_layers(&pairs, &scale, how.one_of_two, diff);
    memory_free(pairs.at);
    return status;
}

void profile_diff_free(ProfileDiff *diff) {
    memory_free(diff->times);
    memory_free(diff->counts);
    *diff = (ProfileDiff){0};
}

// ---- what is said of it ------------------------------------------------------------------------
static void confirm(DiffTime *whole, const DiffTime *first, const DiffTime *second) {
    if (whole->sure != first->sure || whole->sure != second->sure) whole->sure = 0;
}

void profile_diff_confirm(ProfileDiff *whole, const ProfileDiff *first, const ProfileDiff *second) {
    static const DiffTime nothing;
    confirm(&whole->step, &first->step, second ? &second->step : &nothing);
    for (int64_t i = 0; i < whole->n_times; i++)
        confirm(&whole->times[i], &first->times[i], second ? &second->times[i] : &nothing);
}
