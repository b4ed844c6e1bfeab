// test_shrink.c -- weights in fewer bits, and pruned: compared with PyTorch's own, and odd values;
// a complete table, after which the model is unchanged.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profiler/report/shrink.h"
#include "tensor/memory.h"
#include "tests/fixtures/shrink.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/run_program.h"

// ---- values ------------------------------------------------------------------------------------
static void check_shrunk(ShrinkKind kind, const float *want) {
    float values[24];
    memcpy(values, shrink_w1, sizeof values);
    ck_assert_int_eq(shrink_values(kind, 0.3, values, 3, 8), STATUS_OK);
    for (int i = 0; i < 24; i++) ck_assert(fabsf(values[i] - want[i]) <= 1e-7f);
}

START_TEST(values_are_pytorchs) {
    check_shrunk(SHRINK_BFLOAT16, shrink_w1_bf16);
    check_shrunk(SHRINK_INT8, shrink_w1_int8);
    check_shrunk(SHRINK_PRUNED, shrink_w1_pruned);
}
END_TEST

START_TEST(odd_values) {
    float ties[] = {1.00390625f, 1.01171875f, -1.00390625f, 3.4e38f, NAN, -INFINITY, 0.0f};
    shrink_values(SHRINK_BFLOAT16, 0.0, ties, 1, 7); // ties round to even
    ck_assert(ties[0] == 1.0f && ties[1] == 1.015625f && ties[2] == -1.0f && ties[6] == 0.0f);
    ck_assert(isinf(ties[3]) && isnan(ties[4]) && ties[5] == -INFINITY);
    float rows[] = {0.0f, 0.0f, 1.0f, NAN, 254.0f, 1.0f, -127.0f, 63.4f, 1e-45f, -1e-45f};
    shrink_values(SHRINK_INT8, 0.0, rows, 5, 2);
    ck_assert(rows[0] == 0.0f && rows[1] == 0.0f && rows[2] == 1.0f && isnan(rows[3]));
    ck_assert(rows[4] == 254.0f && rows[5] == 0.0f); // half a step rounds to even
    ck_assert(rows[6] == -127.0f && rows[7] == 63.0f && rows[8] == 1e-45f);
    float equal[] = {2.0f, -1.0f, 1.0f, NAN, 1.0f};
    shrink_values(SHRINK_PRUNED, 0.5, equal, 1, 5); // half of 5: two, the first of the smallest
    ck_assert(equal[0] == 2.0f && equal[1] == 0.0f && equal[2] == 0.0f && equal[4] == 1.0f);
    ck_assert(isnan(equal[3]));
    shrink_values(SHRINK_PRUNED, 1.0, equal, 5, 1);
    for (int i = 0; i < 5; i++) ck_assert(equal[i] == 0.0f);
    for (int kind = 0; kind < SHRINK_COUNT; kind++)
        ck_assert_int_eq(shrink_values((ShrinkKind)kind, 0.5, equal, 0, 17), STATUS_OK);
}
END_TEST

// ---- a model -----------------------------------------------------------------------------------
static Layer *model_new(void) {
    MlpOptions options = mlp_defaults();
    options.activation = &op_tanh;
    Layer *model = mlp_new((int64_t[]){8, 3, 2}, 3, options);
    const float *values[] = {shrink_w1, shrink_b1, shrink_w2, shrink_b2};
    ParameterList list;
    ck_assert_int_eq(layer_parameters(model, &list), STATUS_OK);
    for (int i = 0; i < 4; i++) tensor_write_floats(list.items[i].tensor, values[i]);
    parameter_list_free(&list);
    return model;
}

static void check_unchanged(Layer *model) {
    const float *values[] = {shrink_w1, shrink_b1, shrink_w2, shrink_b2};
    ParameterList list;
    ck_assert_int_eq(layer_parameters(model, &list), STATUS_OK);
    for (int i = 0; i < 4; i++)
        ck_assert_mem_eq(tensor_data(list.items[i].tensor), values[i],
                         (size_t)tensor_bytes(list.items[i].tensor));
    parameter_list_free(&list);
    ck_assert(model->training);
}

static void last_fraction(void *argument, double fraction) {
    ck_assert(fraction > *(double *)argument && fraction <= 1.0);
    *(double *)argument = fraction;
}

