// profile_fields.h -- internal to profiler/: what a profile holds, a row for each figure. JSON in
// and out, CSV, metrics, limits, comparisons and the check of predictions read these rows, so that
// a figure is described once.
#ifndef PROFILER_MEASURE_PROFILE_FIELDS_H
#define PROFILER_MEASURE_PROFILE_FIELDS_H

#include "profiler/measure/profile.h"

typedef enum FieldScope { // the struct that a row's value lies in
    FIELDS_PHASE,         // ProfilePhase: of the whole step, or of a layer
    FIELDS_LAYER,         // ProfileLayer
    FIELDS_MEMORY,        // ProfileMemory
    FIELDS_USE,           // MemoryUse: a row for each category
    FIELDS_MODEL,         // Profile: its network
    FIELD_SCOPES
} FieldScope;

typedef enum FieldKind {
    FIELD_COUNT, // int64_t, or uint64_t below 2^63
    FIELD_BYTES, // a count of bytes
    FIELD_TEXT,  // char[size]; "": unknown
    FIELD_SHAPE, // Shape; ndim -1: unknown
} FieldKind;

enum {                  // uses of a row
    FIELD_JSON = 1,     // a member of the document
    FIELD_READ = 2,     // and read back from it; a number must then be there
    FIELD_COMPARED = 4, // differs: --compare lists it, and a prediction was wrong
    FIELD_CSV = 8,      // a column
};

typedef struct ProfileField {
    const char *key; // in JSON, CSV and comparisons; NULL ends the rows of a scope
    FieldKind kind;
    int uses;
    size_t offset, size;                 // of the value in the scope's struct; size: of a text
    uint64_t (*derived)(const void *of); // computes the value from others; NULL: it is stored
    const char *metric, *help; // OpenMetrics: "read_bytes", and a sentence; NULL: no gauge
} ProfileField;

//     for (const ProfileField *field = profile_fields(FIELDS_PHASE); field->key; field++)
//         printf("%s %lld\n", field->key, (long long)profile_field_count(field, phase));
const ProfileField *profile_fields(FieldScope scope);
const ProfileField *profile_field(FieldScope scope, const char *key);   // NULL: there is none
int64_t profile_field_count(const ProfileField *field, const void *of); // FIELD_COUNT, FIELD_BYTES
void *profile_field_at(const ProfileField *field, const void *of);      // where it is stored

// The parts that a step's time and counts are the sum of.
enum { STEP_PARTS = 3 };
extern const ReportPhase step_parts[STEP_PARTS]; // forward, backward, optimizer

// A latency of the whole profile that is no phase's.
typedef struct ProfileTime {
    const char *place, *key; // "totals", "inference"; NULL: not read from documents of runs
    size_t offset;           // of a Latency in Profile
} ProfileTime;
enum { PROFILE_TIMES = 7 };
extern const ProfileTime profile_times[PROFILE_TIMES];
Latency *profile_time(Profile *profile, int i); // the i-th of them

#endif
