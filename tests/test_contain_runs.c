// test_contain_runs.c -- contained runs from the grader's side: several at once, each another user;
// what is refused, what fails; the folders that programs get, and who is never touched.
#include "exercises/grader/contain.h"
#include "exercises/grader/contain_parts.h"
#include "exercises/grader/contain_remove.h"
#include "tensor/memory.h"
#include "tests/harness.h"
#include "tests/villain.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// ---- several at once ---------------------------------------------------------------------------
START_TEST(several_run_at_once) {
    villain_enter(&villain_modes[_i]);
    enum { RUNS = 6 };
    const char *const arguments[] = {villain_path, "well", NULL};
    const ContainCommand command = {.argv = arguments,
                                    .limits = villain_limits,
                                    .without = villain_modes[_i].without};
    int descriptors = villain_count_descriptors();
    ContainRun *runs[RUNS];
    for (int i = 0; i < RUNS; i++) ck_assert_int_eq(contain_begin(&command, &runs[i]), STATUS_OK);
    for (int i = 0; i < RUNS; i++) {
        ContainResult result;
        ck_assert_int_eq(contain_finish(runs[i], &result), STATUS_OK);
        ck_assert_int_eq(result.end, CONTAIN_EXITED);
        ck_assert_int_eq(result.code, 7);
        contain_result_free(&result);
    }
    villain_check_nothing_left(descriptors);
}
END_TEST

START_TEST(each_run_takes_another_user) {
    enum { TAKEN = 3 };
    uid_t users[TAKEN], again;
    int slots[TAKEN], slot;
    for (int i = 0; i < TAKEN; i++) {
        ck_assert_int_eq(user_take(&users[i], &slots[i]), STATUS_OK);
        ck_assert(user_is_contained(users[i]));
        for (int k = 0; k < i; k++) ck_assert_uint_ne(users[i], users[k]);
    }
    for (int i = 0; i < TAKEN; i++) close(slots[i]);
    ck_assert_int_eq(user_take(&again, &slot), STATUS_OK);
    close(slot);
}
END_TEST

// The functions that kill and remove begin with this question.
START_TEST(other_users_are_never_touched) {
    static const uid_t others[] = {
        0,      1, 1000, VILLAIN_USER, CONTAIN_FIRST_USER - 1, CONTAIN_FIRST_USER + CONTAIN_USERS,
        NO_USER};
    char path[128];
    int folder = open(villain_folder, O_RDONLY | O_DIRECTORY);
    ck_assert_int_ge(folder, 0);
    snprintf(path, sizeof path, "%s/stays", villain_folder);
    int file = open(path, O_CREAT | O_WRONLY, 0600);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        ck_assert(!user_is_contained(others[i]));
        ck_assert_int_eq(remove_owned(folder, others[i]), 0);
    }
    ck_assert(user_is_contained(CONTAIN_FIRST_USER));
    ck_assert(user_is_contained(CONTAIN_FIRST_USER + CONTAIN_USERS - 1));
    ck_assert_int_eq(remove_owned(folder, CONTAIN_FIRST_USER), 0); // nothing here is of it
    if (file >= 0) ck_assert_int_eq(unlink(path), 0);
    close(file);
    close(folder);
}
END_TEST

// One that is ended itself, with all that it began.
START_TEST(what_a_dead_grader_began_ends_too) {
    villain_enter(&villain_modes[_i]);
    contain_layers();
    pid_t grader = fork();
    ck_assert_int_ge(grader, 0);
    if (grader == 0) {
        const char *const arguments[] = {villain_path, "deaf", NULL};
        ContainCommand command = {.argv = arguments,
                                  .limits = villain_limits,
                                  .without = villain_modes[_i].without};
        command.limits.wall_seconds = 1000;
        ContainRun *run;
        _exit(contain_begin(&command, &run) == STATUS_OK ? 0 : 1);
    }
    int status;
    ck_assert_int_eq(waitpid(grader, &status, 0), grader);
    ck_assert_int_eq(status, 0);
    while (villain_count() > 0) usleep(10000); // the test's own time limit ends this
}
END_TEST

