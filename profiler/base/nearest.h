// nearest.h -- internal: which of some names was meant by one that is none of them.
#ifndef PROFILER_BASE_NEAREST_H
#define PROFILER_BASE_NEAREST_H

// Asks for names by their places, from 0 on until NULL. Returns the one that takes the fewest
// letters to change, add or leave out: three at most, and of a name with another first letter less
// than half. NULL: there is none so near, or no name.
//
//     const char *meant = nearest_name("batsh", flag_name, options);
const char *nearest_name(const char *name, const char *(*at)(const void *holder, int i),
                         const void *holder);

#endif
