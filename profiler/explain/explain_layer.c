// explain_layer.c -- explains one layer: its share of the step, its ops, and the sums behind its
// row of the report.
#include <string.h>

#include "profiler/explain/explain_parts.h"
#include "profiler/report/report_table.h"

enum { NAME_SHOWN = 48 };

// ---- the head --------------------------------------------------------------------------------
// Shortens a name to fit a line; keeps its end, which is more specific.
static Text shown_name(const char *path) { return text_fit_middle(path, NAME_SHOWN); }

static void print_title(const Profile *profile, const ProfileLayer *layer, FILE *file) {
    char shape[SHAPE_TEXT];
    Text name = profile_layer_title(profile, layer);
    bool renamed = strcmp(name.s, layer->path) != 0;
    Flow flow = flow_open(file, NULL);
    flow_say(&flow, "%s", shown_name(name.s).s);
    if (renamed) flow_say(&flow, ", path %s", shown_name(layer->path).s);
    if (layer->type[0]) flow_say(&flow, ", %s", layer->type);
    if (layer->input.ndim >= 0) flow_say(&flow, ", %s ->", shape_text(layer->input, shape));
    if (layer->input.ndim >= 0) flow_say(&flow, " %s", shape_text(layer->output, shape));
    if (layer->parameters > 0) flow_say(&flow, ", %s parameters", text_count(layer->parameters).s);
    flow_close(&flow);
}

// Prints weight (512, 784) or (64, 32, 3, 3) and bias (512,), if the layer owns nothing else.
static void print_parameters(const Profile *profile, int index, FILE *file) {
    const ProfileLayer *layer = &profile->layers[index];
    const OpRecord *op = explain_product(profile, index);
    if (!op || layer->parameters == 0) return;
    const Shape *weight = &op->in[1], *bias = &op->in[2];
    int64_t sum = shape_numel(*weight) + shape_numel(*bias);
    if (sum != layer->parameters || (weight->ndim != 2 && weight->ndim != 4)) return;
    bool grouped = weight->ndim == 4 && op->params.window.groups > 1;
    Flow flow = flow_open(file, "parameters");
    for (int i = 0; i < weight->ndim; i++)
        flow_say(&flow, "%s%s", i ? " x " : "", text_count(weight->dims[i]).s);
    if (bias->ndim == 1) flow_say(&flow, " + %s", text_count(bias->dims[0]).s);
    flow_say(&flow, " = %s (weight: out x in%s%s%s)", text_count(layer->parameters).s,
             grouped ? "/groups" : "", weight->ndim == 4 ? " x kh x kw" : "",
             bias->ndim == 1 ? "; bias: out" : "");
    flow_close(&flow);
}

static void print_share(const Profile *profile, const ProfileLayer *layer, FILE *file) {
    double step = latency_median(&profile->totals[REPORT_STEP].latency);
    double mine = profile_layer_seconds(layer);
    if (step > 0.0)
        flow_line(file, "time", "%s of the step's %s = %s", text_duration(mine).s,
                  text_duration(step).s, text_percent(mine / step).s);
}

// By Amdahl's law: the rest of the step stays the same.
static void print_gain(const Profile *profile, const ProfileLayer *layer, FILE *file) {
    double step = latency_median(&profile->totals[REPORT_STEP].latency);
    double mine = profile_layer_seconds(layer), rest = step - mine, half = step - 0.5 * mine;
    if (!(step > 0.0)) return;
    if (rest <= 0.0) {
        flow_line(file, "without it", "unknown: its medians exceed the step's (a noisy machine)");
        return;
    }
    flow_line(file, "without it", "the step would take %s, %s times as fast (Amdahl)",
              text_duration(rest).s, text_number(step / rest).s);
    flow_line(file, "twice as fast", "it would make the step take %s, %s times as fast",
              text_duration(half).s, text_number(step / half).s);
}

// ---- missing ops, and the reasons ------------------------------------------------------------
// Views do no work: dx may be needed even though no op computes it.
static bool only_views(const OpCost *cost) { return cost->bytes_read + cost->bytes_written == 0; }

// False for norms: one op gives the gradients of x and of the parameters.
static bool gives_dx_alone(const Profile *profile, int index) {
    uint64_t real = (uint64_t)precision_bytes(profile->precision);
    for (int64_t i = 0; i < profile->n_ops; i++) {
        const OpRecord *op = &profile->ops[i].record;
        bool ours = profile->ops[i].layer == index && op->phase >= PHASE_BACKWARD &&
                    op->phase <= PHASE_BACKWARD_WEIGHT;
        if (!ours || op->cost.bytes_written == 0) continue;
        if (op->phase != PHASE_BACKWARD_INPUT ||
            op->cost.bytes_written > real * (uint64_t)shape_numel(op->out))
            return false;
    }
    return true;
}

