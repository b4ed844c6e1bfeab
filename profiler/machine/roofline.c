// roofline.c -- finds the roof of an execution, and how close the execution comes to it. Not here:
// the wording (roofline_evidence.c), measuring the ceilings (machine.h) or the times.
#include "profiler/machine/roofline.h"
#include "tensor/given.h"

#include <assert.h>
#include <math.h>

const char *bound_name(Bound bound) {
    static const char *const names[] = {
#define BOUND_TEXT(name, text) text,
        BOUND_LIST(BOUND_TEXT)
#undef BOUND_TEXT
    };
    return (unsigned)bound < BOUND_COUNT ? names[bound] : "-";
}

// ---- judging

static double total_flops(const RooflineInput *input) {
    return (double)op_cost_total_flops(input->cost);
}

static uint64_t total_bytes(const RooflineInput *input) {
    return input->cost.bytes_read + input->cost.bytes_written;
}

static bool is_counted(const RooflineInput *input) {
    return total_flops(input) > 0.0 || total_bytes(input) > 0;
}

static bool is_measured(const RooflineInput *input) {
    return isfinite(input->seconds) && input->seconds > 0.0;
}

RooflineInput roofline_input(OpCost cost, const Traffic *traffic, int64_t ops, double seconds) {
    if (!GIVEN(traffic)) return (RooflineInput){0};
    return (RooflineInput){.cost = cost, .traffic = *traffic, .ops = ops, .seconds = seconds};
}

RooflineInput roofline_op_input(const OpCost *cost, const OpTraffic *traffic, double seconds) {
    if (!GIVEN(cost) || !GIVEN(traffic)) return (RooflineInput){0};
    RooflineInput input = {.cost = *cost, .ops = 1, .seconds = seconds};
    traffic_add_op(&input.traffic, traffic, cost);
    return input;
}

// Limits a level's bytes to the rest of the cost's bytes.
static void charge(LevelTraffic *here, uint64_t *reads, uint64_t *writes) {
    if (here->read > *reads) here->read = *reads;
    if (here->written > *writes) here->written = *writes;
    if (here->allocated > here->written) here->allocated = here->written;
    *reads -= here->read;
    *writes -= here->written;
}

void roofline_traffic(const Machine *machine, const RooflineInput *input, Traffic *traffic) {
    if (!GIVEN(machine) || !GIVEN(input) || !GIVEN(traffic)) return;
    uint64_t reads = input->cost.bytes_read, writes = input->cost.bytes_written;
    *traffic = input->traffic;
    for (int team = 0; team < TEAM_COUNT; team++)
        for (int i = 0; i < MACHINE_MAX_LEVELS; i++) {
            LevelTraffic *here = &traffic->level[team][i];
            if (i >= machine->n_levels) *here = (LevelTraffic){0};
            charge(here, &reads, &writes);
        }
    traffic->level[TEAM_ALL][machine->n_levels - 1].read += reads;
    traffic->level[TEAM_ALL][machine->n_levels - 1].written += writes;
}

static void keep_longer(LevelTime *longest, uint64_t bytes, double rate, const char *what) {
    double seconds = rate > 0.0 ? (double)bytes / rate : 0.0;
    if (seconds > longest->seconds) *longest = (LevelTime){seconds, bytes, rate, what};
}

LevelTime roofline_level_time(const MachineLevel *level, Team team, const LevelTraffic *traffic) {
    if (!GIVEN(level) || !GIVEN(traffic)) return (LevelTime){0};
    const double raised = 1.0 + level->raise.by;
    const MachineRates *rates = &level->rates[team];
    LevelTime longest = {.what = "", .bytes_per_second = raised * level->bytes_per_second};
    bool first = rates->store > 0.0;
    uint64_t comes = traffic->read + (first ? 0 : traffic->allocated);
    if (rates->fill > 0.0) {
        keep_longer(&longest, comes, raised * rates->fill, first ? "loaded" : "fetched");
        keep_longer(&longest, traffic->written, raised * rates->store, "stored");
        keep_longer(&longest, comes + traffic->written, raised * rates->move, "moved");
    } else {
        keep_longer(&longest, traffic->read + traffic->written, longest.bytes_per_second, "");
    }
    return longest;
}

static void charge_memory(const Machine *machine, const RooflineInput *input, Roofline *roofline) {
    uint64_t bytes = total_bytes(input);
    double most = 0.0;
    Traffic traffic;
    roofline_traffic(machine, input, &traffic);
    for (int i = 0; i < machine->n_levels; i++) {
        double seconds = 0.0;
        for (int team = 0; team < TEAM_COUNT; team++)
            seconds += roofline_level_time(&machine->levels[i], (Team)team, &traffic.level[team][i])
                           .seconds;
        roofline->memory_seconds += seconds;
        if (seconds < most) continue;
        most = seconds;
        roofline->level = i;
    }
    const MachineLevel *level = &machine->levels[roofline->level];
    bool counted = !(level->rates[TEAM_ALL].fill > 0.0); // only a bandwidth was given
    roofline->bytes_per_second =
        bytes == 0 || (counted && traffic_bytes(&traffic, roofline->level) == bytes)
            ? (1.0 + level->raise.by) * level->bytes_per_second
            : (double)bytes / roofline->memory_seconds;
}

