// profile_diff.c -- pairs the layers of two profiles by path and compares them; checks that both
// are of the same work. Not here: comparing one pair of times (profile_diff_times.c).
#include "profiler/compare/profile_diff_parts.h"

#include <stdio.h>
#include <string.h>

#include "profiler/measure/profile_fields.h"
#include "profiler/measure/profile_words.h"
#include "tensor/memory.h"

static const double doubt = 0.05; // error rate of the step, and of all layers, over all looks

// ---- pairs -------------------------------------------------------------------------------------
typedef struct Pair { // either may be NULL: a layer that only one has
    const ProfileLayer *before, *after;
} Pair;

typedef struct Pairs {
    Pair *at; // owned
    int n;
} Pairs;

// A path may occur several times (a layer that is called twice): equal paths are paired in order.
// Each search begins after the previous pair, where it usually ends.
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

static const ProfilePhase *phase_of(const ProfileLayer *layer, ReportPhase phase) {
    const ProfilePhase *of = layer ? &layer->phase[phase] : NULL;
    return of && of->latency.count > 0 ? of : NULL;
}

// The more layers there are, the more strictly each is judged, so that all together are 95 % sure
// (Bonferroni).
static Status compare_layers(const TimePairs *all, const Pairs *pairs, ProfileDiff *diff) {
    diff->times = memory_new((size_t)pairs->n * STEP_PARTS * sizeof(DiffTime));
    if (!diff->times) return error_status();
    for (int i = 0; i < pairs->n; i++)
        for (int p = 0; p < STEP_PARTS; p++)
            diff->compared += phase_of(pairs->at[i].before, step_parts[p]) &&
                              phase_of(pairs->at[i].after, step_parts[p]);
    for (int i = 0; i < pairs->n; i++) {
        const Pair *pair = &pairs->at[i];
        for (int p = 0; p < STEP_PARTS; p++) {
            const ProfilePhase *before = phase_of(pair->before, step_parts[p]);
            const ProfilePhase *after = phase_of(pair->after, step_parts[p]);
            DiffTime *time = &diff->times[diff->n_times];
            if (!before && !after) continue;
            *time = (DiffTime){.path = pair->after ? pair->after->path : pair->before->path,
                               .phase = step_parts[p]};
            double doubted = doubt / fmax(1.0, (double)diff->compared);
            if (time_pairs_compare(all, before, after, doubted, time)) return error_status();
            diff->n_times++;
        }
    }
    return STATUS_OK;
}

// ---- counts ------------------------------------------------------------------------------------
// A missing count and a count of 0 do not differ.
static void add_count(ProfileDiff *diff, DiffCount count) {
    bool something = count.before > 0 || count.after > 0 || (count.before >= 0 && count.after >= 0);
    if (something && count.before != count.after) diff->counts[diff->n_counts++] = count;
}

// Compares the counts of a scope (profile_fields.h); before and after may be NULL.
static void add_fields(ProfileDiff *diff, const char *path, const char *phase, FieldScope scope,
                       const void *before, const void *after) {
    for (const ProfileField *field = profile_fields(scope); field->key; field++)
        if (field->uses & FIELD_COMPARED)
            add_count(diff, (DiffCount){path, phase, field->key,
                                        before ? profile_field_count(field, before) : -1,
                                        after ? profile_field_count(field, after) : -1});
}

static void add_phases(ProfileDiff *diff, const char *path, const ProfilePhase *before,
                       const ProfilePhase *after) {
    for (int p = 0; p < STEP_PARTS; p++)
        add_fields(diff, path, report_phase_name(step_parts[p]), FIELDS_PHASE,
                   before ? &before[step_parts[p]] : NULL, after ? &after[step_parts[p]] : NULL);
}

static size_t compared_fields(FieldScope scope) {
    size_t n = 0;
    for (const ProfileField *field = profile_fields(scope); field->key; field++)
        n += (field->uses & FIELD_COMPARED) != 0;
    return n;
}

