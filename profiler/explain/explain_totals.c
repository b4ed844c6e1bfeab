// explain_totals.c -- the end of --explain without a layer: the sums behind the step's counts, time
// and memory.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profiler/explain/explain_parts.h"
#include "profiler/report/report_table.h"

enum { FEW_LAYERS = 12 }; // up to this number, one sum names all

// ---- counts ----------------------------------------------------------------------------------
static void print_counts(const Profile *profile, FILE *file) {
    const OpCost *cost = &profile->totals[REPORT_STEP].cost;
    uint64_t total = op_cost_total_flops(*cost);
    Term kinds[COST_KINDS];
    explain_kinds(cost, kinds);
    Term phases[STEP_PARTS];
    for (int i = 0; i < STEP_PARTS; i++)
        phases[i] = (Term){report_phase_name(step_parts[i]),
                           op_cost_total_flops(profile->totals[step_parts[i]].cost)};
    if (cost->macs > 0)
        flow_line(file, "products", "2 x %s multiply-adds = %s FLOP",
                  text_count((int64_t)cost->macs).s, text_count((int64_t)(2 * cost->macs)).s);
    Flow flow = flow_open(file, "by kind");
    flow_sum(&flow, kinds, COST_KINDS, total, "FLOP");
    flow_close(&flow);
    flow = flow_open(file, "by phase");
    flow_sum(&flow, phases, STEP_PARTS, total, "FLOP");
    flow_close(&flow);
}

// MACs of layers whose input needs no gradient: for them, backward is not twice the forward.
static uint64_t macs_without_dx(const Profile *profile, const ProfileLayer **only) {
    uint64_t macs = 0;
    int n = 0;
    for (int i = 0; i < profile->n_layers; i++) {
        const ProfilePhase *phase = profile->layers[i].phase;
        bool products = phase[REPORT_FORWARD].cost.macs > 0;
        if (!products || phase[REPORT_BACKWARD_INPUT].cost.macs > 0) continue;
        macs += phase[REPORT_FORWARD].cost.macs;
        *only = n++ == 0 ? &profile->layers[i] : NULL;
    }
    return macs;
}

static void print_backward(const Profile *profile, FILE *file) {
    const ProfilePhase *totals = profile->totals;
    uint64_t forward = totals[REPORT_FORWARD].cost.macs, all = totals[REPORT_BACKWARD].cost.macs;
    uint64_t input = totals[REPORT_BACKWARD_INPUT].cost.macs;
    uint64_t weight = totals[REPORT_BACKWARD_WEIGHT].cost.macs;
    uint64_t again = totals[REPORT_RECOMPUTE].cost.macs;
    const Term terms[] = {{"backward_input", input},
                          {"backward_weight", weight},
                          {"recomputed forward", again}};
    if (forward == 0 || all == 0) return;
    Flow flow = flow_open(file, "backward");
    flow_sum(&flow, terms, again > 0 ? 3 : 2, all, "multiply-adds");
    flow_say(&flow, ", %.4g x forward's %s", (double)all / (double)forward,
             text_count((int64_t)forward).s);
    flow_close(&flow);
    const ProfileLayer *only = NULL;
    uint64_t spared = macs_without_dx(profile, &only);
    flow = flow_open(file, "why");
    flow_say(&flow, "a product has two in backward, for the gradients of its input and of its "
                    "weight");
    if (spared > 0 && weight == forward && forward - spared == input)
        flow_say(&flow, "; %s has the second alone, since its input needs none: %s - %s = %s",
                 only ? profile_layer_title(profile, only).s : "what reads the batch",
                 text_count((int64_t)forward).s, text_count((int64_t)spared).s,
                 text_count((int64_t)input).s);
    flow_close(&flow);
}

// ---- time ------------------------------------------------------------------------------------
static void print_time(const Profile *profile, FILE *file) {
    const Latency *step = &profile->totals[REPORT_STEP].latency;
    if (step->count == 0) return;
    Term terms[FEW_LAYERS];
    Text names[FEW_LAYERS];
    uint64_t layers = 0, whole = explain_nanoseconds(latency_median(step));
    bool few = profile->n_layers <= FEW_LAYERS;
    for (int i = 0; i < profile->n_layers; i++) {
        uint64_t own = explain_nanoseconds(profile_layer_seconds(&profile->layers[i]));
        if (few) names[i] = profile_layer_title(profile, &profile->layers[i]);
        if (few) terms[i] = (Term){names[i].s, own};
        layers += own;
    }
    Flow flow = flow_open(file, "layers");
    if (few)
        flow_sum(&flow, terms, profile->n_layers, layers, "ns");
    else
        flow_say(&flow, "all %d together %s ns", profile->n_layers, text_count((int64_t)layers).s);
    flow_close(&flow);
    bool more = layers > whole;
    flow_line(file, "step", "layers %s %c %s %s = %s ns (%s, median of %s)",
              text_count((int64_t)layers).s, more ? '-' : '+', more ? "excess" : "unattributed",
              text_count((int64_t)(more ? layers - whole : whole - layers)).s,
              text_count((int64_t)whole).s, text_duration(step->statistics.median).s,
              text_count(step->count).s);
    flow_line(file, "",
              "Unattributed is what lies between ops. Layers are timed in steps of their own, and "
              "medians of parts need not add up to the median of the whole%s.",
              more ? ": here they exceed it" : "");
}

// ---- memory ----------------------------------------------------------------------------------
static void print_bytes(FILE *file, const char *label, uint64_t each, uint64_t count,
                        uint64_t bytes, const char *why) {
    if (bytes == 0) return;
    if (each * count == bytes)
        flow_line(file, label, "%s x %s = %s B (%s)", text_count((int64_t)each).s,
                  text_count((int64_t)count).s, text_count((int64_t)bytes).s, why);
    else
        flow_line(file, label, "%s B", text_count((int64_t)bytes).s);
}

