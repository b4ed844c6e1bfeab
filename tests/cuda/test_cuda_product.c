// test_cuda_product.c -- products on cuda compared with the cpu: every transpose flag, storage
// order, and way to broadcast batches, with sizes 0 and 1 among them. test_cuda.c has larger ones.
#include <stdlib.h>

#include "tensor/ops.h"
#include "tensor/ops/product.h"
#include "tests/cuda/cuda_device.h"
#include "tests/helpers/expect.h"

typedef struct Batches { // leading dims of a and of b
    Shape a, b;
} Batches;

static const Batches batches[] = {
    {{0}, {0}},
    {{1, {3}}, {1, {3}}},
    {{1, {3}}, {0}},
    {{0}, {1, {3}}},
    {{1, {1}}, {1, {3}}},
    {{1, {1}}, {1, {1}}},
    {{2, {2, 3}}, {2, {2, 3}}}, // one call
    {{2, {2, 3}}, {1, {3}}},    // two calls of three
    {{2, {2, 1}}, {2, {1, 3}}},
    {{2, {2, 3}}, {2, {2, 1}}},
    {{3, {2, 3, 2}}, {3, {2, 1, 2}}},
    {{4, {2, 1, 3, 2}}, {2, {3, 1}}},
    {{1, {0}}, {1, {0}}},
    {{1, {0}}, {1, {1}}},
};
enum { BATCHES = sizeof(batches) / sizeof(batches[0]), ORDERS = 16 };

static const int64_t sizes[][3] = {{2, 3, 4}, {1, 5, 3}, {4, 1, 3}, {3, 4, 1},  {1, 1, 1},
                                   {3, 2, 0}, {0, 3, 2}, {2, 0, 3}, {17, 9, 33}};
enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };

// A (..., rows, columns) tensor; `turned`: its last two dims are stored swapped.
static Tensor *operand_new(Shape lead, int64_t rows, int64_t columns, bool turned) {
    Shape shape = lead;
    int64_t numel = 1;
    shape.dims[shape.ndim++] = turned ? columns : rows;
    shape.dims[shape.ndim++] = turned ? rows : columns;
    for (int i = 0; i < shape.ndim; i++) numel *= shape.dims[i];
    float *values = calloc((size_t)numel + 1, sizeof *values);
    for (int64_t i = 0; i < numel; i++) values[i] = (float)(i * 37 % 23) / 8.0f - 1.3f;
    Tensor *t = tensor_from_floats_new(shape, values);
    free(values);
    return t;
}

// Bits of `order`: a's and b's transpose flag, and whether a and b are views of transposed storage.
static Tensor *product_in_scope(const Batches *lead, const int64_t size[3], unsigned order,
                                Tensor *operands[2]) {
    int64_t m = size[0], n = size[1], k = size[2];
    bool ta = order & 1, tb = order & 2, turn_a = order & 4, turn_b = order & 8;
    operands[0] = operand_new(lead->a, ta ? k : m, ta ? m : k, turn_a);
    operands[1] = operand_new(lead->b, tb ? n : k, tb ? k : n, turn_b);
    Tensor *a = turn_a ? tensor_transpose(operands[0], -1, -2) : operands[0];
    Tensor *b = turn_b ? tensor_transpose(operands[1], -1, -2) : operands[1];
    OpParams params = {.flags = (ta ? MATMUL_TRANS_A : 0) | (tb ? MATMUL_TRANS_B : 0)};
    return OP_RUN(op_matmul, &params, a, b);
}

static float *product_values(Device *device, const Batches *lead, const int64_t size[3],
                             unsigned order, int64_t *numel) {
    Tensor *operands[2];
    context_set_device(device);
    Scope *scope = scope_open();
    Tensor *c = product_in_scope(lead, size, order, operands);
    ck_assert_msg(c != NULL, "%s", error_message());
    float *values = calloc((size_t)c->numel + 1, sizeof *values);
    ck_assert_int_eq(tensor_read_floats(c, values), STATUS_OK);
    *numel = c->numel;
    scope_close(scope);
    tensor_free(operands[0]);
    tensor_free(operands[1]);
    return values;
}

static void check_product(Device *device, const Batches *lead, const int64_t size[3],
                          unsigned order) {
    char what[96];
    int64_t count, numel;
    float *want = product_values(device_cpu(), lead, size, order, &numel);
    float *got = product_values(device, lead, size, order, &count);
    snprintf(what, sizeof what, "(%d x %d x %d), order %u", (int)size[0], (int)size[1],
             (int)size[2], order);
    ck_assert_int_eq(count, numel);
    harness_assert_close(got, want, numel, 1e-5, 1e-5, what);
    free(want);
    free(got);
}

