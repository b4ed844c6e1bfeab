// sections.h -- a text of several parts, as mutants, hostile files and further styles of solutions
// are kept:
//
//     == loop: never ends [timed_out, timed_out, timed_out]
//     its lines, up to the next line that begins so
//
// The words after the colon and those in brackets may be missing; what is before the first is no
// part.
#ifndef EXERCISES_SELFTEST_SECTIONS_H
#define EXERCISES_SELFTEST_SECTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "tensor/status.h"

enum { SECTION_NAME = 64, SECTION_WORDS = 160 };

typedef struct Section {
    char name[SECTION_NAME];   // "loop"
    char about[SECTION_WORDS]; // "never ends", "": nothing is said
    char mark[SECTION_WORDS];  // what the brackets hold, "": there are none
    const char *body;          // within the text
    size_t length;
} Section;

// The section at *at, or the first one behind it; *at moves behind that. False: there is none.
bool section_next(const char **at, Section *section);

// ---- mutants -----------------------------------------------------------------------------------
// Mistakes as edits of a solution:
//
//     == batch_multiplied [3]                      its name, and the header's clause that it breaks
//     -    return 2 * rows * in * out;             whole lines that occur once in the solution
//     +    return 2 * batch * rows * in * out;     what stands there instead
//
// with several edits a mutant, and comments in lines that begin with #. A name that is a known
// mistake's has to get its hint; any other only has to lose points.
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
