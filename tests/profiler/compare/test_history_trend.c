// test_history_trend.c -- changes in a planted history, and their print: no change where there is
// none, whatever the noise, and the right entry where there is one.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/compare/trend.h"
#include "profiler/files/saved.h"
#include "tensor/memory.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/harness.h"
#include "tests/helpers/run_program.h"

enum { MOST = 800, RUNS = 5 };
static History history;
static int which[MOST];
static unsigned state;

static double noise(double share) {
    state = state * 1103515245u + 12345u;
    return 1.0 + share * (2.0 * (double)(state >> 8) / (double)(1u << 24) - 1.0);
}

static void begin(void) {
    state = 7;
    history = (History){.entries = memory_new(MOST * sizeof(HistoryEntry))};
}

// Adds n entries of about `seconds`: runs differ by 1 %, entries by half of that.
static void add(int n, double seconds) {
    for (int i = 0; i < n; i++) {
        HistoryEntry *entry = &history.entries[history.n];
        double about = seconds * noise(0.005);
        snprintf(entry->created, sizeof entry->created, "2026-11-%02dT10:00:00Z",
                 history.n % 30 + 1);
        entry->work = memory_copy_string("MLP 784-10, batch 64");
        entry->runs = memory_new(RUNS * sizeof(double));
        entry->n_runs = RUNS;
        for (int r = 0; r < RUNS; r++) entry->runs[r] = about * noise(0.01);
        entry->peak_bytes = 1000000;
        entry->total_flops = 161200000;
        entry->parameters = 535818;
        which[history.n] = history.n;
        history.n++;
    }
}

static int find(TrendChange changes[TREND_MOST]) {
    return trend_changes(&history, which, history.n, changes);
}

START_TEST(without_a_change_there_is_none) {
    TrendChange changes[TREND_MOST];
    for (unsigned seed = 1; seed <= 50; seed++) {
        begin();
        state = seed * 977;
        add(40, 1e-3);
        ck_assert_int_eq(find(changes), 0);
        history_free(&history);
    }
}
END_TEST

START_TEST(a_change_is_named_by_its_first_entry) {
    TrendChange changes[TREND_MOST];
    begin();
    add(12, 1e-3);
    add(9, 1.05e-3);
    ck_assert_int_eq(find(changes), 1);
    ck_assert_int_eq(changes[0].entry, 12);
    ck_assert_double_eq_tol(changes[0].ratio.estimate, 1.05, 0.01);
    history_free(&history);
}
END_TEST

// A CI asks about the newest entry.
START_TEST(the_last_one_alone_is_told) {
    TrendChange changes[TREND_MOST];
    begin();
    add(6, 1e-3);
    add(1, 1.1e-3);
    ck_assert_int_eq(find(changes), 1);
    ck_assert_int_eq(changes[0].entry, 6);
    history_free(&history);
    begin();
    add(1, 1e-3);
    add(1, 0.8e-3);
    ck_assert_int_eq(find(changes), 1);
    ck_assert_int_eq(changes[0].entry, 1);
    ck_assert(changes[0].ratio.high < 0.85);
    history_free(&history);
}
END_TEST

START_TEST(several_are_told_in_their_order) {
    TrendChange changes[TREND_MOST];
    begin();
    add(10, 1e-3);
    add(10, 1.3e-3);
    add(10, 1.1e-3);
    add(3, 2e-3);
    ck_assert_int_eq(find(changes), 3);
    const int entries[] = {10, 20, 30};
    for (int i = 0; i < 3; i++) ck_assert_int_eq(changes[i].entry, entries[i]);
    ck_assert(changes[0].ratio.estimate > 1.2 && changes[1].ratio.estimate < 0.9);
    history_free(&history);
}
END_TEST

// A single outlier on either side hides no change, and is no change itself.
START_TEST(one_that_went_astray_decides_nothing) {
    TrendChange changes[TREND_MOST];
    begin();
    add(10, 1e-3);
    add(1, 1.6e-3);
    add(3, 1e-3);
    add(4, 1.1e-3);
    add(1, 0.9e-3);
    add(4, 1.1e-3);
    ck_assert_int_eq(find(changes), 1);
    ck_assert_int_eq(changes[0].entry, 14);
    history_free(&history);
}
END_TEST

// Every second entry comes from a moment when the machine was slower, as its beats show. Entries of
// another version, or from before the metronome, stay as measured.
START_TEST(what_the_machine_is_slower_by_is_no_change) {
    TrendChange changes[TREND_MOST];
    begin();
    for (int i = 0; i < 12; i++) add(1, i < 6 ? 1e-3 : 1.1e-3);
    for (int i = 0; i < history.n; i++) {
        HistoryEntry *entry = &history.entries[i];
        entry->metronome = 1;
        entry->beats = memory_new((size_t)entry->n_runs * sizeof(double));
        for (int r = 0; r < entry->n_runs; r++) {
            double slower = (i + r) % 2 ? 1.5 : 1.0;
            entry->beats[r] = 2e-4 * slower * (_i == 0 && i >= 6 ? 1.1 : 1.0);
            entry->runs[r] *= slower;
        }
    }
    if (_i == 2) history.entries[5].metronome = 2;
    ck_assert_int_eq(find(changes), _i == 1);
    if (_i == 1) {
        ck_assert(changes[0].entry == 6 && changes[0].divided);
        ck_assert_double_eq_tol(changes[0].ratio.estimate, 1.1, 0.02);
    }
    history_free(&history);
}
END_TEST

