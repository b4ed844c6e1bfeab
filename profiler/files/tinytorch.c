// tinytorch.c -- the dictionaries that TinyTorch's Profiler returns, filled from a Profile. The
// arithmetic is deliberately TinyTorch's, even where our own reports differ.
#include "profiler/files/profile_file.h"

#include <math.h>
#include <string.h>

#include "profiler/base/json_writer.h"
#include "profiler/measure/profile_words.h"
#include "profiler/report/preset.h"
#include "tensor/given.h"

// ---- TinyTorch's constants -------------------------------------------------------------------
static const double mebibyte = 1048576.0;
static const double least_seconds = 1e-6;     // shortest time
static const double least_peak_mb = 1e-3;     // smallest divisor
static const double assumed_peak = 100.0;     // GFLOP/s, assumed for every machine
static const double bottleneck_ratio = 100.0; // MB/s for each GFLOP/s

static const struct {
    const char *key, *meaning;
} definitions[] = {
    {"flops", "Of a batch of 1: 2 x in x out per row of a linear layer, whose bias is free, and 1 "
              "per value into any other layer; ridgepoint states products and the rest apart."},
    {"batch_flops", "flops x the input's first size."},
    {"latency_ms", "The whole batch's forward, without gradients; in profile_layer, the layer's "
                   "part of the profiled step's forward."},
    {"parameter_memory_mb", "4 bytes a parameter; each key in _mb is in MiB (1,048,576 bytes)."},
    {"activation_memory_mb", "Twice the bytes of the input, whatever the layers keep; ridgepoint "
                             "adds up what is kept."},
    {"peak_memory_mb", "The most that a forward holds besides parameters, but at least "
                       "parameter_memory_mb + activation_memory_mb; ridgepoint's peak is of a "
                       "training step."},
    {"memory_efficiency", "(parameter_memory_mb + activation_memory_mb) / peak_memory_mb, at most "
                          "1."},
    {"gflops_per_second", "batch_flops / latency_ms, no time being shorter than 1 us; in "
                          "profile_layer, one sample's flops by the whole batch's time."},
    {"memory_bandwidth_mbs", "peak_memory_mb per second of latency_ms; it is no traffic."},
    {"computational_efficiency", "gflops_per_second / 100, at most 1: 100 GFLOP/s is assumed of "
                                 "every machine; ridgepoint measures the peak."},
    {"bottleneck", "memory where memory_bandwidth_mbs > 100 x gflops_per_second, else compute; "
                   "ridgepoint's verdict is a roofline's."},
    {"backward_flops", "Assumed to be 2 x forward_flops; ridgepoint counts it, and finds less "
                       "where the first layer needs no input gradient."},
    {"backward_latency_ms", "Assumed to be 2 x forward_latency_ms; ridgepoint measures it."},
    {"gradient_memory_mb", "Assumed to be parameter_memory_mb."},
    {"total_memory_mb", "Parameters, activation_memory_mb and gradients, without the optimizer."},
    {"total_gflops_per_second", "One sample's total_flops by the whole batch's total_latency_ms."},
    {"optimizer_memory_estimates", "0, 2 and 2 x gradient_memory_mb, whichever optimizer ran."},
};
enum { N_DEFINITIONS = sizeof(definitions) / sizeof(definitions[0]) };

static const char nothing_ran[] = "nothing ran on the meta device";
static const char not_alone[] = "no layer is run alone";

// ---- members ---------------------------------------------------------------------------------
static void begin(JsonWriter *json, const char *key) {
    json_writer_begin_object(json_writer_key(json, key));
}
// Writes a x b, or null if it exceeds 64 bits.
static void product(JsonWriter *json, const char *key, uint64_t a, uint64_t b) {
    uint64_t value;
    if (__builtin_mul_overflow(a, b, &value))
        member_null(json, key);
    else
        member_count(json, key, value);
}

// Limits that keep NaN, unlike fmin and fmax.
static double at_most(double value, double limit) { return value > limit ? limit : value; }
static double at_least(double value, double limit) { return value < limit ? limit : value; }

