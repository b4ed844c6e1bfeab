// mystery_profile.c -- profiles a mystery's program, with two threads and with one, and makes the
// record from both profiles.
#include <stdio.h>
#include <string.h>

#include "exercises/lab/mystery.h"
#include "profiler/machine/machine.h"
#include "tensor/context.h"

// ---- measuring ---------------------------------------------------------------------------------
static Status ceilings(const Machine *given, Machine *machine) {
    bool fresh;
    char kept_in[512];
    if (!given) return machine_obtain(&(MachineRequest){0}, machine, &fresh, kept_in);
    *machine = *given;
    return STATUS_OK;
}

// The bytes of all levels but the last, which is not a cache.
static int64_t cache_bytes(const Machine *machine) {
    return machine->n_levels > 1 ? machine->levels[machine->n_levels - 2].bytes : 0;
}

static Status measure(const MysteryPlan *plan, MysteryOptions options, int threads,
                      Profile *profile) {
    Machine machine;
    MysteryProgram program = {.model = NULL};
    ProfileOptions how = profile_defaults();
    context_set_threads(threads);
    Status status = ceilings(options.machine, &machine);
    if (!status) status = mystery_program_make(plan, cache_bytes(&machine), &program);
    how.machine = &machine;
    how.iterations = options.iterations;
    if (options.iterations > 0) how.warmup = 2;
    how.loader = program.loader;
    how.probe_seconds = -1.0; // no advice: the student shall find it
    if (!status)
        status = profile_training(program.model, optimizer_defaults(OPTIMIZER_ADAM), program.x,
                                  program.labels, how, profile);
    mystery_program_free(&program);
    return status;
}

Status mystery_measure(const MysteryPlan *plan, MysteryOptions options, MysteryProfiles *profiles) {
    int threads = context_current()->threads;
    *profiles = (MysteryProfiles){.together = {.kind = PROFILE_TRAINING}};
    int together = threads < MYSTERY_THREADS ? threads : MYSTERY_THREADS;
    Status status = measure(plan, options, together, &profiles->together);
    if (!status) status = measure(plan, options, 1, &profiles->alone);
    context_set_threads(threads);
    return status;
}

void mystery_profiles_free(MysteryProfiles *profiles) {
    profile_free(&profiles->together);
    profile_free(&profiles->alone);
}

// ---- the record --------------------------------------------------------------------------------
static const ProfileLayer *find_layer(const Profile *profile, const char *path) {
    for (int i = 0; i < profile->n_layers; i++)
        if (strcmp(profile->layers[i].path, path) == 0) return &profile->layers[i];
    return NULL;
}

// The seconds of a step that a place takes.
static double seconds_of(const Profile *profile, int place) {
    const ProfileLayer *layer = find_layer(profile, place_words[place]);
    if (layer) return profile_layer_seconds(layer);
    return latency_median(place == PLACE_LOADER ? &profile->data_wait
                                                : &profile->totals[REPORT_OPTIMIZER].latency);
}

static MysteryRow row_of(const MysteryProfiles *profiles, int place) {
    const Profile *together = &profiles->together;
    const ProfileLayer *layer = find_layer(together, place_words[place]);
    const ProfilePhase *phase =
        layer ? &layer->phase[REPORT_STEP] : &together->totals[REPORT_OPTIMIZER];
    MysteryRow row = {.seconds = seconds_of(together, place),
                      .one_thread = seconds_of(&profiles->alone, place),
                      .memory = "-"};
    if (place == PLACE_LOADER) return row;
    const Roofline *roofline = &phase->roofline;
    row.roof = roofline->roof_seconds;
    row.flops = (double)op_cost_total_flops(phase->cost);
    if (roofline->memory_seconds > roofline->compute_seconds) // by counts alone, not by time
        snprintf(row.memory, sizeof row.memory, "%s",
                 together->machine.levels[roofline->level].name);
    return row;
}

MysteryRecord mystery_record(int64_t seed, const MysteryProfiles *profiles) {
    const ProfilePhase *step = &profiles->together.totals[REPORT_STEP];
    MysteryRecord record = {.seed = seed,
                            .step = latency_median(&step->latency),
                            .page_faults = step->terms.faults,
                            .off_cores = step->terms.others - step->terms.faults};
    for (int i = 0; i < PLACE_COUNT; i++) record.rows[i] = row_of(profiles, i);
    return record;
}
