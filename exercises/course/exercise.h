// exercise.h -- what an exercise is: its cases, what each expects, and the wrong values that known
// mistakes produce. Student code runs in a worker (worker.h) that sends values and nothing else;
// what is expected is known to the grader alone, and comes from the library's own counts.
#ifndef EXERCISES_COURSE_EXERCISE_H
#define EXERCISES_COURSE_EXERCISE_H

#include <stdbool.h>
#include <stdint.h>

#include "tensor/status.h"

enum { CASE_MOST_VALUES = 96, CASE_MOST_MISTAKES = 128, CASE_NAME = 32, CASE_LINE = 200 };

// ---- a value -----------------------------------------------------------------------------------
typedef enum ValueKind {
    VALUE_INTEGER, // a count: equal to the integer
    VALUE_REAL,    // seconds, ratios: equal within the tolerance; NaN equals NaN only
    VALUE_WORD,    // an enum of the exercise: equal; shown as its word
} ValueKind;

typedef union Value {
    int64_t integer; // VALUE_INTEGER, VALUE_WORD
    double real;
} Value;

// What the grader's own record of a run tells, rather than the student's function: a worker asks
// for every reading of a clock, and tells whatever it does that takes time (course/scene.h).
typedef enum Recorded {
    RECORDED_NOTHING,                // the function says it
    RECORDED_WORKS,                  // how often the work ran
    RECORDED_RUNS_TIMED,             // of the work between two readings of a clock, at most
    RECORDED_READINGS,               // of a clock
    RECORDED_LAUNCHES,               // of kernels
    RECORDED_WARM_UP_AWAITED,        // 1: what was launched first was awaited before more was
    RECORDED_QUEUE_ORDER,            // of what the last wait was for: mock_queue.h
    RECORDED_EVENTS_LEFT,            // that were not freed
    RECORDED_EVENT_MISUSES,          // of events that are not live: freed twice
    RECORDED_FORWARDS,               // of the whole model
    RECORDED_ROWS,                   // forwards of a layer within it
    RECORDED_BACKWARDS,              //
    RECORDED_BACKWARDS_UNZEROED,     // without zero_grad between the one before and the forward
    RECORDED_STEPS_WITHOUT_BACKWARD, // of the optimizer, since zero_grad
    RECORDED_COUNT
} Recorded;

typedef struct ExpectedValue {
    char name[CASE_NAME]; // "bytes_read"; "" where the function has one result
    ValueKind kind;
    Value value;
    double tolerance;         // relative, of a real; 0: to the bit
    const char *const *words; // VALUE_WORD: by value, NULL at the end
    Recorded recorded;        // an integer or word of the record, which no worker sends
} ExpectedValue;

// Whether two values are the same to this expectation: its kind and its tolerance.
bool value_same(const ExpectedValue *expected, Value got, Value wanted);

// A mistake that people make, and the value it leads to here. Its name is that of its page in
// pages/. Within a run all wrong values of one value differ from each other and from the truth;
// run_check says so.
typedef struct Mistake {
    const char *name; // "batch_multiplied"
    int value;        // which expected value it changes; -1: the status
    Value wrong;      // for -1: integer is the status
} Mistake;

// ---- a case ------------------------------------------------------------------------------------
typedef struct CaseRun {       // one call of the student's function
    char input[2 * CASE_LINE]; // what the worker is told, one line
    char scene[2 * CASE_LINE]; // what the grader alone knows: clock, work, device, times
    char shown[CASE_LINE];     // what a student is told: "Linear(512 -> 512, bias)   batch 64"
    char asked[CASE_LINE];     // "FLOPs for ONE sample"
    char formula[CASE_LINE];   // "2 * in * out = 2 * 512 * 512"
    Status status;             // that the function shall return; if not OK, only the record counts
    ExpectedValue values[CASE_MOST_VALUES];
    int n_values;
    Mistake mistakes[CASE_MOST_MISTAKES];
    int n_mistakes;
    const char *beside; // while it is made: text of the file that ExerciseCase.beside names
} CaseRun;

void run_expect_integer(CaseRun *run, const char *name, int64_t value);
void run_expect_real(CaseRun *run, const char *name, double value, double tolerance);
void run_expect_word(CaseRun *run, const char *name, int value, const char *const *words);
void run_expect_recorded(CaseRun *run, const char *name, Recorded what, int64_t value);
void run_recorded_words(CaseRun *run, const char *const *words); // what was just expected: a word
// Of the value expected last.
void run_mistake_integer(CaseRun *run, const char *name, int64_t wrong);
void run_mistake_real(CaseRun *run, const char *name, double wrong);
void run_mistake_status(CaseRun *run, const char *name, Status wrong);
// A mistake whose wrong value happens to be right here, or that of an earlier mistake, is left out
// by run_mistake_*; this tells what else is wrong with a run, NULL: nothing.
const char *run_check(const CaseRun *run);

