// test_safetensors.c -- weights as Python's safetensors reads and writes them; files that do not
// fit a model. test_safetensors_lies.c tests files that lie, test_interrupted.c interrupted writes.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "layers/files/safetensors.h"
#include "tensor/math.h"
#include "tensor/memory.h"
#include "tests/fixtures/files.h"
#include "tests/helpers/byte_file.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/work_folder.h"

// The model of make_files.py: an embedding that shares the head's weights.
static Layer *tied_new(void) {
    Layer *model = sequential_new();
    layer_add_child(model, "head", linear_new(2, 3, false));
    layer_add_child(model, "norm", batch_norm1d_new(3, batch_norm_defaults()));
    layer_add_child(model, "embed", embedding_new(3, 2));
    layer_tie(model, "embed.weight", "head.weight");
    expect_no_error();
    return model;
}

static Tensor *state_of(Layer *model, const char *path) {
    ParameterList list;
    Tensor *found = NULL;
    ck_assert_int_eq(layer_state(model, &list), STATUS_OK);
    for (int i = 0; i < list.count; i++)
        if (strcmp(list.items[i].path, path) == 0) found = list.items[i].tensor;
    parameter_list_free(&list);
    ck_assert_msg(found != NULL, "no %s", path);
    return found;
}

static Safetensors *open_bytes(const void *bytes, size_t size) {
    return safetensors_open(byte_file_put("file", bytes, size));
}

// ---- numbers -----------------------------------------------------------------------------------
typedef struct KindCase {
    const char *name, *dtype;
    int64_t count;
    const uint32_t *reals; // bits of the float32; NULL: refused
    const int64_t *integers;
} KindCase;
static const KindCase kinds[] = {
    {"f64", "F64", 12, f64_as_float, NULL},
    {"f32", "F32", 12, f32_as_float, NULL},
    {"f16", "F16", 12, f16_as_float, NULL},
    {"bf16", "BF16", 12, bf16_as_float, NULL},
    {"i8", "I8", 4, i8_as_float, i8_as_integer},
    {"u8", "U8", 4, u8_as_float, u8_as_integer},
    {"i16", "I16", 4, i16_as_float, i16_as_integer},
    {"u16", "U16", 4, u16_as_float, u16_as_integer},
    {"i32", "I32", 4, NULL, i32_as_integer},
    {"u32", "U32", 4, NULL, u32_as_integer},
    {"i64", "I64", 4, NULL, i64_as_integer},
    {"bool", "BOOL", 4, bool_as_float, bool_as_integer},
    {"u64", "U64", 4, NULL, NULL},
    {"f8", "F8_E4M3", 3, (const uint32_t[]){0x3f800000u, 0x3f800000u, 0x3f800000u}, NULL},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

// NaN equals any NaN; everything else must agree bit by bit.
static void expect_bits(const float *got, const uint32_t *want, int64_t n, const char *what) {
    for (int64_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &got[i], sizeof bits);
        bool both_nan = got[i] != got[i] && (want[i] & 0x7fffffffu) > 0x7f800000u;
        ck_assert_msg(bits == want[i] || both_nan, "%s[%d]: %08x, not %08x", what, (int)i, bits,
                      want[i]);
    }
}

static void read_kind(const Safetensors *file, const KindCase *kind) {
    int64_t index = safetensors_find(file, kind->name);
    const SafetensorsEntry *entry = safetensors_entry(file, index);
    ck_assert_msg(entry != NULL, "no %s", kind->name);
    ck_assert_str_eq(entry->dtype, kind->dtype);
    ck_assert(shape_equal(entry->shape, SHAPE(kind->count)));
    Tensor *real = tensor_new(SHAPE(kind->count), DTYPE_FLOAT32);
    Tensor *whole = tensor_new(SHAPE(kind->count), DTYPE_INT64);
    uint32_t version = real->storage->version;
    if (safetensors_read(file, index, real)) {
        ck_assert_ptr_null(kind->reals);
        byte_file_expect_error(STATUS_DTYPE, kind->dtype);
    } else {
        expect_bits(tensor_data(real), kind->reals, kind->count, kind->name);
        ck_assert_uint_ne(real->storage->version, version);
    }
    if (safetensors_read(file, index, whole)) {
        ck_assert_ptr_null(kind->integers);
        byte_file_expect_error(STATUS_DTYPE, kind->dtype);
    } else {
        ck_assert_mem_eq(tensor_labels(whole), kind->integers, (size_t)kind->count * 8);
    }
    tensor_free(real);
    tensor_free(whole);
}

