// advice_sample.c -- the profile of advice_sample.h.
#include "tests/profiler/advice/advice_sample.h"

#include <stdio.h>
#include <string.h>

void sample_took(ProfilePhase *phase, double seconds) {
    phase->ops = 1;
    phase->latency.count = 10;
    phase->latency.statistics.median = seconds;
}

void sample_judged(ProfileLayer *layer, Bound bound, double fraction) {
    Roofline *roofline = &layer->phase[REPORT_STEP].roofline;
    *roofline = (Roofline){.bound = bound, .judged = true, .roof_fraction = fraction};
    roofline->roof_seconds = fraction * profile_layer_seconds(layer);
}

static void layer_is(Sample *s, int i, const char *path, const char *type, double forward,
                     double backward) {
    ProfileLayer *layer = &s->layers[i];
    snprintf(layer->path, sizeof(layer->path), "%s", path);
    snprintf(layer->type, sizeof(layer->type), "%s", type);
    sample_took(&layer->phase[REPORT_FORWARD], forward);
    sample_took(&layer->phase[REPORT_BACKWARD], backward);
    sample_took(&layer->phase[REPORT_BACKWARD_WEIGHT], backward);
    if (strcmp(type, "Linear") != 0) return;
    static const ReportPhase products[] = {REPORT_FORWARD, REPORT_BACKWARD_WEIGHT};
    layer->parameters = 1000;
    for (int p = 0; p < 2; p++) { // half of the time is arithmetic
        layer->phase[products[p]].cost.macs = 1;
        layer->phase[products[p]].roofline.compute_seconds =
            0.5 * layer->phase[products[p]].latency.statistics.median;
    }
}

void sample_new(Sample *s) {
    memset(s, 0, sizeof(*s));
    Profile *p = &s->profile;
    *p = (Profile){.batch = 64,
                   .unit = "samples",
                   .units = 64,
                   .threads = 1,
                   .layers = s->layers,
                   .n_layers = LAYERS};
    p->parameters = p->trainable_parameters = 3000;
    p->parameter_bytes = 12000;
    p->bytes_per_sample = 100;
    p->measured.peak.category[MEM_PARAMETER] = 12000;
    p->measured.peak.category[MEM_GRADIENT] = 12000;
    p->measured.peak.category[MEM_OPTIMIZER] = 24000;
    p->measured.peak.total = 48000;
    snprintf(p->optimizer, sizeof(p->optimizer), "Adam");
    p->unattributed_seconds = 20e-6;
    p->cpu_seconds = 1e-3;
    p->has_machine = true;
    p->machine = (Machine){.dispatch_seconds = 1e-6, .wake_seconds = 15e-6};
    p->ops = s->forward;
    p->n_ops = LOSS;
    for (int i = 0; i < LOSS; i++)
        s->forward[i] =
            (ProfileOp){.record = {.op = i == RELU1 || i == RELU2 ? &op_relu : &op_linear},
                        .layer = i};
    layer_is(s, FC1, "fc1", "Linear", 200e-6, 300e-6);
    layer_is(s, RELU1, "relu1", "ReLU", 2e-6, 8e-6);
    layer_is(s, FC2, "fc2", "Linear", 80e-6, 140e-6);
    layer_is(s, RELU2, "relu2", "ReLU", 2e-6, 8e-6);
    layer_is(s, FC3, "fc3", "Linear", 15e-6, 23e-6);
    layer_is(s, LOSS, "loss", "CrossEntropy", 1e-6, 1e-6);
    snprintf(s->layers[UPDATE].path, sizeof(s->layers[UPDATE].path), "(model)");
    sample_took(&s->layers[UPDATE].phase[REPORT_OPTIMIZER], 200e-6);
    p->totals[REPORT_OPTIMIZER].cost = (OpCost){.bytes_read = 48000, .bytes_written = 36000};
    sample_took(&p->totals[REPORT_STEP], 1e-3);
    p->totals[REPORT_STEP].ops = 20; // 6 of them are forward
    for (int i = 0; i < LAYERS; i++) sample_judged(&s->layers[i], BOUND_COMPUTE, 0.7);
}

const Advice *sample_find(const Sample *s, const char *begin) {
    static Advice advice[ADVICE_MOST];
    int n = advice_find(&s->profile, advice);
    for (int i = 0; i < n; i++)
        if (strncmp(advice[i].text, begin, strlen(begin)) == 0) return &advice[i];
    return NULL;
}

void sample_all_overhead(Sample *s) {
    for (int i = 0; i < LAYERS; i++) sample_judged(&s->layers[i], BOUND_OVERHEAD, 0.01);
}

void advice_check(const Advice *advice, AdviceWanted wanted) {
    ck_assert_msg(advice != NULL, "no \"%s\"", wanted.text);
    ck_assert_str_eq(advice->text, wanted.text);
    ck_assert_str_eq(advice->check, wanted.check);
    ck_assert_msg(strstr(advice->evidence, wanted.evidence), "%s: no %s", advice->evidence,
                  wanted.evidence);
    if (isnan(wanted.seconds))
        ck_assert_msg(isnan(advice->seconds), "%s: %g s", wanted.text, advice->seconds);
    else
        ck_assert_double_eq_tol(advice->seconds, wanted.seconds, 1e-12);
    ck_assert_int_eq(advice->bytes, wanted.bytes);
    ck_assert_int_eq(advice->worth, wanted.worth);
}
