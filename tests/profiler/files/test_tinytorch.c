// test_tinytorch.c -- the document of --tinytorch: TinyTorch's keys, each by TinyTorch's own
// arithmetic, for any names of layers, complete or absent.
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profiler/files/profile_file.h"
#include "tensor/memory.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/nets.h"
#include "tests/helpers/profile_document.h"

static const double mebibyte = 1024.0 * 1024.0;
static char path[64]; // path of an existing, empty file

static void make_file(void) {
    snprintf(path, sizeof path, "/tmp/ridgepoint-tinytorch-XXXXXX");
    int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    close(file);
}

static json_t *written(const Profile *profile) {
    make_file();
    ck_assert_msg(!tinytorch_write(profile, path), "%s", error_message());
    json_error_t error;
    json_t *document = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    ck_assert_msg(json_is_object(document), "line %d: %s", error.line, error.text);
    unlink(path);
    return document;
}

static json_t *section(json_t *document, const char *name) {
    json_t *value = json_object_get(document, name);
    ck_assert_msg(value != NULL, "no section %s", name);
    return value;
}

static void check_real(json_t *object, const char *key, double want) {
    double got = document_real(object, key);
    ck_assert_msg(fabs(got - want) <= 1e-12 * fabs(want), "%s: %.17g, not %.17g", key, got, want);
}

