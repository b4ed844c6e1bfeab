// profile_json_advice.c -- where to start, and the advice, predicted and tried, as JSON.
#include "profiler/advice/advice_tried.h"
#include "profiler/files/profile_json_parts.h"
#include "profiler/measure/rank.h"
#include "profiler/report/report_table.h"

static void write_range(JsonWriter *json, const char *key, double low, double high) {
    json_writer_begin_array(json_writer_key(json, key));
    json_writer_double(json, low);
    json_writer_double(json, high);
    json_writer_end_array(json);
}

static void write_advice(JsonWriter *json, const Advice *advice) {
    json_writer_begin_object(json);
    member_text(json, "text", advice->text);
    member_text(json, "check", advice->check);
    member_text(json, "evidence", advice->evidence);
    member_real(json, "seconds", advice->seconds);
    member_integer(json, "bytes", advice->bytes);
    member_bool(json, "worth", advice->worth);
    if (advice->apply[0])
        write_range(json, "predicted_gain", advice->gain_low, advice->gain_high);
    else
        member_null(json, "predicted_gain");
    json_writer_end_object(json);
}

static void write_tried(JsonWriter *json, const Tried *tried) {
    const LatencyStatistics *ratio = &tried->ratio;
    json_writer_begin_object(json);
    member_text(json, "check", tried->advice.apply);
    write_range(json, "predicted_gain", tried->advice.gain_low, tried->advice.gain_high);
    member_real(json, "gain", ratio->median - 1.0);
    write_range(json, "ci95", ratio->ci95_low - 1.0, ratio->ci95_high - 1.0);
    member_real(json, "confidence", ratio->confidence);
    member_integer(json, "n", ratio->n);
    member_integer(json, "predicted_bytes", tried->advice.bytes);
    member_integer(json, "bytes", tried->without.peak_bytes - tried->with.peak_bytes);
    member_bool(json, "as_predicted", tried_as_predicted(tried));
    json_writer_end_object(json);
}

void json_rank(JsonWriter *json, const Profile *profile) {
    Rank rank = {0};
    if (rank_find(profile, &rank)) rank.n = 0;
    json_writer_begin_array(json_writer_key(json, "start_with"));
    for (int i = 0; i < rank.n; i++) {
        const RankedKind *kind = &rank.kinds[i];
        json_writer_begin_object(json);
        if (kind->layer < 0)
            member_null(json, "layer");
        else
            member_text(json, "layer", profile->layers[kind->layer].path);
        member_integer(json, "alike", kind->alike);
        member_integer(json, "first", kind->first);
        member_integer(json, "steps", rank.steps);
        if (rank.steps > 0)
            write_range(json, "part", kind->low, kind->high);
        else
            member_null(json, "part");
        json_writer_end_object(json);
    }
    json_writer_end_array(json);
}

void json_advice(JsonWriter *json, const Profile *profile) {
    Advice advice[ADVICE_MOST];
    bool noise = profile_is_noise(profile); // like the report, which then gives no advice
    int n = noise ? 0 : advice_find(profile, advice);
    json_writer_begin_array(json_writer_key(json, "advice"));
    for (int i = 0; i < n; i++) write_advice(json, &advice[i]);
    json_writer_end_array(json);
    if (noise)
        member_text(json, "advice_reason", "times are too noisy, or too few, to predict from");
    const Trials *trials = profile->trials;
    if (!trials) {
        member_absent(json, "tried", noise ? "nothing was advised" : "--try was not asked");
        return;
    }
    json_writer_begin_array(json_writer_key(json, "tried"));
    for (int i = 0; i < trials->n; i++) write_tried(json, &trials->tried[i]);
    json_writer_end_array(json);
}
