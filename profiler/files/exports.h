// exports.h -- internal to profiler/: profiles, comparisons and verdicts as other programs read
// them. Files appear whole or stay as they were; "-" is standard output. Errors are STATUS_IO and
// STATUS_OUT_OF_MEMORY.
#ifndef PROFILER_FILES_EXPORTS_H
#define PROFILER_FILES_EXPORTS_H

#include <stdbool.h>
#include <stdio.h>

#include "layers/files/whole_file.h"
#include "profiler/base/json_writer.h"
#include "profiler/compare/diff_print.h"
#include "profiler/compare/threshold.h"
#include "profiler/measure/profile.h"

// ---- a spreadsheet (profile_csv.c) --------------------------------------------------------------
// CSV (RFC 4180): counts exact, seconds and shares in full, what is not known empty. Rows add up to
// the step but for what no layer took. "-" is standard output. STATUS_IO, STATUS_OUT_OF_MEMORY.
Status profile_write_csv(const Profile *profile, const char *path);

// ---- Prometheus and its like (openmetrics.c) ----------------------------------------------------
// Times are medians of all runs. What is not known or did not happen has no line. Whole, or as it
// was: STATUS_IO, STATUS_OUT_OF_MEMORY.
Status openmetrics_write(const Profile *profile, const char *path);

// ---- Google Benchmark (gbench.c) ----------------------------------------------------------------
// Names are "step", "forward", "inference", "fc1/forward"; of several processes each is a
// repetition. Of a layer no processor time is known apart from its time: cpu_time is real_time, as
// of a thread that is timed and does not sleep. Whole, or as it was: STATUS_IO,
// STATUS_OUT_OF_MEMORY.
Status gbench_write(const Profile *profile, const char *command, const char *path);

// ---- a comparison as JSON, schema ridgepoint.diff/v1 (profile_diff_json.c) ----------------------
// Writes the document and closes the writer, as profile_write_json does.
Status profile_diff_write_json(const ProfileDiff *diff, const DiffStory *story,
                               const ThresholdList *thresholds, const char *command,
                               JsonWriter *json);

// ---- a run of a GitHub workflow (annotation.c) --------------------------------------------------
// Is this a step of such a run? Then GITHUB_ACTIONS is "true".
bool annotation_wanted(void);

// `level` is "error", "warning" or "notice". Title and message may be any text: what would end
// either, or is not printable, is written as GitHub reads it, or as '?'.
void annotation_print(const char *level, const char *title, const char *message, FILE *file);

// ---- tests (junit.c) ----------------------------------------------------------------------------
typedef enum JunitVerdict { JUNIT_PASSED, JUNIT_FAILED, JUNIT_ERROR, JUNIT_SKIPPED } JunitVerdict;

typedef struct JunitCase {
    const char *suite, *name;
    JunitVerdict verdict;
    // Unless it passed: a word for how, a line for people, and all there is to read.
    const char *type, *output;
    char message[160];
} JunitCase;

typedef struct JunitCases { // those of one suite follow each other
    int n;
    void (*at)(const void *holder, int i, JunitCase *one);
    const void *holder;
} JunitCases;

void junit_write(WholeFile *file, const char *name, double seconds, const JunitCases *cases);

#endif