static void check_keys(json_t *object, const char *const keys[], size_t n) {
    for (size_t i = 0; i < n; i++)
        ck_assert_msg(json_object_get(object, keys[i]) != NULL, "no key %s", keys[i]);
    ck_assert_uint_eq(json_object_size(object), n);
}
#define CHECK_KEYS(object, ...)                                                                    \
    check_keys((object), (const char *const[]){__VA_ARGS__},                                       \
               sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

// ---- the numbers -----------------------------------------------------------------------------
static uint64_t flops_of(const Net *net) { // for a batch of 1
    int64_t flops = 0,
            activated = (net->options.activation != NULL) + (net->options.dropout > 0.0f);
    for (int i = 0; i + 1 < net->n_sizes; i++)
        flops += 2 * net->sizes[i] * net->sizes[i + 1] + (i > 0 ? activated * net->sizes[i] : 0);
    return (uint64_t)flops;
}

static void check_forward(json_t *forward, const Net *net, const Profile *profile) {
    double parameters = 4.0 * (double)profile->parameters / mebibyte;
    double activations = 2.0 * 4.0 * (double)(net->batch * net->sizes[0]) / mebibyte;
    double peak = (double)(profile->inference_bytes - profile->parameter_bytes) / mebibyte;
    if (peak < parameters + activations) peak = parameters + activations;
    double batch_flops = (double)(flops_of(net) * (uint64_t)net->batch);
    double seconds = profile->inference.statistics.median;
    double divisor = seconds < 1e-6 ? 1e-6 : seconds, gflops = batch_flops / 1e9 / divisor;
    ck_assert_int_eq(document_integer(forward, "parameters"), profile->parameters);
    ck_assert_int_eq(document_integer(forward, "flops"), (json_int_t)flops_of(net));
    ck_assert(document_integer(forward, "batch_flops") == (json_int_t)batch_flops);
    check_real(forward, "latency_ms", 1000.0 * seconds);
    check_real(forward, "parameter_memory_mb", parameters);
    check_real(forward, "activation_memory_mb", activations);
    check_real(forward, "peak_memory_mb", peak);
    double efficiency = (parameters + activations) / (peak < 1e-3 ? 1e-3 : peak);
    check_real(forward, "memory_efficiency", efficiency > 1.0 ? 1.0 : efficiency);
    check_real(forward, "gflops_per_second", gflops);
    check_real(forward, "memory_bandwidth_mbs", peak / divisor);
    check_real(forward, "computational_efficiency", gflops > 100.0 ? 1.0 : gflops / 100.0);
    bool memory = peak / divisor > 100.0 * gflops;
    ck_assert(json_is_true(document_at(forward, "is_memory_bound")) == memory);
    ck_assert(json_is_true(document_at(forward, "is_compute_bound")) == !memory);
    ck_assert_str_eq(json_string_value(document_at(forward, "bottleneck")),
                     memory ? "memory" : "compute");
}

static void check_backward(json_t *backward, json_t *forward, const Net *net) {
    double ms = document_real(forward, "latency_ms");
    double parameters = document_real(forward, "parameter_memory_mb");
    json_int_t flops = (json_int_t)flops_of(net);
    ck_assert_int_eq(document_integer(backward, "forward_flops"), flops);
    ck_assert_int_eq(document_integer(backward, "backward_flops"), 2 * flops);
    ck_assert_int_eq(document_integer(backward, "total_flops"), 3 * flops);
    check_real(backward, "forward_latency_ms", ms);
    check_real(backward, "backward_latency_ms", 2.0 * ms);
    check_real(backward, "total_latency_ms", 3.0 * ms);
    check_real(backward, "forward_memory_mb", document_real(forward, "peak_memory_mb"));
    check_real(backward, "gradient_memory_mb", parameters);
    check_real(backward, "total_memory_mb",
               2.0 * parameters + document_real(forward, "activation_memory_mb"));
    double seconds = 3e-3 * ms;
    check_real(backward, "total_gflops_per_second",
               3.0 * (double)flops / 1e9 / (seconds < 1e-6 ? 1e-6 : seconds));
    check_real(backward, "optimizer_memory_estimates.sgd", 0.0);
    check_real(backward, "optimizer_memory_estimates.adam", 2.0 * parameters);
    check_real(backward, "optimizer_memory_estimates.adamw", 2.0 * parameters);
    ck_assert(json_equal(document_at(backward, "bottleneck"), document_at(forward, "bottleneck")));
    check_real(backward, "memory_efficiency", document_real(forward, "memory_efficiency"));
}

static void check_layers(json_t *layers, const Net *net, const Profile *profile) {
    json_int_t parameters = 0, flops = 0;
    json_t *layer;
    size_t i;
    ck_assert_uint_eq(json_array_size(layers), (size_t)profile->n_layers - 2); // loss, optimizer
    json_array_foreach(layers, i, layer) {
        const ProfileLayer *of = &profile->layers[i];
        ck_assert_str_eq(json_string_value(document_at(layer, "name")), of->path);
        ck_assert_str_eq(json_string_value(document_at(layer, "layer_type")), of->type);
        parameters += document_integer(layer, "parameters");
        flops += document_integer(layer, "flops");
        double seconds = of->phase[REPORT_FORWARD].latency.statistics.median;
        check_real(layer, "latency_ms", 1e3 * seconds);
        check_real(layer, "gflops_per_second",
                   (double)document_integer(layer, "flops") / 1e9 /
                       (seconds < 1e-6 ? 1e-6 : seconds));
        check_real(layer, "parameter_memory_mb", 4.0 * (double)of->parameters / mebibyte);
        check_real(layer, "activation_memory_mb",
                   8.0 * (double)(of->input.dims[0] * of->input.dims[1]) / mebibyte);
        ck_assert(json_is_null(document_at(layer, "peak_memory_mb")));
        ck_assert(json_is_null(document_at(layer, "memory_efficiency")));
    }
    ck_assert_int_eq(parameters, profile->parameters);
    ck_assert_int_eq(flops, (json_int_t)flops_of(net));
}

START_TEST(every_number_is_tinytorchs) {
    Net net = net_random(_i);
    Profile profile = net_profile(&net, 3);
    json_t *document = written(&profile);
    json_t *forward = section(document, "profile_forward_pass");
    check_forward(forward, &net, &profile);
    check_backward(section(document, "profile_backward_pass"), forward, &net);
    check_layers(section(document, "profile_layer"), &net, &profile);
    json_decref(document);
    profile_free(&profile);
}
END_TEST

START_TEST(its_keys_are_these_and_labelled_and_the_odd_ones_defined) {
    Net net = net_random(1);
    Profile profile = net_profile(&net, 1);
    json_t *document = written(&profile);
    CHECK_KEYS(document, "schema", "note", "model", "definitions", "profile_forward_pass",
               "profile_backward_pass", "profile_layer");
    ck_assert_str_eq(json_string_value(document_at(document, "schema")), "tinytorch");
    CHECK_KEYS(section(document, "profile_forward_pass"), "parameters", "flops", "batch_flops",
               "latency_ms", "parameter_memory_mb", "activation_memory_mb", "peak_memory_mb",
               "memory_efficiency", "gflops_per_second", "memory_bandwidth_mbs",
               "computational_efficiency", "is_memory_bound", "is_compute_bound", "bottleneck");
    CHECK_KEYS(section(document, "profile_backward_pass"), "forward_flops", "forward_latency_ms",
               "forward_memory_mb", "backward_flops", "backward_latency_ms", "gradient_memory_mb",
               "total_flops", "total_latency_ms", "total_memory_mb", "total_gflops_per_second",
               "optimizer_memory_estimates", "memory_efficiency", "bottleneck");
    CHECK_KEYS(json_array_get(section(document, "profile_layer"), 0), "name", "layer_type",
               "parameters", "flops", "latency_ms", "gflops_per_second", "parameter_memory_mb",
               "activation_memory_mb", "peak_memory_mb", "memory_efficiency",
               "peak_memory_mb_reason");
    const char *key;
    json_t *meaning;
    json_object_foreach(section(document, "definitions"), key, meaning) {
        const char *text = json_string_value(meaning);
        ck_assert_msg(strlen(text) > 10 && text[strlen(text) - 1] == '.', "%s: %s", key, text);
        ck_assert_msg(json_object_get(section(document, "profile_forward_pass"), key) ||
                          json_object_get(section(document, "profile_backward_pass"), key),
                      "%s is defined, but no key", key);
    }
    json_decref(document);
    profile_free(&profile);
}
END_TEST

START_TEST(without_a_run_times_are_null_and_counts_are_there) {
    static const char *const absent[] = {"latency_ms",       "gflops_per_second",
                                         "is_memory_bound",  "memory_bandwidth_mbs",
                                         "is_compute_bound", "computational_efficiency",
                                         "bottleneck"};
    Net net = net_random(_i);
    context_set_device(device_meta());
    Profile profile = net_profile(&net, 1);
    json_t *document = written(&profile), *forward = section(document, "profile_forward_pass");
    for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]); i++)
        ck_assert_msg(json_is_null(document_at(forward, absent[i])), "%s is there", absent[i]);
    ck_assert_str_eq(json_string_value(document_at(forward, "latency_reason")),
                     "nothing ran on the meta device");
    ck_assert_int_eq(document_integer(forward, "flops"), (json_int_t)flops_of(&net));
    ck_assert(document_real(forward, "peak_memory_mb") > 0.0);
    json_t *backward = section(document, "profile_backward_pass");
    ck_assert(json_is_null(document_at(backward, "total_gflops_per_second")));
    ck_assert(json_is_null(document_at(backward, "total_latency_ms")));
    json_decref(document);
    profile_free(&profile);
    context_set_device(device_cpu());
}
END_TEST