START_TEST(every_order_and_size_gives_the_cpus_product) { // for one way to broadcast
    Device *device = cuda_device_use();
    for (int i = 0; i < SIZES; i++)
        for (unsigned order = 0; order < ORDERS; order++)
            check_product(device, &batches[_i], sizes[i], order);
}
END_TEST

// A part of a larger matrix: its rows lie further apart than they are long.
START_TEST(a_part_of_a_matrix_is_read_where_it_lies) {
    Device *devices[] = {device_cpu(), cuda_device_use()};
    float values[2][3 * 4];
    for (int d = 0; d < 2; d++) {
        context_set_device(devices[d]);
        Scope *scope = scope_open();
        Tensor *whole = operand_new((Shape){0}, 7, 9, false);
        Tensor *a = tensor_slice(tensor_slice(whole, 0, 2, 5, 1), 1, 1, 6, 1); // (3, 5)
        Tensor *b = tensor_slice(tensor_slice(whole, 0, 1, 6, 1), 1, 3, 7, 1); // (5, 4)
        Tensor *c = tensor_matmul(a, b);
        ck_assert_msg(c != NULL, "%s", error_message());
        tensor_read_floats(c, values[d]);
        scope_close(scope);
        tensor_free(whole);
    }
    harness_assert_close(values[1], values[0], 12, 1e-5, 1e-5, "a part");
}
END_TEST

// The kernel adds four neighbours at once if size and pointers allow it; here a pointer does not.
START_TEST(a_bias_at_an_odd_address_is_added_right) {
    Device *devices[] = {device_cpu(), cuda_device_use()};
    float values[2][3 * 8];
    for (int d = 0; d < 2; d++) {
        context_set_device(devices[d]);
        Scope *scope = scope_open();
        Tensor *x = operand_new((Shape){0}, 3, 5, false);
        Tensor *weight = operand_new((Shape){0}, 8, 5, false);
        Tensor *longer = operand_new((Shape){0}, 1, 9, false);
        Tensor *bias = tensor_slice(tensor_reshape(longer, SHAPE(9)), 0, 1, 9, 1);
        Tensor *y = tensor_linear(x, weight, bias, &op_gelu);
        ck_assert_msg(y != NULL, "%s", error_message());
        tensor_read_floats(y, values[d]);
        scope_close(scope);
        tensor_free(x);
        tensor_free(weight);
        tensor_free(longer);
    }
    harness_assert_close(values[1], values[0], 24, 1e-5, 1e-5, "linear");
}
END_TEST

// An op defined by the program, for which the device has no formula.
static void cube_row(const float *x, float *y, int64_t n, const OpParams *params) {
    (void)params;
    for (int64_t i = 0; i < n; i++) y[i] = x[i] * x[i] * x[i];
}
static const Op cube = {.name = "cube",
                        .module = "Cube",
                        .n_inputs = 1,
                        .work = op_work_elements,
                        .infer = op_infer_same,
                        .row = cube_row};

START_TEST(what_the_device_does_not_know_is_neither_run_nor_fused) {
    context_set_device(cuda_device_use());
    Scope *scope = scope_open();
    Tensor *x = operand_new((Shape){0}, 3, 5, false);
    ck_assert_ptr_null(OP_RUN(cube, NULL, x));
    expect_error(STATUS_NOT_IMPLEMENTED, "cube of (3, 5): has no kernel on cuda");
    ck_assert_ptr_null(tensor_linear(x, x, NULL, &cube));
    expect_error(STATUS_NOT_IMPLEMENTED, "cannot fuse cube on cuda");
    for (int i = 0; op_activation_at(i); i++)
        ck_assert_ptr_nonnull(tensor_linear(x, x, NULL, op_activation_at(i)));
    scope_close(scope);
    tensor_free(x);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {every_order_and_size_gives_the_cpus_product, BATCHES},
        {a_part_of_a_matrix_is_read_where_it_lies, 0},
        {a_bias_at_an_odd_address_is_added_right, 0},
        {what_the_device_does_not_know_is_neither_run_nor_fused, 0},
        {NULL, 0},
    };
    return harness_main("cuda_product", tests);
}
