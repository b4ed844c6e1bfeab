// test_embedding.c -- embedding and flatten beyond the op cases: refused indices and the messages,
// cost, the layers, and memory that runs out in a model of them.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "layers/cost.h"
#include "layers/train/fit.h"
#include "tensor/memory.h"
#include "tests/helpers/expect.h"

// ---- the op -----------------------------------------------------------------------------------
START_TEST(equal_indices_add_up_and_rows_without_one_get_zero) {
    Scope *scope = scope_open();
    Tensor *table = tensor_from_floats_new(SHAPE(3, 2), (float[]){1, 2, 3, 4, 5, 6});
    Tensor *index = tensor_from_labels_new(SHAPE(2, 2), (int64_t[]){2, 0, 2, 2});
    tensor_requires_grad(table, true);
    for (int step = 1; step <= 2; step++) {
        Tensor *y = tensor_embedding(index, table);
        expect_values(y, 5, 6, 1, 2, 5, 6, 5, 6);
        Tensor *start =
            tensor_from_floats_new(SHAPE(2, 2, 2), (float[]){1, 2, 10, 20, 100, 200, 1000, 2000});
        ck_assert_int_eq(autograd_backward_from(y, start), STATUS_OK);
        float s = (float)step;
        expect_values(tensor_grad(table), s * 10, s * 20, 0, 0, s * 1101, s * 2202);
        tensor_free(start);
    }
    tensor_free(table);
    tensor_free(index);
    scope_close(scope);
}
END_TEST

// As PyTorch's functional.embedding(..., padding_idx=...): that row gets nothing, not even NaN.
START_TEST(padding_has_no_gradient) {
    static const float wanted[2][6] = {{0, 0, 10, 20, 100, 200}, {1, 2, 10, 20, 0, 0}};
    Tensor *table = tensor_from_floats_new(SHAPE(3, 2), (float[]){1, 2, 3, 4, 5, 6});
    Tensor *index = tensor_from_labels_new(SHAPE(3), (int64_t[]){0, 1, 2});
    tensor_requires_grad(table, true);
    for (int i = 0; i < 4; i++) {
        Scope *scope = scope_open();
        Tensor *y = tensor_embedding_padded(index, table, i < 2 ? 0 : -1);
        expect_values(y, 1, 2, 3, 4, 5, 6);
        float start[] = {i < 2 ? NAN : 1, 2, 10, 20, 100, i < 2 ? 200 : NAN};
        Tensor *given = tensor_from_floats_new(SHAPE(3, 2), start);
        ck_assert_int_eq(autograd_backward_from(y, given), STATUS_OK);
        const float *dtable = tensor_data(tensor_grad(table)); // the second gradient is added
        for (int k = 0; k < 6; k++) ck_assert(dtable[k] == (float)(1 + i % 2) * wanted[i / 2][k]);
        if (i == 1) tensor_zero_grad(table);
        tensor_free(given);
        scope_close(scope);
    }
    for (int i = 0; i < 4; i++) {
        const int64_t none = (int64_t[]){3, -4, INT64_MAX, INT64_MIN}[i];
        ck_assert_ptr_null(tensor_embedding_padded(index, table, none));
        expect_error(STATUS_INVALID_ARGUMENT, "of 3 rows. HINT: ");
        ck_assert_ptr_null(embedding_new_padded(3, 2, none));
        expect_error(STATUS_INVALID_ARGUMENT, "of 3 rows. HINT: ");
    }
    tensor_free(table);
    tensor_free(index);
}
END_TEST

START_TEST(a_padded_layer_begins_with_a_row_of_zeros) {
    Layer *layer = embedding_new_padded(3, 2, -2);
    const float *weight = tensor_data(layer->parameters[0].tensor);
    for (int i = 0; i < 6; i++) ck_assert_int_eq(weight[i] == 0.0f, i / 2 == 1);
    int64_t row;
    ck_assert(layer_attribute(layer, "padding_idx", &row) && row == 1);
    layer_free(layer);
}
END_TEST

