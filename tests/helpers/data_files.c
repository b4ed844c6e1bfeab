// data_files.c -- writes small IDX files, plain and gzip'ed, into folders of its own under /tmp.
#define ZLIB_CONST
#include "tests/helpers/data_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "tests/helpers/harness.h"

enum { GZIP_WINDOW = 15 + 16 };

DataBytes data_idx(int ndim, const int64_t *dims) {
    DataBytes bytes = {.at = {0, 0, 8, (uint8_t)ndim}};
    size_t count = 1;
    for (int i = 0; i < ndim; i++) {
        for (int k = 0; k < 4; k++) bytes.at[4 + 4 * i + k] = (uint8_t)(dims[i] >> (24 - 8 * k));
        count *= (size_t)dims[i];
    }
    size_t header = 4 + 4 * (size_t)ndim;
    ck_assert_uint_le(header + count, DATA_ROOM);
    for (size_t i = 0; i < count; i++) bytes.at[header + i] = (uint8_t)(i % (ndim > 1 ? 251 : 10));
    bytes.size = header + count;
    return bytes;
}

DataBytes data_images(int64_t count, int64_t rows, int64_t columns) {
    return data_idx(3, (int64_t[]){count, rows, columns});
}

DataBytes data_labels(int64_t count) { return data_idx(1, &count); }

DataBytes data_gzip(const uint8_t *from, size_t size) {
    DataBytes bytes = {0};
    z_stream stream = {.next_in = from, .avail_in = (uInt)size};
    stream.next_out = bytes.at;
    stream.avail_out = DATA_ROOM;
    deflateInit2(&stream, 6, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY);
    ck_assert_int_eq(deflate(&stream, Z_FINISH), Z_STREAM_END);
    deflateEnd(&stream);
    bytes.size = DATA_ROOM - stream.avail_out;
    return bytes;
}

void data_folder_new(char folder[DATA_PATH]) {
    snprintf(folder, DATA_PATH, "/tmp/ridgepoint-data-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

const char *data_path(const char *folder, const char *name) {
    static char path[2 * DATA_PATH];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

void data_write(const char *folder, const char *name, DataBytes bytes) {
    FILE *file = fopen(data_path(folder, name), "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes.at, 1, bytes.size, file), bytes.size);
    fclose(file);
}

void data_folder_remove(const char *folder) {
    static const char *const names[] = {DATA_TRAIN_IMAGES, DATA_TRAIN_IMAGES ".gz",
                                        DATA_TRAIN_LABELS, DATA_TRAIN_LABELS ".gz",
                                        DATA_TEST_IMAGES,  DATA_TEST_IMAGES ".gz",
                                        DATA_TEST_LABELS,  DATA_TEST_LABELS ".gz"};
    for (int i = 0; i < 8; i++) unlink(data_path(folder, names[i]));
    ck_assert_int_eq(rmdir(folder), 0);
}

void data_expect_error(Status got, Status want, const char *text) {
    const char *message = error_message();
    ck_assert_msg(got == want && error_status() == want, "%s, expected %s: %s", status_name(got),
                  status_name(want), message);
    ck_assert_msg(strstr(message, text) != NULL, "\"%s\" does not say \"%s\"", message, text);
    ck_assert_msg(strstr(message, " HINT: ") != NULL, "no hint in \"%s\"", message);
    error_clear();
}
