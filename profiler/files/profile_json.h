// profile_json.h -- a Profile as JSON, schema ridgepoint.profile/v1: counts exact, times in
// seconds. --help counts explains the numbers.
#ifndef PROFILER_FILES_PROFILE_JSON_H
#define PROFILER_FILES_PROFILE_JSON_H

#include "profiler/base/json_writer.h"
#include "profiler/measure/profile.h"
#include "profiler/report/plots.h"

typedef struct ProfileTraining { // result of training after the profile
    const char *data;            // "generated digits", or the folder; NULL: there was no training,
    const char *absent;          // for this reason
    FitResult fit;
    LossCurve curve;      // losses over the training
    Schedule schedule;    // learning rate schedule,
    double final_rate;    // and its last learning rate
    double test_accuracy; // NaN: there was no test set
    // For a text: nats per symbol of the held-out part, by the model and by a table of pairs
    // counted in the other part (corpus_bigram_loss). NaN: not a text.
    double held_out_loss, bigram_loss;
} ProfileTraining;

// Writes the whole document and closes the writer (json_file_open) in every case; `command` is the
// command line that made it. Fails as json_writer_close does, or with STATUS_OUT_OF_MEMORY; the
// file then stays unchanged. An already pending error does not prevent writing.
Status profile_write_json(const Profile *profile, const ProfileTraining *training,
                          const char *command, JsonWriter *json);

// Writes several profiles, as an object of schema ridgepoint.comparison/v1 whose `models` has one
// such document each. None has training results.
Status profile_write_json_each(const Profile *const profiles[], int n, const char *command,
                               JsonWriter *json);

#endif