static void print_batch(const Profile *profile, uint64_t bytes, FILE *file) {
    uint64_t elements = (uint64_t)shape_numel(profile->input), labels = (uint64_t)profile->batch;
    bool labelled = profile->kind == PROFILE_TRAINING;
    if (bytes == 0) return;
    uint64_t real = (uint64_t)precision_bytes(profile->precision);
    if (real * elements + (labelled ? 8 * labels : 0) != bytes)
        flow_line(file, "batch data", "%s B", text_count((int64_t)bytes).s);
    else if (labelled)
        flow_line(file, "batch data", "%llu x %s + 8 x %s = %s B (x and labels)",
                  (unsigned long long)real, text_count((int64_t)elements).s,
                  text_count((int64_t)labels).s, text_count((int64_t)bytes).s);
    else
        print_bytes(file, "batch data", real, elements, bytes, "x");
}

static void print_state(const Profile *profile, FILE *file) {
    const int64_t *bytes = profile->measured.peak.category;
    static const char *const states[][2] = {{NULL}, {"state"}, {"m", "v"}};
    int64_t real = precision_bytes(profile->precision), n = profile->trainable_parameters;
    if (n == 0 || n != profile->parameters || profile->kind != PROFILE_TRAINING) return;
    int64_t kept = bytes[MEM_OPTIMIZER] / (real * n), each = real * (2 + kept);
    if (kept > 2 || bytes[MEM_OPTIMIZER] != real * n * kept || bytes[MEM_GRADIENT] != real * n ||
        bytes[MEM_PARAMETER] != real * n)
        return;
    Text each_of = text_count(real);
    Flow flow = flow_open(file, "a parameter");
    flow_say(&flow, "weight %s + gradient %s", each_of.s, each_of.s);
    for (int64_t k = 0; k < kept; k++) flow_say(&flow, " + %s %s", states[kept][k], each_of.s);
    flow_say(&flow, " = %s B with %s", text_count(each).s, profile->optimizer);
    flow_close(&flow);
    flow_line(file, "all of them", "%s x %s = %s B", text_count(each).s, text_count(n).s,
              text_count(each * n).s);
}

static void print_kept(const Profile *profile, FILE *file) {
    Term terms[FEW_LAYERS];
    Text names[FEW_LAYERS];
    int n = 0;
    if (profile->measured.saved_bytes == 0) return;
    for (int i = 0; i < profile->n_layers; i++) {
        const ProfileLayer *layer = &profile->layers[i];
        if (layer->saved_bytes == 0) continue;
        if (n == FEW_LAYERS) {
            flow_line(file, "for backward", "%s B of activations are kept",
                      text_count(profile->measured.saved_bytes).s);
            return;
        }
        names[n] = profile_layer_title(profile, layer);
        terms[n] = (Term){names[n].s, (uint64_t)layer->saved_bytes};
        n++;
    }
    Flow flow = flow_open(file, "for backward");
    flow_sum(&flow, terms, n, (uint64_t)profile->measured.saved_bytes, "B");
    flow_say(&flow, " of activations are kept");
    flow_close(&flow);
}

static void print_memory(const Profile *profile, FILE *file) {
    const MemoryUse *peak = &profile->measured.peak;
    uint64_t parameters = (uint64_t)profile->parameters;
    uint64_t trainable = (uint64_t)profile->trainable_parameters;
    uint64_t bytes[MEM_COUNT];
    Term terms[MEM_COUNT];
    for (int c = 0; c < MEM_COUNT; c++) {
        bytes[c] = (uint64_t)peak->category[c];
        terms[c] = (Term){memory_category_name((MemoryCategory)c), bytes[c]};
    }
    uint64_t real = (uint64_t)precision_bytes(profile->precision);
    uint64_t state = trainable ? bytes[MEM_OPTIMIZER] / trainable : 0;
    fputc('\n', file);
    flow_line(file, NULL, "MEMORY at its peak: %s", profile->measured.peak_op);
    print_bytes(file, "parameters", real, parameters, bytes[MEM_PARAMETER],
                precision_brief(profile->precision));
    print_bytes(file, "gradients", real, trainable, bytes[MEM_GRADIENT], "one per parameter");
    print_bytes(file, "optimizer", state, trainable, bytes[MEM_OPTIMIZER],
                state == real ? "one per parameter" : "m and v of each parameter");
    print_batch(profile, bytes[MEM_DATA], file);
    Flow flow = flow_open(file, "peak");
    flow_sum(&flow, terms, MEM_COUNT, (uint64_t)peak->total, "B");
    flow_close(&flow);
    print_state(profile, file);
    print_kept(profile, file);
}

void explain_totals(const Profile *profile, FILE *file) {
    RooflineInput input = profile_step_input(profile);
    fputc('\n', file);
    flow_line(file, NULL, "THE STEP");
    print_counts(profile, file);
    print_backward(profile, file);
    print_time(profile, file);
    explain_evidence(profile, &input, file);
    print_memory(profile, file);
    fputc('\n', file);
    flow_line(file, NULL, "CONVENTIONS");
    flow_line(file, "FLOP", "a multiply-add is 2; exp, log, tanh, erf, sqrt and pow are 1 each");
    flow_line(file, "bytes", "compulsory traffic: each distinct operand once");
    flow_line(file, "times", "medians");
    flow_line(file, "more", "--help counts; --help roofline; a layer in full: --explain %s",
              profile->n_layers > 0 ? profile->layers[0].path : "NAME");
}
