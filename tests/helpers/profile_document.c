// profile_document.c -- reads a profile's JSON and checks it against the conventions.
#include "tests/helpers/profile_document.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/helpers/harness.h"
#include "tests/helpers/run_program.h"

// ---- reading ---------------------------------------------------------------------------------
json_t *document_parse(const char *text) {
    json_error_t error;
    json_t *document = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    ck_assert_msg(json_is_object(document), "no JSON object: line %d: %s", error.line, error.text);
    return document;
}

json_t *document_new(const char *arguments) { return document_of("profile_mlp", arguments); }

json_t *document_of(const char *program, const char *arguments) {
    char path[] = "/tmp/ridgepoint-profile-XXXXXX", all[2048];
    int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    snprintf(all, sizeof all, "%s --quiet --json %s", arguments, path);
    ProgramRun run = program_run(program_path(program), all, PROGRAM_CAPTURED);
    bool answered = strstr(arguments, "--generate") != NULL; // answers are no reports
    ck_assert_msg(run.status == 0 && !run.out[0] == !answered && !run.err[0],
                  "%s: exit status %d, \"%s\" \"%s\"", arguments, run.status, run.out, run.err);
    json_error_t error;
    json_t *document = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    ck_assert_msg(json_is_object(document), "%s: line %d: %s", arguments, error.line, error.text);
    close(file);
    unlink(path);
    program_run_free(&run);
    document_check(document);
    return document;
}

json_t *document_at(json_t *document, const char *path) {
    char copy[128], *place;
    snprintf(copy, sizeof copy, "%s", path);
    json_t *value = document;
    for (char *key = strtok_r(copy, ".", &place); key; key = strtok_r(NULL, ".", &place))
        value = json_object_get(value, key);
    ck_assert_msg(value != NULL, "no key %s", path);
    return value;
}

json_int_t document_integer(json_t *document, const char *path) {
    json_t *value = document_at(document, path);
    ck_assert_msg(json_is_integer(value), "%s is no integer", path);
    return json_integer_value(value);
}

double document_real(json_t *document, const char *path) {
    json_t *value = document_at(document, path);
    ck_assert_msg(json_is_real(value), "%s is no real number", path);
    return json_real_value(value);
}

// ---- one phase -------------------------------------------------------------------------------
static const char *const counts[] = {
    "macs",        "flops",      "bias_flops",   "elementwise_flops", "transcendental_flops",
    "total_flops", "bytes_read", "bytes_written"};
enum { COUNTS = sizeof counts / sizeof counts[0] };
static const char *const phases[] = {"forward",         "backward",  "backward_input",
                                     "backward_weight", "recompute", "optimizer"};
enum { PHASES = sizeof phases / sizeof phases[0], BACKWARD = 1 };

static json_int_t count(json_t *phase, const char *name) { // 0 where the phase did not happen
    return json_is_null(phase) ? 0 : document_integer(phase, name);
}

static void check_percentiles(json_t *latency) {
    static const struct {
        const char *name;
        json_int_t samples; // samples needed
    } needs[] = {{"p50", 1}, {"p90", 44}, {"p95", 90}, {"p99", 459}, {"p99.9", 4603}};
    json_t *percentiles = document_at(latency, "percentiles");
    for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++) {
        bool there = json_object_get(percentiles, needs[i].name) != NULL;
        ck_assert_msg(there == (document_integer(latency, "n") >= needs[i].samples), "%s of %lld",
                      needs[i].name, document_integer(latency, "n"));
    }
    ck_assert_double_eq(document_real(percentiles, "p50"), document_real(latency, "median"));
}

static void check_latency(json_t *latency, const char *where) {
    static const char *const reals[] = {"median", "mean", "min", "max", "stddev", "iqr"};
    if (json_is_null(latency)) return;
    json_t *samples = document_at(latency, "samples"), *sample;
    ck_assert_int_eq(json_array_size(samples), document_integer(latency, "n"));
    bool sure = document_integer(latency, "n") >= 6; // enough for a 95 % interval
    ck_assert(sure ? json_array_size(document_at(latency, "ci95")) == 2
                   : json_is_null(document_at(latency, "ci95")));
    bool spread = document_integer(latency, "n") > 1; // one sample has no spread
    for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++)
        if (spread || (strcmp(reals[i], "stddev") != 0 && strcmp(reals[i], "iqr") != 0))
            ck_assert_msg(document_real(latency, reals[i]) >= 0.0, "%s %s", where, reals[i]);
    double low = document_real(latency, "min"), high = document_real(latency, "max");
    double median = document_real(latency, "median");
    ck_assert_msg(low <= median && median <= high, "%s: the median is outside", where);
    size_t i;
    json_array_foreach(samples, i, sample) {
        double seconds = json_real_value(sample);
        ck_assert_msg(json_is_real(sample) && seconds >= low && seconds <= high, "%s: a sample",
                      where);
    }
    check_percentiles(latency);
}