START_TEST(stray_indices_are_refused_with_their_place) {
    Scope *scope = scope_open();
    Tensor *table = tensor_zeros_new(SHAPE(3, 2)), *narrow = tensor_zeros_new(SHAPE(3, 0));
    Tensor *nothing = tensor_zeros_new(SHAPE(0, 2)), *cube = tensor_zeros_new(SHAPE(3, 1, 2));
    Tensor *index = tensor_from_labels_new(SHAPE(2, 2), (int64_t[]){0, 2, 3, 0});
    ck_assert_ptr_null(tensor_embedding(index, table));
    expect_error(STATUS_INVALID_ARGUMENT,
                 "embedding of (2, 2), (3, 2): index 3 at (1, 0) is not in [0, 3). HINT: ");
    ck_assert_ptr_null(tensor_embedding(index, narrow));
    expect_error(STATUS_INVALID_ARGUMENT, "index 3 at (1, 0)");
    ck_assert_ptr_null(tensor_embedding(index, nothing));
    expect_error(STATUS_INVALID_ARGUMENT, "index 0 at (0, 0) is not in [0, 0)");
    ck_assert_ptr_null(tensor_embedding(index, cube));
    expect_error(STATUS_SHAPE, "the table is no matrix");
    int64_t large = (1LL << 32) + 1; // 32 bits would see 1
    Tensor *far = tensor_from_labels_new(SHAPE_SCALAR, &large);
    ck_assert_ptr_null(tensor_embedding(far, table));
    expect_error(STATUS_INVALID_ARGUMENT, "index 4294967297 at ()");
    Tensor *none = tensor_from_labels_new(SHAPE(0, 4), NULL);
    ck_assert(shape_equal(tensor_shape(tensor_embedding(none, nothing)), SHAPE(0, 4, 2)));
    Tensor *deep = tensor_from_labels_new(SHAPE(1, 1, 1, 1, 1, 1), (int64_t[]){0});
    ck_assert_ptr_null(tensor_embedding(deep, table));
    expect_error(STATUS_SHAPE, "one dimension more");
    Tensor *made[] = {table, narrow, nothing, cube, index, far, none, deep};
    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++) tensor_free(made[i]);
    scope_close(scope);
}
END_TEST

// The cost counts the rows read, at most as many as the table has.
START_TEST(the_cost_is_that_of_the_rows_picked) {
    static const int64_t counts[] = {50257, 20}; // numbers of rows; 24 are picked
    for (int i = 0; i < 2; i++) {
        context_set_device(device_meta());
        Layer *layer = embedding_new(counts[i], 16);
        Tensor *index = tensor_new(SHAPE(4, 6), DTYPE_INT64);
        uint64_t rows = counts[i] < 24 ? (uint64_t)counts[i] : 24;
        LayerCost cost;
        ck_assert_int_eq(layer_cost(layer, &index, 1, &cost), STATUS_OK);
        ck_assert_uint_eq(op_cost_total_flops(cost.phase[PHASE_FORWARD]), 0);
        ck_assert_uint_eq(cost.phase[PHASE_FORWARD].bytes_read, 8 * 24 + 4 * 16 * rows);
        ck_assert_uint_eq(cost.phase[PHASE_FORWARD].bytes_written, 4 * 16 * 24);
        const OpCost *weight = &cost.phase[PHASE_BACKWARD_WEIGHT];
        ck_assert_uint_eq(weight->elementwise_flops, 16 * 24);
        ck_assert_uint_eq(weight->bytes_read, 8 * 24 + 4 * 16 * 24);
        ck_assert_uint_eq(weight->bytes_written, 4 * 16 * (uint64_t)counts[i]);
        ck_assert_int_eq(cost.saved_bytes, 0);
        tensor_free(index);
        layer_free(layer);
    }
}
END_TEST

