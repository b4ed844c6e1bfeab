// class.c -- the members of a class: assigns each entry of a folder of submissions to its student,
// in an order that does not depend on the file system.
#include "exercises/instructor/submissions.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exercises/course/text_file.h"
#include "tensor/memory.h"

enum { MOST_TEXT = 16 << 20 };
static const char export_name[] = "submission_metadata.yml"; // from Gradescope

// A name is one line of printable characters.
void class_clean_name(char name[CLASS_NAME]) {
    text_clean(name);
    for (; *name; name++)
        if (*name == '\n' || *name == '\t') *name = '?';
}

// ---- members -----------------------------------------------------------------------------------
// Letter case does not count, as in keys.
Member *class_find(const Class *class, const char *student) {
    for (int i = 0; i < class->count; i++) {
        if (strcasecmp(class->members[i].student, student) == 0) return &class->members[i];
    }
    return NULL;
}

Member *class_add(Class *class, const char *student) {
    if (class->count == CLASS_MOST) {
        error_set(STATUS_FORMAT, "more than %d submissions. HINT: grade them in parts", CLASS_MOST);
        return NULL;
    }
    if (class->count == class->capacity) {
        int wanted = class->capacity ? 2 * class->capacity : 64;
        size_t one = sizeof *class->members, had = (size_t) class->capacity * one;
        Member *grown = memory_resize(class->members, had, (size_t)wanted * one);
        if (grown == NULL) return NULL;
        class->members = grown;
        class->capacity = wanted;
    }
    Member *member = &class->members[class->count++];
    *member = (Member){.written = WRITTEN_NONE};
    snprintf(member->student, CLASS_NAME, "%s", student);
    class_clean_name(member->student);
    return member;
}

Status class_add_part(Member *member, const char *path, const char *name) {
    size_t one = sizeof *member->parts, had = (size_t)member->n_parts * one;
    member->too_many = member->too_many || member->n_parts == CLASS_PARTS;
    if (member->too_many) return STATUS_OK; // stage.c refuses this student's submission
    Part *grown = memory_resize(member->parts, had, had + one);
    if (grown == NULL) return error_status();
    member->parts = grown;
    Part *part = &grown[member->n_parts];
    *part = (Part){.path = memory_copy_string(path)};
    part->name = part->path ? memory_copy_string(name) : NULL;
    if (part->name)
        member->n_parts++;
    else
        memory_free(part->path);
    return error_status();
}

void class_free_member(Member *member) {
    for (int i = 0; i < member->n_parts; i++) {
        memory_free(member->parts[i].path);
        memory_free(member->parts[i].name);
    }
    memory_free(member->parts);
    member->parts = NULL;
    member->n_parts = 0;
}

static int by_student(const void *a, const void *b) {
    return strcmp(((const Member *)a)->student, ((const Member *)b)->student);
}

static int by_path(const void *a, const void *b) {
    return strcmp(((const Part *)a)->path, ((const Part *)b)->path);
}

static int by_entry(const void *a, const void *b) {
    return strcmp(((const Skipped *)a)->entry, ((const Skipped *)b)->entry);
}

// True if the name is in use, by an earlier folder or by a table of the class beside it.
static bool is_taken(const Class *class, int before, const char *folder) {
    if (strcmp(folder, "class.csv") == 0 || strcmp(folder, "gradebook.csv") == 0) return true;
    for (int i = 0; i < before; i++) {
        if (strcmp(class->members[i].folder, folder) == 0) return true;
    }
    return false;
}