static void print_missing(const Profile *profile, int index, FILE *file) {
    const ProfileLayer *layer = &profile->layers[index];
    const ProfilePhase *phase = layer->phase;
    if (profile->kind == PROFILE_INFERENCE || phase[REPORT_FORWARD].ops == 0) return;
    bool first = index == 0 && shape_equal(layer->input, profile->input);
    const char *untrained = first ? "its input is the batch" : "nothing before it is trained";
    if (phase[REPORT_BACKWARD].ops == 0)
        flow_line(file, "no backward", "%s, and nothing in it is trained", untrained);
    else if (phase[REPORT_BACKWARD_INPUT].ops == 0 && !only_views(&phase[REPORT_BACKWARD].cost))
        flow_line(file, "no dx", "%s: nobody needs the gradient of x, so no backward_input%s",
                  untrained,
                  phase[REPORT_FORWARD].cost.macs > 0
                      ? "; backward has one product where other layers have two"
                      : "");
    else if (layer->parameters > 0 && phase[REPORT_BACKWARD_WEIGHT].ops == 0 &&
             gives_dx_alone(profile, index))
        flow_line(file, "no dweight", "its parameters are frozen, so there is no backward_weight");
}

static void print_kept(const Profile *profile, int index, FILE *file) {
    const ProfileLayer *layer = &profile->layers[index];
    if (layer->phase[REPORT_BACKWARD].ops == 0 || layer->phase[REPORT_FORWARD].ops == 0) return;
    Term terms[OPERANDS_MOST];
    int n = derive_kept(profile, index, terms);
    Flow flow = flow_open(file, "kept");
    if (layer->saved_bytes == 0)
        flow_say(&flow, "nothing more for backward: what it reads is there already (the batch, "
                        "parameters, what the layer before keeps)");
    else if (n == 0)
        flow_say(&flow, "%s B for backward", text_count(layer->saved_bytes).s);
    else {
        flow_sum(&flow, terms, n, (uint64_t)layer->saved_bytes, "B");
        flow_say(&flow, " for backward");
    }
    flow_close(&flow);
}

// ---- the sum ---------------------------------------------------------------------------------
static uint64_t macs_of(OpCost cost) { return cost.macs; }
static uint64_t bytes_of(OpCost cost) { return cost.bytes_read + cost.bytes_written; }

static void print_count(const ProfilePhase *phase, const char *label,
                        uint64_t (*count)(OpCost cost), const char *unit, FILE *file) {
    Term terms[STEP_PARTS];
    uint64_t total = count(phase[REPORT_STEP].cost);
    if (total == 0) return;
    for (int i = 0; i < STEP_PARTS; i++)
        terms[i] = (Term){report_phase_name(step_parts[i]), count(phase[step_parts[i]].cost)};
    Flow flow = flow_open(file, label);
    flow_sum(&flow, terms, STEP_PARTS, total, unit);
    flow_close(&flow);
}

static ReportPhase part_of(Phase phase) {
    return phase == PHASE_FORWARD     ? REPORT_FORWARD
           : phase == PHASE_OPTIMIZER ? REPORT_OPTIMIZER
                                      : REPORT_BACKWARD;
}

// For a phase of several ops: the sum of their medians, beside the phase's own median.
static void print_phase_time(const Profile *profile, int index, ReportPhase phase, FILE *file) {
    enum { MOST = 12 };
    const ProfilePhase *whole = &profile->layers[index].phase[phase];
    Term terms[MOST];
    uint64_t sum = 0, own = explain_nanoseconds(latency_median(&whole->latency));
    int n = 0;
    if (whole->ops < 2 || whole->ops > MOST) return;
    for (int64_t i = 0; i < profile->n_ops && n < MOST; i++) {
        const ProfileOp *op = &profile->ops[i];
        if (op->layer != index || part_of(op->record.phase) != phase) continue;
        uint64_t nanoseconds = explain_nanoseconds(latency_median(&op->latency));
        terms[n++] = (Term){op->record.op->name, nanoseconds};
        sum += nanoseconds;
    }
    Flow flow = flow_open(file, report_phase_name(phase));
    flow_sum(&flow, terms, n, sum, "ns");
    if (sum != own)
        flow_say(&flow, "; its own median is %s ns: medians do not add up exactly",
                 text_count((int64_t)own).s);
    flow_close(&flow);
}

// Prints "forward 1.07 us (1.05-1.09 us), backward ...; of 5" if there were several runs.
static void print_runs(const ProfileLayer *layer, FILE *file) {
    char text[300] = "";
    int64_t runs = 0;
    for (int i = 0; i < STEP_PARTS; i++) {
        const Latency *across = layer->phase[step_parts[i]].latency.across;
        size_t used = strlen(text);
        if (!across) continue;
        runs = across->count;
        snprintf(text + used, sizeof(text) - used, "%s%s %.20s (%.30s)", used ? ", " : "",
                 report_phase_name(step_parts[i]), text_duration(across->statistics.median).s,
                 text_durations(across->statistics.ci95_low, across->statistics.ci95_high).s);
    }
    if (runs > 0) flow_line(file, "across runs", "%s; of %lld", text, (long long)runs);
}

