// mutants.c -- known mistakes as edits of a solution: the reader of exercises/mutants/*.txt.
#include "tests/mutants.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"

char *mutants_read_file(const char *path) {
    FILE *file = fopen(path, "r");
    ck_assert_msg(file != NULL, "%s", path);
    char *text = calloc(1, 1 << 16);
    ck_assert_uint_lt(fread(text, 1, (1 << 16) - 1, file), (1 << 16) - 1);
    fclose(file);
    return text;
}

// In `*source`, puts `new` where `old` stands, which has to be in one place.
static void edit(char **source, const char *old, const char *new, const char *name) {
    char *at = strstr(*source, old);
    ck_assert_msg(at && !strstr(at + 1, old), "%s: not once: \"%s\"", name, old);
    char *edited = calloc(1, strlen(*source) + strlen(new) + 1);
    sprintf(edited, "%.*s%s%s", (int)(at - *source), *source, new, at + strlen(old));
    free(*source);
    *source = edited;
}

bool mutants_next(char **at, const char *solution, Mutant *mutant) {
    char old[4096] = "", new[4096] = "";
    *at = strstr(*at, "== ");
    if (!*at) return false;
    ck_assert_int_eq(sscanf(*at, "== %31s", mutant->name), 1);
    mutant->source = strdup(solution);
    char *line = strchr(*at, '\n') + 1;
    for (bool more = true; more;) {
        more = *line && strncmp(line, "== ", 3) != 0;
        size_t length = strcspn(line, "\n") + (more ? 1 : 0);
        if (old[0] && (!more || (line[0] == '-' && new[0]) || line[0] == '#')) {
            edit(&mutant->source, old, new, mutant->name);
            old[0] = new[0] = '\0';
        }
        if (!more) break;
        if (line[0] == '-') strncat(old, line + 1, length - 1);
        if (line[0] == '+') strncat(new, line + 1, length - 1);
        line += length;
    }
    *at = line;
    return true;
}
