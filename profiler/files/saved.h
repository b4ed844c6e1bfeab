// saved.h -- internal to profiler/: reads written files back: a profile, other runs of the same
// profile, a history, a sweep. Malformed files are refused with their name and the place.
#ifndef PROFILER_FILES_SAVED_H
#define PROFILER_FILES_SAVED_H

#include "profiler/base/json_writer.h"
#include "profiler/compare/profile_diff.h"
#include "profiler/compare/sweep.h"
#include "profiler/compare/trend.h"
#include "profiler/measure/profile.h"

// ---- a profile, as far as comparisons need it (profile_read.c) ----------------------------------
enum { SAVED_PROFILE_MOST_BYTES = 1 << 28 };

// `name` begins every message: "base.json: layers[2].path: ...". STATUS_FORMAT if the text is no
// complete profile of this schema; STATUS_IO if there is no such file. *saved is the caller's, also
// after a failure: saved_profile_free.
Status saved_profile_parse(const char *text, size_t size, const char *name, SavedProfile *saved);
Status saved_profile_read(const char *path, SavedProfile *saved);
void saved_profile_free(SavedProfile *saved);

// Copies the difference between predicted and executed counts from a document (jansson's), unless
// the profile has one already.
struct json_t;
void profile_take_difference(Profile *profile, const struct json_t *document);

// ---- other runs of it (profile_runs.c) ----------------------------------------------------------
// Collects, for each latency of phases (of layers and of the whole), of a forward alone and of the
// metronome, its own median and those of n documents (profile_write_json, same work, same device)
// into Latency.across, replacing earlier ones. STATUS_FORMAT, with the run and the place, if a
// document has other layers, or lacks such a median. The profile takes over the first difference
// between predicted and executed.
Status profile_take_runs(Profile *profile, char *const documents[], int n);

// STATUS_STATE if it was not executed as predicted.
Status run_figures_read(const char *document, RunFigures *figures);

// ---- a history: a line each in a file that only grows (history.c) -------------------------------
enum { HISTORY_MOST_BYTES = 1 << 28 };

// Adds a line; `work` is the command without options that only name files. The whole line is added,
// or the file stays unchanged (STATUS_IO), also if several processes add at once. A truncated last
// line of ours is removed; a file of anyone else is left alone: STATUS_FORMAT.
Status history_append(const Profile *profile, const char *work, const char *path);
// STATUS_IO: no such file; STATUS_FORMAT, with the line: not a history. A truncated last line is
// ignored. Free with history_free, also after a failure.
Status history_read(const char *path, History *history);
void history_free(History *history);

// ---- a sweep, written after each point, so that it can be resumed (sweep_json.c) ----------------
// Closes the writer in every case. The sweep is judged; `command` is the command of its points.
Status sweep_write_json(const Sweep *sweep, const char *command, const char *cpu, JsonWriter *json);

// Takes the measured points of a file of the same command and processor into `sweep`, which has
// begun. A missing file adds none. STATUS_FORMAT: the file is another sweep's, or no sweep; then it
// adds none, either.
Status sweep_read_json(const char *path, const char *command, const char *cpu, Sweep *sweep);

// Reads the figures of a point from one document (profile_write_json), or several of the same.
// STATUS_STATE: one was not executed as predicted.
Status sweep_point_read(char *const documents[], int n, SweepPoint *point, char unit[16]);

#endif
