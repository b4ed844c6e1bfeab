// test_loss_plot.c -- the picture of a training's losses: the places of its points and its level.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/report/plots.h"
#include "tests/helpers/harness.h"

// Splits the picture into `line`; returns the number of lines. Free line[0].
static int lines_of(const LossCurve *curve, double level, char *line[16]) {
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    loss_plot(curve, level, "pairs", file);
    fclose(file);
    int n = 0;
    char *rest = text;
    line[0] = text;
    for (char *at; (at = strsep(&rest, "\n")) && rest && n < 16;) line[n++] = at;
    return n;
}

// Losses fall from 4 to 1 in a straight line over 640 steps; the level is above the middle.
START_TEST(points_stand_where_the_losses_are) {
    LossCurve curve = {.first = 1, .last = 640};
    for (int64_t step = 1; step <= 640; step++)
        loss_curve_add(&curve, step, 4.0 - 3.0 * (double)(step - 1) / 639.0);
    char *line[16];
    ck_assert_int_eq(lines_of(&curve, 2.6, line), 12);
    ck_assert_int_eq(strncmp(line[0], "  3.98 +****", 12), 0);
    ck_assert_ptr_null(strstr(line[0], "-"));
    ck_assert_int_eq(strncmp(line[9], "  1.02 +     ", 13), 0);
    ck_assert_int_eq((int)strlen(line[9]), 8 + 64); // the last column has the lowest point
    int stars = 0;
    for (int i = 0; i < 10; i++)
        for (char *at = line[i]; (at = strchr(at, '*')); at++) stars++;
    ck_assert_int_eq(stars, 64);
    ck_assert_ptr_nonnull(strstr(line[4], "----")); // 1.02 + 2.96 x 5/9 = 2.66, nearest to 2.6
    ck_assert_int_eq(strncmp(line[10], "        step 1 ", 15), 0);
    ck_assert_str_eq(line[10] + 8 + 64 - 4, " 640"); // under the last column
    ck_assert_str_eq(line[11], "        *** training loss   --- pairs, 2.60");
    free(line[0]);
}
END_TEST

// No loss, one, fewer than columns, the later half missing, NaN.
START_TEST(few_losses_make_a_picture_too) {
    LossCurve none = {.first = 1, .last = 10}, one = none, half = {.first = 101, .last = 228};
    char *line[16];
    loss_curve_add(&none, 3, (double)NAN);
    loss_curve_add(&none, 11, 1.0); // beyond the last step
    ck_assert_int_eq(lines_of(&none, 2.0, line), 0);
    free(line[0]);
    loss_curve_add(&one, 1, 2.0);
    ck_assert_int_eq(lines_of(&one, 2.0, line), 12); // the level equals the loss
    ck_assert_ptr_nonnull(strstr(line[9], "*****"));
    free(line[0]);
    for (int64_t step = 101; step <= 164; step++) loss_curve_add(&half, step, 3.0);
    ck_assert_int_eq(lines_of(&half, 1.0, line), 12);
    ck_assert_str_eq(line[0], "  3.00 +********************************");
    ck_assert_int_eq(strncmp(line[10], "        step 101 ", 17), 0);
    free(line[0]);
}
END_TEST

// Even if training went the wrong way.
START_TEST(large_losses_stay_within_the_columns) {
    LossCurve curve = {.first = 1, .last = 640};
    for (int64_t step = 1; step <= 640; step++)
        loss_curve_add(&curve, step, exp(0.1 * (double)step));
    char *line[16];
    int n = lines_of(&curve, 2.6, line);
    ck_assert_int_eq(strncmp(line[0], " 4e+27 +", 8), 0);
    for (int i = 0; i < n; i++) ck_assert_msg(strlen(line[i]) <= 8 + 64, "%s", line[i]);
    free(line[0]);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {{points_stand_where_the_losses_are, 0},
                                 {few_losses_make_a_picture_too, 0},
                                 {large_losses_stay_within_the_columns, 0},
                                 {NULL, 0}};
    return harness_main("loss_plot", tests);
}
