// test_profile_read.c -- a written profile read back: every count and median is unchanged, and a
// document that is cut, changed or no profile is refused with the place of the fault.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/files/saved.h"
#include "tensor/memory.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/work_folder.h"
#include "tests/profiler/files/profile_text.h"

static Profile profile;
static char *text;
static SavedProfile saved;

static void begin(void) {
    profile = profile_small();
    text = profile_text_new(&profile);
}

static void end(void) {
    free(text);
    profile_free(&profile);
}

// ---- read back ---------------------------------------------------------------------------------
static void check_latency(const Latency *got, const Latency *want, const char *what) {
    ck_assert_msg(got->count == want->count, "%s: %lld of %lld", what, (long long)got->count,
                  (long long)want->count);
    if (want->count == 0) return;
    ck_assert_double_eq(got->statistics.median, want->statistics.median);
    ck_assert_int_eq(got->across != NULL, want->across != NULL);
    for (int64_t i = 0; want->across && i < want->across->count; i++)
        ck_assert_double_eq(got->across->samples[i], want->across->samples[i]);
    if (want->across)
        ck_assert_double_eq(got->across->statistics.median, want->across->statistics.median);
}

static void check_phases(const ProfilePhase *got, const ProfilePhase *want, const char *what) {
    int phases = got == saved.profile.totals ? REPORT_COUNT : REPORT_STEP; // a layer has no step
    for (int p = 0; p < phases; p++) {
        ck_assert_msg(memcmp(&got[p].cost, &want[p].cost, sizeof(OpCost)) == 0, "%s, phase %d",
                      what, p);
        check_latency(&got[p].latency, &want[p].latency, what);
    }
}

static void check_same(void) {
    const Profile *got = &saved.profile;
    check_phases(got->totals, profile.totals, "totals");
    ck_assert_int_eq(got->n_layers, profile.n_layers);
    for (int i = 0; i < profile.n_layers; i++) {
        ck_assert_str_eq(got->layers[i].path, profile.layers[i].path);
        ck_assert_int_eq(got->layers[i].parameters, profile.layers[i].parameters);
        ck_assert_int_eq(got->layers[i].saved_bytes, profile.layers[i].saved_bytes);
        check_phases(got->layers[i].phase, profile.layers[i].phase, profile.layers[i].path);
    }
    ck_assert_mem_eq(&got->measured.peak, &profile.measured.peak, sizeof(MemoryUse));
    ck_assert_mem_eq(&got->predicted.peak, &profile.predicted.peak, sizeof(MemoryUse));
    ck_assert_int_eq(got->allocations, profile.allocations);
    ck_assert_int_gt(got->allocations, 0);
    ck_assert_int_eq(got->units, profile.units);
    ck_assert_int_eq(got->batch, profile.batch);
    ck_assert_int_eq(got->threads, profile.threads);
    ck_assert_str_eq(got->model, profile.model);
    ck_assert_str_eq(got->optimizer, profile.optimizer);
    ck_assert_str_eq(got->unit, profile.unit);
    ck_assert(got->kind == profile.kind && saved.profile.others_share == profile.others_share &&
              saved.environment.cores > 0);
}

START_TEST(all_that_is_compared_comes_back) {
    begin();
    ck_assert_msg(!saved_profile_parse(text, strlen(text), "it", &saved), "%s", error_message());
    check_same();
    saved_profile_free(&saved);
    end();
}
END_TEST

START_TEST(runs_come_back_each) {
    begin();
    char *runs[] = {text, text, text, text};
    ck_assert_int_eq(profile_take_runs(&profile, runs, 4), STATUS_OK);
    char *all = profile_text_new(&profile);
    ck_assert_msg(!saved_profile_parse(all, strlen(all), "it", &saved), "%s", error_message());
    check_same();
    ck_assert_int_eq(saved.profile.totals[REPORT_STEP].latency.across->count, 5);
    ck_assert_int_eq(saved.profile.metronome.version, 0);
    saved_profile_free(&saved);
    free(all);
    end();
}
END_TEST

