// progress.c -- .lab/progress.json, read with jansson, written by the library's writer.
#include "exercises/lab/command.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exercises/course/text_file.h"
#include "profiler/base/json_writer.h"

#define SCHEMA "ridgepoint.progress/v1"

static bool path_of(const char *folder, const char *name, char path[PATH_MAX]) {
    return snprintf(path, PATH_MAX, "%s/.lab%s", folder, name) < PATH_MAX;
}

const ProgressEntry *progress_find(const Progress *progress, const char *number) {
    for (int i = 0; i < progress->n_entries; i++)
        if (strcmp(progress->entries[i].number, number) == 0) return &progress->entries[i];
    return NULL;
}

ProgressEntry *progress_entry(Progress *progress, const char *number) {
    for (int i = 0; i < progress->n_entries; i++)
        if (strcmp(progress->entries[i].number, number) == 0) return &progress->entries[i];
    if (progress->n_entries == PROGRESS_MOST) return &progress->entries[PROGRESS_MOST - 1];
    ProgressEntry *entry = &progress->entries[progress->n_entries++];
    *entry = (ProgressEntry){.last = -1};
    snprintf(entry->number, sizeof entry->number, "%s", number);
    return entry;
}

bool progress_take_key(Progress *progress, const char *key) {
    char student[KEY_STUDENT], token[KEY_TOKEN];
    if (!key_read(key, student, token)) return false;
    char clean[KEY_STUDENT];
    snprintf(clean, sizeof clean, "%s", student);
    text_clean(clean);
    if (strcmp(clean, student) != 0 || strchr(clean, '\n')) return false;
    memcpy(progress->student, student, sizeof student);
    memcpy(progress->token, token, sizeof token);
    key_write(student, token, progress->key);
    return true;
}

// ---- reading -----------------------------------------------------------------------------------
// Reads the key. An old file has only a name, which gets the key of a course without a secret.
static void take_student(const json_t *root, Progress *progress) {
    const char *key = json_string_value(json_object_get(root, "key"));
    const char *student = json_string_value(json_object_get(root, "student"));
    char token[KEY_TOKEN], text[KEY_TEXT];
    if (key && progress_take_key(progress, key)) return;
    if (!student || !student[0]) return;
    key_token("", student, token);
    key_write(student, token, text);
    progress_take_key(progress, text);
}

static void take_text(const json_t *object, const char *key, char *text, size_t size) {
    const char *value = json_string_value(json_object_get(object, key));
    snprintf(text, size, "%s", value ? value : "");
}

static int take_number(const json_t *object, const char *key, int least, int most, int otherwise) {
    const json_t *value = json_object_get(object, key);
    json_int_t number = json_integer_value(value);
    return json_is_integer(value) && number >= least && number <= most ? (int)number : otherwise;
}

static void take_entries(json_t *entries, Progress *progress) {
    const char *number;
    json_t *value;
    json_object_foreach(entries, number, value) {
        if (strlen(number) >= sizeof progress->entries[0].number) continue;
        ProgressEntry *entry = progress_entry(progress, number);
        entry->best = take_number(value, "best", 0, 1000, 0);
        entry->last = take_number(value, "last", -1, 1000, -1);
        entry->hints = take_number(value, "hints", 0, 3, 0);
        take_text(value, "state", entry->state, sizeof entry->state);
    }
}

Status progress_read(const char *folder, Progress *progress) {
    char path[PATH_MAX];
    json_error_t error;
    *progress = (Progress){.n_entries = 0};
    if (!path_of(folder, "/progress.json", path) || access(path, F_OK) != 0) return STATUS_OK;
    json_t *root = json_load_file(path, 0, &error);
    const char *schema = json_string_value(json_object_get(root, "schema"));
    if (!schema || strcmp(schema, SCHEMA) != 0) {
        json_decref(root);
        return error_set(STATUS_FORMAT,
                         "%s: line %d: %s. HINT: remove the file; only the best scores and the "
                         "hints seen are forgotten",
                         path, root ? 1 : error.line, root ? "schema is not " SCHEMA : error.text);
    }
    take_student(root, progress);
    take_text(root, "mistake", progress->mistake, sizeof progress->mistake);
    take_text(root, "exercise", progress->exercise, sizeof progress->exercise);
    take_entries(json_object_get(root, "exercises"), progress);
    json_decref(root);
    return STATUS_OK;
}

// ---- writing -----------------------------------------------------------------------------------
static void put_progress(JsonWriter *json, const Progress *progress) {
    json_writer_begin_object(json);
    json_writer_string(json_writer_key(json, "schema"), SCHEMA);
    json_writer_string(json_writer_key(json, "student"), progress->student);
    json_writer_string(json_writer_key(json, "key"), progress->key);
    json_writer_string(json_writer_key(json, "exercise"), progress->exercise);
    json_writer_string(json_writer_key(json, "mistake"), progress->mistake);
    json_writer_begin_object(json_writer_key(json, "exercises"));
    for (int i = 0; i < progress->n_entries; i++) {
        const ProgressEntry *entry = &progress->entries[i];
        json_writer_begin_record(json_writer_key(json, entry->number));
        json_writer_int64(json_writer_key(json, "best"), entry->best);
        json_writer_int64(json_writer_key(json, "last"), entry->last);
        json_writer_int64(json_writer_key(json, "hints"), entry->hints);
        json_writer_string(json_writer_key(json, "state"), entry->state);
        json_writer_end_object(json);
    }
    json_writer_end_object(json);
    json_writer_end_object(json);
}

Status progress_write(const char *folder, const Progress *progress) {
    char path[PATH_MAX];
    if (!path_of(folder, "", path)) return error_set(STATUS_IO, "%s: the path is too long", folder);
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        return error_set(STATUS_IO,
                         "cannot make the folder '%s': %s. HINT: check that '%s' is writable", path,
                         strerror(errno), folder);
    if (!path_of(folder, "/progress.json", path))
        return error_set(STATUS_IO, "%s: the path is too long", folder);
    JsonWriter *json = json_file_open(path);
    if (!json) return error_status();
    put_progress(json, progress);
    return json_writer_close(json);
}
