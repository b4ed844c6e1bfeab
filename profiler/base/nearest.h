// nearest.h -- internal: finds the known name that a misspelled name most likely means.
#ifndef PROFILER_BASE_NEAREST_H
#define PROFILER_BASE_NEAREST_H

// Asks for names by index, from 0 until NULL. Returns the name with the smallest edit distance
// (letters changed, added or left out): at most three, and less than half of its letters if the
// first letter differs. NULL: no name is that near, or `name` is NULL.
//
//     const char *meant = nearest_name("batsh", flag_name, options);
const char *nearest_name(const char *name, const char *(*at)(const void *holder, int i),
                         const void *holder);

#endif
