// test_view.c -- views: their storage, their strides, and how they are read. The ops' tests cover
// refusals and gradients of views.
#include "tensor/memory.h"
#include "tensor/ops.h"
#include "tests/helpers/expect.h"

static const float counting[24] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11,
                                   12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23};

// 0, 1, 2 ... in row-major order.
static Tensor *counted_new(Shape shape) { return tensor_from_floats_new(shape, counting); }

static void assert_looks_at(const Tensor *view, const Tensor *base) {
    ck_assert_msg(view != NULL, "no view: %s", error_message());
    ck_assert_ptr_eq(view->storage, base->storage);
}

START_TEST(a_view_shares_the_storage_and_sees_what_is_written_later) {
    Scope *scope = scope_open();
    Tensor *x = counted_new(SHAPE(2, 3));
    uint64_t calls = memory_system_calls();
    int64_t live = expect_live_bytes();
    Tensor *views[] = {tensor_reshape(x, SHAPE(3, 2)), tensor_transpose(x, 0, 1),
                       tensor_slice(x, 1, 0, 3, 1), tensor_expand(x, SHAPE(2, 2, 3)),
                       tensor_detach(x)};
    ck_assert_int_eq(expect_live_bytes(), live);
    ck_assert_uint_le(memory_system_calls() - calls, 5); // handles at most
    for (int i = 0; i < 5; i++) assert_looks_at(views[i], x);
    tensor_write_floats(x, (float[]){9, 8, 7, 6, 5, 4});
    expect_values(views[0], 9, 8, 7, 6, 5, 4);
    expect_values(views[1], 9, 6, 8, 5, 7, 4);
    expect_values(views[2], 9, 8, 7, 6, 5, 4);
    expect_values(views[3], 9, 8, 7, 6, 5, 4, 9, 8, 7, 6, 5, 4);
    expect_values(views[4], 9, 8, 7, 6, 5, 4);
    scope_close(scope);
    tensor_free(x);
}
END_TEST

START_TEST(a_view_outlives_the_tensor_it_was_taken_of) {
    int64_t live = expect_live_bytes();
    Scope *scope = scope_open();
    Tensor *x = counted_new(SHAPE(2, 3)), *view = tensor_transpose(x, 0, 1);
    tensor_free(x);
    ck_assert_int_eq(expect_live_bytes(), live + 24);
    expect_values(view, 0, 3, 1, 4, 2, 5);
    scope_close(scope);
    ck_assert_int_eq(expect_live_bytes(), live);
}
END_TEST

START_TEST(writing_through_a_view_is_seen_by_its_base_and_counts_as_a_write_to_it) {
    Scope *scope = scope_open();
    Tensor *x = counted_new(SHAPE(2, 3)), *row = tensor_slice(x, 0, 1, 2, 1);
    uint32_t version = x->storage->version;
    ck_assert(tensor_is_contiguous(row));
    tensor_write_floats(row, (float[]){-1, -2, -3});
    expect_values(x, 0, 1, 2, -1, -2, -3);
    ck_assert_uint_eq(x->storage->version, version + 1);
    tensor_data(row)[0] = 50.0f;
    expect_values(x, 0, 1, 2, 50, -2, -3);
    scope_close(scope);
    tensor_free(x);
}
END_TEST

// Values move as if all were read before the first is written.
START_TEST(what_is_assigned_may_lie_in_what_is_written) {
    Scope *scope = scope_open();
    Tensor *x = counted_new(SHAPE(6)), *square = counted_new(SHAPE(3, 3));
    Tensor *even = tensor_slice(x, 0, 0, 6, 2), *first = tensor_slice(x, 0, 0, 3, 1);
    ck_assert_int_eq(tensor_assign(even, first), STATUS_OK);
    expect_values(x, 0, 1, 1, 3, 2, 5);
    ck_assert_int_eq(tensor_assign(tensor_transpose(square, 0, 1), square), STATUS_OK);
    expect_values(square, 0, 3, 6, 1, 4, 7, 2, 5, 8);
    ck_assert_int_eq(tensor_assign(square, square), STATUS_OK);
    expect_values(square, 0, 3, 6, 1, 4, 7, 2, 5, 8);
    scope_close(scope);
    tensor_free(x);
    tensor_free(square);
}
END_TEST

