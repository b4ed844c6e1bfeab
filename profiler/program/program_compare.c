// program_compare.c -- several networks: profiles each in turn as if it were alone, frees it before
// the next, and prints their profiles as the rows of one table.
#include <stdio.h>
#include <string.h>

#include "layers/models/zoo.h"
#include "profiler/base/text.h"
#include "profiler/program/program.h"
#include "tensor/memory.h"

typedef struct Entry { // one network
    Options options;   // differ only in the network
    Program program;
} Entry;

// Puts the network's name at the start of the error message.
static Status blame(const Entry *entry, Status status) {
    char message[600];
    const char *name = entry->options.model;
    if (!status || strncmp(error_message(), name, strlen(name)) == 0) return status;
    snprintf(message, sizeof(message), "%s", error_message());
    error_clear();
    return error_set(status, "%.60s: %s", name, message);
}

static void release(Program *program) { // all but the profile
    tensor_free(program->x);
    tensor_free(program->labels);
    layer_free(program->model);
    program->x = program->labels = NULL;
    program->model = NULL;
}

// Finds all networks and checks their memory before the first is profiled.
static Status find_each(const Program *program, Entry *entries) {
    Status status = STATUS_OK;
    int n = program->options->n_models;
    for (int i = 0; i < n && !status; i++) {
        Entry *entry = &entries[i];
        entry->options = *program->options;
        entry->options.model = program->options->models[i];
        entry->program = *program;
        entry->program.options = &entry->options;
        entry->program.report = false;
        status = program->kind->find(&entry->program);
        if (!status) status = program_check_memory(&entry->program);
        status = blame(entry, status);
    }
    return status;
}

static Status profile_each(Program *program, Entry *entries) {
    Status status = STATUS_OK;
    int n = program->options->n_models;
    for (int i = 0; i < n && !status && (i == 0 || !program_is_stopped()); i++) {
        Program *one = &entries[i].program;
        if (i > 0) one->machine = entries[i - 1].program.machine; // ceilings are measured once
        snprintf(one->progress, sizeof(one->progress), "%d of %d, %.24s", i + 1, n,
                 entries[i].options.model);
        status = blame(&entries[i], program_profile(one));
        release(one);
        if (!status && program_verdict(one)) program->failed = true;
        program->n_profiled = i + 1;
    }
    return status;
}

// A network's name; a file's name without its folder; a text unchanged.
static const char *short_name(const Entry *entry) {
    const Subject *subject = &entry->program.subject;
    const char *folder = subject->file ? strrchr(subject->file, '/') : NULL;
    if (subject->network) return subject->network->name;
    return folder ? folder + 1 : entry->options.model;
}

static Status write_json(const Program *program, const Entry *entries, JsonWriter *json) {
    const Profile *profiles[OPTIONS_MAX_MODELS];
    int n = program->n_profiled;
    for (int i = 0; i < n; i++) profiles[i] = &entries[i].program.profile;
    return profile_write_json_each(profiles, n, program->command, json);
}

static void print(const Program *program, const Entry *entries) {
    Compared rows[OPTIONS_MAX_MODELS];
    int n = program->n_profiled, all = program->options->n_models;
    for (int i = 0; i < n; i++)
        rows[i] = (Compared){short_name(&entries[i]), &entries[i].program.profile};
    comparison_print(rows, n, program->options->comparison_sort, stdout);
    if (program_is_stopped())
        printf("\nCUT SHORT, as was asked: %d of %d, the last by what ran until then\n", n, all);
    for (int i = 0; i < n; i++) {
        if (!entries[i].program.subject.remark[0]) continue;
        printf("\n%s\n", short_name(&entries[i]));
        text_print_wrapped(entries[i].program.subject.remark, "", "", stdout);
    }
}

static Status compare(Program *program, Entry *entries) {
    const Options *options = program->options;
    Status status = find_each(program, entries);
    JsonWriter *json = !status && options->json ? json_file_open(options->json) : NULL;
    if (!status && options->json && !json) status = error_status();
    if (!status) status = profile_each(program, entries);
    if (status) {
        json_writer_discard(json);
        return status;
    }
    if (program->report) print(program, entries);
    return json ? write_json(program, entries, json) : STATUS_OK;
}

Status program_compare(Program *program) {
    int n = program->options->n_models;
    Entry *entries = memory_new((size_t)n * sizeof(Entry));
    if (!entries) return error_status();
    Status status = compare(program, entries);
    for (int i = 0; i < n; i++) {
        release(&entries[i].program);
        profile_free(&entries[i].program.profile);
        onnx_model_free(&entries[i].program.onnx);
    }
    memory_free(entries);
    return status;
}