START_TEST(there_is_an_end_to_them) {
    TrendChange changes[TREND_MOST];
    begin();
    for (int i = 0; i < 160; i++) add(TREND_WINDOW, i % 2 ? 1e-3 : 2e-3);
    ck_assert_int_eq(find(changes), TREND_MOST);
    ck_assert_int_eq(changes[TREND_MOST - 1].entry, 159 * TREND_WINDOW); // the newest are kept
    history_free(&history);
    begin();
    ck_assert_int_eq(find(changes), 0);
    add(1, 1e-3);
    ck_assert_int_eq(find(changes), 0);
    history_free(&history);
}
END_TEST

// ---- print -------------------------------------------------------------------------------------
static char *printed(void) { // free the result
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    ck_assert_int_eq(trend_print(&history, file), STATUS_OK);
    fclose(file);
    program_check_columns(text);
    return text;
}

START_TEST(a_series_is_a_line) {
    begin();
    add(3, 1e-3);
    add(2, 2e-3);
    add(1, 1.5e-3);
    for (int i = 0; i < 6; i++) // without noise
        for (int r = 0; r < RUNS; r++)
            history.entries[i].runs[r] = i < 3 ? 1e-3 : i < 5 ? 2e-3 : 1.5e-3;
    history.entries[5].peak_bytes = 1000001;
    char *text = printed();
    ck_assert_str_eq(
        text, "TREND  6 entries, the last on the right: from _ the least to # the most\n"
              "\n"
              "  MLP 784-10, batch 64\n"
              "    step       ___##=  1.50 ms (1.00 ms-2.00 ms)\n"
              "    changed at entry 4, 2026-11-04T10:00:00Z: 100.0% slower (100.0 to 100.0), as\n"
              "      measured\n"
              "    changed at entry 6, 2026-11-06T10:00:00Z: 25.0% faster (25.0 to 25.0), as\n"
              "      measured\n"
              "    peak       _____#  1.00 MB (1.00 MB-1.00 MB)\n"
              "    changed at entry 6, 2026-11-06T10:00:00Z: 1,000,001, and was 1,000,000\n"
              "    FLOPs      ______  161.2M\n"
              "    parameters ______  535,818\n");
    free(text);
    history_free(&history);
}
END_TEST

START_TEST(works_are_apart_and_long_ones_stay_within_80_columns) {
    begin();
    add(120, 1e-3);
    for (int i = 0; i < history.n; i++) {
        HistoryEntry *entry = &history.entries[i];
        memory_free(entry->work);
        entry->work = memory_new(500);
        memset(entry->work, 'a' + i % 4, i % 2 ? 499 : 40);
        entry->total_flops = INT64_MAX - i % 4;
        if (i % 3 == 0) entry->n_runs = 0; // nothing ran in these
    }
    free(printed());
    for (int i = 0; i < history.n; i++) history.entries[i].n_runs = 0;
    char *text = printed();
    ck_assert_ptr_null(strstr(text, "    step"));
    free(text);
    history_free(&history);
    begin();
    text = printed();
    ck_assert_ptr_nonnull(strstr(text, "TREND  0 entries"));
    free(text);
    history_free(&history);
}
END_TEST

START_TEST(every_request_for_memory_may_fail) {
    begin();
    add(10, 1e-3);
    add(3, 2e-3);
    Status status = STATUS_OUT_OF_MEMORY;
    for (uint64_t nth = 1; status; nth++) {
        FILE *file = fopen("/dev/null", "w");
        memory_fail_at(nth);
        status = trend_print(&history, file);
        memory_fail_at(0);
        fclose(file);
        ck_assert(status == STATUS_OK || status == STATUS_OUT_OF_MEMORY);
        error_clear();
    }
    history_free(&history);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {without_a_change_there_is_none, 0},
        {a_change_is_named_by_its_first_entry, 0},
        {the_last_one_alone_is_told, 0},
        {several_are_told_in_their_order, 0},
        {one_that_went_astray_decides_nothing, 0},
        {what_the_machine_is_slower_by_is_no_change, 3},
        {there_is_an_end_to_them, 0},
        {a_series_is_a_line, 0},
        {works_are_apart_and_long_ones_stay_within_80_columns, 0},
        {every_request_for_memory_may_fail, 0},
        {NULL, 0},
    };
    return harness_main("history_trend", tests);
}