// FNV-1a of the bits; all NaNs hash alike.
static uint64_t digest_of(const float *values, int64_t n) {
    uint64_t digest = UINT64_C(0xcbf29ce484222325);
    for (int64_t i = 0; i < n; i++) {
        uint32_t bits = math_to_bits(values[i] == values[i] ? values[i] : NAN);
        digest = (digest ^ bits) * UINT64_C(0x100000001b3);
    }
    return digest;
}

START_TEST(every_number_of_8_bits_is_read_as_pytorch_converts_it) {
    static const struct {
        const char *dtype;
        uint64_t digest;
    } small[] = {{"F8_E4M3", E4M3FN_DIGEST},
                 {"F8_E5M2", E5M2_DIGEST},
                 {"F8_E4M3FNUZ", E4M3FNUZ_DIGEST},
                 {"F8_E5M2FNUZ", E5M2FNUZ_DIGEST},
                 {"F8_E8M0", E8M0FNU_DIGEST}};
    work_folder_begin();
    for (int i = 0; i < 5; i++) {
        char bytes[512] = {0};
        int length = snprintf(bytes + 8, 248,
                              "{\"all\":{\"dtype\":\"%s\",\"shape\":[256],"
                              "\"data_offsets\":[0,256]}}",
                              small[i].dtype);
        bytes[0] = (char)length;
        for (int code = 0; code < 256; code++) bytes[8 + length + code] = (char)code;
        Safetensors *file = open_bytes(bytes, 8 + (size_t)length + 256);
        Tensor *t = safetensors_tensor_new(file, 0);
        ck_assert_msg(t && t->dtype == DTYPE_FLOAT32, "%s", error_message());
        ck_assert_msg(digest_of(tensor_data(t), 256) == small[i].digest, "%s", small[i].dtype);
        tensor_free(t);
        safetensors_close(file);
    }
    work_folder_end();
}
END_TEST

START_TEST(every_kind_of_number_is_read_as_pytorch_converts_it) {
    work_folder_begin();
    Safetensors *file = open_bytes(python_kinds, sizeof python_kinds - 1);
    ck_assert_msg(file != NULL, "%s", error_message());
    ck_assert_int_eq(safetensors_count(file), KINDS + 3);
    for (int i = 0; i < KINDS; i++) read_kind(file, &kinds[i]);
    ck_assert_str_eq(safetensors_metadata(file, "who"), "caf\xc3\xa9");
    ck_assert_ptr_null(safetensors_metadata(file, "whose"));
    ck_assert_int_eq(safetensors_find(file, "__metadata__"), -1);
    ck_assert_ptr_null(safetensors_entry(file, -1));
    ck_assert_ptr_null(safetensors_entry(file, KINDS + 3));
    Tensor *odd = safetensors_tensor_new(file, safetensors_find(file, "\xc3\xbc"
                                                                      "ber.a\"b\\"));
    expect_values(odd, 0, 1, 2, 3, 4, 5);
    ck_assert(shape_equal(tensor_shape(odd), SHAPE(1, 2, 3)));
    Tensor *empty = safetensors_tensor_new(file, safetensors_find(file, "empty"));
    ck_assert(shape_equal(tensor_shape(empty), SHAPE(2, 0, 3)));
    Tensor *scalar = safetensors_tensor_new(file, safetensors_find(file, "scalar"));
    expect_values(scalar, 7);
    ck_assert_ptr_null(safetensors_tensor_new(file, safetensors_find(file, "u64")));
    byte_file_expect_error(STATUS_DTYPE, "'u64' is U64, which no tensor holds");
    ck_assert_ptr_null(safetensors_tensor_new(file, 99));
    byte_file_expect_error(STATUS_INVALID_ARGUMENT, "no tensor 99");
    tensor_free(odd);
    tensor_free(empty);
    tensor_free(scalar);
    safetensors_close(file);
    work_folder_end();
}
END_TEST

