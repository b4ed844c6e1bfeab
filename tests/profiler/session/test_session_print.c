// test_session_print.c -- the table of a session: 80 columns whatever the names, figures equal to
// the rows', verdicts if there is a machine; and the session's trace.
#include <stdlib.h>
#include <string.h>

#include "profiler/base/text.h"
#include "profiler/report/report.h"
#include "tests/profiler/session/sessions.h"

static char *table_of(const Profiler *profiler) { // the table; free it
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    ck_assert_msg(!profiler_print(profiler, file), "%s", error_message());
    fclose(file);
    return text;
}

static void check_columns(const char *table) {
    for (const char *line = table; *line; line = strchr(line, '\n') + 1) {
        char one[512];
        size_t length = strcspn(line, "\n");
        snprintf(one, sizeof one, "%.*s", (int)length, line);
        ck_assert_msg(text_width(one) <= REPORT_WIDTH, "%d columns: %s", text_width(one), one);
        ck_assert_msg(length == 0 || one[length - 1] != ' ', "a space ends |%s|", one);
        ck_assert_msg(!strstr(one, "nan") && !strstr(one, "inf"), "no number: %s", one);
    }
}

START_TEST(a_table_is_80_columns_wide_and_shows_every_row) {
    Steps steps = steps_new(_i);
    ProfilerOptions options = profiler_defaults();
    if (_i % 2) options.machine = &session_machine;
    Profiler *profiler = session_new(options);
    profiler_start(profiler);
    for (int i = 0; i < 3; i++) {
        PROFILE_SCOPE("encoder") { steps_train(&steps); }
        if (_i % 3) profiler_step(profiler);
    }
    profiler_stop(profiler);
    char *table = table_of(profiler);
    check_columns(table);
    ProfilerSummary summary = session_summary(profiler);
    int lines = 0;
    for (const char *c = table; *c; c++) lines += *c == '\n';
    ck_assert_int_ge(lines, summary.n_rows + 6);
    ck_assert(strstr(table, _i % 3 ? "PROFILE  3 steps in " : "PROFILE  ") == table);
    ck_assert((strstr(table, "bound by") != NULL) == (_i % 2 == 1));
    ck_assert((strstr(table, "ridge") != NULL) == (_i % 2 == 1));
    ck_assert(strstr(table, "\nunattributed ") && strstr(table, "\nrecorded "));
    profiler_summary_free(&summary);
    profiler_free(profiler);
    steps_free(&steps);
    free(table);
}
END_TEST

START_TEST(what_is_too_long_is_cut_where_it_says_least) {
    Profiler *profiler = session_new(profiler_defaults());
    profiler_start(profiler);
    PROFILE_SCOPE("a very long name of a part") {
        PROFILE_SCOPE("attention") {
            PROFILE_KERNEL("a kernel with a very long name", 1, 1) {}
        }
    }
    PROFILE_SCOPE("Übermäßig große Straße") {
        PROFILE_KERNEL("größenänderungsvorgänge", 1, 1) {}
    }
    PROFILE_SCOPE("twelve chars") {}
    profiler_stop(profiler);
    char *table = table_of(profiler);
    check_columns(table);
    ck_assert_msg(strstr(table, "\na v~ttention a kernel with a~       1 "), "%s", table);
    ck_assert_msg(strstr(table, "\nÜbe~e Straße größenänderungs~       1 "), "%s", table);
    ck_assert_msg(strstr(table, "\ntwelve chars scope "), "%s", table);
    profiler_free(profiler);
    free(table);
}
END_TEST

START_TEST(an_empty_session_prints) {
    Profiler *profiler = session_new(profiler_defaults());
    char *table = table_of(profiler);
    check_columns(table);
    free(table);
    profiler_start(profiler);
    table = table_of(profiler); // while the session runs
    check_columns(table);
    profiler_free(profiler);
    free(table);
}
END_TEST

