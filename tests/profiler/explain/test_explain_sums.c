// test_explain_sums.c -- --explain, layer by layer and as a whole: its sums are the profile's, and
// a layer is found by the names that people use.
#include <stdlib.h>
#include <string.h>

#include "tests/helpers/expect.h"
#include "tests/helpers/nets.h"
#include "tests/profiler/explain/explained.h"

enum { SEEDS = 48 };

// ---- layers and totals -----------------------------------------------------------------------
static const ExplainedBlock *summary_of(const Explained *explained, const char *layer) {
    char title[160];
    snprintf(title, sizeof title, "%s in all", layer);
    return explained_block(explained, title);
}

START_TEST(a_layers_sum_is_its_row) {
    Profile profile = explained_profile(_i, PROFILE_TRAINING);
    Explained explained = explained_new(&profile, "fc*", NULL);
    for (int i = 0; i < profile.n_layers; i++) {
        const ProfileLayer *layer = &profile.layers[i];
        const ExplainedBlock *block = summary_of(&explained, layer->path);
        ck_assert(!block == (strncmp(layer->path, "fc", 2) != 0));
        if (!block) continue;
        const OpCost *cost = &layer->phase[REPORT_STEP].cost;
        ck_assert_uint_eq(explained_count(block, "products"), cost->macs);
        ck_assert_uint_eq(explained_count(block, "total"), op_cost_total_flops(*cost));
        ck_assert_uint_eq(explained_count(block, "bytes"), cost->bytes_read + cost->bytes_written);
        ck_assert_double_eq_tol((double)explained_count(block, "measured"),
                                1e9 * profile_layer_seconds(layer), 3.0);
        if (layer->saved_bytes > 0)
            ck_assert_int_eq((int64_t)explained_count(block, "kept"), layer->saved_bytes);
    }
    const ExplainedBlock *first = explained_block(&explained, "fc1, Linear");
    ck_assert(strstr(explained_text(first, "no dx"), "its input is the batch"));
    ck_assert_uint_eq(explained_count(first, "parameters"), (uint64_t)profile.layers[0].parameters);
    ck_assert(!explained_text(explained_block(&explained, "fc1 in all"), "no dx"));
    ck_assert(!strstr(strstr(explained.printed, "no dx") + 1, "no dx"));
    explained_free(&explained);
    profile_free(&profile);
}
END_TEST

START_TEST(totals_add_up) {
    for (int kind = 0; kind <= PROFILE_INFERENCE; kind++) {
        int equations;
        Profile profile = explained_profile(_i, (ProfileKind)kind);
        Explained explained = explained_new(&profile, NULL, &equations);
        ck_assert_int_ge(equations, 5);
        const ExplainedBlock *step = explained_block(&explained, "THE STEP");
        const ExplainedBlock *memory = explained_block(&explained, "MEMORY");
        const OpCost *cost = &profile.totals[REPORT_STEP].cost;
        ck_assert_uint_eq(explained_count(step, "products"), 2 * cost->macs);
        ck_assert_uint_eq(explained_count(step, "by kind"), op_cost_total_flops(*cost));
        ck_assert_uint_eq(explained_count(step, "by phase"), op_cost_total_flops(*cost));
        ck_assert_uint_eq(explained_count(step, "backward"),
                          profile.totals[REPORT_BACKWARD].cost.macs);
        double seconds = profile.totals[REPORT_STEP].latency.statistics.median;
        ck_assert_double_eq_tol((double)explained_count(step, "step"), 1e9 * seconds, 1.0);
        ck_assert_int_eq((int64_t)explained_count(memory, "peak"), profile.measured.peak.total);
        ck_assert_int_eq((int64_t)explained_count(memory, "for backward"),
                         profile.measured.saved_bytes);
        ck_assert_int_eq((int64_t)explained_count(memory, "parameters"), profile.parameter_bytes);
        ck_assert(!explained_text(memory, "optimizer") ==
                  !profile.measured.peak.category[MEM_OPTIMIZER]);
        ck_assert(!explained_text(memory, "a parameter") == (kind != PROFILE_TRAINING));
        ck_assert(strstr(explained_text(memory, "batch data"), " x "));
        for (int i = 0; i < profile.n_layers; i++) {
            cost = &profile.layers[i].phase[REPORT_STEP].cost;
            ck_assert_uint_eq(explained_count(&explained.blocks[i + 1], "total"),
                              op_cost_total_flops(*cost));
        }
        explained_free(&explained);
        profile_free(&profile);
    }
}
END_TEST