// ---- models ------------------------------------------------------------------------------------
// Bytes can be read even if they hold numbers that no tensor can.
START_TEST(bytes_are_read_as_they_are_stored) {
    work_folder_begin();
    Safetensors *file = open_bytes(python_kinds, sizeof python_kinds - 1);
    const char *end = python_kinds + sizeof python_kinds - 1; // tensors come last
    for (int64_t i = safetensors_count(file) - 1; i >= 0; i--) {
        size_t size = (size_t)safetensors_entry(file, i)->bytes;
        char *bytes = malloc(size + 1);
        bytes[size] = 'e';
        ck_assert_int_eq(safetensors_read_bytes(file, i, bytes), STATUS_OK);
        end -= size;
        ck_assert(memcmp(bytes, end, size) == 0 && bytes[size] == 'e');
        free(bytes);
    }
    char none;
    ck_assert(safetensors_read_bytes(file, safetensors_count(file), &none));
    byte_file_expect_error(STATUS_INVALID_ARGUMENT, "there is no tensor");
    safetensors_close(file);
    work_folder_end();
}
END_TEST

START_TEST(a_tied_model_is_written_as_pytorch_writes_it_and_read_back) {
    work_folder_begin();
    Layer *model = tied_new(), *copy = tied_new();
    ck_assert_int_eq(safetensors_load(model,
                                      byte_file_put("theirs", python_tied, sizeof python_tied - 1),
                                      (SafetensorsOptions){0}),
                     STATUS_OK);
    expect_values(state_of(model, "head.weight"), -2.5f, -1.5f, -0.5f, 0.5f, 1.5f, 2.5f);
    expect_values(state_of(model, "norm.bias"), 0.5f, 0.25f, -4);
    ck_assert_int_eq(*tensor_labels(state_of(model, "norm.num_batches_tracked")), 3);
    ck_assert_int_eq(safetensors_save(model, byte_file_path("ours")), STATUS_OK);
    ck_assert(byte_file_is("ours", python_tied, sizeof python_tied - 1));
    ck_assert_int_eq(safetensors_load(copy, byte_file_path("ours"), (SafetensorsOptions){0}),
                     STATUS_OK);
    expect_values(state_of(copy, "embed.weight"), -2.5f, -1.5f, -0.5f, 0.5f, 1.5f, 2.5f);
    layer_free(model);
    layer_free(copy);
    work_folder_end();
}
END_TEST

// Writes the model's state, but with the named tensor replaced or (NULL) left out.
static const char *write_with(Layer *model, const char *path, Tensor *instead) {
    ParameterList list;
    ck_assert_int_eq(layer_state(model, &list), STATUS_OK);
    for (int i = 0; i < list.count; i++) {
        if (strcmp(list.items[i].path, path) != 0) continue;
        list.items[i].tensor = instead ? instead : list.items[0].tensor; // tied: written once
    }
    const char *to = byte_file_path("changed");
    ck_assert_msg(safetensors_write(&list, NULL, 0, to) == STATUS_OK, "%s", error_message());
    parameter_list_free(&list);
    return to;
}

