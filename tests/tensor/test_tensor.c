// test_tensor.c -- tensors as values: creation, shapes, reading, writing, and the refusals of each
// function of tensor.h. test_view.c tests views, test_scope.c ownership.
#include <math.h>
#include <string.h>

#include "tensor/memory.h"
#include "tensor/ops.h"
#include "tests/helpers/expect.h"

// ---- creation ---------------------------------------------------------------------------------
START_TEST(a_new_tensor_is_row_major_and_counted_as_data) {
    int64_t before = context_ledger()->live.category[MEM_DATA];
    Tensor *t = tensor_new(SHAPE(2, 3, 4), DTYPE_INT64);
    ck_assert_int_eq(t->shape.ndim, 3);
    ck_assert_int_eq(t->numel, 24);
    ck_assert(shape_equal(tensor_shape(t), SHAPE(2, 3, 4)));
    ck_assert_int_eq(t->stride[0], 12);
    ck_assert_int_eq(t->stride[1], 4);
    ck_assert_int_eq(t->stride[2], 1);
    ck_assert(tensor_is_contiguous(t));
    ck_assert_int_eq(tensor_bytes(t), 24 * 8);
    ck_assert_int_eq(context_ledger()->live.category[MEM_DATA] - before, 24 * 8);
    ck_assert_ptr_null(t->scope);
    tensor_free(t);
    ck_assert_int_eq(context_ledger()->live.category[MEM_DATA], before);
}
END_TEST

START_TEST(a_tensor_is_counted_in_the_category_it_was_made_for) {
    for (int c = 0; c < MEM_COUNT; c++) {
        int64_t before = context_ledger()->live.category[c];
        Tensor *t = tensor_new_as(SHAPE(5), DTYPE_FLOAT32, (MemoryCategory)c);
        ck_assert_int_eq(context_ledger()->live.category[c] - before, 20);
        tensor_free(t);
    }
}
END_TEST

START_TEST(created_tensors_hold_the_values_they_were_given) {
    Tensor *zeros = tensor_zeros_new(SHAPE(2, 2)), *full = tensor_full_new(SHAPE(3), -1.5f);
    Tensor *floats = tensor_from_floats_new(SHAPE(2, 2), (float[]){1, 2, 3, 4});
    Tensor *labels = tensor_from_labels_new(SHAPE(3), (int64_t[]){7, -1, 0});
    expect_values(zeros, 0, 0, 0, 0);
    expect_values(full, -1.5f, -1.5f, -1.5f);
    expect_values(floats, 1, 2, 3, 4);
    ck_assert_int_eq(tensor_labels(labels)[0], 7);
    ck_assert_int_eq(tensor_labels(labels)[1], -1);
    expect_values(labels, 7, -1, 0); // converted to float
    Tensor *made[] = {zeros, full, floats, labels};
    for (int i = 0; i < 4; i++) tensor_free(made[i]);
}
END_TEST

START_TEST(a_scalar_has_no_dimensions_and_one_element) {
    Tensor *t = tensor_from_floats_new(SHAPE_SCALAR, (float[]){2.5f});
    char text[SHAPE_TEXT];
    ck_assert_int_eq(t->shape.ndim, 0);
    ck_assert_int_eq(t->numel, 1);
    ck_assert_double_eq(tensor_item(t), 2.5);
    ck_assert_str_eq(shape_text(tensor_shape(t), text), "()");
    tensor_free(t);
}
END_TEST

START_TEST(an_empty_tensor_is_legal_and_takes_no_bytes) {
    const Shape shapes[] = {SHAPE(0), SHAPE(3, 0), SHAPE(0, 5, 2), SHAPE(2, 0, 0)};
    for (int i = 0; i < 4; i++) {
        int64_t before = expect_live_bytes();
        Tensor *made[] = {tensor_zeros_new(shapes[i]), tensor_from_floats_new(shapes[i], NULL),
                          tensor_uniform_new(shapes[i], 0, 1), tensor_normal_new(shapes[i], 0, 1),
                          tensor_from_labels_new(shapes[i], NULL)};
        expect_no_error();
        for (int k = 0; k < 5; k++) {
            ck_assert_int_eq(made[k]->numel, 0);
            ck_assert_int_eq(tensor_bytes(made[k]), 0);
            ck_assert_int_eq(tensor_distinct_bytes(made[k]), 0);
            ck_assert(tensor_is_contiguous(made[k]));
            ck_assert_int_eq(tensor_read_floats(made[k], NULL), STATUS_OK);
            ck_assert_int_eq(expect_live_bytes(), before);
            tensor_free(made[k]);
        }
    }
}
END_TEST