// A run that is still alive keeps its user.
START_TEST(a_user_is_taken_while_its_run_lasts) {
    villain_enter(&villain_modes[0]);
    if (!(contain_layers() & LAYER_USER)) test_skip("not root");
    const char *const rest[] = {villain_path, "sleep", NULL};
    ContainCommand command = {.argv = rest, .limits = villain_limits};
    command.limits.wall_seconds = 1;
    ContainRun *run;
    ck_assert_int_eq(contain_begin(&command, &run), STATUS_OK);
    ContainResult one = villain_run("look", &villain_limits, 0),
                  other = villain_run("well", &villain_limits, 0);
    ck_assert_int_eq(one.end, CONTAIN_EXITED);
    ck_assert_int_eq(other.end, CONTAIN_EXITED);
    contain_result_free(&one);
    contain_result_free(&other);
    ck_assert_int_eq(contain_finish(run, &one), STATUS_OK);
    ck_assert_int_eq(one.end, CONTAIN_TIMED_OUT); // the others' ends did not end it
    contain_result_free(&one);
}
END_TEST

// ---- refusals and failures ---------------------------------------------------------------------
START_TEST(what_cannot_be_run_is_an_error) {
    villain_enter(&villain_modes[_i]);
    const char *const missing[] = {"/nonexistent/program", NULL};
    const char *const relative[] = {"villain", NULL};
    ContainCommand command = {.argv = missing,
                              .limits = villain_limits,
                              .without = villain_modes[_i].without};
    ContainResult result;
    int descriptors = villain_count_descriptors();
    ck_assert_int_eq(contain_run(&command, &result), STATUS_IO);
    ck_assert_ptr_nonnull(strstr(error_message(), "execute"));
    error_clear();
    contain_result_free(&result);
    command.argv = relative;
    ck_assert_int_eq(contain_run(&command, &result), STATUS_INVALID_ARGUMENT);
    error_clear();
    villain_check_nothing_left(descriptors);
}
END_TEST

START_TEST(no_memory_is_an_error) {
    villain_enter(&villain_modes[0]);
    contain_layers();
    const char *const arguments[] = {villain_path, "well", NULL};
    const ContainCommand command = {.argv = arguments, .limits = villain_limits};
    int failed = 0;
    for (uint64_t nth = 1;; nth++) {
        ContainResult result;
        memory_fail_at(nth);
        Status status = contain_run(&command, &result);
        memory_fail_at(0);
        contain_result_free(&result);
        if (status == STATUS_OK) break;
        ck_assert_int_eq(status, STATUS_OUT_OF_MEMORY);
        error_clear();
        failed++;
    }
    ck_assert_int_ge(failed, 3);
}
END_TEST

START_TEST(layers_have_names) {
    char text[64];
    ck_assert_str_eq(contain_layers_text(LAYER_LIMITS | LAYER_USER, text, sizeof text),
                     "limits, user");
    ck_assert_str_eq(contain_layers_text(0, text, sizeof text), "");
    ck_assert_uint_eq(contain_layers() & (LAYER_LIMITS | LAYER_GROUP), LAYER_LIMITS | LAYER_GROUP);
}
END_TEST

