// formats.h -- a result in the languages of the platforms that collect results. Each is made from
// Result alone; each file appears whole or not at all. Bytes of a student that would break a
// reader (control characters, broken UTF-8) arrive as question marks.
#ifndef EXERCISES_LAB_FORMATS_H
#define EXERCISES_LAB_FORMATS_H

#include "exercises/lab/result.h"
#include "profiler/files/json_writer.h"

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

// A cell of a CSV file, without the comma: quoted where it has to be; after an apostrophe where a
// spreadsheet would take it for a formula (= + - @).
void csv_cell(WholeFile *file, const char *text);

#endif
