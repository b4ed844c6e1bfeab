// exercise.h -- what an exercise is: its cases, what each expects, and the wrong values that known
// mistakes produce. Student code runs in a worker (worker.h) that sends values and nothing else;
// what is expected is known to the grader alone, and comes from the library's own counts.
#ifndef EXERCISES_GRADER_EXERCISE_H
#define EXERCISES_GRADER_EXERCISE_H

#include <stdint.h>

#include "tensor/status.h"

enum { CASE_MOST_VALUES = 96, CASE_MOST_MISTAKES = 48, CASE_NAME = 32, CASE_LINE = 200 };

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

typedef struct ExpectedValue {
    char name[CASE_NAME]; // "bytes_read"; "" where the function has one result
    ValueKind kind;
    Value value;
    double tolerance;         // relative, of a real; 0: to the bit
    const char *const *words; // VALUE_WORD: by value, NULL at the end
} ExpectedValue;

// A mistake that people make, and the value it leads to here. Its name is that of its page in
// explain/ and of its line in misconceptions.h. Within a run all wrong values of one value differ
// from each other and from the truth; run_check says so.
typedef struct Mistake {
    const char *name; // "batch_multiplied"
    int value;        // which expected value it changes; -1: the status
    Value wrong;      // for -1: integer is the status
} Mistake;

// ---- a case ------------------------------------------------------------------------------------
typedef struct CaseRun {       // one call of the student's function
    char input[2 * CASE_LINE]; // what the worker is told, one line
    char shown[CASE_LINE];     // what a student is told: "Linear(512 -> 512, bias)   batch 64"
    char asked[CASE_LINE];     // "FLOPs for ONE sample"
    char formula[CASE_LINE];   // "2 * in * out = 2 * 512 * 512"
    Status status;             // that the function shall return; values only count with OK
    ExpectedValue values[CASE_MOST_VALUES];
    int n_values;
    Mistake mistakes[CASE_MOST_MISTAKES];
    int n_mistakes;
    const char *beside; // while it is made: text of the file that ExerciseCase.beside names
} CaseRun;

void run_expect_integer(CaseRun *run, const char *name, int64_t value);
void run_expect_real(CaseRun *run, const char *name, double value, double tolerance);
void run_expect_word(CaseRun *run, const char *name, int value, const char *const *words);
// Of the value expected last.
void run_mistake_integer(CaseRun *run, const char *name, int64_t wrong);
void run_mistake_real(CaseRun *run, const char *name, double wrong);
void run_mistake_status(CaseRun *run, const char *name, Status wrong);
// A mistake whose wrong value happens to be right here, or that of an earlier mistake, is left out
// by run_mistake_*; this tells what else is wrong with a run, NULL: nothing.
const char *run_check(const CaseRun *run);

// Numbers that depend on course secret, student, exercise, case and run, and on nothing else.
typedef struct Draw {
    uint64_t state[2];
    int run;       // 0, 1, ... within the case
    bool practice; // of no student, with seed 0: questions ask the numbers of the course's page
    const char *beside; // text of the case's file beside, cleaned; NULL: there is none
} Draw;
int64_t draw_between(Draw *draw, int64_t least, int64_t most); // both included
double draw_real(Draw *draw, double least, double most);

typedef struct ExerciseCase {
    const char *name;    // "linear_512_b64"; of a hidden one what it is about
    int points;          // all or none; those of an exercise add up to its own
    int runs;            // at least 1: random inputs; all have to be right
    bool hidden;         // a student sees its kind and the misconception, not input or answer
    const char *needs;   // the case that must pass too, where a stub's answer is right; or NULL
    const char *by_hand; // asked in by_hand.txt under this key, no code is run; or NULL
    const char *beside;  // another file of the student's that `make` reads: "sweep.csv"; or NULL
    Status (*make)(Draw *draw, CaseRun *run);
} ExerciseCase;

// ---- an exercise -------------------------------------------------------------------------------
typedef struct Exercise {
    const char *number;   // "02"
    const char *name;     // "count_flops": its file is ex02_count_flops.c
    const char *function; // that the worker calls first: "count_flops"
    const char *title;    // "Count the FLOPs of a model"
    int minutes, points;
    bool stretch; // its points are beyond the hundred
    // A text file is asked for instead of code ("answers.txt"), or NULL. A case then asks for the
    // key by_hand, or, without one, for each of its values under the value's name.
    const char *answers;
    // What the student's object may use that it does not define, beside compiler_symbols: names,
    // NULL at the end. A name with a * at its end stands for all that begin so.
    const char *const *symbols;
    const ExerciseCase *cases;
    int n_cases;
} Exercise;

// Every exercise in order; one line each in exercise_list.h.
extern const Exercise *const exercises[];
extern const int exercise_count;
// Among `list` (as `exercises`) by "2", "02", "ex02", "count_flops" or "ex02_count_flops"; or NULL.
const Exercise *exercise_find(const Exercise *const list[], int count, const char *number);
const Exercise *exercise_by_number(const char *number); // among `exercises`

// The run `index` of a case, for a student: expected values and mistakes are filled in, and
// run_check has nothing to say. `beside` is the text of the case's file beside; NULL: none.
typedef struct DrawKey {
    const char *secret;  // of the course; "" for practice
    const char *student; // "" for practice
    uint64_t seed;       // for practice, --seed; 0 for a grade
} DrawKey;
Status exercise_run_make(const Exercise *exercise, const ExerciseCase *definition, DrawKey key,
                         int index, const char *beside, CaseRun *run);

#endif
