// test_interrupted.c -- foreign checkpoints, checkpoints that lie, and interrupted writes and
// reads: the earlier state stays as it was.
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "layers/files/checkpoint_fields.h"
#include "layers/files/safetensors.h"
#include "tensor/memory.h"
#include "tests/helpers/byte_file.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/training.h"
#include "tests/helpers/work_folder.h"

// ---- files that do not fit ---------------------------------------------------------------------
START_TEST(a_file_of_other_things_changes_nothing) {
    work_folder_begin();
    Checkpoint training = training_new(training_kinds[0], 8), model = {.model = training.model};
    for (int i = 0; i < 3; i++) training_step(&training);
    ck_assert_int_eq(safetensors_save(training.model, byte_file_path("weights")), STATUS_OK);
    ck_assert_int_eq(checkpoint_write(&model, byte_file_path("model")), STATUS_OK);
    Checkpoint others[] = {training_new(training_kinds[1], 9), training_new(training_kinds[0], 9),
                           training_new(training_kinds[0], 9)};
    others[2].step = -1;
    ck_assert(checkpoint_write(&others[2], byte_file_path("none")));
    byte_file_expect_error(STATUS_INVALID_ARGUMENT, "step -1");
    others[2].step = 0;
    loader_free(others[1].loader);
    others[1].loader =
        loader_new(&training_dataset, (LoaderOptions){.batch = TRAINING_BATCH + 1, .scale = 1.0f});
    layer_append(others[2].model, linear_new(TRAINING_CLASSES, TRAINING_CLASSES, true));
    static const char *const names[] = {"adamw", "loader", "layer"};
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(checkpoint_write(&others[i], byte_file_path(names[i])), STATUS_OK);
    static const struct {
        const char *file;
        Status status;
        const char *mention;
    } cases[] = {{"weights", STATUS_FORMAT, "the schema"},
                 {"model", STATUS_FORMAT, "optimizer.kind"},
                 {"adamw", STATUS_INVALID_ARGUMENT, "AdamW"},
                 {"loader", STATUS_INVALID_ARGUMENT, "batches of 5"},
                 {"layer", STATUS_INVALID_ARGUMENT, "2 unknown here: model.6.bias, model.6.weight"},
                 {"nothing", STATUS_IO, "nothing"}};
    context_seed(77);
    ck_assert_int_eq(checkpoint_write(&training, byte_file_path("before")), STATUS_OK);
    for (int i = 0; i < 6; i++) {
        ck_assert(checkpoint_read(&training, byte_file_path(cases[i].file)));
        byte_file_expect_error(cases[i].status, cases[i].mention);
        training_expect(&training, "before");
    }
    ck_assert_int_eq(checkpoint_read(&model, byte_file_path("before")), STATUS_OK); // a part
    training_free(&training);
    for (int i = 0; i < 3; i++) training_free(&others[i]);
    work_folder_end();
}
END_TEST

// Writes a checkpoint with one of its texts changed or, where the key is "tensor", with one more
// tensor of that name.
static const char *write_lie(const Safetensors *file, const char *key, const char *text) {
    enum { FIELDS = CHECKPOINT_MOST_FIELDS };
    const char *metadata[2 * (FIELDS + 2)] = {"schema", "", "frozen"};
    const int n = 2 + checkpoint_field_count();
    for (int i = 2; i < n; i++) metadata[2 * i] = checkpoint_field_key(i - 2);
    ParameterEntry items[64];
    ParameterList list = {items, (int)safetensors_count(file)};
    for (int i = 0; i < n; i++) {
        bool is_it = strcmp(metadata[2 * i], key) == 0;
        metadata[2 * i + 1] = is_it ? text : safetensors_metadata(file, metadata[2 * i]);
        ck_assert_ptr_nonnull(metadata[2 * i + 1]);
    }
    for (int i = 0; i < list.count; i++)
        items[i] = (ParameterEntry){.path = (char *)safetensors_entry(file, i)->name,
                                    .tensor = safetensors_tensor_new(file, i)};
    if (strcmp(key, "tensor") == 0)
        items[list.count++] =
            (ParameterEntry){.path = (char *)text, .tensor = tensor_new(SHAPE(2), DTYPE_FLOAT32)};
    const char *path = byte_file_path("lie");
    ck_assert_msg(!safetensors_write(&list, metadata, n, path), "%s", error_message());
    for (int i = 0; i < list.count; i++) tensor_free(items[i].tensor);
    return path;
}

