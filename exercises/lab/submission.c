// submission.c -- ./lab submit packs all graded files, with their SHA-256 sums and the student's
// key. It reports missing files and packs without them, but not without a key. ./lab grade grades
// the files in a folder, and writes result.json with the formats that platforms read.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exercises/course/sha256.h"
#include "exercises/course/text_file.h"
#include "exercises/lab/command.h"
#include "exercises/lab/formats.h"
#include "layers/files/whole_file.h"
#include "tensor/memory.h"

#define KEY_LINE "# key "
enum { MOST_FILES = 64, NAME = 96, LARGE = 1 << 20 };

// ---- the archive --------------------------------------------------------------------------------
// ustar (POSIX.1-1988), in blocks of 512 bytes: a header and the content for each file, two empty
// blocks at the end. Equal files give equal bytes, whoever packs them and whenever.
enum { BLOCK = 512 };

typedef struct TarHeader {
    char name[100], mode[8], user[8], group[8], size[12], modified[12], checksum[8], type;
    char link[100], magic[8], rest[247];
} TarHeader;
_Static_assert(sizeof(TarHeader) == BLOCK, "a header is one block");

static const char nothing[BLOCK];

// Adds a file; its name has at most 99 characters. whole_file_close reports failures.
static void tar_add(WholeFile *archive, const char *name, const void *content, size_t size) {
    TarHeader header = {.mode = "0000644",
                        .user = "0000000",
                        .group = "0000000",
                        .modified = "00000000000",
                        .checksum = {' ', ' ', ' ', ' ', ' ', ' ', ' ', ' '},
                        .type = '0',
                        .magic = {'u', 's', 't', 'a', 'r', '\0', '0', '0'}};
    snprintf(header.name, sizeof header.name, "%s", name);
    snprintf(header.size, sizeof header.size, "%011llo", (unsigned long long)size & 077777777777);
    unsigned sum = 0; // sum of all bytes, with spaces in place of the sum itself
    const unsigned char *bytes = (const unsigned char *)&header;
    for (int i = 0; i < BLOCK; i++) sum += bytes[i];
    snprintf(header.checksum, sizeof header.checksum, "%06o", sum & 0777777);
    whole_file_write(archive, &header, sizeof header);
    whole_file_write(archive, content, size);
    whole_file_write(archive, nothing, (BLOCK - size % BLOCK) % BLOCK);
}

// Ends the archive, after the last file.
static void tar_end(WholeFile *archive) {
    for (int i = 0; i < 2; i++) whole_file_write(archive, nothing, BLOCK);
}

// ---- what is packed -----------------------------------------------------------------------------
typedef struct FileList {
    char names[MOST_FILES][NAME];
    int count;
} FileList;

static void list_add(FileList *list, const char *name) {
    for (int i = 0; i < list->count; i++)
        if (strcmp(list->names[i], name) == 0) return;
    if (list->count < MOST_FILES) snprintf(list->names[list->count++], NAME, "%s", name);
}

// Lists the required files: one for each exercise, the answers by hand, and the cases' other files.
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
    Page page;      // the report to the student
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

static Status add_line(Submission *submission, const char *line) {
    size_t length = strlen(line), used = submission->manifest_size;
    char *grown = memory_resize(submission->manifest, used, used + length + 1);
    if (!grown) return error_status();
    memcpy(grown + used, line, length + 1);
    submission->manifest = grown;
    submission->manifest_size = used + length;
    return STATUS_OK;
}

// Adds the key, on a line that sha256sum -c takes for a comment.
static Status add_key(Submission *submission) {
    char line[KEY_TEXT + 16];
    snprintf(line, sizeof line, KEY_LINE "%s\n", submission->lab->progress.key);
    return add_line(submission, line);
}

static Status add_to_manifest(Submission *submission, const char *name, const char *text,
                              size_t size) {
    uint8_t digest[SHA256_BYTES];
    char line[2 * SHA256_BYTES + NAME + 8];
    sha256(text, size, digest);
    for (int i = 0; i < SHA256_BYTES; i++) snprintf(line + 2 * i, 3, "%02x", digest[i]);
    snprintf(line + 2 * SHA256_BYTES, sizeof line - 2 * SHA256_BYTES, "  %s\n", name);
    return add_line(submission, line);
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
    page_print(page, PAGE_BOLD, 0,
               "%.600s: %d of %d files of %s, and MANIFEST with their SHA-256 sums", path,
               submission->packed, asked, submission->lab->progress.student);
    page_end_line(page);
    return lab_show(page);
}

