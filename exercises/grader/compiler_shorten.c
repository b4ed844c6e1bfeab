// compiler_shorten.c -- of what a compiler says, the part that a beginner can use.
#include <stdbool.h>
#include <string.h>

#include "exercises/grader/screen.h"

enum { MOST_MESSAGES = 3, LINES_OF_SOURCE = 2 };

static bool contains(const char *line, size_t length, const char *what) {
    return memmem(line, length, what, strlen(what)) != NULL;
}

// Keeps the lines that say `kind` with the lines of source below each; false when there is none.
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

// What is kept only moves towards the beginning, so it may be written over what it is made from.
void compiler_shorten(char *text) {
    if (keep(text, "undefined reference", text) || keep(text, "error:", text)) return;
    (void)keep(text, "warning:", text);
}
