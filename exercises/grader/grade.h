// grade.h -- grades a student's files: compiles each exercise, runs its cases in a worker, compares
// values, recognises mistakes. screen.h shows a result and formats.h writes it; both only read it.
#ifndef EXERCISES_GRADER_GRADE_H
#define EXERCISES_GRADER_GRADE_H

#include "exercises/course/exercise.h"
#include "exercises/grader/confine.h"

// Each state: name, word in reports and result.json, explanation for the student.
#define CASE_STATE_LIST(X)                                                                         \
    X(PASSED, "passed", "")                                                                        \
    X(WRONG, "wrong", "the value is wrong")                                                        \
    X(NOT_IMPLEMENTED, "not_implemented", "the function still returns STATUS_NOT_IMPLEMENTED")     \
    X(NOT_COMPILED, "not_compiled", "the file does not compile")                                   \
    X(FORBIDDEN, "forbidden", "the file uses what this exercise does not allow")                   \
    X(CRASHED, "crashed", "the program was ended by a signal")                                     \
    X(TIMED_OUT, "timed_out", "the program did not end in time")                                   \
    X(EXITED, "exited", "the program ended before it returned from the function")                  \
    X(FLOODED, "flooded", "the program wrote more than it may")                                    \
    X(OUT_OF_MEMORY, "out_of_memory", "the program asked for more memory than it may")             \
    X(FORGED, "forged", "the values did not come from the grader's own frames")                    \
    X(WITHHELD, "withheld", "right, but counts only together with another case")                   \
    X(MISSING, "missing", "there is no such file or answer")                                       \
    X(PRACTICE, "practice", "right, with practice numbers, which do not score")                    \
    X(OTHER_KEY, "other_key", "handed in with the key of somebody else")                           \
    X(GRADER_FAILED, "grader_failed", "the grader itself failed here; no fault of yours")
typedef enum CaseState {
#define CASE_STATE_ENUM(name, word, text) CASE_##name,
    CASE_STATE_LIST(CASE_STATE_ENUM)
#undef CASE_STATE_ENUM
        CASE_STATE_COUNT
} CaseState;
const char *case_state_word(CaseState state);
const char *case_state_text(CaseState state);

typedef struct CaseResult {
    const ExerciseCase *definition;
    CaseState state;
    int points;
    int run;        // index of the first wrong run, else 0
    CaseRun *asked; // that run, owned; NULL: nothing ran
    bool sealed;    // the answer is secret, and `asked` does not hold it either
    int value;      // index of the wrong value; -1: the status
    Value got;
    Status status;          // status that the function returned
    const char *mistake;    // name of the misconception that leads to this value; NULL: unknown
    char detail[CASE_LINE]; // "signal 11 (Segmentation fault)", "symbol system", cleaned
    char *output;           // output of the student's code, cleaned and cut, owned; or NULL
} CaseResult;

typedef struct ExerciseResult {
    const Exercise *exercise;
    CaseResult *cases; // owned: all cases of the exercise, or the requested one
    int n_cases;
    int points, most_points;       // sums over these cases
    int lines[EXERCISE_FUNCTIONS]; // line of each function in the student's file; 0: not found
    char *compiler;                // output of the compiler, cleaned and cut, owned; NULL: none
    char note[CASE_LINE];          // a remark for the student about the file; "": none
    double seconds;
} ExerciseResult;

typedef struct GradeResult {
    char student[64];
    uint64_t seed;
    unsigned layers;           // confinement layers that were active in every run
    bool disposable;           // strangers' code ran without protection of files
    bool machine_failed;       // in at least one case: no points, and the grade has to be repeated
    ExerciseResult *exercises; // owned
    int n_exercises;
    int points, most_points; // without stretch exercises
    int stretch_points;
    int passed, failed; // numbers of cases
    double seconds;
} GradeResult;

typedef struct GradeOptions {
    const Exercise *const *exercises; // NULL: all exercises
    int n_exercises;
    const char *folder; // folder of the student's files
    const char *parts;  // build/lab, the parts for building student code (build.h)
    DrawKey key;
    const char *handed_key; // key named in the submission; NULL: none. Another student's scores 0
    const char *only_exercise; // number; NULL: all
    const char *only_case;     // NULL: all
    int seeds;                 // number of seeds for each case of code, from key.seed on; 0: one
    int fuzz;                  // further random runs of each case that has random runs
    bool sanitize;             // --asan: student's object and worker with AddressSanitizer
    const char *secret_file;   // file that no program may read; NULL: none
    bool own;                  // the files belong to the user, so they are never refused
    bool disposable;           // the machine is for this one submission: not refused either
    unsigned without;          // for the grader's own tests: ConfineLayer bits to leave out
    bool any_name;             // for the grader's own tests: do not check calls
    void (*progress)(void *argument, const ExerciseResult *done); // NULL: none
    void *argument;
} GradeOptions;

// STATUS_OK also for a submission that is worth nothing. STATUS_STATE: this machine cannot keep
// strangers' code from files and system calls (without `own` and `disposable`), or a signal came
// (confine_hold). The caller frees *result with grade_free, also after a failure.
Status grade(const GradeOptions *options, GradeResult *result);
// Makes a result without looking at the submission: the grader failed in every case, no points.
// Written before a grade, it remains if the grader dies.
Status grade_nothing(const GradeOptions *options, GradeResult *result);
void grade_free(GradeResult *result);

#endif
