// misconception.c -- the list as a table.
#include "exercises/grader/misconception.h"

#include <stddef.h>
#include <string.h>

#include "exercises/grader/misconceptions.h"

const Misconception misconceptions[] = {
#define MISCONCEPTION_ROW(name, text) {#name, text},
    MISCONCEPTION_LIST(MISCONCEPTION_ROW)
#undef MISCONCEPTION_ROW
};
const int misconception_count = (int)(sizeof misconceptions / sizeof misconceptions[0]);

const char *misconception_text(const char *name) {
    for (int i = 0; i < misconception_count; i++)
        if (strcmp(misconceptions[i].name, name) == 0) return misconceptions[i].text;
    return NULL;
}
