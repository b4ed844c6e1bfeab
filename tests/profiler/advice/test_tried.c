// test_tried.c -- advice that was tried: results as predicted, results that differ and by how much,
// and the basis of the prediction; 80 columns. test_profile_again.c tests trying it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/advice/advice_tried.h"
#include "tests/helpers/harness.h"
#include "tests/helpers/run_program.h"

static Trials one(double low, double high, double median) {
    Trials trials = {.n = 1};
    Tried *tried = &trials.tried[0];
    snprintf(tried->advice.apply, sizeof tried->advice.apply, "--batch 256");
    snprintf(tried->advice.assumes, sizeof tried->advice.assumes, "nothing changes");
    tried->advice.gain_low = low;
    tried->advice.gain_high = high;
    tried->advice.bytes = -1790000;
    tried->ratio = (LatencyStatistics){.n = 5,
                                       .median = 1.0 + median,
                                       .ci95_low = 0.99 + median,
                                       .ci95_high = 1.02 + median,
                                       .confidence = 0.9375};
    tried->without = (RunFigures){.units = 64, .peak_bytes = 9000000};
    tried->with = (RunFigures){.units = 256, .peak_bytes = 10790000};
    tried->without.phase[REPORT_FORWARD] = 640e-6;
    tried->without.phase[REPORT_STEP] = 1.28e-3;
    tried->with.phase[REPORT_FORWARD] = 2048e-6;
    return trials;
}

static char *printed(const Trials *trials) {
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    tried_print(trials, "samples", file);
    fclose(file);
    program_check_columns(text);
    return text;
}

static const struct {
    double low, high, median;
    bool good;
} cases[] = {{0.11, 0.23, 0.18, true},   {0.11, 0.23, 0.0901, true},  {0.11, 0.23, 0.0899, false},
             {0.11, 0.23, 0.2399, true}, {0.11, 0.23, 0.2401, false}, {-0.05, 0.0, -0.04, true},
             {-0.05, 0.0, 0.5, false}}; // measured range: 1 point below the median to 2 above
enum { CASES = sizeof cases / sizeof cases[0] };

START_TEST(what_overlaps_the_range_is_as_predicted) {
    Trials trials = one(cases[_i].low, cases[_i].high, cases[_i].median);
    ck_assert_int_eq(tried_as_predicted(&trials.tried[0]), cases[_i].good);
    char *text = printed(&trials);
    ck_assert_int_eq(strstr(text, "otherwise") == NULL, cases[_i].good);
    ck_assert_msg(strstr(text, cases[_i].good ? "  1 of 1 as predicted" : "  0 of 1"), "%s", text);
    free(text);
}
END_TEST

START_TEST(what_went_otherwise_says_by_how_much_and_what_changed) {
    Trials trials = one(0.11, 0.23, 0.05);
    trials.tried[0].with.peak_bytes = 20000000;
    char *text = printed(&trials);
    const char *lines[] = {
        "TRIED  change of samples/s, in 5 processes each, in turns with none of it\n",
        "across runs (94% sure)\n",
        "  --batch 256                +11-23%        5%  +4-7%               otherwise\n",
        "    peak +11.0 MB, predicted +1.79 MB\n",
        "    4.0 points off; predicted as if nothing changes.\n    Of a sample:\n",
        "    forward 10.0 to 8.00 us\n",
    };
    for (int i = 0; i < 6; i++)
        ck_assert_msg(strstr(text, lines[i]), "no %s in\n%s", lines[i], text);
    free(text);
    trials.n = 0;
    text = printed(&trials);
    ck_assert_str_eq(text, "TRIED  nothing: no advice here that a flag can apply\n");
    free(text);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {what_overlaps_the_range_is_as_predicted, CASES},
        {what_went_otherwise_says_by_how_much_and_what_changed, 0},
        {NULL, 0},
    };
    return harness_main("tried", tests);
}