// ---- folders -----------------------------------------------------------------------------------
START_TEST(a_folder_is_writable_only_where_files_are_allowed) {
    villain_enter(&villain_modes[_i]);
    char folder[128];
    ck_assert_int_eq(contain_directory_new(folder, sizeof folder), STATUS_OK);
    const char *const arguments[] = {villain_path, "disk", NULL};
    ContainCommand command = {.argv = arguments,
                              .directory = folder,
                              .limits = villain_limits,
                              .without = villain_modes[_i].without | LAYER_SECCOMP};
    command.limits.file_bytes = 10000;
    ContainResult result;
    ck_assert_int_eq(contain_run(&command, &result), STATUS_OK);
    ck_assert_int_eq(result.end, CONTAIN_CRASHED);
    ck_assert_int_eq(result.code, SIGXFSZ);
    contain_result_free(&result);
    char path[160];
    struct stat found;
    snprintf(path, sizeof path, "%s/filled", folder);
    ck_assert_int_eq(stat(path, &found), 0);
    ck_assert_int_eq((int)found.st_size, 10000);
    ck_assert_uint_eq(found.st_uid, geteuid());
    ck_assert_int_eq(contain_directory_remove(folder), STATUS_OK);
    ck_assert_int_ne(access(folder, F_OK), 0);
}
END_TEST

START_TEST(only_own_folders_are_removed) {
    villain_enter(&villain_modes[_i]);
    static const char *const others[] = {"",
                                         "/",
                                         "/tmp",
                                         "/tmp/",
                                         "ridgepoint-abcdef",
                                         "/tmp/..",
                                         "/etc",
                                         "/tmp/ridgepoint-",
                                         "/usr/ridgepoint-abcdef",
                                         "/tmp/ridgepoint-a/../x"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        ck_assert_int_eq(contain_directory_remove(others[i]), STATUS_INVALID_ARGUMENT);
        error_clear();
    }
    char folder[128], path[160], link[160];
    ck_assert_int_eq(contain_directory_new(folder, sizeof folder), STATUS_OK);
    snprintf(link, sizeof link, "%.100s/link", folder);
    snprintf(path, sizeof path, "%.100s/..", folder);
    ck_assert_int_eq(contain_directory_remove(path), STATUS_INVALID_ARGUMENT);
    error_clear();
    ck_assert_int_eq(symlink(villain_folder, link), 0); // goes, and not what it leads to
    ck_assert_int_eq(contain_directory_remove(folder), STATUS_OK);
    ck_assert_int_eq(access(villain_path, X_OK), 0);
}
END_TEST

// ---- text --------------------------------------------------------------------------------------
START_TEST(text_becomes_harmless) {
    static const struct {
        const char *text, *clean;
    } texts[] = {{"plain\n\ttext", "plain\n\ttext"},
                 {"\033[31mred\r", "?[31mred?"},
                 {"\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80",
                  "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80"},
                 {"\xff\xfe", "??"},
                 {"\xc3", "?"},
                 {"\xe2\x82", "??"},
                 {"\xc0\xaf", "??"},
                 {"\xed\xa0\x80", "???"},
                 {"\xf4\x90\x80\x80", "????"},
                 {"\xc2\x9b", "?"},
                 {"\xef\xbf\xbe", "?"},
                 {"\x7f\x01", "??"}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char text[64];
        snprintf(text, sizeof text, "%s", texts[i].text);
        text_clean(text);
        ck_assert_str_eq(text, texts[i].clean);
    }
    villain_enter(&villain_modes[0]);
    ContainResult result = villain_run("bytes", &villain_limits, 0);
    ck_assert_str_eq(result.output, "a?b?[2J?\xc3\xa4\n");
    contain_result_free(&result);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {{several_run_at_once, VILLAIN_MODES},
                                 {each_run_takes_another_user, 0},
                                 {other_users_are_never_touched, 0},
                                 {what_a_dead_grader_began_ends_too, VILLAIN_MODES},
                                 {a_user_is_taken_while_its_run_lasts, 0},
                                 {what_cannot_be_run_is_an_error, VILLAIN_MODES},
                                 {no_memory_is_an_error, 0},
                                 {layers_have_names, 0},
                                 {a_folder_is_writable_only_where_files_are_allowed, VILLAIN_MODES},
                                 {only_own_folders_are_removed, VILLAIN_MODES},
                                 {text_becomes_harmless, 0},
                                 {NULL, 0}};
    return villain_main("contain_runs", tests);
}
