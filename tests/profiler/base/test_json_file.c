// test_json_file.c -- profiler/base/json_writer's files: complete or absent, and every failure
// reported.
#include "profiler/base/json_writer.h"
#include "tensor/memory.h"
#include "tests/helpers/harness.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64]; // remove_folder checks that only `expected` is left in it
static char target[128];

static void make_folder(void) {
    snprintf(folder, sizeof folder, "/tmp/test_json_XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(target, sizeof target, "%s/report.json", folder);
}

static int count_files(void) {
    DIR *stream_of_names = opendir(folder);
    int count = -2; // skips "." and ".."
    while (readdir(stream_of_names) != NULL) count++;
    closedir(stream_of_names);
    return count;
}

static void remove_folder(int expected) {
    ck_assert_int_eq(count_files(), expected); // no temporary file is left
    unlink(target);
    rmdir(folder);
}

static void put_file(const char *content) {
    FILE *file = fopen(target, "w");
    fputs(content, file);
    fclose(file);
}

static void check_file(const char *path, const char *want) {
    char got[64] = {0};
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    (void)!fread(got, 1, sizeof got - 1, file);
    fclose(file);
    ck_assert_str_eq(got, want);
}

// True if STATUS_IO is pending with a message that names the path, the reason and a remedy.
static bool is_io_error(const char *path, int reason) {
    bool found = error_status() == STATUS_IO && strstr(error_message(), path) != NULL &&
                 strstr(error_message(), strerror(reason)) != NULL &&
                 strstr(error_message(), " HINT: ") != NULL;
    if (found) error_clear();
    return found;
}

START_TEST(a_file_appears_only_when_it_is_complete) {
    make_folder();
    JsonWriter *json = json_file_open(target);
    ck_assert_int_eq(count_files(), 0); // stopped before its first byte, a program leaves nothing
    json_writer_bool(json, false);
    ck_assert_int_ne(access(target, F_OK), 0);
    ck_assert_int_le(count_files(), 1); // 0 if the system has files without names
    ck_assert_int_eq(json_writer_close(json), STATUS_OK);
    check_file(target, "false\n");
    struct stat made;
    ck_assert_int_eq(stat(target, &made), 0);
    mode_t mask = umask(0);
    umask(mask);
    ck_assert_uint_eq(made.st_mode & 0777, 0666 & ~mask);
    remove_folder(1);
}
END_TEST

START_TEST(replacing_a_file_keeps_the_old_one_until_close_and_its_permissions) {
    make_folder();
    put_file("old");
    ck_assert_int_eq(chmod(target, 0640), 0);
    JsonWriter *json = json_file_open(target);
    JsonWriter *second = json_file_open(target); // at the same time: the last to close wins
    json_writer_null(json);
    json_writer_int64(second, 2);
    check_file(target, "old");
    ck_assert_int_eq(json_writer_close(json), STATUS_OK);
    check_file(target, "null\n");
    ck_assert_int_eq(json_writer_close(second), STATUS_OK);
    check_file(target, "2\n");
    struct stat made;
    ck_assert_int_eq(stat(target, &made), 0);
    ck_assert_uint_eq(made.st_mode & 0777, 0640);
    remove_folder(1);
}
END_TEST

// An earlier, killed process may have had this process's number.
START_TEST(what_lies_there_under_a_temporary_s_name_stays) {
    char taken[sizeof target + 80];
    make_folder();
    snprintf(taken, sizeof taken, "%s.%ld-0.tmp", target, (long)getpid());
    FILE *file = fopen(taken, "w");
    ck_assert(file != NULL && fclose(file) == 0);
    JsonWriter *json = json_file_open(target);
    json_writer_null(json);
    ck_assert_int_eq(json_writer_close(json), STATUS_OK);
    check_file(target, "null\n");
    ck_assert_int_eq(count_files(), 2);
    check_file(taken, "");
    ck_assert_int_eq(unlink(taken), 0);
    remove_folder(1);
}
END_TEST

START_TEST(a_discarded_document_leaves_no_trace) {
    make_folder();
    put_file("old");
    JsonWriter *json = json_file_open(target);
    json_writer_begin_object(json);
    json_writer_discard(json);
    json_writer_discard(NULL);
    check_file(target, "old");
    remove_folder(1);
}
END_TEST

// Runs `body` in a child that is no longer root, because root may write anywhere, and because a
// broken writer must not be able to replace a device. Skips the test if that fails.
static void as_ordinary_user(bool (*body)(int), int argument) {
    pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0 && setuid(65534) != 0) _exit(77);
        _exit(body(argument) ? 0 : 1);
    }
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77) test_skip("cannot step down from root");
    ck_assert_int_eq(WEXITSTATUS(status), 0);
}