// ---- layers -----------------------------------------------------------------------------------
START_TEST(an_embedding_starts_as_pytorchs_does) {
    char text[128];
    enum { COUNT = 200, FEATURES = 100, N = COUNT * FEATURES };
    Layer *layer = embedding_new(COUNT, FEATURES);
    ck_assert_str_eq(layer->type->name, "Embedding");
    ck_assert_str_eq(layer_attributes_text(layer, text, sizeof text),
                     "num_embeddings=200, embedding_dim=100");
    ck_assert_int_eq(layer->n_parameters, 1);
    ck_assert_str_eq(layer->parameters[0].name, "weight");
    const float *values = tensor_data(layer->parameters[0].tensor);
    double sum = 0.0, squares = 0.0;
    for (int i = 0; i < N; i++) sum += (double)values[i];
    for (int i = 0; i < N; i++) squares += (double)values[i] * (double)values[i];
    ck_assert_double_le(fabs(sum / N), 5.0 / sqrt(N)); // five standard deviations
    ck_assert_double_le(fabs(squares / N - 1.0), 5.0 * sqrt(2.0 / N));
    ck_assert_ptr_null(embedding_new(-1, 3));
    expect_error(STATUS_INVALID_ARGUMENT, "a table of -1 x 3");
    Tensor *x = tensor_zeros_new(SHAPE(2)), *both[] = {x, x};
    Scope *scope = scope_open();
    ck_assert_ptr_null(layer_forward(layer, x));
    expect_error(STATUS_DTYPE, "input 0 is float32");
    ck_assert_ptr_null(layer_forward_many(layer, both, 2));
    expect_error(STATUS_INVALID_ARGUMENT, "Embedding takes one input, got 2");
    scope_close(scope);
    tensor_free(x);
    layer_free(layer);
}
END_TEST

static const struct {
    int start, end;
    Shape in, out; // ndim -1: refused
} flattened[] = {
    {1, -1, {3, {2, 3, 4}}, {2, {2, 12}}},
    {0, -1, {3, {2, 3, 4}}, {1, {24}}},
    {0, 1, {3, {2, 3, 4}}, {2, {6, 4}}},
    {-2, -1, {4, {2, 3, 4, 5}}, {3, {2, 3, 20}}},
    {1, 1, {3, {2, 3, 4}}, {3, {2, 3, 4}}},
    {1, 2, {4, {2, 3, 4, 5}}, {3, {2, 12, 5}}},
    {1, -1, {3, {0, 3, 4}}, {2, {0, 12}}},
    {1, -1, {3, {2, 0, 4}}, {2, {2, 0}}},
    {0, -1, {0, {0}}, {1, {1}}},
    {0, 0, {1, {7}}, {1, {7}}},
    {1, -1, {6, {2, 1, 3, 1, 2, 1}}, {2, {2, 6}}},
    {2, 1, {3, {2, 3, 4}}, {-1, {0}}},
    {1, -1, {1, {7}}, {-1, {0}}},
    {-4, -1, {3, {2, 3, 4}}, {-1, {0}}},
    {0, 3, {3, {2, 3, 4}}, {-1, {0}}},
    {1, -1, {0, {0}}, {-1, {0}}},
};
enum { FLATTENED = sizeof flattened / sizeof flattened[0] };

START_TEST(flatten_joins_neighbours_as_pytorch_does) {
    Layer *layer = flatten_new(flattened[_i].start, flattened[_i].end);
    Tensor *x = tensor_normal_new(flattened[_i].in, 0.0f, 1.0f);
    Scope *scope = scope_open();
    Tensor *y = layer_forward(layer, x);
    if (flattened[_i].out.ndim < 0) {
        ck_assert_ptr_null(y);
        expect_error(STATUS_SHAPE, "HINT");
    } else {
        ck_assert_msg(y != NULL, "%s", error_message());
        ck_assert(shape_equal(tensor_shape(y), flattened[_i].out));
        ck_assert_ptr_eq(y->storage, x->storage); // nothing was copied
    }
    scope_close(scope);
    tensor_free(x);
    layer_free(layer);
}
END_TEST

