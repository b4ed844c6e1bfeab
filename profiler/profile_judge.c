// profile_judge.c -- holds every phase and every op of a profile against the machine's ceilings.
#include <string.h>

#include "profiler/profile_parts.h"

static void judge(const Machine *machine, ProfilePhase *phase, double seconds) {
    RooflineInput input = {.cost = phase->cost, .ops = phase->ops, .seconds = seconds};
    memcpy(input.level_bytes, phase->level_bytes, sizeof(input.level_bytes));
    if (phase->ops > 0) phase->roofline = roofline_judge(machine, &input);
}

static void judge_op(const Machine *machine, ProfileOp *op) {
    RooflineInput input = {.cost = op->record.cost,
                           .ops = 1,
                           .seconds = latency_median(&op->latency)};
    memcpy(input.level_bytes, op->record.level_bytes, sizeof(input.level_bytes));
    op->roofline = roofline_judge(machine, &input);
}

void profile_judge(Profile *profile) {
    const Machine *machine = &profile->machine;
    for (int p = 0; p < REPORT_COUNT; p++)
        judge(machine, &profile->totals[p], latency_median(&profile->totals[p].latency));
    for (int64_t i = 0; i < profile->n_ops; i++) judge_op(machine, &profile->ops[i]);
    for (int i = 0; i < profile->n_layers; i++) {
        ProfileLayer *layer = &profile->layers[i];
        for (int p = 0; p < REPORT_STEP; p++)
            judge(machine, &layer->phase[p], latency_median(&layer->phase[p].latency));
        judge(machine, &layer->phase[REPORT_STEP], profile_layer_seconds(layer));
    }
}
