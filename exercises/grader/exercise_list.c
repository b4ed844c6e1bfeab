// exercise_list.c -- the table of all exercises, and how one is found by what people type.
#include "exercises/grader/exercise_list.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "exercises/grader/exercise.h"

#define EXERCISE_DECLARE(number, name) extern const Exercise exercise_##number;
EXERCISE_LIST(EXERCISE_DECLARE)
#undef EXERCISE_DECLARE

const Exercise *const exercises[] = {
#define EXERCISE_ENTRY(number, name) &exercise_##number,
    EXERCISE_LIST(EXERCISE_ENTRY)
#undef EXERCISE_ENTRY
};
const int exercise_count = (int)(sizeof exercises / sizeof exercises[0]);

// "2", "02": the number, and nothing after it.
static bool is_number(const char *text, const char *number) {
    if (!isdigit((unsigned char)text[0])) return false;
    char *end;
    long wanted = strtol(text, &end, 10);
    return *end == '\0' && wanted == strtol(number, NULL, 10);
}

// "ex02_count_flops"
static bool is_file(const char *text, const Exercise *exercise) {
    size_t length = strlen(exercise->number);
    return strncmp(text, "ex", 2) == 0 && strncmp(text + 2, exercise->number, length) == 0 &&
           text[2 + length] == '_' && strcmp(text + 3 + length, exercise->name) == 0;
}

const Exercise *exercise_find(const Exercise *const list[], int count, const char *number) {
    const char *digits = strncmp(number, "ex", 2) == 0 ? number + 2 : number;
    for (int i = 0; i < count; i++)
        if (is_number(digits, list[i]->number) || strcmp(number, list[i]->name) == 0 ||
            is_file(number, list[i]))
            return list[i];
    return NULL;
}

const Exercise *exercise_by_number(const char *number) {
    return exercise_find(exercises, exercise_count, number);
}
