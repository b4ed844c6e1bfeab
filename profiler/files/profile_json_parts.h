// profile_json_parts.h -- internal to profiler/: members of the JSON documents, and what several
// sections of the profile's are made of.
#ifndef PROFILER_FILES_PROFILE_JSON_PARTS_H
#define PROFILER_FILES_PROFILE_JSON_PARTS_H

#include "profiler/files/json_writer.h"
#include "profiler/profile.h"

void member_text(JsonWriter *json, const char *key, const char *value); // NULL: null
void member_integer(JsonWriter *json, const char *key, int64_t value);
void member_count(JsonWriter *json, const char *key, uint64_t value);
void member_real(JsonWriter *json, const char *key, double value); // NaN: null
void member_null(JsonWriter *json, const char *key);

void json_shape(JsonWriter *json, const char *key, Shape shape);              // ndim -1: null
void json_latency(JsonWriter *json, const char *key, const Latency *latency); // count 0: null
// PHASE of conventions.md; null unless it happened.
void json_phase(JsonWriter *json, const Machine *machine, const char *key,
                const ProfilePhase *phase, bool happened);
void json_phase_members(JsonWriter *json, const Machine *machine, const ProfilePhase *phase);
void json_ops(JsonWriter *json, const Profile *profile); // "ops": in the order in which they ended

#endif