START_TEST(random_tensors_repeat_with_the_seed_and_stay_in_their_range) {
    enum { N = 4096 };
    float first[N], second[N];
    for (int run = 0; run < 2; run++) {
        context_seed(42);
        Tensor *uniform = tensor_uniform_new(SHAPE(N), -2.0f, 3.0f);
        Tensor *normal = tensor_normal_new(SHAPE(N), 10.0f, 0.5f);
        const float *u = tensor_data(uniform), *z = tensor_data(normal);
        double mean = 0.0;
        for (int i = 0; i < N; i++) {
            ck_assert(u[i] >= -2.0f && u[i] <= 3.0f);
            mean += (double)z[i] / N;
        }
        ck_assert_double_eq_tol(mean, 10.0, 0.04); // five standard errors
        memcpy(run ? second : first, z, sizeof first);
        tensor_free(uniform);
        tensor_free(normal);
    }
    ck_assert_mem_eq(first, second, sizeof first);
}
END_TEST

// 1 + (1 - 2^-24) would round to 2: seed 8 draws that in block 932,279, lane 2.
START_TEST(the_upper_bound_is_not_drawn_even_by_rounding) {
    context_seed(8);
    context_current()->random.offset = 932279;
    Tensor *x = tensor_uniform_new(SHAPE(4), 0.0f, 1.0f);
    ck_assert(tensor_data(x)[2] == 1.0f - 0x1p-24f);
    context_current()->random.offset = 932279;
    ck_assert_int_eq(tensor_fill_uniform(x, 1.0f, 2.0f), STATUS_OK);
    ck_assert(tensor_data(x)[2] == 2.0f - 0x1p-23f);
    ck_assert_int_eq(tensor_fill_uniform(x, 3.0f, 3.0f), STATUS_OK);
    expect_values(x, 3, 3, 3, 3);
    tensor_free(x);
}
END_TEST

START_TEST(meta_draws_the_same_random_numbers_as_the_cpu) {
    Tensor *after[2];
    for (int meta = 0; meta < 2; meta++) {
        context_seed(7);
        context_set_device(meta ? device_meta() : device_cpu());
        tensor_free(tensor_uniform_new(SHAPE(10), 0, 1));
        context_set_device(device_cpu());
        after[meta] = tensor_uniform_new(SHAPE(3), 0, 1);
    }
    ck_assert_mem_eq(tensor_data(after[0]), tensor_data(after[1]), 3 * sizeof(float));
    tensor_free(after[0]);
    tensor_free(after[1]);
}
END_TEST

START_TEST(a_tensor_on_meta_has_a_shape_but_reserves_nothing) {
    context_set_device(device_meta());
    int64_t reserved = context_ledger()->reserved_bytes, live = expect_live_bytes();
    Tensor *t = tensor_zeros_new(SHAPE(1 << 20, 1 << 20));
    ck_assert_ptr_nonnull(t);
    ck_assert_int_eq(expect_live_bytes() - live, (int64_t)1 << 42);
    ck_assert_int_eq(context_ledger()->reserved_bytes, reserved);
    tensor_free(t);
    const int64_t many = (int64_t)1 << 40; // more than any machine has room for
    Tensor *rows[] = {tensor_arange_new(0, many, 1), tensor_linspace_new(0, 1, many)};
    for (int i = 0; i < 2; i++) {
        ck_assert_msg(rows[i] && rows[i]->numel == many, "%s", error_message());
        tensor_free(rows[i]);
    }
    ck_assert_int_eq(expect_live_bytes(), live);
    context_set_device(device_cpu());
}
END_TEST

