// stage.c -- finds the files of a submission, wherever a student's tools have put them, and decides
// which to take if several are meant for one exercise.
#include "exercises/instructor/submissions.h"

#include <dirent.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exercises/course/text_file.h"
#include "tensor/memory.h"

enum { MOST_INNER = 4, MOST_DEPTH = 32, MOST_COPIES = 100 };
enum { OF_COPY = 1000 }; // in a rank, a copy's name outweighs the depth of the path

typedef struct Inner { // an archive inside the submission
    char name[STAGE_PATH];
    char *bytes; // owned
    size_t count;
} Inner;

typedef struct Filling {
    Stage *stage;
    Inner inner[MOST_INNER]; // opened only if no exercise's file is beside them
    int n_inner, entries;
    char unread[STAGE_PATH]; // an archive of another kind, or one too many; "": none
    char within[STAGE_PATH]; // the current archive, if there are several; "": none
    bool inside;             // the current archive is an inner one: ignore archives in it
} Filling;

void digest_text(const void *bytes, size_t count, char text[STAGE_DIGEST]) {
    uint8_t digest[SHA256_BYTES];
    sha256(bytes, count, digest);
    for (int i = 0; i < SHA256_BYTES; i++) snprintf(text + 2 * i, 3, "%02x", digest[i]);
}

Status stage_new(Stage *stage) {
    char names[STAGE_MOST_FILES][STAGE_NAME];
    *stage = (Stage){.n_files = asked_files(names)};
    for (int i = 0; i < stage->n_files; i++) memcpy(stage->files[i].name, names[i], STAGE_NAME);
    return room_open(&stage->room);
}

static void empty(Stage *stage) {
    for (int i = 0; i < stage->n_files; i++) {
        StagedFile *file = &stage->files[i];
        if (file->digest[0] != '\0') (void)unlinkat(stage->room.descriptor, file->name, 0);
        file->digest[0] = '\0';
    }
    stage->staged = 0;
}

void stage_remove(Stage *stage) {
    room_close(&stage->room);
    stage->n_files = 0;
}

