// profile_diff_times.c -- compares one pair of times: divides out the machine's speed in each
// process, and tests the rest against chance.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profiler/compare/profile_diff_parts.h"
#include "tensor/memory.h"

// Seconds by which the same op can differ between two moments, in all their processes, depending on
// which core's cache holds its operands (relu of 64 kB on two cores: 0.8 us).
static const double moment = 1e-6;

int64_t profile_runs(const Profile *profile) {
    const Latency *step = &profile->totals[REPORT_STEP].latency;
    return step->across ? step->across->count : step->count > 0;
}

// ---- divisors ----------------------------------------------------------------------------------
enum { BY_NOTHING, BY_PRODUCT, BY_BOTH, BEATS };

// The divisor of run number `run`; NaN: unknown. Divisors from BEATS on include the share of the
// cores.
static double divisor_of(const Profile *profile, int64_t run, int divisor) {
    double shared = divisor >= BEATS ? profile_sharing(profile, run) : 1.0;
    int beat = divisor % BEATS;
    return shared * (beat == BY_NOTHING ? 1.0 : profile_beat(profile, run, beat == BY_PRODUCT));
}

static void say_undivided(const Profile *base, const Profile *now, char *text, size_t size) {
    const ProfileMetronome *a = &base->metronome, *b = &now->metronome;
    const char *whose = b->version == 0 ? "what is measured now" : "the base";
    bool whole = !isnan(profile_beat(base, profile_runs(base) - 1, false)) &&
                 !isnan(profile_beat(now, profile_runs(now) - 1, false));
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

static double median_of(const Latency *latency) {
    return latency_whole(latency)->statistics.median;
}

static Status find_references(TimePairs *all) {
    int64_t n = profile_runs(all->now);
    for (int d = 0; d < DIVISORS; d++) {
        LatencyStatistics statistics;
        bool known = true;
        for (int64_t i = 0; i < n; i++) {
            all->after[i] = divisor_of(all->now, i, d);
            known = known && !isnan(all->after[i]);
        }
        if (known && statistics_summarise(all->after, n, &statistics)) return error_status();
        all->reference[d] = known ? statistics.median : (double)NAN;
    }
    return STATUS_OK;
}

Status time_pairs_begin(const Profile *base, const Profile *now, bool apart, TimePairs *all,
                        ProfileDiff *diff) {
    const ProfileMetronome *a = &base->metronome, *b = &now->metronome;
    bool alike = base->units == now->units || base->units == 0 || now->units == 0 ||
                 strcmp(base->unit, now->unit) != 0;
    *all = (TimePairs){.base = base,
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
    if (all->divided) {
        diff->product = median_of(&b->product) / median_of(&a->product);
        diff->read = median_of(&b->read) / median_of(&a->read);
    }
    return find_references(all);
}

void time_pairs_end(TimePairs *all) {
    memory_free(all->before);
    memory_free(all->after);
}

// ---- comparing ---------------------------------------------------------------------------------
// One side's times, scaled to the machine's median speed while `now` was measured. Returns their
// number; 0: there are none, or some are 0 or have no divisor.
static int64_t take_values(const TimePairs *all, const Profile *side, const ProfilePhase *phase,
                           int divisor, double *values) {
    double units = side == all->base ? all->units_before : all->units_after;
    const Latency *latency = phase ? &phase->latency : NULL;
    if (!latency || latency->count == 0) return 0;
    const Latency *across = latency->across;
    int64_t n = across ? across->count : 1, runs = profile_runs(side);
    for (int64_t i = 0; i < n && i < runs; i++) {
        double seconds = across ? across->samples[i] : latency->statistics.median;
        values[i] = seconds / units * all->reference[divisor] / divisor_of(side, i, divisor);
        if (!(values[i] > 0.0) || !isfinite(values[i])) return 0;
    }
    return n < runs ? n : runs; // in a file, a layer may have more runs than the step
}

// The sum of squared deviations of the logarithms of one side's values from their mean.
static double spread_of(const double *values, int64_t n) {
    double sum = 0.0, squares = 0.0;
    for (int64_t i = 0; i < n; i++) {
        double value = log(values[i]);
        sum += value;
        squares += value * value;
    }
    return n > 0 ? squares - sum * sum / (double)n : 0.0;
}

// Beside a file, counts decide: few FLOPs per byte wait for memory. For runs in turns, takes the
// divisor that leaves each side's runs most alike, which does not bias the comparison; and work on
// a single thread is not slowed when other threads lack a core.
static int choose_divisor(const TimePairs *all, const ProfilePhase *before,
                          const ProfilePhase *after) {
    bool computes = after && profile_computes(after->cost);
    if (!all->divided) return BY_NOTHING;
    if (all->apart || !before || !after) return computes ? BY_PRODUCT : BY_BOTH;
    int best = BY_NOTHING;
    double least = HUGE_VAL;
    for (int d = 0; d < DIVISORS; d++) {
        int64_t n = take_values(all, all->base, before, d, all->before);
        int64_t m = take_values(all, all->now, after, d, all->after);
        double spread = spread_of(all->before, n) + spread_of(all->after, m);
        if (n == 0 || m == 0 || !(spread < least)) continue;
        least = spread;
        best = d;
    }
    return best;
}

static double median_of_values(const double *values, int64_t n) {
    LatencyStatistics statistics;
    if (n == 0 || statistics_summarise(values, n, &statistics)) return 0.0;
    return statistics.median;
}

// For runs in turns, also compares pairs, whose members share disturbances, and takes the narrower
// interval, each with half of the doubt; all of it is the unpaired one's if pairs are too few.
static Status find_ratio(const TimePairs *all, int64_t n, int64_t m, double doubted, Ratio *ratio) {
    Ratio paired = {.reached = false};
    double half = 0.5 * doubted;
    Status status = STATUS_OK;
    if (!all->apart)
        status = ratio_find_paired(all->before, all->after, n < m ? n : m, 1.0 - half, &paired);
    double left = paired.reached ? half : doubted;
    if (!status) status = ratio_find(all->before, n, all->after, m, 1.0 - left, ratio);
    if (status || !paired.reached) return status;
    if (!ratio->reached || paired.high / paired.low < ratio->high / ratio->low) *ratio = paired;
    return STATUS_OK;
}

Status time_pairs_compare(const TimePairs *all, const ProfilePhase *before,
                          const ProfilePhase *after, double doubted, DiffTime *time) {
    double seemingly = fmin(10.0 * doubted, 0.05); // error rate of is_open
    int divisor = choose_divisor(all, before, after);
    int64_t n = take_values(all, all->base, before, divisor, all->before);
    int64_t m = take_values(all, all->now, after, divisor, all->after);
    time->before = median_of_values(all->before, n);
    time->after = median_of_values(all->after, m);
    time->seen = (double)NAN;
    if (error_pending() || n < 2 || m < 2) return error_status();
    Ratio *ratio = &time->ratio, weak;
    if (find_ratio(all, n, m, doubted / DIFF_LOOKS, ratio) ||
        find_ratio(all, n, m, seemingly, &weak))
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