// ---- profile_forward_pass --------------------------------------------------------------------
typedef struct Forward {
    uint64_t parameters, flops, batch; // flops: for a batch of 1
    double seconds;                    // of the batch; NaN: not measured, no bottleneck
    double parameter_mb, activation_mb, peak_mb, efficiency;
    double gflops_per_second, mb_per_second;
    const char *bottleneck;
} Forward;

static double input_mebibytes(Shape shape) {
    double bytes = sizeof(float);
    for (int i = 0; i < shape.ndim; i++) bytes *= (double)shape.dims[i];
    return bytes / mebibyte;
}

static double parameter_mebibytes(uint64_t parameters) {
    return (double)(sizeof(float) * parameters) / mebibyte;
}

static double rate(double amount, double seconds) {
    return amount / at_least(seconds, least_seconds);
}

static Forward forward_of(const Profile *profile) {
    bool alone = profile->inference.count > 0; // false: the profile itself is of inference
    Forward f = {.parameters = (uint64_t)profile->parameters,
                 .flops = preset_count(PRESET_TINYTORCH, profile).forward,
                 .batch = profile->input.ndim > 1 ? (uint64_t)profile->input.dims[0] : 1,
                 .seconds = latency_median(alone ? &profile->inference
                                                 : &profile->totals[REPORT_FORWARD].latency),
                 .activation_mb = 2.0 * input_mebibytes(profile->input)};
    f.parameter_mb = parameter_mebibytes(f.parameters);
    double useful_mb = f.parameter_mb + f.activation_mb;
    double beside_parameters = (double)(profile->inference_bytes - profile->parameter_bytes);
    f.peak_mb = at_least(beside_parameters / mebibyte, useful_mb);
    f.efficiency = at_most(useful_mb / at_least(f.peak_mb, least_peak_mb), 1.0);
    f.gflops_per_second = rate((double)f.flops * (double)f.batch / 1e9, f.seconds);
    f.mb_per_second = rate(f.peak_mb, f.seconds);
    if (!isnan(f.seconds))
        f.bottleneck =
            f.mb_per_second > bottleneck_ratio * f.gflops_per_second ? "memory" : "compute";
    return f;
}

static void write_bottleneck(JsonWriter *json, const Forward *forward) {
    member_text(json, "bottleneck", forward->bottleneck);
    if (!forward->bottleneck) member_text(json, "latency_reason", nothing_ran);
}

static void write_is_bound(JsonWriter *json, const char *key, const Forward *forward,
                           const char *bottleneck) {
    if (forward->bottleneck)
        member_bool(json, key, strcmp(forward->bottleneck, bottleneck) == 0);
    else
        member_null(json, key);
}

static void write_forward(JsonWriter *json, const Forward *forward) {
    begin(json, "profile_forward_pass");
    member_count(json, "parameters", forward->parameters);
    member_count(json, "flops", forward->flops);
    product(json, "batch_flops", forward->flops, forward->batch);
    member_real(json, "latency_ms", 1e3 * forward->seconds);
    member_real(json, "parameter_memory_mb", forward->parameter_mb);
    member_real(json, "activation_memory_mb", forward->activation_mb);
    member_real(json, "peak_memory_mb", forward->peak_mb);
    member_real(json, "memory_efficiency", forward->efficiency);
    member_real(json, "gflops_per_second", forward->gflops_per_second);
    member_real(json, "memory_bandwidth_mbs", forward->mb_per_second);
    member_real(json, "computational_efficiency",
                at_most(forward->gflops_per_second / assumed_peak, 1.0));
    write_is_bound(json, "is_memory_bound", forward, "memory");
    write_is_bound(json, "is_compute_bound", forward, "compute");
    write_bottleneck(json, forward);
    json_writer_end_object(json);
}

