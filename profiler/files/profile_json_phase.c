// profile_json_phase.c -- shapes, latencies, phases, ops, generation and training as JSON. Every
// count exact, times in seconds, absent values null.
#include <math.h>

#include "profiler/files/profile_json_parts.h"
#include "profiler/measure/generation.h"

static void write_shape(JsonWriter *json, Shape shape) {
    if (shape.ndim < 0) {
        json_writer_null(json);
        return;
    }
    json_writer_begin_array(json);
    for (int i = 0; i < shape.ndim; i++) json_writer_int64(json, shape.dims[i]);
    json_writer_end_array(json);
}

void json_shape(JsonWriter *json, const char *key, Shape shape) {
    write_shape(json_writer_key(json, key), shape);
}

void json_fields(JsonWriter *json, FieldScope scope, const void *of) {
    for (const ProfileField *field = profile_fields(scope); field->key; field++) {
        const char *text = profile_field_at(field, of);
        if (!(field->uses & FIELD_JSON)) continue;
        if (field->kind == FIELD_TEXT)
            member_text(json, field->key, text[0] ? text : NULL);
        else if (field->kind == FIELD_SHAPE)
            json_shape(json, field->key, *(const Shape *)profile_field_at(field, of));
        else
            member_integer(json, field->key, profile_field_count(field, of));
    }
}

void json_card(JsonWriter *json, const Profile *profile) {
    if (!profile->has_card) return;
    json_writer_begin_object(json_writer_key(json, "device"));
    member_integer(json, "total_bytes", profile->card.total);
    member_integer(json, "free_bytes", profile->card.free);
    member_integer(json, "own_bytes", profile->card.own);
    member_integer(json, "staging_bytes", profile->card.staging);
    json_writer_end_object(json);
}

// ---- latency and phase -----------------------------------------------------------------------
// Writes the percentiles with enough samples, and the number of missing samples for the others.
static void write_percentiles(JsonWriter *json, const Latency *latency) {
    static const struct {
        const char *name;
        double percent;
    } wanted[] = {{"p50", 50.0}, {"p90", 90.0}, {"p95", 95.0}, {"p99", 99.0}, {"p99.9", 99.9}};
    enum { WANTED = sizeof(wanted) / sizeof(wanted[0]) };
    double value[WANTED];
    bool enough[WANTED];
    int64_t missing[WANTED];
    for (int i = 0; i < WANTED; i++)
        if (statistics_percentile(latency->samples, latency->count, wanted[i].percent, &value[i],
                                  &enough[i], &missing[i]))
            return; // out of memory, pending: profile_write_json discards the document
    json_writer_begin_record(json_writer_key(json, "percentiles"));
    for (int i = 0; i < WANTED; i++)
        if (enough[i]) member_real(json, wanted[i].name, value[i]);
    json_writer_end_object(json);
    json_writer_begin_record(json_writer_key(json, "percentiles_missing_samples"));
    for (int i = 0; i < WANTED; i++)
        if (!enough[i]) member_integer(json, wanted[i].name, missing[i]);
    json_writer_end_object(json);
}

static void write_interval(JsonWriter *json, const LatencyStatistics *s) {
    json_writer_begin_array(json_writer_key(json, "ci95"));
    json_writer_double(json, s->ci95_low);
    json_writer_double(json, s->ci95_high);
    json_writer_end_array(json);
}

static void write_samples(JsonWriter *json, const Latency *latency) {
    json_writer_begin_array(json_writer_key(json, "samples"));
    for (int64_t i = 0; i < latency->count; i++) json_writer_double(json, latency->samples[i]);
    json_writer_end_array(json);
}

// With few runs, below 6, the interval is min to max, and less certain.
static void write_across(JsonWriter *json, const Latency *across) {
    if (!across) {
        member_null(json, "across_runs");
        return;
    }
    json_writer_begin_object(json_writer_key(json, "across_runs"));
    member_integer(json, "n", across->count);
    member_real(json, "median", across->statistics.median);
    write_interval(json, &across->statistics);
    member_real(json, "confidence", across->statistics.confidence);
    write_samples(json, across);
    json_writer_end_object(json);
}

void json_latency(JsonWriter *json, const char *key, const Latency *latency) {
    if (latency->count == 0) {
        member_null(json, key);
        return;
    }
    const LatencyStatistics *s = &latency->statistics;
    json_writer_key(json, key);
    json_writer_begin_object(json);
    member_integer(json, "n", s->n);
    member_real(json, "median", s->median);
    member_real(json, "mean", s->mean);
    member_real(json, "min", s->min);
    member_real(json, "max", s->max);
    member_real(json, "stddev", s->stddev);
    member_real(json, "iqr", s->n > 1 ? s->iqr : (double)NAN);
    member_real(json, "lower_quartile", s->lower_quartile);
    if (s->ci95_reached) {
        write_interval(json, s);
    } else {
        member_absent(json, "ci95", "fewer than 6 samples");
    }
    write_across(json, latency->across);
    write_percentiles(json, latency);
    write_samples(json, latency);
    json_writer_end_object(json);
}

// Without a machine the roofline is zero: all members are null.
static void write_roofline(JsonWriter *json, const Machine *machine, const Roofline *roofline) {
    bool known = roofline->roof_seconds > 0.0;
    bool judged = roofline->judged;
    member_real(json, "roof_seconds", known ? roofline->roof_seconds : (double)NAN);
    member_real(json, "roof_fraction", judged ? roofline->roof_fraction : (double)NAN);
    bool near = known && roofline->near != BOUND_COUNT;
    member_text(json, "bound", known ? bound_name(roofline->bound) : NULL);
    member_text(json, "bound_near", near ? bound_name(roofline->near) : NULL);
    member_text(json, "roof_bound", known ? bound_name(roofline->roof_bound) : NULL);
    member_text(json, "level", known ? machine->levels[roofline->level].name : NULL);
}

