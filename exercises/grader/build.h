// build.h -- builds a worker from a student's file: compiles it, checks its calls, and links it
// with the exercise's side, all confined in a private folder. Running the worker is elsewhere.
#ifndef EXERCISES_GRADER_BUILD_H
#define EXERCISES_GRADER_BUILD_H

#include <stdbool.h>

#include "exercises/course/exercise.h"
#include "exercises/grader/room.h"

// The folder build/lab, made by `make lab-parts`, contains tools (the paths of compiler and
// objcopy, a line each), include/ (our headers that a student may include), and worker/exNN_name.o
// (an exercise's side: worker.c, its call file, an engine that cannot count).
typedef struct BuildOrder {
    const char *parts; // path of build/lab
    const Exercise *exercise;
    const char *folder;      // folder of the student's files
    const char *const *shut; // paths that no program may read (confine.h)
    bool sanitize;           // build with AddressSanitizer
    bool debug;              // keep symbol names, for a debugger
    bool any_name;           // do not check calls: for the grader's own tests
    unsigned without;        // layers of confinement to leave out
} BuildOrder;

typedef enum BuildEnd {
    BUILD_DONE,
    BUILD_NO_FILE,
    BUILD_FAILED,    // compiling or linking failed
    BUILD_FORBIDDEN, // a call is not allowed; `detail` names it
    BUILD_MACHINE,   // the machine failed: not the student's fault
} BuildEnd;

#define BUILD_WORKER "./worker" // the program, in the room
#define BUILD_CONTROL "./control"

typedef struct Build {
    BuildEnd end;
    Room room;
    char detail[CASE_LINE]; // cleaned
    char note[CASE_LINE];   // a remark for the student, even on success; "": none
    char *output;           // output of compiler and linker, cleaned and cut, owned; NULL: none
    int lines[EXERCISE_FUNCTIONS]; // line of each function in the student's file; 0: not found
} Build;

// STATUS_OK whatever is wrong with the student's file or the machine; STATUS_OUT_OF_MEMORY. Free
// the build in any case.
Status build_make(const BuildOrder *order, Build *build);
// Builds the program without a student's function, to find out whose fault it is when a worker does
// not get to the call of that function. False: the build failed, build->detail says why.
bool build_control(const BuildOrder *order, Build *build);
void build_free(Build *build);

#endif
