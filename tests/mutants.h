// mutants.h -- known mistakes as edits of a solution. A file of them:
//
//     == batch_multiplied                          the mistake's name
//     -    return 2 * rows * in * out;             whole lines that occur once in the solution
//     +    return 2 * batch * rows * in * out;     what stands there instead
//
// with several edits a mutant, and comments in lines that begin with #.
#ifndef TESTS_MUTANTS_H
#define TESTS_MUTANTS_H

#include <stdbool.h>

typedef struct Mutant {
    char name[32];
    char *source; // the solution with the edits made; owned
} Mutant;

// Reads the mutant at *at, or the first one after it, and goes on behind it. False: there is none.
// Fails the test where an edit does not fit the solution.
bool mutants_next(char **at, const char *solution, Mutant *mutant);

char *mutants_read_file(const char *path); // whole, up to 64 KiB, owned; fails the test without it

#endif
