// profile_json_parts.h -- internal to profiler/: parts shared by the sections of a profile's JSON
// documents.
#ifndef PROFILER_FILES_PROFILE_JSON_PARTS_H
#define PROFILER_FILES_PROFILE_JSON_PARTS_H

#include "profiler/base/json_writer.h"
#include "profiler/files/profile_json.h"
#include "profiler/measure/profile_fields.h"

// Writes the members of a scope (profile_fields.h) of the struct `of`, in the table's order.
void json_fields(JsonWriter *json, FieldScope scope, const void *of);
void json_shape(JsonWriter *json, const char *key, Shape shape);              // ndim -1: null
void json_latency(JsonWriter *json, const char *key, const Latency *latency); // count 0: null
// Writes "a phase" of profiler/CONVENTIONS.md, section 5; null unless it happened.
void json_phase(JsonWriter *json, const Machine *machine, const char *key,
                const ProfilePhase *phase, bool happened);
void json_phase_members(JsonWriter *json, const Machine *machine, const ProfilePhase *phase);
void json_memory(JsonWriter *json, const Profile *profile); // "memory"
void json_card(JsonWriter *json, const Profile *profile);   // "device", if it has its own memory
void json_ops(JsonWriter *json, const Profile *profile);    // "ops": in the order of their ends
void json_rank(JsonWriter *json, const Profile *profile);   // "start_with"
void json_training(JsonWriter *json, const ProfileTraining *training); // "training"
void json_advice(JsonWriter *json, const Profile *profile);            // and the tried advice
void json_generation(JsonWriter *json, const Profile *profile); // "generation"; null: not requested

void json_date(JsonWriter *json, const char *key); // the date and time of day

#endif
