// mystery.c -- ./lab mystery SEED: measures a program with one fault; writes its profile into a
// folder for the student, and its numbers into mystery.csv, which exercise 16 reads. It writes
// nothing unless the planted cause shows in the numbers.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "exercises/course/table_text.h"
#include "exercises/course/text_file.h"
#include "exercises/lab/command.h"
#include "exercises/lab/mystery.h"
#include "layers/files/whole_file.h"
#include "tensor/context.h"
#include "tensor/memory.h"

// ---- what is written ---------------------------------------------------------------------------
static Status write_record(const Lab *lab, const MysteryRecord *record) {
    char path[PATH_MAX], text[MYSTERY_TEXT], seal[KEY_SEAL];
    size_t size = mystery_text(record, text);
    snprintf(path, sizeof path, "%.4000s/mystery.csv", lab->folder);
    WholeFile *file = whole_file_open(path);
    if (!file) return error_status();
    whole_file_write(file, text, size);
    if (lab->progress.key[0]) {
        key_seal(lab->progress.token, text, size, seal);
        whole_file_print(file, TABLE_SEAL_LINE "%s\n", seal);
    }
    return whole_file_close(file);
}

// Writes the record last, after the files that it describes.
static Status write_all(const Lab *lab, const MysteryProfiles *both, const MysteryRecord *record) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%.4000s/mystery", lab->folder);
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        return error_set(STATUS_IO, "%s/mystery: %s", lab->shown_folder, strerror(errno));
    for (int i = 0; i < mystery_file_count; i++) {
        snprintf(path, sizeof path, "%.4000s/mystery/%s", lab->folder, mystery_files[i].name);
        Status status = mystery_files[i].write(both, path);
        if (status) return status;
    }
    return write_record(lab, record);
}

// ---- the command -------------------------------------------------------------------------------
static int tell(const Lab *lab, int64_t seed) {
    Page page = {.colour = lab->colour};
    page_label(&page, NULL);
    page_print(&page, PAGE_BOLD, 0, "mystery %d: what takes the time, and why?", (int)seed);
    page_end_line(&page);
    for (int i = 0; i < mystery_file_count; i++) {
        page_label(&page, i == 0 ? "look at" : "");
        page_print(&page, PAGE_PLAIN, 0, "%s/mystery/%s", lab->shown_folder, mystery_files[i].name);
        page_end_line(&page);
        page_label(&page, "");
        page_print(&page, PAGE_DIM, 2, "%s", mystery_files[i].what);
        page_end_line(&page);
    }
    page_label(&page, "answer");
    page_print(&page, PAGE_PLAIN, 0, "in %s/mystery.txt, which says what there is to choose from",
               lab->shown_folder);
    page_end_line(&page);
    page_label(&page, "then");
    page_piece(&page, PAGE_BOLD, 0, "./lab check 16");
    page_end_line(&page);
    return lab_show(&page);
}

static bool shows(const MysteryPlan *plan, const MysteryRecord *record) {
    MysteryFinding found = mystery_find(record);
    return found.cause == plan->cause && found.place == plan->place;
}

// Measures until the planted cause shows, because other work on the machine can hide it.
static int measure(const Lab *lab, int64_t seed, MysteryProfiles *both) {
    enum { TRIES = 5 };
    MysteryPlan plan = mystery_plan(seed);
    MysteryRecord record = {.seed = 0};
    bool seen = false;
    for (int i = 0; i < TRIES && !seen; i++) {
        mystery_profiles_free(both);
        if (mystery_measure(&plan, (MysteryOptions){.machine = NULL}, both)) return lab_fail();
        record = mystery_record(seed, both);
        seen = shows(&plan, &record);
    }
    if (!seen)
        return lab_refuse(LAB_FAILED,
                          "mystery %d: what is planted does not show, because this machine is busy "
                          "or not made for it; nothing is written. Try when it is quiet, or take "
                          "one that your teacher has recorded: ./lab mystery %d --recorded DIR",
                          (int)seed, (int)seed);
    snprintf(both->together.model, sizeof both->together.model, "mystery %d", (int)seed);
    snprintf(both->alone.model, sizeof both->alone.model, "mystery %d", (int)seed);
    return write_all(lab, both, &record) ? lab_fail() : LAB_DONE;
}

