// test_advice.c -- each rule of advice.h, on profiles made by hand: it fires when it should, says
// what the arithmetic says, and keeps silent otherwise.
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profiler/advice.h"
#include "tests/expect.h"

// ---- a profile made by hand --------------------------------------------------------------------
enum { FC1, RELU1, FC2, RELU2, FC3, LOSS, UPDATE, LAYERS };

typedef struct Sample { // the layers are borrowed by the profile
    ProfileLayer layers[LAYERS];
    Profile profile;
} Sample;

static void took(ProfilePhase *phase, double seconds) {
    phase->ops = 1;
    phase->latency.count = 10;
    phase->latency.statistics.median = seconds;
}

static void judged(ProfileLayer *layer, Bound bound, double fraction) {
    Roofline *roofline = &layer->phase[REPORT_STEP].roofline;
    *roofline = (Roofline){.bound = bound, .judged = true, .roof_fraction = fraction};
    roofline->roof_seconds = fraction * profile_layer_seconds(layer);
}

static void layer_is(Sample *s, int i, const char *path, const char *type, double forward,
                     double backward) {
    ProfileLayer *layer = &s->layers[i];
    snprintf(layer->path, sizeof(layer->path), "%s", path);
    snprintf(layer->type, sizeof(layer->type), "%s", type);
    took(&layer->phase[REPORT_FORWARD], forward);
    took(&layer->phase[REPORT_BACKWARD], backward);
    took(&layer->phase[REPORT_BACKWARD_WEIGHT], backward);
    if (strcmp(type, "Linear") != 0) return;
    static const ReportPhase products[] = {REPORT_FORWARD, REPORT_BACKWARD_WEIGHT};
    layer->parameters = 1000;
    for (int p = 0; p < 2; p++) { // half of the time is arithmetic at the peak
        layer->phase[products[p]].cost.macs = 1;
        layer->phase[products[p]].roofline.compute_seconds =
            0.5 * layer->phase[products[p]].latency.statistics.median;
    }
}

// A step of 1 ms: forward 300 us, backward 480 us, Adam 200 us, 20 us between ops; one op takes
// 1 us to dispatch, and half of what products take is arithmetic at the peak.
static void sample_new(Sample *s) {
    memset(s, 0, sizeof(*s));
    Profile *p = &s->profile;
    *p = (Profile){.batch = 64, .threads = 1, .layers = s->layers, .n_layers = LAYERS};
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
    layer_is(s, FC1, "fc1", "Linear", 200e-6, 300e-6);
    layer_is(s, RELU1, "relu1", "ReLU", 2e-6, 8e-6);
    layer_is(s, FC2, "fc2", "Linear", 80e-6, 140e-6);
    layer_is(s, RELU2, "relu2", "ReLU", 2e-6, 8e-6);
    layer_is(s, FC3, "fc3", "Linear", 15e-6, 23e-6);
    layer_is(s, LOSS, "loss", "CrossEntropy", 1e-6, 1e-6);
    snprintf(s->layers[UPDATE].path, sizeof(s->layers[UPDATE].path), "(model)");
    took(&s->layers[UPDATE].phase[REPORT_OPTIMIZER], 200e-6);
    took(&p->totals[REPORT_STEP], 1e-3);
    p->totals[REPORT_FORWARD].ops = 6;
    for (int i = 0; i < LAYERS; i++) judged(&s->layers[i], BOUND_COMPUTE, 0.7);
}

// The piece whose text begins so; NULL: none does.
static const Advice *find(const Sample *s, const char *begin) {
    static Advice advice[ADVICE_MOST];
    int n = advice_find(&s->profile, advice);
    for (int i = 0; i < n; i++)
        if (strncmp(advice[i].text, begin, strlen(begin)) == 0) return &advice[i];
    return NULL;
}

