// test_profile_runs.c -- adds medians of other processes to a profile's own, each at its place, and
// refuses profiles of other work. test_profile_runs_program.c tests starting the processes.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/files/saved.h"
#include "tensor/memory.h"
#include "tests/helpers/expect.h"
#include "tests/profiler/files/profile_text.h"

static Profile profile;
static char *text; // the profile's JSON

static void begin(void) {
    profile = profile_small();
    text = profile_text_new(&profile);
}

static void end(void) {
    free(text);
    profile_free(&profile);
}

// The profile's document with every median `times` as long, and then changed by `change`; free it.
static char *changed(double times, void (*change)(json_t *document)) {
    json_t *document = json_loads(text, 0, NULL);
    json_t *step = json_object_get(json_object_get(document, "totals"), "step");
    json_t *latency = json_object_get(step, "latency");
    double median = json_number_value(json_object_get(latency, "median"));
    json_object_set_new(latency, "median", json_real(times * median));
    if (change) change(document);
    char *result = json_dumps(document, 0);
    json_decref(document);
    return result;
}

START_TEST(each_median_stands_beside_this_run_s) {
    begin();
    char *runs[4];
    for (int i = 0; i < 4; i++) runs[i] = changed(2.0 + i, NULL);
    ck_assert_int_eq(profile_take_runs(&profile, runs, 4), STATUS_OK);
    const Latency *step = &profile.totals[REPORT_STEP].latency, *across = step->across;
    ck_assert(across != NULL && across->count == 5);
    double own = step->statistics.median;
    ck_assert_double_eq(across->samples[0], own);
    for (int i = 0; i < 4; i++)
        ck_assert_double_eq_tol(across->samples[i + 1], (2.0 + i) * own, 1e-9 * own);
    ck_assert_double_eq_tol(across->statistics.median, 3.0 * own, 1e-9 * own);
    ck_assert_double_eq_tol(across->statistics.ci95_high, 5.0 * own, 1e-9 * own);
    ck_assert_double_eq_tol(across->statistics.confidence, 0.9375, 1e-12);
    for (int i = 0; i < profile.n_layers; i++)
        for (int p = 0; p < REPORT_STEP; p++) { // the documents do not change it
            const Latency *one = &profile.layers[i].phase[p].latency;
            ck_assert_int_eq(one->across != NULL, one->count > 0);
            if (one->count == 0) continue;
            ck_assert_double_eq_tol(one->across->statistics.median, one->statistics.median, 1e-15);
        }
    ck_assert_ptr_nonnull(profile.inference.across);
    for (int i = 0; i < 4; i++) free(runs[i]);
    end();
}
END_TEST

static void other_layer(json_t *document) {
    json_t *layer = json_array_get(json_object_get(document, "layers"), 1);
    json_object_set_new(layer, "path", json_string("conv1"));
}
static void fewer_layers(json_t *document) {
    json_array_remove(json_object_get(document, "layers"), 0);
}
static void no_layers(json_t *document) { json_object_del(document, "layers"); }
static void no_totals(json_t *document) { json_object_del(document, "totals"); }
static void no_inference(json_t *document) {
    json_object_set_new(json_object_get(document, "totals"), "inference", json_null());
}
static void negative(json_t *document) {
    json_t *layer = json_array_get(json_object_get(document, "layers"), 0);
    json_t *latency = json_object_get(json_object_get(layer, "forward"), "latency");
    json_object_set_new(latency, "median", json_integer(-1));
}
static const struct {
    void (*change)(json_t *document);
    const char *says;
} others[] = {{other_layer, "run 2 of 2: relu1: another layer"},
              {fewer_layers, "run 2 of 2: layers: differ"},
              {no_layers, "run 2 of 2: layers: differ"},
              {no_totals, "run 2 of 2: totals.forward: no median"},
              {no_inference, "run 2 of 2: totals.inference: no median"},
              {negative, "run 2 of 2: fc1.forward: no median"}};
enum { OTHERS = sizeof others / sizeof others[0] };

START_TEST(what_is_no_profile_of_the_same_is_refused) {
    begin();
    char *run = changed(1.0, others[_i].change);
    ck_assert_int_eq(profile_take_runs(&profile, &run, 1), STATUS_FORMAT);
    expect_error(STATUS_FORMAT, others[_i].says);
    free(run);
    end();
}
END_TEST

// All runs, old and new, are taken again and replace the earlier ones; a file of several runs
// counts as one.
START_TEST(more_runs_take_the_place_of_fewer) {
    begin();
    char *runs[4];
    for (int i = 0; i < 4; i++) runs[i] = changed(2.0 + i, NULL);
    ck_assert_int_eq(profile_take_runs(&profile, runs, 1), STATUS_OK);
    const Latency *step = &profile.totals[REPORT_STEP].latency;
    ck_assert_int_eq(step->across->count, 2);
    ck_assert_int_eq(profile_take_runs(&profile, runs, 4), STATUS_OK);
    ck_assert_int_eq(step->across->count, 5);
    double own = step->statistics.median;
    for (int i = 0; i < 4; i++)
        ck_assert_double_eq_tol(step->across->samples[i + 1], (2.0 + i) * own, 1e-9 * own);
    char *whole = profile_text_new(&profile), unit[16];
    char *const documents[] = {whole, runs[0], runs[1], runs[2]};
    SweepPoint point;
    ck_assert_int_eq(sweep_point_read(documents, 4, &point, unit), STATUS_OK);
    ck_assert(point.seconds > 0.0 && point.beat == 0.0);
    free(whole);
    for (int i = 0; i < 4; i++) free(runs[i]);
    end();
}
END_TEST

