// stage.c -- finds the files of a submission, wherever in it a student's tools have put them.
#include "exercises/instructor/submissions.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exercises/course/exercise.h"
#include "exercises/grader/text_file.h"
#include "tensor/memory.h"

static const char manifest[] = "MANIFEST";

void digest_text(const void *bytes, size_t count, char text[STAGE_DIGEST]) {
    uint8_t digest[SHA256_BYTES];
    sha256(bytes, count, digest);
    for (int i = 0; i < SHA256_BYTES; i++) snprintf(text + 2 * i, 3, "%02x", digest[i]);
}

// ---- which files -------------------------------------------------------------------------------
static void ask_for(Stage *stage, const char *name) {
    for (int i = 0; i < stage->n_files; i++) {
        if (strcmp(stage->files[i].name, name) == 0) return;
    }
    if (stage->n_files == STAGE_MOST_FILES) return;
    snprintf(stage->files[stage->n_files++].name, STAGE_NAME, "%s", name);
}

static void ask_for_exercise(Stage *stage, const Exercise *exercise) {
    char name[STAGE_NAME];
    snprintf(name, sizeof name, "ex%.8s_%.64s.c", exercise->number, exercise->name);
    ask_for(stage, exercise->answers ? exercise->answers : name);
    for (int i = 0; i < exercise->n_cases; i++) {
        const ExerciseCase *definition = &exercise->cases[i];
        if (definition->by_hand && !exercise->answers) ask_for(stage, "by_hand.txt");
        if (definition->beside) ask_for(stage, definition->beside);
    }
}

Status stage_new(Stage *stage) {
    *stage = (Stage){.n_files = 0};
    for (int i = 0; i < exercise_count; i++) ask_for_exercise(stage, exercises[i]);
    ask_for(stage, manifest); // which names the student's key
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

// ---- from an archive ---------------------------------------------------------------------------
static StagedFile *find(Stage *stage, const char *name) {
    for (int i = 0; i < stage->n_files; i++) {
        if (strcmp(stage->files[i].name, name) == 0) return &stage->files[i];
    }
    return NULL;
}

static Status put(Stage *stage, StagedFile *file, const char *bytes, size_t count) {
    if (file->digest[0] != '\0') {
        return error_set(STATUS_FORMAT, "%s is there twice. HINT: which is the right one?",
                         file->name);
    }
    Status status = file_write(stage->room.path, file->name, bytes, count);
    if (status != STATUS_OK) return status;
    digest_text(bytes, count, file->digest);
    stage->staged += strcmp(file->name, manifest) != 0;
    return STATUS_OK;
}

// At the top, or in a folder exercises/ wherever that is: not the skeletons beside them.
static Status take(void *argument, const char *name, const char *bytes, size_t count) {
    Stage *stage = argument;
    while (strncmp(name, "./", 2) == 0) name += 2;
    const char *last = strrchr(name, '/');
    StagedFile *file = find(stage, last ? last + 1 : name);
    if (file == NULL) return STATUS_OK;
    static const char folder[] = "exercises";
    size_t length = last ? (size_t)(last - name) : 0, width = sizeof folder - 1;
    bool inside = length >= width && strncmp(last - width, folder, width) == 0 &&
                  (length == width || last[-(ptrdiff_t)width - 1] == '/');
    return length == 0 || inside ? put(stage, file, bytes, count) : STATUS_OK;
}

// ---- from a folder -----------------------------------------------------------------------------
// A folder that is a link may lead anywhere.
static bool is_kind(const char *path, mode_t kind) {
    struct stat what;
    return lstat(path, &what) == 0 && (what.st_mode & S_IFMT) == kind;
}

static Status take_folder(Stage *stage, const char *path) {
    for (int i = 0; i < stage->n_files; i++) {
        char name[PATH_MAX];
        struct stat what;
        if (snprintf(name, sizeof name, "%s/%s", path, stage->files[i].name) >= PATH_MAX) continue;
        if (lstat(name, &what) != 0) continue;
        size_t count = 0;
        char *bytes = file_read(path, stage->files[i].name, ARCHIVE_MOST_FILE, &count);
        Status status = bytes ? put(stage, &stage->files[i], bytes, count) : error_status();
        memory_free(bytes);
        if (status != STATUS_OK) return status;
    }
    return STATUS_OK;
}

static Status fill_from_folder(Stage *stage, const char *path) {
    char inner[PATH_MAX];
    Status status = take_folder(stage, path);
    if (status != STATUS_OK || stage->staged > 0) return status;
    int length = snprintf(inner, sizeof inner, "%s/exercises", path);
    if (length < PATH_MAX && is_kind(inner, S_IFDIR)) status = take_folder(stage, inner);
    if (status != STATUS_OK || stage->staged > 0) return status;
    length = snprintf(inner, sizeof inner, "%s/submission.tar", path);
    bool packed = length < PATH_MAX && is_kind(inner, S_IFREG);
    return packed ? archive_each(inner, take, stage) : STATUS_OK;
}

Status stage_fill(Stage *stage, const char *path) {
    Status status = STATUS_OK;
    if (is_kind(path, S_IFDIR))
        status = fill_from_folder(stage, path);
    else if (is_kind(path, S_IFREG))
        status = archive_each(path, take, stage);
    else
        status = error_set(STATUS_IO,
                           "%.300s: neither a folder nor an archive. HINT: is it a link?", path);
    if (status == STATUS_OK && stage->staged == 0) {
        status =
            error_set(STATUS_FORMAT, "%.300s: no file of an exercise. HINT: ./lab submit", path);
    }
    if (status != STATUS_OK) empty(stage);
    return status;
}
