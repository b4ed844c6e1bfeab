// test_room.c -- private folders: their contents; removing one removes all in it and nothing else;
// full disks, missing descriptors, a folder that is gone.
#include "exercises/grader/room.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exercises/selftest/alone.h"
#include "tensor/context.h"
#include "tensor/memory.h"
#include "tests/helpers/harness.h"

static const char *not_alone;

// Enters a place where nothing outside can be lost; tries rooms of a plain user and of root.
static void enter(int index) {
    if (not_alone) test_skip(not_alone);
    if (index == ALONE_PLAIN && geteuid() != 0) test_skip("it is one already");
    const char *reason = alone_become((AloneUser)index);
    if (reason) test_skip(reason);
}

static int count_rooms(void) {
    int count = 0;
    DIR *folder = opendir("/tmp");
    ck_assert_ptr_nonnull(folder);
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
        count += strncmp(entry->d_name, "ridgepoint-", 11) == 0;
    closedir(folder);
    return count;
}

static char *outside_file(void) {
    static char path[64];
    snprintf(path, sizeof path, "/tmp/outside-%d", (int)getpid());
    if (mkdir(path, 0755) != 0 && errno != EEXIST) ck_abort_msg("%s", strerror(errno));
    snprintf(path, sizeof path, "/tmp/outside-%d/file", (int)getpid());
    int file = open(path, O_CREAT | O_WRONLY, 0644);
    ck_assert_int_ge(file, 0);
    close(file);
    return path;
}

// ---- making ------------------------------------------------------------------------------------
START_TEST(nobody_else_can_enter) {
    enter(_i);
    Room room;
    struct stat outside, inside;
    int before = count_rooms();
    ck_assert_int_eq(room_open(&room), STATUS_OK);
    ck_assert_int_eq(fstat(room.outside, &outside), 0);
    ck_assert_int_eq(fstat(room.descriptor, &inside), 0);
    ck_assert_uint_eq(outside.st_mode & 07777, 0700);
    ck_assert_uint_eq(inside.st_mode & 07777, geteuid() == 0 ? 01777 : 0700);
    ck_assert_int_eq(strncmp(room.path, "/tmp/ridgepoint-", 16), 0);
    ck_assert(!room_is_full(&room));
    room_close(&room);
    ck_assert_int_eq(count_rooms(), before);
    room_close(&room); // closing twice is harmless
}
END_TEST

START_TEST(files_go_in_once_and_come_out) {
    enter(_i);
    Room room;
    char text[8] = "";
    struct stat found;
    ck_assert_int_eq(room_open(&room), STATUS_OK);
    ck_assert_int_eq(room_write(&room, "file", "hello", 5), STATUS_OK);
    ck_assert_int_eq(room_write(&room, "file", "again", 5), STATUS_IO);
    error_clear();
    ck_assert_int_eq(room_copy(&room, "/nonexistent/file", "other"), STATUS_IO);
    error_clear();
    ck_assert_int_eq(room_copy(&room, outside_file(), "copy"), STATUS_OK);
    ck_assert_int_eq(room_copy_tree(&room, "exercises/scene", "tree"), STATUS_OK);
    int file = room_read(&room, "file");
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq((int)read(file, text, sizeof text), 5);
    ck_assert_str_eq(text, "hello");
    ck_assert_int_eq(fstat(file, &found), 0);
    ck_assert_uint_eq(found.st_mode & 0777, 0644);
    close(file);
    ck_assert_int_eq(fstatat(room.descriptor, "tree/reference.c", &found, 0), 0);
    ck_assert_int_eq(fstatat(room.descriptor, "tree", &found, 0), 0);
    ck_assert_uint_eq(found.st_mode & 0777, 0555);
    room_close(&room);
    ck_assert_int_eq(access(outside_file(), F_OK), 0);
}
END_TEST

START_TEST(a_link_in_a_room_leads_nowhere) {
    enter(_i);
    Room room;
    ck_assert_int_eq(room_open(&room), STATUS_OK);
    ck_assert_int_eq(symlinkat(outside_file(), room.descriptor, "worker"), 0);
    ck_assert_int_lt(room_read(&room, "worker"), 0);
    ck_assert_int_eq(room_write(&room, "worker", "x", 1), STATUS_IO);
    error_clear();
    ck_assert_int_eq(mkfifoat(room.descriptor, "fifo", 0600), 0);
    int fifo = room_read(&room, "fifo"); // does not wait for a writer
    if (fifo >= 0) close(fifo);
    room_close(&room);
    struct stat found;
    ck_assert_int_eq(stat(outside_file(), &found), 0);
    ck_assert_int_eq((int)found.st_size, 0);
}
END_TEST