static void check(const Advice *advice, const char *text, const char *flag, const char *evidence,
                  double seconds, int64_t bytes, bool worth) {
    ck_assert_msg(advice != NULL, "no \"%s\"", text);
    ck_assert_str_eq(advice->text, text);
    ck_assert_str_eq(advice->check, flag);
    ck_assert_msg(strstr(advice->evidence, evidence), "%s: no %s", advice->evidence, evidence);
    if (isnan(seconds))
        ck_assert_msg(isnan(advice->seconds), "%s: %g s", text, advice->seconds);
    else
        ck_assert_double_eq_tol(advice->seconds, seconds, 1e-12);
    ck_assert_int_eq(advice->bytes, bytes);
    ck_assert_int_eq(advice->worth, worth);
}

static const double no_time = (double)NAN;

// ---- the batch ---------------------------------------------------------------------------------
START_TEST(a_larger_batch_shares_the_optimizer_dispatch_and_what_lies_between_ops) {
    Sample s;
    sample_new(&s);
    // Shared: 200 + 20 + 12 ops of 1 us = 232 us; 4 x 1000 / (232 + 4 x 768) = 1.21. At most: half
    // of the products' 758 us, and a dispatch of the 6 phases of the rest: 605 us, 1.83.
    check(find(&s, "larger batch"), "larger batch: +21-83% samples/s, +19.2 kB", "--batch 256",
          "of 1.00 ms any batch pays: optimizer 200 us, between ops 20.0 us, dispatch 12.0 us; "
          "with all but arithmetic at the peak 605 us",
          0.75 * 232e-6, -19200, true);
    s.profile.has_machine = false;
    check(find(&s, "larger batch"), "larger batch: at least +20% samples/s, +19.2 kB",
          "--batch 256", "dispatch 0 s; each sample more: 100 B", 0.75 * 220e-6, -19200, true);
    s.profile.batch = 1 << 23;
    ck_assert_ptr_null(find(&s, "larger batch")); // the flag goes no further
}
END_TEST

START_TEST(between_ops_counts_only_beyond_the_noise) {
    Sample s;
    sample_new(&s);
    s.profile.totals[REPORT_STEP].latency.statistics.iqr = 5e-6;
    check(find(&s, "larger batch"), "larger batch: +21-82% samples/s, +19.2 kB", "--batch 256",
          "between ops 15.0 us", 0.75 * 227e-6, -19200, true);
    s.profile.overhead_fraction = -0.01; // observed steps were 10 us faster
    ck_assert(strstr(find(&s, "larger batch")->evidence, "between ops 5.00 us"));
    s.profile.overhead_fraction = 0.01;
    ck_assert(strstr(find(&s, "larger batch")->evidence, "between ops 15.0 us"));
    s.profile.unattributed_seconds = -20e-6;
    ck_assert(strstr(find(&s, "larger batch")->evidence, "between ops 0 s"));
}
END_TEST

START_TEST(a_larger_batch_is_not_worth_it_where_nothing_is_shared) {
    Sample s;
    sample_new(&s);
    took(&s.layers[UPDATE].phase[REPORT_OPTIMIZER], 1e-6);
    s.profile.unattributed_seconds = 0.0;
    for (int i = 0; i < LAYERS; i++)
        for (int p = 0; p < REPORT_COUNT; p++) s.layers[i].phase[p].roofline.compute_seconds = 1.0;
    check(find(&s, "larger batch"), "larger batch: at most +1% samples/s, not worth it",
          "--batch 256", "optimizer 1.00 us", 0.75 * 13e-6, -19200, false);
}
END_TEST

START_TEST(half_the_batch_is_for_memory_and_tells_its_price) {
    Sample s;
    sample_new(&s);
    ck_assert_ptr_null(find(&s, "half the batch"));
    s.profile.measured.peak.category[MEM_ACTIVATION] = 40000;
    s.profile.measured.peak.category[MEM_DATA] = 20000;
    s.profile.measured.peak.total = 108000;
    // 1000 / (1000 + 605) = 0.62
    check(find(&s, "half the batch"), "half the batch: -3.20 kB at the peak, -38% samples/s",
          "--batch 32", "each sample more: 100 B", no_time, 3200, true);
    s.profile.batch = 1;
    ck_assert_ptr_null(find(&s, "half the batch"));
    s.profile.batch = 7; // 3 of 7 are left
    ck_assert_int_eq(find(&s, "half the batch")->bytes, 400);
}
END_TEST

