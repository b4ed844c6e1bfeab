// test_npy.c -- reading arrays as NumPy writes them; writing ours byte for byte as NumPy's; and
// files that lie.
#include <stdlib.h>
#include <string.h>

#include "layers/files/npy.h"
#include "tensor/memory.h"
#include "tensor/ops.h"
#include "tests/fixtures/files.h"
#include "tests/helpers/byte_file.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/work_folder.h"

enum { FILES = sizeof npy_files / sizeof npy_files[0] };

static const NpyFile *file_named(const char *name) {
    for (int i = 0; i < FILES; i++)
        if (strcmp(npy_files[i].name, name) == 0) return &npy_files[i];
    ck_abort_msg("no %s", name);
}

static void expect_array(Tensor *tensor, const NpyFile *file) {
    ck_assert_msg(tensor != NULL, "%s: %s", file->name, error_message());
    ck_assert(shape_equal(tensor_shape(tensor), file->shape));
    ck_assert_int_eq(tensor->dtype, file->reals ? DTYPE_FLOAT32 : DTYPE_INT64);
    for (int64_t i = 0; i < tensor->numel; i++) {
        if (file->reals)
            ck_assert_msg(((float *)tensor->storage->data)[i] == (float)file->reals[i], "%s[%d]",
                          file->name, (int)i);
        else
            ck_assert_int_eq(((int64_t *)tensor->storage->data)[i], file->integers[i]);
    }
}

START_TEST(every_array_of_numpy_is_read) {
    work_folder_begin();
    const NpyFile *file = &npy_files[_i];
    Tensor *tensor = npy_read_new(byte_file_put("x.npy", file->bytes, file->size));
    expect_array(tensor, file);
    tensor_free(tensor);
    work_folder_end();
}
END_TEST

static Status copy(Device *self, void *to, const void *from, size_t bytes) {
    (void)self;
    memcpy(to, from, bytes);
    return STATUS_OK;
}

START_TEST(every_array_is_read_on_meta_and_on_a_device_of_its_own_memory) {
    work_folder_begin();
    static Device far; // outlives the blocks that the ledger caches
    far = *device_cpu();
    far.on_host = false;
    far.from_host = far.to_host = copy;
    for (int i = 0; i < FILES; i++) {
        const char *path = byte_file_put("x.npy", npy_files[i].bytes, npy_files[i].size);
        context_set_device(&far);
        Tensor *tensor = npy_read_new(path);
        expect_array(tensor, &npy_files[i]);
        tensor_free(tensor);
        context_set_device(device_meta());
        tensor = npy_read_new(path);
        ck_assert(tensor != NULL && shape_equal(tensor_shape(tensor), npy_files[i].shape));
        ck_assert(npy_write(tensor, byte_file_path("none")));
        byte_file_expect_error(STATUS_DEVICE, "no values");
        tensor_free(tensor);
    }
    context_set_device(device_cpu());
    work_folder_end();
}
END_TEST

START_TEST(what_is_written_is_what_numpy_writes) {
    work_folder_begin();
    static const char *const names[] = {"npy_f4",  "npy_i8",    "npy_scalar",
                                        "npy_row", "npy_empty", "npy_six"};
    for (int i = 0; i < 6; i++) {
        const NpyFile *file = file_named(names[i]);
        Tensor *tensor = npy_read_new(byte_file_put("theirs", file->bytes, file->size));
        ck_assert_int_eq(npy_write(tensor, byte_file_path("ours")), STATUS_OK);
        ck_assert_msg(byte_file_is("ours", file->bytes, file->size), "%s", file->name);
        tensor_free(tensor);
    }
    Tensor *bytes = tensor_new(SHAPE(3, 1), DTYPE_UINT8);
    memcpy(bytes->storage->data, "\x01\x02\xff", 3);
    ck_assert_int_eq(npy_write(bytes, byte_file_path("bytes")), STATUS_OK);
    Tensor *whole = npy_read_new(byte_file_path("bytes"));
    ck_assert_int_eq(tensor_labels(whole)[2], 255);
    tensor_free(bytes);
    tensor_free(whole);
    work_folder_end();
}
END_TEST

// Reads the last `size` bytes of a file that was just written.
static void read_end(const char *path, void *bytes, size_t size) {
    FILE *file = fopen(path, "rb");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fseek(file, -(long)size, SEEK_END), 0);
    ck_assert_uint_eq(fread(bytes, 1, size, file), size);
    fclose(file);
}

