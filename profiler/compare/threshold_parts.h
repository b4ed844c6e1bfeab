// threshold_parts.h -- internal to threshold*.c: the kinds of limits, and how to find their values.
#ifndef PROFILER_COMPARE_THRESHOLD_PARTS_H
#define PROFILER_COMPARE_THRESHOLD_PARTS_H

#include "profiler/compare/threshold.h"

typedef enum Kind { OF_TIME, OF_RATE, OF_BYTES, OF_COUNT } Kind;

typedef struct Found { // a value found in a profile
    double value;      // NaN: not there
    double low, high;  // its confidence interval
    int64_t runs;      // number of processes; 0: a count, exact in one
} Found;

// A limit on layers judges each matching layer by itself.
struct ThresholdKey {
    const char *name;
    Kind kind;
    Found (*find)(const Profile *profile, const ThresholdKey *key); // NULL: a layer's time
    int of;        // phase of a time, tenths of a percentile, or FieldScope of a count
    bool relative; // can be relative to a base
    const char *what;
    const char *field; // key of a count (profile_fields.h)
};

// A layer's seconds in a step: forward, backward and optimizer, summed for each run. May return
// STATUS_OUT_OF_MEMORY.
Status threshold_find_layer(const ProfileLayer *layer, Found *found);

#endif