START_TEST(a_frozen_layer_says_what_it_does_not_do) {
    Net net = {.sizes = {7, 5, 4, 3}, .n_sizes = 4, .batch = 2, .options = mlp_defaults()};
    NetTask task = net_task_new(&net);
    ProfileOptions options = {.warmup = 2, .iterations = 2};
    Profile profile;
    for (int frozen = 0; frozen < 3; frozen++) { // fc1; fc1 and fc2; then x wants a gradient
        for (int k = 0; frozen < 2 && k < 2; k++)
            tensor_requires_grad(task.model->children[2 * frozen]->parameters[k].tensor, false);
        if (frozen == 2) tensor_requires_grad(task.x, true);
        ck_assert_int_eq(profile_training(task.model, optimizer_defaults(OPTIMIZER_ADAM), task.x,
                                          task.labels, options, &profile),
                         STATUS_OK);
        Explained explained = explained_new(&profile, "fc?", NULL);
        const ExplainedBlock *fc1 = explained_block(&explained, "fc1, Linear");
        const ExplainedBlock *fc2 = explained_block(&explained, "fc2, Linear");
        ck_assert(!explained_text(fc1, "no backward") == (frozen == 2));
        ck_assert(!explained_text(fc1, "no dweight") == (frozen != 2));
        ck_assert(!explained_text(fc2, "no backward") == (frozen != 1));
        ck_assert(!explained_text(fc2, "no dx") == (frozen != 0));
        ck_assert(!explained_text(fc2, "no dweight") == (frozen != 2));
        explained_free(&explained);
        explained = explained_new(&profile, NULL, NULL);
        explained_free(&explained);
        profile_free(&profile);
    }
    net_task_free(&task);
}
END_TEST

// explained_new checks every remaining equation.
static void check_no_false_sum(const Profile *profile, const char *what, bool listed) {
    static const char *const patterns[] = {NULL, "*"};
    int apart = 0;
    for (int i = 0; i < 2; i++) {
        Explained explained = explained_new(profile, patterns[i], NULL);
        apart += strstr(explained.printed, "together") != NULL;
        explained_free(&explained);
    }
    ck_assert_msg(!listed || apart > 0, "%s", what);
}

START_TEST(what_does_not_add_up_is_not_printed_as_a_sum) {
    Profile profile = explained_profile(_i, PROFILE_TRAINING);
    ProfilePhase *layer = profile.layers[0].phase, *totals = profile.totals;
    const struct {
        const char *name;
        uint64_t *count;
        bool listed; // printed as terms and a separate total
    } counts[] = {
        {"a layer's products", &layer[REPORT_FORWARD].cost.macs, true},
        {"a layer's bytes", &layer[REPORT_STEP].cost.bytes_read, true},
        {"a layer's FLOP", &layer[REPORT_BACKWARD].cost.elementwise_flops, true},
        {"the step's FLOP", &totals[REPORT_OPTIMIZER].cost.elementwise_flops, true},
        {"backward's products", &totals[REPORT_BACKWARD].cost.macs, true},
        {"dweight's products", &totals[REPORT_BACKWARD_WEIGHT].cost.macs, true},
        {"dx's products", &totals[REPORT_BACKWARD_INPUT].cost.macs, true},
        {"forward's products", &totals[REPORT_FORWARD].cost.macs, true},
        {"fc1's parameters", (uint64_t *)&profile.layers[0].parameters, false},
        {"all parameters", (uint64_t *)&profile.parameters, false},
        {"parameters with gradients", (uint64_t *)&profile.trainable_parameters, false},
        {"the batch", (uint64_t *)&profile.input.dims[0], false},
        {"bytes of gradients", (uint64_t *)&profile.measured.peak.category[MEM_GRADIENT], true},
        {"bytes of the batch", (uint64_t *)&profile.measured.peak.category[MEM_DATA], true},
        {"the peak", (uint64_t *)&profile.measured.peak.total, true},
        {"what a layer keeps", (uint64_t *)&profile.layers[0].saved_bytes, false},
        {"what all keep", (uint64_t *)&profile.measured.saved_bytes, false},
    };
    check_no_false_sum(&profile, "as it is", false);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        *counts[i].count += 7;
        check_no_false_sum(&profile, counts[i].name, counts[i].listed);
        *counts[i].count -= 7;
    }
    profile_free(&profile);
}
END_TEST

