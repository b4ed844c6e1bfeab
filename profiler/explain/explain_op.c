// explain_op.c -- one op: shapes, every count with its formula filled in, bytes operand by operand,
// roof, measured time and verdict.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profiler/explain/explain_parts.h"
#include "profiler/report/report_table.h"

uint64_t explain_nanoseconds(double seconds) {
    return seconds > 0.0 && seconds < 1e9 ? (uint64_t)llround(1e9 * seconds) : 0;
}

// ---- shapes ----------------------------------------------------------------------------------
static void print_shapes(const OpRecord *record, const OpStory *story, FILE *file) {
    Flow flow = flow_open(file, "shapes");
    char shape[SHAPE_TEXT];
    int shown = 0;
    for (int i = 0; i < record->n_in && i < OP_RECORD_INPUTS; i++) {
        if (record->in[i].ndim < 0) continue;
        const char *name = story->in[i] ? story->in[i] : "input";
        flow_say(&flow, "%s%s %s", shown++ ? ", " : "", name, shape_text(record->in[i], shape));
    }
    if (record->n_in > OP_RECORD_INPUTS)
        flow_say(&flow, " and %d more", record->n_in - OP_RECORD_INPUTS);
    if (record->out.ndim >= 0)
        flow_say(&flow, " -> %s %s", story->out ? story->out : "output",
                 shape_text(record->out, shape));
    else
        flow_say(&flow, ", in place");
    flow_close(&flow);
}

// ---- counts ----------------------------------------------------------------------------------
void explain_kinds(const OpCost *cost, Term terms[COST_KINDS]) {
    terms[0] = (Term){"products", 2 * cost->macs};
    terms[1] = (Term){"bias", cost->bias_flops};
    terms[2] = (Term){"elementwise", cost->elementwise_flops};
    terms[3] = (Term){"transcendental", cost->transcendental_flops};
}

static void print_total(const OpCost *cost, FILE *file) {
    Term terms[COST_KINDS];
    explain_kinds(cost, terms);
    uint64_t total = op_cost_total_flops(*cost);
    int kinds = 0;
    for (int i = 0; i < COST_KINDS; i++) kinds += terms[i].value > 0;
    if (kinds == 1) return; // just printed
    Flow flow = flow_open(file, "total");
    if (kinds > 1)
        flow_sum(&flow, terms, COST_KINDS, total, "FLOP");
    else
        flow_say(&flow, "no arithmetic: it only moves bytes");
    flow_close(&flow);
}

static void print_counts(const Profile *profile, const OpRecord *record, const OpStory *story,
                         FILE *file) {
    const OpCost *cost = &record->cost;
    Derivation products = derive_products(profile, record, story);
    Derivation bias = derive_rule(profile, record, story->bias);
    Derivation elementwise = derive_rule(profile, record, story->elementwise);
    Derivation transcendental = derive_rule(profile, record, story->transcendental);
    derive_print(file, "products", &products, cost->macs, "multiply-adds");
    if (cost->macs > 0)
        flow_line(file, "FLOP", "2 x %s = %s", text_count((int64_t)cost->macs).s,
                  text_count((int64_t)(2 * cost->macs)).s);
    derive_print(file, "bias", &bias, cost->bias_flops, "FLOP");
    derive_print(file, "elementwise", &elementwise, cost->elementwise_flops, "FLOP");
    derive_print(file, "transcendental", &transcendental, cost->transcendental_flops, "FLOP");
    print_total(cost, file);
}

// ---- bytes -----------------------------------------------------------------------------------
static void print_side(const char *label, const Operand operands[], int n, bool written,
                       uint64_t total, FILE *file) {
    Term terms[OPERANDS_MOST];
    for (int i = 0; i < n; i++)
        terms[i] = (Term){operands[i].name, written ? operands[i].written : operands[i].read};
    Flow flow = flow_open(file, label);
    if (total == 0)
        flow_say(&flow, "nothing");
    else if (n == 0)
        flow_say(&flow, "%s B", text_count((int64_t)total).s);
    else
        flow_sum(&flow, terms, n, total, "B");
    flow_close(&flow);
}

// Without a measured time, since only the roof is needed.
static RooflineInput input_of(const OpRecord *record) {
    return roofline_op_input(&record->cost, &record->traffic, (double)NAN);
}

static void print_bytes(const Profile *profile, const ProfileOp *op, FILE *file) {
    const OpCost *cost = &op->record.cost;
    uint64_t all = cost->bytes_read + cost->bytes_written;
    Traffic traffic = {0};
    Operand operands[OPERANDS_MOST];
    int n = derive_operands(profile, op, operands);
    print_side("read", operands, n, false, cost->bytes_read, file);
    print_side("written", operands, n, true, cost->bytes_written, file);
    if (all == 0) return;
    const Term terms[] = {{"read", cost->bytes_read}, {"written", cost->bytes_written}};
    Flow flow = flow_open(file, "bytes");
    flow_sum(&flow, terms, 2, all, "B");
    RooflineInput input = input_of(&op->record);
    if (profile->has_machine) roofline_traffic(&profile->machine, &input, &traffic);
    for (int i = 0, shown = 0; profile->has_machine && i < profile->machine.n_levels; i++) {
        uint64_t here = traffic_bytes(&traffic, i);
        if (here > 0)
            flow_say(&flow, "%s %s %s", shown++ ? "," : ":", profile->machine.levels[i].name,
                     text_percent((double)here / (double)all).s);
    }
    flow_close(&flow);
    flow_line(file, "intensity", "%s FLOP / %s B = %s FLOP/B",
              text_count((int64_t)op_cost_total_flops(*cost)).s, text_count((int64_t)all).s,
              text_number(profile_intensity(*cost)).s);
}