// Makes names of folders: letters, digits and @._- stay; equal names get a number.
static void name_folders(Class *class) {
    static const char safe[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@._-+";
    for (int i = 0; i < class->count; i++) {
        char base[CLASS_NAME], *folder = class->members[i].folder;
        snprintf(base, sizeof base, "%.50s", class->members[i].student);
        for (char *at = base; *at != '\0'; at++) {
            if (strchr(safe, *at) == NULL) *at = '_';
        }
        if (base[0] == '.' || base[0] == '\0') base[0] = '_';
        snprintf(folder, CLASS_NAME, "%s", base);
        for (int k = 2; is_taken(class, i, folder); k++) {
            snprintf(folder, CLASS_NAME, "%.50s-%d", base, k);
        }
    }
}

void class_arrange(Class *class) {
    if (class->count > 0) {
        qsort(class->members, (size_t) class->count, sizeof *class->members, by_student);
    }
    for (int i = 0; i < class->count; i++) {
        Member *member = &class->members[i];
        size_t parts = (size_t)member->n_parts;
        if (parts > 1) qsort(member->parts, parts, sizeof *member->parts, by_path);
    }
    size_t skipped = (size_t) class->n_skipped;
    if (skipped > 1) qsort(class->skipped, skipped, sizeof *class->skipped, by_entry);
    name_folders(class);
}

// ---- submissions -------------------------------------------------------------------------------
static Status skip(Class *class, const char *entry, const char *why) {
    size_t one = sizeof *class->skipped, had = (size_t) class->n_skipped * one;
    if (class->n_skipped == CLASS_MOST) return STATUS_OK;
    Skipped *grown = memory_resize(class->skipped, had, had + one);
    if (grown == NULL) return error_status();
    class->skipped = grown;
    Skipped *skipped = &grown[class->n_skipped++];
    *skipped = (Skipped){.why = why};
    snprintf(skipped->entry, sizeof skipped->entry, "%.250s", entry);
    text_clean(skipped->entry);
    return STATUS_OK;
}

// True if a folder holds results that an earlier grading left beside the submissions.
static bool is_result(const char *full) {
    char path[PATH_MAX];
    size_t length = strlen(full);
    bool named = (length > 6 && strcmp(full + length - 6, "-grade") == 0) ||
                 (length > 7 && strcmp(full + length - 7, "-grades") == 0);
    if (!named) return false;
    snprintf(path, sizeof path, "%.4000s/result.json", full);
    if (access(path, F_OK) == 0) return true;
    snprintf(path, sizeof path, "%.4000s/class.csv", full);
    return access(path, F_OK) == 0;
}

static Status take_in(Class *class, const EntryName *name, const char *full) {
    char student[CLASS_NAME];
    snprintf(student, sizeof student, "%s", name->student);
    class_clean_name(student);
    Member *member = class_find(class, student);
    bool another = member != NULL && strcmp(member->platform_id, name->id) != 0;
    if (another) { // two students of one name: the platform's numbers tell them apart
        member->shared = true;
        snprintf(student, sizeof student, "%.40s %.20s", name->student, name->id);
        class_clean_name(student);
        member = class_find(class, student);
    }
    if (member == NULL) member = class_add(class, student);
    if (member == NULL) return error_status();
    member->shared = member->shared || another;
    snprintf(member->platform_id, CLASS_NAME, "%s", name->id);
    if (name->late) snprintf(member->note, sizeof member->note, "handed in late");
    return class_add_part(member, full, name->file);
}

// Adds an entry of the folder; a link counts as a submission, which will be refused.
static Status add_entry(Class *class, const char *path, const char *entry) {
    char full[PATH_MAX];
    struct stat what;
    if (strcmp(entry, ".") == 0 || strcmp(entry, "..") == 0) return STATUS_OK;
    if (strcmp(entry, export_name) == 0) return STATUS_OK;
    if (snprintf(full, sizeof full, "%s/%s", path, entry) >= PATH_MAX)
        return skip(class, entry, "its path is too long");
    if (lstat(full, &what) != 0) return skip(class, entry, "it cannot be read");
    bool folder =
        S_ISDIR(what.st_mode) || (S_ISLNK(what.st_mode) && !archive_is_named(entry, NULL));
    if (folder && is_result(full)) return skip(class, entry, "results of an earlier grading");
    EntryName name = entry_name(entry, folder);
    return name.skipped ? skip(class, entry, name.skipped) : take_in(class, &name, full);
}

static void name_member(void *argument, const char *folder, const char *email, const char *name) {
    Member *member = class_find(argument, folder);
    if (member == NULL) return;
    snprintf(member->student, CLASS_NAME, "%s", email);
    snprintf(member->name, CLASS_NAME, "%s", name);
    class_clean_name(member->student);
    class_clean_name(member->name);
}

static Status name_from_export(Class *class, const char *path) {
    char *text = file_read(path, export_name, MOST_TEXT, NULL);
    if (text == NULL) { // most folders are not exports
        if (error_status() != STATUS_IO) return error_status();
        error_clear();
        return STATUS_OK;
    }
    export_each(text, name_member, class);
    memory_free(text);
    return STATUS_OK;
}

Status class_read(const char *path, Class *class) {
    *class = (Class){.possible = WRITTEN_NONE};
    struct dirent **entries = NULL;                       // from scandir, in the system's memory
    int count = scandir(path, &entries, NULL, alphasort); // sorted: the first gets the name
    if (count < 0) {
        return error_set(STATUS_IO, "%.300s: %s. HINT: a folder of submissions is expected", path,
                         strerror(errno));
    }
    Status status = STATUS_OK;
    for (int i = 0; i < count; i++) {
        if (status == STATUS_OK) status = add_entry(class, path, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    if (status == STATUS_OK) status = name_from_export(class, path);
    class_arrange(class);
    return status;
}

void class_pass_over(Class *class, const char *folder, const char *file) {
    struct stat own, found;
    int kept = 0;
    if (file == NULL || stat(file, &own) != 0) return;
    for (int i = 0; i < class->n_skipped; i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%.3800s/%s", folder, class->skipped[i].entry);
        bool same =
            stat(path, &found) == 0 && found.st_ino == own.st_ino && found.st_dev == own.st_dev;
        if (!same) class->skipped[kept++] = class->skipped[i];
    }
    class->n_skipped = kept;
}

void class_free(Class *class) {
    for (int i = 0; i < class->count; i++) class_free_member(&class->members[i]);
    memory_free(class->members);
    memory_free(class->skipped);
    *class = (Class){.count = 0};
}
