// value_text.h -- a value as a person reads it, in full precision: reading the text back gives the
// same value.
#ifndef EXERCISES_GRADER_VALUE_TEXT_H
#define EXERCISES_GRADER_VALUE_TEXT_H

#include "exercises/grader/exercise.h"

enum { VALUE_TEXT = 64 };

// Of the kind that is expected; a word that is none of its words is a number. Returns `text`.
const char *value_text(const ExpectedValue *expected, Value value, char text[VALUE_TEXT]);

#endif
