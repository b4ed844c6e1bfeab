// history.c -- appends and reads lines of JSON.
#include "profiler/files/saved.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "profiler/base/environment.h"
#include "profiler/base/input_file.h"
#include "profiler/base/text.h"
#include "profiler/files/profile_json_parts.h"
#include "profiler/measure/ratio.h"
#include "tensor/memory.h"

static const char schema[] = "ridgepoint.history/v1";
static const char begins[] = "{\"schema\": \"ridgepoint.history/v1\""; // start of each line of ours

// True if an unended last line is ours and truncated; otherwise it is complete, or not ours.
static bool is_cut(const char *text, size_t size) {
    size_t length = sizeof(begins) - 1;
    if (size < length || memcmp(text, begins, length) != 0) return false;
    json_t *document = json_loadb(text, size, 0, NULL);
    json_decref(document);
    return document == NULL;
}

// ---- writing -----------------------------------------------------------------------------------
static void write_runs(JsonWriter *json, const Latency *step) {
    const Latency *across = step->across;
    json_writer_begin_array(json_writer_key(json, "runs"));
    for (int64_t i = 0; across && i < across->count; i++)
        json_writer_double(json, across->samples[i]);
    if (!across && step->count > 0) json_writer_double(json, step->statistics.median);
    json_writer_end_array(json);
}

// Writes the divisor of each run, in their order.
static void write_beats(JsonWriter *json, const Profile *profile) {
    const ProfilePhase *step = &profile->totals[REPORT_STEP];
    const Latency *across = step->latency.across;
    int64_t n = across ? across->count : step->latency.count > 0;
    bool computes = profile_computes(step->cost);
    if (profile->metronome.version == 0 || isnan(profile_beat(profile, n - 1, computes))) return;
    member_integer(json, "metronome_version", profile->metronome.version);
    json_writer_begin_array(json_writer_key(json, "beats"));
    for (int64_t i = 0; i < n; i++) json_writer_double(json, profile_beat(profile, i, computes));
    json_writer_end_array(json);
}

static void write_work(JsonWriter *json, const Profile *profile, const char *work) {
    Environment environment;
    char on[400];
    size_t size = strlen(work) + sizeof(on);
    char *text = memory_new(size);
    environment_read(&environment);
    snprintf(on, sizeof(on), "; %.160s, %s, %d thread%s, %s", profile->model, profile->device,
             profile->threads, profile->threads == 1 ? "" : "s", environment.cpu);
    if (text) snprintf(text, size, "%s%s", work, on);
    if (text) member_text(json, "work", text);
    memory_free(text);
}

static void write_entry(JsonWriter *json, const Profile *profile, const char *work) {
    const ProfilePhase *step = &profile->totals[REPORT_STEP];
    bool ran = profile->measured.peak.total > 0;
    json_writer_begin_record(json);
    member_text(json, "schema", schema);
    json_date(json, "created");
    write_work(json, profile, work);
    write_runs(json, &step->latency);
    write_beats(json, profile);
    member_integer(json, "peak_bytes",
                   ran ? profile->measured.peak.total : profile->predicted.peak.total);
    member_count(json, "total_flops", op_cost_total_flops(step->cost));
    member_integer(json, "parameters", profile->parameters);
    json_writer_end_object(json);
}

// Reads the last line if it has no end; NULL: there is none, or no memory (an error is pending).
// *at: its offset.
static char *unended_line(int file, off_t *at, size_t *size) {
    off_t end = lseek(file, 0, SEEK_END);
    char byte;
    for (*at = end; *at > 0 && pread(file, &byte, 1, *at - 1) == 1 && byte != '\n';) --*at;
    *size = (size_t)(end - *at);
    char *text = *size > 0 ? memory_new(*size) : NULL;
    if (text && pread(file, text, *size, *at) == (ssize_t)*size) return text;
    memory_free(text);
    return NULL;
}

// Finds the offset for the new line, after the last whole one; -1: the file is not ours, or
// unreadable. *whole: the last line lacks only its end.
static off_t place_of(int file, bool *whole) {
    off_t at;
    size_t size;
    char *text = unended_line(file, &at, &size);
    bool cut = text && is_cut(text, size);
    json_t *document = text && !cut ? json_loadb(text, size, 0, NULL) : NULL;
    const char *said = json_string_value(json_object_get(document, "schema"));
    *whole = said && strcmp(said, schema) == 0;
    json_decref(document);
    memory_free(text);
    if (size == 0 || cut) return at;
    return *whole ? at + (off_t)size : -1;
}

static Status append(int file, const char *path, const char *text, size_t length) {
    bool whole;
    off_t at = place_of(file, &whole);
    if (at < 0)
        return error_set(STATUS_FORMAT,
                         "--history %s: its last line is cut off, and not of a "
                         "history. HINT: name another file",
                         path);
    errno = 0;
    bool written = ftruncate(file, at) == 0 && lseek(file, at, SEEK_SET) == at &&
                   (!whole || write(file, "\n", 1) == 1) &&
                   write(file, text, length) == (ssize_t)length && fsync(file) == 0;
    if (written) return STATUS_OK;
    int number = errno ? errno : ENOSPC;
    if (ftruncate(file, at) != 0) number = errno;
    return error_set(STATUS_IO, "--history %s: %s. HINT: name a file that can be written", path,
                     strerror(number));
}

