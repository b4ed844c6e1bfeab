// ex16_mystery_cases.c -- exercise 16: compares the answers, place and cause of a mystery's lost
// time, with the student's own record of it, mystery.csv. It reads no clock.
#include <stdio.h>
#include <string.h>

#include "exercises/course/mystery_record.h"

#define TOLERANCE 0.01 // tables round to three digits

// The mistake in claiming each cause; its page says where that cause would show.
static const char *const claims[CAUSE_COUNT] = {
    [CAUSE_STARVED_LOADER] = "loader_is_quick",
    [CAUSE_SLEEPING_THREADS] = "nobody_sleeps",
    [CAUSE_PAGE_FAULTS] = "few_page_faults",
    [CAUSE_HEAVY_OPTIMIZER] = "optimizer_is_light",
    [CAUSE_FALSE_SHARING] = "two_are_not_slower",
    [CAUSE_COLD_CACHE] = "caches_are_warm",
    [CAUSE_OUT_OF_PROPORTION] = "arithmetic_is_spread",
};

// False: the record asks the student for something else first, and no answer is right.
static bool read_record(const Draw *draw, CaseRun *run, MysteryRecord *record) {
    char problem[CASE_LINE];
    const char *mistake = "mystery_unreadable";
    bool fine =
        mystery_read(draw->beside, record, problem) && mystery_is_of(record, draw->token, problem);
    if (fine && mystery_find(record).cause == CAUSE_COUNT) {
        fine = false;
        mistake = "mystery_unclear";
        snprintf(problem, CASE_LINE, "mystery.csv shows no cause; write it anew");
    }
    if (fine) {
        snprintf(run->shown, CASE_LINE, "mystery %d, in your mystery.csv", (int)record->seed);
        return true;
    }
    run->status = STATUS_FORMAT;
    snprintf(run->shown, CASE_LINE, "%s", problem);
    run_mistake_status(run, mistake, STATUS_OK);
    return false;
}

static void ask(CaseRun *run, const char *asked, const char *formula) {
    snprintf(run->asked, CASE_LINE, "%s", asked);
    snprintf(run->formula, CASE_LINE, "%s", formula);
}

static Status cause(Draw *draw, CaseRun *run) {
    MysteryRecord record;
    ask(run, "why the step takes so long", "the first cause in mystery.txt that shows");
    if (!read_record(draw, run, &record)) return STATUS_OK;
    run_expect_word(run, "cause", (int)mystery_find(&record).cause, cause_words);
    for (int i = 0; i < CAUSE_COUNT; i++) run_mistake_integer(run, claims[i], i);
    return STATUS_OK;
}

static int largest_row(const MysteryRecord *record) {
    int largest = 0;
    for (int i = 1; i < PLACE_COUNT; i++)
        if (record->rows[i].seconds > record->rows[largest].seconds) largest = i;
    return largest;
}

static Status layer(Draw *draw, CaseRun *run) {
    MysteryRecord record;
    ask(run, "the row that it is in", "where the cause shows, largest row or not");
    if (!read_record(draw, run, &record)) return STATUS_OK;
    run_expect_word(run, "layer", mystery_find(&record).place, place_words);
    run_mistake_integer(run, "largest_is_innocent", largest_row(&record));
    for (int i = 0; i < PLACE_COUNT; i++) run_mistake_integer(run, "another_row", i);
    return STATUS_OK;
}

static Status seconds(Draw *draw, CaseRun *run) {
    MysteryRecord record;
    ask(run, "what that row takes of one step, in seconds",
        "its sum in the table; of the loader "
        "its wait");
    if (!read_record(draw, run, &record)) return STATUS_OK;
    const MysteryRow *row = &record.rows[mystery_find(&record).place];
    run_expect_real(run, "seconds", row->seconds, TOLERANCE);
    run_mistake_real(run, "microseconds_for_seconds", 1e6 * row->seconds);
    run_mistake_real(run, "milliseconds_for_seconds", 1e3 * row->seconds);
    run_mistake_real(run, "step_for_row", record.step);
    run_mistake_real(run, "row_of_one_thread", row->one_thread);
    return STATUS_OK;
}

static const ExerciseCase cases[] = {
    {.name = "cause", .points = 3, .runs = 1, .beside = "mystery.csv", .make = cause},
    {.name = "layer", .points = 2, .runs = 1, .beside = "mystery.csv", .make = layer},
    {.name = "seconds", .points = 1, .runs = 1, .beside = "mystery.csv", .make = seconds},
};

const Exercise exercise_16 = {.number = "16",
                              .name = "mystery",
                              .function = "mystery",
                              .title = "Mystery: what takes the time, and why",
                              .minutes = 30,
                              .points = 6,
                              .stretch = true,
                              .answers = "mystery.txt",
                              .cases = cases,
                              .n_cases = sizeof cases / sizeof cases[0]};
