// profile_diff_json.c -- the document of a comparison.
#include "profiler/files/exports.h"

#include <math.h>

#include "profiler/files/profile_json_parts.h"

static void write_time(JsonWriter *json, const DiffTime *time) {
    const Ratio *ratio = &time->ratio;
    bool known = ratio->estimate > 0.0;
    const double none = (double)NAN;
    member_text(json, "phase", report_phase_name(time->phase));
    member_real(json, "before_seconds", time->before > 0.0 ? time->before : none);
    member_real(json, "after_seconds", time->after > 0.0 ? time->after : none);
    member_real(json, "ratio", known ? ratio->estimate : none);
    member_real(json, "ratio_low", known ? ratio->low : none);
    member_real(json, "ratio_high", known ? ratio->high : none);
    member_real(json, "confidence", known ? ratio->confidence : none);
    member_real(json, "change_seen", known ? time->seen : none);
    member_text(json, "change",
                !known           ? NULL
                : time->sure > 0 ? "slower"
                : time->sure < 0 ? "faster"
                                 : "cannot be told");
}

static void write_times(JsonWriter *json, const ProfileDiff *diff) {
    json_writer_begin_object(json_writer_key(json, "step"));
    write_time(json, &diff->step);
    json_writer_end_object(json);
    json_writer_begin_array(json_writer_key(json, "layers"));
    for (int64_t i = 0; i < diff->n_times; i++) {
        json_writer_begin_object(json);
        member_text(json, "path", diff->times[i].path);
        write_time(json, &diff->times[i]);
        json_writer_end_object(json);
    }
    json_writer_end_array(json);
}

static void write_counts(JsonWriter *json, const ProfileDiff *diff) {
    json_writer_begin_array(json_writer_key(json, "counts"));
    for (int64_t i = 0; i < diff->n_counts; i++) {
        const DiffCount *count = &diff->counts[i];
        json_writer_begin_record(json);
        member_text(json, "path", count->path[0] ? count->path : NULL);
        member_text(json, "phase", count->phase[0] ? count->phase : NULL);
        member_text(json, "name", count->name);
        member_integer_if(json, count->before >= 0, "before", count->before);
        member_integer_if(json, count->after >= 0, "after", count->after);
        json_writer_end_object(json);
    }
    json_writer_end_array(json);
}

void json_thresholds(JsonWriter *json, const ThresholdList *list) {
    json_writer_begin_array(json_writer_key(json, "thresholds"));
    for (int i = 0; i < list->n; i++) {
        json_writer_begin_record(json);
        member_text(json, "limit", list->at[i].text);
        member_text(json, "verdict", threshold_verdict_name(list->at[i].verdict));
        member_text(json, "found", list->at[i].found);
        json_writer_end_object(json);
    }
    json_writer_end_array(json);
}

Status profile_diff_write_json(const ProfileDiff *diff, const DiffStory *story,
                               const ThresholdList *thresholds, const char *command,
                               JsonWriter *json) {
    json_writer_begin_object(json);
    member_text(json, "schema", "ridgepoint.diff/v1");
    json_date(json, "created");
    member_text(json, "command", command);
    member_text(json, "base", story->base);
    member_integer(json, "runs_before", diff->runs_before);
    member_integer(json, "runs_after", diff->runs_after);
    member_bool(json, "times_compared", story->untimed == NULL);
    member_text(json, "times_compared_reason", story->untimed);
    member_text(json, "undivided_reason", diff->undivided[0] ? diff->undivided : NULL);
    member_real(json, "metronome_product_ratio", diff->product);
    member_real(json, "metronome_read_ratio", diff->read);
    write_times(json, diff);
    write_counts(json, diff);
    json_thresholds(json, thresholds);
    json_writer_end_object(json);
    if (!error_pending()) return json_writer_close(json);
    json_writer_discard(json);
    return error_status();
}
