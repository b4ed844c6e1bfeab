// rank.c -- finds the kind of layers that takes most of a step, and in how many steps it does.
#include "profiler/measure/rank.h"

#include <stdlib.h>
#include <string.h>

#include "profiler/measure/profile_fields.h"
#include "tensor/given.h"
#include "tensor/memory.h"

typedef struct Kinds {
    const Profile *profile;
    int64_t steps;
    int n;
    RankedKind *kinds; // n kinds: between the ops, then in the order of their first layers
    int *of;           // the kind of each layer
    double *seconds;   // of each kind, in the current step
} Kinds;

static bool is_alike(const ProfileLayer *a, const ProfileLayer *b) {
    return strcmp(a->type, b->type) == 0 && shape_equal(a->input, b->input) &&
           shape_equal(a->output, b->output) &&
           op_cost_total_flops(a->phase[REPORT_FORWARD].cost) ==
               op_cost_total_flops(b->phase[REPORT_FORWARD].cost);
}

static void sort_into_kinds(Kinds *all) {
    const ProfileLayer *layers = all->profile->layers;
    double between = all->profile->unattributed_seconds;
    all->kinds[all->n++] = (RankedKind){.layer = -1, .seconds = between > 0.0 ? between : 0.0};
    for (int i = 0; i < all->profile->n_layers; i++) {
        int kind = 1;
        while (kind < all->n && !is_alike(&layers[all->kinds[kind].layer], &layers[i])) kind++;
        if (kind == all->n) all->kinds[all->n++] = (RankedKind){.layer = i};
        all->of[i] = kind;
        all->kinds[kind].alike++;
        all->kinds[kind].seconds += profile_layer_seconds(&layers[i]);
    }
}

// ---- one step ----------------------------------------------------------------------------------
static int64_t known_steps(const Latency *latency) { return latency->samples ? latency->count : 0; }

// Number of steps with known times of each layer and of the unobserved step before it.
static int64_t count_steps(const Profile *profile) {
    int64_t steps = known_steps(&profile->totals[REPORT_STEP].latency);
    for (int i = 0; i < profile->n_layers; i++)
        for (int p = 0; p < STEP_PARTS; p++) {
            const ProfilePhase *phase = &profile->layers[i].phase[step_parts[p]];
            int64_t known = known_steps(&phase->latency);
            if (phase->ops > 0 && known < steps) steps = known;
        }
    return steps;
}

// Returns the seconds of the whole step; those of each kind go into all->seconds.
static double add_up_step(const Kinds *all, int64_t step) {
    double whole = all->profile->totals[REPORT_STEP].latency.samples[step], layers = 0.0;
    for (int k = 0; k < all->n; k++) all->seconds[k] = 0.0;
    for (int i = 0; i < all->profile->n_layers; i++)
        for (int p = 0; p < STEP_PARTS; p++) {
            const ProfilePhase *phase = &all->profile->layers[i].phase[step_parts[p]];
            if (phase->ops > 0) all->seconds[all->of[i]] += phase->latency.samples[step];
        }
    for (int k = 1; k < all->n; k++) layers += all->seconds[k];
    all->seconds[0] = whole > layers ? whole - layers : 0.0;
    return whole > layers ? whole : layers;
}

static void count_firsts(const Kinds *all) {
    for (int64_t step = 0; step < all->steps; step++) {
        add_up_step(all, step);
        int most = 0;
        for (int k = 1; k < all->n; k++)
            if (all->seconds[k] > all->seconds[most]) most = k;
        all->kinds[most].first++;
    }
}

// ---- the first and the second kind -------------------------------------------------------------
static bool is_before(const RankedKind *a, const RankedKind *b) {
    return a->first != b->first ? a->first > b->first : a->seconds > b->seconds;
}

// The highest-ranked kind except `but`; -1: none took any time.
static int find_first(const Kinds *all, int but) {
    int first = -1;
    for (int k = 0; k < all->n; k++)
        if (k != but && (all->kinds[k].first > 0 || all->kinds[k].seconds > 0.0) &&
            (first < 0 || is_before(&all->kinds[k], &all->kinds[first])))
            first = k;
    return first;
}

static int by_size(const void *a, const void *b) {
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static Status find_part(const Kinds *all, int kind, RankedKind *ranked) {
    double *found = memory_new((size_t)all->steps * sizeof *found);
    if (!found) return error_status();
    for (int64_t step = 0; step < all->steps; step++) {
        double total = add_up_step(all, step);
        found[step] = total > 0.0 ? all->seconds[kind] / total : 0.0;
    }
    qsort(found, (size_t)all->steps, sizeof *found, by_size);
    ranked->low = found[(all->steps - 1) / 20];
    ranked->high = found[all->steps - 1 - (all->steps - 1) / 20];
    memory_free(found);
    return STATUS_OK;
}

static Status name_kinds(const Kinds *all, Rank *rank) {
    int kind = find_first(all, -1);
    Status status = STATUS_OK;
    while (kind >= 0 && !status) {
        RankedKind *named = &rank->kinds[rank->n];
        *named = all->kinds[kind];
        if (all->steps > 0) status = find_part(all, kind, named);
        int64_t others = all->steps - named->first;
        bool contested = named->layer < 0 || 5 * others > all->steps;
        kind = ++rank->n < RANK_MOST && contested ? find_first(all, kind) : -1;
    }
    return status;
}

Status rank_find(const Profile *profile, Rank *rank) {
    if (!GIVEN(profile) || !GIVEN(rank)) return STATUS_INVALID_ARGUMENT;
    size_t n = (size_t)profile->n_layers + 1;
    Rank found = {.steps = count_steps(profile)};
    Kinds all = {.profile = profile, .steps = found.steps};
    all.kinds = memory_new(n * sizeof *all.kinds);
    all.of = all.kinds ? memory_new(n * sizeof *all.of) : NULL;
    all.seconds = all.of ? memory_new(n * sizeof *all.seconds) : NULL;
    Status status = all.seconds ? STATUS_OK : error_status();
    if (!status) {
        sort_into_kinds(&all);
        count_firsts(&all);
        status = name_kinds(&all, &found);
    }
    memory_free(all.seconds);
    memory_free(all.of);
    memory_free(all.kinds);
    if (!status) *rank = found;
    return status;
}
