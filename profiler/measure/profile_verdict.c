// profile_verdict.c -- holds every phase and every op of a profile against the machine's ceilings.
// Not here: the ceilings' law (machine/roofline.c), or where time went (time_parts.c).
#include <math.h>

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

// The terms of time need the roofs. (A card's kernels do not run again.)
void profile_judge(Profile *profile) {
    judge_all(profile);
    profile_add_up_roofs(profile);
    if (profile->totals[REPORT_STEP].latency.count > 0 && !profile->machine.device[0])
        profile_part_time(profile);
}
