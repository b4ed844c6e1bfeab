// test_idx.c -- reading one IDX file, plain or gzip'ed, whole or broken. test_data.c tests folders.
#include <stdlib.h>
#include <string.h>

#include "layers/files/idx.h"
#include "tensor/memory.h"
#include "tests/helpers/data_files.h"
#include "tests/helpers/harness.h"

START_TEST(what_was_written_is_read_back) {
    static const int64_t dims[3] = {7, 30, 50};
    static const int64_t counts[3] = {7, 7 * 30, 7 * 30 * 50};
    int ndim = 1 + _i % 3;
    DataBytes plain = data_idx(ndim, dims);
    char folder[DATA_PATH];
    data_folder_new(folder);
    // The name does not matter: only the first bytes mark gzip.
    data_write(folder, DATA_TEST_IMAGES, _i < 3 ? plain : data_gzip(plain.at, plain.size));
    IdxArray array;
    ck_assert_msg(!idx_read(data_path(folder, DATA_TEST_IMAGES), &array), "%s", error_message());
    ck_assert_int_eq(array.ndim, ndim);
    ck_assert_int_eq(array.count, counts[ndim - 1]);
    ck_assert_mem_eq(array.dims, dims, (size_t)ndim * sizeof(int64_t));
    ck_assert_mem_eq(array.bytes, plain.at + 4 + 4 * ndim, (size_t)array.count);
    idx_free(&array);
    ck_assert_ptr_null(array.bytes);
    data_folder_remove(folder);
}
END_TEST

static const struct {
    size_t size;
    uint8_t bytes[24];
    const char *message;
} malformed[] = {
    {0, {0}, "x: the file is empty"},
    {5, "<html", "x: begins with bytes 3c 68"},
    {1, "x", "x: is too short: ends after 1 byte, inside its header"},
    {3, {0, 0, 8}, "x: is too short: ends after 3 bytes, inside its header"},
    {12, {0, 0, 13, 1, 0, 0, 0, 1, 1, 2, 3, 4}, "x: holds elements of type 0x0d, expected 0x08"},
    {8, {0, 0, 8, 0, 1, 2, 3, 4}, "x: has 0 dimensions, expected 1 to 3"},
    {20, {0, 0, 8, 4, 0, 0, 0, 1}, "x: has 4 dimensions, expected 1 to 3"},
    {15, {0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 1}, "x: ends after 15 bytes, inside its header of 16"},
    {10, {0, 0, 8, 1, 0, 0, 0, 3, 1, 2}, "x: header promises 3 bytes, file has 2"},
    {17,
     {0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 2, 1, 2, 3, 4, 5},
     "x: header promises 2 x 2 = 4 bytes, but the file goes on"},
    {18, // 2^60 bytes: a reader that trusts the header would run out of memory
     {0, 0, 8, 3, 0, 16, 0, 0, 0, 16, 0, 0, 0, 16, 0, 0, 1, 2},
     "x: header promises 1048576 x 1048576 x 1048576 = 1152921504606846976 bytes, file has 2"},
    {16,
     {0, 0, 8, 3, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255},
     "x: header promises 4294967295 x 4294967295 x 4294967295 bytes, more than any file holds"},
};
enum { MALFORMED = sizeof(malformed) / sizeof(malformed[0]) };

START_TEST(malformed_files_are_refused_with_a_reason) {
    IdxArray array;
    Status status = idx_parse(malformed[_i].bytes, malformed[_i].size, "x", &array);
    data_expect_error(status, STATUS_FORMAT, malformed[_i].message);
    ck_assert_ptr_null(array.bytes);
    DataBytes packed = data_gzip(malformed[_i].bytes, malformed[_i].size);
    status = idx_parse_any(packed.at, packed.size, "x", &array);
    data_expect_error(status, STATUS_FORMAT, malformed[_i].message);
}
END_TEST

START_TEST(an_array_without_elements_is_legal) {
    IdxArray array;
    DataBytes bytes = data_images(0, 28, 28);
    ck_assert_int_eq(idx_parse(bytes.at, bytes.size, "x", &array), STATUS_OK);
    ck_assert_int_eq(array.count, 0);
    idx_free(&array);
}
END_TEST

START_TEST(a_gzip_stream_that_ends_early_is_refused_wherever_it_ends) {
    DataBytes plain = data_images(3, 28, 28);
    DataBytes packed = data_gzip(plain.at, plain.size);
    IdxArray array;
    for (size_t size = 2; size < packed.size; size++) {
        Status status = idx_parse_any(packed.at, size, "x", &array);
        data_expect_error(status, STATUS_FORMAT, "x: broken gzip stream: the file ends before");
    }
}
END_TEST

