// formats.h -- a grade as files: result.json, and the files that grading platforms read. Bytes of a
// student that would break a reader (control characters, broken UTF-8) become question marks. Each
// file is written whole or not at all.
#ifndef EXERCISES_LAB_FORMATS_H
#define EXERCISES_LAB_FORMATS_H

#include "exercises/grader/grade.h"
#include "profiler/base/json_writer.h"

// ---- result.json --------------------------------------------------------------------------------
// A grade as one canonical file, from which all other formats follow. The same submission gives the
// same bytes, whenever it is graded; times are in a separate file.

// Writes a grade. A hidden case has only name, points, state and misconception, without input and
// answer; a sealed case has no answer.
Status result_json_write(const char *path, const GradeResult *result);

// Writes the wall times, which differ from grade to grade.
Status times_json_write(const char *path, const GradeResult *result);

// Writes, before grading, the result of grade_nothing, with "complete": false.
Status result_json_begin(const char *path, const GradeOptions *options);

// ---- a result -----------------------------------------------------------------------------------
// A grade as the other formats need it; they use nothing else.
enum { RESULT_NAME = 64 };

typedef struct ResultCase {
    char exercise[RESULT_NAME]; // "02 count_flops"
    char name[RESULT_NAME];     // "linear_512_b64"
    CaseState state;
    int points, most;
    bool hidden, stretch;
    char mistake[RESULT_NAME]; // ""
    char *output;              // text for the student, owned; "": the case passed
} ResultCase;

typedef struct Result {
    char student[RESULT_NAME];
    int points, most, stretch_points;
    double seconds;
    ResultCase *cases; // owned, in the order of the exercises
    int n_cases;
} Result;

// The caller frees *result with result_free, also after a failure.
Status result_of(const GradeResult *grade, Result *result);
void result_free(Result *result);

// The result of a case in formats that know four verdicts.
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
    const char *what;                                     // description for people
    void (*write)(const Result *result, WholeFile *file); // this or write_json; the other is NULL
    void (*write_json)(const Result *result, JsonWriter *json);
} Format;
extern const Format formats[];
extern const int format_count;

// Write all formats into `folder`, or the format `name` to `path`. STATUS_IO,
// STATUS_INVALID_ARGUMENT if there is no such format.
Status formats_write(const Result *result, const char *folder);
Status format_write(const Result *result, const char *name, const char *path);

// JUnit XML, in the dialect that Jenkins, GitLab and junitparser all read: a wrong value is a
// failure, a crash an error, an unwritten function is skipped.
void format_junit(const Result *result, WholeFile *file);
// TAP 13. An unwritten function is `not ok`, because `# TODO` would turn it into a pass.
void format_tap(const Result *result, WholeFile *file);
// https://gradescope-autograders.readthedocs.io/en/latest/specs/: results.json.
void format_gradescope(const Result *result, JsonWriter *json);
// CSV by RFC 4180, a row for each case.
void format_csv(const Result *result, WholeFile *file);
// Autolab takes scores from the last line, which is JSON. A colon after a letter or digit within a
// string would end its search, so the strings have no such colon.
void format_autolab(const Result *result, WholeFile *file);
// Markdown for the summary of a GitHub job.
void format_markdown(const Result *result, WholeFile *file);

// Writes the first `length` bytes of a text, with a question mark for each unprintable byte.
void format_plain(WholeFile *file, const char *text, size_t length);

#endif
