// grade.h -- grades files of a student: compiles each exercise, runs its cases in a worker,
// compares values, recognises mistakes. Not here: how a result is shown (screen.h) or written
// (formats.h); these only read it.
#ifndef EXERCISES_GRADER_GRADE_H
#define EXERCISES_GRADER_GRADE_H

#include "exercises/course/exercise.h"
#include "exercises/grader/confine.h"

// Name, word in reports and result.json, what a student reads after it.
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
    int run;        // the first that went wrong, else 0
    CaseRun *asked; // that run, owned; NULL where nothing was run
    bool sealed;    // the answer is nobody's to know; `asked` does not hold it either
    int value;      // which value is wrong; -1: the status
    Value got;
    Status status;          // returned
    const char *mistake;    // name of the misconception that leads to this value; NULL: unknown
    char detail[CASE_LINE]; // "signal 11 (Segmentation fault)", "symbol system", cleaned
    char *output;           // what the student's code printed, cleaned and cut, owned; or NULL
} CaseResult;

typedef struct ExerciseResult {
    const Exercise *exercise;
    CaseResult *cases; // owned: all of the exercise's, or the one that was asked for
    int n_cases;
    int points, most_points;       // of these cases
    int lines[EXERCISE_FUNCTIONS]; // where each is in the student's file; 0: not found
    char *compiler;                // what the compiler said, cleaned and cut, owned; NULL: nothing
    char note[CASE_LINE];          // what the student may want to know about the file; ""
    double seconds;
} ExerciseResult;

typedef struct GradeResult {
    char student[64];
    uint64_t seed;
    unsigned layers;           // of confinement that were active in every run
    bool disposable;           // strangers' code ran without what keeps it from files
    bool machine_failed;       // in some case: then there are no points, and it is graded again
    ExerciseResult *exercises; // owned
    int n_exercises;
    int points, most_points; // without stretch
    int stretch_points;
    int passed, failed; // cases
    double seconds;
} GradeResult;

typedef struct GradeOptions {
    const Exercise *const *exercises; // NULL: all that there are
    int n_exercises;
    const char *folder; // of the student's files
    const char *parts;  // build/lab: what student code is built with (build.h)
    DrawKey key;
    const char *handed_key;    // that the submission names; NULL: none. Another's scores nothing
    const char *only_exercise; // number; NULL: all
    const char *only_case;     // NULL: all
    int seeds;                 // asks every case of code with so many, from key.seed on; 0: one
    int fuzz;                  // further random runs of each case, where any differ
    bool sanitize;             // --asan: student's object and worker with AddressSanitizer
    const char *secret_file;   // that no program may read; NULL: none
    bool own;                  // the files are of whoever runs this: never refused
    bool disposable;           // the machine is for this one submission: not refused either
    unsigned without;          // ConfineLayer bits to leave out, and
    bool any_name;             // calls are not looked at: both for the grader's own tests
    void (*progress)(void *argument, const ExerciseResult *done); // NULL: none
    void *argument;
} GradeOptions;

// STATUS_OK also for a submission that is worth nothing. STATUS_STATE: this machine cannot keep
// strangers' code from files and system calls (neither `own` nor `disposable`), or it was called
// off (confine_hold). *result is the caller's; grade_free, also after a failure.
Status grade(const GradeOptions *options, GradeResult *result);
// The same without looking at the submission: every case failed by the grader, no points. Written
// before a grade, it is what remains of a grader that dies.
Status grade_nothing(const GradeOptions *options, GradeResult *result);
void grade_free(GradeResult *result);

#endif