START_TEST(texts_that_are_no_values_are_refused) {
    work_folder_begin();
    static const struct {
        const char *key, *text;
        Status status;
    } lies[] = {{"frozen", "", STATUS_INVALID_ARGUMENT},
                {"frozen", "0.bias\n1.bias\n", STATUS_INVALID_ARGUMENT},
                {"frozen", "0.bias", STATUS_INVALID_ARGUMENT}, // no newline
                {"schema", "ridgepoint.checkpoint/v2", STATUS_FORMAT},
                {"tensor", "another.weight", STATUS_FORMAT},
                {"tensor", "model.another", STATUS_INVALID_ARGUMENT},
                {"step", "-1", STATUS_FORMAT},
                {"step", "", STATUS_FORMAT},
                {"step", "9223372036854775808", STATUS_FORMAT},
                {"random.offset", "18446744073709551616", STATUS_FORMAT},
                {"random.offset", "5 ", STATUS_FORMAT},
                {"optimizer.kind", "tiger", STATUS_FORMAT},
                {"optimizer.kind", "sgd", STATUS_INVALID_ARGUMENT},
                {"optimizer.learning_rate", "fast", STATUS_FORMAT},
                {"optimizer.learning_rate", "[1]", STATUS_FORMAT},
                {"optimizer.learning_rate", "-1", STATUS_INVALID_ARGUMENT},
                {"optimizer.momentum", "0", STATUS_INVALID_ARGUMENT}, // that would make it SGD
                {"optimizer.nesterov", "2", STATUS_FORMAT},
                {"schedule.kind", "sine", STATUS_FORMAT},
                {"schedule.warmup", "-1", STATUS_FORMAT},
                {"schedule.base", "-1", STATUS_INVALID_ARGUMENT},
                {"loader.fingerprint", "1", STATUS_INVALID_ARGUMENT},
                {"loader.fingerprint", "0x1", STATUS_FORMAT},
                {"optimizer.steps", "99999999", STATUS_INVALID_ARGUMENT},
                {"loader.epoch", "0", STATUS_INVALID_ARGUMENT},
                {"loader.epoch", "9223372036854775807", STATUS_INVALID_ARGUMENT},
                {"loader.shuffle", "0", STATUS_INVALID_ARGUMENT}};
    Checkpoint training = training_new(training_kinds[2], 8);
    training_step(&training);
    ck_assert_int_eq(checkpoint_write(&training, byte_file_path("before")), STATUS_OK);
    Safetensors *file = safetensors_open(byte_file_path("before"));
    ck_assert_int_eq(checkpoint_read(&training, write_lie(file, "", "")), STATUS_OK);
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        const char *path = write_lie(file, lies[i].key, lies[i].text);
        ck_assert_msg(checkpoint_read(&training, path), "%s", lies[i].key);
        ck_assert_msg(error_status() == lies[i].status, "%s %s: %s", lies[i].key, lies[i].text,
                      error_message());
        error_clear();
        training_expect(&training, "before");
    }
    safetensors_close(file);
    training_free(&training);
    work_folder_end();
}
END_TEST

// ---- interruptions -----------------------------------------------------------------------------
static int64_t file_size(const char *name) {
    FILE *file = fopen(byte_file_path(name), "rb");
    ck_assert(file != NULL && fseek(file, 0, SEEK_END) == 0);
    int64_t size = ftell(file);
    fclose(file);
    return size;
}

// Writes in a child whose files may have `limit` bytes. With the signal ignored the write fails
// there, as on a full disk; otherwise the signal kills the program. Returns the child's end.
static int write_in_child(const Checkpoint *training, int64_t limit, bool killed) {
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        signal(SIGXFSZ, killed ? SIG_DFL : SIG_IGN);
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){(rlim_t)limit, (rlim_t)limit});
        _exit(checkpoint_write(training, byte_file_path("run")) == STATUS_IO ? 7 : 9);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

START_TEST(a_write_that_ends_at_any_byte_leaves_the_old_file) {
    work_folder_begin();
    Checkpoint training = training_new(training_kinds[0], 8);
    ck_assert_int_eq(checkpoint_write(&training, byte_file_path("run")), STATUS_OK);
    work_folder_run("cp run old");
    training_step(&training);
    ck_assert_int_eq(checkpoint_write(&training, byte_file_path("new")), STATUS_OK);
    const int64_t size = file_size("new");
    ck_assert_int_gt(size, 3000);
    for (int64_t limit = 0; limit < size; limit += limit < 64 || limit > size - 64 ? 1 : 61)
        ck_assert_int_eq(write_in_child(&training, limit, false), 7);
    work_folder_run("cmp run old; test $(ls | wc -l) = 3"); // no temporary is left
    for (int64_t limit = 0; limit < size; limit += 307)
        ck_assert_int_eq(write_in_child(&training, limit, true), SIGXFSZ);
    work_folder_run("cmp run old; test $(ls | wc -l) = 3"); // nor after a kill
    ck_assert_int_eq(write_in_child(&training, size, false), 9);
    work_folder_run("cmp run new");
    training_free(&training);
    work_folder_end();
}
END_TEST

