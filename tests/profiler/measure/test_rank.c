// test_rank.c -- the layers that take most of a step: on profiles made by hand, with step lengths
// as on a busy machine.
#include <stdlib.h>
#include <string.h>

#include "profiler/measure/rank.h"
#include "profiler/report/report.h"
#include "tensor/memory.h"
#include "tests/helpers/expect.h"

enum { LAYERS = 5, STEPS = 40, PHASES = 2 };

typedef struct Made { // a profile with samples of each layer's forward and backward
    ProfileLayer layers[LAYERS];
    double samples[LAYERS][PHASES][STEPS], steps[STEPS];
    Profile profile;
} Made;

static double draw(void) { return (double)random() / (double)RAND_MAX; }

// Layers of `micros` microseconds; types tell their kinds.
static void make(Made *made, const char *types[LAYERS], const double micros[LAYERS]) {
    static const ReportPhase phases[PHASES] = {REPORT_FORWARD, REPORT_BACKWARD};
    memset(made, 0, sizeof(*made));
    made->profile.accumulate = 1;
    made->profile.layers = made->layers;
    made->profile.n_layers = LAYERS;
    for (int i = 0; i < LAYERS; i++) {
        ProfileLayer *layer = &made->layers[i];
        snprintf(layer->path, sizeof(layer->path), "layer%d", i);
        snprintf(layer->type, sizeof(layer->type), "%s", types[i]);
        layer->input = layer->output = (Shape){.ndim = 1, .dims = {8}};
        for (int p = 0; p < PHASES; p++) {
            ProfilePhase *phase = &layer->phase[phases[p]];
            phase->ops = 1;
            phase->latency.samples = made->samples[i][p];
            phase->latency.count = STEPS;
            phase->latency.statistics.median = 0.5e-6 * micros[i];
            for (int s = 0; s < STEPS; s++) made->samples[i][p][s] = 0.5e-6 * micros[i];
        }
    }
}

static void stretch(Made *made, int layer, int step, double times) {
    for (int p = 0; p < PHASES; p++) made->samples[layer][p][step] *= times;
}

// Steps take `seconds` longer than their layers.
static Rank rank_between(Made *made, double seconds) {
    for (int s = 0; s < STEPS; s++) {
        made->steps[s] = seconds;
        for (int i = 0; i < LAYERS; i++)
            for (int p = 0; p < PHASES; p++) made->steps[s] += made->samples[i][p][s];
    }
    made->profile.totals[REPORT_STEP].latency = (Latency){.samples = made->steps, .count = STEPS};
    Rank rank;
    ck_assert_int_eq(rank_find(&made->profile, &rank), STATUS_OK);
    return rank;
}

static Rank rank_of(Made *made) { return rank_between(made, 0.0); }

static const char *own[LAYERS] = {"A", "B", "C", "D", "E"};

// Steps a hundred times as long change neither the first layer nor its part.
START_TEST(a_slow_step_moves_no_layer) {
    Made made;
    srandom((unsigned)_i);
    double micros[LAYERS];
    for (int i = 0; i < LAYERS; i++) micros[i] = 10.0 + 5.0 * i;
    int most = _i % LAYERS;
    micros[most] = 60.0;
    make(&made, own, micros);
    for (int s = 0; s < STEPS; s++) {
        double times = 1.0 + 99.0 * draw() * draw();
        for (int i = 0; i < LAYERS; i++) stretch(&made, i, s, times);
    }
    Rank rank = rank_of(&made);
    double all = 0.0;
    for (int i = 0; i < LAYERS; i++) all += micros[i];
    ck_assert_int_eq(rank.n, 1);
    ck_assert_int_eq(rank.steps, STEPS);
    ck_assert_int_eq(rank.kinds[0].layer, most);
    ck_assert_int_eq(rank.kinds[0].first, STEPS);
    ck_assert_double_eq_tol(rank.kinds[0].low, 60.0 / all, 1e-9);
    ck_assert_double_eq_tol(rank.kinds[0].high, 60.0 / all, 1e-9);
}
END_TEST

