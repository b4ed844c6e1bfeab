// build.h -- a student's file becomes a worker: compiled (compile.h), then linked, contained, with
// the exercise's side of the wall. Not here: running it.
#ifndef EXERCISES_GRADER_BUILD_H
#define EXERCISES_GRADER_BUILD_H

#include <stdbool.h>

#include "exercises/grader/exercise.h"
#include "exercises/grader/toolchain.h"

typedef struct BuildOrder {
    const Toolchain *toolchain;
    const Exercise *exercise;
    const char *folder; // of the student's files
    bool sanitize;
    unsigned without; // layers of containment to leave out, and
    bool any_symbol;  // no list of symbols: both for the grader's own tests
} BuildOrder;

typedef enum BuildEnd {
    BUILD_DONE,
    BUILD_NO_FILE,
    BUILD_FAILED,    // to compile or to link
    BUILD_FORBIDDEN, // detail says what
    BUILD_NO_WORKER, // the toolchain has none for this exercise
} BuildEnd;

typedef struct Build {
    BuildEnd end;
    char directory[512]; // private; "": none
    char worker[544];    // the program, in it
    char detail[CASE_LINE];
    char *output; // of compiler and linker, cleaned and cut, owned; NULL: none
    int line;     // where the function is in the student's file; 0: not found
    double compile_seconds, link_seconds;
} Build;

// STATUS_OK whatever the student's file is; free it in any case.
Status build_make(const BuildOrder *order, Build *build);
void build_free(Build *build);

#endif