// ---- the optimizer -----------------------------------------------------------------------------
START_TEST(sgd_moves_three_arrays_of_seven_or_five) {
    static const struct {
        const char *name, *text, *evidence;
        double saved;
        int64_t bytes;
    } cases[] = {
        {"Adam", "SGD for Adam: -114 us, -24.0 kB (other results!)", "moves 7", 4 / 7.0, 24000},
        {"AdamW", "SGD for AdamW: -114 us, -24.0 kB (other results!)", "moves 7", 4 / 7.0, 24000},
        {"Momentum", "SGD for Momentum: -80.0 us, -12.0 kB (other results!)", "moves 5", 2 / 5.0,
         12000},
    };
    Sample s;
    sample_new(&s);
    for (int i = 0; i < 3; i++) {
        snprintf(s.profile.optimizer, sizeof(s.profile.optimizer), "%s", cases[i].name);
        check(find(&s, "SGD"), cases[i].text, "--optimizer sgd", cases[i].evidence,
              cases[i].saved * 200e-6, cases[i].bytes, true);
    }
    static const char *const others[] = {"SGD", "", "Lion"};
    for (int i = 0; i < 3; i++) {
        snprintf(s.profile.optimizer, sizeof(s.profile.optimizer), "%s", others[i]);
        ck_assert_ptr_null(find(&s, "SGD"));
    }
}
END_TEST

START_TEST(sgd_is_for_time_or_where_the_state_is_the_largest_part_of_the_peak) {
    Sample s;
    sample_new(&s);
    took(&s.layers[UPDATE].phase[REPORT_OPTIMIZER], 30e-6); // saves 1.7 %
    ck_assert(find(&s, "SGD for Adam: -17.1 us")->worth);
    s.profile.measured.peak.category[MEM_ACTIVATION] = 24001;
    ck_assert_ptr_null(find(&s, "SGD"));
    took(&s.layers[UPDATE].phase[REPORT_OPTIMIZER], 36e-6); // saves 2.06 %
    ck_assert(find(&s, "SGD")->worth);
    took(&s.layers[UPDATE].phase[REPORT_OPTIMIZER], (double)NAN);
    ck_assert_ptr_null(find(&s, "SGD"));
}
END_TEST

// ---- fusing ------------------------------------------------------------------------------------
START_TEST(fusing_saves_at_most_the_activations_forward) {
    Sample s;
    sample_new(&s);
    s.layers[RELU1].phase[REPORT_FORWARD].cost =
        (OpCost){.bytes_read = 5000, .bytes_written = 5000};
    // 4 us, and 2 of the 6 ops between which 20 us lie
    check(find(&s, "fusing"), "fusing ReLU: at most 1%, not worth it", "--fuse",
          "2 ops take 4.00 us forward, and 6.67 us between ops; of 1.00 ms; 10.0 kB",
          4e-6 + 20e-6 / 3.0, 0, false);
    took(&s.layers[RELU1].phase[REPORT_FORWARD], 12e-6);
    check(find(&s, "fusing"), "fusing ReLU into products: at most -20.7 us", "--fuse", "14.0 us",
          14e-6 + 20e-6 / 3.0, 0, true);
}
END_TEST

START_TEST(only_an_activation_right_after_a_linear_layer_can_be_fused) {
    Sample s;
    sample_new(&s);
    snprintf(s.layers[FC2].type, sizeof(s.layers[FC2].type), "LayerNorm");
    ck_assert(strstr(find(&s, "fusing")->evidence, "1 op takes 2.00 us"));
    snprintf(s.layers[RELU1].type, sizeof(s.layers[RELU1].type), "Dropout");
    ck_assert_ptr_null(find(&s, "fusing"));
    static const char *const types[] = {"Sigmoid", "Tanh", "GELU", "GELU(tanh)"};
    for (int i = 0; i < 4; i++) {
        char begin[40];
        snprintf(s.layers[RELU1].type, sizeof(s.layers[RELU1].type), "%s", types[i]);
        snprintf(begin, sizeof(begin), "fusing %s: at most ", types[i]);
        ck_assert_ptr_nonnull(find(&s, begin));
    }
}
END_TEST

