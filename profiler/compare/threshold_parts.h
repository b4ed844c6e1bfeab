// threshold_parts.h -- internal to threshold*.c: what may be limited, and how it is found.
#ifndef PROFILER_COMPARE_THRESHOLD_PARTS_H
#define PROFILER_COMPARE_THRESHOLD_PARTS_H

#include "profiler/compare/threshold.h"

typedef enum Kind { OF_TIME, OF_RATE, OF_BYTES, OF_COUNT } Kind;

typedef struct Found { // of a profile
    double value;      // NaN: it is not there
    double low, high;  // so sure it is
    int64_t runs;      // processes; 0: a count, of which one tells
} Found;

// Of a limit to a layer each that matches is judged by itself.
struct ThresholdKey {
    const char *name;
    Kind kind;
    Found (*find)(const Profile *profile, int of); // NULL: a layer's time
    int of;
    bool relative; // may be beside a base
    const char *what;
};

// What a layer takes of a step: forward, backward and optimizer of each run, added.
// STATUS_OUT_OF_MEMORY
Status threshold_find_layer(const ProfileLayer *layer, Found *found);

#endif