START_TEST(inference_has_the_latency_of_its_forward) {
    Net net = net_random(2);
    NetTask task = net_task_new(&net);
    Profile profile;
    profile_inference(task.model, task.x, (ProfileOptions){.iterations = 3}, &profile);
    expect_no_error();
    json_t *document = written(&profile);
    check_real(section(document, "profile_forward_pass"), "latency_ms",
               1e3 * profile.totals[REPORT_FORWARD].latency.statistics.median);
    json_decref(document);
    profile_free(&profile);
    net_task_free(&task);
}
END_TEST

START_TEST(flops_beyond_64_bits_are_null_and_never_another_number) {
    context_set_device(device_meta());
    Layer *model = linear_new(4000000, 800000, false);
    Tensor *x = tensor_new(SHAPE(300000, 4000000), DTYPE_FLOAT32);
    Profile profile;
    ck_assert_int_eq(profile_inference(model, x, (ProfileOptions){0}, &profile), STATUS_OK);
    profile.batch = 1; // as if one sample had all rows
    json_t *document = written(&profile), *forward = section(document, "profile_forward_pass");
    ck_assert_int_eq(document_integer(forward, "flops"), 2 * 300000LL * 4000000LL * 800000LL);
    ck_assert(json_is_null(document_at(forward, "batch_flops")));
    json_decref(document);
    profile_free(&profile);
    layer_free(model);
    tensor_free(x);
    context_set_device(device_cpu());
}
END_TEST

