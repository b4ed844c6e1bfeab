// profile_json_memory.c -- the memory of a step as JSON: its peak, predicted and measured, and the
// changes that lowered it.
#include "profiler/files/profile_json_parts.h"

static void write_memory_side(JsonWriter *json, const char *key, const ProfileMemory *memory,
                              const char *absent) {
    if (absent) {
        member_absent(json, key, absent);
        return;
    }
    json_writer_key(json, key);
    json_writer_begin_object(json);
    json_fields(json, FIELDS_USE, &memory->peak);
    json_fields(json, FIELDS_MEMORY, memory);
    json_writer_end_object(json);
}

static void write_recompute(JsonWriter *json, const Profile *profile) {
    const ProfileRecompute *recompute = &profile->recompute;
    member_integer_if(json, profile->budget > 0, "budget_bytes", profile->budget);
    if (recompute->layers == 0) {
        member_absent(json, "recompute", "no layer is marked");
        return;
    }
    json_writer_begin_object(json_writer_key(json, "recompute"));
    member_integer(json, "layers", recompute->layers);
    member_text(json, "paths", recompute->paths);
    member_integer(json, "plain_peak_bytes", recompute->plain_bytes);
    member_count(json, "plain_total_flops", recompute->plain_flops);
    json_writer_end_object(json);
}

void json_memory(JsonWriter *json, const Profile *profile) {
    json_writer_key(json, "memory");
    json_writer_begin_object(json);
    bool ran = profile->totals[REPORT_STEP].latency.count > 0;
    write_memory_side(json, "measured", &profile->measured,
                      ran ? NULL : "nothing ran on the meta device");
    write_memory_side(json, "predicted", &profile->predicted, NULL);
    member_integer_if(json, ran, "step_allocations", profile->allocations);
    member_integer(json, "unaccounted_bytes", profile->unaccounted_bytes);
    member_integer(json, "reserved_bytes", profile->reserved_bytes);
    if (profile->process_peak_bytes >= 0)
        member_integer(json, "process_peak_bytes", profile->process_peak_bytes);
    else
        member_absent(json, "process_peak_bytes", "/proc/self/status has no VmHWM");
    member_text(json, "peak_op", profile->measured.peak_op);
    member_integer(json, "inference_peak_bytes", profile->inference_bytes);
    if (profile->one_batch)
        member_absent(json, "bytes_per_sample", "the model takes no batch but this");
    else
        member_integer(json, "bytes_per_sample", profile->bytes_per_sample);
    if (profile->large_batch_bytes > 0)
        member_integer(json, "large_batch_peak_bytes", profile->large_batch_bytes);
    else
        member_absent(json, "large_batch_peak_bytes",
                      profile->accumulate > 1 ? "it could not be counted" : "a step is one batch");
    write_recompute(json, profile);
    json_card(json, profile);
    json_writer_end_object(json);
}