// ---- invalid shapes ---------------------------------------------------------------------------
static const struct BadShape {
    Shape shape;
    Status status;
    const char *mention;
} bad_shapes[] = {
    {{.ndim = 2, .dims = {2, -1}}, STATUS_SHAPE, "(2, -1)"},
    {{.ndim = 1, .dims = {INT64_MIN}}, STATUS_SHAPE, "negative"},
    {{.ndim = 7}, STATUS_SHAPE, "at most 6"},
    {{.ndim = -1}, STATUS_SHAPE, "at most 6"},
    {{.ndim = 2, .dims = {INT64_MAX, 2}}, STATUS_OVERFLOW, "9223372036854775807"},
    {{.ndim = 1, .dims = {INT64_MAX}}, STATUS_OVERFLOW, "too many bytes"},
    {{.ndim = 3, .dims = {1LL << 32, 1LL << 32, 1}}, STATUS_OVERFLOW, "elements"},
    {{.ndim = 3, .dims = {0, 1LL << 62, 4}}, STATUS_OVERFLOW, "(0, "}, // a 0 hides nothing
    {{.ndim = 2, .dims = {1LL << 60, 1}}, STATUS_OVERFLOW, "bytes"},
};
enum { BAD_SHAPES = sizeof bad_shapes / sizeof bad_shapes[0] };

START_TEST(a_shape_that_cannot_be_is_refused_by_every_creating_function) {
    const struct BadShape *bad = &bad_shapes[_i];
    int64_t before = expect_live_bytes();
    for (int meta = 0; meta < 2; meta++) { // meta has no data, but counts bytes
        context_set_device(meta ? device_meta() : device_cpu());
        ck_assert_ptr_null(tensor_new(bad->shape, DTYPE_INT64));
        expect_error(bad->status, bad->mention);
        ck_assert_ptr_null(tensor_zeros_new(bad->shape));
        expect_error(bad->status, bad->mention);
        ck_assert_ptr_null(tensor_full_new(bad->shape, 1.0f));
        expect_error(bad->status, bad->mention);
        ck_assert_ptr_null(tensor_from_floats_new(bad->shape, NULL));
        expect_error(bad->status, bad->mention);
        ck_assert_ptr_null(tensor_from_labels_new(bad->shape, NULL));
        expect_error(bad->status, bad->mention);
        ck_assert_ptr_null(tensor_uniform_new(bad->shape, 0, 1));
        expect_error(bad->status, bad->mention);
        ck_assert_ptr_null(tensor_normal_new(bad->shape, 0, 1));
        expect_error(bad->status, bad->mention);
    }
    context_set_device(device_cpu());
    ck_assert_int_eq(expect_live_bytes(), before);
}
END_TEST

START_TEST(while_an_error_is_pending_nothing_is_created_and_its_message_stays) {
    error_set(STATUS_IO, "the first %s", "message");
    ck_assert_ptr_null(tensor_new(SHAPE(2), DTYPE_FLOAT32));
    ck_assert_ptr_null(tensor_full_new(SHAPE(2), 1.0f));
    ck_assert_ptr_null(tensor_from_floats_new(SHAPE(1), (float[]){1}));
    ck_assert_ptr_null(tensor_uniform_new(SHAPE(-1), 0, 1));
    ck_assert_str_eq(error_message(), "the first message");
    expect_error(STATUS_IO, "the first message");
    ck_assert_str_eq(error_message(), "");
}
END_TEST

// ---- reading and writing ----------------------------------------------------------------------
START_TEST(writing_floats_replaces_the_values_and_bumps_the_version) {
    Tensor *t = tensor_zeros_new(SHAPE(2, 2));
    uint32_t version = t->storage->version;
    ck_assert_int_eq(tensor_write_floats(t, (float[]){4, 3, 2, 1}), STATUS_OK);
    expect_values(t, 4, 3, 2, 1);
    ck_assert_uint_eq(t->storage->version, version + 1);
    ck_assert_int_eq(tensor_fill_uniform(t, 5.0f, 5.0f), STATUS_OK);
    expect_values(t, 5, 5, 5, 5);
    ck_assert_int_eq(tensor_fill_normal(t, 6.0f, 0.0f), STATUS_OK);
    expect_values(t, 6, 6, 6, 6);
    ck_assert_uint_eq(t->storage->version, version + 3);
    tensor_free(t);
}
END_TEST