// The system's linkat, unless a test makes it refuse, as a security module or a file system may.
static bool no_links;
int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags) {
    errno = EPERM;
    return no_links ? -1 : (int)syscall(SYS_linkat, from_folder, from, to_folder, to, flags);
}

START_TEST(where_a_file_can_be_given_no_name_it_is_copied_to_one) {
    work_folder_begin();
    Checkpoint training = training_new(training_kinds[0], 8);
    ck_assert_int_eq(checkpoint_write(&training, byte_file_path("run")), STATUS_OK);
    ck_assert_int_eq(chmod(byte_file_path("run"), 0640), 0);
    work_folder_run("cp run old");
    training_step(&training);
    ck_assert_int_eq(checkpoint_write(&training, byte_file_path("new")), STATUS_OK);
    const int64_t size = file_size("new");
    no_links = true;
    for (int64_t limit = 0; limit < size; limit += 1021)
        ck_assert_int_eq(write_in_child(&training, limit, false), 7);
    work_folder_run("cmp run old; test $(ls | wc -l) = 3");
    ck_assert_int_eq(checkpoint_write(&training, byte_file_path("run")), STATUS_OK);
    work_folder_run("cmp run new; test $(stat -c %a run) = 640; test $(ls | wc -l) = 3");
    no_links = false;
    training_free(&training);
    work_folder_end();
}
END_TEST

START_TEST(a_file_cut_at_any_byte_changes_nothing) {
    work_folder_begin();
    Checkpoint training = training_new(training_kinds[0], 8);
    ck_assert_int_eq(checkpoint_write(&training, byte_file_path("run")), STATUS_OK);
    for (int64_t size = file_size("run") - 1; size >= 0; size -= 17) {
        ck_assert_int_eq(truncate(byte_file_path("run"), size), 0);
        ck_assert(checkpoint_read(&training, byte_file_path("run")));
        byte_file_expect_error(STATUS_FORMAT, "safetensors: ");
    }
    training_free(&training);
    work_folder_end();
}
END_TEST

// True if the n-th allocation comes and fails. The existing file or state then stays as it was.
static bool fails_at(uint64_t nth, Checkpoint *training, const char *name, bool write) {
    uint64_t before = memory_requests();
    memory_fail_at(nth);
    Status status = write ? checkpoint_write(training, byte_file_path(name))
                          : checkpoint_read(training, byte_file_path(name));
    memory_fail_at(0);
    bool reached = memory_requests() - before >= nth;
    ck_assert_msg(status == (reached ? STATUS_OUT_OF_MEMORY : STATUS_OK), "request %d: %s",
                  (int)nth, error_message());
    error_clear();
    if (reached && write) ck_assert(file_size(name) == file_size("old"));
    if (reached && write && nth % 16 == 0) work_folder_run("cmp other old");
    return reached;
}

START_TEST(any_request_may_fail_and_what_was_stays) {
    work_folder_begin();
    Checkpoint training = training_new(training_kinds[0], 8),
               other = training_new(training_kinds[0], 9);
    training_step(&training);
    ck_assert_int_eq(checkpoint_write(&training, byte_file_path("run")), STATUS_OK);
    ck_assert_int_eq(checkpoint_write(&other, byte_file_path("other")), STATUS_OK);
    work_folder_run("cp other old");
    uint64_t nth = 0;
    while (fails_at(++nth, &training, "other", true)) continue;
    ck_assert_uint_gt(nth, 40);
    work_folder_run("cmp other run; test $(ls | wc -l) = 3"); // the last write succeeds
    for (nth = 1; fails_at(nth, &other, "run", false); nth++) continue;
    ck_assert_uint_gt(nth, 20);
    training_expect(&other, "run");
    training_free(&training);
    training_free(&other);
    ck_assert_int_eq(expect_live_bytes(), 0);
    work_folder_end();
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {{a_file_of_other_things_changes_nothing, 0},
                                 {texts_that_are_no_values_are_refused, 0},
                                 {a_write_that_ends_at_any_byte_leaves_the_old_file, 0},
                                 {where_a_file_can_be_given_no_name_it_is_copied_to_one, 0},
                                 {a_file_cut_at_any_byte_changes_nothing, 0},
                                 {any_request_may_fail_and_what_was_stays, 0},
                                 {NULL, 0}};
    return harness_main("interrupted", tests);
}