Status history_append(const Profile *profile, const char *work, const char *path) {
    char *text = NULL;
    size_t length;
    FILE *stream = open_memstream(&text, &length);
    JsonWriter *json = stream ? json_writer_new(stream, "a line") : NULL;
    if (json) write_entry(json, profile, work);
    Status status = json ? json_writer_close(json) : STATUS_OK;
    if (!status) status = error_status(); // the text is incomplete
    if (!stream || fclose(stream) != 0 || !json)
        status = error_set(STATUS_OUT_OF_MEMORY, "--history: no room for a line");
    errno = 0;
    int file = status ? -1 : open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (!status && file < 0)
        status = error_set(STATUS_IO, "--history %s: %s", path, strerror(errno));
    while (!status && flock(file, LOCK_EX) != 0 && errno == EINTR) {
    } // without locks, assume one writer
    if (!status) status = append(file, path, text, length);
    if (file >= 0) close(file);
    free(text);
    return status;
}

// ---- reading -----------------------------------------------------------------------------------
static Status refuse(const char *path, int line, const char *what) {
    return error_set(STATUS_FORMAT, "%s: line %d: %s. HINT: --history adds lines to such a file",
                     path, line, what);
}

static bool read_count(json_t *object, const char *key, int64_t *count) {
    json_t *value = json_object_get(object, key);
    *count = json_integer_value(value);
    return json_is_integer(value) && *count >= 0;
}

// Reads (n) seconds; NULL with an error pending, or without one if there are none.
static double *read_times(json_t *from, const char *path, int line, int *n) {
    size_t size = json_array_size(from);
    if (!json_is_array(from) || size > RATIO_MOST) {
        refuse(path, line, "expected runs, at most 1000");
        return NULL;
    }
    double *times = size > 0 ? memory_new(size * sizeof(double)) : NULL;
    for (size_t i = 0; times && i < size; i++) {
        times[i] = json_number_value(json_array_get(from, i));
        if (times[i] >= 1e-12 && times[i] < 1e9) continue;
        memory_free(times);
        refuse(path, line, "a run is not a time");
        return NULL;
    }
    *n = (int)size;
    return times;
}

// Entries older than the metronome have no beats.
static Status read_runs(json_t *from, const char *path, int line, HistoryEntry *entry) {
    int beats;
    json_t *version = json_object_get(from, "metronome_version");
    entry->runs = read_times(json_object_get(from, "runs"), path, line, &entry->n_runs);
    if (error_pending() || !version) return error_status();
    if (!json_is_integer(version) || json_integer_value(version) < 1 ||
        json_integer_value(version) > INT32_MAX)
        return refuse(path, line, "a metronome's version is not a whole number from 1 on");
    entry->metronome = (int)json_integer_value(version);
    entry->beats = read_times(json_object_get(from, "beats"), path, line, &beats);
    if (error_pending() || beats == entry->n_runs) return error_status();
    return refuse(path, line, "expected as many beats as runs");
}

static Status read_entry(json_t *from, const char *path, int line, HistoryEntry *entry) {
    const char *texts[] = {json_string_value(json_object_get(from, "schema")),
                           json_string_value(json_object_get(from, "created")),
                           json_string_value(json_object_get(from, "work"))};
    if (!texts[0] || strcmp(texts[0], schema) != 0)
        return refuse(path, line, "its schema is not ridgepoint.history/v1");
    if (!texts[1] || !texts[2])
        return refuse(path, line, "its date or what was profiled is missing");
    text_take_plain(texts[1], entry->created, sizeof(entry->created));
    entry->work = memory_new(strlen(texts[2]) + 1);
    if (!entry->work) return error_status();
    text_take_plain(texts[2], entry->work, strlen(texts[2]) + 1);
    if (!read_count(from, "peak_bytes", &entry->peak_bytes) ||
        !read_count(from, "total_flops", &entry->total_flops) ||
        !read_count(from, "parameters", &entry->parameters))
        return refuse(path, line, "a count is missing");
    return read_runs(from, path, line, entry);
}

static Status read_line(const char *text, size_t length, const char *path, History *history) {
    json_t *document = json_loadb(text, length, 0, NULL);
    int line = history->n + 1;
    if (!document) return refuse(path, line, "not JSON");
    Status status = read_entry(document, path, line, &history->entries[history->n++]);
    json_decref(document);
    return status;
}

Status history_read(const char *path, History *history) {
    size_t size, lines = 0;
    *history = (History){0};
    char *text = input_file_read(path, HISTORY_MOST_BYTES, &size), *end;
    if (!text) return error_status();
    for (size_t i = 0; i < size; i++) lines += text[i] == '\n';
    history->entries = memory_new((lines + 1) * sizeof(HistoryEntry));
    for (char *line = text; history->entries && line < text + size; line = end + 1) {
        size_t left = size - (size_t)(line - text);
        end = memchr(line, '\n', left);
        if (!end && is_cut(line, left)) break;
        if (!end) end = line + left;
        if (read_line(line, (size_t)(end - line), path, history)) break;
    }
    memory_free(text);
    return error_status();
}

void history_free(History *history) {
    for (int i = 0; i < history->n; i++) {
        memory_free(history->entries[i].runs);
        memory_free(history->entries[i].beats);
        memory_free(history->entries[i].work);
    }
    memory_free(history->entries);
    *history = (History){0};
}
