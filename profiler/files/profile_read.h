// profile_read.h -- a profile that was written as JSON (profile_json.h), read back as far as two
// can be compared: counts, medians, memory, and what it was measured on. Not here: ops, samples,
// advice.
#ifndef PROFILER_FILES_PROFILE_READ_H
#define PROFILER_FILES_PROFILE_READ_H

#include "profiler/profile.h"
#include "profiler/report/environment.h"

typedef struct SavedProfile {
    // Of each latency its count, its median and `across`; of memory the peaks; no ops, no machine.
    Profile profile;
    Environment environment;
    char created[32], gpu[ENVIRONMENT_DEVICE];
} SavedProfile;

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

#endif