// ---- the layers --------------------------------------------------------------------------------
static void make_overhead(Sample *s) {
    for (int i = 0; i < LAYERS; i++) judged(&s->layers[i], BOUND_OVERHEAD, 0.01);
}

START_TEST(fewer_layers_where_overhead_takes_most_of_the_step) {
    Sample s;
    sample_new(&s);
    ck_assert_ptr_null(find(&s, "fewer"));
    make_overhead(&s);
    s.profile.unattributed_seconds = 100e-6;
    check(find(&s, "fewer"), "fewer, larger layers: -56.0 us for half the ops", "--layers N,N,...",
          "dispatch 12.0 us (1.00 us each), between them 100 us, of 1.00 ms; overhead-bound layers "
          "and the time between ops are 100%",
          56e-6, 0, true);
    s.layers[FC2].parameters = 0; // two layers are left: there is nothing to merge
    ck_assert_ptr_null(find(&s, "fewer"));
    s.layers[FC2].parameters = 1000;
    judged(&s.layers[FC1], BOUND_COMPUTE, 0.6); // half of the step
    judged(&s.layers[FC2], BOUND_MEMORY, 0.6);
    ck_assert_ptr_null(find(&s, "fewer"));
}
END_TEST

START_TEST(an_unexplained_layer_is_named) {
    Sample s;
    sample_new(&s);
    judged(&s.layers[FC1], BOUND_UNEXPLAINED, 0.3);
    judged(&s.layers[FC2], BOUND_UNEXPLAINED, 0.1);
    // 500 us, of which 30 % is 150 us, and that is 50 % of 300 us
    check(find(&s, "fc"), "fc1: 50% of the step, 30% of its roof: why?", "--explain fc1",
          "500 us, its roof allows 150 us; at 50% of it 200 us less. Suspects: waking a thread "
          "(15.0 us), page faults, a BLAS that repacks, other work on these cores",
          200e-6, 0, true);
    s.profile.machine.wake_seconds = 0.0;
    ck_assert_ptr_null(strstr(find(&s, "fc1")->evidence, "waking"));
    judged(&s.layers[FC1], BOUND_COMPUTE, 0.7);
    ck_assert_ptr_nonnull(find(&s, "fc2: 22% of the step, 10%"));
    judged(&s.layers[FC2], BOUND_UNEXPLAINED, 0.46); // 17.6 us from its half: too little
    ck_assert_ptr_null(find(&s, "fc2"));
    judged(&s.layers[FC2], BOUND_COMPUTE, 0.7);
    judged(&s.layers[FC3], BOUND_UNEXPLAINED, 0.1); // 3.7 % of the step
    ck_assert_ptr_null(find(&s, "fc3"));
    judged(&s.layers[UPDATE], BOUND_UNEXPLAINED, 0.25);
    ck_assert_str_eq(find(&s, "Adam update: 20% of")->check, "--explain '(model)'");
}
END_TEST