static Status compare_counts(const Profile *base, const Profile *now, const Pairs *pairs,
                             ProfileDiff *diff) {
    size_t whole = 1, layer = compared_fields(FIELDS_LAYER); // 1: step_allocations
    for (int scope = 0; scope < FIELD_SCOPES; scope++) whole += compared_fields((FieldScope)scope);
    size_t phases = STEP_PARTS * compared_fields(FIELDS_PHASE);
    diff->counts =
        memory_new((whole + phases + (size_t)pairs->n * (layer + phases)) * sizeof(DiffCount));
    if (!diff->counts) return error_status();
    const ProfileMemory *a = &base->predicted, *b = &now->predicted;
    add_fields(diff, "", report_phase_name(REPORT_STEP), FIELDS_PHASE, &base->totals[REPORT_STEP],
               &now->totals[REPORT_STEP]);
    add_fields(diff, "", "", FIELDS_MEMORY, a, b);
    add_fields(diff, "", "", FIELDS_USE, &a->peak, &b->peak);
    add_fields(diff, "", "", FIELDS_MODEL, base, now);
    if (base->allocations > 0 && now->allocations > 0) // both ran and counted them
        add_count(diff,
                  (DiffCount){"", "", "step_allocations", base->allocations, now->allocations});
    add_phases(diff, "", base->totals, now->totals);
    for (int i = 0; i < pairs->n; i++) {
        const ProfileLayer *before = pairs->at[i].before, *after = pairs->at[i].after;
        const char *path = after ? after->path : before->path;
        add_phases(diff, path, before ? before->phase : NULL, after ? after->phase : NULL);
        add_fields(diff, path, "", FIELDS_LAYER, before, after);
    }
    return STATUS_OK;
}

// ---- all together ------------------------------------------------------------------------------
Status profile_diff(const Profile *base, const Profile *now, bool apart, ProfileDiff *diff) {
    *diff = (ProfileDiff){.step = {.path = "", .phase = REPORT_STEP},
                          .runs_before = profile_runs(base),
                          .runs_after = profile_runs(now)};
    Pairs pairs = {0};
    TimePairs all;
    Status status = time_pairs_begin(base, now, apart, &all, diff);
    if (!status) status = pair_layers(base, now, &pairs);
    if (!status) status = compare_counts(base, now, &pairs, diff);
    if (!status)
        status = time_pairs_compare(&all, &base->totals[REPORT_STEP], &now->totals[REPORT_STEP],
                                    doubt, &diff->step);
    if (!status) status = compare_layers(&all, &pairs, diff);
    time_pairs_end(&all);
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

// ---- same environment and work --------------------------------------------------------------
typedef struct Member {
    const char *name, *before, *after;
} Member;

// Describes the first member that differs: "cpu was A, and is B".
static void first_difference(const Member *members, int n, char *text, size_t size) {
    text[0] = '\0';
    for (int i = 0; i < n && !text[0]; i++)
        if (strcmp(members[i].before, members[i].after) != 0)
            snprintf(text, size, "%s was %.80s, and is %.80s", members[i].name,
                     members[i].before[0] ? members[i].before : "none",
                     members[i].after[0] ? members[i].after : "none");
}

DiffReason profile_diff_reason(const SavedProfile *base, const SavedProfile *now) {
    const Environment *a = &base->environment, *b = &now->environment;
    char numbers[2][3][24];
    const SavedProfile *both[] = {base, now};
    for (int i = 0; i < 2; i++) {
        snprintf(numbers[i][0], sizeof(numbers[i][0]), "%d", both[i]->environment.cores);
        snprintf(numbers[i][1], sizeof(numbers[i][1]), "%d", both[i]->profile.threads);
        snprintf(numbers[i][2], sizeof(numbers[i][2]), "%lld", (long long)both[i]->profile.batch);
    }
    const Member machine[] = {{"the device", base->profile.device, now->profile.device},
                              {"the CPU", a->cpu, b->cpu},
                              {"the number of cores", numbers[0][0], numbers[1][0]},
                              {"the number of threads", numbers[0][1], numbers[1][1]},
                              {"the BLAS", a->blas, b->blas},
                              {"the GPU", base->gpu, now->gpu}};
    const Member work[] = {{"the model", base->profile.model, now->profile.model},
                           {"the batch", numbers[0][2], numbers[1][2]},
                           {"the optimizer", base->profile.optimizer, now->profile.optimizer},
                           {"the step", profile_kind_name(base->profile.kind),
                            profile_kind_name(now->profile.kind)}};
    DiffReason reason;
    first_difference(machine, sizeof(machine) / sizeof(machine[0]), reason.environment,
                     sizeof(reason.environment));
    first_difference(work, sizeof(work) / sizeof(work[0]), reason.work, sizeof(reason.work));
    return reason;
}
