// profile_judge.c -- holds every phase and every op of a profile against the machine's ceilings,
// and says where its time went.
#include <math.h>

#include "profiler/profile_parts.h"

void profile_take_parts(RooflineInput *input, const TimeParts *parts) {
    input->handing_seconds = parts->handoff + parts->wake;
    input->explained_seconds = time_parts_explained(parts);
}

RooflineInput profile_phase_input(const ProfilePhase *phase, double seconds) {
    RooflineInput input = roofline_input(phase->cost, &phase->traffic, phase->ops, seconds);
    profile_take_parts(&input, &phase->parts);
    return input;
}

RooflineInput profile_op_input(const ProfileOp *op) {
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

// ---- where time went -------------------------------------------------------------------------
// Alone and warm, beyond the roof that it has then, and without what handing its parts out took.
static double kernel_seconds(const Machine *machine, const ProfileOp *op, double handoff) {
    if (op->record.op->flags & OP_VIEW) return 0.0;
    RooflineInput input = roofline_op_input(&op->record.cost, &op->warm_traffic, op->warm_seconds);
    double more = op->warm_seconds - roofline_judge(machine, &input).roof_seconds - handoff;
    return more > 0.0 || isnan(more) ? more : 0.0;
}

static void part_op(const Profile *profile, ProfileOp *op) {
    const Machine *machine = &profile->machine;
    double runs = (double)(op->latency.count * profile->steps_per_sample);
    double handed = (double)op->handed / runs, woken = (double)op->woken / runs;
    double handoff = (handed - woken) * machine->spin_seconds;
    op->parts = (TimeParts){.roof = op->roofline.roof_seconds,
                            .other_core = op->roofline.other_core_seconds,
                            .kernel = kernel_seconds(machine, op, handed * machine->spin_seconds),
                            .handoff = handoff,
                            .wake = woken * machine->wake_seconds,
                            .dispatch = machine->dispatch_seconds};
}

void time_parts_add(TimeParts *sum, const TimeParts *parts) {
    sum->kernel += parts->roof + parts->kernel;
    sum->handoff += parts->handoff;
    sum->wake += parts->wake;
    sum->dispatch += parts->dispatch;
}

void time_parts_take_roof(TimeParts *sum, double seconds) {
    if (sum->kernel == 0.0) return; // of no op is anything known
    sum->roof = seconds;
    sum->kernel -= seconds;
}

static void end_parts(ProfilePhase *phase) {
    time_parts_take_roof(&phase->parts, phase->roofline.roof_seconds);
    phase->parts.other_core = phase->roofline.other_core_seconds;
}

// Calls `add` with each phase, of its layer and of the whole, that an op is part of.
static void add_op(Profile *profile, const ProfileOp *op,
                   void (*add)(ProfilePhase *phase, const ProfileOp *op)) {
    ReportPhase phase = profile_report_phase(op->record.phase);
    const ReportPhase sums[] = {phase, REPORT_STEP, REPORT_BACKWARD};
    for (int k = 0; k < (report_part_of_backward(phase) ? 3 : 2); k++) {
        add(&profile->layers[op->layer].phase[sums[k]], op);
        add(&profile->totals[sums[k]], op);
    }
}

static void add_parts(ProfilePhase *phase, const ProfileOp *op) {
    time_parts_add(&phase->parts, &op->parts);
}

static void add_roof(ProfilePhase *phase, const ProfileOp *op) {
    phase->op_roofs += op->roofline.roof_seconds;
}

// The roof of several ops together is no longer than the sum of theirs: in one, arithmetic may hide
// what waits for memory in another.
static void part_time(Profile *profile) {
    for (int64_t i = 0; i < profile->n_ops; i++) {
        part_op(profile, &profile->ops[i]);
        add_op(profile, &profile->ops[i], add_parts);
    }
    for (int p = 0; p < REPORT_COUNT; p++) {
        end_parts(&profile->totals[p]);
        for (int i = 0; i < profile->n_layers; i++) end_parts(&profile->layers[i].phase[p]);
    }
}

// ---- verdicts --------------------------------------------------------------------------------
static void judge_op(const Machine *machine, ProfileOp *op) {
    RooflineInput input = profile_op_input(op);
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
    for (int64_t i = 0; i < profile->n_ops; i++) add_op(profile, &profile->ops[i], add_roof);
    if (profile->totals[REPORT_STEP].latency.count == 0 || profile->machine.device[0]) return;
    part_time(profile);
    judge_all(profile);
}