// `ceilings`: whether the document has ceilings to judge by.
static void check_phase(json_t *phase, bool ceilings, const char *where) {
    json_int_t total = 0;
    for (int i = 1; i < 5; i++) total += count(phase, counts[i]);
    ck_assert_msg(count(phase, "flops") == 2 * count(phase, "macs"), "%s: flops", where);
    ck_assert_msg(count(phase, "total_flops") == total, "%s: total_flops", where);
    json_int_t bytes = count(phase, "bytes_read") + count(phase, "bytes_written");
    if (bytes > 0) {
        double want = (double)total / (double)bytes, got = document_real(phase, "intensity");
        ck_assert_msg(fabs(got - want) <= 1e-9 * fmax(1.0, want), "%s: intensity %g", where, got);
    }
    bool judged = ceilings && (total > 0 || bytes > 0);
    const char *bound = json_string_value(document_at(phase, "bound"));
    ck_assert_msg(judged == (bound != NULL), "%s: bound %s", where, bound ? bound : "null");
    bool known = !bound || strstr(" compute memory overhead transfer ", bound);
    ck_assert_msg(known, "%s: bound %s", where, bound);
    if (judged) ck_assert_msg(document_real(phase, "roof_seconds") > 0.0, "%s: no roof", where);
    check_latency(document_at(phase, "latency"), where);
}

// ---- the whole -------------------------------------------------------------------------------
static void check_layer(json_t *layer, bool ceilings) {
    const char *path = json_string_value(document_at(layer, "path"));
    char where[160];
    for (int p = 0; p < PHASES; p++) {
        json_t *phase = document_at(layer, phases[p]);
        snprintf(where, sizeof where, "%s %s", path, phases[p]);
        if (!json_is_null(phase)) check_phase(phase, ceilings, where);
    }
    json_t *backward = document_at(layer, "backward");
    bool parts = !json_is_null(document_at(layer, "backward_input"));
    ck_assert_msg(parts == !json_is_null(backward), "%s: backward without its parts", path);
    ck_assert_msg(count(backward, "macs") ==
                      count(document_at(layer, "backward_input"), "macs") +
                          count(document_at(layer, "backward_weight"), "macs") +
                          document_integer(layer, "recomputed_flops") / 2,
                  "%s: products outside input, weight and what ran again", path);
    ck_assert_int_eq(2 * count(document_at(layer, "recompute"), "macs"),
                     document_integer(layer, "recomputed_flops"));
    document_at(layer, "type");
    document_at(layer, "input_shape");
    document_at(layer, "output_shape");
    document_integer(layer, "parameters");
    document_integer(layer, "saved_bytes");
}

static void check_sums(json_t *document) {
    json_t *layers = document_at(document, "layers"), *layer;
    size_t i;
    for (int p = 0; p < PHASES; p++)
        for (int c = 0; c < COUNTS; c++) {
            json_int_t sum = 0;
            json_array_foreach(layers, i, layer) sum +=
                count(document_at(layer, phases[p]), counts[c]);
            json_int_t total =
                count(document_at(document_at(document, "totals"), phases[p]), counts[c]);
            ck_assert_msg(sum == total, "%s %s: the layers have %lld, the totals %lld", phases[p],
                          counts[c], sum, total);
        }
    json_int_t parameters = 0, saved = 0;
    json_array_foreach(layers, i, layer) {
        parameters += document_integer(layer, "parameters");
        saved += document_integer(layer, "saved_bytes");
    }
    ck_assert_int_eq(parameters, document_integer(document, "model.parameters"));
    ck_assert_int_eq(saved, document_integer(document, "memory.predicted.saved_bytes"));
}

