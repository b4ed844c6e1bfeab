// instructor.h -- internal to the instructor's program: what its commands share.
#ifndef EXERCISES_INSTRUCTOR_INSTRUCTOR_H
#define EXERCISES_INSTRUCTOR_INSTRUCTOR_H

#include <stdbool.h>

#include "exercises/instructor/submissions.h"
#include "exercises/lab/formats.h"

// What a program ends with: profiler/CONVENTIONS.md, section 6.
enum { INSTRUCTOR_DONE = 0, INSTRUCTOR_FAILED = 1, INSTRUCTOR_USAGE = 2, INSTRUCTOR_FILE = 3 };

typedef struct Orders {
    const char *argument;   // what follows the command: a folder or file
    const char *output;     // folder of the results
    const char *roster;     // file, or NULL
    const char *written;    // file: points of answers in writing, or NULL
    const char *assignment; // its name in a gradebook
    const char *secret;     // file, or NULL: practice numbers
    const char *lab;        // the program that grades one submission
    const char *student;    // of grade: a name, or NULL: practice numbers
    bool again;             // also what is graded already
    bool disposable;        // the machine is for this one submission
} Orders;

int command_grade(const Orders *orders);
int command_grade_all(const Orders *orders);
int command_report(const Orders *orders);
int command_answers(const Orders *orders);
int command_similar(const Orders *orders);

// What became of a member's submission; each is a word of the class list.
#define OUTCOME_LIST(X)                                                                            \
    X(GRADED, "graded")                                                                            \
    X(UNCHANGED, "graded") /* before */                                                            \
    X(ABSENT, "absent")    /* on the roster only */                                                \
    X(REFUSED, "refused")  /* an archive that tries something, no file of ours: graded as empty */ \
    X(BROKEN, "failed")    /* the grader itself failed here */
typedef enum Outcome {
#define OUTCOME_ENUM(name, word) OUTCOME_##name,
    OUTCOME_LIST(OUTCOME_ENUM)
#undef OUTCOME_ENUM
        OUTCOME_COUNT
} Outcome;
const char *outcome_word(Outcome outcome);

typedef struct Graded {
    const Member *member;
    Outcome outcome;
    char note[640]; // why not, or what was not taken; cleaned
    Result result;  // zero where there is none
} Graded;

// results.c: prints a line for member `index` of `count`, its note below it; and the entries that
// are no submission, each with the reason.
void class_print_member(const Graded *graded, int index, int count);
void class_print_skipped(const Class *class);

// results.c: <folder>/class.csv, one row a member; gradebook.csv beside it, as Canvas imports it;
// and <folder>/<member>/report.txt. `possible`: of answers in writing, or WRITTEN_NONE.
Status class_csv_write(const Graded *graded, int count, int possible, const char *folder);
Status gradebook_write(const Graded *graded, int count, int possible, const char *assignment,
                       const char *folder);
Status student_report_write(const Graded *graded, const char *folder);
// Points that a result has in an exercise ("02"), and may have.
typedef struct ExercisePoints {
    int points, most;
} ExercisePoints;
ExercisePoints result_points_of(const Result *result, const char *number);

// What a grade left in a folder, result.json, and for people the texts that lie beside it. *result
// is the caller's; result_free, also after a failure. STATUS_IO, STATUS_FORMAT.
Status result_read(const char *folder, Result *result);

// items.c: what the results of a class say about its cases: how many passed each, and whether who
// passed it did better in the rest (classical test theory).
typedef struct Item { // a case
    char exercise[RESULT_NAME], name[RESULT_NAME];
    int most;                  // points
    int asked, passed;         // students
    char mistake[RESULT_NAME]; // the misconception seen most in it, "": none
    int mistaken;              // students who had that one
    int unrecognised;          // students whose wrong value no known mistake explains
    // Point-biserial correlation of passing with the points in everything else; NaN where it is not
    // defined: all passed, none did, or the rest is the same for all.
    double discrimination;
} Item;

typedef struct Tally { // a misconception
    char name[RESULT_NAME];
    int students; // who had it in at least one case
} Tally;

typedef struct Items {
    Item *items; // owned, in the order of the first result that has them
    int n_items;
    Tally *tallies; // owned, most frequent first
    int n_tallies;
} Items;

bool case_is_unrecognised(const ResultCase *one);

// STATUS_OUT_OF_MEMORY. *items is the caller's; items_free, also after a failure.
Status items_count(const Result *const results[], int count, Items *items);
void items_free(Items *items);

// sum((x - mean x)(y - mean y)) / sqrt(sum((x - mean x)^2) * sum((y - mean y)^2)); NaN for
// constants.
double correlation(const double *x, const double *y, int count);

// tables.c: the tables of exercises that pages show (README.md, INSTRUCTOR.md): numbers, names,
// minutes and points come from the exercises themselves (which columns do: table_cell), others are
// left as they are. The line before such a table:
#define TABLE_MARK "<!-- made by make exercise-tables -->"

// A page with its tables made anew, owned. NULL with STATUS_FORMAT (it has no such table) or
// STATUS_OUT_OF_MEMORY pending.
char *tables_update(const char *page);

// One line on standard error; returns `status`.
int instructor_refuse(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));
int instructor_fail(void); // the pending error, which it clears

#endif