static void write_terms(JsonWriter *json, const TimeTerms *terms, double seconds) {
    double left = time_terms_left(terms, seconds);
    if (isnan(left)) {
        member_null(json, "terms");
        return;
    }
    json_writer_begin_object(json_writer_key(json, "terms"));
    member_real(json, "roofs", terms->roofs);
    member_real(json, "kernels", terms->kernels);
    member_real(json, "threads", terms->threads);
    member_real(json, "others", terms->others);
    member_real(json, "left", left);
    json_writer_end_object(json);
}

void json_phase_members(JsonWriter *json, const Machine *machine, const ProfilePhase *phase) {
    json_fields(json, FIELDS_PHASE, phase);
    json_latency(json, "latency", &phase->latency);
    member_real(json, "intensity", profile_intensity(phase->cost));
    write_roofline(json, machine, &phase->roofline);
    member_real(json, "op_roofs_seconds",
                phase->terms.roofs > 0.0 ? phase->terms.roofs : (double)NAN);
    write_terms(json, &phase->terms, latency_median(&phase->latency));
}

void json_phase(JsonWriter *json, const Machine *machine, const char *key,
                const ProfilePhase *phase, bool happened) {
    if (!happened) {
        member_null(json, key);
        return;
    }
    json_writer_key(json, key);
    json_writer_begin_object(json);
    json_phase_members(json, machine, phase);
    json_writer_end_object(json);
}

// ---- ops -------------------------------------------------------------------------------------
static void write_op(JsonWriter *json, const Profile *profile, const ProfileOp *op) {
    const OpRecord *record = &op->record;
    json_writer_begin_object(json);
    member_text(json, "op", record->op->name);
    member_text(json, "path", profile->layers[op->layer].path);
    member_text(json, "phase", phase_name(record->phase));
    json_writer_begin_array(json_writer_key(json, "input_shapes"));
    for (int i = 0; i < OP_RECORD_INPUTS && i < record->n_in; i++) write_shape(json, record->in[i]);
    json_writer_end_array(json);
    json_shape(json, "output_shape", record->out);
    json_fields(json, FIELDS_PHASE, &(ProfilePhase){.cost = record->cost});
    member_real(json, "median_seconds", latency_median(&op->latency));
    write_roofline(json, &profile->machine, &op->roofline);
    json_writer_end_object(json);
}

void json_ops(JsonWriter *json, const Profile *profile) {
    json_writer_begin_array(json_writer_key(json, "ops"));
    for (int64_t i = 0; i < profile->n_ops; i++) write_op(json, profile, &profile->ops[i]);
    json_writer_end_array(json);
}

// ---- generation ------------------------------------------------------------------------------
void json_generation(JsonWriter *json, const Profile *profile) {
    const Generation *generation = profile->generation;
    if (!generation) {
        member_absent(json, "generation",
                      error_pending() ? "it failed" : "--generate was not asked");
        return;
    }
    json_writer_begin_object(json_writer_key(json, "generation"));
    member_integer(json, "prompt_tokens", generation->prompt);
    member_integer(json, "tokens", generation->tokens);
    member_real(json, "temperature", (double)generation->temperature);
    member_integer(json, "cache_bytes", generation->cache_bytes);
    member_integer(json, "cache_bytes_per_token", generation->cache_bytes_per_token);
    member_real(json, "tokens_per_second", generation_rate(generation));
    json_phase(json, &profile->machine, "first_token", &generation->first, true);
    json_phase(json, &profile->machine, "token", &generation->token, generation->token.ops > 0);
    member_integer_if(json, generation->token.ops > 0, "token_position",
                      generation->position); // there is only the first token
    if (generation->first.latency.count == 0)
        member_text(json, "latency_reason", "nothing ran on the meta device");
    json_writer_end_object(json);
}

// ---- training --------------------------------------------------------------------------------
void json_training(JsonWriter *json, const ProfileTraining *training) {
    if (!training->data) {
        member_absent(json, "training", training->absent);
        return;
    }
    const FitResult *fit = &training->fit;
    json_writer_key(json, "training");
    json_writer_begin_object(json);
    member_text(json, "data", training->data);
    member_integer(json, "epochs", fit->epochs);
    member_integer(json, "steps", fit->steps);
    member_text(json, "schedule", schedule_name(training->schedule.kind));
    member_real(json, "learning_rate", (double)training->schedule.base);
    member_real(json, "final_learning_rate", training->final_rate);
    member_integer(json, "warmup_steps", training->schedule.warmup);
    member_real(json, "final_loss", fit->final_loss);
    member_real(json, "test_accuracy", training->test_accuracy);
    if (!isnan(training->held_out_loss)) {
        member_real(json, "held_out_loss", training->held_out_loss);
        member_real(json, "bigram_loss", training->bigram_loss);
    }
    double samples = fit->samples > 0 ? (double)fit->samples : (double)NAN; // all done before
    member_real(json, "samples_per_second", samples / fit->seconds);
    member_real(json, "data_wait_seconds", fit->data_wait_seconds);
    member_real(json, "seconds", fit->seconds);
    double losses[LOSS_COLUMNS];
    int parts = loss_curve_means(&training->curve, losses);
    json_writer_begin_array(json_writer_key(json, "losses"));
    for (int i = 0; i < parts; i++) json_writer_double(json, losses[i]);
    json_writer_end_array(json);
    member_bool(json, "cut_short", fit->cut_short);
    json_writer_end_object(json);
}