int command_submit(Lab *lab) {
    const char *path = lab->options.output ? lab->options.output : "submission.tar";
    if (!lab->progress.key[0])
        return lab_refuse(LAB_USAGE,
                          "submit: whose is it? ./lab whoami KEY, with the key that your "
                          "teacher hands out, or without keys ./lab questions "
                          "--student NAME");
    FileList *list = memory_new(sizeof *list);
    Submission submission = {.lab = lab, .page = {.colour = lab->colour}};
    submission.archive = list ? whole_file_open(path) : NULL;
    Status status = submission.archive ? STATUS_OK : error_status();
    if (!status) collect(list);
    if (!status) status = add_key(&submission);
    for (int i = 0; !status && i < list->count; i++) status = pack(&submission, list->names[i]);
    if (!status) {
        tar_add(submission.archive, "MANIFEST", submission.manifest, submission.manifest_size);
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

// ---- grading -----------------------------------------------------------------------------------
// Reads the key from the MANIFEST in a folder; false: there is none.
static bool submission_key(const char *folder, char key[KEY_TEXT]) {
    char *text = file_read(folder, "MANIFEST", LARGE, NULL);
    bool found = text && strncmp(text, KEY_LINE, strlen(KEY_LINE)) == 0;
    if (found) {
        const char *at = text + strlen(KEY_LINE);
        snprintf(key, KEY_TEXT, "%.*s", (int)strcspn(at, "\r\n"), at);
        text_clean(key);
    }
    memory_free(text);
    error_clear(); // files handed in one by one have none
    return found;
}

// Deletes the secret on a machine that is for one submission only, before strangers' code is
// compiled, because such a machine may be unable to protect files.
static Status forget_secret(const char *path) {
    if (!path || unlink(path) == 0) return STATUS_OK;
    return error_set(STATUS_IO,
                     "--disposable: the secret '%s' cannot be removed: %s. HINT: give it "
                     "a file in a folder that may be written",
                     path, strerror(errno));
}

// Checks the results' names if they go into the submission's folder: a stranger's link leads to
// another file, and a pipe never opens.
static Status look_at_results(const char *folder) {
    for (int i = -2; i < format_count; i++) {
        const char *name = i >= 0 ? formats[i].file : i == -1 ? "times.json" : "result.json";
        char path[PATH_MAX];
        struct stat found;
        snprintf(path, sizeof path, "%.4000s/%s", folder, name);
        if (lstat(path, &found) == 0 && !S_ISREG(found.st_mode))
            return error_set(STATUS_IO, "%s is no plain file. HINT: --output names another folder",
                             path);
    }
    return STATUS_OK;
}

static Status grade_into(const GradeOptions *options, const char *folder, GradeResult *result) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%.4000s/result.json", folder);
    Status status = result_json_begin(path, options);
    if (!status) status = grade(options, result);
    if (!status) status = result_json_write(path, result);
    snprintf(path, sizeof path, "%.4000s/times.json", folder);
    if (!status) status = times_json_write(path, result);
    Result summary = {.n_cases = 0};
    if (!status) status = result_of(result, &summary);
    if (!status) status = formats_write(&summary, folder);
    result_free(&summary);
    return status;
}

static int show(Lab *lab, const GradeResult *result, const char *folder) {
    Page page = {.colour = lab->colour};
    char layers[96];
    page_label(&page, NULL);
    page_print(&page, PAGE_BOLD, 0, "%d of %d points", result->points, result->most_points);
    if (result->stretch_points > 0)
        page_print(&page, PAGE_PLAIN, 0, ", and %d more", result->stretch_points);
    page_print(&page, PAGE_PLAIN, 3, "%d cases passed, %d did not", result->passed, result->failed);
    page_end_line(&page);
    if (result->points < lab->options.minimum) {
        page_label(&page, "minimum");
        page_print(&page, PAGE_BAD, 0, "%d points are asked for", (int)lab->options.minimum);
        page_end_line(&page);
    }
    if (!result->student[0]) {
        page_label(&page, "practice");
        page_piece(&page, PAGE_PLAIN, 0, "no --student: questions by hand do not score");
        page_end_line(&page);
    }
    page_label(&page, "files");
    page_print(&page, PAGE_PLAIN, 0, "%.400s/result.json and %d formats", folder, format_count);
    page_end_line(&page);
    page_label(&page, "confined");
    page_piece(&page, PAGE_PLAIN, 0, confine_layers_text(result->layers, layers, sizeof layers));
    if (result->disposable) page_piece(&page, PAGE_BAD, 0, "; disposable");
    page_end_line(&page);
    return lab_show(&page);
}

int command_grade(Lab *lab) {
    GradeOptions options = lab_grade_options(lab);
    const char *folder = lab->options.output ? lab->options.output : lab->argument;
    char *secret = file_first_line(lab->options.secret);
    GradeResult result = {.n_exercises = 0};
    if (!secret) return lab_fail();
    options.folder = lab->argument;
    options.key.secret = secret;
    options.key.student = lab->options.student ? lab->options.student : "";
    options.key.token = NULL;
    options.own = false;
    options.disposable = lab->options.disposable;
    options.secret_file = options.disposable ? NULL : lab->options.secret;
    char handed[KEY_TEXT] = "";
    if (submission_key(lab->argument, handed)) options.handed_key = handed;
    Status status = lab->options.output ? STATUS_OK : look_at_results(folder);
    if (!status && options.disposable) status = forget_secret(lab->options.secret);
    if (!status) status = grade_into(&options, folder, &result);
    int shown = status ? lab_fail() : show(lab, &result, folder);
    if (!shown && result.machine_failed)
        shown =
            lab_refuse(LAB_FILE, "the machine failed, no fault of the submission's: grade again");
    bool below = result.points < lab->options.minimum;
    grade_free(&result);
    memory_free(secret);
    return shown ? shown : below ? LAB_FAILED : LAB_DONE;
}
