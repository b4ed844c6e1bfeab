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

#endif
