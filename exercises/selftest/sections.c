// sections.c -- finds the parts of a text by the lines that begin them, and makes the edits of
// mutants. It runs nothing.
#include "exercises/selftest/sections.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensor/memory.h"

static const char begins[] = "== ", follows[] = "\n== ";

// Reads a heading such as "loop: never ends [timed_out]", from the name on.
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

// ---- mutants ------------------------------------------------------------------------------------
enum { EDIT_BYTES = 8192 };

typedef struct Edit {
    char old[EDIT_BYTES], new[EDIT_BYTES];
    size_t n_old, n_new;
} Edit;

static Status refuse(const Mutant *mutant, const char *what, const char *line) {
    return error_set(STATUS_FORMAT,
                     "mutant %s: %s: \"%.*s\". HINT: take the lines from the "
                     "solution as they are",
                     mutant->name, what, (int)strcspn(line, "\n"), line);
}

static Status make_edit(Mutant *mutant, Edit *edit) {
    if (edit->n_old == 0) return STATUS_OK;
    edit->old[edit->n_old] = edit->new[edit->n_new] = '\0';
    char *at = strstr(mutant->source, edit->old);
    if (at == NULL) return refuse(mutant, "is not in the solution", edit->old);
    if (strstr(at + 1, edit->old)) return refuse(mutant, "is there more than once", edit->old);
    size_t length = strlen(mutant->source), before = (size_t)(at - mutant->source);
    char *edited = memory_new(length - edit->n_old + edit->n_new + 1);
    if (edited == NULL) return error_status();
    memcpy(edited, mutant->source, before);
    memcpy(edited + before, edit->new, edit->n_new);
    strcpy(edited + before + edit->n_new, at + edit->n_old);
    memory_free(mutant->source);
    mutant->source = edited;
    edit->n_old = edit->n_new = 0;
    return STATUS_OK;
}

static bool add_line(char *text, size_t *used, const char *line, size_t length) {
    if (*used + length + 1 >= EDIT_BYTES) return false;
    memcpy(text + *used, line, length);
    text[*used + length] = '\n';
    *used += length + 1;
    return true;
}

// A minus after a plus begins the next edit.
static Status read_edits(const Section *section, Mutant *mutant, Edit *edit) {
    Status status = STATUS_OK;
    bool fits = true;
    const char *line = section->body, *end = section->body + section->length;
    while (line < end && status == STATUS_OK && fits) {
        size_t length = strcspn(line, "\n");
        if (line[0] == '-' && edit->n_new > 0) status = make_edit(mutant, edit);
        if (line[0] == '-') fits = add_line(edit->old, &edit->n_old, line + 1, length - 1);
        if (line[0] == '+') fits = add_line(edit->new, &edit->n_new, line + 1, length - 1);
        line += length + (line[length] == '\n');
    }
    if (!fits) return refuse(mutant, "the edit is too long", edit->old);
    return status == STATUS_OK ? make_edit(mutant, edit) : status;
}

Status mutant_next(const char **at, const char *solution, Mutant *mutant, bool *found) {
    *mutant = (Mutant){.source = NULL};
    Section section;
    *found = section_next(at, &section);
    if (!*found) return STATUS_OK;
    snprintf(mutant->name, sizeof mutant->name, "%s", section.name);
    mutant->clause = atoi(section.mark);
    Edit *edit = memory_new(sizeof *edit);
    mutant->source = memory_copy_string(solution);
    Status status = edit && mutant->source ? read_edits(&section, mutant, edit) : error_status();
    memory_free(edit);
    if (status == STATUS_OK && strcmp(mutant->source, solution) == 0) {
        status = refuse(mutant, "changes nothing", "");
    }
    if (status != STATUS_OK) {
        memory_free(mutant->source);
        mutant->source = NULL;
    }
    return status;
}
