// formats.h -- a grade as files: result.json, and what the platforms that collect results read.
// Bytes of a student that would break a reader (control characters, broken UTF-8) arrive as
// question marks; each file appears whole or not at all.
#ifndef EXERCISES_LAB_FORMATS_H
#define EXERCISES_LAB_FORMATS_H

#include "exercises/grader/grade.h"
#include "profiler/base/json_writer.h"

// ---- result.json --------------------------------------------------------------------------------
// A grade as one canonical file, of which every other format is a transform. The same submission
// gives the same bytes, whenever it is graded; how long that took is in a file of its own.

// Of a hidden case it has name, points, state and misconception: no input, no answer. Of a sealed
// one no answer.
Status result_json_write(const char *path, const GradeResult *result);

// Wall times, which differ from grade to grade.
Status times_json_write(const char *path, const GradeResult *result);

// Before grading: the result of grade_nothing, with "complete": false.
Status result_json_begin(const char *path, const GradeOptions *options);

// ---- a result -----------------------------------------------------------------------------------
// A grade as the other formats need it: each of them is made from this and from nothing else.
enum { RESULT_NAME = 64 };

typedef struct ResultCase {
    char exercise[RESULT_NAME]; // "02 count_flops"
    char name[RESULT_NAME];     // "linear_512_b64"
    CaseState state;
    int points, most;
    bool hidden, stretch;
    char mistake[RESULT_NAME]; // ""
    char *output;              // what a student reads about it, owned; "": it passed
} ResultCase;

typedef struct Result {
    char student[RESULT_NAME];
    int points, most, stretch_points;
    double seconds;
    ResultCase *cases; // owned, in the order of the exercises
    int n_cases;
} Result;

// *result is the caller's; result_free, also after a failure.
Status result_of(const GradeResult *grade, Result *result);
void result_free(Result *result);

// How a case ends in formats that know four ways.
typedef enum ResultVerdict {
    VERDICT_PASSED,
    VERDICT_FAILED,
    VERDICT_ERROR,
    VERDICT_SKIPPED
} ResultVerdict;
ResultVerdict result_verdict(const ResultCase *of_case);

// ---- formats ------------------------------------------------------------------------------------
typedef struct Format {
    const char *name;                                     // "junit"
    const char *file;                                     // "junit.xml"
    const char *what;                                     // for people
    void (*write)(const Result *result, WholeFile *file); // one of the two
    void (*write_json)(const Result *result, JsonWriter *json);
} Format;
extern const Format formats[];
extern const int format_count;

// Writes all of them into `folder`, or the one of that name to `path`. STATUS_IO,
// STATUS_INVALID_ARGUMENT where there is no such format.
Status formats_write(const Result *result, const char *folder);
Status format_write(const Result *result, const char *name, const char *path);

// JUnit XML, the dialect that all of Jenkins, GitLab and junitparser read: a wrong value is a
// failure, a crash an error, what is not written yet is skipped.
void format_junit(const Result *result, WholeFile *file);
// TAP 13. What is not written yet is `not ok`: `# TODO` would make a pass of it.
void format_tap(const Result *result, WholeFile *file);
// https://gradescope-autograders.readthedocs.io/en/latest/specs/: results.json.
void format_gradescope(const Result *result, JsonWriter *json);
// RFC 4180, a row for each case.
void format_csv(const Result *result, WholeFile *file);
// Autolab takes scores from the last line, which is JSON; a colon after a letter or digit within a
// string would end its search, so the strings have none.
void format_autolab(const Result *result, WholeFile *file);
// For the summary of a GitHub job.
void format_markdown(const Result *result, WholeFile *file);

// The first `length` bytes of a text, with a question mark for each that is not printable.
void format_plain(WholeFile *file, const char *text, size_t length);

#endif