// ---- removing ----------------------------------------------------------------------------------
// Descriptor 0 belongs to somebody else: here it is a folder with a file in it.
START_TEST(a_room_that_was_never_made_closes_nothing) {
    enter(_i);
    Room room = {.outside = 0};
    const char *outside = outside_file();
    char folder[64];
    snprintf(folder, sizeof folder, "/tmp/outside-%d", (int)getpid());
    int opened = open(folder, O_RDONLY | O_DIRECTORY);
    ck_assert_int_eq(dup2(opened, 0), 0);
    room_close(&room);
    ck_assert_int_ge(fcntl(0, F_GETFD), 0);
    ck_assert_int_eq(access(outside, F_OK), 0);
}
END_TEST

START_TEST(all_of_it_goes_and_nothing_else) {
    enter(_i);
    Room room;
    const char *outside = outside_file();
    char folder[64];
    int before = count_rooms();
    snprintf(folder, sizeof folder, "/tmp/outside-%d", (int)getpid());
    ck_assert_int_eq(room_open(&room), STATUS_OK);
    int in = room.descriptor;
    ck_assert_int_eq(symlinkat(folder, in, "link"), 0);
    ck_assert_int_eq(symlinkat("..", in, "above"), 0);
    ck_assert_int_eq(symlinkat("/nonexistent", in, "broken"), 0);
    ck_assert_int_eq(linkat(AT_FDCWD, outside, in, "same", 0), 0);
    ck_assert_int_eq(mkfifoat(in, "fifo", 0600), 0);
    ck_assert_int_eq(mkdirat(in, "closed", 0700), 0);
    ck_assert_int_eq(symlinkat(folder, in, "closed/link"), 0);
    ck_assert_int_eq(fchmodat(in, "closed", 0, 0), 0);
    ck_assert_int_eq(mkdirat(in, "-rf *", 0700), 0);
    int deep = dup(in);
    for (int i = 0; i < 60; i++) {
        ck_assert_int_eq(mkdirat(deep, "deeper", 0700), 0);
        ck_assert_int_eq(symlinkat(folder, deep, "there"), 0);
        int next = openat(deep, "deeper", O_RDONLY | O_DIRECTORY);
        close(deep);
        deep = next;
    }
    close(deep);
    room_close(&room);
    ck_assert_int_eq(count_rooms(), before);
    ck_assert_int_eq(access(outside, F_OK), 0);
    ck_assert_int_eq(access(folder, F_OK), 0);
}
END_TEST

// As in the root grader's rooms: files of the account under which their programs run.
START_TEST(files_of_another_account_go_too) {
    enter(ALONE_SELF);
    if (geteuid() != 0) test_skip("not root");
    Room room;
    int before = count_rooms();
    ck_assert_int_eq(room_open(&room), STATUS_OK);
    ck_assert_int_eq(room_write(&room, "file", "x", 1), STATUS_OK);
    ck_assert_int_eq(mkdirat(room.descriptor, "folder", 0700), 0);
    ck_assert_int_eq(fchownat(room.descriptor, "file", 65534, 65534, 0), 0);
    ck_assert_int_eq(fchownat(room.descriptor, "folder", 65534, 65534, 0), 0);
    room_close(&room);
    ck_assert_int_eq(count_rooms(), before);
}
END_TEST

START_TEST(a_room_that_is_gone_is_no_harm) {
    enter(_i);
    Room room;
    char moved[128], outer[128];
    ck_assert_int_eq(room_open(&room), STATUS_OK);
    snprintf(outer, sizeof outer, "%.*s", (int)(strlen(room.path) - strlen("/inside")), room.path);
    snprintf(moved, sizeof moved, "/tmp/moved-%d", (int)getpid());
    ck_assert_int_eq(rename(outer, moved), 0); // another folder has its name now
    ck_assert_int_eq(mkdir(outer, 0700), 0);
    char theirs[160];
    snprintf(theirs, sizeof theirs, "%s/theirs", outer);
    ck_assert_int_eq(mkdir(theirs, 0700), 0);
    ck_assert_int_eq(room_write(&room, "file", "x", 1), STATUS_OK);
    room_close(&room);
    ck_assert_int_eq(access(theirs, F_OK), 0);
    ck_assert_int_eq(rmdir(moved), 0); // it was emptied anyway
    ck_assert_int_eq(rmdir(theirs), 0);
    ck_assert_int_eq(rmdir(outer), 0);
    ck_assert_int_eq(room_open(&room), STATUS_OK);
    ck_assert_int_eq(unlinkat(room.outside, "inside", AT_REMOVEDIR), 0);
    ck_assert_int_eq(room_write(&room, "file", "x", 1), STATUS_IO);
    error_clear();
    room_close(&room);
}
END_TEST