START_TEST(long_names_keep_their_columns) {
    Profile profile = explained_profile(_i, PROFILE_TRAINING);
    memset(profile.model, 'm', sizeof profile.model - 1);
    memset(profile.measured.peak_op, 'p', sizeof profile.measured.peak_op - 1);
    for (int i = 0; i < profile.n_layers; i++) {
        memset(profile.layers[i].path, 'a' + i % 26, sizeof profile.layers[i].path - 1);
        memset(profile.layers[i].type, 'T', sizeof profile.layers[i].type - 1);
    }
    Explained whole = explained_new(&profile, NULL, NULL);
    Explained explained = explained_new(&profile, "*", NULL);
    explained_free(&whole);
    explained_free(&explained);
    profile_free(&profile);
}
END_TEST

// ---- choice of layers ------------------------------------------------------------------------
static int layers_meant(const Profile *profile, const char *pattern) { // 0 if refused
    char *printed = NULL;
    size_t size;
    FILE *file = open_memstream(&printed, &size);
    Status status = explain_print(profile, pattern, file);
    fclose(file);
    int n = 0;
    for (const char *at = printed; (at = strstr(at, "\n  computes")); at++) n++;
    ck_assert_int_eq(status, n > 0 ? STATUS_OK : STATUS_INVALID_ARGUMENT);
    ck_assert(n > 0 || size == 0);
    free(printed);
    return n;
}

START_TEST(a_pattern_names_layers_as_the_report_does) {
    Net net = {.sizes = {7, 5, 3}, .n_sizes = 3, .batch = 2, .options = mlp_defaults()};
    net.optimizer = OPTIMIZER_ADAM;
    Profile profile = net_profile(&net, 2); // ops: fc1 3, relu1 2, fc2 4, loss 3, update 1
    const struct {
        const char *pattern;
        int ops;
    } cases[] = {{"fc1", 3},    {"fc?", 7},     {"FC*", 7}, {"*1", 5},      {"*", 13},
                 {"loss", 3},   {"CE loss", 3}, {"ce*", 3}, {"(model)", 1}, {"adam update", 1},
                 {"[fr]*1", 5}, {"fc", 0},      {"", 0},    {"fc3", 0},     {"adam", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_assert_msg(layers_meant(&profile, cases[i].pattern) == cases[i].ops, "%s",
                      cases[i].pattern);
        if (cases[i].ops > 0) continue;
        ck_assert(strstr(error_message(), cases[i].pattern));
        expect_error(STATUS_INVALID_ARGUMENT, "fc1, relu1, fc2, CE loss, Adam update");
    }
    profile_free(&profile);
}
END_TEST

START_TEST(an_unknown_layer_among_many_is_refused_in_one_line) {
    Net net = {.sizes = {2, 2}, .n_sizes = 2, .batch = 1, .options = mlp_defaults()};
    int64_t sizes[60];
    for (int i = 0; i < 60; i++) sizes[i] = 2;
    NetTask task = net_task_new(&net);
    layer_free(task.model);
    task.model = mlp_new(sizes, 60, mlp_defaults());
    Profile profile;
    ck_assert_int_eq(profile_inference(task.model, task.x,
                                       (ProfileOptions){.warmup = 2, .iterations = 2}, &profile),
                     STATUS_OK);
    char long_name[400] = "";
    memset(long_name, 'q', sizeof long_name - 1);
    ck_assert_int_eq(layers_meant(&profile, long_name), 0);
    ck_assert(strlen(error_message()) < 450 && !strchr(error_message(), '\n'));
    expect_error(STATUS_INVALID_ARGUMENT, "fc3, relu3");
    Explained explained = explained_new(&profile, NULL, NULL); // also without ceilings
    ck_assert(!strstr(explained.printed, "verdict") &&
              strstr(explained.printed, "all 117 together"));
    explained_free(&explained);
    profile_free(&profile);
    net_task_free(&task);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_layers_sum_is_its_row, SEEDS},
        {totals_add_up, SEEDS},
        {what_does_not_add_up_is_not_printed_as_a_sum, 24},
        {a_frozen_layer_says_what_it_does_not_do, 0},
        {long_names_keep_their_columns, 4},
        {a_pattern_names_layers_as_the_report_does, 0},
        {an_unknown_layer_among_many_is_refused_in_one_line, 0},
        {NULL, 0},
    };
    return harness_main("explain_sums", tests);
}