START_TEST(flatten_says_what_it_does) {
    char text[128];
    Layer *layer = flatten_new(1, -1);
    Tensor *x = tensor_zeros_new(SHAPE(5)), *both[] = {x, x};
    ck_assert_str_eq(layer_attributes_text(layer, text, sizeof text), "start_dim=1, end_dim=-1");
    ck_assert_ptr_null(layer_forward(layer, x));
    ck_assert_int_eq(strncmp(error_message(), "Flatten", 7), 0); // layer_forward adds its path
    expect_error(STATUS_SHAPE, "Flatten of (5,): there are no dimensions 1 to -1");
    ck_assert_ptr_null(layer_forward_many(layer, both, 2));
    expect_error(STATUS_INVALID_ARGUMENT, "Flatten takes one input, got 2");
    tensor_free(x);
    layer_free(layer);
}
END_TEST

// ---- a model with all of them -----------------------------------------------------------------
enum { WORDS = 11, WIDTH = 6, LENGTH = 4, CLASSES = 3, BATCH = 5 };

static Layer *model_new(void) {
    Layer *model = sequential_new();
    if (!model) return NULL;
    if (layer_add_child(model, "embed", embedding_new(WORDS, WIDTH)) ||
        layer_add_child(model, "norm", layer_norm_new(SHAPE(WIDTH), 1e-5f, true)) ||
        layer_add_child(model, "plain", layer_norm_new(SHAPE(LENGTH, WIDTH), 1e-5f, false)) ||
        layer_add_child(model, "flatten", flatten_new(1, -1)) ||
        layer_add_child(model, "head", linear_new(LENGTH * WIDTH, CLASSES, true))) {
        layer_free(model);
        return NULL;
    }
    return model;
}

static Status train(int steps, double *first, double *last) {
    int64_t words[BATCH * LENGTH], labels[BATCH];
    for (int i = 0; i < BATCH * LENGTH; i++) words[i] = i * 7 % WORDS;
    for (int i = 0; i < BATCH; i++) labels[i] = i % CLASSES;
    Tensor *x = NULL, *y = NULL;
    Layer *model = model_new();
    Optimizer *optimizer = model ? optimizer_new(model, optimizer_defaults(OPTIMIZER_ADAM)) : NULL;
    if (optimizer) x = tensor_from_labels_new(SHAPE(BATCH, LENGTH), words);
    if (x) y = tensor_from_labels_new(SHAPE(BATCH), labels);
    Status status = error_status();
    for (int i = 0; i < steps && !status; i++) {
        status = train_step(model, optimizer, x, y, last);
        if (i == 0) *first = *last;
    }
    tensor_free(x);
    tensor_free(y);
    optimizer_free(optimizer);
    layer_free(model);
    return status;
}

START_TEST(a_model_of_words_learns) {
    double first = 0.0, last = 0.0;
    ck_assert_msg(train(200, &first, &last) == STATUS_OK, "%s", error_message());
    ck_assert_msg(last < 0.5 * first, "loss %g at first, %g in the end", first, last);
}
END_TEST

START_TEST(any_request_may_fail_and_everything_is_freed) {
    double loss;
    for (uint64_t n = 1;; n++) {
        Context *context = context_new();
        context_push(context);
        context_set_threads(1);
        memory_fail_at(n);
        Status status = train(2, &loss, &loss);
        memory_fail_at(0);
        if (status) {
            ck_assert_msg(status == STATUS_OUT_OF_MEMORY && error_status() == status,
                          "request %llu: %s: %s", (unsigned long long)n, status_name(status),
                          error_message());
            error_clear();
        }
        if (context->ledger) ck_assert_int_eq(context->ledger->live.total, 0);
        context_pop();
        context_free(context);
        if (status) continue;
        ck_assert_uint_gt(n, 100); // n is beyond the last allocation
        break;
    }
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {equal_indices_add_up_and_rows_without_one_get_zero, 0},
        {padding_has_no_gradient, 0},
        {a_padded_layer_begins_with_a_row_of_zeros, 0},
        {stray_indices_are_refused_with_their_place, 0},
        {the_cost_is_that_of_the_rows_picked, 0},
        {an_embedding_starts_as_pytorchs_does, 0},
        {flatten_joins_neighbours_as_pytorch_does, FLATTENED},
        {flatten_says_what_it_does, 0},
        {a_model_of_words_learns, 0},
        {any_request_may_fail_and_everything_is_freed, 0},
        {NULL, 0},
    };
    return harness_main("embedding", tests);
}
