// profile_verdict.c -- judges every phase and op of a profile by the machine's ceilings, and raises
// ceilings that an op exceeded. Not here: the rules (machine/roofline.c), or the breakdown of times
// (time_terms.c).
#include <math.h>
#include <stdio.h>

#include "profiler/measure/profile_parts.h"
#include "tensor/given.h"

RooflineInput profile_phase_input(const ProfilePhase *phase, double seconds) {
    if (!GIVEN(phase)) return (RooflineInput){0};
    return roofline_input(phase->cost, &phase->traffic, phase->ops, seconds);
}

RooflineInput profile_op_input(const ProfileOp *op) {
    if (!GIVEN(op)) return (RooflineInput){0};
    return roofline_op_input(&op->record.cost, &op->record.traffic, latency_median(&op->latency));
}

static void judge(const Machine *machine, ProfilePhase *phase, double seconds) {
    RooflineInput input = profile_phase_input(phase, seconds);
    if (phase->ops > 0) phase->roofline = roofline_judge(machine, &input);
}

RooflineInput profile_step_input(const Profile *profile) {
    if (!GIVEN(profile)) return (RooflineInput){0};
    const ProfilePhase *step = &profile->totals[REPORT_STEP];
    RooflineInput input = profile_phase_input(step, latency_median(&step->latency));
    input.transfer_bytes = profile->batch_copy_bytes;
    return input;
}

// ---- verdicts --------------------------------------------------------------------------------
static void judge_all(Profile *profile) {
    const Machine *machine = &profile->machine;
    for (int p = 0; p < REPORT_STEP; p++)
        judge(machine, &profile->totals[p], latency_median(&profile->totals[p].latency));
    RooflineInput step = profile_step_input(profile);
    if (profile->totals[REPORT_STEP].ops > 0)
        profile->totals[REPORT_STEP].roofline = roofline_judge(machine, &step);
    for (int64_t i = 0; i < profile->n_ops; i++) {
        RooflineInput input = profile_op_input(&profile->ops[i]);
        profile->ops[i].roofline = roofline_judge(machine, &input);
    }
    for (int i = 0; i < profile->n_layers; i++) {
        ProfileLayer *layer = &profile->layers[i];
        for (int p = 0; p < REPORT_STEP; p++)
            judge(machine, &layer->phase[p], latency_median(&layer->phase[p].latency));
        judge(machine, &layer->phase[REPORT_STEP], profile_layer_seconds(layer));
    }
}

// ---- ops that are faster than the loops --------------------------------------------------------
// The fraction by which an op is faster than its roof; 0: it is not, or its samples are too few or
// too short to tell, or roots and divisions set the roof, which no level raises.
static double beats(const ProfileOp *op) {
    enum { LEAST_SAMPLES = 6 };
    const double least_seconds = 1e-6;
    const Roofline *roofline = &op->roofline;
    if (op->latency.count < LEAST_SAMPLES || !(latency_median(&op->latency) >= least_seconds) ||
        !roofline->judged || roofline->slow || !(roofline->roof_fraction > 1.0))
        return 0.0;
    return roofline->roof_fraction - 1.0;
}

// The level of an op's roof; -1: arithmetic.
static int roof_level(const ProfileOp *op) {
    const Roofline *roofline = &op->roofline;
    return roofline->compute_seconds >= roofline->memory_seconds ? -1 : roofline->level;
}

// The largest raise of a level: no level may become faster than the one before it.
static double most_raise(const Machine *machine, int level) {
    const double most = 0.25;
    if (level < 1) return most;
    const MachineLevel *here = &machine->levels[level], *nearer = here - 1;
    double room = (1.0 + nearer->raise.by) * nearer->bytes_per_second / here->bytes_per_second;
    return fmax(0.0, fmin(most, room - 1.0));
}

static void raise_by(Profile *profile, const ProfileOp *op) {
    Machine *machine = &profile->machine;
    int level = roof_level(op);
    MachineRaise *raise = level < 0 ? &machine->raise : &machine->levels[level].raise;
    double by = fmin(beats(op), most_raise(machine, level));
    if (!(by > raise->by)) return;
    raise->by = by;
    snprintf(raise->op, sizeof(raise->op), "%.47s", profile->layers[op->layer].path);
}

// Raises near levels first, because a level's limit depends on the one before it.
static void raise_all(Profile *profile) {
    for (int level = -1; level < profile->machine.n_levels; level++)
        for (int64_t i = 0; i < profile->n_ops; i++)
            if (roof_level(&profile->ops[i]) == level) raise_by(profile, &profile->ops[i]);
}

// last: true if an op exceeded the last level's roof
static bool any_beats(const Profile *profile, bool *last) {
    bool any = false;
    *last = false;
    for (int64_t i = 0; i < profile->n_ops; i++) {
        if (!(beats(&profile->ops[i]) > 0.0)) continue;
        any = true;
        *last = *last || roof_level(&profile->ops[i]) == profile->machine.n_levels - 1;
    }
    return any;
}

static void raise_ceilings(Profile *profile) {
    bool last;
    if (!profile->machine.measured || !any_beats(profile, &last)) return;
    machine_look(&profile->machine, last, true);
    judge_all(profile);
    if (!any_beats(profile, &last)) return;
    raise_all(profile);
    judge_all(profile);
}

void profile_judge(Profile *profile, bool looks) {
    judge_all(profile);
    if (looks) raise_ceilings(profile);
    profile_find_terms(profile); // needs the roofs
}
