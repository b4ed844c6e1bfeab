// test_report_views_text.c -- the look of a view: 80 plain columns whatever the names and counts,
// measured columns only; and the messages when it cannot be printed.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/base/text.h"
#include "profiler/measure/profile_parts.h"
#include "profiler/report/report.h"
#include "tensor/memory.h"
#include "tests/helpers/expect.h"
#include "tests/profiler/report/view_table.h"

enum { NETS = 18 };

// ---- columns ---------------------------------------------------------------------------------
// A one-character control sequence, a reversal of the line, and invalid UTF-8.
static const char *const refused[] = {"\xC2\x9B", "\xE2\x80\xAE", "\xC0", "\xE0\x80",
                                      "\xED\xA0", "\xF0\x9F ",    "\xFF"};
enum { REFUSED = sizeof refused / sizeof refused[0] };

static void check_plain(const char *line) {
    for (const char *c = line; *c; c++)
        ck_assert_msg((unsigned char)*c >= ' ' && *c != 0x7F, "byte %d in\n%s", *c, line);
    for (int i = 0; i < REFUSED; i++)
        ck_assert_msg(!strstr(line, refused[i]), "refused %d in\n%s", i, line);
}

static void check_columns(const Profile *profile, ViewOptions options) {
    char *text = view_text_new(profile, options), *rest = text;
    for (char *line; (line = strsep(&rest, "\n"));) {
        size_t size = strlen(line);
        ck_assert_msg(text_width(line) <= REPORT_WIDTH, "%d columns:\n%s", text_width(line), line);
        ck_assert_msg(size == 0 || line[size - 1] != ' ', "a space ends\n%s|", line);
        ck_assert_msg(!strstr(line, "nan"), "no number:\n%s", line);
        check_plain(line);
    }
    free(text);
}

static void check_all_columns(const Profile *profile) {
    char stars[300]; // a pattern longer than any text
    memset(stars, '*', sizeof stars - 1);
    stars[sizeof stars - 1] = '\0';
    const char *const patterns[] = {NULL, "*", "\x1b*", stars};
    for (int by = 0; by < VIEW_BY_COUNT; by++)
        for (int sort = 0; sort < VIEW_SORT_COUNT; sort++)
            for (int p = 0; p < 4; p++)
                check_columns(profile,
                              (ViewOptions){(ViewBy)by, (ViewSort)sort, p % 2, patterns[p]});
}

// Names that a user may give a layer, and that a terminal must not receive.
static const char *const hostile[] = {
    "\x1b[2J\x1b[31mred",
    "line\nbreak\ttab",
    "\x07\x7f",
    "\xC2\x9B[2J",
    "caf\xC3\xA9.fc",
    ("\xE5\xB1\xA4\xE5\xB1\xA4\xE5\xB1\xA4\xE5\xB1\xA4\xE5\xB1\xA4\xE5\xB1\xA4\xE5\xB1\xA4"
     "\xE5\xB1\xA4\xE5\xB1\xA4\xE5\xB1\xA4\xE5\xB1\xA4\xE5\xB1\xA4\xE5\xB1\xA4\xE5\xB1\xA4\xE5"),
    "\xFF\xFE\xC0\x80\xED\xA0\x80\x80",
    "\xC0\xAF\xE0\x80\xAF",
    "\xE2\x80\xAEreversed",
    "\xF0\x9F",
    "",
    "encoder.layers.11.self_attention.output_projection.dense.linear.weight.normalised.again"};
enum { HOSTILE = sizeof hostile / sizeof hostile[0] };