// Each run's beats are read with its times.
START_TEST(each_run_s_metronome_comes_back) {
    begin();
    Latency *parts[] = {&profile.metronome.product, &profile.metronome.read};
    char *runs[2];
    profile.metronome.version = 1;
    for (int i = 0; i < 2; i++) {
        *parts[i] = (Latency){.samples = memory_new(sizeof(double)), .count = 1};
        parts[i]->samples[0] = 2e-4;
        statistics_summarise(parts[i]->samples, 1, &parts[i]->statistics);
    }
    for (int run = 0; run < 2; run++) {
        for (int i = 0; i < 2; i++) parts[i]->statistics.median = 1e-4 * (run + 3 + i);
        runs[run] = profile_text_new(&profile);
    }
    for (int i = 0; i < 2; i++) parts[i]->statistics.median = 2e-4;
    ck_assert_int_eq(profile_take_runs(&profile, runs, 2), STATUS_OK);
    char *all = profile_text_new(&profile);
    ck_assert_msg(!saved_profile_parse(all, strlen(all), "it", &saved), "%s", error_message());
    const Profile *got = &saved.profile;
    ck_assert_int_eq(got->metronome.version, 1);
    static const double products[] = {2e-4, 3e-4, 4e-4}, reads[] = {2e-4, 4e-4, 5e-4};
    for (int run = 0; run < 3; run++) {
        ck_assert_double_eq_tol(profile_beat(got, run, true), products[run], 1e-12);
        double both = sqrt(products[run] * reads[run]);
        ck_assert_double_eq_tol(profile_beat(got, run, false), both, 1e-12);
    }
    ck_assert(isnan(profile_beat(got, 3, true)) && isnan(profile_beat(got, -1, true)));
    profile.metronome.version = 2; // another version's run does not match
    ck_assert_int_eq(profile_take_runs(&profile, runs, 2), STATUS_FORMAT);
    expect_error(STATUS_FORMAT, "run 2 of 3: metronome.version: differs from the first run's");
    for (int i = 0; i < 2; i++) free(runs[i]);
    saved_profile_free(&saved);
    free(all);
    end();
}
END_TEST

START_TEST(a_file_is_read_whole) {
    begin();
    char path[64];
    work_folder_begin();
    snprintf(path, sizeof path, "%s/base.json", work_folder);
    FILE *file = fopen(path, "w");
    fputs(text, file);
    for (int i = 0; i < 200000; i++) fputc(' ', file); // longer than one read takes
    fclose(file);
    ck_assert_int_eq(saved_profile_read(path, &saved), STATUS_OK);
    check_same();
    saved_profile_free(&saved);
    ck_assert_int_eq(saved_profile_read(work_folder, &saved), STATUS_IO);
    expect_error(STATUS_IO, "Is a directory");
    snprintf(path, sizeof path, "%s/none.json", work_folder);
    ck_assert_int_eq(saved_profile_read(path, &saved), STATUS_IO);
    expect_error(STATUS_IO, "HINT: --save ");
    work_folder_end();
    end();
}
END_TEST

// ---- refusals ----------------------------------------------------------------------------------
typedef struct Spoilt {
    const char *path, *value; // the JSON put in its place; NULL: it is left out
    const char *says;
} Spoilt;

static const Spoilt spoilt[] = {
    {"schema", "\"ridgepoint.profile/v2\"", "its schema is ridgepoint.profile/v2"},
    {"schema", NULL, "its schema is missing"},
    {"kind", "\"dancing\"", "kind: expected training"},
    {"totals", NULL, "totals.step: expected an object"},
    {"totals.step", "null", "totals.step: expected an object"},
    {"totals.step.macs", "-1", "totals.step.macs: expected a whole number"},
    {"totals.forward.bytes_read", "1.5", "totals.forward.bytes_read: expected a whole number"},
    {"totals.step.latency.median", "\"fast\"", "totals.step.latency.median: expected seconds"},
    {"totals.step.latency.median", "-1.0", "latency.median: expected seconds"},
    {"totals.step.latency.median", "1e300", "latency.median: expected seconds"},
    {"totals.step.latency.median", "5e-324", "latency.median: expected seconds"},
    {"totals.step.latency.median", "0", "totals.step.latency: expected times above 0"},
    {"totals.step.latency.n", "null", "totals.step.latency.n: expected a whole number"},
    {"totals.step.macs", "4611686018427387904", "expected a whole number from 0 to 2^61"},
    {"totals.step.units_per_second", "-3", "totals.step.units_per_second: expected a rate"},
    {"totals.other_work_share", "1.5", "totals.other_work_share: expected a share"},
    {"metronome", "{\"version\": -1}", "metronome.version: expected a whole number"},
    {"metronome", "{\"version\": 1, \"product\": {\"n\": 1, \"median\": -1}}",
     "metronome.product.latency.median: expected seconds"},
    {"model.batch", "\"4\"", "model.batch: expected a whole number"},
    {"model.name", "[]", "model.name: expected text"},
    {"environment", "null", "environment.cores: expected a whole number"},
    {"memory", "3", "memory.predicted."},
    {"memory.predicted.peak_bytes", NULL, "memory.predicted.peak_bytes"},
    {"memory.measured.data_bytes", "-8", "memory.measured.data_bytes"},
    {"layers", "{}", "layers: expected an array"},
    {"layers", "[3]", "layers[0].path: expected the path"},
    {"layers", "[{\"path\": 3}]", "layers[0].path: expected text"},
};
enum { SPOILT = sizeof spoilt / sizeof spoilt[0] };

