// mystery_files.c -- the files in which a student looks for a mystery's fault: a report, a page,
// derivations, tables. Separate from the command, which uses another type Page.
#include <stdio.h>
#include <stdlib.h>

#include "exercises/lab/mystery.h"
#include "layers/files/whole_file.h"
#include "profiler/explain/explain.h"
#include "profiler/files/exports.h"
#include "profiler/look/page.h"
#include "profiler/report/report.h"

static Status print_report(const Profile *profile, FILE *file) {
    report_print(profile, file);
    return STATUS_OK;
}

static Status print_explanation(const Profile *profile, FILE *file) {
    return explain_print(profile, "*", file);
}

// Writes the output of a function that prints into a FILE, as a whole file.
static Status write_print(const Profile *profile, const char *path,
                          Status (*print)(const Profile *, FILE *)) {
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    Status status = memory ? print(profile, memory) : STATUS_OUT_OF_MEMORY;
    if (memory && fclose(memory) != 0) status = STATUS_OUT_OF_MEMORY;
    if (status == STATUS_OUT_OF_MEMORY) error_set(status, "%s: out of memory", path);
    WholeFile *file = status ? NULL : whole_file_open(path);
    if (file) whole_file_write(file, text, size);
    if (!status) status = file ? whole_file_close(file) : error_status();
    free(text);
    return status;
}

static Status write_report(const MysteryProfiles *both, const char *path) {
    return write_print(&both->together, path, print_report);
}
static Status write_report_alone(const MysteryProfiles *both, const char *path) {
    return write_print(&both->alone, path, print_report);
}
static Status write_explanation(const MysteryProfiles *both, const char *path) {
    return write_print(&both->together, path, print_explanation);
}
static Status write_page(const MysteryProfiles *both, const char *path) {
    const Profile *profile = &both->together;
    return page_write(&(Page){.title = profile->model, .profile = profile}, path);
}
static Status write_table(const MysteryProfiles *both, const char *path) {
    return profile_write_csv(&both->together, path);
}
static Status write_document(const MysteryProfiles *both, const char *path) {
    JsonWriter *json = json_file_open(path);
    const ProfileTraining none = {.absent = "a mystery is only measured"};
    return json ? profile_write_json(&both->together, &none, "./lab mystery", json)
                : error_status();
}

const MysteryFile mystery_files[] = {
    {"report.txt", "the report: where the time goes, and the data wait", write_report},
    {"page.html", "the same with pictures, for a browser", write_page},
    {"explain.txt", "every number's derivation: roof, kernel, hand-offs, left", write_explanation},
    {"one_thread.txt", "the report of the same program with one thread", write_report_alone},
    {"layers.csv", "each phase of each layer, for a spreadsheet", write_table},
    {"profile.json", "all of it, with every sample, for a program", write_document},
};
const int mystery_file_count = sizeof mystery_files / sizeof mystery_files[0];