// ---- one that was recorded ----------------------------------------------------------------------
static Status copy_file(const char *from, const char *to) {
    size_t count = 0;
    char *bytes = file_read(NULL, from, LAB_MOST_BYTES, &count);
    Status status = bytes ? file_write(NULL, to, bytes, count) : error_status();
    memory_free(bytes);
    return status;
}

// Copies the record last, as write_all does.
static Status copy_all(const Lab *lab, const MysteryRecord *record) {
    char from[PATH_MAX], to[PATH_MAX];
    snprintf(to, sizeof to, "%.4000s/mystery", lab->folder);
    if (mkdir(to, 0777) != 0 && errno != EEXIST)
        return error_set(STATUS_IO, "%s/mystery: %s", lab->shown_folder, strerror(errno));
    for (int i = 0; i < mystery_file_count; i++) {
        const char *name = mystery_files[i].name;
        snprintf(from, sizeof from, "%.4000s/mystery/%s", lab->options.recorded, name);
        snprintf(to, sizeof to, "%.4000s/mystery/%s", lab->folder, name);
        Status status = copy_file(from, to);
        if (status) return status;
    }
    return write_record(lab, record);
}

// Takes a record made on a quiet machine with --files DIR, since the program of a seed is the same
// for everybody. The record must show the cause that the seed plants.
static int take_recorded(const Lab *lab, int64_t seed) {
    char path[PATH_MAX], problem[CASE_LINE];
    MysteryPlan plan = mystery_plan(seed);
    MysteryRecord record;
    snprintf(path, sizeof path, "%.4000s/mystery.csv", lab->options.recorded);
    char *text = file_read(NULL, path, LAB_MOST_BYTES, NULL);
    if (!text) return lab_fail();
    bool sound = mystery_read(text, &record, problem);
    memory_free(text);
    if (!sound) return lab_refuse(LAB_FILE, "--recorded: %s", problem);
    if (record.seed != seed)
        return lab_refuse(LAB_FILE, "--recorded: %.300s/mystery.csv is of mystery %d: name that",
                          lab->options.recorded, (int)record.seed);
    if (!shows(&plan, &record))
        return lab_refuse(LAB_FILE,
                          "--recorded: %.300s/mystery.csv does not show what mystery %d plants: "
                          "ask your teacher for another",
                          lab->options.recorded, (int)seed);
    return copy_all(lab, &record) ? lab_fail() : tell(lab, seed);
}

int command_mystery(Lab *lab) {
    char *end;
    errno = 0;
    long long seed = strtoll(lab->argument, &end, 10);
    bool number = end != lab->argument && *end == '\0' && errno == 0;
    if (!number || seed < 1 || seed > MYSTERY_MOST_SEED)
        return lab_refuse(LAB_USAGE, "mystery %.40s: a seed is a number from 1 to %d",
                          lab->argument, MYSTERY_MOST_SEED);
    if (lab->options.recorded) return take_recorded(lab, seed);
    if (mystery_plan(seed).cause == CAUSE_FALSE_SHARING && context_current()->threads < 2)
        return lab_refuse(LAB_FAILED,
                          "mystery %d needs two cores, and this process has one: another seed may "
                          "not",
                          (int)seed);
    printf("measuring a program, with two threads and with one: some seconds\n");
    fflush(stdout);
    MysteryProfiles both = {.together = {.kind = PROFILE_TRAINING}};
    int status = measure(lab, seed, &both);
    mystery_profiles_free(&both);
    return status ? status : tell(lab, seed);
}
