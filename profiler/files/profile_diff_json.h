// profile_diff_json.h -- what differs between two profiles as JSON, schema ridgepoint.diff/v1:
// every count that differs and every time, whether it changed for sure or not.
#ifndef PROFILER_FILES_PROFILE_DIFF_JSON_H
#define PROFILER_FILES_PROFILE_DIFF_JSON_H

#include "profiler/compare/diff_print.h"
#include "profiler/compare/threshold.h"
#include "profiler/files/json_writer.h"

// Writes the document and closes the writer, as profile_write_json does.
Status profile_diff_write_json(const ProfileDiff *diff, const DiffStory *story,
                               const ThresholdList *thresholds, const char *command,
                               JsonWriter *json);

#endif