START_TEST(whatever_the_names_and_counts_lines_are_80_plain_columns) {
    static const double seconds[] = {1e-12, 1e-6, 0.5, 12345.0, 1e12, 0.0};
    Profile profile = view_profile_new(_i, (ViewKind)(_i % VIEW_KINDS));
    strcpy(profile.machine.levels[1].name, "HBM\x1b[1");
    for (int round = 0; round < 7; round++) {
        for (int i = 0; i < profile.n_layers; i++)
            snprintf(profile.layers[i].path, sizeof profile.layers[i].path, "\x1b%s",
                     hostile[(i + round) % HOSTILE]);
        for (int64_t i = 0; i < profile.n_ops && round > 0; i++) {
            ProfileOp *op = &profile.ops[i];
            uint64_t huge = (UINT64_MAX / 8) >> (7 * (i + round) % 64);
            op->record.cost =
                (OpCost){.macs = round % 2 ? huge : 0, .bytes_read = huge >> 8 * round};
            op->record.traffic.level[1].read = op->record.cost.bytes_read;
            op->latency.statistics.median = seconds[(i * 5 + round) % 6];
        }
        if (round > 0) profile.totals[REPORT_STEP].latency.statistics.median = seconds[round - 1];
        snprintf(profile.optimizer, sizeof profile.optimizer, "%.31s", hostile[round]);
        if (profile.has_machine) profile_judge(&profile, false);
        check_all_columns(&profile);
    }
    profile_free(&profile);
}
END_TEST

START_TEST(names_that_are_text_are_shown_as_they_are) {
    Profile profile = view_profile_new(1, VIEW_TRAINING);
    snprintf(profile.layers[0].path, sizeof profile.layers[0].path, "caf\xC3\xA9.fc");
    snprintf(profile.layers[1].path, sizeof profile.layers[1].path, "%s", hostile[HOSTILE - 1]);
    char *text = view_text_new(&profile, (ViewOptions){.by = VIEW_BY_OP});
    ck_assert_msg(strstr(text, "\ncaf\xC3\xA9.fc linear ") != NULL, "%s", text);
    ck_assert_msg(strstr(text, "ed.again ") != NULL, "%s", text); // the end tells names apart
    free(text);
    profile_free(&profile);
}
END_TEST

// ---- kinds -----------------------------------------------------------------------------------
START_TEST(what_was_not_measured_has_no_column) {
    Profile profile = view_profile_new(_i, (ViewKind)_i);
    char *text = view_text_new(&profile, (ViewOptions){.sort = VIEW_SORT_ROOF});
    bool timed = _i != VIEW_META, judged = timed && _i != VIEW_WITHOUT_MACHINE;
    ck_assert_msg((strstr(text, " us ") != NULL) == timed, "%s", text);
    ck_assert_msg((strstr(text, "\nunattributed ") != NULL) == timed, "%s", text);
    ck_assert_msg((strstr(text, " roof bound by\n") != NULL) == judged, "%s", text);
    ck_assert_msg((strstr(text, "(roof: not timed)") != NULL) == !timed, "%s", text);
    ck_assert_msg((strstr(text, "(roof: no ceilings)") != NULL) == (timed && !judged), "%s", text);
    ck_assert_msg((strstr(text, " opt ") != NULL) == (_i != VIEW_INFERENCE && _i != VIEW_BACKWARD),
                  "%s", text);
    ck_assert_msg((strstr(text, " dW ") != NULL) == (_i != VIEW_INFERENCE), "%s", text);
    free(text);
    profile_free(&profile);
}
END_TEST

START_TEST(an_empty_step_is_a_table_too) {
    Profile profile = {.kind = PROFILE_INFERENCE};
    for (int by = 0; by < VIEW_BY_COUNT; by++) {
        PrintedTable table = view_table_of(&profile, (ViewOptions){.by = (ViewBy)by});
        ck_assert(table.n_rows == 0 && !table.has_others && table.step.calls == 0);
    }
    ck_assert_int_eq(view_print(&profile, (ViewOptions){.layer = "*"}, stdout),
                     STATUS_INVALID_ARGUMENT);
    expect_error(STATUS_INVALID_ARGUMENT, "none");
}
END_TEST

START_TEST(names_are_one_word_each) {
    static const char *const by[] = {"layer", "op", "phase"};
    static const char *const sort[] = {"order", "time", "flops", "bytes", "roof"};
    for (int i = 0; i < VIEW_BY_COUNT; i++) ck_assert_str_eq(view_by_name((ViewBy)i), by[i]);
    for (int i = 0; i < VIEW_SORT_COUNT; i++)
        ck_assert_str_eq(view_sort_name((ViewSort)i), sort[i]);
    ck_assert_str_eq(view_by_name(VIEW_BY_COUNT), "?");
    ck_assert_str_eq(view_sort_name(VIEW_SORT_COUNT), "?");
}
END_TEST