START_TEST(tied_weights_may_be_there_once_or_twice_but_alike) {
    work_folder_begin();
    Layer *model = tied_new();
    Tensor *same = tensor_from_floats_new(SHAPE(3, 2), (float[]){9, 8, 7, 6, 5, 4});
    tensor_write_floats(state_of(model, "head.weight"), tensor_data(same));
    const char *file = write_with(model, "embed.weight", same);
    tensor_fill_uniform(state_of(model, "head.weight"), 0, 1);
    ck_assert_msg(!safetensors_load(model, file, (SafetensorsOptions){0}), "%s", error_message());
    expect_values(state_of(model, "embed.weight"), 9, 8, 7, 6, 5, 4);
    tensor_data(same)[5] = 3;
    file = write_with(model, "embed.weight", same);
    ck_assert(safetensors_load(model, file, (SafetensorsOptions){0}));
    byte_file_expect_error(STATUS_INVALID_ARGUMENT,
                           "1 tied here and not alike there: embed.weight");
    tensor_free(same);
    layer_free(model);
    work_folder_end();
}
END_TEST

START_TEST(what_does_not_fit_is_told_at_once_and_nothing_changes) {
    work_folder_begin();
    Layer *model = tied_new(), *other = sequential_new();
    layer_add_child(other, "head", linear_new(2, 4, true));
    layer_add_child(other, "norm", batch_norm1d_new(3, batch_norm_defaults()));
    Tensor *wrong = tensor_full_new(SHAPE_SCALAR, 2.5f);
    const char *file = write_with(other, "norm.num_batches_tracked", wrong);
    float before[6], bias[3];
    tensor_read_floats(state_of(model, "head.weight"), before);
    tensor_read_floats(state_of(model, "norm.bias"), bias);
    tensor_data(state_of(other, "norm.bias"))[0] = 5;
    ck_assert(safetensors_load(model, file, (SafetensorsOptions){.allow_missing = true}));
    ck_assert_ptr_nonnull(strstr(error_message(), "1 unknown here: head.bias"));
    ck_assert_ptr_nonnull(
        strstr(error_message(), "1 of another shape: head.weight is (4, 2), not (3, 2)"));
    byte_file_expect_error(STATUS_INVALID_ARGUMENT, "num_batches_tracked is F32, not int64");
    ck_assert(safetensors_load(model, file, (SafetensorsOptions){.allow_unknown = true}));
    byte_file_expect_error(STATUS_SHAPE, "head.weight is (4, 2)");
    ck_assert(safetensors_load(model, file, (SafetensorsOptions){.prefix = "nothing."}));
    byte_file_expect_error(STATUS_INVALID_ARGUMENT,
                           "6 missing: head.weight, norm.weight, norm.bias ...");
    expect_values(state_of(model, "norm.bias"), bias[0], bias[1], bias[2]);
    harness_assert_close(tensor_data(state_of(model, "head.weight")), before, 6, 0, 0, "weight");
    tensor_free(wrong);
    layer_free(model);
    layer_free(other);
    work_folder_end();
}
END_TEST

START_TEST(a_buffer_that_is_a_strided_view_is_refused_before_anything_changes) {
    work_folder_begin();
    Layer *model = linear_new(2, 3, true), *strided = linear_new(2, 3, true);
    Scope *scope = scope_open();
    Tensor *rows = tensor_full_new(SHAPE(2, 3), 1);
    layer_add_buffer(model, "turned", tensor_full_new(SHAPE(3, 2), 7));
    layer_add_buffer(strided, "turned", tensor_keep(tensor_transpose(rows, 0, 1)));
    tensor_fill_uniform(state_of(strided, "bias"), 50, 60);
    ck_assert_int_eq(safetensors_save(model, byte_file_path("file")), STATUS_OK);
    ck_assert(safetensors_load(strided, byte_file_path("file"), (SafetensorsOptions){0}));
    byte_file_expect_error(STATUS_INVALID_ARGUMENT, "1 not contiguous here: turned");
    ck_assert(tensor_data(state_of(strided, "bias"))[0] >= 50);
    scope_close(scope);
    tensor_free(rows);
    layer_free(model);
    layer_free(strided);
    work_folder_end();
}
END_TEST

