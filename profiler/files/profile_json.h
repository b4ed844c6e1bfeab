// profile_json.h -- a Profile as JSON, schema ridgepoint.profile/v1: counts exact, times in
// seconds. What the numbers mean: --help counts.
#ifndef PROFILER_FILES_PROFILE_JSON_H
#define PROFILER_FILES_PROFILE_JSON_H

#include "profiler/base/json_writer.h"
#include "profiler/measure/profile.h"
#include "profiler/report/plots.h"

typedef struct ProfileTraining { // what training after the profile reached
    const char *data;            // "generated digits", or the folder; NULL: there was no training,
    const char *absent;          // for this reason
    FitResult fit;
    LossCurve curve;      // of its losses
    Schedule schedule;    // of its learning rate,
    double final_rate;    // which was this in the end
    double test_accuracy; // NaN: there was no test set
    // Of a text, nats a symbol of the part held out: the model's, and that of a table of pairs
    // counted in the other part (corpus_bigram_loss). NaN: it was no text.
    double held_out_loss, bigram_loss;
} ProfileTraining;

// Writes the whole document and closes the writer (json_file_open), in every case; `command` is the
// command line that made it. Fails as json_writer_close does, or with STATUS_OUT_OF_MEMORY; then
// what the file was stays. An error that is pending already is no hindrance.
Status profile_write_json(const Profile *profile, const ProfileTraining *training,
                          const char *command, JsonWriter *json);

// The same of several, as an object of schema ridgepoint.comparison/v1 with one such document each
// in its `models`. Nothing was trained.
Status profile_write_json_each(const Profile *const profiles[], int n, const char *command,
                               JsonWriter *json);

#endif