// ---- profile_backward_pass -------------------------------------------------------------------
static void write_backward(JsonWriter *json, const Forward *forward) {
    double gradient_mb = forward->parameter_mb, flops = (double)forward->flops;
    begin(json, "profile_backward_pass");
    member_count(json, "forward_flops", forward->flops);
    member_real(json, "forward_latency_ms", 1e3 * forward->seconds);
    member_real(json, "forward_memory_mb", forward->peak_mb);
    product(json, "backward_flops", forward->flops, 2);
    member_real(json, "backward_latency_ms", 2e3 * forward->seconds);
    member_real(json, "gradient_memory_mb", gradient_mb);
    product(json, "total_flops", forward->flops, 3);
    member_real(json, "total_latency_ms", 3e3 * forward->seconds);
    member_real(json, "total_memory_mb",
                forward->parameter_mb + forward->activation_mb + gradient_mb);
    member_real(json, "total_gflops_per_second", rate(3.0 * flops / 1e9, 3.0 * forward->seconds));
    begin(json, "optimizer_memory_estimates");
    member_real(json, "sgd", 0.0);
    member_real(json, "adam", 2.0 * gradient_mb);
    member_real(json, "adamw", 2.0 * gradient_mb);
    json_writer_end_object(json);
    member_real(json, "memory_efficiency", forward->efficiency);
    write_bottleneck(json, forward);
    json_writer_end_object(json);
}

// ---- profile_layer ---------------------------------------------------------------------------
// Excludes the loss and ops outside layers: TinyTorch profiles models.
static bool is_of_model(const ProfileLayer *layer) {
    return layer->phase[REPORT_FORWARD].ops > 0 && strcmp(layer->path, "loss") != 0 &&
           !profile_is_outside(layer);
}

static void write_layer(JsonWriter *json, const Profile *profile, int index) {
    const ProfileLayer *layer = &profile->layers[index];
    uint64_t parameters = (uint64_t)layer->parameters;
    uint64_t flops = preset_count_layer(PRESET_TINYTORCH, profile, index).forward;
    double seconds = latency_median(&layer->phase[REPORT_FORWARD].latency) /
                     (double)profile->accumulate; // per batch
    json_writer_begin_object(json);
    member_text(json, "name", layer->path);
    member_text(json, "layer_type", layer->type);
    member_count(json, "parameters", parameters);
    member_count(json, "flops", flops);
    member_real(json, "latency_ms", 1e3 * seconds);
    member_real(json, "gflops_per_second", rate((double)flops / 1e9, seconds));
    if (isnan(seconds)) member_text(json, "latency_reason", nothing_ran);
    member_real(json, "parameter_memory_mb", parameter_mebibytes(parameters));
    member_real(json, "activation_memory_mb", 2.0 * input_mebibytes(layer->input));
    member_real(json, "peak_memory_mb", (double)NAN);
    member_real(json, "memory_efficiency", (double)NAN);
    member_text(json, "peak_memory_mb_reason", not_alone);
    json_writer_end_object(json);
}

Status tinytorch_write(const Profile *profile, const char *path) {
    if (!GIVEN(profile)) return STATUS_INVALID_ARGUMENT;
    JsonWriter *json = json_file_open(path);
    if (!json) return error_status();
    Forward forward = forward_of(profile);
    json_writer_begin_object(json);
    member_text(json, "schema", "tinytorch");
    member_text(json, "note", "TinyTorch's keys by TinyTorch's definitions, not by ridgepoint's.");
    member_text(json, "model", profile->model);
    begin(json, "definitions");
    for (int i = 0; i < N_DEFINITIONS; i++)
        member_text(json, definitions[i].key, definitions[i].meaning);
    json_writer_end_object(json);
    write_forward(json, &forward);
    write_backward(json, &forward);
    json_writer_begin_array(json_writer_key(json, "profile_layer"));
    for (int i = 0; i < profile->n_layers; i++)
        if (is_of_model(&profile->layers[i])) write_layer(json, profile, i);
    json_writer_end_array(json);
    json_writer_end_object(json);
    return json_writer_close(json);
}
