// value_text.c -- the shortest of the texts that read back as the same bits.
#include "exercises/grader/value_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void real_text(double value, char text[VALUE_TEXT]) {
    if (isnan(value)) { // without the sign that it may have
        snprintf(text, VALUE_TEXT, "nan");
        return;
    }
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, VALUE_TEXT, "%.*g", digits, value);
        if (strtod(text, NULL) == value) return;
    }
}

static const char *word_of(const ExpectedValue *expected, int64_t value) {
    if (!expected->words || value < 0) return NULL;
    for (int64_t i = 0; expected->words[i]; i++)
        if (i == value) return expected->words[i];
    return NULL;
}

const char *value_text(const ExpectedValue *expected, Value value, char text[VALUE_TEXT]) {
    const char *word = expected->kind == VALUE_WORD ? word_of(expected, value.integer) : NULL;
    if (word)
        snprintf(text, VALUE_TEXT, "%s", word);
    else if (expected->kind == VALUE_REAL)
        real_text(value.real, text);
    else
        snprintf(text, VALUE_TEXT, "%lld", (long long)value.integer);
    return text;
}