static void print_times(const Profile *profile, int index, FILE *file) {
    const ProfileLayer *layer = &profile->layers[index];
    Term terms[STEP_PARTS];
    uint64_t sum = 0;
    if (profile->totals[REPORT_STEP].latency.count == 0) return;
    for (int i = 0; i < STEP_PARTS; i++) {
        uint64_t own = explain_nanoseconds(latency_median(&layer->phase[step_parts[i]].latency));
        print_phase_time(profile, index, step_parts[i], file);
        terms[i] = (Term){report_phase_name(step_parts[i]), own};
        sum += own;
    }
    Flow flow = flow_open(file, "measured");
    flow_sum(&flow, terms, STEP_PARTS, sum, "ns");
    Text exact = text_duration(profile_layer_seconds(layer));
    bool same = strcmp(exact.s, text_duration(1e-9 * (double)sum).s) == 0;
    flow_say(&flow, " (%s%s)", exact.s, same ? "" : " before rounding");
    flow_close(&flow);
    print_runs(layer, file);
}

static void print_intensity(OpCost cost, FILE *file) {
    if (bytes_of(cost) > 0)
        flow_line(file, "intensity", "%s FLOP / %s B = %s FLOP/B",
                  text_count((int64_t)op_cost_total_flops(cost)).s,
                  text_count((int64_t)bytes_of(cost)).s, text_number(profile_intensity(cost)).s);
}

static void print_sum(const Profile *profile, int index, FILE *file) {
    const ProfileLayer *layer = &profile->layers[index];
    fputc('\n', file);
    flow_line(file, NULL, "%s in all: the row of the report",
              shown_name(profile_layer_title(profile, layer).s).s);
    print_count(layer->phase, "products", macs_of, "multiply-adds", file);
    print_count(layer->phase, "total", op_cost_total_flops, "FLOP", file);
    print_count(layer->phase, "bytes", bytes_of, "B", file);
    print_intensity(layer->phase[REPORT_STEP].cost, file);
    print_times(profile, index, file);
    explain_verdict(profile, &layer->phase[REPORT_STEP], profile_layer_seconds(layer), file);
    print_kept(profile, index, file);
}

// ---- one layer -------------------------------------------------------------------------------
// True if both ops are the same work in different batches of the step.
static bool is_repeated(const ProfileOp *a, const ProfileOp *b) {
    const OpRecord *x = &a->record, *y = &b->record;
    return a->layer == b->layer && x->op == y->op && x->phase == y->phase &&
           shape_equal(x->out, y->out) && memcmp(&x->cost, &y->cost, sizeof(x->cost)) == 0;
}

// In a step of several batches, explains an op that they share only once.
static void explain_once(const Profile *profile, int64_t place, FILE *file) {
    const ProfileOp *op = &profile->ops[place];
    int64_t times = 1, others = profile->accumulate > 1 ? profile->n_ops : 0;
    for (int64_t i = 0; i < others && i < place; i++)
        if (is_repeated(op, &profile->ops[i])) return;
    for (int64_t i = place + 1; i < others; i++) times += is_repeated(op, &profile->ops[i]);
    fputc('\n', file);
    explain_op(profile, op, file);
    if (times > 1)
        flow_line(file, "so often", "%s times in a step of %s batches", text_count(times).s,
                  text_count(profile->accumulate).s);
}

void explain_layer(const Profile *profile, int index, FILE *file) {
    const ProfileLayer *layer = &profile->layers[index];
    fputc('\n', file);
    print_title(profile, layer, file);
    print_parameters(profile, index, file);
    print_share(profile, layer, file);
    print_gain(profile, layer, file);
    print_missing(profile, index, file);
    for (int64_t i = 0; i < profile->n_ops; i++)
        if (profile->ops[i].layer == index) explain_once(profile, i, file);
    if (layer->phase[REPORT_STEP].ops > 1) print_sum(profile, index, file);
}

void explain_layer_briefly(const Profile *profile, int index, FILE *file) {
    const ProfileLayer *layer = &profile->layers[index];
    fputc('\n', file);
    char unit[160];
    snprintf(unit, sizeof(unit), "B (%s FLOP/B)",
             text_number(profile_intensity(layer->phase[REPORT_STEP].cost)).s);
    print_title(profile, layer, file);
    print_count(layer->phase, "total", op_cost_total_flops, "FLOP", file);
    print_count(layer->phase, "bytes", bytes_of, unit, file);
    print_share(profile, layer, file);
    explain_verdict(profile, &layer->phase[REPORT_STEP], profile_layer_seconds(layer), file);
}