START_TEST(a_row_is_judged_by_its_own_work_and_time) {
    ProfilerOptions options = {.capacity = 1000, .machine = &session_machine};
    Profiler *profiler = session_new(options);
    profiler_start(profiler);
    for (int i = 0; i < 4; i++) PROFILE_KERNEL("moves", 1000, 1000000000) {
        }
    for (int i = 0; i < 5; i++) PROFILE_KERNEL("computes", 100000000000, 1) {
        }
    PROFILE_KERNEL("waits", 1, 1) {
        for (volatile int i = 0; i < 100000; i++) continue;
        PROFILE_KERNEL("moves", 1000, 1000000000) {
            for (volatile int i = 0; i < 100000; i++) continue;
        }
    }
    profiler_stop(profiler);
    ProfilerSummary summary = session_summary(profiler);
    for (int i = 0; i < summary.n_rows; i++) {
        ProfilerRow *row = &summary.rows[i];
        RooflineInput input = {.cost = row->cost, .ops = row->calls, .seconds = row->self_seconds};
        input.traffic = row->traffic;
        Roofline want = roofline_judge(&session_machine, &input);
        ck_assert(row->roofline.judged && row->roofline.bound == want.bound);
        ck_assert_double_eq(row->roofline.roof_seconds, want.roof_seconds);
        ck_assert_double_eq(row->roofline.roof_fraction, want.roof_fraction);
        ck_assert_uint_eq(traffic_bytes(&row->traffic, 1),
                          row->cost.bytes_read); // it has no operands
    }
    const Roofline *moves = &session_row(&summary, "(model)", "moves")->roofline;
    ck_assert(moves->bound == BOUND_MEMORY && moves->level == 1);
    ck_assert_double_eq_tol(moves->roof_seconds, 5 * 0.1, 1e-9);
    ck_assert(session_row(&summary, "(model)", "computes")->roofline.bound == BOUND_COMPUTE);
    ck_assert(session_row(&summary, "(model)", "waits")->roofline.bound == BOUND_OVERHEAD);
    char *table = table_of(profiler);
    check_columns(table);
    ck_assert_ptr_nonnull(strstr(table, "memory DRAM"));
    ck_assert(strstr(table, " >10x compute") && strstr(table, "\npast its roof: "));
    free(table);
    profiler_summary_free(&summary);
    profiler_free(profiler);
}
END_TEST

START_TEST(what_was_dropped_is_said) {
    Profiler *profiler = session_new((ProfilerOptions){.capacity = 3});
    profiler_start(profiler);
    for (int i = 0; i < 5; i++) PROFILE_KERNEL("k", 1, 1) {
        }
    profiler_stop(profiler);
    char *table = table_of(profiler);
    check_columns(table);
    ck_assert_msg(strstr(table, "2 events found the buffer of 3 full"), "%s", table);
    profiler_free(profiler);
    free(table);
}
END_TEST

START_TEST(what_made_room_is_said) {
    Profiler *profiler = session_new((ProfilerOptions){.capacity = 10});
    profiler_start(profiler);
    for (int i = 0; i < 9; i++) {
        PROFILE_KERNEL("k", 1, 1) {}
        profiler_step(profiler);
    }
    profiler_stop(profiler);
    char *table = table_of(profiler);
    check_columns(table);
    ck_assert_msg(strstr(table, "PROFILE  9 steps in "), "%s", table);
    ck_assert_msg(strstr(table, " older events are in these rows only; a trace has the newest.\n"),
                  "%s", table);
    ck_assert(!strstr(table, "found the buffer"));
    profiler_free(profiler);
    free(table);
}
END_TEST

START_TEST(a_file_that_cannot_be_written_is_an_error) {
    Profiler *profiler = session_new(profiler_defaults());
    FILE *file = fopen("/dev/full", "w");
    if (!file) test_skip("there is no /dev/full");
    ck_assert_int_eq(profiler_print(profiler, file), STATUS_IO);
    expect_error(STATUS_IO, "HINT: ");
    fclose(file);
    ck_assert_int_eq(profiler_write_trace(profiler, "/nowhere/trace.json"), STATUS_IO);
    expect_error(STATUS_IO, "/nowhere");
    profiler_free(profiler);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_table_is_80_columns_wide_and_shows_every_row, 12},
        {what_is_too_long_is_cut_where_it_says_least, 0},
        {an_empty_session_prints, 0},
        {a_row_is_judged_by_its_own_work_and_time, 0},
        {what_was_dropped_is_said, 0},
        {what_made_room_is_said, 0},
        {a_file_that_cannot_be_written_is_an_error, 0},
        {NULL, 0},
    };
    return harness_main("session_print", tests);
}
