// test_safetensors_lies.c -- safetensors files that are cut, stretched, or inconsistent: each is
// refused with one line, and nothing that they promise is allocated.
#include <string.h>

#include "layers/files/safetensors.h"
#include "tests/fixtures/files.h"
#include "tests/helpers/byte_file.h"
#include "tests/helpers/harness.h"
#include "tests/helpers/work_folder.h"

static Safetensors *open_bytes(const void *bytes, size_t size) {
    return safetensors_open(byte_file_put("file", bytes, size));
}

static size_t make_file(const char *header, size_t data, uint8_t bytes[4096]) {
    size_t length = strlen(header);
    memset(bytes, 0, 4096);
    for (int i = 0; i < 8; i++) bytes[i] = (uint8_t)((uint64_t)length >> 8 * i);
    memcpy(bytes + 8, header, length);
    return 8 + length + data;
}

#define ENTRY(dtype, shape, offsets)                                                               \
    "{\"a\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" offsets "}}"
#define BOTH(one, other)                                                                           \
    "{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":" one                                 \
    "},\"b\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":" other "}}"
static const struct {
    const char *header;
    size_t data;
    const char *mention;
} lies[] = {
    {ENTRY("F32", "[2]", "[0,8]"), 9, "promises tensors of 8 bytes, the file has 9"},
    {ENTRY("F32", "[2]", "[0,8]"), 7, "promises tensors of 8 bytes, the file has 7"},
    {ENTRY("F32", "[2]", "[0,4]"), 4, "disagree"},
    {ENTRY("F32", "[2]", "[8,0]"), 8, "disagree"},
    {ENTRY("F32", "[2]", "[1,9]"), 9, "bytes before it"},
    {ENTRY("F32", "[2]", "[-8,0]"), 8, "not two whole numbers"},
    {ENTRY("F32", "[2]", "[0,8.0]"), 8, "not two whole numbers"},
    {ENTRY("F32", "[2]", "[0,8,8]"), 8, "not two whole numbers"},
    {ENTRY("F32", "[2]", "[0]"), 8, "not two whole numbers"},
    {ENTRY("F32", "[2]", "[0,1e1]"), 8, "not two whole numbers"},
    {ENTRY("F32", "[2]", "[0,99999999999999999999]"), 8, "too big"},
    {ENTRY("F32", "[2]", "[9223372036854775807,9223372036854775807]"), 8, "disagree"},
    {ENTRY("F32", "[2]", "[NaN,8]"), 8, "at byte"},
    {ENTRY("F32", "[-2]", "[0,8]"), 8, "its shape"},
    {ENTRY("F32", "[2.0]", "[0,8]"), 8, "its shape"},
    {ENTRY("F32", "2", "[0,8]"), 8, "its shape"},
    {ENTRY("F32", "[true]", "[0,8]"), 8, "its shape"},
    {ENTRY("F32", "[1,1,1,1,1,1,2]", "[0,8]"), 8, "up to 6"},
    {ENTRY("F32", "[4294967296,4294967296]", "[0,0]"), 0, "disagree"},
    {ENTRY("F32", "[4611686018427387904]", "[0,0]"), 0, "disagree"},
    {ENTRY("F32", "[9223372036854775807,9223372036854775807,0]", "[0,0]"), 0, "disagree"},
    {ENTRY("F31", "[2]", "[0,8]"), 8, "its dtype"},
    {"{\"a\":{\"shape\":[2],\"data_offsets\":[0,8]}}", 8, "its dtype"},
    {"{\"a\":{\"dtype\":\"F32\",\"data_offsets\":[0,8]}}", 8, "its shape"},
    {"{\"a\":5}", 0, "its dtype"},
    {BOTH("[0,4]", "[2,6]"), 6, "overlaps"},
    {BOTH("[0,4]", "[0,4]"), 4, "overlaps"},
    {BOTH("[0,4]", "[3,7]"), 7, "overlaps"}, // by one byte
    {BOTH("[0,4]", "[5,9]"), 9, "bytes before it"},
    {BOTH("[4,8]", "[8,12]"), 12, "bytes before it"},
    {"{\"a\":{},\"a\":{}}", 0, "duplicate"},
    {"{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\"}}", 0, "duplicate"},
    {"{\"a\\u0000b\":{}}", 0, "at byte"},
    {"{\"a\xff\":{}}", 0, "at byte"},
    {"{\"\\u001b[2J\\n\":5}", 0, "'?[2J?'"}, // no control characters for a terminal
    {"{\"a\":{\"b\":{\"c\":1}}}", 0, "its header is not"},
    {"{\"a\":[[[[[[[[[[", 0, "its header is not"},
    {"[]", 0, "its header is not"},
    {" {}", 0, "its header is not"},
    {"", 0, "its header is not"},
    {"{", 0, "at byte"},
    {"{}x", 0, "at byte"},
    {"{\"a\":5,\"b\":5,\"c\":5,\"d\":5}", 0, "more names than"},
    {"{\"__metadata__\":{\"a\":1}}", 0, "{text: text}"},
    {"{\"__metadata__\":5}", 0, "{text: text}"},
};

