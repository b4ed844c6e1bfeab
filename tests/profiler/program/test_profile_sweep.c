// test_profile_sweep.c -- --sweep as a user types it: every point of a grid, the kept part of a
// stopped sweep, points that fail, and refusals.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/helpers/folder_runs.h"
#include "tests/helpers/harness.h"
#include "tests/helpers/profile_document.h"
#include "tests/helpers/work_folder.h"

#define SMALL "--layers 20,10 --batch 8 --iterations 10 "

static json_t *sweep_of(const char *name) {
    char path[80];
    snprintf(path, sizeof path, "%s/%s", work_folder, name);
    json_t *document = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
    ck_assert_ptr_nonnull(document);
    ck_assert_str_eq(json_string_value(document_at(document, "schema")), "ridgepoint.sweep/v1");
    return document;
}

static json_t *point_of(json_t *document, size_t i) {
    return json_array_get(json_object_get(document, "points"), i);
}

static int64_t integer_of(json_t *object, const char *key) {
    json_t *value = json_object_get(object, key);
    ck_assert_msg(json_is_integer(value), "%s is no whole number", key);
    return json_integer_value(value);
}

// ---- the grid ----------------------------------------------------------------------------------
// Each point equals a run with the same flags alone.
START_TEST(a_point_is_what_its_flags_give) {
    work_folder_begin();
    char *text = folder_text("profile_mlp",
                             "--device meta --sweep hidden=100,512-256 --sweep batch=1,64 "
                             "--json %s/s.json",
                             0, NULL);
    expect_part(text, "SWEEP  4 points\n    hidden     batch");
    expect_part(text, "  d 512-256    64          9.17 MB   161.2M\n");
    free(text);
    text = folder_text("profile_mlp",
                       "--device meta --layers 784,100,10 --json %s/one.json --quiet", 0, NULL);
    free(text);
    json_t *sweep = sweep_of("s.json");
    char path[80];
    snprintf(path, sizeof path, "%s/one.json", work_folder);
    json_t *one = json_load_file(path, 0, NULL);
    json_t *point = point_of(sweep, 1);
    ck_assert_int_eq(integer_of(point, "total_flops"),
                     document_integer(one, "totals.step.total_flops"));
    ck_assert_int_eq(integer_of(point, "peak_bytes"),
                     document_integer(one, "memory.predicted.peak_bytes"));
    ck_assert(json_is_null(json_object_get(point, "step_seconds")));
    json_decref(one);
    json_decref(sweep);
    work_folder_end();
}
END_TEST

START_TEST(networks_are_an_axis) {
    char *text = folder_text("profile_model", "lenet5 --device meta --sweep model=lenet5,mnist-cnn",
                             0, NULL);
    expect_part(text, "  a lenet5");
    expect_part(text, "  b mnist-cnn");
    free(text);
    text = folder_text("profile_model",
                       "lenet5 --device meta --sweep model=lenet5,none-such --sweep batch=1,2", 2,
                       "none-such");
    ck_assert_str_eq(text, "");
    free(text);
}
END_TEST

START_TEST(fusing_is_an_axis) {
    char *text = folder_text("profile_mlp", "--device meta --sweep fuse=no,yes", 0, NULL);
    expect_part(text, "  a no          9.17 MB");
    expect_part(text, "  b yes         9.24 MB");
    free(text);
    free(folder_text("profile_model", "resnet18 --inference --device meta --sweep fuse=no,yes", 0,
                     NULL));
}
END_TEST

START_TEST(counts_have_limits_too) {
    char *text =
        folder_text("profile_mlp", "--device meta --sweep batch=1,4096 --max-memory 9MB", 0, NULL);
    expect_part(text, " over\n");
    expect_part(text, "  over: beyond --max-latency or --max-memory\n");
    free(text);
}
END_TEST

// A point without enough memory does not keep the others from running.
START_TEST(a_point_may_fail) {
    char *text = folder_text("profile_mlp", "--iterations 5 --sweep batch=16777216,1", 1,
                             "batch 16777216: ");
    expect_part(text, "  a 16777216 ");
    expect_part(text, " failed\n");
    expect_part(text, "* knee\n");
    free(text);
}
END_TEST