START_TEST(bytes_and_labels_are_read_as_floats) {
    Tensor *t = tensor_new(SHAPE(3), DTYPE_UINT8);
    memcpy(t->storage->data, (uint8_t[]){0, 128, 255}, 3);
    expect_values(t, 0, 128, 255);
    tensor_free(t);
}
END_TEST

START_TEST(what_cannot_be_pointed_at_is_refused_with_a_hint) {
    Scope *scope = scope_open();
    Tensor *t = tensor_zeros_new(SHAPE(2, 3)), *view = tensor_transpose(t, 0, 1);
    ck_assert_ptr_null(tensor_data(view));
    expect_error(STATUS_SHAPE, "(3, 2) is a strided view. HINT: tensor_contiguous");
    ck_assert_ptr_null(tensor_labels(t));
    expect_error(STATUS_DTYPE, "tensor_labels: the tensor is float32, not int64");
    context_set_device(device_meta());
    Tensor *meta = tensor_zeros_new(SHAPE(2));
    context_set_device(device_cpu());
    ck_assert_ptr_null(tensor_data(meta));
    expect_error(STATUS_DEVICE, "meta");
    float values[2];
    ck_assert_int_eq(tensor_read_floats(meta, values), STATUS_DEVICE);
    expect_error(STATUS_DEVICE, "no values. HINT");
    ck_assert(isnan(tensor_item(meta)));
    expect_error(STATUS_SHAPE, "2 elements");
    tensor_free(meta);
    scope_close(scope);
    tensor_free(t);
}
END_TEST

START_TEST(reading_no_tensor_at_all_is_an_error_not_a_crash) {
    ck_assert_ptr_null(tensor_data(NULL));
    expect_error(STATUS_INVALID_ARGUMENT, "tensor_data");
    ck_assert_ptr_null(tensor_labels(NULL));
    expect_error(STATUS_INVALID_ARGUMENT, "tensor_labels");
    ck_assert(isnan(tensor_item(NULL)));
    expect_error(STATUS_INVALID_ARGUMENT, "tensor_item");
    ck_assert_int_ne(tensor_read_floats(NULL, NULL), STATUS_OK);
    expect_error(error_status(), "tensor_read_floats");
    ck_assert_int_ne(tensor_write_floats(NULL, NULL), STATUS_OK);
    expect_error(STATUS_INVALID_ARGUMENT, "tensor_write_floats");
    ck_assert_int_ne(tensor_fill_uniform(NULL, 0, 1), STATUS_OK);
    expect_error(STATUS_INVALID_ARGUMENT, "tensor_fill_uniform");
    tensor_free(NULL);
    tensor_release(NULL);
    ck_assert_ptr_null(tensor_keep(NULL));
    expect_no_error();
}
END_TEST

START_TEST(only_contiguous_floats_can_be_overwritten) {
    Scope *scope = scope_open();
    Tensor *t = tensor_zeros_new(SHAPE(2, 3)), *labels = tensor_new(SHAPE(2), DTYPE_INT64);
    Tensor *bad[] = {tensor_transpose(t, 0, 1), labels};
    for (int i = 0; i < 2; i++) {
        ck_assert_int_ne(tensor_write_floats(bad[i], (float[6]){0}), STATUS_OK);
        expect_error(STATUS_INVALID_ARGUMENT, "contiguous float32");
        ck_assert_int_ne(tensor_fill_uniform(bad[i], 0, 1), STATUS_OK);
        expect_error(STATUS_INVALID_ARGUMENT, "tensor_fill_uniform: needs a contiguous float32");
        ck_assert_int_ne(tensor_fill_normal(bad[i], 0, 1), STATUS_OK);
        expect_error(STATUS_INVALID_ARGUMENT, "tensor_fill_normal: needs a contiguous float32");
    }
    scope_close(scope);
    tensor_free(t);
    tensor_free(labels);
}
END_TEST

