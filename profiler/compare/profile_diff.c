// profile_diff.c -- pairs the layers of two profiles by their paths, and compares what each has.
#include "profiler/compare/profile_diff.h"

#include <stdio.h>
#include <string.h>

#include "tensor/memory.h"

static const double doubt = 0.05; // of a step, and of all layers together, over all looks
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
typedef struct Comparison { // of all times alike
    const Profile *base, *now;
    double units_before, units_after; // that a step's times are divided by
    bool apart, divided;
    double reference[2];    // now's median beat, of what waits for memory and of what computes
    double *before, *after; // owned; (RATIO_MOST) values that are compared
} Comparison;

static int64_t runs_of(const Profile *profile) {
    const Latency *step = &profile->totals[REPORT_STEP].latency;
    return step->across ? step->across->count : step->count > 0;
}

static void say_undivided(const Profile *base, const Profile *now, char *text, size_t size) {
    const ProfileMetronome *a = &base->metronome, *b = &now->metronome;
    const char *whose = b->version == 0 ? "what is measured now" : "the base";
    bool whole = !isnan(profile_beat(base, runs_of(base) - 1, false)) &&
                 !isnan(profile_beat(now, runs_of(now) - 1, false));
    text[0] = '\0';
    if (a->version == 0 || b->version == 0)
        snprintf(text, size, "no metronome ran beside %s", whose);
    else if (a->version != b->version)
        snprintf(text, size, "their metronomes are of two versions");
    else if (base->threads != now->threads)
        snprintf(text, size, "they ran on %d and %d threads", base->threads, now->threads);
    else if (!whole)
        snprintf(text, size, "not beside each of their runs a metronome ran");
}

// The medians over all runs.
static Status find_beats(const Profile *profile, bool computes, double *values, double *median) {
    LatencyStatistics statistics;
    int64_t n = runs_of(profile);
    for (int64_t i = 0; i < n; i++) values[i] = profile_beat(profile, i, computes);
    Status status = statistics_summarise(values, n, &statistics);
    if (!status) *median = statistics.median;
    return status;
}

static Status compare_metronomes(Comparison *all, ProfileDiff *diff) {
    double before[2], *now = all->reference;
    for (int computes = 0; computes < 2; computes++)
        if (find_beats(all->base, computes, all->before, &before[computes]) ||
            find_beats(all->now, computes, all->after, &now[computes]))
            return error_status();
    diff->product = now[1] / before[1];
    diff->read = now[0] * now[0] / (before[0] * before[0]) / diff->product;
    return STATUS_OK;
}

static Status begin(const Profile *base, const Profile *now, bool apart, Comparison *all,
                    ProfileDiff *diff) {
    bool alike = base->units == now->units || base->units == 0 || now->units == 0 ||
                 strcmp(base->unit, now->unit) != 0;
    *all = (Comparison){.base = base,
                        .now = now,
                        .units_before = alike ? 1.0 : (double)base->units,
                        .units_after = alike ? 1.0 : (double)now->units,
                        .apart = apart,
                        .before = memory_new(RATIO_MOST * sizeof(double)),
                        .after = memory_new(RATIO_MOST * sizeof(double))};
    diff->units = alike ? now->units : 1;
    diff->product = diff->read = (double)NAN;
    if (!all->before || !all->after) return error_status();
    if (diff->runs_before == 0 || diff->runs_after == 0) return STATUS_OK;
    say_undivided(base, now, diff->undivided, sizeof(diff->undivided));
    all->divided = diff->undivided[0] == '\0';
    return all->divided ? compare_metronomes(all, diff) : STATUS_OK;
}

// What the runs of one side are compared by, and their median. How many can be compared; 0: it is
// not there, or some took no time that its clock could tell.
static int64_t take_values(const Comparison *all, const Profile *side, const Latency *latency,
                           bool computes, double *values, double *median) {
    double units = side == all->base ? all->units_before : all->units_after;
    *median = 0.0;
    if (!latency || latency->count == 0) return 0;
    const Latency *across = latency->across;
    int64_t n = across ? across->count : 1;
    for (int64_t i = 0; i < n; i++) {
        double beat = all->divided ? profile_beat(side, i, computes) : 1.0;
        if (isnan(beat)) n = i; // a file may say that a layer ran more often than the step
        if (i == n) break;
        values[i] = (across ? across->samples[i] : latency->statistics.median) / units;
        if (all->divided) values[i] *= all->reference[computes] / beat;
    }
    LatencyStatistics statistics;
    if (n == 0 || statistics_summarise(values, n, &statistics)) return 0;
    *median = statistics.median;
    return statistics.min > 0.0 ? n : 0;
}

