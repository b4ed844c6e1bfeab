// test_weights.c -- the distribution of weights: compared with the definitions on small lists, and
// with numpy's nearest-rank percentiles ('inverted_cdf') on a long one.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/report/weights.h"
#include "tests/helpers/expect.h"

static WeightStatistics of(const float *values, int64_t n) {
    WeightStatistics statistics;
    Tensor *t = tensor_from_floats_new(SHAPE(n), values);
    ck_assert_int_eq(weights_summarise(t, &statistics), STATUS_OK);
    tensor_free(t);
    return statistics;
}

START_TEST(a_list_that_can_be_read_by_eye) {
    WeightStatistics s = of((float[]){3, -1, 0, 2, -0.0f, 1e-40f, NAN, -INFINITY}, 8);
    ck_assert(s.count == 8 && s.zeros == 2 && s.subnormal == 1 && s.not_finite == 2);
    ck_assert_double_eq_tol(s.mean, 4.0 / 6.0, 1e-12);
    ck_assert_double_eq_tol(s.deviation, sqrt(14.0 / 6.0 - 16.0 / 36.0), 1e-12);
    ck_assert(s.min == -1.0f && s.p1 == -1.0f && s.max == 3.0f && s.p99 == 3.0f);
    ck_assert(s.p25 == 0.0f && s.median == 0.0f && s.p75 == 2.0f);
}
END_TEST

START_TEST(nothing_has_no_statistics) {
    WeightStatistics s = of((float[]){0}, 0);
    ck_assert(s.count == 0 && isnan(s.mean) && isnan(s.deviation) && isnan(s.min) && isnan(s.p99));
    s = of((float[]){NAN}, 1);
    ck_assert(s.count == 1 && s.not_finite == 1 && isnan(s.median));
}
END_TEST

// numpy.percentile(x, q, method='inverted_cdf') of x[i] = ((i * 7919) % 1000) / 8, i < 1000.
START_TEST(percentiles_are_numpys_inverted_cdf) {
    float x[1000];
    for (int i = 0; i < 1000; i++) x[i] = (float)((i * 7919) % 1000) / 8.0f;
    WeightStatistics s = of(x, 1000);
    ck_assert(s.p1 == 1.125f && s.p25 == 31.125f && s.median == 62.375f);
    ck_assert(s.p75 == 93.625f && s.p99 == 123.625f && s.max == 124.875f);
    ck_assert_double_eq_tol(s.mean, 62.4375, 1e-12);
    ck_assert_double_eq_tol(s.deviation, 36.08437, 1e-5);
}
END_TEST

static int by_value(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

// Values of every size, sign and exponent, many repeated: percentiles equal a sorted list's.
START_TEST(percentiles_are_those_of_a_sorted_list) {
    enum { N = 5000 };
    float x[N];
    for (int n = 1; n <= N; n = 3 * n + 1) {
        for (int i = 0; i < n; i++)
            x[i] = ldexpf((float)(i * 7919 % 613) - 300.0f, i % 11 ? i % 5 : i % 250 - 150);
        WeightStatistics s = of(x, n);
        qsort(x, (size_t)n, sizeof(float), by_value);
        const float got[] = {s.min, s.p1, s.p25, s.median, s.p75, s.p99, s.max};
        const double percent[] = {0.0, 1.0, 25.0, 50.0, 75.0, 99.0, 100.0};
        for (int k = 0; k < 7; k++) {
            int rank = (int)ceil(percent[k] / 100.0 * n);
            ck_assert_msg(got[k] == x[rank < 1 ? 0 : rank - 1], "%g %% of %d", percent[k], n);
        }
    }
}
END_TEST

START_TEST(what_cannot_be_read_is_refused) {
    WeightStatistics s;
    Tensor *labels = tensor_from_labels_new(SHAPE(2), (int64_t[]){1, 2});
    ck_assert_int_eq(weights_summarise(labels, &s), STATUS_INVALID_ARGUMENT);
    error_clear();
    tensor_free(labels);
    context_set_device(device_meta());
    Layer *model = mlp_new((int64_t[]){4, 2}, 2, mlp_defaults());
    ck_assert_int_eq(weights_print(model, stdout), STATUS_INVALID_ARGUMENT);
    error_clear();
    layer_free(model);
}
END_TEST

START_TEST(every_parameter_has_a_line_of_at_most_80_columns) {
    MlpOptions options = mlp_defaults();
    Layer *model = mlp_new((int64_t[]){784, 512, 10}, 3, options);
    float *weight = tensor_data(model->children[0]->parameters[0].tensor);
    ck_assert_int_eq(layer_add_child(model, "a_long_name", linear_new(1, 1, true)), STATUS_OK);
    weight[0] = 1e30f, weight[1] = -1e30f, weight[2] = NAN;
    float *second = tensor_data(model->children[2]->parameters[0].tensor);
    for (int i = 0; i < 5120; i++) second[i] = i < 2560 ? -999.4f : 999.4f;
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    ck_assert_int_eq(weights_print(model, file), STATUS_OK);
    fclose(file);
    int lines = 0, long_paths = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"), lines++) {
        ck_assert_msg(strlen(line) <= 80 && line[strlen(line) - 1] != ' ', "%s", line);
        bool named = strchr(line, '~') && (strstr(line, "e.weight") || strstr(line, "ame.bias"));
        long_paths += named;
        if (strncmp(line, "fc2.weight", 10) == 0)
            ck_assert_msg(strstr(line, "  999.4  -999.4 -999.4 -999.4  999.4   999.4"), "%s", line);
    }
    ck_assert_int_eq(lines, 2 + 6 + 1);
    ck_assert_int_eq(long_paths, 2);
    free(text);
    layer_free(model);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_list_that_can_be_read_by_eye, 0},
        {nothing_has_no_statistics, 0},
        {percentiles_are_numpys_inverted_cdf, 0},
        {percentiles_are_those_of_a_sorted_list, 0},
        {what_cannot_be_read_is_refused, 0},
        {every_parameter_has_a_line_of_at_most_80_columns, 0},
        {NULL, 0},
    };
    return harness_main("weights", tests);
}