static void note(Stage *stage, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void note(Stage *stage, const char *format, ...) {
    size_t used = strlen(stage->note);
    va_list arguments;
    va_start(arguments, format);
    if (used > 0) used += (size_t)snprintf(stage->note + used, STAGE_NOTE - used, "; ");
    if (used < STAGE_NOTE) vsnprintf(stage->note + used, STAGE_NOTE - used, format, arguments);
    va_end(arguments);
    text_clean(stage->note);
}

// ---- one file ----------------------------------------------------------------------------------
// Rewrites a text in place for the grader: without a byte-order mark, with lines that end in \n.
static void make_lines(char *text, size_t *count) {
    size_t from = *count >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0, to = 0;
    for (; from < *count; from++) {
        bool ended = text[from] == '\r' && from + 1 < *count && text[from + 1] == '\n';
        if (!ended) text[to++] = text[from];
    }
    *count = to;
}

// The file with the lowest rank is taken for an exercise: an exact name before a copy's, a later
// copy before an earlier one; then the least nested file, and at equal depth the one in exercises/.
static int rank_of(const char *path, int copy) {
    static const char home[] = "exercises/";
    const char *last = strrchr(path, '/');
    size_t length = last ? (size_t)(last - path) + 1 : 0, width = sizeof home - 1;
    bool at_home = length >= width && strncasecmp(path + length - width, home, width) == 0 &&
                   (length == width || path[length - width - 1] == '/');
    int depth = 0;
    for (const char *c = path; *c != '\0'; c++) depth += *c == '/';
    int late = copy == 0 ? 0 : MOST_COPIES + 1 - (copy < MOST_COPIES ? copy : MOST_COPIES);
    return OF_COPY * late + 2 * (depth < 400 ? depth : 400) + !at_home;
}

static Status put(Filling *filling, StagedFile *file, const char *path, int copy, const char *bytes,
                  size_t count) {
    Stage *stage = filling->stage;
    char digest[STAGE_DIGEST], shown[STAGE_PATH];
    int rank = rank_of(path, copy);
    const char *within = filling->within;
    size_t length = strlen(path),
           cut = length > 63 ? length - 60 : 0; // keeps the end of a long path
    snprintf(shown, sizeof shown, "%.60s%s%s%.63s", within, within[0] ? "/" : "", cut ? "..." : "",
             path + cut);
    digest_text(bytes, count, digest);
    bool first = file->digest[0] == '\0', same = strcmp(digest, file->digest) == 0;
    if (!first && !same && rank >= file->rank) {
        memcpy(file->other, shown, STAGE_PATH);
        file->other_rank = rank;
        if (rank == file->rank && strcmp(file->name, "MANIFEST") != 0) file->tied = true;
        return STATUS_OK;
    }
    if (!first && rank >= file->rank) return STATUS_OK;
    file->tied = false;
    if (!first && !same) {
        memcpy(file->other, file->from, STAGE_PATH);
        file->other_rank = file->rank;
    }
    memcpy(file->from, shown, STAGE_PATH);
    file->rank = rank;
    file->copy = copy;
    memcpy(file->digest, digest, STAGE_DIGEST);
    stage->staged += first && strcmp(file->name, "MANIFEST") != 0;
    return same ? STATUS_OK : file_write(stage->room.path, file->name, bytes, count);
}

// Skips leftovers of systems, and solutions that came with the whole project.
static bool is_passed_over(const char *path) {
    return asked_is_litter(path) || strstr(path, "exercises/solutions/") != NULL;
}

static const char *file_name(const char *path) {
    const char *last = strrchr(path, '/');
    return last ? last + 1 : path;
}

static StagedFile *find(Stage *stage, const char *path, int *copy) {
    for (int i = 0; i < stage->n_files && !is_passed_over(path); i++)
        if (asked_is_meant(stage->files[i].name, file_name(path), copy)) return &stage->files[i];
    return NULL;
}

static Status keep_inner(Filling *filling, const char *path, const char *bytes, size_t count) {
    if (filling->n_inner == MOST_INNER || archive_other_kind(path)) {
        snprintf(filling->unread, STAGE_PATH, "%.120s", path);
        return STATUS_OK;
    }
    Inner *inner = &filling->inner[filling->n_inner];
    inner->bytes = memory_new(count + 1);
    if (inner->bytes == NULL) return error_status();
    memcpy(inner->bytes, bytes, count);
    inner->count = count;
    snprintf(inner->name, STAGE_PATH, "%.120s", path);
    filling->n_inner++;
    return STATUS_OK;
}

static Status take(void *argument, const char *path, const char *bytes, size_t count) {
    Filling *filling = argument;
    int copy;
    StagedFile *file = find(filling->stage, path, &copy);
    if (file != NULL) {
        char *text = memory_new(count + 1);
        if (text == NULL) return error_status();
        memcpy(text, bytes, count);
        make_lines(text, &count);
        Status status = put(filling, file, path, copy, text, count);
        memory_free(text);
        return status;
    }
    bool archive = archive_is_named(path, NULL) || archive_other_kind(path) != NULL;
    if (!archive || filling->inside || is_passed_over(path)) return STATUS_OK;
    return keep_inner(filling, path, bytes, count);
}

// ---- from a folder -----------------------------------------------------------------------------
static Status walk(Filling *filling, const char *root, const char *below, int depth);

// A link may lead anywhere: reading one in place of a required file is refused; others are ignored.
static Status take_entry(Filling *filling, const char *root, const char *path, int depth) {
    char full[PATH_MAX], folder[PATH_MAX];
    struct stat what;
    int copy;
    if (snprintf(full, sizeof full, "%s/%s", root, path) >= PATH_MAX) return STATUS_OK;
    if (is_passed_over(path) || lstat(full, &what) != 0) return STATUS_OK;
    if (++filling->entries > ARCHIVE_MOST_ENTRIES)
        return error_set(STATUS_FORMAT,
                         "%.200s: more than %d files. HINT: hand in exercises/ "
                         "alone",
                         file_name(root), ARCHIVE_MOST_ENTRIES);
    if (S_ISDIR(what.st_mode)) return walk(filling, root, path, depth + 1);
    bool archive = archive_is_named(path, NULL) || archive_other_kind(path) != NULL;
    bool asked = find(filling->stage, path, &copy) != NULL;
    if (!asked && (!archive || !S_ISREG(what.st_mode))) return STATUS_OK;
    if (!S_ISREG(what.st_mode))
        return error_set(STATUS_IO, "%.200s is a link or a device. HINT: a plain file is needed",
                         path);
    size_t count = 0, most = asked ? ARCHIVE_MOST_FILE : ARCHIVE_MOST_BYTES;
    snprintf(folder, sizeof folder, "%.*s", (int)(file_name(full) - full), full);
    char *bytes = file_read(folder, file_name(full), most, &count);
    Status status = bytes ? take(filling, path, bytes, count) : error_status();
    memory_free(bytes);
    return status;
}

static Status walk(Filling *filling, const char *root, const char *below, int depth) {
    char folder[PATH_MAX];
    struct dirent **entries = NULL;
    bool fits = snprintf(folder, sizeof folder, "%s/%s", root, below) < PATH_MAX;
    if (depth > MOST_DEPTH || !fits)
        return error_set(STATUS_FORMAT,
                         "%.200s: more than %d folders deep. HINT: hand in "
                         "exercises/ alone",
                         file_name(root), MOST_DEPTH);
    int count = scandir(folder, &entries, NULL, alphasort); // sorted: always the same order
    Status status = STATUS_OK;
    if (count < 0)
        return error_set(STATUS_IO, "%.200s: the folder cannot be read. HINT: may you read it?",
                         below[0] ? below : file_name(root));
    for (int i = 0; i < count; i++) {
        char path[PATH_MAX];
        const char *name = entries[i]->d_name;
        int length = snprintf(path, sizeof path, "%s%s%s", below, below[0] ? "/" : "", name);
        bool itself = strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
        if (status == STATUS_OK && !itself && length < PATH_MAX)
            status = take_entry(filling, root, path, depth);
        free(entries[i]);
    }
    free(entries);
    return status;
}

// ---- all of it ---------------------------------------------------------------------------------
static Status take_inner(Filling *filling, Status status) {
    bool opened = filling->stage->staged == 0;
    filling->inside = true;
    for (int i = 0; i < filling->n_inner; i++) {
        Inner *inner = &filling->inner[i];
        if (filling->n_inner > 1) memcpy(filling->within, inner->name, STAGE_PATH);
        if (opened && status == STATUS_OK)
            status = archive_each_of(inner->name, inner->bytes, inner->count, take, filling);
        if (!opened && status == STATUS_OK)
            note(filling->stage, "%s is not opened: files lie beside it", inner->name);
        memory_free(inner->bytes);
    }
    if (filling->unread[0] != '\0' && status == STATUS_OK)
        note(filling->stage, "%s is not opened: only .tar, .tar.gz, .tgz and .zip are, and few",
             filling->unread);
    return status;
}

static Status take_part(Filling *filling, const char *path, const char *name) {
    struct stat what;
    if (lstat(path, &what) != 0 || (!S_ISDIR(what.st_mode) && !S_ISREG(what.st_mode)))
        return error_set(STATUS_IO, "%.200s: neither a folder nor a file. HINT: is it a link?",
                         file_name(path));
    if (S_ISDIR(what.st_mode)) return walk(filling, path, "", 0);
    int copy;
    const char *other = archive_other_kind(name);
    if (other != NULL)
        return error_set(STATUS_FORMAT,
                         "%.200s: a %s, which is not read. HINT: .tar, .tar.gz, .tgz "
                         "and .zip are",
                         name, other);
    if (find(filling->stage, name, &copy) == NULL) {
        if (archive_is_named(name, NULL)) return archive_each(path, take, filling);
        note(filling->stage, "%.100s is not asked for", name);
        return STATUS_OK;
    }
    size_t count = 0;
    char *bytes = file_read(NULL, path, ARCHIVE_MOST_FILE, &count);
    Status status = bytes ? take(filling, name, bytes, count) : error_status();
    memory_free(bytes);
    return status;
}

static Status settle(Stage *stage) {
    for (int i = 0; i < stage->n_files; i++) {
        const StagedFile *file = &stage->files[i];
        if (file->digest[0] == '\0') continue;
        if (file->tied)
            return error_set(STATUS_FORMAT,
                             "%s is there twice, as %s and as %s. HINT: keep one of them",
                             file->name, file->from, file->other);
        if (file->other[0] == '\0') continue;
        bool same_name = file->rank / OF_COPY == file->other_rank / OF_COPY;
        note(stage, "%s taken, not %s: %s", file->from, file->other,
             same_name && file->rank / 2 == file->other_rank / 2 ? "it lies in exercises/"
             : same_name                                         ? "it lies further out"
             : file->copy == 0                                   ? "its name is exact"
                                                                 : "the later copy");
    }
    if (stage->staged > 0) return STATUS_OK;
    return error_set(STATUS_FORMAT, "no file of an exercise%s%s. HINT: ./lab submit",
                     stage->note[0] ? "; " : "", stage->note);
}

static Status fill(Stage *stage, const Part *parts, int count) {
    Filling *filling = memory_new(sizeof *filling);
    if (filling == NULL) return error_status();
    *filling = (Filling){.stage = stage};
    Status status = STATUS_OK;
    for (int i = 0; i < count && status == STATUS_OK; i++) {
        if (count > 1) snprintf(filling->within, STAGE_PATH, "%.120s", file_name(parts[i].path));
        status = take_part(filling, parts[i].path, parts[i].name);
    }
    filling->within[0] = '\0';
    status = take_inner(filling, status);
    if (status == STATUS_OK) status = settle(stage);
    if (status != STATUS_OK) empty(stage);
    memory_free(filling);
    return status;
}

Status stage_fill(Stage *stage, const Member *member) {
    if (member->too_many)
        return error_set(STATUS_FORMAT, "more than %d files. HINT: pack them", CLASS_PARTS);
    return fill(stage, member->parts, member->n_parts);
}

Status stage_fill_from(Stage *stage, const char *path) {
    Part part = {.path = (char *)(uintptr_t)path, .name = (char *)(uintptr_t)path};
    char name[PATH_MAX];
    size_t length = (size_t)snprintf(name, sizeof name, "%.4000s", path);
    while (length > 1 && name[length - 1] == '/') name[--length] = '\0';
    part.name = (char *)(uintptr_t)file_name(name);
    return fill(stage, &part, 1);
}
