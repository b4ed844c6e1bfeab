// test_history.c -- a file that grows by lines: a whole line is added after whole lines, and other
// people's files stay untouched.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profiler/files/saved.h"
#include "tensor/memory.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/harness.h"
#include "tests/helpers/work_folder.h"
#include "tests/profiler/compare/planted_profile.h"

static char path[80];
static Profile profile;
static History history;

static void begin(void) {
    work_folder_begin();
    snprintf(path, sizeof path, "%s/h.jsonl", work_folder);
    profile = planted_profile(5, 1);
    profile.measured = profile.predicted;
    snprintf(profile.device, sizeof profile.device, "cpu");
    profile.threads = 2;
}

static void end(void) {
    profile_free(&profile);
    work_folder_end();
}

static void put(const char *text) {
    FILE *file = fopen(path, "w");
    ck_assert_int_ge(fputs(text, file), 0);
    fclose(file);
}

static char *whole(void) { // the file's text; free it
    char *text = calloc(1, 1 << 16);
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_lt(fread(text, 1, 1 << 16, file), 1 << 16);
    fclose(file);
    return text;
}

START_TEST(what_is_added_is_read) {
    begin();
    planted_metronome(&profile, 2e-4, 5e-4);
    for (int i = 0; i < 3; i++) {
        profile.predicted.peak.total = profile.measured.peak.total = 1000 + i;
        ck_assert_int_eq(history_append(&profile, "profile_mlp --x", path), STATUS_OK);
    }
    ck_assert_int_eq(history_read(path, &history), STATUS_OK);
    ck_assert_int_eq(history.n, 3);
    for (int i = 0; i < 3; i++) {
        const HistoryEntry *entry = &history.entries[i];
        ck_assert_int_eq(entry->peak_bytes, 1000 + i);
        ck_assert_int_eq(entry->total_flops, 2010);
        ck_assert_int_eq(entry->parameters, 300);
        ck_assert_int_eq(entry->n_runs, 5);
        ck_assert_mem_eq(entry->runs, profile.totals[REPORT_STEP].latency.across->samples,
                         5 * sizeof(double));
        ck_assert(entry->metronome == 1 && entry->beats[0] == 2e-4 && entry->beats[4] == 2e-4);
        ck_assert_int_eq(strlen(entry->created), 20);
        ck_assert_ptr_eq(strstr(entry->work, "profile_mlp --x; planted, cpu, 2 threads, "),
                         entry->work);
    }
    history_free(&history);
    char *text = whole(), *rest = text;
    for (int i = 0; i < 3; i++) ck_assert_ptr_nonnull(strsep(&rest, "\n"));
    ck_assert_str_eq(rest, ""); // one line each
    free(text);
    end();
}
END_TEST

// A killed writer leaves a line that is cut.
START_TEST(a_line_that_is_cut_goes) {
    begin();
    ck_assert_int_eq(history_append(&profile, "profile_mlp --x", path), STATUS_OK);
    char *one = whole(), *two = malloc(1 << 17);
    for (size_t length = 37; length + 1 < strlen(one); length += 37) {
        sprintf(two, "%s%.*s", one, (int)length, one);
        put(two);
        ck_assert_int_eq(history_read(path, &history), STATUS_OK);
        ck_assert_int_eq(history.n, 1);
        history_free(&history);
        ck_assert_int_eq(history_append(&profile, "profile_mlp --x", path), STATUS_OK);
        ck_assert_int_eq(history_read(path, &history), STATUS_OK);
        ck_assert_int_eq(history.n, 2);
        history_free(&history);
    }
    free(one);
    free(two);
    end();
}
END_TEST

// A whole line without its newline, as an editor may leave it.
START_TEST(a_line_without_an_end_is_kept) {
    begin();
    ck_assert_int_eq(history_append(&profile, "w", path), STATUS_OK);
    char *text = whole();
    text[strlen(text) - 1] = '\0';
    put(text);
    ck_assert_int_eq(history_read(path, &history), STATUS_OK);
    ck_assert_int_eq(history.n, 1);
    history_free(&history);
    ck_assert_int_eq(history_append(&profile, "w", path), STATUS_OK);
    ck_assert_int_eq(history_read(path, &history), STATUS_OK);
    ck_assert_int_eq(history.n, 2);
    history_free(&history);
    free(text);
    end();
}
END_TEST

