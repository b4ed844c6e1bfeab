// asked.c -- the files that the exercises ask for, and a test whether a file with a name from a
// student's tools is meant for one of them.
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "exercises/course/exercise.h"
#include "exercises/instructor/submissions.h"

static const char manifest[] = "MANIFEST";

// ---- which there are ---------------------------------------------------------------------------
static void ask_for(char names[STAGE_MOST_FILES][STAGE_NAME], int *count, const char *name) {
    for (int i = 0; i < *count; i++) {
        if (strcmp(names[i], name) == 0) return;
    }
    if (*count < STAGE_MOST_FILES) snprintf(names[(*count)++], STAGE_NAME, "%s", name);
}

int asked_files(char names[STAGE_MOST_FILES][STAGE_NAME]) {
    int count = 0;
    for (int i = 0; i < exercise_count; i++) {
        const Exercise *exercise = exercises[i];
        char name[STAGE_NAME];
        snprintf(name, sizeof name, "ex%.8s_%.64s.c", exercise->number, exercise->name);
        ask_for(names, &count, exercise->answers ? exercise->answers : name);
        for (int k = 0; k < exercise->n_cases; k++) {
            const ExerciseCase *definition = &exercise->cases[k];
            if (definition->by_hand && !exercise->answers) ask_for(names, &count, "by_hand.txt");
            if (definition->beside) ask_for(names, &count, definition->beside);
        }
    }
    ask_for(names, &count, manifest); // contains the student's key
    return count;
}

// ---- what is meant -----------------------------------------------------------------------------
static bool is_blank(char c) { return c == ' ' || c == '_' || c == '-' || c == '.'; }

// Takes " (1)", "-1" or " copy" off the end of a stem; returns its number, or -1: there is none.
static int take_mark(const char *stem, size_t *length) {
    size_t end = *length, begin;
    bool bracket = end > 0 && stem[end - 1] == ')';
    begin = end -= bracket;
    while (begin > 0 && isdigit((unsigned char)stem[begin - 1])) begin--;
    int number = 0;
    for (size_t i = begin; i < end && number < 100; i++) number = 10 * number + (stem[i] - '0');
    bool counted = begin < end && end - begin <= 3;
    if (begin < end && !counted) return -1;
    if (bracket && (!counted || begin == 0 || stem[begin - 1] != '(')) return -1;
    if (bracket) begin--;
    if (!counted && begin >= 4 && strncasecmp(stem + begin - 4, "copy", 4) == 0) begin -= 4;
    if (begin == *length) return -1;
    while (begin > 0 && is_blank(stem[begin - 1])) begin--;
    *length = begin;
    return number;
}

// True if the texts are equal except for letter case, blanks and dashes.
static bool same_letters(const char *a, size_t a_length, const char *b, size_t b_length) {
    size_t i = 0, k = 0;
    for (;;) {
        while (i < a_length && (is_blank(a[i]))) i++;
        while (k < b_length && (is_blank(b[k]))) k++;
        if (i == a_length || k == b_length) return i == a_length && k == b_length;
        if (tolower((unsigned char)a[i++]) != tolower((unsigned char)b[k++])) return false;
    }
}

static const char *end_of_stem(const char *name) {
    const char *dot = strrchr(name, '.');
    return dot ? dot : name + strlen(name);
}

bool asked_is_meant(const char *asked, const char *name, int *copy) {
    char own[ENTRY_FILE];
    *copy = 0;
    if (strcmp(asked, name) == 0) return true;
    if (snprintf(own, sizeof own, "%s", name) >= (int)sizeof own) return false;
    size_t all = strlen(own);
    while (all > 0 && own[all - 1] == ' ') own[--all] = '\0';
    const char *asked_end = end_of_stem(asked);
    if (strcmp(asked_end, ".c") == 0 && all > 6 && strcasecmp(own + all - 6, ".c.txt") == 0)
        own[all - 4] = '\0'; // some editors add .txt to source files
    const char *end = end_of_stem(own);
    if (strcasecmp(asked_end, end) != 0) return false;
    size_t length = (size_t)(end - own), asked_length = (size_t)(asked_end - asked);
    for (*copy = 1; !same_letters(asked, asked_length, own, length);) {
        int number = take_mark(own, &length);
        if (number < 0) return false;
        if (number + 1 > *copy) *copy = number + 1;
    }
    return true;
}

bool asked_ends_in(const char *name, size_t *begins) {
    char names[STAGE_MOST_FILES][STAGE_NAME];
    int count = asked_files(names), copy;
    for (*begins = 0; name[*begins] != '\0'; ++*begins) {
        if (*begins > 0 && !is_blank(name[*begins - 1])) continue;
        for (int i = 0; i < count; i++)
            if (asked_is_meant(names[i], name + *begins, &copy)) return true;
    }
    return false;
}

bool asked_is_litter(const char *path) {
    static const char *const litter[] = {"__MACOSX", "Thumbs.db", "desktop.ini"};
    for (const char *part = path; part != NULL; part = strchr(part, '/')) {
        part += *part == '/';
        size_t length = strcspn(part, "/");
        if (part[0] == '.' && length > 1) return true;
        for (size_t i = 0; i < sizeof litter / sizeof litter[0]; i++)
            if (strlen(litter[i]) == length && strncasecmp(part, litter[i], length) == 0)
                return true;
    }
    return false;
}
