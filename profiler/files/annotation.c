// annotation.c -- writes GitHub workflow commands, one per line.
#include "profiler/files/exports.h"

#include <stdlib.h>
#include <string.h>

#include "profiler/base/text.h"

bool annotation_wanted(void) {
    const char *told = getenv("GITHUB_ACTIONS");
    return told && strcmp(told, "true") == 0;
}

// Escapes special characters as '%' and a number; `also` lists those special in this place.
static void put(const char *text, const char *also, FILE *file) {
    while (*text) {
        int bytes = text_printable_bytes(text);
        if (*text == '%' || *text == '\n' || strchr(also, *text))
            fprintf(file, "%%%02X", (unsigned)*text);
        else
            fprintf(file, "%.*s", bytes > 0 ? bytes : 1, bytes > 0 ? text : "?");
        text += bytes > 0 ? bytes : 1;
    }
}

void annotation_print(const char *level, const char *title, const char *message, FILE *file) {
    fprintf(file, "::%s title=", level);
    put(title, ":,", file);
    fprintf(file, "::");
    put(message, "", file);
    fputc('\n', file);
}