START_TEST(the_flag_that_explains_a_layer_matches_its_path) {
    static const char *const paths[] = {
        "encoder.layers.11.attention.projection",
        "a b",
        "it's",
        "fc[1]",
        "w*",
        "what?",
        "back\\slash",
        "\xC3\xA9tage.fc1",
        "\xE5\xB1\x82\xE5\xB1\x82",
        "tab\there",
        "-x",
        "'''''''''''''''''''''''''''",
        "0123456789012345678901234",
        "(model)",
        "$(reboot)",
    };
    Sample s;
    sample_new(&s);
    judged(&s.layers[FC1], BOUND_UNEXPLAINED, 0.1);
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        snprintf(s.layers[FC1].path, sizeof(s.layers[FC1].path), "%s", paths[i]);
        const Advice *advice = NULL;
        static Advice all[ADVICE_MOST];
        int n = advice_find(&s.profile, all);
        for (int k = 0; k < n; k++)
            if (strstr(all[k].check, "--explain ")) advice = &all[k];
        ck_assert_ptr_nonnull(advice);
        char pattern[64];
        snprintf(pattern, sizeof(pattern), "%s", advice->check + strlen("--explain "));
        size_t length = strlen(pattern);
        if (pattern[0] == '\'') { // as a shell reads it
            ck_assert(length > 2 && pattern[length - 1] == '\'');
            pattern[length - 1] = '\0';
            memmove(pattern, pattern + 1, length - 1);
        }
        ck_assert_msg(!strchr(pattern, '\''), "%s", advice->check);
        ck_assert_msg(fnmatch(pattern, paths[i], 0) == 0, "%s: %s", paths[i], advice->check);
    }
}
END_TEST

START_TEST(at_the_roof_only_less_work_helps) {
    static const struct {
        double fraction;
        bool fires;
    } cases[] = {{0.79, false}, {0.8, true}, {1.1, true}, {1.11, false}, {(double)NAN, false}};
    Sample s;
    sample_new(&s);
    for (int i = 0; i < 5; i++) {
        s.profile.totals[REPORT_STEP].roofline =
            (Roofline){.judged = true, .roof_fraction = cases[i].fraction, .roof_seconds = 0.8e-3};
        ck_assert_int_eq(find(&s, "at ") != NULL, cases[i].fires);
        if (i == 1)
            check(find(&s, "at "), "at 80% of the roof: only less work helps", "--layers N,N,...",
                  "800 us of 1.00 ms: better kernels could save 200 us at most", no_time, 0, true);
    }
}
END_TEST

// ---- threads and data --------------------------------------------------------------------------
START_TEST(idle_threads_are_not_needed) {
    static const struct {
        int threads;
        double busy;
        const char *flag; // NULL: keeps silent
    } cases[] = {{2, 1.02, "--threads 1"}, {2, 1.2, NULL}, {2, 2.0, NULL}, {8, 2.9, "--threads 3"},
                 {8, 7.6, NULL},           {1, 1.0, NULL}, {2, 0.1, NULL}, // others had the cores
                 {4, (double)NAN, NULL}};
    Sample s;
    sample_new(&s);
    for (int i = 0; i < 8; i++) {
        Advice advice[ADVICE_MOST];
        s.profile.threads = cases[i].threads;
        s.profile.cpu_seconds = 1e-3 * cases[i].busy;
        const char *flag = NULL;
        for (int k = advice_find(&s.profile, advice); k-- > 0;)
            if (strstr(advice[k].text, "threads would do")) flag = advice[k].check;
        ck_assert_msg(!flag == !cases[i].flag, "case %d", i);
        if (flag) ck_assert_str_eq(flag, cases[i].flag);
    }
    s.profile.threads = 2;
    s.profile.cpu_seconds = 1.02e-3;
    check(find(&s, "1 of 2"), "1 of 2 threads would do: at most 2% slower", "--threads 1",
          "1.02 of 2 threads are busy: 1.02 ms of processor time in 1.00 ms; waking one takes "
          "15.0 us",
          no_time, 0, true);
}
END_TEST

START_TEST(waiting_for_data_is_told_where_it_was_measured) {
    Sample s;
    sample_new(&s);
    ck_assert_ptr_null(find(&s, "data"));
    s.profile.data_wait = (Latency){.count = 50, .statistics = {.median = 49e-6}};
    check(find(&s, "data"), "data loading: at most 5%, not worth it", "--data DIR",
          "49.0 us after it is asked for, beside a step of 1.00 ms (50 waits)", 49e-6, 0, false);
    s.profile.data_wait.statistics.median = 60e-6;
    s.profile.threads = 2;
    check(find(&s, "waiting"), "waiting for data: 60.0 us before each step", "--threads 1", "60.0",
          60e-6, 0, true);
}
END_TEST

