// test_advice_laws.c -- rules for advice on any profile, made up or real: it promises no more than
// was measured, every piece cites numbers, and the section fits 80 columns.
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/advice/advice.h"
#include "profiler/base/text.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/nets.h"

// ---- every piece, every section ----------------------------------------------------------------
static void check_words(const char *text, size_t size, const char *what) {
    size_t length = strlen(text);
    ck_assert_msg(length > 0 && length + 1 < size, "%s is empty or cut: %s", what, text);
    ck_assert_msg(!strstr(text, "nan") && !strstr(text, "inf ") && !strstr(text, "-inf"), "%s: %s",
                  what, text);
}

// The time that a piece may save is part of the step (or, for waiting, lies between two steps), so
// it is at most that time.
static void check_piece(const Profile *profile, const Advice *advice) {
    double step = latency_median(&profile->totals[REPORT_STEP].latency);
    check_words(advice->text, sizeof(advice->text), "text");
    check_words(advice->check, sizeof(advice->check), "check");
    check_words(advice->evidence, sizeof(advice->evidence), "evidence");
    ck_assert_msg(strncmp(advice->check, "--", 2) == 0, "%s", advice->check);
    ck_assert_msg(strpbrk(advice->evidence, "0123456789"), "no number: %s", advice->evidence);
    bool waits = strstr(advice->evidence, "waits)");
    double most = waits ? fmax(0.0, latency_median(&profile->data_wait)) : step;
    ck_assert_msg(isnan(advice->seconds) || (advice->seconds >= 0.0 && advice->seconds <= most),
                  "%s: %g of %g s", advice->text, advice->seconds, most);
    ck_assert_int_eq(strstr(advice->text, "not worth it") == NULL, advice->worth);
}

static bool in_order(const Advice *a, const Advice *b) {
    if (a->worth != b->worth) return a->worth;
    if (isnan(a->seconds) != isnan(b->seconds)) return isnan(b->seconds);
    if (!isnan(a->seconds) && a->seconds != b->seconds) return a->seconds > b->seconds;
    return a->bytes >= b->bytes;
}

static void check_section(const Profile *profile, int found, int worth) {
    char *section = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&section, &size);
    advice_print(profile, file);
    fclose(file);
    int lines = 0, numbered = 0;
    char *rest = section;
    for (char *line; (line = strsep(&rest, "\n")) && rest; lines++) {
        size_t length = strlen(line);
        ck_assert_msg(text_width(line) <= 80, "%d columns: %s", text_width(line), line);
        ck_assert_msg(length == 0 || line[length - 1] != ' ', "a space ends: %s|", line);
        ck_assert_msg(length == 0 || strstr(line, "check it with") || strstr(line, " --"), "%s",
                      line);
        if (lines >= 2 && line[2] != '-') ck_assert_int_eq(line[2], '1' + numbered++);
    }
    int refused = found - worth;
    ck_assert_int_eq(lines == 0, found == 0);
    if (found > 0) {
        ck_assert_int_ge(lines, 3); // empty line, heading, one piece
        ck_assert_int_le(lines, 6);
        ck_assert_int_eq(lines - 2 - numbered > 0, refused > 0); // it gives a refusal
        int most = refused > 0 ? 3 : 4;
        ck_assert_int_ge(numbered, worth < most ? worth : most);
    }
    free(section);
}

static int check_advice(const Profile *profile) {
    Advice advice[ADVICE_MOST];
    int n = advice_find(profile, advice), worth = 0;
    for (int i = 0; i < n; i++) {
        check_piece(profile, &advice[i]);
        if (i > 0) ck_assert(in_order(&advice[i - 1], &advice[i]));
        worth += advice[i].worth;
    }
    check_section(profile, n, worth);
    return n;
}

// ---- made-up profiles --------------------------------------------------------------------------
static RandomState dice;

static double uniform(void) { return (double)random_next_below(&dice, 1 << 30) / (1 << 30); }
static double between(double least, double most) { // log-uniform
    return least * pow(most / least, uniform());
}
static double odd_seconds(double like) { // sometimes missing, or no sensible number
    static const double odd[] = {(double)NAN, 0.0, -1e-3, 1e-300, (double)INFINITY};
    return uniform() < 0.1 ? odd[random_next_below(&dice, 5)] : like * between(0.001, 2.0);
}
static const char *one_of(const char *const *names, int n) {
    return names[random_next_below(&dice, n)];
}

