// test_limits.c -- large numbers: sums of very many elements, labels that float cannot hold, sizes
// that a BLAS cannot count, steps beyond the end; and messages about values out of range.
#include "autograd/autograd.h"
#include "tests/helpers/expect.h"

// ---- sums -------------------------------------------------------------------------------------
static Tensor *sum_to(Tensor *x, Shape shape) {
    return OP_RUN(op_sum_to, (&(OpParams){.shape = shape}), x);
}

START_TEST(a_million_tenths_are_summed_as_well_over_rows_as_over_columns) {
    enum { N = 1 << 20 };
    const float sum = 0.1f * (float)N, want[2] = {sum, sum};
    Scope *scope = scope_open();
    Tensor *x = tensor_full_new(SHAPE(N, 2), 0.1f), *grad[3];
    grad[0] = sum_to(x, SHAPE(1, 2));
    grad[1] = sum_to(tensor_reshape(x, SHAPE(2, N)), SHAPE(2, 1));
    grad[2] = sum_to(tensor_reshape(x, SHAPE(N / 4, 2, 4)), SHAPE(2, 1)); // rows of 4
    for (int i = 0; i < 3; i++)
        harness_assert_close(tensor_data(grad[i]), want, 2, 0.0, 1e-5, "sum");
    scope_close(scope);
    tensor_free(x);
}
END_TEST

// Every way to reduce some of four dimensions, compared with a loop; the sums are exact.
START_TEST(any_dimensions_can_be_summed_away) {
    enum { A = 2, B = 3, C = 4, D = 300, N = A * B * C * D };
    static float values[N];
    for (int i = 0; i < N; i++) values[i] = (float)(i % 97);
    Tensor *x = tensor_from_floats_new(SHAPE(A, B, C, D), values);
    int a = _i & 1 ? A : 1, b = _i & 2 ? B : 1, c = _i & 4 ? C : 1, d = _i & 8 ? D : 1;
    static float want[N];
    for (int i = 0; i < N; i++) {
        int at[4] = {i / (B * C * D) % a, i / (C * D) % B % b, i / D % C % c, i % D % d};
        want[((at[0] * b + at[1]) * c + at[2]) * d + at[3]] += values[i];
    }
    Scope *scope = scope_open();
    Tensor *y = sum_to(x, SHAPE(a, b, c, d));
    harness_assert_close(tensor_data(y), want, a * b * c * d, 0.0, 0.0, "sum");
    scope_close(scope);
    tensor_free(x);
}
END_TEST

// ---- integers ---------------------------------------------------------------------------------
START_TEST(the_item_of_labels_is_exact) {
    int64_t label = ((int64_t)1 << 24) + 1;
    Tensor *labels = tensor_from_labels_new(SHAPE_SCALAR, &label);
    ck_assert(tensor_item(labels) == 16777217.0);
    tensor_free(labels);
}
END_TEST

// ---- products ---------------------------------------------------------------------------------
static int contiguous_calls;
static void count_copies(Observer *self, const OpCall *call) {
    (void)self;
    contiguous_calls += call->op == &op_contiguous;
}

START_TEST(sizes_that_a_blas_cannot_count_are_refused) {
    const int64_t big = ((int64_t)1 << 31) + 8;
    const int64_t sizes[3][3] = {{big, 2, 3}, {2, big, 3}, {2, 3, big}}; // m, n, k
    context_set_device(device_meta());
    for (int i = 0; i < 3; i++) {
        int64_t m = sizes[i][0], n = sizes[i][1], k = sizes[i][2];
        Tensor *a = tensor_zeros_new(SHAPE(m, k)), *b = tensor_zeros_new(SHAPE(k, n));
        Tensor *weight = tensor_zeros_new(SHAPE(n, k));
        Scope *scope = scope_open();
        ck_assert_ptr_null(tensor_matmul(a, b));
        expect_error(STATUS_OVERFLOW, "sizes end at 2^31 - 1");
        ck_assert_ptr_null(tensor_linear(a, weight, NULL, NULL));
        expect_error(STATUS_OVERFLOW, "sizes end at 2^31 - 1");
        scope_close(scope);
        tensor_free(a);
        tensor_free(b);
        tensor_free(weight);
    }
    context_set_device(device_cpu());
}
END_TEST