// Three of one type and shape rank together before a longer one; with another shape, apart.
START_TEST(layers_alike_are_one) {
    Made made;
    const char *types[LAYERS] = {"A", "B", "A", "C", "A"};
    const double micros[LAYERS] = {30, 61, 30, 5, 30};
    make(&made, types, micros);
    Rank rank = rank_of(&made);
    ck_assert_int_eq(rank.kinds[0].layer, 0);
    ck_assert_int_eq(rank.kinds[0].alike, 3);
    ck_assert_double_eq_tol(rank.kinds[0].seconds, 90e-6, 1e-12);
    made.layers[2].output.dims[0] = 9;
    rank = rank_of(&made);
    ck_assert_int_eq(rank.kinds[0].layer, 1);
    ck_assert_int_eq(rank.kinds[0].alike, 1);
    made.layers[2].output.dims[0] = 8;
    made.layers[4].phase[REPORT_FORWARD].cost.macs = 2; // a filter of another size
    ck_assert_int_eq(rank_of(&made).kinds[0].alike, 1);
}
END_TEST

// If others are first in more than a fifth of the steps, the next is named, too. (A third that is
// first more often than the second is named instead.)
START_TEST(the_next_is_named_where_others_are_first_in_over_a_fifth) {
    const double micros[LAYERS] = {50, 40, 5, 5, 5};
    for (int others = 0; others <= STEPS / 2; others++) {
        Made made;
        make(&made, own, micros);
        for (int s = 0; s < others; s++) stretch(&made, 2, s, 11.0);
        Rank rank = rank_of(&made);
        ck_assert_int_eq(rank.kinds[0].layer, 0);
        ck_assert_int_eq(rank.kinds[0].first, STEPS - others);
        ck_assert_int_eq(rank.n, 5 * others > STEPS ? 2 : 1);
        if (rank.n > 1) ck_assert_int_eq(rank.kinds[1].layer, 2);
        if (rank.n > 1) ck_assert_int_eq(rank.kinds[1].first, others);
    }
}
END_TEST

// One step in twenty may be longer, and one shorter, without changing the reported part.
START_TEST(a_part_is_the_middle_of_the_steps) {
    Made made;
    const double micros[LAYERS] = {60, 10, 10, 10, 10};
    make(&made, own, micros);
    stretch(&made, 0, 3, 1000.0);
    stretch(&made, 1, 7, 1000.0);
    Rank rank = rank_of(&made);
    ck_assert_double_eq_tol(rank.kinds[0].low, 0.6, 1e-9);
    ck_assert_double_eq_tol(rank.kinds[0].high, 0.6, 1e-9);
    for (int s = 10; s < 20; s++) stretch(&made, 0, s, 2.0);
    rank = rank_of(&made);
    ck_assert_double_eq_tol(rank.kinds[0].low, 0.6, 1e-9);
    ck_assert_double_eq_tol(rank.kinds[0].high, 0.75, 1e-9);
}
END_TEST

// The time between ops is ranked like a layer's, and the first layer is named beside it. If the
// layers' times exceed the step, there is no time between.
START_TEST(what_is_spent_between_the_ops_has_a_rank) {
    Made made;
    const double micros[LAYERS] = {60, 10, 10, 10, 10};
    make(&made, own, micros);
    ck_assert_int_eq(rank_between(&made, 59e-6).n, 1);
    Rank rank = rank_between(&made, 100e-6);
    ck_assert_int_eq(rank.kinds[0].layer, -1);
    ck_assert_int_eq(rank.kinds[0].first, STEPS);
    ck_assert_double_eq_tol(rank.kinds[0].low, 0.5, 1e-9);
    ck_assert_int_eq(rank.n, 2);
    ck_assert_int_eq(rank.kinds[1].layer, 0);
    ck_assert_double_eq_tol(rank.kinds[1].high, 0.3, 1e-9);
    rank = rank_between(&made, -50e-6);
    ck_assert_int_eq(rank.kinds[0].layer, 0);
    ck_assert_double_eq_tol(rank.kinds[0].high, 0.6, 1e-9);
}
END_TEST

