// sections.c -- finds the parts of a text by the lines that begin them.
#include "exercises/selftest/sections.h"

#include <stdio.h>
#include <string.h>

static const char begins[] = "== ", follows[] = "\n== ";

// Of "loop: never ends [timed_out]", without what comes before the name.
static void read_heading(const char *line, size_t length, Section *section) {
    const char *end = line + length, *open = memchr(line, '[', length);
    size_t name = strcspn(line, ": [\n");
    snprintf(section->name, SECTION_NAME, "%.*s", (int)name, line);
    if (open && end[-1] == ']')
        snprintf(section->mark, SECTION_WORDS, "%.*s", (int)(end - open - 2), open + 1);
    if (open) end = open;
    if (line[name] != ':') return;
    const char *about = line + name + 1 + strspn(line + name + 1, " ");
    while (end > about && end[-1] == ' ') end--;
    snprintf(section->about, SECTION_WORDS, "%.*s", end > about ? (int)(end - about) : 0, about);
}

bool section_next(const char **at, Section *section) {
    *section = (Section){.body = NULL};
    const char *line = strncmp(*at, begins, strlen(begins)) == 0 ? *at : strstr(*at, follows);
    if (line == NULL) return false;
    line += (*line == '\n') + strlen(begins);
    size_t length = strcspn(line, "\n");
    read_heading(line, length, section);
    section->body = line + length + (line[length] == '\n');
    const char *next = section->body;
    if (strncmp(next, begins, strlen(begins)) != 0) {
        next = strstr(section->body, follows);
        next = next ? next + 1 : section->body + strlen(section->body);
    }
    section->length = (size_t)(next - section->body);
    *at = next;
    return true;
}
