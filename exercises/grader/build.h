// build.h -- a student's file becomes a worker: compiled, its calls looked at, linked with the
// exercise's side of the wall, all of it confined in a private folder. Not here: running it.
#ifndef EXERCISES_GRADER_BUILD_H
#define EXERCISES_GRADER_BUILD_H

#include <stdbool.h>

#include "exercises/course/exercise.h"
#include "exercises/grader/room.h"

// What `make lab-parts` leaves in a folder, build/lab: tools (the paths of compiler and objcopy, a
// line each), include/ (all of ours that a student may include), and worker/exNN_name.o (an
// exercise's side: worker.c, its call file, an engine that cannot count).
typedef struct BuildOrder {
    const char *parts; // that folder
    const Exercise *exercise;
    const char *folder;      // of the student's files
    const char *const *shut; // what no program may be able to read (confine.h)
    bool sanitize;           // with AddressSanitizer
    bool debug;              // names stay in it, for a debugger
    bool any_name;           // calls are not looked at: for the grader's own tests
    unsigned without;        // layers of confinement to leave out
} BuildOrder;

typedef enum BuildEnd {
    BUILD_DONE,
    BUILD_NO_FILE,
    BUILD_FAILED,    // to compile or to link
    BUILD_FORBIDDEN, // detail says what
    BUILD_MACHINE,   // the machine could not: no fault of the student's
} BuildEnd;

#define BUILD_WORKER "./worker" // the program, in the room
#define BUILD_CONTROL "./control"

typedef struct Build {
    BuildEnd end;
    Room room;
    char detail[CASE_LINE];        // cleaned
    char note[CASE_LINE];          // what the student may want to know all the same; ""
    char *output;                  // of compiler and linker, cleaned and cut, owned; NULL: none
    int lines[EXERCISE_FUNCTIONS]; // where each is in the student's file; 0: not found
} Build;

// STATUS_OK whatever the student's file is, and whatever the machine lacks; STATUS_OUT_OF_MEMORY.
// Free it in any case.
Status build_make(const BuildOrder *order, Build *build);
// The same program without a student's function, for who wants to know whose fault it is that a
// worker does not get so far as to call it. False: it could not be made, build->detail says why.
bool build_control(const BuildOrder *order, Build *build);
void build_free(Build *build);

#endif
