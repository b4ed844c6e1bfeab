// toolchain.c -- reads build/lab/toolchain: "key = value" lines, '#' comments.
#include "exercises/grader/toolchain.h"

#include <stdio.h>
#include <string.h>

#include "exercises/grader/text_file.h"
#include "tensor/memory.h"

enum { MOST_BYTES = 1 << 16 };

typedef struct Line {
    const char *path;
    int number;
    char *key, *value; // without spaces around; NULL: nothing on this line
} Line;

static char *trim(char *text) {
    text += strspn(text, " \t");
    size_t length = strlen(text);
    while (length > 0 && strchr(" \t\r", text[length - 1])) length--;
    text[length] = '\0';
    return text;
}

static Status bad_line(const Line *line, const char *problem) {
    return error_set(STATUS_FORMAT, "%s:%d: %s. HINT: `make lab-parts` writes this file",
                     line->path, line->number, problem);
}

static Status split(char *text, Line *line) {
    line->key = NULL;
    text = trim(text);
    if (text[0] == '\0' || text[0] == '#') return STATUS_OK;
    char *equals = strchr(text, '=');
    if (!equals) return bad_line(line, "no '='");
    *equals = '\0';
    line->key = trim(text);
    line->value = trim(equals + 1);
    return STATUS_OK;
}

// ---- values ------------------------------------------------------------------------------------
static Status set_path(const Line *line, char path[512]) {
    if (line->value[0] != '/') return bad_line(line, "not an absolute path");
    if (strlen(line->value) >= 512) return bad_line(line, "a path of more than 511 bytes");
    strcpy(path, line->value);
    return STATUS_OK;
}

static Status set_words(const Line *line, char *words[TOOLCHAIN_MOST_WORDS]) {
    int count = 0;
    char *rest = NULL;
    if (words[0]) return bad_line(line, "a second list");
    for (char *word = strtok_r(line->value, " \t", &rest); word;
         word = strtok_r(NULL, " \t", &rest)) {
        if (count == TOOLCHAIN_MOST_WORDS - 1) return bad_line(line, "too many words");
        words[count] = memory_copy_string(word);
        if (!words[count++]) return error_status();
    }
    return STATUS_OK;
}

// "worker 02"
static Status add_worker(const Line *line, Toolchain *toolchain) {
    const char *number = line->key + strlen("worker ");
    if (toolchain->n_workers == TOOLCHAIN_MOST_EXERCISES) return bad_line(line, "too many workers");
    ToolchainWorker *worker = &toolchain->workers[toolchain->n_workers];
    if (strlen(number) >= sizeof worker->number) return bad_line(line, "no number of an exercise");
    if (toolchain_worker(toolchain, number)) return bad_line(line, "a second worker");
    strcpy(worker->number, number);
    toolchain->n_workers++;
    return set_path(line, worker->object);
}

static Status set(const Line *line, Toolchain *toolchain) {
    const struct {
        const char *key;
        char *path;
        char **words;
    } entries[] = {{"compiler", toolchain->compiler, NULL},  {"nm", toolchain->nm, NULL},
                   {"objcopy", toolchain->objcopy, NULL},    {"readelf", toolchain->readelf, NULL},
                   {"headers", toolchain->headers, NULL},    {"cflags", NULL, toolchain->cflags},
                   {"libraries", NULL, toolchain->libraries}};
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        if (strcmp(line->key, entries[i].key) != 0) continue;
        return entries[i].path ? set_path(line, entries[i].path)
                               : set_words(line, entries[i].words);
    }
    if (strncmp(line->key, "worker ", 7) == 0) return add_worker(line, toolchain);
    return bad_line(line, "an unknown key");
}

// ---- the file ----------------------------------------------------------------------------------
static Status check_complete(const char *path, const Toolchain *toolchain) {
    if (toolchain->compiler[0] && toolchain->nm[0] && toolchain->objcopy[0] &&
        toolchain->readelf[0] && toolchain->headers[0])
        return STATUS_OK;
    return error_set(STATUS_FORMAT,
                     "%s: compiler, nm, objcopy, readelf or headers is missing. HINT: `make "
                     "lab-parts` writes this file",
                     path);
}

Status toolchain_read(const char *path, Toolchain *toolchain) {
    memset(toolchain, 0, sizeof *toolchain);
    char *text = file_read(NULL, path, MOST_BYTES, NULL), *rest = text;
    Status status = text ? STATUS_OK : error_status();
    Line line = {.path = path};
    while (!status && rest) {
        char *next = strsep(&rest, "\n");
        line.number++;
        status = split(next, &line);
        if (!status && line.key) status = set(&line, toolchain);
    }
    memory_free(text);
    return status ? status : check_complete(path, toolchain);
}

void toolchain_free(Toolchain *toolchain) {
    for (int i = 0; i < TOOLCHAIN_MOST_WORDS; i++) {
        memory_free(toolchain->cflags[i]);
        memory_free(toolchain->libraries[i]);
    }
    memset(toolchain, 0, sizeof *toolchain);
}

const ToolchainWorker *toolchain_worker(const Toolchain *toolchain, const char *number) {
    for (int i = 0; i < toolchain->n_workers; i++)
        if (strcmp(toolchain->workers[i].number, number) == 0) return &toolchain->workers[i];
    return NULL;
}