// Roots and divisions share one unit of a core.
static double slow_seconds(const Machine *machine, const RooflineInput *input) {
    double seconds = 0.0;
    for (int team = 0; team < TEAM_COUNT; team++) {
        const OpSlow *slow = &input->traffic.slow[team];
        double one = (double)slow->roots * machine->root_seconds +
                     (double)slow->divisions * machine->division_seconds;
        seconds += team == TEAM_ALL && machine->threads > 1 ? one / machine->threads : one;
    }
    return seconds;
}

static void charge_arithmetic(const Machine *machine, const RooflineInput *input,
                              Roofline *roofline) {
    double flops = total_flops(input), alone = (double)input->traffic.flops_alone;
    double raised = 1.0 + machine->raise.by, peak = raised * machine->peak_flops_per_second;
    if (!(machine->peak_alone > 0.0) || alone > flops) alone = 0.0;
    roofline->flop_seconds = (flops - alone) / peak;
    if (alone > 0.0) roofline->flop_seconds += alone / (raised * machine->peak_alone);
    roofline->flops_per_second = alone > 0.0 ? flops / roofline->flop_seconds : peak;
    double slow = slow_seconds(machine, input);
    roofline->compute_seconds = fmax(roofline->flop_seconds, slow);
    roofline->slow = slow > fmax(roofline->flop_seconds, roofline->memory_seconds);
}

// A card's dispatch_seconds include launches, and it has no threads to hand work to.
static void charge_overhead(const Machine *machine, const RooflineInput *input,
                            Roofline *roofline) {
    roofline->overhead_seconds = machine->dispatch_seconds * (double)input->ops +
                                 machine->spin_seconds * (double)input->traffic.handoffs;
    if (input->transfer_bytes > 0 && machine->from_host_bytes_per_second > 0.0)
        roofline->transfer_seconds =
            (double)input->transfer_bytes / machine->from_host_bytes_per_second;
}

// Equal quotients of exact figures round equally, so a figure on the ridge counts as on the ridge.
static void decide(const RooflineInput *input, Roofline *roofline) {
    const double figure[BOUND_COUNT] = {[BOUND_COMPUTE] = roofline->flop_seconds,
                                        [BOUND_MEMORY] = roofline->memory_seconds,
                                        [BOUND_OVERHEAD] = roofline->overhead_seconds,
                                        [BOUND_TRANSFER] = roofline->transfer_seconds};
    roofline->bound = roofline->near = roofline->roof_bound = BOUND_COUNT;
    if (!is_counted(input)) return;
    int most = 0, second = 1;
    for (int i = 1; i < BOUND_COUNT; i++)
        if (figure[i] > figure[most]) most = i;
    if (most == second) second = 0;
    for (int i = 0; i < BOUND_COUNT; i++)
        if (i != most && figure[i] > figure[second]) second = i;
    roofline->bound = (Bound)most;
    if (figure[most] <= (double)ROOFLINE_NEAR_PERCENT / 100.0 * figure[second])
        roofline->near = (Bound)second;
    roofline->roof_bound =
        figure[BOUND_MEMORY] > figure[BOUND_COMPUTE] ? BOUND_MEMORY : BOUND_COMPUTE;
}

Roofline roofline_judge(const Machine *machine, const RooflineInput *input) {
    if (!GIVEN(machine) || !GIVEN(input)) return (Roofline){0};
    assert(machine->n_levels >= 1 && machine->n_levels <= MACHINE_MAX_LEVELS);
    Roofline roofline = {.intensity = (double)NAN, .roof_fraction = (double)NAN};
    uint64_t bytes = total_bytes(input);
    charge_memory(machine, input, &roofline);
    charge_arithmetic(machine, input, &roofline);
    roofline.roof_seconds = fmax(roofline.compute_seconds, roofline.memory_seconds);
    roofline.ridge = roofline.flops_per_second / roofline.bytes_per_second;
    if (bytes > 0) roofline.intensity = total_flops(input) / (double)bytes;
    roofline.judged = is_counted(input) && is_measured(input);
    if (roofline.judged) roofline.roof_fraction = roofline.roof_seconds / input->seconds;
    charge_overhead(machine, input, &roofline);
    decide(input, &roofline);
    return roofline;
}