// `doubted`: of how many that did not change one may be told to have.
static Status compare_times(const Comparison *all, const ProfilePhase *before,
                            const ProfilePhase *after, double doubted, DiffTime *time) {
    bool computes = after && profile_computes(after->cost);
    double seemingly = fmin(10.0 * doubted, doubt); // so often an equal one is left open
    int64_t n = take_values(all, all->base, before ? &before->latency : NULL, computes, all->before,
                            &time->before);
    int64_t m = take_values(all, all->now, after ? &after->latency : NULL, computes, all->after,
                            &time->after);
    time->seen = (double)NAN;
    if (error_pending() || n < 2 || m < 2) return error_status();
    Ratio *ratio = &time->ratio, weak;
    double confidence = 1.0 - doubted / DIFF_LOOKS;
    if (ratio_find(all->before, n, all->after, m, confidence, ratio) ||
        ratio_find(all->before, n, all->after, m, 1.0 - seemingly, &weak))
        return error_status();
    double slack = all->apart ? moment / (time->before * all->units_after) : 0.0;
    ratio->low = fmax(ratio->low - slack, 0.0);
    ratio->high += slack;
    time->judged = ratio->reached;
    if (time->judged) {
        double wider = fmax(ratio->estimate / ratio->low, ratio->high / ratio->estimate);
        time->sure = ratio->low > 1.0 ? 1 : ratio->high < 1.0 ? -1 : 0;
        time->seen = ratio->low > 0.0 ? wider - 1.0 : (double)NAN;
    }
    time->is_open = time->sure == 0 && (weak.low - slack > 1.0 || weak.high + slack < 1.0);
    return STATUS_OK;
}

static const ProfilePhase *phase_of(const ProfileLayer *layer, ReportPhase phase) {
    const ProfilePhase *of = layer ? &layer->phase[phase] : NULL;
    return of && of->latency.count > 0 ? of : NULL;
}

// What is sure of all layers together is surer of each, by how many there are (Bonferroni).
static Status compare_layers(const Comparison *all, const Pairs *pairs, ProfileDiff *diff) {
    diff->times = memory_new((size_t)pairs->n * N_PHASES * sizeof(DiffTime));
    if (!diff->times) return error_status();
    for (int i = 0; i < pairs->n; i++)
        for (int p = 0; p < N_PHASES; p++)
            diff->compared +=
                phase_of(pairs->at[i].before, phases[p]) && phase_of(pairs->at[i].after, phases[p]);
    for (int i = 0; i < pairs->n; i++) {
        const Pair *pair = &pairs->at[i];
        for (int p = 0; p < N_PHASES; p++) {
            const ProfilePhase *before = phase_of(pair->before, phases[p]);
            const ProfilePhase *after = phase_of(pair->after, phases[p]);
            DiffTime *time = &diff->times[diff->n_times];
            if (!before && !after) continue;
            *time = (DiffTime){.path = pair->after ? pair->after->path : pair->before->path,
                               .phase = phases[p]};
            double doubted = doubt / fmax(1.0, (double)diff->compared);
            if (compare_times(all, before, after, doubted, time)) return error_status();
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
Status profile_diff(const Profile *base, const Profile *now, bool apart, ProfileDiff *diff) {
    *diff = (ProfileDiff){.step = {.path = "", .phase = REPORT_STEP},
                          .runs_before = runs_of(base),
                          .runs_after = runs_of(now)};
    Pairs pairs = {0};
    Comparison all;
    Status status = begin(base, now, apart, &all, diff);
    if (!status) status = pair_layers(base, now, &pairs);
    if (!status) status = compare_counts(base, now, &pairs, diff);
    if (!status)
        status = compare_times(&all, &base->totals[REPORT_STEP], &now->totals[REPORT_STEP], doubt,
                               &diff->step);
    if (!status) status = compare_layers(&all, &pairs, diff);
    memory_free(all.before);
    memory_free(all.after);
    memory_free(pairs.at);
    return status;
}

void profile_diff_free(ProfileDiff *diff) {
    memory_free(diff->times);
    memory_free(diff->counts);
    *diff = (ProfileDiff){0};
}

bool profile_diff_is_open(const ProfileDiff *diff) {
    bool is_open = diff->step.is_open;
    for (int64_t i = 0; i < diff->n_times; i++) is_open = is_open || diff->times[i].is_open;
    return is_open;
}
