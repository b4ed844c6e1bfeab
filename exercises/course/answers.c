// answers.c -- finds a key's line and reads its value strictly: "226 MB" is not a number.
#include "exercises/course/answers.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "exercises/course/text_file.h"
#include "tensor/memory.h"

enum { MOST_BYTES = 1 << 16, MOST_ANSWER = 80 };

Status answers_read(const char *folder, const char *name, Answers *answers) {
    *answers = (Answers){.name = name};
    answers->text = file_read(folder, name, MOST_BYTES, NULL);
    if (answers->text) {
        text_clean(answers->text);
        return STATUS_OK;
    }
    Status status = error_status();
    if (status == STATUS_OUT_OF_MEMORY) return status;
    error_clear();
    snprintf(answers->problem, sizeof answers->problem, "%s%s", name,
             status == STATUS_FORMAT ? " is far too large for a few answers" : "");
    return STATUS_OK;
}

void answers_free(Answers *answers) {
    memory_free(answers->text);
    *answers = (Answers){.text = NULL};
}

// ---- the line ----------------------------------------------------------------------------------
typedef struct Line {
    int number; // line number in the file, from 1
    char text[MOST_ANSWER];
} Line;

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// The text after "key =", without spaces around it and without a comment; NULL: another line.
static const char *value_after(const char *line, const char *end, const char *key, size_t *length) {
    while (line < end && is_blank(*line)) line++;
    size_t key_length = strlen(key);
    if ((size_t)(end - line) < key_length || strncmp(line, key, key_length) != 0) return NULL;
    line += key_length;
    while (line < end && is_blank(*line)) line++;
    if (line == end || *line != '=') return NULL;
    line++;
    const char *comment = memchr(line, '#', (size_t)(end - line));
    if (comment) end = comment;
    while (line < end && is_blank(*line)) line++;
    while (end > line && is_blank(end[-1])) end--;
    *length = (size_t)(end - line);
    return line;
}

// Counts the lines with the key; *line is the last of them.
static int find_lines(const char *text, const char *key, Line *line) {
    int found = 0, number = 0;
    for (const char *at = text; *at; at += *at == '\n') {
        const char *begin = at;
        size_t length = 0;
        number++;
        at += strcspn(at, "\n");
        const char *value = value_after(begin, at, key, &length);
        if (!value) continue;
        found++;
        line->number = number;
        snprintf(line->text, sizeof line->text, "%.*s", (int)length, value);
    }
    return found;
}

// ---- the value ---------------------------------------------------------------------------------
static const char *number_hint(const char *rest, bool whole) {
    if (strchr(rest, ',') || rest[0] == '_' || rest[0] == '\'') return "write the digits alone";
    if (rest[0] == '%') return "write it without the %, as the question asks";
    if (isalpha((unsigned char)rest[0]) && strcspn(rest, "eE") > 0) return "leave out the unit";
    return whole ? "write a whole number, digits alone" : "write a plain number such as 0.25";
}

// Stores a number in *value and returns NULL, or returns advice if the text is not a number.
static const char *read_integer(const char *text, Value *value) {
    char *end;
    errno = 0;
    value->integer = strtoll(text, &end, 10);
    if (errno == ERANGE) return "it is far too large";
    while (end > text && is_blank(*end)) end++;
    return *end == '\0' ? NULL : number_hint(end, true);
}

static const char *read_real(const char *text, double expected, Value *value) {
    char *end;
    if (isnan(expected) && strcasecmp(text, "nan") == 0) {
        value->real = expected;
        return NULL;
    }
    if (text[strspn(text, "+-.0123456789")] != '\0' && !isdigit((unsigned char)text[0]) &&
        text[0] != '-' && text[0] != '+' && text[0] != '.')
        return "write a plain number such as 0.25"; // refuses inf, nan and words
    if (strpbrk(text, "xX")) return "write it in decimal digits";
    value->real = strtod(text, &end);
    if (!isfinite(value->real)) return "it is no finite number";
    while (is_blank(*end)) end++;
    return *end == '\0' && end != text ? NULL : number_hint(end, false);
}

static const char *read_word(const char *text, const char *const *words, Value *value) {
    static _Thread_local char hint[CASE_LINE];
    for (int64_t i = 0; words[i]; i++) {
        value->integer = i;
        if (strcasecmp(text, words[i]) == 0) return NULL;
    }
    size_t used = (size_t)snprintf(hint, sizeof hint, "write one of:");
    for (int i = 0; words[i] && used < sizeof hint; i++)
        used += (size_t)snprintf(hint + used, sizeof hint - used, " %s", words[i]);
    return hint;
}

AnswerEnd answers_value(const Answers *answers, const char *key, const ExpectedValue *expected,
                        Value *value, char problem[CASE_LINE]) {
    Line line = {.number = 0};
    snprintf(problem, CASE_LINE, "%s", answers->problem);
    if (!answers->text) return ANSWER_MISSING;
    int found = find_lines(answers->text, key, &line);
    if (found > 1) {
        snprintf(problem, CASE_LINE, "%.60s:%d: a second line with %.60s", answers->name,
                 line.number, key);
        return ANSWER_UNREADABLE;
    }
    if (found == 0 || line.text[0] == '\0' || strcmp(line.text, "?") == 0) {
        snprintf(problem, CASE_LINE, "%.60s: no answer to %.60s yet", answers->name, key);
        return ANSWER_MISSING;
    }
    const char *hint = NULL;
    if (expected->kind == VALUE_INTEGER) hint = read_integer(line.text, value);
    if (expected->kind == VALUE_REAL) hint = read_real(line.text, expected->value.real, value);
    if (expected->kind == VALUE_WORD) hint = read_word(line.text, expected->words, value);
    if (!hint) return ANSWER_GIVEN;
    snprintf(problem, CASE_LINE, "%.40s:%d: \"%.40s\": %.100s", answers->name, line.number,
             line.text, hint);
    text_clean(problem); // a character may have been cut in two
    return ANSWER_UNREADABLE;
}
