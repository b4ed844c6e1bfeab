// class.c -- lists the submissions in a folder, in an order that does not depend on the file
// system.
#include "exercises/instructor/submissions.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "exercises/grader/text_file.h"
#include "tensor/memory.h"

enum { MOST_TEXT = 16 << 20 };

// ---- a Gradescope export ------------------------------------------------------------------------
// What is needed of its submission_metadata.yml:
//
//     submission_123456:            a folder beside it
//       :submitters:
//       - :name: Jane Doe           of several, the first counts
//         :sid: '7'
//         :email: jane@x.edu
//
// This is no YAML reader: what it does not know it passes over. One call for each folder.
typedef void ExportTake(void *argument, const char *folder, const char *email, const char *name);

typedef struct Submitter {
    char folder[CLASS_NAME], email[CLASS_NAME], name[CLASS_NAME];
    size_t column; // of the first submitter's keys; further in is somebody's name of several lines
    bool named;    // a second submitter does not change it
} Submitter;

// What stands after the key, without quotes. A key begins the line: further on it may be somebody's
// name.
static bool take_value(const char *line, const char *key, char value[CLASS_NAME]) {
    const char *at = line + strspn(line, " -");
    if (strncmp(at, key, strlen(key)) != 0 || value[0] != '\0') return false;
    at += strlen(key);
    at += strspn(at, " ");
    const char quote[3] = {*at == '\'' || *at == '"' ? *at : '\r', '\r'};
    at += quote[0] != '\r';
    snprintf(value, CLASS_NAME, "%.*s", (int)strcspn(at, quote), at);
    return true;
}

static void hand_over(Submitter *submitter, ExportTake *take, void *argument) {
    if (submitter->folder[0] != '\0' && submitter->email[0] != '\0') {
        take(argument, submitter->folder, submitter->email, submitter->name);
    }
    *submitter = (Submitter){.named = false};
}

static void export_each(char *text, ExportTake *take, void *argument) {
    Submitter submitter = {.named = false};
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        if (line[0] != ' ' && line[0] != '-' && line[0] != ':') {
            hand_over(&submitter, take, argument);
            snprintf(submitter.folder, CLASS_NAME, "%.*s", (int)strcspn(line, ":\r"), line);
        } else if (!submitter.named) {
            size_t column = strspn(line, " -");
            if (submitter.column == 0 && memchr(line, '-', column)) submitter.column = column;
            if (column != submitter.column) continue;
            take_value(line, ":name:", submitter.name);
            submitter.named = take_value(line, ":email:", submitter.email);
        }
    }
    hand_over(&submitter, take, argument);
}

// A name is one line of what can be read.
static void clean_name(char name[CLASS_NAME]) {
    text_clean(name);
    for (; *name; name++)
        if (*name == '\n' || *name == '\t') *name = '?';
}

// ---- members -----------------------------------------------------------------------------------
// Capitals do not count: they do not in keys.
static Member *find(const Class *class, const char *student) {
    for (int i = 0; i < class->count; i++) {
        if (strcasecmp(class->members[i].student, student) == 0) return &class->members[i];
    }
    return NULL;
}

static Member *add(Class *class, const char *student) {
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
    clean_name(member->student);
    return member;
}

static int by_student(const void *a, const void *b) {
    const Member *left = a, *right = b;
    int order = strcmp(left->student, right->student);
    return order ? order : strcmp(left->path, right->path);
}

// Beside these folders lie the tables of the class.
static bool is_taken(const Class *class, int before, const char *folder) {
    if (strcmp(folder, "class.csv") == 0 || strcmp(folder, "gradebook.csv") == 0) return true;
    for (int i = 0; i < before; i++) {
        if (strcmp(class->members[i].folder, folder) == 0) return true;
    }
    return false;
}

// Names of folders: letters, digits and @._- stay; two that become the same get a number.
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

static void arrange(Class *class) {
    if (class->count > 0) {
        qsort(class->members, (size_t) class->count, sizeof *class->members, by_student);
    }
    name_folders(class);
}

// ---- submissions -------------------------------------------------------------------------------
static bool ends_in(const char *name, const char *end) {
    size_t length = strlen(name), width = strlen(end);
    return length > width && strcmp(name + length - width, end) == 0;
}

// What is neither a folder nor an archive (a README, the export's own file) is no submission; a
// link is one that will be refused.
static Status add_entry(Class *class, const char *path, const char *entry) {
    char full[PATH_MAX], student[CLASS_NAME];
    struct stat what;
    if (snprintf(full, sizeof full, "%s/%s", path, entry) >= PATH_MAX) return STATUS_OK;
    if (lstat(full, &what) != 0) return STATUS_OK;
    bool archive = ends_in(entry, ".tar");
    if (!S_ISDIR(what.st_mode) && !S_ISLNK(what.st_mode) && !archive) return STATUS_OK;
    int length = (int)strlen(entry) - (archive && !S_ISDIR(what.st_mode) ? 4 : 0);
    snprintf(student, sizeof student, "%.*s", length, entry);
    Member *member = add(class, student);
    if (member == NULL) return error_status();
    snprintf(member->path, sizeof member->path, "%s", full);
    return STATUS_OK;
}

static void name_member(void *argument, const char *folder, const char *email, const char *name) {
    Member *member = find(argument, folder);
    if (member == NULL) return;
    snprintf(member->student, CLASS_NAME, "%s", email);
    snprintf(member->name, CLASS_NAME, "%s", name);
    clean_name(member->student);
    clean_name(member->name);
}

