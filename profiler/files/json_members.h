// json_members.h -- a member of an object in one call: its key, then its value.
#ifndef PROFILER_FILES_JSON_MEMBERS_H
#define PROFILER_FILES_JSON_MEMBERS_H

#include "profiler/files/json_writer.h"

static inline void member_text(JsonWriter *json, const char *key, const char *value) {
    json_writer_string(json_writer_key(json, key), value); // NULL: null
}
static inline void member_integer(JsonWriter *json, const char *key, int64_t value) {
    json_writer_int64(json_writer_key(json, key), value);
}
static inline void member_count(JsonWriter *json, const char *key, uint64_t value) {
    json_writer_uint64(json_writer_key(json, key), value);
}
static inline void member_real(JsonWriter *json, const char *key, double value) { // NaN: null
    json_writer_double(json_writer_key(json, key), value);
}
static inline void member_bool(JsonWriter *json, const char *key, bool value) {
    json_writer_bool(json_writer_key(json, key), value);
}
static inline void member_null(JsonWriter *json, const char *key) {
    json_writer_null(json_writer_key(json, key));
}

#endif
