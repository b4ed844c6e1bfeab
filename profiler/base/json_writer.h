// json_writer.h -- writes JSON member by member, without building a tree first.
// Not here: reading JSON (jansson does that), or the keys of a report (the reports know them).
#ifndef PROFILER_BASE_JSON_WRITER_H
#define PROFILER_BASE_JSON_WRITER_H

#include <stdint.h>
#include <stdio.h>

#include "layers/files/whole_file.h"

enum { JSON_WRITER_DEPTH = 256 }; // containers inside one another, at most

typedef struct JsonWriter JsonWriter;

// Writes to `path` as whole_file_open does: the whole file appears when json_writer_close succeeds,
// or nothing does; "-" is standard output. NULL with STATUS_IO or STATUS_OUT_OF_MEMORY pending.
JsonWriter *json_file_open(const char *path);

// Writes to a file that the caller opened and will close; `name` is for error messages. NULL with
// STATUS_OUT_OF_MEMORY pending.
JsonWriter *json_writer_new(FILE *file, const char *name);

// Ends the document with a newline, moves the file into place and frees the writer in every case.
// Reports the first error since the start: STATUS_IO with the path and the reason. A file that
// existed before then stays unchanged.
Status json_writer_close(JsonWriter *json);

// For a caller that failed midway: frees the writer and leaves the target unchanged (unless it is
// written directly). NULL is fine.
void json_writer_discard(JsonWriter *json);

// Containers. A document is one value; every begin needs its end (asserted). Each member has a line
// of its own, indented by 2; numbers, booleans and nulls in an array share lines of at most 100
// columns. A record is an object written on one line with all its contents.
void json_writer_begin_object(JsonWriter *json);
void json_writer_begin_record(JsonWriter *json);
void json_writer_end_object(JsonWriter *json); // ends an object or a record
void json_writer_begin_array(JsonWriter *json);
void json_writer_end_array(JsonWriter *json);

// Names the next value of an object; the caller ensures that keys are unique. Returns the writer,
// so that a member fits on one line: json_writer_int64(json_writer_key(json, "n"), n);
JsonWriter *json_writer_key(JsonWriter *json, const char *key);

// Values. Text is UTF-8: a byte outside a valid sequence becomes U+FFFD, control characters are
// escaped; NULL becomes null. Integers are exact (some readers stop at 2^63). A double is the
// shortest decimal that reads back as the same bits, with ".0" if it would look like an integer;
// NaN and infinities, which JSON lacks, become null.
void json_writer_string(JsonWriter *json, const char *text);
void json_writer_int64(JsonWriter *json, int64_t value);
void json_writer_uint64(JsonWriter *json, uint64_t value);
void json_writer_double(JsonWriter *json, double value);
// Writes value / 10^decimals exactly, with all its decimals (0..18): (-12345, 3) is -12.345.
void json_writer_decimal(JsonWriter *json, int64_t value, int decimals);
void json_writer_bool(JsonWriter *json, bool value);
void json_writer_null(JsonWriter *json);

// ---- a member in one call: its key, then its value ----------------------------------------------
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
static inline void member_integer_if(JsonWriter *json, bool known, const char *key, int64_t value) {
    known ? member_integer(json, key, value) : member_null(json, key);
}
static inline void member_bool_if(JsonWriter *json, bool known, const char *key, bool value) {
    known ? member_bool(json, key, value) : member_null(json, key);
}
void member_absent(JsonWriter *json, const char *key, const char *reason); // null, "KEY_reason"

#endif