START_TEST(times_have_a_knee) {
    work_folder_begin();
    char *text =
        folder_text("profile_mlp", SMALL "--sweep batch=1,16,256 --json %s/s.json", 0, NULL);
    expect_part(text, "knee");
    bool line = strstr(text, "\n  a step takes ") != NULL;
    free(text);
    json_t *sweep = sweep_of("s.json");
    int chosen = 0;
    for (size_t i = 0; i < 3; i++) {
        json_t *point = point_of(sweep, i);
        chosen += json_is_true(json_object_get(point, "chosen"));
        ck_assert(json_real_value(json_object_get(point, "step_seconds")) > 0.0);
        ck_assert(json_real_value(json_object_get(point, "step_low_seconds")) <=
                  json_real_value(json_object_get(point, "step_seconds")));
    }
    ck_assert_int_eq(chosen, 1);
    ck_assert_int_eq(json_array_size(document_at(sweep, "fits")), line); // not beside other work
    json_decref(sweep);
    work_folder_end();
}
END_TEST

START_TEST(what_is_learnt_is_told_of_each) {
    work_folder_begin();
    char *text = folder_text("profile_mlp",
                             "--layers 784,32,10 --iterations 5 --epochs 1 --sweep lr=0.001,1e30 "
                             "--optimizer sgd --json %s/s.json",
                             0, "smaller learning rate");
    expect_part(text, "2 points, each profiled and trained");
    expect_part(text, "diverged");
    free(text);
    json_t *sweep = sweep_of("s.json"), *point = point_of(sweep, 0);
    double accuracy = json_real_value(json_object_get(point, "test_accuracy"));
    ck_assert(accuracy > 0.05 && accuracy < 1.0);
    ck_assert_int_eq(json_array_size(json_object_get(point, "losses")), 64);
    ck_assert(json_real_value(json_object_get(point, "seconds")) > 0.0);
    ck_assert(json_is_null(json_object_get(point_of(sweep, 1), "final_loss")));
    json_decref(sweep);
    work_folder_end();
}
END_TEST

// ---- continuing a sweep ------------------------------------------------------------------------
#define GRID "--config %s/c.cfg --device meta --sweep batch=1,2,4 --save %s/s.json"

static void write_config(void) { work_folder_run("echo 'layers = 784,512,256,10' > c.cfg\n"); }

// A point in the file is not measured again: the program reports what the file says.
START_TEST(what_was_measured_is_kept) {
    work_folder_begin();
    write_config();
    free(folder_text("profile_mlp", GRID, 0, NULL));
    work_folder_run(
        "sed -i '0,/\"peak_bytes\": [0-9]*/s//\"peak_bytes\": 123456789012/' s.json\n"
        "tac s.json | sed '0,/\"state\": \"measured\"/s//\"state\": \"open\"/' | tac > t.json\n"
        "mv t.json s.json\n");
    char *text = folder_text("profile_mlp", GRID " --max-memory=1GB --htm %s/s.html", 0, NULL);
    expect_part(text, "  a 1            123 GB ");
    expect_part(text, "  c 4           8.61 MB ");
    expect_part(text, "  2 of 3 points were measured before, and stand in ");
    free(text);
    work_folder_end();
}
END_TEST

static const struct {
    const char *spoil, *says;
} spoilt[] = {
    {"echo '{' > s.json", "it is not a sweep"},
    {"echo '[]' > s.json", "it is not a sweep"},
    {": > s.json", "it is not a sweep"},
    {"sed -i 's#ridgepoint.sweep/v1#ridgepoint.sweep/v2#' s.json", "it is not a sweep"},
    {"sed -i 's/\"cpu\": \"/&X/' s.json", "it is a sweep of another processor"},
    {"sed -i 's/--device meta/& --fuse/' s.json", "it is a sweep of another command"},
    {"sed -i 's/\"state\": \"measured\"/\"state\": 7/' s.json", "points[0] is not a point"},
    {"sed -i 's/\"peak_bytes\": /&-/' s.json", "points[0] is not a point"},
    {"sed -i 's/\"peak_bytes\": /\"test_accuracy\": 1e308, &/' s.json", "points[0] is not a point"},
    {"sed -i 's/\"peak_bytes\": [0-9]*/\"peak_bytes\": \"x\"/' s.json", "points[0] is not a point"},
    {"sed -i 's/\"state\": \"measured\"/\"state\": \"foo\"/' s.json", "points[0] is not a point"},
    {"touch c.cfg", "it is a sweep of another command"},
    {"sed -i 's/\"points\"/\"pints\"/' s.json", "it lacks points"},
};
enum { SPOILT = sizeof spoilt / sizeof spoilt[0] };

// The file stays as it was.
START_TEST(another_file_is_not_gone_on_with) {
    work_folder_begin();
    write_config();
    free(folder_text("profile_mlp", GRID, 0, NULL));
    work_folder_run(spoilt[_i].spoil);
    work_folder_run("cp s.json before.json");
    char *text = folder_text("profile_mlp", GRID, 3, spoilt[_i].says);
    ck_assert_str_eq(text, "");
    free(text);
    work_folder_run("cmp s.json before.json");
    work_folder_end();
}
END_TEST