START_TEST(options_pass_over_what_is_missing_or_unknown_and_look_below_a_prefix) {
    work_folder_begin();
    Layer *model = tied_new(), *norm = batch_norm1d_new(3, batch_norm_defaults());
    tensor_data(state_of(model, "norm.weight"))[1] = 6;
    ck_assert_int_eq(safetensors_save(model, byte_file_path("all")), STATUS_OK);
    ck_assert_int_eq(safetensors_load(norm, byte_file_path("all"),
                                      (SafetensorsOptions){.prefix = "norm."}),
                     STATUS_OK);
    expect_values(state_of(norm, "weight"), 1, 6, 1);
    ck_assert_int_eq(safetensors_save(norm, byte_file_path("part")), STATUS_OK);
    const SafetensorsOptions lenient = {.allow_missing = true, .allow_unknown = true};
    ck_assert_int_eq(safetensors_load(model, byte_file_path("part"), lenient), STATUS_OK);
    layer_free(model);
    layer_free(norm);
    work_folder_end();
}
END_TEST

START_TEST(shapes_are_checked_on_meta_and_nothing_is_written_from_there) {
    work_folder_begin();
    context_set_device(device_meta());
    Layer *model = tied_new(), *other = linear_new(2, 2, false);
    const char *file = byte_file_put("theirs", python_tied, sizeof python_tied - 1);
    ck_assert_int_eq(safetensors_load(model, file, (SafetensorsOptions){0}), STATUS_OK);
    ck_assert(safetensors_load(other, file, (SafetensorsOptions){.prefix = "head."}));
    byte_file_expect_error(STATUS_INVALID_ARGUMENT, "1 missing: weight");
    ck_assert(safetensors_save(model, byte_file_path("none")));
    byte_file_expect_error(STATUS_DEVICE, "no values");
    ck_assert_int_eq(byte_file_count(), 1);
    layer_free(model);
    layer_free(other);
    context_set_device(device_cpu());
    work_folder_end();
}
END_TEST

static int64_t most_copied;
static Status copy(Device *self, void *to, const void *from, size_t bytes) {
    (void)self;
    if ((int64_t)bytes > most_copied) most_copied = (int64_t)bytes;
    memcpy(to, from, bytes);
    return STATUS_OK;
}

START_TEST(a_device_of_its_own_memory_is_read_and_written_in_pieces) {
    work_folder_begin();
    enum { COUNT = 300001 };
    static Device far; // outlives the blocks that the ledger caches
    far = *device_cpu();
    far.name = "far";
    far.on_host = false;
    far.from_host = far.to_host = copy;
    Tensor *here = tensor_uniform_new(SHAPE(COUNT), -1, 1);
    context_set_device(&far);
    Tensor *there = tensor_new(SHAPE(COUNT), DTYPE_FLOAT32);
    ParameterEntry item = {.path = (char *)"x", .tensor = here};
    ck_assert_int_eq(safetensors_write(&(ParameterList){&item, 1}, NULL, 0, byte_file_path("one")),
                     STATUS_OK);
    Safetensors *file = safetensors_open(byte_file_path("one"));
    ck_assert_int_eq(safetensors_read(file, 0, there), STATUS_OK);
    ck_assert_mem_eq(there->storage->data, here->storage->data, COUNT * 4);
    item.tensor = there;
    ck_assert_int_eq(safetensors_write(&(ParameterList){&item, 1}, NULL, 0, byte_file_path("two")),
                     STATUS_OK);
    work_folder_run("cmp one two");
    ck_assert(most_copied > 1024 && most_copied < COUNT);
    safetensors_close(file);
    tensor_free(there);
    context_set_device(device_cpu());
    tensor_free(here);
    work_folder_end();
}
END_TEST

