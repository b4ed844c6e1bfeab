// byte_file.c -- writes, compares and counts the files of the test's folder.
#include "tests/helpers/byte_file.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/helpers/harness.h"
#include "tests/helpers/work_folder.h"

const char *byte_file_path(const char *name) {
    static char path[256];
    ck_assert_msg(work_folder[0], "%s: no work_folder_begin before it", name);
    snprintf(path, sizeof path, "%s/%s", work_folder, name);
    return path;
}

const char *byte_file_put(const char *name, const void *bytes, size_t size) {
    const char *path = byte_file_path(name);
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
    ck_assert_int_eq(fclose(file), 0);
    return path;
}

bool byte_file_is(const char *name, const void *bytes, size_t size) {
    FILE *file = fopen(byte_file_path(name), "rb");
    char *got = malloc(size + 1);
    ck_assert(file != NULL && got != NULL);
    bool same = fread(got, 1, size + 1, file) == size && memcmp(got, bytes, size) == 0;
    fclose(file);
    free(got);
    return same;
}

int byte_file_count(void) {
    DIR *folder = opendir(work_folder);
    ck_assert_ptr_nonnull(folder);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) count += entry->d_name[0] != '.';
    closedir(folder);
    return count;
}

void byte_file_expect_error(Status status, const char *text) {
    const char *message = error_message();
    ck_assert_msg(error_status() == status, "%s instead of %s: %s", status_name(error_status()),
                  status_name(status), message);
    ck_assert_msg(strstr(message, text) != NULL, "\"%s\" does not say \"%s\"", message, text);
    ck_assert_msg(strstr(message, " HINT: ") != NULL, "no hint in \"%s\"", message);
    for (const char *at = message; *at; at++) ck_assert_int_ge((unsigned char)*at, 0x20);
    error_clear();
}
