// exercise.h -- an exercise: its cases, the values that each expects, and the wrong values that
// known mistakes produce. Student code runs in a worker (worker.h) that sends values and nothing
// else. Only the grader knows the expected values, which come from the library's own counts.
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

// Values taken from the grader's own record of a run instead of from the student's function: a
// worker asks for every reading of a clock, and reports all timed actions (course/scene.h).
typedef enum Recorded {
    RECORDED_NOTHING,                // not recorded: the function sends the value
    RECORDED_WORKS,                  // number of runs of the work
    RECORDED_RUNS_TIMED,             // most runs of the work between two clock readings
    RECORDED_READINGS,               // number of clock readings
    RECORDED_LAUNCHES,               // number of kernel launches
    RECORDED_WARM_UP_AWAITED,        // 1: waited for the first launches before more
    RECORDED_QUEUE_ORDER,            // order of the queue at the last wait: MockOrder
    RECORDED_EVENTS_LEFT,            // events that were not freed
    RECORDED_EVENT_MISUSES,          // uses of events that are not live, such as freeing twice
    RECORDED_FORWARDS,               // forward passes of the whole model
    RECORDED_ROWS,                   // forward passes of a layer within the model
    RECORDED_BACKWARDS,              // backward passes
    RECORDED_BACKWARDS_UNZEROED,     // backward passes without zero_grad since the previous one
    RECORDED_STEPS_WITHOUT_BACKWARD, // optimizer steps without a backward pass since zero_grad
    RECORDED_COUNT
} Recorded;

typedef struct ExpectedValue {
    char name[CASE_NAME]; // "bytes_read"; "" where the function has one result
    ValueKind kind;
    Value value;
    double tolerance;         // relative tolerance of a real; 0: equal to the bit
    const char *const *words; // VALUE_WORD: words by value, NULL at the end
    Recorded recorded;        // an integer or word from the record, which no worker sends
} ExpectedValue;

// True if two values are the same by the kind and the tolerance of the expectation.
bool value_same(const ExpectedValue *expected, Value got, Value wanted);

// A common mistake, and the wrong value that it leads to here. The name is also that of its page in
// pages/. Within a run all wrong values of one value differ from each other and from the right
// value; run_check verifies this.
typedef struct Mistake {
    const char *name; // "batch_multiplied"
    int value;        // index of the expected value that it changes; -1: the status
    Value wrong;      // where `value` is -1, `integer` is the status
} Mistake;

// ---- a case ------------------------------------------------------------------------------------
typedef struct CaseRun {       // one call of the student's function
    char input[2 * CASE_LINE]; // one line for the worker
    char scene[2 * CASE_LINE]; // data for the grader alone: clock, work, device, times
    char shown[CASE_LINE];     // text for the student: "Linear(512 -> 512, bias)   batch 64"
    char asked[CASE_LINE];     // "FLOPs for ONE sample"
    char formula[CASE_LINE];   // "2 * in * out = 2 * 512 * 512"
    Status status; // the status that the function shall return; if not OK, only the record counts
    ExpectedValue values[CASE_MOST_VALUES];
    int n_values;
    Mistake mistakes[CASE_MOST_MISTAKES];
    int n_mistakes;
    const char *beside; // while the run is made: text of the file ExerciseCase.beside
} CaseRun;

void run_expect_integer(CaseRun *run, const char *name, int64_t value);
void run_expect_real(CaseRun *run, const char *name, double value, double tolerance);
void run_expect_word(CaseRun *run, const char *name, int value, const char *const *words);
void run_expect_recorded(CaseRun *run, const char *name, Recorded what, int64_t value);
void run_recorded_words(CaseRun *run, const char *const *words); // makes the last value a word
// Add a mistake about the value expected last.
void run_mistake_integer(CaseRun *run, const char *name, int64_t wrong);
void run_mistake_real(CaseRun *run, const char *name, double wrong);
void run_mistake_status(CaseRun *run, const char *name, Status wrong);
// Tells what is wrong with a run; NULL: nothing. run_mistake_* already leave out a mistake whose
// wrong value is right here, or is the wrong value of an earlier mistake.
const char *run_check(const CaseRun *run);