static Status name_from_export(Class *class, const char *path) {
    char *text = file_read(path, "submission_metadata.yml", MOST_TEXT, NULL);
    if (text == NULL) { // most folders are no export
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
    DIR *folder = opendir(path);
    if (folder == NULL) {
        return error_set(STATUS_IO, "%.300s: %s. HINT: a folder of submissions is expected", path,
                         strerror(errno));
    }
    Status status = STATUS_OK;
    for (const struct dirent *entry; status == STATUS_OK && (entry = readdir(folder)) != NULL;) {
        if (entry->d_name[0] != '.') status = add_entry(class, path, entry->d_name);
    }
    closedir(folder);
    if (status == STATUS_OK) status = name_from_export(class, path);
    arrange(class);
    return status;
}

void class_free(Class *class) {
    memory_free(class->members);
    *class = (Class){.count = 0};
}

// ---- roster ------------------------------------------------------------------------------------
// A cell of a line of CSV; *line moves behind it. In quotes, two quotes are one.
static void take_cell(const char **line, char cell[CLASS_NAME]) {
    const char *at = *line + strspn(*line, " ");
    bool quoted = *at == '"';
    size_t used = 0;
    for (at += quoted; *at != '\0' && (quoted || *at != ','); at++) {
        if (quoted && *at == '"' && *++at != '"') break;
        if (used + 1 < CLASS_NAME) cell[used++] = *at;
    }
    cell[used] = '\0';
    at += strcspn(at, ",");
    *line = at + (*at == ',');
}

static Status add_from_roster(Class *class, const char *line, bool first) {
    char student[CLASS_NAME], name[CLASS_NAME], id[CLASS_NAME], section[CLASS_NAME];
    char *const cells[] = {student, name, id, section};
    for (int i = 0; i < 4; i++) take_cell(&line, cells[i]);
    if (student[0] == '\0' || (first && strncmp(student, "student", 7) == 0)) return STATUS_OK;
    Member *member = find(class, student);
    if (member == NULL) member = add(class, student);
    if (member == NULL) return error_status();
    if (name[0] != '\0') snprintf(member->name, CLASS_NAME, "%s", name);
    clean_name(member->name);
    memcpy(member->id, id, sizeof id);
    memcpy(member->section, section, sizeof section);
    clean_name(member->id);
    clean_name(member->section);
    return STATUS_OK;
}

static Status each_line(Class *class, const char *path,
                        Status (*take)(Class *class, const char *line, bool first)) {
    char *text = file_read(NULL, path, MOST_TEXT, NULL), *rest = NULL;
    if (text == NULL) return error_status();
    Status status = STATUS_OK;
    bool first = true;
    for (char *line = strtok_r(text, "\r\n", &rest); line != NULL && status == STATUS_OK;
         line = strtok_r(NULL, "\r\n", &rest)) {
        status = take(class, line, first);
        first = false;
    }
    memory_free(text);
    return status;
}

Status class_add_roster(Class *class, const char *path) {
    Status status = each_line(class, path, add_from_roster);
    arrange(class);
    return status;
}

Status class_add_names(Class *class, const char *names) {
    const char *ends = strchr(names, ',') ? "," : " ";
    char *text = memory_copy_string(names), *rest = NULL;
    Status status = text ? STATUS_OK : error_status();
    for (char *name = text ? strtok_r(text, ends, &rest) : NULL; name != NULL && !status;
         name = strtok_r(NULL, ends, &rest)) {
        name += strspn(name, " ");
        for (size_t n = strlen(name); n > 0 && name[n - 1] == ' '; n--) name[n - 1] = '\0';
        if (name[0] != '\0' && find(class, name) == NULL && add(class, name) == NULL)
            status = error_status();
    }
    memory_free(text);
    arrange(class);
    return status;
}

// ---- answers in writing ------------------------------------------------------------------------
static Status add_points(Class *class, const char *line, bool first) {
    char student[CLASS_NAME], points[CLASS_NAME], *end;
    take_cell(&line, student);
    take_cell(&line, points);
    if (student[0] == '\0' || (first && strncmp(student, "student", 7) == 0)) return STATUS_OK;
    long number = strtol(points, &end, 10);
    if (end == points || end[strspn(end, " ")] != '\0' || number < 0 || number > 1000)
        return error_set(STATUS_FORMAT,
                         "written points of %.60s: \"%.20s\". HINT: a whole number, 0 to 1000",
                         student, points);
    Member *member = find(class, student);
    if (strcmp(student, "possible") == 0)
        class->possible = (int)number;
    else if (member != NULL)
        member->written = (int)number;
    else
        fprintf(stderr, "instructor: written points of %s, who is not in the class\n", student);
    return STATUS_OK;
}

Status class_add_written(Class *class, const char *path) {
    int most = 0;
    Status status = each_line(class, path, add_points);
    for (int i = 0; i < class->count; i++) {
        if (class->members[i].written > most) most = class->members[i].written;
    }
    if (status != STATUS_OK || class->possible >= most) return status;
    if (class->possible != WRITTEN_NONE)
        return error_set(STATUS_FORMAT, "%.200s: %d of %d possible points. HINT: mend one of them",
                         path, most, class->possible);
    class->possible = most; // the best answer is a full one
    return STATUS_OK;
}