START_TEST(rows_too_far_apart_for_a_blas_are_copied_together) {
    context_set_device(device_meta());
    Tensor *x = tensor_zeros_new(SHAPE(2, ((int64_t)1 << 31) + 64)), *b;
    b = tensor_zeros_new(SHAPE(64, 5));
    Observer observer = {.op_end = count_copies};
    observer_add(&observer);
    Scope *scope = scope_open();
    ck_assert_ptr_nonnull(tensor_matmul(tensor_slice(x, 1, 0, 64, 1), b));
    ck_assert_int_eq(contiguous_calls, 1);
    Tensor *columns = tensor_transpose(tensor_slice(x, 1, 0, 64, 1), 0, 1); // (64, 2)
    ck_assert_ptr_nonnull(tensor_matmul(columns, tensor_transpose(columns, 0, 1)));
    ck_assert_int_eq(contiguous_calls, 3);
    scope_close(scope);
    observer_remove(&observer);
    tensor_free(x);
    tensor_free(b);
    context_set_device(device_cpu());
}
END_TEST

// ---- slices -----------------------------------------------------------------------------------
START_TEST(a_step_beyond_the_end_takes_one_index) {
    Tensor *x = tensor_from_floats_new(SHAPE(3, 2), (float[]){1, 2, 3, 4, 5, 6});
    tensor_requires_grad(x, true);
    Scope *scope = scope_open();
    Tensor *y = tensor_slice(x, 0, 1, 3, INT64_MAX);
    expect_values(y, 3, 4);
    ck_assert_int_eq(y->stride[0], 2); // not 2 * INT64_MAX, which overflows
    autograd_backward(tensor_sum(y, DIM_ALL, false));
    expect_values(tensor_grad(x), 0, 0, 1, 1, 0, 0);
    scope_close(scope);
    tensor_free(x);
}
END_TEST

// ---- counts and messages ----------------------------------------------------------------------
static uint64_t flops;
static void add_flops(Observer *self, const OpCall *call) {
    (void)self;
    flops += op_cost_total_flops(op_cost(call));
}

START_TEST(the_minus_of_a_difference_costs_no_flops) {
    Tensor *a = tensor_zeros_new(SHAPE(10)), *b = tensor_zeros_new(SHAPE(10));
    tensor_requires_grad(b, true);
    Scope *scope = scope_open();
    Tensor *difference = tensor_sub(a, b), *start = tensor_full_new(SHAPE(10), 1.0f);
    Observer observer = {.op_end = add_flops};
    observer_add(&observer);
    ck_assert_int_eq(autograd_backward_from(difference, start), STATUS_OK);
    observer_remove(&observer);
    ck_assert_uint_eq(flops, 0);
    expect_values(tensor_grad(b), -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
    scope_close(scope);
    tensor_free(start);
    tensor_free(a);
    tensor_free(b);
}
END_TEST

START_TEST(more_bytes_than_a_sum_holds_are_refused) {
    enum { PARTS = 8 }; // of 2^60 bytes each; the sum of all is 2^63
    Tensor *part[PARTS];
    context_set_device(device_meta());
    for (int i = 0; i < PARTS; i++) part[i] = tensor_zeros_new(SHAPE((int64_t)1 << 58));
    for (int i = 0; i < PARTS; i++) ck_assert((part[i] == NULL) == (i == PARTS - 1));
    expect_error(STATUS_OUT_OF_MEMORY, "1152921504606846976 bytes asked, 8070450532247928832 live");
    for (int i = 0; i < PARTS; i++) tensor_free(part[i]);
    context_set_device(device_cpu());
}
END_TEST

START_TEST(messages_name_what_was_asked_for) {
    Tensor *x = tensor_zeros_new(SHAPE(2, 3));
    Scope *scope = scope_open();
    ck_assert_ptr_null(tensor_sum(x, -5, false));
    expect_error(STATUS_SHAPE, "no dimension -5");
    ck_assert_ptr_null(tensor_softmax(tensor_sum(x, DIM_ALL, false), 0));
    expect_error(STATUS_SHAPE, "softmax of (): no dimension 0. HINT: a scalar has none");
    ck_assert_ptr_null(tensor_activation(NULL, NULL));
    expect_error(STATUS_INVALID_ARGUMENT, "there is no tensor");
    scope_close(scope);
    tensor_free(x);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_million_tenths_are_summed_as_well_over_rows_as_over_columns, 0},
        {any_dimensions_can_be_summed_away, 16},
        {the_item_of_labels_is_exact, 0},
        {sizes_that_a_blas_cannot_count_are_refused, 0},
        {rows_too_far_apart_for_a_blas_are_copied_together, 0},
        {a_step_beyond_the_end_takes_one_index, 0},
        {the_minus_of_a_difference_costs_no_flops, 0},
        {more_bytes_than_a_sum_holds_are_refused, 0},
        {messages_name_what_was_asked_for, 0},
        {NULL, 0},
    };
    return harness_main("limits", tests);
}