// Stopped at any moment, the file has complete points, and the same command finishes all of them.
START_TEST(one_that_is_stopped_goes_on) {
    work_folder_begin();
    work_folder_run("set -- profile_mlp " SMALL "--sweep batch=1,2,4,8 --save s.json\n"
                    "\"$@\" > first & until [ -s s.json ]; do sleep 0.05; done\n"
                    "kill -TERM $!\n"
                    "wait $! && exit 1 || [ $? = 143 ]\n"
                    "grep -q 'CUT SHORT, as was asked: the same command goes on' first\n"
                    "grep -q '\"state\": \"open\"' s.json\n"
                    "\"$@\" > second\n"
                    "grep -q ' of 4 points were measured before' second\n"
                    "not grep -q '\"state\": \"open\"' s.json\n");
    work_folder_end();
}
END_TEST

// ---- refusals ----------------------------------------------------------------------------------
START_TEST(what_is_no_sweep_is_one_line) {
    static const Refusal refused[] = {
        {"--sweep bach=1", 2, "--sweep bach=1: unknown axis. HINT", NULL},
        {"--sweep image=1", 2, "unknown axis", NULL},
        {"--sweep batch", 2, "expected AXIS=VALUE", NULL},
        {"--sweep batch=", 2, "an empty value", NULL},
        {"--sweep batch=1,,2", 2, "an empty value", NULL},
        {"--sweep batch=1,1", 2, "one value twice", NULL},
        {"--sweep batch=1 --sweep batch=2", 2, "this axis was given before", NULL},
        {"--sweep batch=1,x", 2, "--batch x: expected a whole number", NULL},
        {"--sweep hidden=1-x", 2, "--layers 784,1,x,10: expected sizes", NULL},
        {"--sweep fuse=maybe", 2, "expected yes or no", NULL},
        {"--sweep fuse=no,yes --fuse", 2, "leave out one", NULL},
        {"--sweep hidden=5 --sweep layers=1-2", 2, "leave out one", NULL},
        {"--device meta --sweep lr=1,2", 2, "nothing trains on the meta device", NULL},
        {"--device meta --sweep batch=1 --max-latency 1s", 2, "nothing takes time", NULL},
        {"lenet5 --sweep model=lenet5,--batch", 2, "expected networks", "profile_model"},
        {"--sweep lr=0.1 --epochs 0", 2, "varies training alone; add --epochs N", NULL},
        {"--sweep lr=0.1,-1", 2, "--lr -1: expected a number above 0", NULL},
        {"--sweep batch=1 --against --fuse", 2, "exclude each other", NULL},
        {"--sweep batch=1 --max-latency 1MB", 2, "expected a time", NULL},
        {"--sweep batch=1 --save /none/s.json", 3, "/none/s.json", NULL},
        {"--sweep batch=1 --json /none/s.json", 3, "/none/s.json", NULL},
        {"--sweep batch=1 --sweep threads=1 --sweep fuse=no --sweep activation=relu --sweep lr=1",
         2, "at most 4 axes", NULL},
        {"lenet5 --sweep lr=0.1", 2, "varies training alone; add --epochs N", "profile_model"},
        {"lenet5 resnet18 --sweep batch=1", 2, "--sweep model=A,B, or leave out", "profile_model"},
    };
    work_folder_begin();
    expect_refusals(refused, sizeof refused / sizeof refused[0]);
    work_folder_end();
}
END_TEST

START_TEST(every_axis_has_help) {
    char *text = folder_text("profile_mlp", "--help sweep", 0, NULL);
    expect_part(text, "\n  hidden ");
    ck_assert(!strstr(text, "  tokens"));
    free(text);
    text = folder_text("profile_model", "--help sweep", 0, NULL);
    expect_part(text, "\n  tokens ");
    free(text);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_point_is_what_its_flags_give, 0},
        {networks_are_an_axis, 0},
        {fusing_is_an_axis, 0},
        {counts_have_limits_too, 0},
        {a_point_may_fail, 0},
        {times_have_a_knee, 0},
        {what_is_learnt_is_told_of_each, 0},
        {what_was_measured_is_kept, 0},
        {another_file_is_not_gone_on_with, SPOILT},
        {one_that_is_stopped_goes_on, 0},
        {what_is_no_sweep_is_one_line, 0},
        {every_axis_has_help, 0},
        {NULL, 0},
    };
    return harness_main("profile_sweep", tests);
}