// ---- failures --------------------------------------------------------------------------------
START_TEST(a_pattern_without_match_names_the_layers) {
    Profile profile = view_profile_new(_i, VIEW_TRAINING);
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    ViewOptions options = {.by = (ViewBy)(_i % VIEW_BY_COUNT), .layer = "conv\x1b[2J*"};
    ck_assert_int_eq(view_print(&profile, options, file), STATUS_INVALID_ARGUMENT);
    fclose(file);
    ck_assert_uint_eq(size, 0);
    ck_assert(strstr(error_message(), "'conv?[2J*'") && strstr(error_message(), "fc1, "));
    expect_error(STATUS_INVALID_ARGUMENT, "CE loss");
    free(text);
    profile_free(&profile);
}
END_TEST

// Whole names, or the first names and an ellipsis; in one line, whatever their length.
START_TEST(a_refusal_names_what_there_is_room_for) {
    Profile profile = view_profile_new(10, VIEW_TRAINING);
    ViewOptions options = {.layer =
                               "\xE5\xB1\xA4\xE5\xB1\xA4 no such layer, and far too long to show"};
    ck_assert_int_gt(profile.n_layers, 6);
    for (int length = 1; length < (int)sizeof profile.layers[0].path; length++) {
        char want[1024] = "HINT: the layers are ", last[128];
        for (int i = 0; i < profile.n_layers; i++) {
            char *path = profile.layers[i].path;
            snprintf(path, sizeof profile.layers[i].path, "%0*d", length, i % 10);
            path[0] = '\x1b';
            snprintf(last, sizeof last, "%s?%s", i ? ", " : "", path + 1);
            if (strlen(want) < 600) strcat(want, last);
        }
        ck_assert_int_eq(view_print(&profile, options, stdout), STATUS_INVALID_ARGUMENT);
        const char *hint = strstr(error_message(), "HINT"), *end = hint ? strstr(hint, ", ...") : 0;
        ck_assert_msg(hint != NULL, "%s", error_message());
        size_t whole = end ? (size_t)(end - hint) : strlen(want);
        ck_assert_msg(strncmp(hint, want, whole) == 0 && strlen(hint) == whole + (end ? 5 : 0),
                      "%s", error_message());
        ck_assert_msg(want[whole] == (end ? ',' : '\0'), "no whole name: %s", error_message());
        check_plain(error_message());
        error_clear();
    }
    profile_free(&profile);
}
END_TEST

START_TEST(memory_may_run_out_at_any_request) {
    Profile profile = view_profile_new(_i, (ViewKind)_i);
    uint64_t n = 1;
    for (bool reached = true; reached; n++) {
        char *text = NULL;
        size_t size;
        FILE *file = open_memstream(&text, &size);
        uint64_t before = memory_requests();
        memory_fail_at(n);
        Status status = view_print(&profile, (ViewOptions){.by = VIEW_BY_OP}, file);
        memory_fail_at(0);
        reached = memory_requests() - before >= n;
        fclose(file);
        ck_assert_int_eq(status, reached ? STATUS_OUT_OF_MEMORY : STATUS_OK);
        ck_assert((size == 0) == reached);
        if (reached) expect_error(STATUS_OUT_OF_MEMORY, "memory");
        free(text);
    }
    ck_assert_uint_gt(n, 2);
    profile_free(&profile);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_pattern_without_match_names_the_layers, NETS},
        {whatever_the_names_and_counts_lines_are_80_plain_columns, NETS},
        {a_refusal_names_what_there_is_room_for, 0},
        {names_that_are_text_are_shown_as_they_are, 0},
        {what_was_not_measured_has_no_column, VIEW_KINDS},
        {an_empty_step_is_a_table_too, 0},
        {names_are_one_word_each, 0},
        {memory_may_run_out_at_any_request, VIEW_KINDS},
        {NULL, 0},
    };
    return harness_main("report_views_text", tests);
}
