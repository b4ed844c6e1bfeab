// exports.h -- internal to profiler/: profiles, comparisons and verdicts in formats of other
// programs. Files appear whole or stay unchanged; "-" is standard output. Errors are STATUS_IO and
// STATUS_OUT_OF_MEMORY.
#ifndef PROFILER_FILES_EXPORTS_H
#define PROFILER_FILES_EXPORTS_H

#include <stdbool.h>
#include <stdio.h>

#include "layers/files/whole_file.h"
#include "profiler/base/json_writer.h"
#include "profiler/compare/profile_diff.h"
#include "profiler/compare/threshold.h"
#include "profiler/measure/profile.h"

// ---- a spreadsheet (profile_csv.c) --------------------------------------------------------------
// CSV (RFC 4180): counts exact, seconds and shares in full, unknown values empty. Rows sum to the
// step except for time outside layers. "-" is standard output. STATUS_IO, STATUS_OUT_OF_MEMORY.
Status profile_write_csv(const Profile *profile, const char *path);

// ---- Prometheus and its like (openmetrics.c) ----------------------------------------------------
// Times are medians over all runs. Values that are unknown or did not occur have no line. The file
// appears whole or stays unchanged: STATUS_IO, STATUS_OUT_OF_MEMORY.
Status openmetrics_write(const Profile *profile, const char *path);

// ---- Google Benchmark (gbench.c) ----------------------------------------------------------------
// Names are "step", "forward", "inference", "fc1/forward"; with several processes each is a
// repetition. A layer's processor time is not measured separately: cpu_time is real_time, as for a
// timed thread that does not sleep. The file appears whole or stays unchanged: STATUS_IO,
// STATUS_OUT_OF_MEMORY.
Status gbench_write(const Profile *profile, const char *command, const char *path);

// ---- a comparison as JSON, schema ridgepoint.diff/v1 (profile_diff_json.c) ----------------------
// Writes the document and closes the writer, as profile_write_json does.
Status profile_diff_write_json(const ProfileDiff *diff, const DiffStory *story,
                               const ThresholdList *thresholds, const char *command,
                               JsonWriter *json);

// ---- a run of a GitHub workflow (annotation.c) --------------------------------------------------
// True if this is a step of such a run: then GITHUB_ACTIONS is "true".
bool annotation_wanted(void);

// `level` is "error", "warning" or "notice". Title and message may be any text: characters that
// would end either are escaped for GitHub, non-printable ones become '?'.
void annotation_print(const char *level, const char *title, const char *message, FILE *file);

// ---- tests (junit.c) ----------------------------------------------------------------------------
typedef enum JunitVerdict { JUNIT_PASSED, JUNIT_FAILED, JUNIT_ERROR, JUNIT_SKIPPED } JunitVerdict;

typedef struct JunitCase {
    const char *suite, *name;
    JunitVerdict verdict;
    // Unless it passed: the kind of failure, the full output, and a line for people.
    const char *type, *output;
    char message[160];
} JunitCase;

typedef struct JunitCases { // cases of one suite are adjacent
    int n;
    void (*at)(const void *holder, int i, JunitCase *one);
    const void *holder;
} JunitCases;

void junit_write(WholeFile *file, const char *name, double seconds, const JunitCases *cases);

#endif