static bool full_device_is_reported(int members) {
    JsonWriter *json = json_file_open("/dev/full");
    if (json == NULL) return false;
    json_writer_begin_array(json);
    for (int i = 0; i < members; i++) json_writer_int64(json, i);
    json_writer_end_array(json);
    if (error_pending() || json_writer_close(json) != STATUS_IO) return false;
    return is_io_error("/dev/full", ENOSPC);
}

START_TEST(a_full_device_is_reported) { // the flush at close, or a write, finds it
    if (access("/dev/full", W_OK) != 0) test_skip("there is no /dev/full");
    as_ordinary_user(full_device_is_reported, _i == 0 ? 1 : 100000);
}
END_TEST

START_TEST(a_missing_folder_and_a_folder_as_target_are_reported) {
    make_folder();
    char missing[128];
    snprintf(missing, sizeof missing, "%s/no/report.json", folder);
    ck_assert_ptr_null(json_file_open(missing));
    ck_assert_msg(is_io_error(missing, ENOENT), "%s", error_message());
    ck_assert_ptr_null(json_file_open(folder));
    ck_assert_msg(is_io_error(folder, EISDIR), "%s", error_message());
    ck_assert_ptr_null(json_file_open(""));
    ck_assert_msg(is_io_error("''", ENOENT), "%s", error_message());
    remove_folder(0);
}
END_TEST

START_TEST(a_target_that_turned_into_a_folder_is_reported_and_the_temporary_removed) {
    make_folder();
    JsonWriter *json = json_file_open(target);
    json_writer_null(json);
    ck_assert_int_eq(mkdir(target, 0700), 0);
    ck_assert_int_eq(json_writer_close(json), STATUS_IO);
    ck_assert_msg(is_io_error(target, EISDIR), "%s", error_message());
    ck_assert_int_eq(count_files(), 1);
    rmdir(target);
    remove_folder(0);
}
END_TEST

static bool refusal_is_reported(int new_file) {
    char other[160];
    snprintf(other, sizeof other, "%s/other.json", folder);
    const char *path = new_file ? other : target;
    return json_file_open(path) == NULL && is_io_error(path, EACCES);
}

START_TEST(a_folder_that_may_not_be_written_is_reported) {
    make_folder();
    ck_assert_int_eq(chmod(folder, 0555), 0);
    as_ordinary_user(refusal_is_reported, true);
    remove_folder(0);
}
END_TEST

START_TEST(a_file_that_may_not_be_written_is_not_replaced) {
    make_folder();
    put_file("old");
    ck_assert_int_eq(chmod(target, 0444), 0);
    ck_assert_int_eq(chmod(folder, 0777), 0);
    as_ordinary_user(refusal_is_reported, false);
    check_file(target, "old");
    remove_folder(1);
}
END_TEST

START_TEST(a_fifo_is_written_directly) {
    make_folder();
    ck_assert_int_eq(mkfifo(target, 0600), 0);
    int reader = open(target, O_RDONLY | O_NONBLOCK);
    JsonWriter *json = json_file_open(target);
    json_writer_int64(json, 42);
    ck_assert_int_eq(json_writer_close(json), STATUS_OK);
    char got[8] = {0};
    ck_assert_int_eq(read(reader, got, sizeof got - 1), 3);
    ck_assert_str_eq(got, "42\n");
    close(reader);
    remove_folder(1);
}
END_TEST

