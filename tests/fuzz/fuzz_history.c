// fuzz_history.c -- files for the reader of histories: for any input it returns entries, which have
// a trend and can be added to, or there is one message.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profiler/compare/trend.h"
#include "profiler/files/saved.h"
#include "tensor/memory.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/json_mutator.h"

static void check_entry(const HistoryEntry *entry) {
    promise(entry->work && memchr(entry->created, '\0', sizeof entry->created));
    promise(entry->n_runs >= 0 && (entry->n_runs == 0 || entry->runs));
    for (int i = 0; i < entry->n_runs; i++)
        promise(entry->runs[i] > 0.0 && isfinite(entry->runs[i]));
    promise(entry->peak_bytes >= 0 && entry->total_flops >= 0 && entry->parameters >= 0);
}

// Number of entries; -1: not a history.
static int read_file(const char *path, uint64_t failing, FILE *nowhere) {
    History history;
    memory_fail_at(failing);
    Status status = history_read(path, &history);
    memory_fail_at(0);
    int n = status ? -1 : history.n;
    if (status) promise_error(status);
    for (int i = 0; i < n; i++) check_entry(&history.entries[i]);
    if (!status) promise(trend_print(&history, nowhere) == STATUS_OK);
    history_free(&history);
    promise_clean();
    return n;
}

// One line more is one entry more, even after a line that was cut off.
static void append(const char *path, int n, FILE *nowhere) {
    Profile profile = {.device = "cpu", .threads = 1, .parameters = 7};
    snprintf(profile.model, sizeof profile.model, "MLP");
    Status status = history_append(&profile, "profile_mlp", path);
    if (status)
        promise_error(status);
    else
        promise(n < 0 || read_file(path, 0, nowhere) == n + 1);
    promise(n < 0 || !status);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static FILE *nowhere;
    if (!nowhere) nowhere = fopen("/dev/null", "w");
    FuzzFile file = fuzz_file(bytes, size);
    int n = read_file(file.path, 0, nowhere);
    read_file(file.path, 1 + size % 11, nowhere);
    if (size % 4 == 0) append(file.path, n, nowhere);
    fuzz_file_end(&file);
    return 0;
}

// Changes one line, or the order of lines.
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned seed) {
    size_t begin = size ? seed % size : 0, end = begin;
    while (begin > 0 && bytes[begin - 1] != '\n') begin--;
    while (end < size && bytes[end] != '\n') end++;
    uint8_t *line = malloc(most + 1);
    promise(line != NULL);
    memcpy(line, bytes + begin, end - begin);
    size_t rest = size - end, room = most - begin - rest, length = end - begin;
    bool twice = seed / 7 % 4 == 0 && room > 2 * length;
    if (twice) {
        line[length] = '\n';
        memcpy(line + length + 1, bytes + begin, length);
        length = 2 * length + 1;
    } else {
        length = json_mutate(line, length, room, seed);
    }
    memmove(bytes + begin + length, bytes + end, rest);
    memcpy(bytes + begin, line, length);
    free(line);
    return begin + length + rest;
}