// Every half, and values between neighbours: the midpoint rounds to even.
START_TEST(halves_are_the_nearest) {
    enum { HALVES = 0x7c00, EACH = 4 }; // from 0 up to, but without, infinity
    static float real[EACH * HALVES];
    static uint16_t stored[EACH * HALVES];
    for (int h = 0; h < HALVES; h++) {
        int exponent = h >> 10, fraction = h & 0x3ff;
        double x = ldexp(exponent ? 1024 + fraction : fraction, (exponent ? exponent : 1) - 25);
        double step = ldexp(1.0, (exponent ? exponent : 1) - 25);
        real[EACH * h] = (float)x;
        real[EACH * h + 1] = (float)-x;
        real[EACH * h + 2] = (float)(x + step / 2);
        real[EACH * h + 3] = nextafterf((float)(x + step / 2), 0.0f);
    }
    work_folder_begin();
    Tensor *tensor = tensor_from_floats_new(SHAPE(EACH * HALVES), real);
    ck_assert_int_eq(npy_write_as(tensor, "f2", byte_file_path("halves.npy")), STATUS_OK);
    read_end(byte_file_path("halves.npy"), stored, sizeof stored);
    for (int h = 0; h < HALVES; h++) {
        ck_assert_uint_eq(stored[EACH * h], h);
        ck_assert_uint_eq(stored[EACH * h + 1], 0x8000 | h);
        ck_assert_uint_eq(stored[EACH * h + 2], h % 2 ? h + 1 : h); // after the last: infinity
        ck_assert_uint_eq(stored[EACH * h + 3], h);
    }
    tensor_free(tensor);
    work_folder_end();
}
END_TEST

// Values read back equal those written, in the requested type.
START_TEST(other_types_hold_the_lower_bits_or_the_nearest) {
    static const struct {
        const char *type;
        bool of_integers;
        int64_t want[4];
    } cases[] = {{"i1", true, {-1, 44, 0, 1}},  {"u1", true, {255, 44, 0, 1}},
                 {"i2", true, {-1, 300, 0, 1}}, {"u2", true, {65535, 300, 0, 1}},
                 {"i4", true, {-1, 300, 0, 1}}, {"u4", true, {4294967295, 300, 1 << 24, 1}},
                 {"i8", true, {-1, 300, 0, 1}}, {"b1", true, {1, 1, 0, 1}},
                 {"b1", false, {1, 1, 0, 1}},   {"i4", false, {-1, 300, 0, 1}}};
    const float real[4] = {-1.25f, 300.0f, 0.0f, 1.0f};
    work_folder_begin();
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        int64_t whole[4] = {-1, 300, cases[c].want[2], 1};
        Tensor *x = cases[c].of_integers ? tensor_from_labels_new(SHAPE(2, 2), whole)
                                         : tensor_from_floats_new(SHAPE(2, 2), real);
        ck_assert_int_eq(npy_write_as(x, cases[c].type, byte_file_path("x.npy")), STATUS_OK);
        Tensor *y = npy_read_new(byte_file_path("x.npy"));
        ck_assert(y && shape_equal(y->shape, SHAPE(2, 2)) && y->dtype == DTYPE_INT64);
        for (int i = 0; i < 4; i++)
            ck_assert_msg(tensor_labels(y)[i] == cases[c].want[i], "%s: %lld", cases[c].type,
                          (long long)tensor_labels(y)[i]);
        tensor_free(x);
        tensor_free(y);
    }
    Tensor *x = tensor_from_floats_new(SHAPE(4), real);
    const char *const refused[] = {"c8", "f16", "", NULL};
    for (int i = 0; i < 4; i++) {
        ck_assert(npy_write_as(x, refused[i], byte_file_path("none.npy")));
        byte_file_expect_error(STATUS_INVALID_ARGUMENT, "npy_write_as");
    }
    double wide[4];
    ck_assert_int_eq(npy_write_as(x, "f8", byte_file_path("wide.npy")), STATUS_OK);
    read_end(byte_file_path("wide.npy"), wide, sizeof wide);
    for (int i = 0; i < 4; i++) ck_assert(wide[i] == (double)real[i]);
    tensor_free(x);
    work_folder_end();
}
END_TEST

