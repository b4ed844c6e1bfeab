// submit.c -- ./lab submit: everything that is graded, in one archive with its SHA-256 sums. It
// refuses nothing: what is missing is said, and packed without.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "exercises/grader/sha256.h"
#include "exercises/grader/text_file.h"
#include "exercises/lab/command.h"
#include "exercises/lab/tar.h"
#include "tensor/memory.h"

enum { MOST_FILES = 64, NAME = 96, LARGE = 1 << 20 };

typedef struct FileList {
    char names[MOST_FILES][NAME];
    int count;
} FileList;

static void list_add(FileList *list, const char *name) {
    for (int i = 0; i < list->count; i++)
        if (strcmp(list->names[i], name) == 0) return;
    if (list->count < MOST_FILES) snprintf(list->names[list->count++], NAME, "%s", name);
}

// What the exercises ask for: a file each, the answers by hand, and what cases need beside them.
static void collect(FileList *list) {
    for (int i = 0; i < exercise_count; i++) {
        char name[NAME];
        lab_file_name(exercises[i], name, sizeof name);
        list_add(list, name);
        for (int k = 0; k < exercises[i]->n_cases; k++) {
            const ExerciseCase *definition = &exercises[i]->cases[k];
            if (definition->by_hand && !exercises[i]->answers) list_add(list, "by_hand.txt");
            if (definition->beside) list_add(list, definition->beside);
        }
    }
}

typedef struct Submission {
    const Lab *lab;
    WholeFile *archive;
    Page page;      // what is said about it
    char *manifest; // owned
    size_t manifest_size;
    int packed;
} Submission;

static void remark(Submission *submission, const char *name, const char *what) {
    page_label(&submission->page, "warning");
    page_print(&submission->page, PAGE_BAD, 0, "%s/%s %s", submission->lab->shown_folder, name,
               what);
    page_end_line(&submission->page);
}

static bool is_skeleton(const char *name, const char *text, size_t size) {
    char path[PATH_MAX];
    size_t skeleton_size = 0;
    snprintf(path, sizeof path, "exercises/.lab/skeletons/%s", name);
    if (access(path, R_OK) != 0) return false;
    char *skeleton = file_read(NULL, path, LAB_MOST_BYTES, &skeleton_size);
    bool same = skeleton && size == skeleton_size && memcmp(text, skeleton, size) == 0;
    memory_free(skeleton);
    return same;
}

static Status add_to_manifest(Submission *submission, const char *name, const char *text,
                              size_t size) {
    uint8_t digest[SHA256_BYTES];
    char line[2 * SHA256_BYTES + NAME + 8];
    sha256(text, size, digest);
    for (int i = 0; i < SHA256_BYTES; i++) snprintf(line + 2 * i, 3, "%02x", digest[i]);
    snprintf(line + 2 * SHA256_BYTES, sizeof line - 2 * SHA256_BYTES, "  %s\n", name);
    size_t length = strlen(line), used = submission->manifest_size;
    char *grown = memory_resize(submission->manifest, used, used + length + 1);
    if (!grown) return error_status();
    memcpy(grown + used, line, length + 1);
    submission->manifest = grown;
    submission->manifest_size = used + length;
    return STATUS_OK;
}

static Status pack(Submission *submission, const char *name) {
    char path[PATH_MAX];
    size_t size = 0;
    snprintf(path, sizeof path, "%.3000s/%s", submission->lab->folder, name);
    if (access(path, F_OK) != 0) {
        remark(submission, name, "is missing");
        return STATUS_OK;
    }
    char *text = file_read(NULL, path, LAB_MOST_BYTES, &size);
    if (!text && error_status() == STATUS_IO) { // a folder, a link, no permission
        error_clear();
        remark(submission, name, "cannot be read");
        return STATUS_OK;
    }
    if (!text) return error_status();
    if (is_skeleton(name, text, size)) remark(submission, name, "is the untouched skeleton");
    if (size > LARGE) remark(submission, name, "is larger than 1 MB: is it the right file?");
    tar_add(submission->archive, name, text, size);
    Status status = add_to_manifest(submission, name, text, size);
    memory_free(text);
    submission->packed += !status;
    return status;
}

static int finish(Submission *submission, const char *path, int asked) {
    Page *page = &submission->page;
    page_label(page, NULL);
    page_print(page, PAGE_BOLD, 0, "%.600s: %d of %d files, and MANIFEST with their SHA-256 sums",
               path, submission->packed, asked);
    page_end_line(page);
    return lab_show(page);
}

int command_submit(Lab *lab) {
    const char *path = lab->options.output ? lab->options.output : "submission.tar";
    FileList *list = memory_new(sizeof *list);
    Submission submission = {.lab = lab, .page = {.colour = lab->colour}};
    submission.archive = list ? whole_file_open(path) : NULL;
    Status status = submission.archive ? STATUS_OK : error_status();
    if (!status) collect(list);
    for (int i = 0; !status && i < list->count; i++) status = pack(&submission, list->names[i]);
    if (!status) {
        tar_add(submission.archive, "MANIFEST", submission.manifest ? submission.manifest : "",
                submission.manifest_size);
        tar_end(submission.archive);
        status = whole_file_close(submission.archive);
    } else {
        whole_file_discard(submission.archive);
    }
    int asked = list ? list->count : 0;
    memory_free(submission.manifest);
    memory_free(list);
    if (!status) return finish(&submission, path, asked);
    page_free(&submission.page);
    return lab_fail();
}