START_TEST(a_transposed_view_swaps_strides) {
    Scope *scope = scope_open();
    Tensor *x = counted_new(SHAPE(2, 3, 4)), *y = tensor_permute(x, (int[]){2, 0, 1});
    ck_assert(shape_equal(tensor_shape(y), SHAPE(4, 2, 3)));
    ck_assert_int_eq(y->stride[0], 1);
    ck_assert_int_eq(y->stride[1], 12);
    ck_assert_int_eq(y->stride[2], 4);
    ck_assert(!tensor_is_contiguous(y));
    ck_assert(tensor_is_contiguous(tensor_permute(y, (int[]){1, 2, 0})));
    ck_assert(tensor_is_contiguous(tensor_permute(tensor_reshape(x, SHAPE(24, 1, 1)),
                                                  (int[]){2, 0, 1}))); // dims of 1 don't count
    scope_close(scope);
    tensor_free(x);
}
END_TEST

START_TEST(a_slice_counts_from_the_end_below_zero) {
    Scope *scope = scope_open();
    Tensor *x = counted_new(SHAPE(5));
    expect_values(tensor_slice(x, 0, -2, SLICE_END, 1), 3, 4);
    expect_values(tensor_slice(x, 0, -5, -2, 2), 0, 2);
    expect_values(tensor_slice(x, -1, 1, -1, 1), 1, 2, 3);
    ck_assert_int_eq(tensor_slice(x, 0, -1, -1, 1)->numel, 0);
    const int64_t bad[][3] = {{-6, 5, 1},        {0, -6, 1}, {-1, -2, 1}, {0, 6, 1},
                              {INT64_MIN, 5, 1}, {6, 5, 1},  {0, 5, 0},   {4, 0, -1}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_ptr_null(tensor_slice(x, 0, bad[i][0], bad[i][1], bad[i][2]));
        expect_error(STATUS_SHAPE, "slice of (5,): [");
    }
    scope_close(scope);
    tensor_free(x);
}
END_TEST

START_TEST(a_slice_has_an_offset_and_a_longer_stride) {
    Scope *scope = scope_open();
    Tensor *x = counted_new(SHAPE(4, 6)), *y = tensor_slice(x, 1, 1, 6, 2);
    ck_assert(shape_equal(tensor_shape(y), SHAPE(4, 3)));
    ck_assert_int_eq(y->offset, 1);
    ck_assert_int_eq(y->stride[0], 6);
    ck_assert_int_eq(y->stride[1], 2);
    Tensor *z = tensor_slice(y, 0, 2, 4, 1); // a slice of a slice
    ck_assert_int_eq(z->offset, 13);
    expect_values(z, 13, 15, 17, 19, 21, 23);
    Tensor *nothing = tensor_slice(z, 0, 2, 2, 1);
    ck_assert_int_eq(nothing->numel, 0);
    ck_assert(tensor_is_contiguous(nothing));
    scope_close(scope);
    tensor_free(x);
}
END_TEST

START_TEST(an_expanded_view_repeats_with_stride_zero_and_counts_its_bytes_once) {
    Scope *scope = scope_open();
    Tensor *x = counted_new(SHAPE(3, 1)), *y = tensor_expand(x, SHAPE(2, 3, 4));
    ck_assert_int_eq(y->stride[0], 0);
    ck_assert_int_eq(y->stride[1], 1);
    ck_assert_int_eq(y->stride[2], 0);
    ck_assert_int_eq(tensor_bytes(y), 96);
    ck_assert_int_eq(tensor_distinct_bytes(y), 12);
    ck_assert(!tensor_is_contiguous(y));
    expect_values(y, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2);
    scope_close(scope);
    tensor_free(x);
}
END_TEST