// A document that is cut anywhere, or has a byte changed, is refused, or read as it stands.
START_TEST(no_document_does_harm) {
    begin();
    size_t length = strlen(text);
    unsigned state = 1;
    for (int i = 0; i < 400; i++) {
        char *run = strdup(text);
        state = state * 1103515245u + 12345u;
        size_t at = (state >> 8) % length;
        if (i % 2)
            run[at] = '\0';
        else
            run[at] = (char)(1 + (state >> 3) % 255);
        RunFigures figures;
        if (run_figures_read(run, &figures) == STATUS_OK) ck_assert(figures.units > 0);
        error_clear();
        free(run);
    }
    char *cut = strdup(text);
    cut[length / 2] = '\0';
    ck_assert_int_eq(profile_take_runs(&profile, &cut, 1), STATUS_FORMAT);
    error_clear();
    free(cut);
    end();
}
END_TEST

START_TEST(figures_are_the_document_s) {
    begin();
    RunFigures figures;
    ck_assert_int_eq(run_figures_read(text, &figures), STATUS_OK);
    ck_assert_int_eq(figures.units, 4);
    ck_assert_int_eq(figures.peak_bytes, profile.measured.peak.total);
    double step = latency_median(&profile.totals[REPORT_STEP].latency);
    ck_assert_double_eq_tol(figures.phase[REPORT_STEP], step, 1e-12);
    ck_assert_double_eq_tol(figures.units_per_second, 4.0 / step, 1e-6 / step);
    ck_assert_int_eq(run_figures_read("{}", &figures), STATUS_FORMAT);
    error_clear();
    end();
}
END_TEST

static void say_differs(json_t *document) {
    json_object_set_new(document, "reconciled", json_false());
    json_object_set_new(document, "difference", json_string("fc1 forward: macs: predicted 1"));
}
static void say_differs_only(json_t *document) {
    json_object_set_new(document, "reconciled", json_false());
}
static void say_nothing_ran(json_t *document) {
    json_object_set_new(document, "reconciled", json_null());
    json_object_set_new(document, "difference", json_string("of what never ran"));
}

// The reader of another process's profile reports that its run did not match the prediction.
START_TEST(what_was_executed_otherwise_is_told_by_who_reads_it) {
    static const struct {
        void (*change)(json_t *document);
        const char *told; // NULL: nothing to report
    } says[] = {{NULL, NULL},
                {say_nothing_ran, NULL},
                {say_differs, "fc1 forward: macs: predicted 1"},
                {say_differs_only, "it does not say in what"}};
    begin();
    RunFigures figures;
    SweepPoint point;
    char unit[16], *run = changed(1.0, says[_i].change);
    Status want = says[_i].told ? STATUS_STATE : STATUS_OK;
    ck_assert(profile.reconciled);
    ck_assert_int_eq(profile_take_runs(&profile, &run, 1), STATUS_OK);
    ck_assert(profile.reconciled == !says[_i].told);
    ck_assert_str_eq(profile.difference, says[_i].told ? says[_i].told : "");
    ck_assert_int_eq(run_figures_read(run, &figures), want);
    if (says[_i].told) expect_error(STATUS_STATE, says[_i].told);
    ck_assert_int_eq(sweep_point_read(&run, 1, &point, unit), want);
    if (says[_i].told) expect_error(STATUS_STATE, says[_i].told);
    free(run);
    end();
}
END_TEST

START_TEST(every_request_for_memory_may_fail) {
    begin();
    char *run = changed(1.0, NULL);
    uint64_t before = memory_requests();
    ck_assert_int_eq(profile_take_runs(&profile, &run, 1), STATUS_OK);
    uint64_t requests = memory_requests() - before;
    for (uint64_t i = 1; i <= requests; i++) {
        end();
        begin();
        memory_fail_at(i);
        ck_assert_int_eq(profile_take_runs(&profile, &run, 1), STATUS_OUT_OF_MEMORY);
        memory_fail_at(0);
        error_clear();
    }
    free(run);
    end();
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {each_median_stands_beside_this_run_s, 0},
        {what_is_no_profile_of_the_same_is_refused, OTHERS},
        {more_runs_take_the_place_of_fewer, 0},
        {no_document_does_harm, 0},
        {figures_are_the_document_s, 0},
        {every_request_for_memory_may_fail, 0},
        {what_was_executed_otherwise_is_told_by_who_reads_it, 4},
        {NULL, 0},
    };
    return harness_main("profile_runs", tests);
}
