// time_parts.c -- where measured time went: roof, kernel, hand-offs, wake-ups, dispatch, and what
// is left. Not here: how often work was handed over (profile_op_times.c), what one hand-off takes
// (machine/machine_measure.c), kernels alone (profile_kernels.c), or page faults and time off the
// cores (profile_statistics.c).
#include "profiler/measure/time_parts.h"

#include <math.h>

#include "profiler/measure/profile_parts.h"
#include "tensor/given.h"

// ---- sums ------------------------------------------------------------------------------------
double time_parts_left(const TimeParts *parts, double seconds) {
    if (!GIVEN(parts)) return (double)NAN;
    return seconds - (parts->roof + parts->kernel + parts->handoff + parts->wake + parts->dispatch +
                      parts->fault + parts->off_core);
}

// ---- of an op ----------------------------------------------------------------------------------
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

// ---- of phases ---------------------------------------------------------------------------------
static void end_parts(ProfilePhase *phase) {
    if (phase->parts.kernel == 0.0) return; // of no op is anything known
    phase->parts.roof = phase->roofline.roof_seconds;
    phase->parts.kernel -= phase->roofline.roof_seconds;
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

// Roofs count as kernels' time until the roof of all of them together is taken out (end_parts).
static void add_parts(ProfilePhase *phase, const ProfileOp *op) {
    TimeParts *sum = &phase->parts;
    sum->kernel += op->parts.roof + op->parts.kernel;
    sum->handoff += op->parts.handoff;
    sum->wake += op->parts.wake;
    sum->dispatch += op->parts.dispatch;
}

// The roof of several ops together is no longer than the sum of theirs: in one, arithmetic may hide
// what waits for memory in another.
void profile_part_time(Profile *profile) {
    for (int64_t i = 0; i < profile->n_ops; i++) {
        part_op(profile, &profile->ops[i]);
        add_op(profile, &profile->ops[i], add_parts);
    }
    for (int p = 0; p < REPORT_COUNT; p++) {
        end_parts(&profile->totals[p]);
        for (int i = 0; i < profile->n_layers; i++) end_parts(&profile->layers[i].phase[p]);
    }
}

static void add_roof(ProfilePhase *phase, const ProfileOp *op) {
    phase->op_roofs += op->roofline.roof_seconds;
}

void profile_add_up_roofs(Profile *profile) {
    for (int64_t i = 0; i < profile->n_ops; i++) add_op(profile, &profile->ops[i], add_roof);
}
