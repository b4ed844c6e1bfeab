// instructor.h -- internal to the instructor's program: declarations that its commands share.
#ifndef EXERCISES_INSTRUCTOR_INSTRUCTOR_H
#define EXERCISES_INSTRUCTOR_INSTRUCTOR_H

#include <stdbool.h>

#include "exercises/instructor/submissions.h"
#include "exercises/lab/formats.h"

// Exit statuses: profiler/CONVENTIONS.md, section 6.
enum { INSTRUCTOR_DONE = 0, INSTRUCTOR_FAILED = 1, INSTRUCTOR_USAGE = 2, INSTRUCTOR_FILE = 3 };

typedef struct Orders {
    const char *argument;   // the argument after the command: a folder or file
    const char *output;     // folder of the results
    const char *roster;     // file, or NULL
    const char *written;    // file with points of written answers, or NULL
    const char *assignment; // the assignment's name in a gradebook
    const char *secret;     // file, or NULL: practice numbers
    const char *lab;        // the program that grades one submission
    const char *student;    // for command_grade: a name, or NULL: practice numbers
    bool again;             // grade again what is graded already
    bool disposable;        // the machine is for this one submission
} Orders;

int command_grade(const Orders *orders);
int command_grade_all(const Orders *orders);
int command_report(const Orders *orders);
int command_answers(const Orders *orders);
int command_similar(const Orders *orders);

// The outcome of a member's submission, with its word in the class list.
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
    char note[640]; // the reason for a failure, or what was left out; cleaned
    Result result;  // zero if there is none
} Graded;

// results.c: class_print_member prints a line for member `index` of `count`, and its note below it;
// class_print_skipped prints the entries that are no submission, each with the reason.
void class_print_member(const Graded *graded, int index, int count);
void class_print_skipped(const Class *class);

// results.c: write <folder>/class.csv, a row for each member; gradebook.csv beside it, for import
// into Canvas; <folder>/<member>/report.txt. `possible`: as in Class.
Status class_csv_write(const Graded *graded, int count, int possible, const char *folder);
Status gradebook_write(const Graded *graded, int count, int possible, const char *assignment,
                       const char *folder);
Status student_report_write(const Graded *graded, const char *folder);
// Points of a result in an exercise ("02"), and the maximum.
typedef struct ExercisePoints {
    int points, most;
} ExercisePoints;
ExercisePoints result_points_of(const Result *result, const char *number);

// Reads the result.json of a grade from a folder, and the texts for people beside it. The caller
// frees *result with result_free, also after a failure. STATUS_IO, STATUS_FORMAT.
Status result_read(const char *folder, Result *result);

// items.c: item analysis (classical test theory) of a class's results: how many students passed
// each case, and whether these did better in the rest.
typedef struct Item { // one case
    char exercise[RESULT_NAME], name[RESULT_NAME];
    int most;                  // points
    int asked, passed;         // numbers of students
    char mistake[RESULT_NAME]; // its most frequent misconception, "": none
    int mistaken;              // students with that misconception
    int unrecognised;          // students whose wrong value no known mistake explains
    // Point-biserial correlation of passing with the points in all other cases; NaN if undefined:
    // all passed, none passed, or the rest is the same for all.
    double discrimination;
} Item;

typedef struct Tally { // one misconception
    char name[RESULT_NAME];
    int students; // students who had it in at least one case
} Tally;

typedef struct Items {
    Item *items; // owned, in the order of their first result
    int n_items;
    Tally *tallies; // owned, most frequent first
    int n_tallies;
} Items;

bool case_is_unrecognised(const ResultCase *one);

// STATUS_OUT_OF_MEMORY. The caller frees *items with items_free, also after a failure.
Status items_count(const Result *const results[], int count, Items *items);
void items_free(Items *items);

// sum((x - mean x)(y - mean y)) / sqrt(sum((x - mean x)^2) * sum((y - mean y)^2)); NaN for
// constants.
double correlation(const double *x, const double *y, int count);

// tables.c: the tables of exercises in pages (README.md, INSTRUCTOR.md): numbers, names, minutes
// and points come from the exercises themselves (for the columns in table_cell); other columns stay
// unchanged. This line precedes such a table:
#define TABLE_MARK "<!-- made by make exercise-tables -->"

// A page with its tables made anew, owned. NULL with STATUS_FORMAT (the page has no such table) or
// STATUS_OUT_OF_MEMORY pending.
char *tables_update(const char *page);

// One line on standard error; returns `status`.
int instructor_refuse(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));
int instructor_fail(void); // prints and clears the pending error

#endif
