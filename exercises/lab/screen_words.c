// screen_words.c -- words for a screen: the relation of a wrong value to the right one, and the
// part of a compiler's output that helps a beginner.
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "exercises/lab/screen.h"

// ---- relations ----------------------------------------------------------------------------------
static void say_difference(double expected, double got, Relation *relation) {
    char *text = relation->difference;
    if (isnan(got) || isnan(expected))
        snprintf(text, sizeof relation->difference, "not a number");
    else if (expected == 0.0 || isinf(expected) || isinf(got))
        snprintf(text, sizeof relation->difference, "%+.3g", got - expected);
    else
        snprintf(text, sizeof relation->difference, "%+.3g %%",
                 100.0 * (got - expected) / fabs(expected));
}

static Relation integers(int64_t expected, int64_t got) {
    enum { NEAR = 1000 }; // the largest difference that is shown as a difference
    Relation relation = {{0}, {0}};
    char *text = relation.text;
    const size_t size = sizeof relation.text;
    uint64_t away =
        got > expected ? (uint64_t)got - (uint64_t)expected : (uint64_t)expected - (uint64_t)got;
    say_difference((double)expected, (double)got, &relation);
    if (got == 0 || expected == 0 || got == INT64_MIN || expected == INT64_MIN) return relation;
    if (got == -expected)
        snprintf(text, size, "= -expected");
    else if (got == (int64_t)(uint32_t)expected || got == (int64_t)(int32_t)expected)
        snprintf(text, size, "= the last 32 bits of expected");
    else if (got % expected == 0)
        snprintf(text, size, "= expected * %lld", (long long)(got / expected));
    else if (expected % got == 0)
        snprintf(text, size, "= expected / %lld", (long long)(expected / got));
    else if (away <= NEAR)
        snprintf(text, size, "= expected %c %llu", got > expected ? '+' : '-',
                 (unsigned long long)away);
    return relation;
}

static bool close_to(double a, double b) { return fabs(a - b) <= 1e-9 * fabs(b); }

// True for factors with a meaning: small whole numbers, unit prefixes, sizes.
static bool is_plain_factor(double factor, double *plain) {
    *plain = nearbyint(factor);
    if (*plain >= 2.0 && *plain <= 4096.0 && close_to(factor, *plain)) return true;
    for (double power = 1e4; power <= 1e12; power *= 10.0)
        if (close_to(factor, *plain = power)) return true;
    for (double power = 0x1p20; power <= 0x1p40; power *= 1024.0)
        if (close_to(factor, *plain = power)) return true;
    return false;
}

static Relation reals(double expected, double got) {
    Relation relation = {{0}, {0}};
    char *text = relation.text;
    const size_t size = sizeof relation.text;
    double factor = got / expected, plain;
    say_difference(expected, got, &relation);
    if (!isfinite(factor) || factor == 0.0 || !isfinite(expected)) return relation;
    if (close_to(factor, -1.0))
        snprintf(text, size, "= -expected");
    else if (close_to(got * expected, 1.0))
        snprintf(text, size, "= 1 / expected");
    else if (is_plain_factor(factor, &plain))
        snprintf(text, size, "= expected * %.15g", plain);
    else if (is_plain_factor(1.0 / factor, &plain))
        snprintf(text, size, "= expected / %.15g", plain);
    return relation;
}

Relation relation_of(ValueKind kind, Value expected, Value got) {
    switch (kind) {
    case VALUE_INTEGER:
        return integers(expected.integer, got.integer);
    case VALUE_REAL:
        return reals(expected.real, got.real);
    default:
        return (Relation){{0}, {0}};
    }
}

// ---- compilers ---------------------------------------------------------------------------------
enum { MOST_MESSAGES = 3, LINES_OF_SOURCE = 2 };

static bool contains(const char *line, size_t length, const char *what) {
    return memmem(line, length, what, strlen(what)) != NULL;
}

// Keeps the lines with `kind` and the lines of source below each; false: there are none.
static bool keep(const char *text, const char *kind, char *out) {
    int messages = 0, source = 0;
    size_t used = 0;
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n"), whole = length + (line[length] == '\n');
        bool starts = contains(line, length, kind);
        bool indented = line[0] == ' ';
        messages += starts;
        if (messages > MOST_MESSAGES) break;
        source = starts ? LINES_OF_SOURCE : indented ? source : 0;
        if (starts || (indented && source-- > 0)) {
            memmove(out + used, line, whole);
            used += whole;
        }
        line += whole;
    }
    if (messages > 0) out[used] = '\0';
    return messages > 0;
}

// The kept lines only move towards the beginning, so keep can work in place.
void compiler_shorten(char *text) {
    if (keep(text, "undefined reference", text) || keep(text, "error:", text)) return;
    (void)keep(text, "warning:", text);
}
