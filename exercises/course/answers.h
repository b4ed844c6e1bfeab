// answers.h -- answers by hand: a text file of "key = value" lines, written by a student and read
// with suspicion. This file does not know the right answers.
#ifndef EXERCISES_COURSE_ANSWERS_H
#define EXERCISES_COURSE_ANSWERS_H

#include "exercises/course/exercise.h"

typedef struct Answers {
    const char *name;        // name of the file
    char *text;              // owned; NULL: no file could be read
    char problem[CASE_LINE]; // the reason for that
} Answers;

// STATUS_OK also without a file; STATUS_OUT_OF_MEMORY. `name` has to outlive the answers.
Status answers_read(const char *folder, const char *name, Answers *answers);
void answers_free(Answers *answers);

typedef enum AnswerEnd {
    ANSWER_GIVEN,
    ANSWER_MISSING,    // no file, no such key, or nothing after it
    ANSWER_UNREADABLE, // no plain number, unknown word, given twice: `problem` says what to write
} AnswerEnd;

// Reads the value under a key, with the kind of the expected value. `problem` is cleaned.
AnswerEnd answers_value(const Answers *answers, const char *key, const ExpectedValue *expected,
                        Value *value, char problem[CASE_LINE]);

#endif
