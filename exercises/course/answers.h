// answers.h -- answers by hand: a text file of "key = value" lines, written by a student and read
// with suspicion. What is right is not known here.
#ifndef EXERCISES_COURSE_ANSWERS_H
#define EXERCISES_COURSE_ANSWERS_H

#include "exercises/course/exercise.h"

typedef struct Answers {
    const char *name;        // of the file
    char *text;              // owned; NULL: there is none that could be read, and
    char problem[CASE_LINE]; // that is why
} Answers;

// STATUS_OK also without a file; STATUS_OUT_OF_MEMORY. `name` has to outlive the answers.
Status answers_read(const char *folder, const char *name, Answers *answers);
void answers_free(Answers *answers);

typedef enum AnswerEnd {
    ANSWER_GIVEN,
    ANSWER_MISSING,    // no file, no such key, or nothing after it
    ANSWER_UNREADABLE, // no plain number, no such word, given twice: `problem` says what to write
} AnswerEnd;

// The value under a key, read as the expected one's kind. `problem` is cleaned.
AnswerEnd answers_value(const Answers *answers, const char *key, const ExpectedValue *expected,
                        Value *value, char problem[CASE_LINE]);

#endif