// Numbers that depend on course secret, student, exercise, case and run, and on nothing else; where
// answers stand in a text file, on the token of the student's key (key.h) instead of the secret.
typedef struct Draw {
    uint64_t state[2];
    int run;       // 0, 1, ... within the case
    bool practice; // of no student, with seed 0: questions ask the numbers of the course's page
    const char *beside; // text of the case's file beside, cleaned; NULL: there is none
    const char *token;  // of the student's key; "" for practice
} Draw;
int64_t draw_between(Draw *draw, int64_t least, int64_t most); // both included
double draw_real(Draw *draw, double least, double most);

typedef struct ExerciseCase {
    const char *name;    // "linear_512_b64"; of a hidden one what it is about
    int points;          // all or none; those of an exercise add up to its own
    int runs;            // at least 1: random inputs; all have to be right
    bool hidden;         // a student sees its kind and the misconception, not input or answer
    const char *clauses; // of the header's contract, that this case stands for: "1 4"
    const char *needs;   // the case that must pass too, where a stub's answer is right; or NULL
    const char *by_hand; // asked in by_hand.txt under this key, no code is run; or NULL
    const char *beside;  // another file of the student's that `make` reads: "sweep.csv"; or NULL
    int function;        // the index of the exercise's function that it calls
    Status (*make)(Draw *draw, CaseRun *run);
} ExerciseCase;

// ---- an exercise -------------------------------------------------------------------------------
typedef struct Exercise {
    const char *number;   // "02"
    const char *name;     // "count_flops": its file is ex02_count_flops.c
    const char *function; // what the worker calls, "count_flops"; several with blanks between
    const char *title;    // "Count the FLOPs of a model"
    int minutes, points;  // the only place: `make exercise-tables` puts them into the pages
    bool short_track;     // of five hours
    bool stretch;         // its points are beyond the hundred
    // A text file is asked for instead of code ("answers.txt"), or NULL. A case then asks for the
    // key by_hand, or, without one, for each of its values under the value's name.
    const char *answers;
    const ExerciseCase *cases;
    int n_cases;
} Exercise;

// The name of function `index` that the worker calls; false where there are fewer.
enum { EXERCISE_FUNCTIONS = 8, FUNCTION_NAME = 128 };
bool exercise_function(const Exercise *exercise, int index, char name[FUNCTION_NAME]);

// Every exercise, one line each. Of each there are exNN_name.{h,c} (contract, skeleton),
// course/exNN_name_{cases,call}.c, pages/exNN.md, solutions/exNN_name.c and mutants/exNN_name.txt.
#define EXERCISE_LIST(X)                                                                           \
    X(00, predict)                                                                                 \
    X(01, count_parameters)                                                                        \
    X(02, count_flops)                                                                             \
    X(03, count_bytes)                                                                             \
    X(04, roofline)                                                                                \
    X(05, clock)                                                                                   \
    X(06, measure_latency)                                                                         \
    X(07, time_device)                                                                             \
    X(08, memory)                                                                                  \
    X(09, profile_forward_pass)                                                                    \
    X(10, profile_backward_pass)                                                                   \
    X(11, investigate)                                                                             \
    X(16, mystery)

// In the order of the list.
extern const Exercise *const exercises[];
extern const int exercise_count;
// Among `list` (as `exercises`) by "2", "02", "ex02", "count_flops" or "ex02_count_flops"; or NULL.
const Exercise *exercise_find(const Exercise *const list[], int count, const char *number);
const Exercise *exercise_by_number(const char *number); // among `exercises`

typedef struct DrawKey { // whose numbers a run has
    const char *secret;  // of the course; "" for practice
    const char *student; // "" for practice
    uint64_t seed;       // for practice, --seed; 0 for a grade
    const char *token;   // of the student's key; NULL: made of secret and student, as a course does
} DrawKey;
// Where they begin: the same for the same key, exercise, case and run; else unrelated.
Draw draw_begin(DrawKey key, const char *exercise, const char *case_name, int run);

// The run `index` of a case, for a student: expected values and mistakes are filled in, and
// run_check has nothing to say. `beside` is the text of the case's file beside; NULL: none.
// Whether the case is answered in a text file: no code is run, and its numbers are the key's.
bool case_is_text(const Exercise *exercise, const ExerciseCase *definition);
// Whether nobody is told what the answer is: it scores, and one answer may be tried after another.
// Questions by hand of practice do not score; what has no points, neither.
bool case_is_sealed(const Exercise *exercise, const ExerciseCase *definition, const char *student);
Status exercise_run_make(const Exercise *exercise, const ExerciseCase *definition, DrawKey key,
                         int index, const char *beside, CaseRun *run);

#endif
