// time_terms.c -- breaks measured time into terms: of each op, and their sums over layers and
// phases. Not here: ops alone (profile_turns.c), or the step's time off the cores and its page
// faults (profile_statistics.c).
#include "profiler/measure/time_terms.h"

#include <math.h>

#include "profiler/measure/profile_parts.h"
#include "tensor/given.h"

double time_terms_left(const TimeTerms *terms, double seconds) {
    if (!GIVEN(terms) || !(terms->roofs > 0.0)) return (double)NAN;
    return seconds - (terms->roofs + terms->kernels + terms->threads + terms->others);
}

// ---- of an op ----------------------------------------------------------------------------------
// A kernel's excess is its time alone and warm beyond its warm roof. Its threads spun then, so the
// time of handing work to them is subtracted: it belongs to another term. A kernel that beat its
// roof has no excess.
static double kernel_seconds(const Machine *machine, const ProfileOp *op, double handing) {
    if (op->record.op->flags & OP_VIEW) return 0.0;
    RooflineInput input = roofline_op_input(&op->record.cost, &op->warm_traffic, op->warm_seconds);
    double more = op->warm_seconds - roofline_judge(machine, &input).roof_seconds - handing;
    return more < 0.0 ? 0.0 : more; // NaN stays
}

TimeTerms profile_op_terms(const Profile *profile, const ProfileOp *op) {
    if (!GIVEN(profile) || !GIVEN(op) || !profile->has_machine) return (TimeTerms){0};
    const Machine *machine = &profile->machine;
    TimeTerms terms = {.roofs = op->roofline.roof_seconds, .kernels = (double)NAN};
    double runs = (double)(op->latency.count * profile->steps_per_sample);
    if (!(runs > 0.0)) return terms;
    double handing = (double)op->record.traffic.handoffs * machine->spin_seconds;
    terms.kernels = kernel_seconds(machine, op, handing) + machine->dispatch_seconds;
    terms.threads =
        handing + (double)op->woken / runs * (machine->wake_seconds - machine->spin_seconds);
    return terms;
}

// ---- sums --------------------------------------------------------------------------------------
static void add_terms(TimeTerms *sum, const TimeTerms *terms) {
    sum->roofs += terms->roofs;
    sum->kernels += terms->kernels;
    sum->threads += terms->threads;
}

// Adds an op's terms to each of its phases, in its layer and in the totals.
static void add_op(Profile *profile, const ProfileOp *op) {
    TimeTerms terms = profile_op_terms(profile, op);
    ReportPhase phase = profile_report_phase(op->record.phase);
    ReportPhase sums[] = {phase, REPORT_STEP, REPORT_BACKWARD};
    for (int k = 0; k < (report_part_of_backward(phase) ? 3 : 2); k++) {
        add_terms(&profile->layers[op->layer].phase[sums[k]].terms, &terms);
        add_terms(&profile->totals[sums[k]].terms, &terms);
    }
}

void profile_find_terms(Profile *profile) {
    for (int64_t i = 0; i < profile->n_ops; i++) add_op(profile, &profile->ops[i]);
}