START_TEST(the_output_moves_as_pytorchs_does) {
    Layer *model = model_new();
    Tensor *x = tensor_from_floats_new(SHAPE(5, 8), shrink_x);
    double fraction = 0.0;
    char line[120], name[40];
    FILE *file = tmpfile();
    ShrinkOptions options = {.ratio = 0.3, .progress = last_fraction, .argument = &fraction};
    ck_assert_msg(!shrink_print(model, x, options, file), "%s", error_message());
    ck_assert(fraction == 1.0);
    check_unchanged(model);
    rewind(file);
    for (int i = 0; fgets(line, sizeof line, file); i++) {
        double error[SHRINK_COUNT];
        ck_assert_int_le((int)strlen(line), 81);
        if (i < 2 || i > 4) continue;
        snprintf(name, sizeof name, "%.26s", line);
        ck_assert_int_eq(sscanf(line + 53, "%lf%% %lf%% %lf%%", &error[0], &error[1], &error[2]),
                         3);
        for (int k = 0; k < SHRINK_COUNT; k++)
            ck_assert_double_eq_tol(error[k], 100.0 * (double)shrink_errors[3 * (i - 2) + k], 6e-4);
        const char *const names[] = {"fc1.weight ", "fc2.weight ", "all of them "};
        ck_assert_ptr_nonnull(strstr(name, names[i - 2]));
        if (i == 4) ck_assert_ptr_nonnull(strstr(line, "    120 B     60 B     50 B"));
    }
    fclose(file);
    tensor_free(x);
    layer_free(model);
}
END_TEST

// Two weights that nearly cancel: rounding moves the output to many times its size.
START_TEST(an_output_that_moves_far_stays_within_the_columns) {
    Layer *model = linear_new(2, 1, false);
    float *weight = tensor_data(model->parameters[0].tensor);
    weight[0] = 10001.0f, weight[1] = -10000.99f;
    Tensor *x = tensor_from_floats_new(SHAPE(1, 2), (float[]){1, 1});
    FILE *file = tmpfile();
    char line[120];
    ck_assert_int_eq(shrink_print(model, x, (ShrinkOptions){.ratio = 0.5}, file), STATUS_OK);
    rewind(file);
    for (int i = 0; fgets(line, sizeof line, file); i++) {
        ck_assert_msg(strlen(line) <= 81, "%s", line);
        if (i == 2) ck_assert_ptr_nonnull(strstr(line, " 1e+08%\n"));
    }
    fclose(file);
    tensor_free(x);
    layer_free(model);
}
END_TEST

START_TEST(whatever_fails_the_model_is_as_it_was) {
    context_set_threads(1);
    Layer *model = model_new();
    Tensor *x = tensor_from_floats_new(SHAPE(5, 8), shrink_x);
    FILE *file = tmpfile();
    ShrinkOptions half = {.ratio = 0.5};
    ck_assert_int_eq(shrink_print(model, x, (ShrinkOptions){.ratio = (double)NAN}, file),
                     STATUS_INVALID_ARGUMENT);
    expect_error(STATUS_INVALID_ARGUMENT, "0 to 1");
    uint64_t failed = 0;
    for (uint64_t n = 1; failed + 1 == n && n < 1000; n++) {
        memory_fail_at(n);
        Status status = shrink_print(model, x, half, file);
        memory_fail_at(0);
        failed += status == STATUS_OUT_OF_MEMORY;
        if (!status) break;
        expect_error(STATUS_OUT_OF_MEMORY, "");
        ck_assert_int_eq(ftell(file), 0);
        check_unchanged(model);
    }
    ck_assert_uint_gt(failed, 10);
    fclose(file);
    tensor_free(x);
    layer_free(model);
}
END_TEST

// ---- the program -------------------------------------------------------------------------------
static const struct {
    const char *arguments, *what, *hint;
} wrong[] = {
    {"lenet5 --shrink --device meta", "--shrink", "--device cpu"},
    {"lenet5 --shrink --prune 1.5", "--prune 1.5", "from 0 to 1"},
    {"lenet5 --shrink --prune x", "--prune x", "from 0 to 1"},
};
enum { WRONG = sizeof wrong / sizeof wrong[0] };

START_TEST(what_does_not_fit_is_refused) {
    ProgramRun got =
        program_run(program_path("profile_model"), wrong[_i].arguments, PROGRAM_CAPTURED);
    program_check_refusal(&got, 2, wrong[_i].what, wrong[_i].hint);
}
END_TEST

START_TEST(the_program_prints_it) {
    ProgramRun got =
        program_run(program_path("profile_model"),
                    "lenet5 --shrink --prune 0 --iterations 1 --warmup 2", PROGRAM_CAPTURED);
    ck_assert_msg(got.status == 0 && !got.err[0], "%s", got.err);
    ck_assert_ptr_nonnull(strstr(got.out, "\nconv1.weight "));
    ck_assert_msg(strstr(got.out, "0.000%\nall of them") != NULL, "%s", got.out);
    program_run_free(&got);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {values_are_pytorchs, 0},
        {odd_values, 0},
        {the_output_moves_as_pytorchs_does, 0},
        {an_output_that_moves_far_stays_within_the_columns, 0},
        {whatever_fails_the_model_is_as_it_was, 0},
        {what_does_not_fit_is_refused, WRONG},
        {the_program_prints_it, 0},
        {NULL, 0},
    };
    return harness_main("shrink", tests);
}