START_TEST(what_cannot_be_written_is_an_error_and_no_file) {
    work_folder_begin();
    Scope *scope = scope_open();
    Tensor *x = tensor_full_new(SHAPE(2, 3), 1), *t = tensor_transpose(x, 0, 1);
    const struct {
        ParameterEntry items[2];
        int count;
        const char *text, *mention;
    } cases[] = {{{{(char *)"t", t, false}}, 1, "", "not contiguous"},
                 {{{(char *)"a\xff", x, false}}, 1, "", "cannot be a name"},
                 {{{(char *)"__metadata__", x, false}}, 1, "", "cannot be a name"},
                 {{{(char *)"a", x, false}}, 1, "\xc3", "cannot be a name"},
                 {{{(char *)"a", x, false}}, 1, NULL, "'(NULL)' cannot be a name"},
                 {{{(char *)"a", x, false}, {NULL, x, false}}, 2, "", "no name"},
                 {{{(char *)"a", NULL, false}}, 1, "", "no tensor"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const ParameterList list = {(ParameterEntry *)cases[i].items, cases[i].count};
        const char *const metadata[] = {"key", cases[i].text};
        ck_assert(safetensors_write(&list, metadata, 1, byte_file_path("none")));
        ck_assert_msg(strstr(error_message(), cases[i].mention) != NULL, "%s", error_message());
        error_clear();
    }
    ParameterEntry item = {.path = (char *)"x", .tensor = x};
    ck_assert(safetensors_write(&(ParameterList){&item, 1}, NULL, 0, "/dev/full"));
    byte_file_expect_error(STATUS_IO, "cannot write '/dev/full'");
    ck_assert_int_eq(byte_file_count(), 0);
    tensor_free(x);
    scope_close(scope);
    work_folder_end();
}
END_TEST

// ---- memory ------------------------------------------------------------------------------------
START_TEST(any_request_may_fail) {
    work_folder_begin();
    Layer *model = tied_new();
    const char *file = byte_file_put("theirs", python_kinds, sizeof python_kinds - 1);
    char theirs[128];
    snprintf(theirs, sizeof theirs, "%s", file);
    int failures = 0;
    for (uint64_t nth = 1;; nth++) {
        uint64_t before = memory_requests();
        memory_fail_at(nth);
        bool done = !safetensors_save(model, byte_file_path("ours")) &&
                    !safetensors_load(model, byte_file_path("ours"), (SafetensorsOptions){0});
        Safetensors *kinds_file = done ? safetensors_open(theirs) : NULL;
        for (int i = 0; i < 4 && kinds_file; i++) // these need conversion
            tensor_free(
                safetensors_tensor_new(kinds_file, safetensors_find(kinds_file, kinds[i].name)));
        safetensors_close(kinds_file);
        memory_fail_at(0);
        bool reached = memory_requests() - before >= nth;
        ck_assert_msg(reached == (error_status() == STATUS_OUT_OF_MEMORY), "request %d: %s",
                      (int)nth, error_message());
        failures += reached;
        error_clear();
        if (!reached) break;
    }
    ck_assert_int_gt(failures, 40);
    ck_assert_int_eq(byte_file_count(), 2); // no temporary is left
    layer_free(model);
    ck_assert_int_eq(expect_live_bytes(), 0);
    work_folder_end();
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {every_kind_of_number_is_read_as_pytorch_converts_it, 0},
        {every_number_of_8_bits_is_read_as_pytorch_converts_it, 0},
        {bytes_are_read_as_they_are_stored, 0},
        {a_tied_model_is_written_as_pytorch_writes_it_and_read_back, 0},
        {tied_weights_may_be_there_once_or_twice_but_alike, 0},
        {what_does_not_fit_is_told_at_once_and_nothing_changes, 0},
        {a_buffer_that_is_a_strided_view_is_refused_before_anything_changes, 0},
        {options_pass_over_what_is_missing_or_unknown_and_look_below_a_prefix, 0},
        {shapes_are_checked_on_meta_and_nothing_is_written_from_there, 0},
        {a_device_of_its_own_memory_is_read_and_written_in_pieces, 0},
        {what_cannot_be_written_is_an_error_and_no_file, 0},
        {any_request_may_fail, 0},
        {NULL, 0}};
    return harness_main("safetensors", tests);
}