// A profile read from a file has only medians, and one of the meta device has no times.
START_TEST(without_samples_medians_decide) {
    Made made;
    const double micros[LAYERS] = {10, 20, 70, 10, 10};
    make(&made, own, micros);
    made.layers[1].phase[REPORT_BACKWARD].latency.samples = NULL;
    Rank rank = rank_of(&made);
    ck_assert_int_eq(rank.steps, 0);
    ck_assert_int_eq(rank.n, 1);
    ck_assert_int_eq(rank.kinds[0].layer, 2);
    for (int i = 0; i < LAYERS; i++)
        for (int p = 0; p < REPORT_COUNT; p++) made.layers[i].phase[p].latency = (Latency){0};
    made.profile.totals[REPORT_STEP].latency = (Latency){0};
    for (int layers = LAYERS; layers >= 0; layers -= LAYERS) {
        made.profile.n_layers = layers;
        ck_assert_int_eq(rank_find(&made.profile, &rank), STATUS_OK);
        ck_assert_int_eq(rank.n, 0);
    }
}
END_TEST

START_TEST(any_request_may_fail) {
    Made made;
    const double micros[LAYERS] = {50, 40, 5, 5, 5};
    make(&made, own, micros);
    for (int s = 0; s < STEPS / 2; s++) stretch(&made, 1, s, 2.0);
    uint64_t before = memory_requests();
    rank_of(&made);
    uint64_t all = memory_requests() - before;
    for (uint64_t nth = 1; nth <= all; nth++) {
        Rank rank = {.n = -1};
        memory_fail_at(nth);
        ck_assert_int_eq(rank_find(&made.profile, &rank), STATUS_OUT_OF_MEMORY);
        memory_fail_at(0);
        ck_assert_int_eq(rank.n, -1);
        error_clear();
    }
}
END_TEST

// ---- the report --------------------------------------------------------------------------------
static void expect_said(Made *made, const char *text) {
    char *report;
    size_t size;
    rank_of(made);
    Latency *step = &made->profile.totals[REPORT_STEP].latency;
    step->statistics = (LatencyStatistics){.n = STEPS, .median = 100e-6, .iqr = 90e-6};
    FILE *file = open_memstream(&report, &size);
    report_print(&made->profile, file);
    fclose(file);
    ck_assert_msg(strstr(report, text), "no \"%s\" in\n%s", text, report);
    free(report);
}

// Also if the steps' lengths are noise.
START_TEST(the_report_says_where_to_start_and_in_how_many_steps) {
    Made made;
    const double micros[LAYERS] = {60, 10, 10, 10, 10};
    make(&made, own, micros);
    expect_said(&made, "  Start with layer0: 60% of each step, first in 40 of 40.\n");
    for (int s = 10; s < 20; s++) stretch(&made, 0, s, 2.0);
    expect_said(&made, "  Start with layer0: 60 to 75% of each step, first in 40 of 40.\n");
    for (int s = 20; s < 40; s++) stretch(&made, 1, s, 9.0);
    expect_said(&made, "  Start with layer0: 33 to 75% of each step, first in 20 of 40.\n"
                       "  Next is layer1, first in 20.\n");
    const char *types[LAYERS] = {"A", "A", "B", "A", "A"};
    make(&made, types, micros);
    expect_said(&made, "  Start with layer0 and 3 alike: 90% of each step, first in 40 of 40.\n");
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_slow_step_moves_no_layer, 20},
        {layers_alike_are_one, 0},
        {the_next_is_named_where_others_are_first_in_over_a_fifth, 0},
        {a_part_is_the_middle_of_the_steps, 0},
        {what_is_spent_between_the_ops_has_a_rank, 0},
        {without_samples_medians_decide, 0},
        {any_request_may_fail, 0},
        {the_report_says_where_to_start_and_in_how_many_steps, 0},
        {NULL, 0},
    };
    return harness_main("rank", tests);
}