static void random_phase(ProfilePhase *phase, double step) {
    if (uniform() < 0.2) return; // this phase did not happen
    phase->ops = random_next_below(&dice, 5);
    phase->cost.macs = uniform() < 0.5 ? (uint64_t)between(1.0, 1e15) : 0;
    phase->cost.bytes_read = (uint64_t)between(1.0, 1e17);
    phase->latency.count = uniform() < 0.9;
    phase->latency.statistics.median = odd_seconds(step);
    phase->roofline = (Roofline){.bound = (Bound)random_next_below(&dice, BOUND_COUNT + 1),
                                 .judged = uniform() < 0.8,
                                 .compute_seconds = step * between(1e-6, 1.0),
                                 .roof_seconds = step * between(1e-6, 1.0),
                                 .roof_fraction = between(0.001, 1.5)};
}

static void random_layer(ProfileLayer *layer, double step) {
    static const char *const types[] = {"Linear", "Linear", "ReLU", "GELU(tanh)", "Dropout", ""};
    static const char *const paths[] = {"fc1",
                                        "(model)",
                                        "loss",
                                        "\xE5\xB1\x82.\xC3\xA9t\xC3\xA9",
                                        "encoder.layers.12.attention.projection.of.the.output",
                                        "a b'c\033[31m",
                                        "[*?]\\",
                                        "\xFF\xFE"};
    snprintf(layer->type, sizeof(layer->type), "%s", one_of(types, 6));
    snprintf(layer->path, sizeof(layer->path), "%s", one_of(paths, 8));
    layer->parameters = uniform() < 0.5 ? (int64_t)between(1.0, 1e14) : 0;
    for (int p = 0; p < REPORT_COUNT; p++) random_phase(&layer->phase[p], step);
}

enum { MOST_LAYERS = 12, PROFILES = 20000 };

static void random_profile(Profile *profile, ProfileLayer layers[MOST_LAYERS]) {
    static const char *const optimizers[] = {"Adam", "AdamW", "Momentum", "SGD", "", "Shampoo"};
    double step = between(1e-9, 1e5);
    memset(layers, 0, MOST_LAYERS * sizeof(ProfileLayer));
    *profile = (Profile){.layers = layers, .n_layers = (int)random_next_below(&dice, MOST_LAYERS)};
    for (int i = 0; i < profile->n_layers; i++) random_layer(&layers[i], step);
    for (int p = 0; p < REPORT_COUNT; p++) random_phase(&profile->totals[p], step);
    ProfilePhase *whole = &profile->totals[REPORT_STEP];
    whole->latency.count = uniform() < 0.9;
    whole->latency.statistics.median = uniform() < 0.95 ? step : odd_seconds(step);
    whole->latency.statistics.iqr = odd_seconds(0.1 * step);
    profile->batch = (int64_t)between(1.0, 1e9);
    profile->parameters = uniform() < 0.9 ? (int64_t)between(1.0, 1e14) : 0;
    profile->trainable_parameters = (int64_t)(uniform() * (double)profile->parameters);
    profile->parameter_bytes = 4 * profile->parameters;
    profile->bytes_per_sample =
        uniform() < 0.9 ? (int64_t)between(1.0, 1e9) : -(int64_t)between(1, 1e6);
    snprintf(profile->optimizer, sizeof(profile->optimizer), "%s", one_of(optimizers, 6));
    profile->threads = 1 + (int)random_next_below(&dice, 64);
    profile->has_machine = uniform() < 0.8;
    profile->machine.dispatch_seconds = between(1e-9, 1e-4);
    profile->machine.wake_seconds = uniform() < 0.5 ? between(1e-6, 1e-3) : 0.0;
    profile->unattributed_seconds = odd_seconds(step) - 0.5 * step;
    profile->overhead_fraction = uniform() < 0.9 ? uniform() - 0.5 : (double)NAN;
    profile->cpu_seconds = odd_seconds(between(1.0, 70.0) * step);
    for (int k = 0; k < PROBE_COUNT; k++) {
        double low = between(0.5, 4.0);
        if (uniform() < 0.5) profile->probes[k] = (Probe){5, low, low * between(1.0, 1.2), 1000};
    }
    profile->recompute.pattern[0] = uniform() < 0.5 ? '*' : '\0';
    profile->data_wait = (Latency){.count = uniform() < 0.5};
    profile->data_wait.statistics.median = odd_seconds(step);
    for (int c = 0; c < MEM_COUNT; c++) {
        profile->measured.peak.category[c] = uniform() < 0.8 ? (int64_t)between(1.0, 1e15) : 0;
        profile->measured.peak.total += profile->measured.peak.category[c];
    }
}

