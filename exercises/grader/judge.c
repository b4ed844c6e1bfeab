// judge.c -- right, wrong, and wrong in a way that is known; and how a wrong value stands to the
// right one, of which it tries the simple ways: a factor, a quotient, an inverse, too few bits.
#include "exercises/grader/judge.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void real_text(double value, char text[VALUE_TEXT]) {
    if (fabs(value) < 1e15 && value == nearbyint(value)) { // 2000, not 2e+03
        snprintf(text, VALUE_TEXT, "%.0f", value);
        return;
    }
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, VALUE_TEXT, "%.*g", digits, value);
        if (isnan(value) || strtod(text, NULL) == value) return;
    }
}

static const char *word_of(const ExpectedValue *expected, int64_t value) {
    for (int64_t i = 0; expected->words && expected->words[i]; i++)
        if (i == value) return expected->words[i];
    return NULL;
}

char *value_text(const ExpectedValue *expected, Value value, char text[VALUE_TEXT]) {
    const char *word = expected->kind == VALUE_WORD ? word_of(expected, value.integer) : NULL;
    if (expected->kind == VALUE_REAL)
        real_text(value.real, text);
    else if (word)
        snprintf(text, VALUE_TEXT, "%s", word);
    else
        snprintf(text, VALUE_TEXT, "%" PRId64, value.integer);
    return text;
}

static const char *mistake_of(const CaseRun *run, int value, Value got) {
    for (int i = 0; i < run->n_mistakes; i++) {
        const Mistake *one = &run->mistakes[i];
        if (one->value != value) continue;
        bool same = value < 0 ? one->wrong.integer == got.integer
                              : value_same(&run->values[value], got, one->wrong);
        if (same) return one->name;
    }
    return NULL;
}

Verdict judge(const CaseRun *run, const Reply *reply) {
    Verdict verdict = {.right = true};
    if (reply->status != run->status) {
        Value got = {.integer = reply->status};
        return (Verdict){false, -1, got, mistake_of(run, -1, got)};
    }
    for (int i = 0; i < run->n_values && !verdict.mistake; i++) {
        Value got = reply->values[i];
        if (value_same(&run->values[i], got, run->values[i].value)) continue;
        const char *mistake = mistake_of(run, i, got);
        if (verdict.right || mistake) verdict = (Verdict){false, i, got, mistake};
    }
    return verdict;
}
