// test_input_file.c -- files of any size are read whole, however the buffer grows.
#include <stdlib.h>
#include <string.h>

#include "profiler/base/input_file.h"
#include "tensor/memory.h"
#include "tests/helpers/byte_file.h"
#include "tests/helpers/harness.h"
#include "tests/helpers/work_folder.h"

// Sizes around the first buffer, 64 KiB, and its doubles.
static const size_t sizes[] = {0,     1,      65533,  65534,  65535,  65536,  65537,
                               65760, 131070, 131071, 131072, 131073, 262145, 1 << 20};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

START_TEST(a_file_is_read_whole) {
    size_t size = sizes[_i], got = 1;
    char *bytes = malloc(size + 1);
    ck_assert_ptr_nonnull(bytes);
    for (size_t i = 0; i < size; i++) bytes[i] = (char)('a' + i * 2654435761u % 26);
    work_folder_begin();
    char *text = input_file_read(byte_file_put("x", bytes, size), 1 << 21, &got);
    ck_assert_msg(text != NULL, "%s", error_message());
    ck_assert_uint_eq(got, size);
    ck_assert(memcmp(text, bytes, size) == 0 && text[size] == '\0');
    memory_free(text);
    ck_assert_ptr_null(size > 0 ? input_file_read(byte_file_path("x"), size - 1, &got) : NULL);
    if (size > 0) byte_file_expect_error(STATUS_FORMAT, "larger than any such file");
    work_folder_end();
    free(bytes);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {{a_file_is_read_whole, SIZES}, {NULL, 0}};
    return harness_main("input_file", tests);
}
