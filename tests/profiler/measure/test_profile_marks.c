// test_profile_marks.c -- a profile's remark on layers that are marked to run again: their names in
// few words. test_budget_recompute.c tests the choice.
#include "layers/containers.h"
#include "profiler/measure/profile.h"
#include "tests/helpers/expect.h"

enum { WIDTH = 4 };

// A model of `blocks` blocks with three layers each.
static Layer *model_new(int blocks) {
    Layer *model = sequential_new();
    for (int i = 0; i < blocks; i++) {
        Layer *block = sequential_new();
        layer_append(block, linear_new(WIDTH, WIDTH, false));
        layer_append(block, gelu_new());
        layer_append(block, linear_new(WIDTH, WIDTH, false));
        layer_append(model, block);
    }
    return model;
}

static ProfileRecompute marks_of(Layer *model) {
    Tensor *x = tensor_zeros_new(SHAPE(2, WIDTH));
    Profile profile;
    ck_assert_int_eq(profile_backward(model, x, (ProfileOptions){.warmup = 2, .iterations = 1},
                                      &profile),
                     STATUS_OK);
    ck_assert_msg(profile.reconciled, "%s", profile.difference);
    ProfileRecompute marks = profile.recompute;
    profile_free(&profile);
    tensor_free(x);
    return marks;
}

static const struct {
    unsigned set;
    int64_t layers;
    const char *paths;
} words[] = {{0, 0, ""},          {1, 1, "0"},    {3, 2, "0, 1"},       {7, 3, "0-2"},
             {0x17, 4, "0-2, 4"}, {0x3f, 6, "*"}, {0x2a, 3, "1, 3, 5"}, {0x1e, 4, "1-4"}};

START_TEST(marks_are_said_in_few_words) {
    Layer *model = model_new(6);
    for (int i = 0; i < 6; i++) layer_recompute(model->children[i], words[_i].set >> i & 1);
    ProfileRecompute marks = marks_of(model);
    ck_assert_int_eq(marks.layers, words[_i].layers);
    ck_assert_str_eq(marks.paths, words[_i].paths);
    ck_assert((marks.plain_bytes > 0) == (marks.layers > 0));
    layer_recompute(model->children[1]->children[0], true); // a mark inside a marked layer
    marks = marks_of(model);
    ck_assert_int_eq(marks.layers, words[_i].layers + 1);
    ck_assert_ptr_nonnull(strstr(marks.paths, "1.0"));
    layer_recompute(model, true); // the whole model
    ck_assert_int_eq(strncmp(marks_of(model).paths, "(model), ", 9), 0);
    layer_free(model);
}
END_TEST

// Compared with a profile without marks, the difference is exactly what ran again.
START_TEST(a_profile_says_what_the_marks_changed) {
    Layer *model = model_new(9);
    Tensor *x = tensor_zeros_new(SHAPE(50, WIDTH)), *labels = tensor_zeros_new(SHAPE(50, WIDTH));
    ProfileOptions options = {.warmup = 2, .iterations = 3, .loss = loss_mse, .accumulate = 1 + _i};
    OptimizerConfig config = optimizer_defaults(OPTIMIZER_ADAM);
    Profile plain, marked;
    profile_training(model, config, x, labels, options, &plain);
    for (int i = 0; i < 8; i++) layer_recompute(model->children[i], true);
    profile_training(model, config, x, labels, options, &marked);
    expect_no_error();
    ck_assert(plain.reconciled && marked.reconciled);
    ck_assert_int_eq(plain.recompute.plain_bytes, 0);
    ck_assert_int_eq(marked.recompute.plain_bytes, plain.measured.peak.total);
    ck_assert_int_lt(marked.measured.peak.total, plain.measured.peak.total);
    uint64_t before = op_cost_total_flops(plain.totals[REPORT_STEP].cost);
    const ProfilePhase *again = &marked.totals[REPORT_RECOMPUTE];
    ck_assert_uint_eq(marked.recompute.plain_flops, before);
    ck_assert_uint_eq(op_cost_total_flops(marked.totals[REPORT_STEP].cost) - before,
                      op_cost_total_flops(again->cost));
    ck_assert_int_eq(again->latency.count, 3);
    ck_assert_double_lt(latency_median(&again->latency),
                        latency_median(&marked.totals[REPORT_STEP].latency));
    ck_assert_int_eq(plain.totals[REPORT_RECOMPUTE].latency.count, 0);
    profile_free(&plain);
    profile_free(&marked);
    tensor_free(x);
    tensor_free(labels);
    layer_free(model);
}
END_TEST

START_TEST(many_marks_are_cut) {
    Layer *model = model_new(400);
    for (int i = 0; i < 400; i += 2) layer_recompute(model->children[i], true);
    ProfileRecompute marks = marks_of(model);
    size_t length = strlen(marks.paths);
    ck_assert_int_eq(marks.layers, 200);
    ck_assert(length < PROFILE_PATHS && length > PROFILE_PATHS - 8);
    ck_assert_str_eq(marks.paths + length - 5, ", ...");
    layer_free(model);
}
END_TEST

START_TEST(marks_go_to_a_model_made_alike) {
    Layer *model = model_new(4), *alike = model_new(4), *other = model_new(5);
    layer_recompute(model->children[2], true);
    layer_recompute(model->children[3]->children[1], true);
    layer_recompute(alike->children[0], true);
    ck_assert_int_eq(layer_recompute_as(alike, model), STATUS_OK);
    ck_assert_str_eq(marks_of(alike).paths, "2, 3.1");
    ck_assert_int_eq(layer_recompute_as(other, model), STATUS_SHAPE);
    expect_error(STATUS_SHAPE, "same children");
    ck_assert_int_eq(marks_of(other).layers, 0);
    ck_assert_int_eq(layer_recompute_as(NULL, model), STATUS_INVALID_ARGUMENT);
    error_clear();
    layer_free(model);
    layer_free(alike);
    layer_free(other);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {marks_are_said_in_few_words, sizeof words / sizeof words[0]},
        {a_profile_says_what_the_marks_changed, 3},
        {many_marks_are_cut, 0},
        {marks_go_to_a_model_made_alike, 0},
        {NULL, 0},
    };
    return harness_main("profile_marks", tests);
}
