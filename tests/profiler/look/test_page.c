// test_page.c -- the page of an empty profile, of one whose names contain HTML, and of a machine
// without room. test_profile_pages.c tests the contents of a page.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profiler/look/page.h"
#include "tensor/memory.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/harness.h"
#include "tests/helpers/markup.h"
#include "tests/helpers/nets.h"
#include "tests/helpers/work_folder.h"
#include "tests/profiler/compare/planted_sweep.h"

static char path[80];

static void begin(const char *name) {
    work_folder_begin();
    snprintf(path, sizeof path, "%s/%s", work_folder, name);
}

static char *text_of(void) { // the page's text; free it
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    char *text = calloc(1, 1 << 20);
    ck_assert_uint_lt(fread(text, 1, 1 << 20, file), 1 << 20);
    fclose(file);
    return text;
}

static Profile measured(void) {
    const Net net = {.sizes = {20, 30, 10}, .n_sizes = 3, .batch = 4, .options = mlp_defaults()};
    NetTask task = net_task_new(&net);
    Machine machine;
    Profile profile;
    ck_assert_int_eq(machine_read("tests/fixtures/peaks.json", &machine), STATUS_OK);
    ProfileOptions options = {
        .warmup = 2, .iterations = 8, .machine = &machine, .probe_seconds = -1};
    ck_assert_int_eq(profile_training(task.model, optimizer_defaults(OPTIMIZER_ADAM), task.x,
                                      task.labels, options, &profile),
                     STATUS_OK);
    net_task_free(&task);
    return profile;
}

START_TEST(names_are_text) {
    Profile profile = measured();
    begin("p.html");
    snprintf(profile.model, sizeof profile.model, "<script>alert('&')</script>");
    snprintf(profile.layers[0].path, sizeof profile.layers[0].path, "a\"><b>&\x1b\xff");
    snprintf(profile.layers[0].type, sizeof profile.layers[0].type, "</td>");
    const Page page = {.title = profile.model, .profile = &profile, .command = "x --html '<p>'"};
    ck_assert_int_eq(page_write(&page, path), STATUS_OK);
    char *text = text_of();
    markup_check(text);
    ck_assert_int_eq(markup_count(text, "<script"), 0);
    ck_assert_int_eq(markup_count(text, "<b>"), 0);
    ck_assert_int_gt(markup_count(text, "a&quot;&gt;&lt;b&gt;&amp;??"), 2);
    free(text);
    profile_free(&profile);
    work_folder_end();
}
END_TEST

// At every place: two a line apart but for rounding once pushed each other round for ever.
START_TEST(layers_in_one_place_have_names_below_each_other) {
    Profile profile = measured();
    begin("r.svg");
    for (int i = 0; i < 700; i++) {
        for (int k = 0; k < profile.n_layers; k++) {
            ProfileLayer *layer = &profile.layers[k];
            for (int p = 0; p < REPORT_COUNT; p++) {
                layer->phase[p].cost = (OpCost){.macs = 1000, .bytes_read = 4000};
                layer->phase[p].latency.statistics.median = 5e-9 * pow(1.01, i);
            }
        }
        const Page page = {.profile = &profile};
        ck_assert_int_eq(page_write_drawing(&page, PAGE_ROOFLINE, path), STATUS_OK);
    }
    char *text = text_of();
    double y[16];
    int n = 0;
    for (const char *at = text; n < 16 && (at = strstr(at, "class=\"label\"")); at++) {
        const char *value = strstr(at, " y=\"");
        ck_assert_ptr_nonnull(value);
        y[n++] = strtod(value + 4, NULL);
    }
    ck_assert_int_ge(n, profile.n_layers);
    int names = n - 3; // the last texts name the colours
    for (int i = names - profile.n_layers + 1; i < names - 1; i++) // the last one has no backward
        ck_assert_double_ge(y[i], y[i - 1] + 11.5);
    free(text);
    profile_free(&profile);
    work_folder_end();
}
END_TEST

START_TEST(of_nothing_there_is_a_page) {
    begin("p.html");
    const Profile empty = {.model = "empty", .device = "meta"};
    Sweep sweep = planted_sweep((const char *const[]){"batch=1", NULL}, 1.0, 1.0);
    sweep.points[0].state = SWEEP_FAILED;
    ck_assert_int_eq(sweep_judge(&sweep), STATUS_OK);
    const Page page = {.title = "", .profile = &empty, .sweep = &sweep, .command = ""};
    ck_assert_int_eq(page_write(&page, path), STATUS_OK);
    char *text = text_of();
    markup_check(text);
    ck_assert_int_eq(markup_count(text, "<svg "), 0);
    free(text);
    for (int d = 0; page_drawing_name(d); d++) {
        ck_assert_int_eq(page_write_drawing(&page, (PageDrawing)d, path), STATUS_STATE);
        expect_error(STATUS_STATE, page_drawing_name(d));
    }
    text = text_of(); // unchanged
    ck_assert_int_eq(markup_count(text, "<html"), 1);
    free(text);
    sweep_free(&sweep);
    work_folder_end();
}
END_TEST

// After a failure there is no page, not even a part of one.
START_TEST(every_request_for_memory_may_fail) {
    Profile profile = measured();
    begin("p.html");
    const Page page = {.title = "p", .profile = &profile, .command = "p"};
    Status status = STATUS_OUT_OF_MEMORY;
    for (uint64_t nth = 1; status; nth++) {
        memory_fail_at(nth);
        status = _i ? page_write_drawing(&page, PAGE_MEMORY, path) : page_write(&page, path);
        memory_fail_at(0);
        ck_assert(status == STATUS_OK || status == STATUS_OUT_OF_MEMORY);
        ck_assert(status == STATUS_OK || access(path, F_OK) != 0);
        error_clear();
    }
    profile_free(&profile);
    work_folder_end();
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {names_are_text, 0},
        {layers_in_one_place_have_names_below_each_other, 0},
        {of_nothing_there_is_a_page, 0},
        {every_request_for_memory_may_fail, 2},
        {NULL, 0},
    };
    return harness_main("page", tests);
}
