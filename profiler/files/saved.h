// saved.h -- internal to profiler/: what was written, read back: a profile, what other runs wrote
// of the same, a history, a sweep. Hostile files are refused by name and place.
#ifndef PROFILER_FILES_SAVED_H
#define PROFILER_FILES_SAVED_H

#include "profiler/base/json_writer.h"
#include "profiler/compare/profile_diff.h"
#include "profiler/compare/sweep.h"
#include "profiler/compare/trend.h"
#include "profiler/measure/profile.h"

// ---- a profile, as far as two can be compared (profile_read.c) ----------------------------------
enum { SAVED_PROFILE_MOST_BYTES = 1 << 28 };

// `name` begins every message: "base.json: layers[2].path: ...". STATUS_FORMAT where it is no
// profile of this schema, or not whole; STATUS_IO where there is no such file. *saved is the
// caller's, also after a failure: saved_profile_free.
Status saved_profile_parse(const char *text, size_t size, const char *name, SavedProfile *saved);
Status saved_profile_read(const char *path, SavedProfile *saved);
void saved_profile_free(SavedProfile *saved);

// Takes over the difference between predicted and executed that a document (jansson's) tells of.
// The first one is kept.
struct json_t;
void profile_take_difference(Profile *profile, const struct json_t *document);

// ---- other runs of it (profile_runs.c) ----------------------------------------------------------
// Of each latency of a phase, of layers and of the whole, and of a forward alone: its median, and
// those that n documents (profile_write_json, of the same work on the same device) have of it, as
// Latency.across, in place of what was there; and of the metronome. STATUS_FORMAT, with the run and
// the place, where a document is not of this profile's layers, or has no such median. The profile
// takes over the first difference between predicted and executed.
Status profile_take_runs(Profile *profile, char *const documents[], int n);

// STATUS_STATE where it was not executed as predicted.
Status run_figures_read(const char *document, RunFigures *figures);

// ---- a history: a line each in a file that only grows (history.c) -------------------------------
enum { HISTORY_MOST_BYTES = 1 << 28 };

// Adds a line; `work` is the command, without what only names files. It is there whole, or the file
// is as it was (STATUS_IO), also where several processes add at once. A last line of ours that was
// cut short goes; of anybody else's nothing is touched: STATUS_FORMAT.
Status history_append(const Profile *profile, const char *work, const char *path);
// STATUS_IO: there is no such file; STATUS_FORMAT, with the line: it is none. A last line that is
// cut is left out. history_free it, also after a failure.
Status history_read(const char *path, History *history);
void history_free(History *history);

// ---- a sweep, written after each point, so that one that was stopped goes on (sweep_json.c) -----
// Closes the writer in every case. The sweep is judged; `command` is what its points are of.
Status sweep_write_json(const Sweep *sweep, const char *command, const char *cpu, JsonWriter *json);

// The points of a file of the same command on the same processor: those that were measured are
// taken into `sweep`, which has begun. No such file: none are. STATUS_FORMAT: it is of another
// sweep, or of none; then none are, either.
Status sweep_read_json(const char *path, const char *command, const char *cpu, Sweep *sweep);

// Of one document (profile_write_json) of a point, or several of the same: their figures.
// STATUS_STATE: one was not executed as predicted.
Status sweep_point_read(char *const documents[], int n, SweepPoint *point, char unit[16]);

#endif