// ---- roof, time, verdict ---------------------------------------------------------------------
static void print_memory_time(const Machine *machine, const RooflineInput *input, double seconds,
                              FILE *file) {
    Traffic traffic;
    roofline_traffic(machine, input, &traffic);
    Flow flow = flow_open(file, "memory");
    for (int i = 0, shown = 0; i < machine->n_levels; i++)
        for (int team = 0; team < TEAM_COUNT; team++) {
            LevelTime time =
                roofline_level_time(&machine->levels[i], (Team)team, &traffic.level[team][i]);
            if (!(time.seconds > 0.0)) continue;
            flow_say(&flow, "%s%s B%s%s / %s (%s%s)", shown++ ? " + " : "",
                     text_count((int64_t)time.bytes).s, time.what[0] ? " " : "", time.what,
                     text_rate(time.bytes_per_second, "B/s").s, machine->levels[i].name,
                     team == TEAM_ONE && time.what[0] ? ", one thread" : "");
        }
    flow_say(&flow, " = %s", text_duration(seconds).s);
    flow_close(&flow);
}

// The FLOPs at the peak, or the square roots and divisions if these take longer.
static void print_arithmetic(const Machine *machine, const RooflineInput *input,
                             const Roofline *roofline, FILE *file) {
    const Traffic *traffic = &input->traffic;
    Flow flow = flow_open(file, "arithmetic");
    if (roofline->compute_seconds > roofline->flop_seconds)
        flow_say(
            &flow, "%s square roots, %s divisions",
            text_count((int64_t)(traffic->slow[TEAM_ALL].roots + traffic->slow[TEAM_ONE].roots)).s,
            text_count(
                (int64_t)(traffic->slow[TEAM_ALL].divisions + traffic->slow[TEAM_ONE].divisions))
                .s);
    else
        flow_say(&flow, "%s FLOP / %s", text_count((int64_t)op_cost_total_flops(input->cost)).s,
                 text_rate(roofline->flops_per_second, "FLOP/s").s);
    bool alone = traffic->flops_alone > 0 && machine->peak_alone > 0.0;
    flow_say(&flow, "%s = %s", alone ? " (one thread)" : "",
             text_duration(roofline->compute_seconds).s);
    flow_close(&flow);
}

static void print_roof(const Profile *profile, const ProfileOp *op, FILE *file) {
    const OpRecord *record = &op->record;
    uint64_t flops = op_cost_total_flops(record->cost);
    uint64_t bytes = record->cost.bytes_read + record->cost.bytes_written;
    if (!profile->has_machine || (flops == 0 && bytes == 0)) return;
    const Machine *machine = &profile->machine;
    RooflineInput input = input_of(record);
    Roofline roofline = roofline_judge(machine, &input);
    if (flops > 0) print_arithmetic(machine, &input, &roofline, file);
    if (bytes > 0) print_memory_time(machine, &input, roofline.memory_seconds, file);
    flow_line(file, "roof", "%s%s", text_duration(roofline.roof_seconds).s,
              flops > 0 && bytes > 0 ? ", the longer of the two" : "");
}

static void print_measured(const Latency *latency, FILE *file) {
    if (latency->count == 0) return;
    const LatencyStatistics *s = &latency->statistics;
    Flow flow = flow_open(file, "measured");
    flow_say(&flow, "%s, median of %s", text_duration(s->median).s, text_count(s->n).s);
    if (s->ci95_reached)
        flow_say(&flow, " (this run %s)", text_durations(s->ci95_low, s->ci95_high).s);
    else
        flow_say(&flow, ", too few for an interval");
    flow_close(&flow);
}

void explain_evidence(const Profile *profile, const RooflineInput *input, FILE *file) {
    if (!profile->has_machine || input->ops == 0) return;
    char text[ROOFLINE_TEXT];
    Roofline roofline = roofline_judge(&profile->machine, input);
    flow_line(file, "verdict", "%s", roofline_evidence(&profile->machine, input, &roofline, text));
}

void explain_verdict(const Profile *profile, const ProfilePhase *phase, double seconds,
                     FILE *file) {
    RooflineInput input = profile_phase_input(phase, seconds);
    report_terms(&phase->terms, seconds, file);
    explain_evidence(profile, &input, file);
}

void explain_op(const Profile *profile, const ProfileOp *op, FILE *file) {
    const OpRecord *record = &op->record;
    Told told = explain_story(profile, op);
    flow_line(file, NULL, "%s: %s", phase_name(record->phase), record->op->name);
    if (told.does[0]) flow_line(file, "computes", "%s", told.does);
    print_shapes(record, &told.story, file);
    if (record->op->flags & OP_VIEW) {
        flow_line(file, "cost", "none: a view moves no bytes");
        return;
    }
    if (!op_is_counted(record->op, &record->params)) {
        flow_line(file, "cost", "unknown: this op declares none, and none is guessed");
        print_measured(&op->latency, file);
        return;
    }
    print_counts(profile, record, &told.story, file);
    print_bytes(profile, op, file);
    print_roof(profile, op, file);
    print_measured(&op->latency, file);
    TimeTerms terms = profile_op_terms(profile, op);
    report_terms(&terms, latency_median(&op->latency), file);
    RooflineInput input = profile_op_input(op);
    explain_evidence(profile, &input, file);
}