// ---- hostile input and failures --------------------------------------------------------------
START_TEST(hostile_names_stay_text) {
    static const struct {
        const char *name, *want;
    } names[] = {
        {"\"},{\"flops\": 1", "\"},{\"flops\": 1"},
        {"back\\slash", "back\\slash"},
        {"line\nand\ttab\x01\x1f\x7f", "line\nand\ttab\x01\x1f\x7f"},
        {"cut \xc3", "cut \xef\xbf\xbd"},
        {"\xff\xfe", "\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xc3\xa4\xe2\x82\xac", "\xc3\xa4\xe2\x82\xac"},
    };
    Layer *model = sequential_new();
    layer_add_child(model, names[_i].name, linear_new(3, 2, true));
    Tensor *x = tensor_zeros_new(SHAPE(2, 3));
    Profile profile;
    profile_inference(model, x, (ProfileOptions){.iterations = 1}, &profile);
    expect_no_error();
    snprintf(profile.model, sizeof profile.model, "%s", names[_i].name);
    json_t *document = written(&profile);
    json_t *layer = json_array_get(section(document, "profile_layer"), 0);
    ck_assert_str_eq(json_string_value(document_at(layer, "name")), names[_i].want);
    ck_assert_str_eq(json_string_value(document_at(document, "model")), names[_i].want);
    json_decref(document);
    profile_free(&profile);
    layer_free(model);
    tensor_free(x);
}
END_TEST

START_TEST(a_file_that_cannot_be_written_is_an_error) {
    Net net = net_random(0);
    Profile profile = net_profile(&net, 1);
    static const char *const wrong[] = {"/dev/full", "/no/such/folder/file.json", "/tmp"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        ck_assert_int_eq(tinytorch_write(&profile, wrong[i]), STATUS_IO);
        expect_error(STATUS_IO, wrong[i]);
    }
    profile_free(&profile);
}
END_TEST

START_TEST(memory_may_run_out_at_any_request) {
    Net net = net_random(0);
    Profile profile = net_profile(&net, 1);
    make_file();
    bool failed = true;
    for (uint64_t n = 1; failed; n++) {
        memory_fail_at(n);
        Status status = tinytorch_write(&profile, path);
        memory_fail_at(0);
        failed = status != STATUS_OK;
        ck_assert_uint_lt(n, 100);
        ck_assert(failed || n > 1);
        if (failed) expect_error(STATUS_OUT_OF_MEMORY, ": ");
        FILE *file = fopen(path, "r");
        ck_assert_int_eq(fgetc(file) == EOF, failed); // unchanged or complete
        fclose(file);
    }
    unlink(path);
    profile_free(&profile);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {every_number_is_tinytorchs, 24},
        {its_keys_are_these_and_labelled_and_the_odd_ones_defined, 0},
        {without_a_run_times_are_null_and_counts_are_there, 6},
        {inference_has_the_latency_of_its_forward, 0},
        {flops_beyond_64_bits_are_null_and_never_another_number, 0},
        {hostile_names_stay_text, 6},
        {a_file_that_cannot_be_written_is_an_error, 0},
        {memory_may_run_out_at_any_request, 0},
        {NULL, 0},
    };
    return harness_main("tinytorch", tests);
}