static char *spoil(const Spoilt *how) {
    char copy[80], *key = copy;
    snprintf(copy, sizeof copy, "%s", how->path);
    json_t *document = json_loads(text, 0, NULL), *holder = document;
    for (char *dot; (dot = strchr(key, '.')); key = dot + 1) {
        *dot = '\0';
        holder = json_object_get(holder, key);
    }
    ck_assert_ptr_nonnull(json_object_get(holder, key));
    if (how->value)
        json_object_set_new(holder, key, json_loads(how->value, JSON_DECODE_ANY, NULL));
    else
        json_object_del(holder, key);
    char *result = json_dumps(document, 0);
    json_decref(document);
    return result;
}

START_TEST(what_is_spoilt_is_refused_by_its_place) {
    begin();
    char *other = spoil(&spoilt[_i]);
    ck_assert_int_eq(saved_profile_parse(other, strlen(other), "b.json", &saved), STATUS_FORMAT);
    ck_assert_ptr_nonnull(strstr(error_message(), "b.json: "));
    expect_error(STATUS_FORMAT, spoilt[_i].says);
    saved_profile_free(&saved);
    free(other);
    end();
}
END_TEST

// A document that is cut, or has bytes changed, is refused, or read as it stands; nothing worse.
START_TEST(no_document_does_harm) {
    begin();
    size_t length = strlen(text);
    unsigned state = 1;
    for (int i = 0; i < 600; i++) {
        char *other = strdup(text);
        for (int k = 0; k <= i % 3; k++) {
            state = state * 1103515245u + 12345u;
            other[(state >> 8) % length] = (char)(1 + (state >> 3) % 255);
        }
        size_t size = i % 2 ? (state >> 8) % length : length;
        Status status = saved_profile_parse(other, size, "it", &saved);
        ck_assert(status == STATUS_OK || status == STATUS_FORMAT);
        error_clear();
        saved_profile_free(&saved);
        free(other);
    }
    end();
}
END_TEST

START_TEST(every_request_for_memory_may_fail) {
    begin();
    char *runs[] = {text, text};
    ck_assert_int_eq(profile_take_runs(&profile, runs, 2), STATUS_OK);
    char *all = profile_text_new(&profile);
    Status status = STATUS_OUT_OF_MEMORY;
    for (uint64_t nth = 1; status; nth++) {
        memory_fail_at(nth);
        status = saved_profile_parse(all, strlen(all), "it", &saved);
        memory_fail_at(0);
        ck_assert(status == STATUS_OK || status == STATUS_OUT_OF_MEMORY);
        error_clear();
        saved_profile_free(&saved);
    }
    free(all);
    end();
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {all_that_is_compared_comes_back, 0},
        {runs_come_back_each, 0},
        {each_run_s_metronome_comes_back, 0},
        {a_file_is_read_whole, 0},
        {what_is_spoilt_is_refused_by_its_place, SPOILT},
        {no_document_does_harm, 0},
        {every_request_for_memory_may_fail, 0},
        {NULL, 0},
    };
    return harness_main("profile_read", tests);
}
