// test_report_rows.c -- the choice of layers that have a row in the report, even from very many.
#include <stdlib.h>
#include <string.h>

#include "profiler/report/report_table.h"
#include "tests/helpers/harness.h"

enum { PARTS = 12, WIDTH = 30 };

static Profile blocks_new(int blocks) {
    Profile profile = {.n_layers = blocks * PARTS};
    profile.layers = calloc((size_t)profile.n_layers, sizeof *profile.layers);
    for (int i = 0; i < profile.n_layers; i++) {
        ProfileLayer *layer = &profile.layers[i];
        snprintf(layer->path, sizeof layer->path, "h.%d.part_%c", i / PARTS, 'a' + i % PARTS);
        snprintf(layer->type, sizeof layer->type, "Part%d", i % PARTS % 3);
        layer->parameters = 1 + i % PARTS;
        layer->phase[REPORT_STEP].cost.macs = 1;
    }
    return profile;
}

START_TEST(blocks_have_one_row_for_each_of_their_layers) {
    Profile profile = blocks_new(5);
    ReportRow rows[REPORT_MOST_ROWS];
    ck_assert_int_eq(report_rows(&profile, WIDTH, rows), PARTS);
    for (int i = 0; i < PARTS; i++) {
        ck_assert_int_eq((int)rows[i].phase[REPORT_STEP].cost.macs, 5);
        ck_assert_str_eq(rows[i].parameters.s, text_short_count(5 * (1 + i)).s);
        ck_assert_msg(strncmp(rows[i].label.s, "h.*.part_", 9) == 0, "%s", rows[i].label.s);
        ck_assert_str_eq(strrchr(rows[i].label.s, ' '), " x5");
    }
    snprintf(profile.layers[PARTS].type, sizeof profile.layers[PARTS].type, "Other");
    // The five layers of that name have rows of their own; among equal weights they come last.
    int n = report_rows(&profile, WIDTH, rows);
    ck_assert_int_eq(n, PARTS + 4);
    ck_assert_msg(strncmp(rows[0].label.s, "h.0.part_a", 10) == 0, "%s", rows[0].label.s);
    free(profile.layers);
}
END_TEST

// Comparing each layer with each other took longer for GPT-3's report than counting it, and would
// here exceed a test's time.
START_TEST(thousands_of_layers_are_chosen_from_at_once) {
    Profile profile = blocks_new(2000);
    ReportRow rows[REPORT_MOST_ROWS];
    ck_assert_int_eq(report_rows(&profile, WIDTH, rows), PARTS);
    free(profile.layers);
}
END_TEST

// A long measurement of short steps that never settled has the longest line.
START_TEST(what_was_measured_stays_within_80_columns) {
    for (int64_t count = 1; count <= 1000000; count *= 1000) {
        char *text, *rest;
        size_t size;
        Profile profile = {.warmup = count, .steps_per_sample = 1 + count / 10, .trend = true};
        Latency *step = &profile.totals[REPORT_STEP].latency;
        *step = (Latency){.samples = calloc((size_t)count, sizeof(double)), .count = count};
        step->statistics = (LatencyStatistics){.median = 1e-6, .iqr = 12e-6};
        FILE *file = open_memstream(&text, &size);
        report_print_evidence(&profile, file);
        fclose(file);
        ck_assert_ptr_nonnull(strstr(text, count == 1 ? "1 step after 1 of" : "steps each after "));
        ck_assert_ptr_nonnull(strstr(text, "(a trend:"));
        rest = text;
        for (char *line; (line = strsep(&rest, "\n"));)
            ck_assert_msg(strlen(line) <= 80, "%s", line);
        free(step->samples);
        free(text);
    }
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {blocks_have_one_row_for_each_of_their_layers, 0},
        {thousands_of_layers_are_chosen_from_at_once, 0},
        {what_was_measured_stays_within_80_columns, 0},
        {NULL, 0},
    };
    return harness_main("report_rows", tests);
}
