// sweep_json.h -- a sweep as a JSON file, schema ridgepoint.sweep/v1: written after each point, so
// that one that was stopped goes on. Not here: what the points say together (compare/sweep.h).
#ifndef PROFILER_FILES_SWEEP_JSON_H
#define PROFILER_FILES_SWEEP_JSON_H

#include "profiler/compare/sweep.h"
#include "profiler/files/json_writer.h"

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