// ---- all of it ---------------------------------------------------------------------------------
START_TEST(what_saves_most_comes_first_and_what_is_not_worth_it_last) {
    Sample s;
    Advice advice[ADVICE_MOST];
    sample_new(&s);
    s.profile.threads = 2;
    s.profile.data_wait = (Latency){.count = 50, .statistics = {.median = 1e-6}};
    judged(&s.layers[FC1], BOUND_UNEXPLAINED, 0.3);
    static const char *const order[] = {"fc1", "larger", "SGD", "1 of 2", "fusing", "data"};
    ck_assert_int_eq(advice_find(&s.profile, advice), 6);
    for (int i = 0; i < 6; i++)
        ck_assert_msg(strncmp(advice[i].text, order[i], strlen(order[i])) == 0, "%d: %s", i,
                      advice[i].text);
}
END_TEST

START_TEST(the_least_of_too_many_is_left_out) {
    Sample s;
    Advice advice[ADVICE_MOST + 1] = {{.text = ""}};
    sample_new(&s);
    make_overhead(&s);
    judged(&s.layers[FC2], BOUND_UNEXPLAINED, 0.1);
    s.profile.threads = 2;
    s.profile.data_wait = (Latency){.count = 50, .statistics = {.median = 1e-6}};
    s.profile.totals[REPORT_STEP].roofline = (Roofline){.judged = true, .roof_fraction = 0.9};
    s.profile.measured.peak.category[MEM_ACTIVATION] = s.profile.measured.peak.total *= 2;
    s.profile.unattributed_seconds = 100e-6;
    ck_assert_int_eq(advice_find(&s.profile, advice), ADVICE_MOST); // all rules, but for waiting
    ck_assert_str_eq(advice[ADVICE_MOST].text, "");
    for (int i = 0; i < ADVICE_MOST; i++) ck_assert(!strstr(advice[i].text, "data"));
}
END_TEST

START_TEST(nothing_is_said_where_nothing_was_measured) {
    static const double steps[] = {(double)NAN, 0.0, -1.0, (double)INFINITY};
    Sample s;
    Advice advice[ADVICE_MOST];
    for (int i = 0; i < 5; i++) {
        sample_new(&s);
        if (i < 4) took(&s.profile.totals[REPORT_STEP], steps[i]);
        if (i == 4) s.profile.totals[REPORT_STEP].latency.count = 0;
        ck_assert_int_eq(advice_find(&s.profile, advice), 0);
    }
    ck_assert_int_eq(advice_find(&(Profile){.batch = 1}, advice), 0);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_larger_batch_shares_the_optimizer_dispatch_and_what_lies_between_ops, 0},
        {between_ops_counts_only_beyond_the_noise, 0},
        {a_larger_batch_is_not_worth_it_where_nothing_is_shared, 0},
        {half_the_batch_is_for_memory_and_tells_its_price, 0},
        {sgd_moves_three_arrays_of_seven_or_five, 0},
        {sgd_is_for_time_or_where_the_state_is_the_largest_part_of_the_peak, 0},
        {fusing_saves_at_most_the_activations_forward, 0},
        {only_an_activation_right_after_a_linear_layer_can_be_fused, 0},
        {fewer_layers_where_overhead_takes_most_of_the_step, 0},
        {an_unexplained_layer_is_named, 0},
        {the_flag_that_explains_a_layer_matches_its_path, 0},
        {at_the_roof_only_less_work_helps, 0},
        {idle_threads_are_not_needed, 0},
        {waiting_for_data_is_told_where_it_was_measured, 0},
        {what_saves_most_comes_first_and_what_is_not_worth_it_last, 0},
        {the_least_of_too_many_is_left_out, 0},
        {nothing_is_said_where_nothing_was_measured, 0},
        {NULL, 0},
    };
    return harness_main("advice", tests);
}
