// profile_judge.c -- holds every phase and every op of a profile against the machine's ceilings.
#include "profiler/profile_parts.h"

static void judge(const Machine *machine, ProfilePhase *phase, double seconds) {
    RooflineInput input = roofline_input(phase->cost, &phase->traffic, phase->ops, seconds);
    if (phase->ops > 0) phase->roofline = roofline_judge(machine, &input);
}

RooflineInput profile_step_input(const Profile *profile) {
    const ProfilePhase *step = &profile->totals[REPORT_STEP];
    double seconds = latency_median(&step->latency), copy = latency_median(&profile->batch_copy);
    RooflineInput input = roofline_input(step->cost, &step->traffic, step->ops, seconds);
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

static void judge_op(const Machine *machine, ProfileOp *op) {
    const OpRecord *record = &op->record;
    double seconds = latency_median(&op->latency);
    RooflineInput input = roofline_op_input(&record->cost, &record->traffic, seconds);
    op->roofline = roofline_judge(machine, &input);
}

double profile_layer_seconds(const ProfileLayer *layer) {
    static const ReportPhase parts[] = {REPORT_FORWARD, REPORT_BACKWARD, REPORT_OPTIMIZER};
    double total = 0.0;
    for (int i = 0; i < 3; i++)
        if (layer->phase[parts[i]].ops > 0)
            total += latency_median(&layer->phase[parts[i]].latency);
    return total;
}

void profile_judge(Profile *profile) {
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