static void check_memory(json_t *document) {
    static const char *const categories[] = {"parameter_bytes", "gradient_bytes",
                                             "optimizer_bytes", "activation_bytes",
                                             "workspace_bytes", "data_bytes",
                                             "staging_bytes"};
    json_t *predicted = document_at(document, "memory.predicted");
    json_t *measured = document_at(document, "memory.measured");
    bool ran = !json_is_null(document_at(document, "totals.step.latency"));
    ck_assert_msg(ran == !json_is_null(measured), "measured memory without a run");
    json_int_t sum = 0;
    for (int i = 0; i < 7; i++) sum += document_integer(predicted, categories[i]);
    ck_assert_int_eq(sum, document_integer(predicted, "peak_bytes"));
    ck_assert(document_integer(predicted, "saved_bytes") <= sum);
    if (ran) ck_assert_msg(json_equal(measured, predicted), "measured and predicted memory differ");
    ck_assert_int_eq(document_integer(document, "memory.unaccounted_bytes"), 0);
    ck_assert(document_integer(document, "memory.reserved_bytes") >= 0);
    ck_assert(document_integer(document, "memory.process_peak_bytes") > 0);
    ck_assert(json_is_string(document_at(document, "memory.peak_op")));
}

void document_check(json_t *document) {
    static const char *const keys[] = {"created",
                                       "command",
                                       "environment.cpu",
                                       "environment.cores",
                                       "environment.threads",
                                       "environment.blas",
                                       "environment.compiler",
                                       "environment.flags",
                                       "environment.gpu",
                                       "machine",
                                       "model.name",
                                       "model.input_shape",
                                       "model.batch",
                                       "model.accumulate",
                                       "model.dtype",
                                       "model.parameters_stored",
                                       "model.parameters_guessed",
                                       "model.trainable_parameters",
                                       "model.parameter_bytes",
                                       "totals.step.samples_per_second",
                                       "totals.unattributed_seconds",
                                       "training",
                                       "profiler_overhead_percent"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) document_at(document, keys[i]);
    ck_assert_str_eq(json_string_value(document_at(document, "schema")), "ridgepoint.profile/v1");
    ck_assert_int_eq(json_array_size(document_at(document, "uncounted")), 0);
    bool ran = !json_is_null(document_at(document, "totals.step.latency"));
    json_t *reconciled = document_at(document, "reconciled");
    ck_assert(ran ? json_is_true(reconciled) : json_is_null(reconciled));
    json_t *totals = document_at(document, "totals"), *layer;
    bool ceilings = !json_is_null(document_at(document, "machine"));
    for (int p = 0; p < PHASES; p++)
        if (!json_is_null(document_at(totals, phases[p])))
            check_phase(document_at(totals, phases[p]), ceilings, phases[p]);
    ck_assert_int_eq(2 * count(document_at(totals, "recompute"), "macs"),
                     document_integer(totals, "recomputed_flops"));
    check_phase(document_at(totals, "step"), ceilings, "step");
    size_t i;
    json_array_foreach(document_at(document, "layers"), i, layer) check_layer(layer, ceilings);
    check_sums(document);
    check_memory(document);
}

// ---- two of them -----------------------------------------------------------------------------
static void check_same_layer(json_t *a, json_t *b, const char *what) {
    static const char *const same[] = {"path",         "type",       "input_shape",
                                       "output_shape", "parameters", "saved_bytes"};
    const char *path = json_string_value(document_at(a, "path"));
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++)
        ck_assert_msg(json_equal(document_at(a, same[i]), document_at(b, same[i])),
                      "%s: %s differs at %s", what, same[i], path);
    for (int p = 0; p < PHASES; p++)
        for (int c = 0; c < COUNTS; c++)
            ck_assert_msg(count(document_at(a, phases[p]), counts[c]) ==
                              count(document_at(b, phases[p]), counts[c]),
                          "%s: %s of %s differ at %s", what, counts[c], phases[p], path);
}

void document_check_same_counts(json_t *a, json_t *b, const char *what) {
    json_t *layers = document_at(a, "layers"), *others = document_at(b, "layers"), *layer;
    ck_assert_msg(json_array_size(layers) == json_array_size(others), "%s: layers", what);
    size_t i;
    json_array_foreach(layers, i, layer) check_same_layer(layer, json_array_get(others, i), what);
    ck_assert_msg(json_equal(document_at(a, "memory.predicted"),
                             document_at(b, "memory.predicted")),
                  "%s: memory differs", what);
}