// Each writer's lines are all there, though all wrote at once.
START_TEST(several_may_add_at_once) {
    enum { WRITERS = 8, LINES = 20 };
    begin();
    for (int w = 0; w < WRITERS; w++) {
        if (fork() != 0) continue;
        Status status = STATUS_OK;
        for (int i = 0; i < LINES && !status; i++) status = history_append(&profile, "w", path);
        _exit(status);
    }
    for (int w = 0; w < WRITERS; w++) {
        int state;
        ck_assert_int_gt(wait(&state), 0);
        ck_assert_int_eq(state, 0);
    }
    ck_assert_int_eq(history_read(path, &history), STATUS_OK);
    ck_assert_int_eq(history.n, WRITERS * LINES);
    history_free(&history);
    end();
}
END_TEST

static const char *const strange[] = {
    "{",
    "{\"schema\": \"ridgepoint.history/v2\"}",
    "my notes",
    "{\"schema\": \"ridgepoint.profile/v1\"}",
    "{\"schema\": \"ridgepoint.history/v1\"}\nmy notes",
};

START_TEST(what_is_somebody_elses_stays) {
    begin();
    put(strange[_i]);
    ck_assert_int_eq(history_append(&profile, "profile_mlp --x", path), STATUS_FORMAT);
    expect_error(STATUS_FORMAT, "not of a history");
    ck_assert_int_ne(history_read(path, &history), STATUS_OK);
    error_clear();
    history_free(&history);
    char *text = whole();
    ck_assert_str_eq(text, strange[_i]);
    free(text);
    end();
}
END_TEST

#define LINE(rest) "{\"schema\": \"ridgepoint.history/v1\", " rest "}\n"
#define WHEN "\"created\": \"c\", \"work\": \"w\", "
#define COUNTS "\"peak_bytes\": 1, \"total_flops\": 1, \"parameters\": 1"

static const struct {
    const char *text, *says;
} spoilt[] = {
    {"\n", "line 1: not JSON"},
    {"[]\n", "line 1: its schema is not"},
    {"{\"schema\": 3}\n", "line 1: its schema is not"},
    {LINE("\"work\": \"w\""), "line 1: its date or what"},
    {LINE(WHEN "\"peak_bytes\": -1"), "line 1: a count is missing"},
    {LINE(WHEN COUNTS), "line 1: expected runs"},
    {LINE(WHEN COUNTS ", \"runs\": [1, 0]"), "line 1: a run is not a time"},
    {LINE(WHEN COUNTS ", \"runs\": [\"x\"]"), "line 1: a run is not a time"},
    {LINE(WHEN COUNTS ", \"runs\": []") "x\n", "line 2: not JSON"},
};
enum { SPOILT = sizeof spoilt / sizeof spoilt[0] };

START_TEST(what_is_spoilt_is_named_by_its_line) {
    begin();
    put(spoilt[_i].text);
    ck_assert_int_eq(history_read(path, &history), STATUS_FORMAT);
    expect_error(STATUS_FORMAT, spoilt[_i].says);
    history_free(&history);
    end();
}
END_TEST

START_TEST(what_cannot_be_written_is_told) {
    begin();
    ck_assert_int_eq(history_append(&profile, "w", "/none/h.jsonl"), STATUS_IO);
    expect_error(STATUS_IO, "--history /none/h.jsonl: No such file");
    ck_assert_int_eq(history_append(&profile, "w", work_folder), STATUS_IO);
    expect_error(STATUS_IO, "Is a directory");
    ck_assert_int_eq(history_read("/none/h.jsonl", &history), STATUS_IO);
    expect_error(STATUS_IO, "No such file");
    end();
}
END_TEST

START_TEST(every_request_for_memory_may_fail) {
    begin();
    Status status = STATUS_OUT_OF_MEMORY;
    for (uint64_t nth = 1; status; nth++) {
        memory_fail_at(nth);
        status = history_append(&profile, "profile_mlp --x", path);
        memory_fail_at(0);
        ck_assert(status == STATUS_OK || status == STATUS_OUT_OF_MEMORY);
        error_clear();
    }
    status = STATUS_OUT_OF_MEMORY;
    for (uint64_t nth = 1; status; nth++) {
        memory_fail_at(nth);
        status = history_read(path, &history);
        memory_fail_at(0);
        error_clear();
        if (!status) ck_assert_int_eq(history.n, 1);
        history_free(&history);
    }
    end();
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {what_is_added_is_read, 0},
        {a_line_that_is_cut_goes, 0},
        {a_line_without_an_end_is_kept, 0},
        {several_may_add_at_once, 0},
        {what_is_somebody_elses_stays, sizeof strange / sizeof strange[0]},
        {what_is_spoilt_is_named_by_its_line, SPOILT},
        {what_cannot_be_written_is_told, 0},
        {every_request_for_memory_may_fail, 0},
        {NULL, 0},
    };
    return harness_main("history", tests);
}