START_TEST(an_item_is_the_one_element_of_any_shape) {
    Tensor *one = tensor_full_new(SHAPE(1, 1, 1), 3.0f), *many = tensor_zeros_new(SHAPE(2, 1));
    ck_assert_double_eq(tensor_item(one), 3.0);
    ck_assert(isnan(tensor_item(many)));
    expect_error(STATUS_SHAPE, "tensor_item: shape (2, 1) has 2 elements, not one");
    tensor_free(one);
    tensor_free(many);
}
END_TEST

// ---- memory that runs out ---------------------------------------------------------------------
static void *no_memory(Device *self, size_t bytes) {
    (void)self, (void)bytes;
    return NULL;
}

START_TEST(a_device_without_memory_says_how_much_was_asked_and_lives) {
    Device empty = *device_cpu();
    empty.name = "tiny";
    empty.allocate = no_memory;
    int64_t live = expect_live_bytes(), reserved = context_ledger()->reserved_bytes;
    context_set_device(&empty);
    ck_assert_ptr_null(tensor_new(SHAPE(1000), DTYPE_FLOAT32));
    context_set_device(device_cpu());
    expect_error(STATUS_OUT_OF_MEMORY, "tiny memory exhausted: 4000 bytes asked");
    ck_assert_int_eq(expect_live_bytes(), live);
    ck_assert_int_eq(ledger_unaccounted(context_ledger()), 0);
    ck_assert_int_le(context_ledger()->reserved_bytes, reserved);
}
END_TEST

START_TEST(a_range_counts_and_a_line_meets_both_ends) {
    const struct {
        int64_t begin, end, step, count, last;
    } ranges[] = {{0, 5, 1, 5, 4},
                  {2, 9, 3, 3, 8},
                  {5, 0, -2, 3, 1},
                  {3, 3, 1, 0, 0},
                  {4, 3, 1, 0, 0},
                  {3, 4, -1, 0, 0},
                  {INT64_MIN, INT64_MAX, INT64_MAX, 3, INT64_MAX - 1},
                  {INT64_MAX, INT64_MIN, INT64_MIN, 2, -1}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        Tensor *t = tensor_arange_new(ranges[i].begin, ranges[i].end, ranges[i].step);
        ck_assert_ptr_nonnull(t);
        ck_assert_int_eq(t->numel, ranges[i].count);
        if (t->numel > 0) ck_assert_int_eq(tensor_labels(t)[0], ranges[i].begin);
        if (t->numel > 0) ck_assert_int_eq(tensor_labels(t)[t->numel - 1], ranges[i].last);
        tensor_free(t);
    }
    ck_assert_ptr_null(tensor_arange_new(0, 5, 0));
    expect_error(STATUS_INVALID_ARGUMENT, "from 0 to 5 by 0");
    ck_assert_ptr_null(tensor_arange_new(INT64_MIN, INT64_MAX, 1));
    expect_error(STATUS_INVALID_ARGUMENT, "not more numbers than memory holds");
    Tensor *line = tensor_linspace_new(-1.0f, 2.0f, 5), *one = tensor_linspace_new(3.0f, 4.0f, 1);
    Tensor *third = tensor_linspace_new(0.0f, 0.3f, 4), *none = tensor_linspace_new(0.0f, 1.0f, 0);
    expect_values(line, -1.0, -0.25, 0.5, 1.25, 2.0);
    ck_assert(tensor_data(third)[0] == 0.0f && tensor_data(third)[3] == 0.3f);
    ck_assert(tensor_item(one) == 3.0 && none->numel == 0);
    ck_assert_ptr_null(tensor_linspace_new(0.0f, 1.0f, -1));
    expect_error(STATUS_SHAPE, "negative");
    Tensor *const all[] = {line, one, third, none};
    for (int i = 0; i < 4; i++) tensor_free(all[i]);
}
END_TEST