START_TEST(contiguous_gives_the_tensor_itself_or_a_copy) {
    Scope *scope = scope_open();
    Tensor *x = counted_new(SHAPE(2, 3)), *view = tensor_transpose(x, 0, 1);
    ck_assert_ptr_eq(tensor_contiguous(x), x);
    Tensor *copy = tensor_contiguous(view);
    ck_assert_ptr_ne(copy->storage, x->storage);
    ck_assert(tensor_is_contiguous(copy));
    tensor_write_floats(x, (float[6]){0});
    expect_values(copy, 0, 3, 1, 4, 2, 5);
    scope_close(scope);
    tensor_free(x);
}
END_TEST

START_TEST(reshaping_a_strided_view_copies_it_first) {
    Scope *scope = scope_open();
    Tensor *x = counted_new(SHAPE(2, 3));
    Tensor *flat = tensor_reshape(tensor_transpose(x, 0, 1), SHAPE(-1));
    ck_assert_ptr_ne(flat->storage, x->storage);
    expect_values(flat, 0, 3, 1, 4, 2, 5);
    scope_close(scope);
    tensor_free(x);
}
END_TEST

// ---- random chains of views -------------------------------------------------------------------
static Tensor *random_view(RandomState *random, Tensor *x) {
    int dim = (int)random_next_below(random, x->shape.ndim);
    int64_t size = x->shape.dims[dim];
    switch (random_next_below(random, 4)) {
    case 0:
        return tensor_transpose(x, dim, (int)random_next_below(random, x->shape.ndim));
    case 1: {
        int64_t begin = random_next_below(random, size + 1);
        int64_t end = begin + random_next_below(random, size - begin + 1);
        return tensor_slice(x, dim, begin, end, 1 + random_next_below(random, 3));
    }
    case 2:
        return x->shape.ndim < 5 ? tensor_reshape(x, SHAPE(1, x->numel)) : tensor_detach(x);
    default: {
        Shape shape = tensor_shape(x);
        if (size == 1) shape.dims[dim] = 2;
        return tensor_expand(x, shape);
    }
    }
}

static bool is_dense(const Tensor *t) {
    int64_t expected = 1;
    for (int i = t->shape.ndim - 1; i >= 0; i--) {
        if (t->shape.dims[i] != 1 && t->stride[i] != expected) return t->numel == 0;
        expected *= t->shape.dims[i];
    }
    return true;
}

// Reading by strides and copying by the kernel are separate code for the same result.
START_TEST(any_chain_of_views_reads_as_its_contiguous_copy) {
    RandomState random = {.seed = 1000 + (uint64_t)_i};
    int64_t live = expect_live_bytes();
    for (int chain = 0; chain < 50; chain++) {
        Scope *scope = scope_open();
        Tensor *base = counted_new(SHAPE(2, 3, 4)), *view = base;
        for (int k = 0; k < 6; k++) {
            view = random_view(&random, view);
            ck_assert_msg(view != NULL, "chain %d: %s", chain, error_message());
            ck_assert_int_eq(tensor_is_contiguous(view), is_dense(view));
            if (view->numel > 128) break;
            float read[256];
            ck_assert_int_eq(tensor_read_floats(view, read), STATUS_OK);
            const float *copy = tensor_data(tensor_contiguous(view));
            harness_assert_close(read, copy, view->numel, 0.0, 0.0, "view");
        }
        scope_close(scope);
        tensor_free(base);
    }
    ck_assert_int_eq(expect_live_bytes(), live);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_view_shares_the_storage_and_sees_what_is_written_later, 0},
        {a_view_outlives_the_tensor_it_was_taken_of, 0},
        {writing_through_a_view_is_seen_by_its_base_and_counts_as_a_write_to_it, 0},
        {what_is_assigned_may_lie_in_what_is_written, 0},
        {a_transposed_view_swaps_strides, 0},
        {a_slice_counts_from_the_end_below_zero, 0},
        {a_slice_has_an_offset_and_a_longer_stride, 0},
        {an_expanded_view_repeats_with_stride_zero_and_counts_its_bytes_once, 0},
        {contiguous_gives_the_tensor_itself_or_a_copy, 0},
        {reshaping_a_strided_view_copies_it_first, 0},
        {any_chain_of_views_reads_as_its_contiguous_copy, 20},
        {NULL, 0},
    };
    return harness_main("view", tests);
}