START_TEST(what_cannot_be_written_is_an_error_and_no_file) {
    work_folder_begin();
    Scope *scope = scope_open();
    Tensor *x = tensor_full_new(SHAPE(2, 3), 1);
    ck_assert(npy_write(tensor_transpose(x, 0, 1), byte_file_path("none")));
    byte_file_expect_error(STATUS_INVALID_ARGUMENT, "not contiguous");
    ck_assert(npy_write(NULL, byte_file_path("none")));
    error_clear();
    ck_assert(npy_write(x, byte_file_path("none/none")));
    byte_file_expect_error(STATUS_IO, "none/none");
    ck_assert_int_eq(byte_file_count(), 0);
    tensor_free(x);
    scope_close(scope);
    work_folder_end();
}
END_TEST

// ---- files that lie ----------------------------------------------------------------------------
#define DICT(descr, order, shape)                                                                  \
    "{'descr': " descr ", 'fortran_order': " order ", 'shape': " shape ", }\n"
static const struct {
    const char *header;
    size_t data;
    const char *mention; // NULL: the header is valid
} headers[] = {
    {DICT("'<f4'", "False", "(2,)"), 8, NULL},
    {"{\"shape\":(2,),\"descr\":\"<f4\",\"fortran_order\":False}", 8, NULL},
    {DICT("'<f4'", "False", "(2L,)"), 8, NULL}, // Python 2
    {DICT("'=f4'", "False", "(2,)"), 8, NULL},
    {DICT("'|b1'", "True", "(2,)"), 2, NULL},
    {DICT("'<f4'", "False", "(2,)"), 9, "9 bytes for the shape (2,)"},
    {DICT("'<f4'", "False", "(2,)"), 7, "7 bytes for the shape (2,)"},
    {DICT("'<f4'", "False", "(4294967296, 4294967296)"), 0, "0 bytes for"},
    {DICT("'<f4'", "False", "(4611686018427387904,)"), 0, "0 bytes for"},
    {DICT("'<f4'", "False", "(4611686018427387904, 4, 0)"), 0, "0 bytes for"},
    {DICT("'<f4'", "False", "(99999999999999999999,)"), 8, "its header is no"},
    {DICT("'<f4'", "False", "(-2,)"), 8, "its header is no"},
    {DICT("'<f4'", "False", "(2.0,)"), 8, "its header is no"},
    {DICT("'<f4'", "False", "(NaN,)"), 8, "its header is no"},
    {DICT("'<f4'", "False", "(2)"), 8, "its header is no"},
    {DICT("'<f4'", "False", "2"), 8, "its header is no"},
    {DICT("'<f4'", "False", "(1 2)"), 8, "its header is no"},
    {DICT("'<f4'", "False", "(,)"), 4, "its header is no"},
    {DICT("'<f4'", "False", "(1, 1, 1, 1, 1, 1, 2)"), 8, "up to 6"},
    {DICT("'<f4'", "Perhaps", "(2,)"), 8, "its header is no"},
    {DICT("[('a', '<f4')]", "False", "(2,)"), 8, "its header is no"},
    {DICT("'<f4\\x1b'", "False", "(2,)"), 8, "of type"},
    {DICT("'<f16'", "False", "(2,)"), 32, "of type '<f16'"},
    {DICT("'<u8'", "False", "(2,)"), 16, "of type '<u8'"},
    {DICT("'<c8'", "False", "(2,)"), 16, "of type '<c8'"},
    {DICT("'|O'", "False", "(2,)"), 16, "of type '|O'"},
    {DICT("'|f4'", "False", "(2,)"), 8, "of type '|f4'"},
    {DICT("'f4'", "False", "(2,)"), 8, "of type 'f4'"},
    {DICT("''", "False", "(2,)"), 8, "of type ''"},
    {DICT("'<f4", "False", "(2,)"), 8, "its header is no"},
    {DICT("'<f4'", "False", "(2,)") "x", 8, "its header is no"},
    {"{'descr': '<f4', 'fortran_order': False, }", 8, "its header is no"},
    {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", 8,
     "header is no"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'more': 1}", 8, "its header is no"},
    {"{'descr': '<f4' 'fortran_order': False, 'shape': (2,), }", 8, "its header is no"},
    {"{'descr'", 8, "its header is no"},
    {"{", 8, "its header is no"},
};

static size_t make_file(const char *header, size_t data, uint8_t bytes[1024]) {
    size_t length = strlen(header);
    memset(bytes, 0, 1024);
    memcpy(bytes, "\x93NUMPY\1\0", 8);
    bytes[8] = (uint8_t)length;
    bytes[9] = (uint8_t)(length >> 8);
    memcpy(bytes + 10, header, length);
    return 10 + length + data;
}