// Random numbers that depend only on course secret, student, exercise, case and run. For answers in
// a text file they depend on the token of the student's key (key.h) instead of the secret.
typedef struct Draw {
    uint64_t state[2];
    int run;            // 0, 1, ... within the case
    bool practice;      // no student and seed 0: questions ask for the numbers of the course's page
    const char *beside; // text of the case's file ExerciseCase.beside, cleaned; NULL: none
    const char *token;  // token of the student's key; "" for practice
} Draw;
int64_t draw_between(Draw *draw, int64_t least, int64_t most); // both included
double draw_real(Draw *draw, double least, double most);

typedef struct ExerciseCase {
    const char *name;    // "linear_512_b64"; the topic of a hidden case
    int points;          // all or none; the points of all cases add up to the exercise's
    int runs;            // number of runs with random inputs, at least 1; all must be right
    bool hidden;         // a student sees its kind and the misconception, not input or answer
    const char *clauses; // clauses of the header's contract that this case tests: "1 4"
    const char *needs;   // a case that must pass too, because a stub passes this one; or NULL
    const char *by_hand; // key in by_hand.txt of a question without code; or NULL
    const char *beside;  // another file of the student's that `make` reads: "sweep.csv"; or NULL
    int function;        // index of the exercise's function that the case calls
    Status (*make)(Draw *draw, CaseRun *run);
} ExerciseCase;

// ---- an exercise -------------------------------------------------------------------------------
typedef struct Exercise {
    const char *number;   // "02"
    const char *name;     // "count_flops": its file is ex02_count_flops.c
    const char *function; // functions that the worker calls, with blanks between: "count_flops"
    const char *title;    // "Count the FLOPs of a model"
    int minutes, points;  // set only here: `make exercise-tables` copies them into the pages
    bool short_track;     // part of the track of five hours
    bool stretch;         // its points come on top of the hundred
    // The text file that students write instead of code ("answers.txt"), or NULL. A case then asks
    // for the key by_hand, or, without such a key, for each of its values under the value's name.
    const char *answers;
    const ExerciseCase *cases;
    int n_cases;
} Exercise;

// Stores the name of the exercise's function `index`; false if there are fewer functions.
enum { EXERCISE_FUNCTIONS = 8, FUNCTION_NAME = 128 };
bool exercise_function(const Exercise *exercise, int index, char name[FUNCTION_NAME]);

// Every exercise, one line each. Each has the files exNN_name.{h,c} (contract, skeleton),
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

// All exercises, in the order of the list.
extern const Exercise *const exercises[];
extern const int exercise_count;
// Finds one in `list` by "2", "02", "ex02", "count_flops" or "ex02_count_flops"; NULL: none.
const Exercise *exercise_find(const Exercise *const list[], int count, const char *number);
const Exercise *exercise_by_number(const char *number); // among `exercises`

typedef struct DrawKey { // selects the random numbers of a run
    const char *secret;  // the course's secret; "" for practice
    const char *student; // "" for practice
    uint64_t seed;       // for practice, --seed; 0 for a grade
    const char *token;   // token of the student's key; NULL: made from secret and student
} DrawKey;
// Begins the random numbers: the same for the same key, exercise, case and run, else unrelated.
Draw draw_begin(DrawKey key, const char *exercise, const char *case_name, int run);

// True if the case is answered in a text file: no code runs, and the key decides its numbers.
bool case_is_text(const Exercise *exercise, const ExerciseCase *definition);
// True if nobody may see the answer, because the case scores and students may retry. Questions by
// hand do not score in practice; cases without points never score.
bool case_is_sealed(const Exercise *exercise, const ExerciseCase *definition, const char *student);
// Makes run `index` of a case for a student: fills in expected values and mistakes, and run_check
// finds nothing wrong. `beside` is the text of the file ExerciseCase.beside; NULL: none.
Status exercise_run_make(const Exercise *exercise, const ExerciseCase *definition, DrawKey key,
                         int index, const char *beside, CaseRun *run);

#endif
