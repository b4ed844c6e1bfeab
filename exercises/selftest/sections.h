// sections.h -- a text of several sections, the form of mutants, hostile files and further styles
// of solutions:
//
//     == loop: never ends [timed_out, timed_out, timed_out]
//     its lines, up to the next line that begins so
//
// The words after the colon and in brackets are optional; text before the first section is ignored.
#ifndef EXERCISES_SELFTEST_SECTIONS_H
#define EXERCISES_SELFTEST_SECTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "tensor/status.h"

enum { SECTION_NAME = 64, SECTION_WORDS = 160 };

typedef struct Section {
    char name[SECTION_NAME];   // "loop"
    char about[SECTION_WORDS]; // "never ends", "": none
    char mark[SECTION_WORDS];  // the text in brackets, "": none
    const char *body;          // points into the text
    size_t length;
} Section;

// Finds the section at *at, or the first one after it, and moves *at behind it. False: none left.
bool section_next(const char **at, Section *section);

// ---- mutants -----------------------------------------------------------------------------------
// Mistakes as edits of a solution:
//
//     == batch_multiplied [3]                      name, and the header's clause that it breaks
//     -    return 2 * rows * in * out;             whole lines that occur once in the solution
//     +    return 2 * batch * rows * in * out;     their replacement
//
// A mutant may have several edits; lines that begin with # are comments. A mutant with the name of
// a known mistake must get that mistake's hint; any other must only lose points.
enum { MUTANT_NAME = 64 };

typedef struct Mutant {
    char name[MUTANT_NAME];
    int clause;   // 0: no clause
    char *source; // the solution after the edits, owned
} Mutant;

// Reads the mutant at *at, or the first one after it, and moves *at behind it; *found is false if
// none is left. STATUS_FORMAT: an edit does not fit the solution.
Status mutant_next(const char **at, const char *solution, Mutant *mutant, bool *found);

#endif