START_TEST(a_header_is_read_as_python_would_or_refused) {
    work_folder_begin();
    uint8_t bytes[1024];
    size_t size = make_file(headers[_i].header, headers[_i].data, bytes);
    Tensor *tensor = npy_read_new(byte_file_put("x.npy", bytes, size));
    ck_assert_msg((tensor != NULL) == (headers[_i].mention == NULL), "%s: %s", headers[_i].header,
                  error_message());
    if (headers[_i].mention) byte_file_expect_error(STATUS_FORMAT, headers[_i].mention);
    tensor_free(tensor);
    work_folder_end();
}
END_TEST

START_TEST(a_start_that_lies_is_refused) {
    work_folder_begin();
    uint8_t bytes[1024];
    const size_t size = make_file(headers[0].header, 8, bytes);
    static const struct {
        int at;
        uint8_t value;
        const char *mention;
    } changes[] = {{0, 0x92, "begin as"}, {5, 'y', "begin as"}, {6, 0, "version"},
                   {6, 4, "version"},     {7, 1, "version"},    {9, 0xff, "longer than"},
                   {8, 0, "longer than"}, {6, 2, "longer than"}};
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        uint8_t before = bytes[changes[i].at];
        bytes[changes[i].at] = changes[i].value;
        ck_assert_ptr_null(npy_read_new(byte_file_put("x.npy", bytes, size)));
        byte_file_expect_error(STATUS_FORMAT, i == 6 ? "its header" : changes[i].mention);
        bytes[changes[i].at] = before;
    }
    bytes[10 + 12] = '\0'; // inside the header
    ck_assert_ptr_null(npy_read_new(byte_file_put("x.npy", bytes, size)));
    byte_file_expect_error(STATUS_FORMAT, "its header is no");
    work_folder_end();
}
END_TEST

START_TEST(a_file_that_ends_early_or_late_is_refused) {
    work_folder_begin();
    const NpyFile *file = file_named(_i ? "npy_fortran3" : "npy_f4_v3");
    uint8_t *longer = calloc(1, file->size + 1);
    memcpy(longer, file->bytes, file->size);
    for (size_t size = 0; size <= file->size + 1; size++) {
        if (size == file->size) continue;
        ck_assert_ptr_null(npy_read_new(byte_file_put("x.npy", longer, size)));
        byte_file_expect_error(STATUS_FORMAT, "npy: ");
    }
    free(longer);
    ck_assert_ptr_null(npy_read_new(byte_file_path("nothing")));
    byte_file_expect_error(STATUS_IO, "nothing");
    work_folder_end();
}
END_TEST

START_TEST(any_request_may_fail) {
    work_folder_begin();
    const NpyFile *file = file_named(_i ? "npy_fortran3" : "npy_big_f8");
    char theirs[128];
    snprintf(theirs, sizeof theirs, "%s", byte_file_put("theirs", file->bytes, file->size));
    int failures = 0;
    for (uint64_t nth = 1;; nth++) {
        uint64_t before = memory_requests();
        memory_fail_at(nth);
        Tensor *tensor = npy_read_new(theirs);
        if (tensor) npy_write(tensor, byte_file_path("ours"));
        memory_fail_at(0);
        tensor_free(tensor);
        bool reached = memory_requests() - before >= nth;
        ck_assert_int_eq(reached, error_status() == STATUS_OUT_OF_MEMORY);
        failures += reached;
        error_clear();
        ck_assert_int_eq(expect_live_bytes(), 0);
        if (!reached) break;
    }
    ck_assert_int_ge(failures, 6);
    ck_assert_int_eq(byte_file_count(), 2); // no temporary is left
    work_folder_end();
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {{every_array_of_numpy_is_read, FILES},
                                 {every_array_is_read_on_meta_and_on_a_device_of_its_own_memory, 0},
                                 {what_is_written_is_what_numpy_writes, 0},
                                 {halves_are_the_nearest, 0},
                                 {other_types_hold_the_lower_bits_or_the_nearest, 0},
                                 {what_cannot_be_written_is_an_error_and_no_file, 0},
                                 {a_header_is_read_as_python_would_or_refused,
                                  (int)(sizeof headers / sizeof headers[0])},
                                 {a_start_that_lies_is_refused, 0},
                                 {a_file_that_ends_early_or_late_is_refused, 2},
                                 {any_request_may_fail, 2},
                                 {NULL, 0}};
    return harness_main("npy", tests);
}