START_TEST(whatever_the_profile_says_advice_is_bounded_cited_ordered_and_fits) {
    static ProfileLayer layers[MOST_LAYERS];
    int pieces[ADVICE_MOST + 1] = {0};
    dice = (RandomState){.seed = 77};
    for (int i = 0; i < PROFILES; i++) {
        Profile profile;
        random_profile(&profile, layers);
        pieces[check_advice(&profile)]++;
    }
    for (int n = 0; n < ADVICE_MOST; n++) // all at once would contradict each other
        ck_assert_msg(pieces[n] > 0, "never %d pieces", n);
}
END_TEST

// ---- real ones ---------------------------------------------------------------------------------
static Profile judged_profile(const Net *net) {
    Machine machine;
    Profile profile;
    ck_assert_int_eq(machine_read("tests/fixtures/peaks.json", &machine), STATUS_OK);
    NetTask task = net_task_new(net);
    ProfileOptions options = {.warmup = 2, .iterations = 3, .machine = &machine};
    Status status = profile_training(task.model, optimizer_defaults(net->optimizer), task.x,
                                     task.labels, options, &profile);
    ck_assert_msg(status == STATUS_OK, "%s", error_message());
    net_task_free(&task);
    return profile;
}

START_TEST(the_laws_hold_for_real_nets) {
    Net net = net_random(_i);
    Profile profile = judged_profile(&net);
    check_advice(&profile);
    profile_free(&profile);
    profile = net_profile(&net, 3); // without a machine
    check_advice(&profile);
    profile_free(&profile);
}
END_TEST

START_TEST(on_meta_there_is_nothing_to_say) {
    Net net = net_random(_i);
    context_set_device(device_by_name("meta"));
    Profile profile = net_profile(&net, 1);
    ck_assert_int_eq(check_advice(&profile), 0);
    profile_free(&profile);
}
END_TEST

static int64_t bytes_of(const Profile *profile, const char *flag) {
    Advice advice[ADVICE_MOST];
    int n = advice_find(profile, advice);
    for (int i = 0; i < n; i++)
        if (strncmp(advice[i].check, flag, strlen(flag)) == 0) return advice[i].bytes;
    return 0;
}

// Bytes can be checked exactly: profile the same net with the advice applied.
START_TEST(predicted_bytes_are_those_that_following_the_advice_saves) {
    Net net = net_random(_i), follows = net;
    Profile before = net_profile(&net, 3);
    follows.optimizer = OPTIMIZER_SGD;
    Profile after = net_profile(&follows, 3);
    int64_t saved = before.measured.peak.total - after.measured.peak.total;
    int64_t predicted = bytes_of(&before, "--optimizer sgd");
    ck_assert_msg(predicted == 0 || llabs(saved - predicted) <= 16, "SGD: %lld, predicted %lld",
                  (long long)saved, (long long)predicted); // the step counter goes, too
    profile_free(&after);
    follows = net;
    follows.batch = 4 * net.batch;
    after = net_profile(&follows, 3);
    saved = before.measured.peak.total - after.measured.peak.total;
    predicted = bytes_of(&before, "--batch");
    ck_assert_int_lt(predicted, 0);
    ck_assert_msg(fabs((double)(saved - predicted)) <= 0.1 * fabs((double)saved),
                  "batch: %lld, predicted %lld", (long long)saved, (long long)predicted);
    profile_free(&after);
    profile_free(&before);
}
END_TEST

START_TEST(a_fused_net_is_not_told_to_fuse) {
    Net net = net_random(_i);
    Profile profile = net_profile(&net, 3);
    Advice advice[ADVICE_MOST];
    int n = advice_find(&profile, advice), found = 0;
    for (int i = 0; i < n; i++) found += strcmp(advice[i].check, "--fuse") == 0;
    bool can = !net.options.fuse && net.n_sizes > 2 && net.options.activation != NULL;
    ck_assert_int_eq(found, can);
    profile_free(&profile);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {whatever_the_profile_says_advice_is_bounded_cited_ordered_and_fits, 0},
        {the_laws_hold_for_real_nets, 24},
        {on_meta_there_is_nothing_to_say, 6},
        {predicted_bytes_are_those_that_following_the_advice_saves, 24},
        {a_fused_net_is_not_told_to_fuse, 24},
        {NULL, 0},
    };
    return harness_main("advice_laws", tests);
}