START_TEST(a_damaged_gzip_stream_is_refused) {
    DataBytes plain = data_images(3, 28, 28);
    DataBytes packed = data_gzip(plain.at, plain.size);
    IdxArray array;
    packed.at[packed.size - 8] ^= 1; // in the checksum
    data_expect_error(idx_parse_any(packed.at, packed.size, "x", &array), STATUS_FORMAT,
                      "x: broken gzip stream: incorrect data check");
    packed.at[packed.size - 8] ^= 1;
    packed.at[packed.size++] = 7;
    data_expect_error(idx_parse_any(packed.at, packed.size, "x", &array), STATUS_FORMAT,
                      "x: broken gzip stream: other bytes follow its end");
}
END_TEST

START_TEST(gzip_members_end_to_end_are_one_file) {
    DataBytes plain = data_images(3, 28, 28);
    DataBytes packed = data_gzip(plain.at, 100),
              second = data_gzip(plain.at + 100, plain.size - 100);
    memcpy(packed.at + packed.size, second.at, second.size);
    IdxArray array;
    Status status = idx_parse_any(packed.at, packed.size + second.size, "x", &array);
    ck_assert_msg(status == STATUS_OK, "%s", error_message());
    ck_assert_mem_eq(array.bytes, plain.at + 16, plain.size - 16);
    idx_free(&array);
}
END_TEST

// 16 MB of zeros in 16 kB; the header promises 4 bytes.
START_TEST(a_gzip_bomb_is_not_inflated) {
    size_t size = 16 << 20;
    uint8_t *plain = calloc(1, size);
    memcpy(plain, (uint8_t[]){0, 0, 8, 1, 0, 0, 0, 4}, 8);
    DataBytes packed = data_gzip(plain, size);
    free(plain);
    IdxArray array;
    uint64_t before = memory_requests();
    data_expect_error(idx_parse_any(packed.at, packed.size, "x", &array), STATUS_FORMAT, "goes on");
    ck_assert_uint_le(memory_requests() - before, 4); // zlib's own, and one small buffer
}
END_TEST

START_TEST(a_path_that_is_no_file_is_an_io_error) {
    char folder[DATA_PATH];
    data_folder_new(folder);
    IdxArray array;
    data_expect_error(idx_read(folder, &array), STATUS_IO, "cannot be read: Is a directory");
    data_expect_error(idx_read(data_path(folder, "x"), &array), STATUS_IO,
                      "x: cannot be opened: No such");
    data_folder_remove(folder);
}
END_TEST

// Whichever allocation fails, the result is that error, and nothing is left behind.
START_TEST(every_failing_allocation_is_an_ordinary_error) {
    DataBytes plain = data_images(90, 28, 28); // more than the first buffer holds
    char folder[DATA_PATH];
    data_folder_new(folder);
    data_write(folder, DATA_TEST_IMAGES, _i ? data_gzip(plain.at, plain.size) : plain);
    IdxArray array;
    Status status = STATUS_OUT_OF_MEMORY;
    uint64_t nth = 0;
    while (status == STATUS_OUT_OF_MEMORY) {
        memory_fail_at(++nth);
        status = idx_read(data_path(folder, DATA_TEST_IMAGES), &array);
        memory_fail_at(0);
        ck_assert_int_eq(error_status(), status);
        ck_assert(status == STATUS_OK || array.bytes == NULL);
        error_clear();
    }
    ck_assert_int_eq(status, STATUS_OK);
    ck_assert_uint_ge(nth, _i ? 6 : 4);
    idx_free(&array);
    data_folder_remove(folder);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {{what_was_written_is_read_back, 6},
                                 {malformed_files_are_refused_with_a_reason, MALFORMED},
                                 {an_array_without_elements_is_legal, 0},
                                 {a_gzip_stream_that_ends_early_is_refused_wherever_it_ends, 0},
                                 {a_damaged_gzip_stream_is_refused, 0},
                                 {gzip_members_end_to_end_are_one_file, 0},
                                 {a_gzip_bomb_is_not_inflated, 0},
                                 {a_path_that_is_no_file_is_an_io_error, 0},
                                 {every_failing_allocation_is_an_ordinary_error, 2},
                                 {NULL, 0}};
    return harness_main("idx", tests);
}