START_TEST(a_symbolic_link_stays_and_its_target_is_replaced_on_success) {
    make_folder();
    char inner[128], real[160];
    snprintf(inner, sizeof inner, "%s/inner", folder);
    snprintf(real, sizeof real, "%s/real.json", inner);
    ck_assert_int_eq(mkdir(inner, 0700), 0);
    ck_assert_int_eq(symlink("inner/real.json", target), 0);
    FILE *old = fopen(real, "w");
    fputs("old", old);
    fclose(old);

    JsonWriter *json = json_file_open(target);
    json_writer_begin_array(json);
    check_file(real, "old");
    json_writer_discard(json); // as after a failed run
    check_file(real, "old");

    json = json_file_open(target);
    json_writer_int64(json, 43);
    check_file(real, "old");
    ck_assert_int_eq(json_writer_close(json), STATUS_OK);
    check_file(real, "43\n");
    struct stat link;
    ck_assert_int_eq(lstat(target, &link), 0);
    ck_assert(S_ISLNK(link.st_mode));
    unlink(real);
    ck_assert_int_eq(rmdir(inner), 0); // no temporary in it
    remove_folder(1);
}
END_TEST

START_TEST(a_symbolic_link_to_nowhere_is_reported) {
    make_folder();
    ck_assert_int_eq(symlink("nowhere.json", target), 0);
    ck_assert_ptr_null(json_file_open(target));
    ck_assert_msg(is_io_error(target, ENOENT), "%s", error_message());
    remove_folder(1);
}
END_TEST

START_TEST(a_folder_that_vanished_before_the_first_byte_is_reported_by_close) {
    make_folder();
    JsonWriter *json = json_file_open(target);
    remove_folder(0);
    json_writer_null(json);
    ck_assert_int_eq(json_writer_close(json), STATUS_IO);
    ck_assert_msg(is_io_error(target, ENOENT), "%s", error_message());
}
END_TEST

// Writes to "-" while standard output goes to `path`.
static Status write_to_standard_output(const char *path) {
    fflush(stdout);
    int kept = dup(STDOUT_FILENO);
    int file = open(path, O_WRONLY | O_CREAT, 0600);
    dup2(file, STDOUT_FILENO);
    JsonWriter *json = json_file_open("-");
    json_writer_bool(json, true);
    Status status = json_writer_close(json);
    if (status == STATUS_OK) printf("more\n"); // stdout is still open
    fflush(stdout);
    dup2(kept, STDOUT_FILENO);
    close(kept);
    close(file);
    return status;
}

START_TEST(a_dash_is_standard_output) {
    make_folder();
    ck_assert_int_eq(write_to_standard_output(target), STATUS_OK);
    check_file(target, "true\nmore\n");
    remove_folder(1);
    if (access("/dev/full", W_OK) != 0) return;
    ck_assert_int_eq(write_to_standard_output("/dev/full"), STATUS_IO);
    ck_assert_msg(is_io_error("standard output", ENOSPC), "%s", error_message());
}
END_TEST

START_TEST(running_out_of_memory_is_reported_and_leaves_no_file) {
    make_folder();
    JsonWriter *json = NULL;
    int failures = 0;
    for (uint64_t nth = 1; json == NULL; nth++) {
        memory_fail_at(nth);
        json = json_file_open(target);
        memory_fail_at(0);
        if (json != NULL) break;
        failures++;
        ck_assert_int_eq(error_status(), STATUS_OUT_OF_MEMORY);
        ck_assert_int_eq(count_files(), 0);
        error_clear();
    }
    ck_assert_int_eq(failures, 4);
    json_writer_discard(json);
    remove_folder(0);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_file_appears_only_when_it_is_complete, 0},
        {replacing_a_file_keeps_the_old_one_until_close_and_its_permissions, 0},
        {what_lies_there_under_a_temporary_s_name_stays, 0},
        {a_discarded_document_leaves_no_trace, 0},
        {a_full_device_is_reported, 2},
        {a_missing_folder_and_a_folder_as_target_are_reported, 0},
        {a_target_that_turned_into_a_folder_is_reported_and_the_temporary_removed, 0},
        {a_folder_that_may_not_be_written_is_reported, 0},
        {a_file_that_may_not_be_written_is_not_replaced, 0},
        {a_fifo_is_written_directly, 0},
        {a_symbolic_link_stays_and_its_target_is_replaced_on_success, 0},
        {a_symbolic_link_to_nowhere_is_reported, 0},
        {a_folder_that_vanished_before_the_first_byte_is_reported_by_close, 0},
        {a_dash_is_standard_output, 0},
        {running_out_of_memory_is_reported_and_leaves_no_file, 0},
        {NULL, 0},
    };
    return harness_main("json_file", tests);
}
