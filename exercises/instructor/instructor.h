// instructor.h -- internal to the instructor's program: what its commands share.
#ifndef EXERCISES_INSTRUCTOR_INSTRUCTOR_H
#define EXERCISES_INSTRUCTOR_INSTRUCTOR_H

#include <stdbool.h>

#include "exercises/instructor/class.h"
#include "exercises/instructor/stage.h"
#include "exercises/lab/result.h"

// What a program ends with: conventions.md's exit status.
enum { INSTRUCTOR_DONE = 0, INSTRUCTOR_FAILED = 1, INSTRUCTOR_USAGE = 2, INSTRUCTOR_FILE = 3 };

typedef struct Orders {
    const char *argument; // what follows the command: a folder or file
    const char *output;   // folder of the results
    const char *roster;   // file, or NULL
    const char *secret;   // file, or NULL: practice numbers
    const char *lab;      // the program that grades one submission
    const char *student;  // of grade: a name, or NULL: practice numbers
    bool again;           // also what is graded already
} Orders;

int command_grade(const Orders *orders);
int command_grade_all(const Orders *orders);
int command_report(const Orders *orders);
int command_secret(const Orders *orders);

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
    char note[240]; // why not, cleaned
    Result result;  // zero where there is none
} Graded;

// grade_one.c: has the lab program grade what is staged, and write its results into a folder that
// is there. What it says goes to the file `log`, or with NULL to where ours goes. True when it
// ended with 0, and in time.
bool lab_run(const Orders *orders, const char *student, const Stage *stage, const char *folder,
             const char *log);

// class_files.c: <folder>/class.csv, one row a member, and <folder>/<member>/report.txt.
Status class_csv_write(const Graded *graded, int count, const char *folder);
Status student_report_write(const Graded *graded, const char *folder);
// Points that a result has in an exercise ("02"), and may have.
typedef struct ExercisePoints {
    int points, most;
} ExercisePoints;
ExercisePoints result_points_of(const Result *result, const char *number);

// One line on standard error; returns `status`.
int instructor_refuse(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));
int instructor_fail(void); // the pending error, which it clears

#endif
