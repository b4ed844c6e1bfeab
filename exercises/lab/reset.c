// reset.c -- ./lab reset: restores a skeleton, after a backup of the student's file in .lab/backup.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "exercises/course/text_file.h"
#include "exercises/lab/command.h"
#include "layers/files/whole_file.h"
#include "tensor/memory.h"

enum { NAME = 96, MOST_BACKUPS = 1000 };

static Status write_file(const char *path, const char *text, size_t size) {
    WholeFile *file = whole_file_open(path);
    if (!file) return error_status();
    whole_file_write(file, text, size);
    return whole_file_close(file);
}

static Status make_folder(const char *path) {
    if (mkdir(path, 0777) == 0 || errno == EEXIST) return STATUS_OK;
    return error_set(STATUS_IO, "cannot make the folder '%s': %s. HINT: check that it is writable",
                     path, strerror(errno));
}

// An unused name: .lab/backup/ex02_count_flops.c.2026-11-21-093000, then -1, -2 ...
static Status backup_path(const Lab *lab, const char *name, char path[PATH_MAX]) {
    snprintf(path, PATH_MAX, "%.3000s/.lab", lab->folder);
    Status status = make_folder(path);
    snprintf(path, PATH_MAX, "%.3000s/.lab/backup", lab->folder);
    if (!status) status = make_folder(path);
    if (status) return status;
    char when[32] = "";
    time_t now = time(NULL);
    struct tm local;
    if (localtime_r(&now, &local)) strftime(when, sizeof when, "%Y-%m-%d-%H%M%S", &local);
    for (int i = 0; i < MOST_BACKUPS; i++) {
        char again[16] = "";
        if (i > 0) snprintf(again, sizeof again, "-%d", i);
        snprintf(path, PATH_MAX, "%.3000s/.lab/backup/%s.%s%s", lab->folder, name, when, again);
        if (access(path, F_OK) != 0) return STATUS_OK;
    }
    return error_set(STATUS_IO, "%s: too many backups of one second. HINT: remove some", path);
}

// Backs up the student's file; `kept` is "" if there was no file, or only the skeleton.
static Status keep(const Lab *lab, const char *name, const char *skeleton, size_t skeleton_size,
                   char kept[PATH_MAX]) {
    char path[PATH_MAX];
    size_t size = 0;
    kept[0] = '\0';
    snprintf(path, sizeof path, "%.3000s/%s", lab->folder, name);
    if (access(path, F_OK) != 0) return STATUS_OK;
    char *text = file_read(NULL, path, LAB_MOST_BYTES, &size);
    if (!text) return error_status();
    Status status = STATUS_OK;
    if (size != skeleton_size || memcmp(text, skeleton, size) != 0) {
        status = backup_path(lab, name, kept);
        if (!status) status = write_file(kept, text, size);
    }
    memory_free(text);
    return status;
}

int command_reset(Lab *lab) {
    const Exercise *exercise = lab_exercise(lab);
    if (!exercise) return LAB_USAGE;
    char name[NAME], path[PATH_MAX], kept[PATH_MAX];
    size_t size;
    lab_file_name(exercise, name, sizeof name);
    snprintf(path, sizeof path, "exercises/.lab/skeletons/%s", name);
    if (access(path, R_OK) != 0)
        return lab_refuse(LAB_FILE, "%s: there is no skeleton of it; make lab keeps them", path);
    char *skeleton = file_read(NULL, path, LAB_MOST_BYTES, &size);
    if (!skeleton) return lab_fail();
    Status status = keep(lab, name, skeleton, size, kept);
    snprintf(path, sizeof path, "%.3000s/%s", lab->folder, name);
    if (!status) status = write_file(path, skeleton, size);
    memory_free(skeleton);
    if (status) return lab_fail();
    Page page = {.colour = lab->colour};
    page_label(&page, NULL);
    page_print(&page, PAGE_PLAIN, 0, "%s/%s is the skeleton again", lab->shown_folder, name);
    page_end_line(&page);
    if (kept[0]) {
        page_label(&page, "kept");
        page_print(&page, PAGE_PLAIN, 0, "%s%s", lab->shown_folder, kept + strlen(lab->folder));
        page_end_line(&page);
    }
    return lab_show(&page);
}
