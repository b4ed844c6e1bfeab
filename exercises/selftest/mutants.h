// mutants.h -- mistakes as edits of a solution. A file of them (sections.h):
//
//     == batch_multiplied [3]                      its name, and the header's clause that it breaks
//     -    return 2 * rows * in * out;             whole lines that occur once in the solution
//     +    return 2 * batch * rows * in * out;     what stands there instead
//
// with several edits a mutant, and comments in lines that begin with #. A name that is a known
// mistake's has to get its hint; any other only has to lose points.
#ifndef EXERCISES_SELFTEST_MUTANTS_H
#define EXERCISES_SELFTEST_MUTANTS_H

#include <stdbool.h>

#include "tensor/status.h"

enum { MUTANT_NAME = 64 };

typedef struct Mutant {
    char name[MUTANT_NAME];
    int clause;   // 0: none is named
    char *source; // the solution with the edits made, owned
} Mutant;

// Reads the mutant at *at, or the first one behind it, and moves *at behind it; *found is false
// where there is none. STATUS_FORMAT where an edit does not fit the solution.
Status mutant_next(const char **at, const char *solution, Mutant *mutant, bool *found);

#endif
