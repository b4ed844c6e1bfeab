// memory_json.c -- memory over one step as JSON: schema ridgepoint.memory/v1, all counts exact.
// memory_curve.c computes the figures.
#include <string.h>

#include "profiler/files/profile_json_parts.h"
#include "profiler/report/memory_curve.h"
#include "tensor/given.h"

static const char *path_of(const Profile *profile, int layer) { // NULL becomes null
    return layer >= 0 ? profile->layers[layer].path : NULL;
}

static void write_use(JsonWriter *json, const MemoryUse *use) {
    json_fields(json, FIELDS_USE, use);
    member_integer(json, "total_bytes", use->total);
}

static void write_points(JsonWriter *json, const Profile *profile, const MemoryCurve *curve) {
    json_writer_begin_array(json_writer_key(json, "points"));
    for (int64_t i = 0; i < curve->n_points; i++) {
        const MemoryPoint *point = &curve->points[i];
        const ProfileOp *op = point->op < profile->n_ops ? &profile->ops[point->op] : NULL;
        json_writer_begin_record(json);
        member_text(json, "op", op ? op->record.op->name : NULL);
        member_text(json, "layer", op ? path_of(profile, op->layer) : NULL);
        member_text(json, "phase", op ? phase_name(point->phase) : NULL);
        write_use(json, &point->live);
        member_integer(json, "activation_in_backward_bytes", point->in_backward);
        json_writer_end_object(json);
    }
    json_writer_end_array(json);
}

static void write_shares(JsonWriter *json, const Profile *profile, const MemoryCurve *curve) {
    json_writer_begin_array(json_writer_key(json, "shares"));
    for (int i = 0; i < curve->n_shares; i++) {
        const MemoryShare *share = &curve->shares[i];
        json_writer_begin_record(json);
        member_bool(json, "resident", share->resident);
        member_text(json, "layer", path_of(profile, share->layer));
        member_text(json, "category", memory_category_name(share->category));
        member_text(json, "phase", share->resident ? NULL : phase_name(share->phase));
        member_integer(json, "bytes", share->bytes);
        json_writer_end_object(json);
    }
    json_writer_end_array(json);
}

static void write_saved(JsonWriter *json, const Profile *profile) {
    json_writer_begin_array(json_writer_key(json, "saved"));
    for (int i = 0; i < profile->n_layers; i++) {
        json_writer_begin_record(json);
        member_text(json, "layer", profile->layers[i].path);
        member_integer(json, "saved_bytes", profile->layers[i].saved_bytes);
        json_writer_end_object(json);
    }
    json_writer_end_array(json);
    member_integer(json, "saved_bytes", profile->measured.saved_bytes);
}

static void write_optimizers(JsonWriter *json, const Profile *profile, const MemoryCurve *curve) {
    if (memory_optimizer_peak(profile, curve, OPTIMIZER_SGD) < 0) {
        member_absent(json, "optimizers", "the step has no optimizer");
        return;
    }
    json_writer_begin_array(json_writer_key(json, "optimizers"));
    for (int i = 0; i < OPTIMIZER_COUNT; i++) {
        OptimizerKind kind = (OptimizerKind)i;
        json_writer_begin_record(json);
        member_text(json, "optimizer", optimizer_name(kind));
        member_bool(json, "in_use", strcmp(optimizer_name(kind), profile->optimizer) == 0);
        member_integer(json, "kept_bytes", memory_optimizer_bytes(profile, kind));
        member_integer(json, "peak_bytes", memory_optimizer_peak(profile, curve, kind));
        json_writer_end_object(json);
    }
    json_writer_end_array(json);
}

static void write_state(JsonWriter *json, const Profile *profile) {
    MemoryState state = memory_state_now();
    json_writer_begin_object(json_writer_key(json, "state"));
    member_integer(json, "requested_bytes", state.requested_bytes);
    member_integer(json, "rounding_bytes", state.rounding_bytes);
    member_integer(json, "cached_bytes", state.cached_bytes);
    member_integer(json, "unaccounted_bytes", state.unaccounted_bytes);
    member_integer(json, "reserved_bytes", state.reserved_bytes);
    member_integer(json, "free_blocks", state.free_blocks);
    member_integer(json, "largest_free_bytes", state.largest_free_bytes);
    member_real(json, "fragmentation", state.fragmentation);
    json_card(json, profile);
    json_writer_end_object(json);
}

static void write_document(JsonWriter *json, const Profile *profile, const MemoryCurve *curve) {
    json_writer_begin_object(json);
    member_text(json, "schema", "ridgepoint.memory/v1");
    member_text(json, "model", profile->model);
    member_text(json, "device", profile->device);
    member_integer(json, "batch", profile->batch);
    member_integer(json, "accumulate", profile->accumulate);
    member_text(json, "optimizer", profile->optimizer[0] ? profile->optimizer : NULL);
    json_writer_begin_record(json_writer_key(json, "start"));
    write_use(json, &profile->measured.start);
    json_writer_end_object(json);
    write_points(json, profile, curve);
    member_integer(json, "peak", curve->peak);
    member_integer(json, "peak_bytes", curve->points[curve->peak].live.total);
    member_integer(json, "resident_bytes", curve->resident);
    write_shares(json, profile, curve);
    write_saved(json, profile);
    write_optimizers(json, profile, curve);
    write_state(json, profile);
    json_writer_end_object(json);
}

Status memory_write_json(const Profile *profile, const char *path) {
    if (!GIVEN(profile)) return STATUS_INVALID_ARGUMENT;
    MemoryCurve curve;
    Status status = memory_curve_new(profile, &curve);
    if (status) return status;
    JsonWriter *json = json_file_open(path);
    if (json) write_document(json, profile, &curve);
    memory_curve_free(&curve);
    return json ? json_writer_close(json) : error_status();
}