// ---- a machine that lacks something ------------------------------------------------------------
START_TEST(without_tmpdir_there_is_tmp_and_a_wrong_one_is_said) {
    enter(_i);
    Room room;
    ck_assert_int_eq(setenv("TMPDIR", "/nonexistent", 1), 0);
    ck_assert_int_eq(room_open(&room), STATUS_IO);
    ck_assert_ptr_nonnull(strstr(error_message(), "TMPDIR"));
    error_clear();
    room_close(&room);
    char longest[700];
    memset(longest, 'x', sizeof longest - 1);
    longest[0] = '/';
    longest[sizeof longest - 1] = '\0';
    ck_assert_int_eq(setenv("TMPDIR", longest, 1), 0);
    ck_assert_int_eq(room_open(&room), STATUS_IO);
    error_clear();
    room_close(&room);
    ck_assert_int_eq(setenv("TMPDIR", "relative", 1), 0);
    ck_assert_int_eq(room_open(&room), STATUS_OK);
    room_close(&room);
}
END_TEST

START_TEST(a_full_disk_is_an_error) {
    enter(ALONE_SELF);
    if (mkdir("/tmp/small", 0777) != 0 ||
        mount("tmpfs", "/tmp/small", "tmpfs", 0, "size=70m,mode=777") != 0)
        test_skip("only root can make a small disk");
    ck_assert_int_eq(setenv("TMPDIR", "/tmp/small", 1), 0);
    Room room;
    ck_assert_int_eq(room_open(&room), STATUS_OK);
    char *much = calloc(1, 60 << 20);
    ck_assert_ptr_nonnull(much);
    ck_assert_int_eq(room_write(&room, "much", much, 60 << 20), STATUS_OK);
    ck_assert(room_is_full(&room));
    ck_assert_int_eq(room_write(&room, "more", much, 60 << 20), STATUS_IO);
    ck_assert_ptr_nonnull(strstr(error_message(), "is the disk full?"));
    error_clear();
    Room second;
    ck_assert_int_eq(room_open(&second), STATUS_IO);
    ck_assert_ptr_nonnull(strstr(error_message(), "less than 64 MiB"));
    error_clear();
    room_close(&second);
    room_close(&room);
    free(much);
    ck_assert_int_eq(umount("/tmp/small"), 0);
    ck_assert_int_eq(rmdir("/tmp/small"), 0);
}
END_TEST

START_TEST(without_descriptors_or_memory_nothing_is_left) {
    enter(_i);
    struct rlimit old, few;
    int failed = 0, before = count_rooms();
    context_default();
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &old), 0);
    for (rlim_t most = 3; most < 40; most++) {
        few = (struct rlimit){most, old.rlim_max};
        Room room;
        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
        Status status = room_open(&room);
        if (!status) status = room_copy_tree(&room, "exercises/scene", "tree");
        failed += status != STATUS_OK;
        error_clear();
        room_close(&room);
        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &old), 0);
        ck_assert_int_eq(count_rooms(), before);
    }
    ck_assert_int_ge(failed, 2);
    for (uint64_t nth = 1;; nth++) {
        Room room;
        ck_assert_int_eq(room_open(&room), STATUS_OK);
        memory_fail_at(nth);
        Status status = room_copy_tree(&room, "exercises/scene", "tree");
        memory_fail_at(0);
        error_clear();
        room_close(&room);
        ck_assert_int_eq(count_rooms(), before);
        if (!status) break;
        ck_assert_int_eq(status, STATUS_OUT_OF_MEMORY);
    }
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {{nobody_else_can_enter, ALONE_USERS},
                                 {files_go_in_once_and_come_out, ALONE_USERS},
                                 {a_link_in_a_room_leads_nowhere, ALONE_USERS},
                                 {a_room_that_was_never_made_closes_nothing, ALONE_USERS},
                                 {all_of_it_goes_and_nothing_else, ALONE_USERS},
                                 {files_of_another_account_go_too, 0},
                                 {a_room_that_is_gone_is_no_harm, ALONE_USERS},
                                 {without_tmpdir_there_is_tmp_and_a_wrong_one_is_said, ALONE_USERS},
                                 {a_full_disk_is_an_error, 0},
                                 {without_descriptors_or_memory_nothing_is_left, ALONE_USERS},
                                 {NULL, 0}};
    not_alone = alone_enter();
    return harness_main("room", tests);
}
