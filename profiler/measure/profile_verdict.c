// profile_verdict.c -- holds every phase and every op of a profile against the machine's ceilings.
// Not here: the ceilings' law (machine/roofline.c), or where time went (time_parts.c).
#include <math.h>

#include "profiler/measure/profile_parts.h"
#include "tensor/given.h"

void profile_take_parts(RooflineInput *input, const TimeParts *parts) {
    if (!GIVEN(input) || !GIVEN(parts)) return;
    input->handing_seconds = parts->handoff + parts->wake;
    input->explained_seconds = time_parts_explained(parts);
}

RooflineInput profile_phase_input(const ProfilePhase *phase, double seconds) {
    if (!GIVEN(phase)) return (RooflineInput){0};
    RooflineInput input = roofline_input(phase->cost, &phase->traffic, phase->ops, seconds);
    profile_take_parts(&input, &phase->parts);
    return input;
}

RooflineInput profile_op_input(const ProfileOp *op) {
    if (!GIVEN(op)) return (RooflineInput){0};
    RooflineInput input =
        roofline_op_input(&op->record.cost, &op->record.traffic, latency_median(&op->latency));
    profile_take_parts(&input, &op->parts);
    return input;
}

static void judge(const Machine *machine, ProfilePhase *phase, double seconds) {
    RooflineInput input = profile_phase_input(phase, seconds);
    if (phase->ops > 0) phase->roofline = roofline_judge(machine, &input);
}

RooflineInput profile_step_input(const Profile *profile) {
    if (!GIVEN(profile)) return (RooflineInput){0};
    const ProfilePhase *step = &profile->totals[REPORT_STEP];
    double seconds = latency_median(&step->latency), copy = latency_median(&profile->batch_copy);
    RooflineInput input = profile_phase_input(step, seconds);
    double limit = (double)ROOFLINE_TRANSFER_PERCENT / 100.0 * (seconds + copy);
    if (!(copy > limit)) return input; // NaN where nothing is carried
    input.seconds = seconds + copy;
    input.transfer_seconds = copy;
    return input;
}

// The batch of the step itself is where it is needed, and its fraction of the roof is its own.
static void judge_step(const Machine *machine, Profile *profile) {
    Roofline *roofline = &profile->totals[REPORT_STEP].roofline;
    RooflineInput input = profile_step_input(profile);
    if (input.transfer_seconds > 0.0) roofline->bound = roofline_judge(machine, &input).bound;
}

// ---- verdicts --------------------------------------------------------------------------------
static void judge_op(const Machine *machine, ProfileOp *op) {
    RooflineInput input = profile_op_input(op);
    op->roofline = roofline_judge(machine, &input);
}

static void judge_all(Profile *profile) {
    const Machine *machine = &profile->machine;
    for (int p = 0; p < REPORT_COUNT; p++)
        judge(machine, &profile->totals[p], latency_median(&profile->totals[p].latency));
    judge_step(machine, profile);
    for (int64_t i = 0; i < profile->n_ops; i++) judge_op(machine, &profile->ops[i]);
    for (int i = 0; i < profile->n_layers; i++) {
        ProfileLayer *layer = &profile->layers[i];
        for (int p = 0; p < REPORT_STEP; p++)
            judge(machine, &layer->phase[p], latency_median(&layer->phase[p].latency));
        judge(machine, &layer->phase[REPORT_STEP], profile_layer_seconds(layer));
    }
}

// Parts of time need the roofs, and verdicts the parts. (A card's kernels do not run again.)
void profile_judge(Profile *profile) {
    judge_all(profile);
    profile_add_up_roofs(profile);
    if (profile->totals[REPORT_STEP].latency.count == 0 || profile->machine.device[0]) return;
    profile_part_time(profile);
    judge_all(profile);
}