// Rounds towards 0, and saturates to the nearest int64, which PyTorch leaves open.
START_TEST(a_cast_saturates_and_knows_bytes) {
    const float odd[] = {NAN,  INFINITY, -INFINITY, 0x1p63f, -0x1p63f, -0x1.8p63f,
                         2.9f, -2.9f,    -0.0f,     0x1p53f, 1e-30f,   -0.99f};
    const int64_t want[] = {0, INT64_MAX, INT64_MIN, INT64_MAX,        INT64_MIN, INT64_MIN,
                            2, -2,        0,         INT64_C(1) << 53, 0,         0};
    enum { N = sizeof odd / sizeof *odd };
    Scope *scope = scope_open();
    Tensor *x = tensor_from_floats_new(SHAPE(N), odd), *bytes = tensor_new(SHAPE(2), DTYPE_UINT8);
    ((uint8_t *)bytes->storage->data)[0] = 0;
    ((uint8_t *)bytes->storage->data)[1] = 255;
    ck_assert_mem_eq(tensor_labels(tensor_cast(x, DTYPE_INT64)), want, sizeof want);
    ck_assert_ptr_eq(tensor_cast(x, DTYPE_FLOAT32), x);
    expect_values(tensor_cast(bytes, DTYPE_FLOAT32), 0, 255);
    ck_assert_int_eq(tensor_labels(tensor_cast(bytes, DTYPE_INT64))[1], 255);
    ck_assert_ptr_null(tensor_cast(x, DTYPE_UINT8));
    expect_error(STATUS_DTYPE, "not to uint8");
    ck_assert_ptr_null(tensor_cast(x, (DType)256));
    expect_error(STATUS_DTYPE, "what is no element type");
    scope_close(scope);
    tensor_free(x);
    tensor_free(bytes);
}
END_TEST

START_TEST(names_and_sizes_of_types_are_as_documented) {
    char text[SHAPE_TEXT];
    ck_assert_str_eq(dtype_name(DTYPE_FLOAT32), "float32");
    ck_assert_str_eq(dtype_name(DTYPE_INT64), "int64");
    ck_assert_str_eq(dtype_name((DType)99), "?");
    ck_assert_int_eq(dtype_size(DTYPE_FLOAT32), 4);
    ck_assert_int_eq(dtype_size(DTYPE_INT64), 8);
    ck_assert_int_eq(dtype_size(DTYPE_UINT8), 1);
    ck_assert_str_eq(shape_text(SHAPE(64, 784), text), "(64, 784)");
    ck_assert_str_eq(shape_text(SHAPE(5), text), "(5,)");
    const Shape widest = SHAPE(INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN);
    ck_assert_uint_lt(strlen(shape_text(widest, text)), SHAPE_TEXT);
    ck_assert(!shape_equal(SHAPE(2), SHAPE(2, 1)) && !shape_equal(SHAPE(2), SHAPE(3)));
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_new_tensor_is_row_major_and_counted_as_data, 0},
        {a_tensor_is_counted_in_the_category_it_was_made_for, 0},
        {created_tensors_hold_the_values_they_were_given, 0},
        {a_scalar_has_no_dimensions_and_one_element, 0},
        {an_empty_tensor_is_legal_and_takes_no_bytes, 0},
        {random_tensors_repeat_with_the_seed_and_stay_in_their_range, 0},
        {the_upper_bound_is_not_drawn_even_by_rounding, 0},
        {meta_draws_the_same_random_numbers_as_the_cpu, 0},
        {a_tensor_on_meta_has_a_shape_but_reserves_nothing, 0},
        {a_shape_that_cannot_be_is_refused_by_every_creating_function, BAD_SHAPES},
        {while_an_error_is_pending_nothing_is_created_and_its_message_stays, 0},
        {writing_floats_replaces_the_values_and_bumps_the_version, 0},
        {bytes_and_labels_are_read_as_floats, 0},
        {what_cannot_be_pointed_at_is_refused_with_a_hint, 0},
        {reading_no_tensor_at_all_is_an_error_not_a_crash, 0},
        {only_contiguous_floats_can_be_overwritten, 0},
        {an_item_is_the_one_element_of_any_shape, 0},
        {a_device_without_memory_says_how_much_was_asked_and_lives, 0},
        {a_range_counts_and_a_line_meets_both_ends, 0},
        {a_cast_saturates_and_knows_bytes, 0},
        {names_and_sizes_of_types_are_as_documented, 0},
        {NULL, 0},
    };
    return harness_main("tensor", tests);
}