START_TEST(a_header_that_lies_is_refused) {
    work_folder_begin();
    uint8_t bytes[4096];
    size_t size = make_file(lies[_i].header, lies[_i].data, bytes);
    ck_assert_msg(open_bytes(bytes, size) == NULL, "%s", lies[_i].header);
    byte_file_expect_error(STATUS_FORMAT, lies[_i].mention);
    work_folder_end();
}
END_TEST

START_TEST(a_header_that_is_too_long_takes_no_memory) {
    work_folder_begin();
    static const uint64_t lengths[] = {9, 100000000, 100000001, UINT64_C(1) << 63, UINT64_MAX};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        uint8_t bytes[16] = {0};
        for (int k = 0; k < 8; k++) bytes[k] = (uint8_t)(lengths[i] >> 8 * k);
        ck_assert_ptr_null(open_bytes(bytes, sizeof bytes));
        byte_file_expect_error(STATUS_FORMAT, "a header of");
    }
    uint8_t bytes[4096];
    Safetensors *file = open_bytes(bytes, make_file("{}   ", 0, bytes)); // the smallest valid file
    ck_assert_msg(file != NULL && safetensors_count(file) == 0, "%s", error_message());
    safetensors_close(file);
    work_folder_end();
}
END_TEST

START_TEST(a_file_that_ends_early_or_late_is_refused) {
    work_folder_begin();
    uint8_t longer[sizeof python_kinds] = {0};
    memcpy(longer, python_kinds, sizeof python_kinds - 1);
    for (size_t size = 0; size <= sizeof longer; size++) {
        if (size == sizeof python_kinds - 1) continue;
        ck_assert_ptr_null(open_bytes(longer, size));
        byte_file_expect_error(STATUS_FORMAT, "safetensors: ");
    }
    work_folder_end();
}
END_TEST

START_TEST(what_is_no_file_is_refused_without_waiting) {
    work_folder_begin();
    work_folder_run("mkfifo pipe; mkdir folder");
    static const char *const names[] = {"pipe", "folder", "nothing"};
    for (int i = 0; i < 3; i++) {
        ck_assert_ptr_null(safetensors_open(byte_file_path(names[i])));
        byte_file_expect_error(STATUS_IO, names[i]);
    }
    ck_assert_ptr_null(safetensors_open(NULL));
    error_clear();
    work_folder_end();
}
END_TEST

START_TEST(a_file_that_shrinks_meanwhile_is_an_error) {
    work_folder_begin();
    Safetensors *file = open_bytes(python_tied, sizeof python_tied - 1);
    work_folder_run("truncate -s 500 file");
    Tensor *weight = tensor_zeros_new(SHAPE(3, 2));
    Status status = STATUS_OK;
    for (int i = 0; i < safetensors_count(file) && !status; i++)
        if (safetensors_entry(file, i)->shape.ndim == 2) status = safetensors_read(file, i, weight);
    ck_assert_int_eq(status, STATUS_IO);
    byte_file_expect_error(STATUS_IO, "shorter");
    tensor_free(weight);
    safetensors_close(file);
    work_folder_end();
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {{a_header_that_lies_is_refused,
                                  (int)(sizeof lies / sizeof lies[0])},
                                 {a_header_that_is_too_long_takes_no_memory, 0},
                                 {a_file_that_ends_early_or_late_is_refused, 0},
                                 {what_is_no_file_is_refused_without_waiting, 0},
                                 {a_file_that_shrinks_meanwhile_is_an_error, 0},
                                 {NULL, 0}};
    return harness_main("safetensors_lies", tests);
}
