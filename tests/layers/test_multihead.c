// test_multihead.c -- attention with several heads, compared with PyTorch's; positions; refusals,
// attributes and costs. test_attention.c tests the op beneath.
#include <math.h>
#include <string.h>

#include "layers/attention.h"
#include "layers/cost.h"
#include "tensor/memory.h"
#include "tests/fixtures/attention.h"
#include "tests/helpers/expect.h"

enum { FIXTURES = sizeof attention_fixtures / sizeof *attention_fixtures };

// ---- PyTorch --------------------------------------------------------------------------------
static Tensor *take_new(const float **at, Shape shape) {
    Tensor *t = tensor_from_floats_new(shape, *at);
    *at += t->numel;
    return t;
}

static void take_parameter(const float **at, Tensor *parameter) {
    memcpy(tensor_data(parameter), *at, (size_t)tensor_bytes(parameter));
    *at += parameter->numel;
}

static void expect_next(const float **at, const Tensor *got, const char *what) {
    ck_assert_msg(got != NULL, "%s: there is none", what);
    harness_assert_close(tensor_data((Tensor *)got), *at, got->numel, 2e-6, 4e-6, what);
    *at += got->numel;
}

static Layer *layer_of(const struct AttentionFixture *f, bool by_formula) {
    MultiheadAttentionOptions options = multihead_attention_defaults();
    options.bias = f->bias != 0;
    options.causal = f->causal != 0;
    options.by_formula = by_formula;
    options.kdim = f->kdim;
    options.vdim = f->vdim;
    return multihead_attention_new(f->features, f->heads, options);
}

static void check_fixture(const struct AttentionFixture *f, bool by_formula) {
    const float *at = f->numbers;
    Layer *layer = layer_of(f, by_formula);
    ParameterList list;
    Tensor *in[4] = {take_new(&at, SHAPE(f->batch, f->queries, f->features))};
    int n = f->cross ? 3 : 1;
    for (int i = 1; i < n; i++)
        in[i] = take_new(&at, SHAPE(f->batch, f->keys, i == 1 ? f->kdim : f->vdim));
    if (f->masked) in[n] = take_new(&at, SHAPE(f->queries, f->keys));
    for (int i = 0; i < n; i++) tensor_requires_grad(in[i], true);
    ck_assert_int_eq(layer_parameters(layer, &list), STATUS_OK);
    for (int i = 0; i < list.count; i++) take_parameter(&at, list.items[i].tensor);
    Tensor *start = take_new(&at, tensor_shape(in[0]));
    Scope *scope = scope_open();
    Tensor *y = layer_forward_many(layer, in, n + (f->masked ? 1 : 0));
    ck_assert_msg(y != NULL, "%s", error_message());
    expect_next(&at, y, "output");
    ck_assert_int_eq(autograd_backward_from(y, start), STATUS_OK);
    for (int i = 0; i < n; i++) expect_next(&at, tensor_grad(in[i]), "gradient of an input");
    for (int i = 0; i < list.count; i++)
        expect_next(&at, tensor_grad(list.items[i].tensor), list.items[i].path);
    scope_close(scope);
    for (int i = 0; i < 4; i++) tensor_free(in[i]);
    tensor_free(start);
    parameter_list_free(&list);
    layer_free(layer);
    ck_assert_int_eq(expect_live_bytes(), 0);
}

START_TEST(it_agrees_with_pytorchs) {
    check_fixture(&attention_fixtures[_i], false);
    check_fixture(&attention_fixtures[_i], true);
}
END_TEST

// ---- initial values -------------------------------------------------------------------------
START_TEST(parameters_begin_as_pytorchs) {
    enum { E = 96 };
    Layer *layer = multihead_attention_new(E, 8, multihead_attention_defaults());
    static const char *const paths[] = {"in_proj_weight", "in_proj_bias", "out_proj.weight",
                                        "out_proj.bias"};
    const float bounds[] = {sqrtf(6.0f / (4 * E)), 0.0f, 1.0f / sqrtf(E), 0.0f};
    const Shape shapes[] = {SHAPE(3 * E, E), SHAPE(3 * E), SHAPE(E, E), SHAPE(E)};
    ParameterList list;
    ck_assert_int_eq(layer_parameters(layer, &list), STATUS_OK);
    ck_assert_int_eq(list.count, 4);
    for (int i = 0; i < 4; i++) {
        Tensor *t = list.items[i].tensor;
        float largest = 0.0f;
        ck_assert_str_eq(list.items[i].path, paths[i]);
        ck_assert(shape_equal(tensor_shape(t), shapes[i]));
        for (int64_t j = 0; j < t->numel; j++) largest = fmaxf(largest, fabsf(tensor_data(t)[j]));
        ck_assert_msg(largest <= bounds[i] && largest >= 0.99f * bounds[i], "%s: %g, bound %g",
                      paths[i], (double)largest, (double)bounds[i]);
    }
    char text[256];
    ck_assert_str_eq(layer_attributes_text(layer, text, sizeof text),
                     "embed_dim=96, num_heads=8, bias=true, dropout=0, causal=false, "
                     "by_formula=false");
    parameter_list_free(&list);
    layer_free(layer);
}
END_TEST

// Each weight by its own fan in and fan out: sqrt(6 / (rows + columns)).
START_TEST(keys_and_values_of_other_features_have_weights_of_their_own) {
    enum { E = 96 };
    MultiheadAttentionOptions options = multihead_attention_defaults();
    options.kdim = 48;
    options.vdim = 160;
    Layer *layer = multihead_attention_new(E, 8, options);
    static const char *const paths[] = {"q_proj_weight", "k_proj_weight",   "v_proj_weight",
                                        "in_proj_bias",  "out_proj.weight", "out_proj.bias"};
    const int64_t columns[] = {E, 48, 160};
    ParameterList list;
    ck_assert_int_eq(layer_parameters(layer, &list), STATUS_OK);
    ck_assert_int_eq(list.count, 6);
    for (int i = 0; i < 6; i++) ck_assert_str_eq(list.items[i].path, paths[i]);
    for (int i = 0; i < 3; i++) {
        Tensor *t = list.items[i].tensor;
        float largest = 0.0f, bound = sqrtf(6.0f / (float)(E + columns[i]));
        ck_assert(shape_equal(tensor_shape(t), SHAPE(E, columns[i])));
        for (int64_t j = 0; j < t->numel; j++) largest = fmaxf(largest, fabsf(tensor_data(t)[j]));
        ck_assert(largest <= bound && largest >= 0.99f * bound);
    }
    char text[256];
    ck_assert_ptr_nonnull(strstr(layer_attributes_text(layer, text, sizeof text), "kdim=48"));
    Tensor *x = tensor_zeros_new(SHAPE(2, 3, E));
    ck_assert_ptr_null(layer_forward(layer, x));
    expect_error(STATUS_INVALID_ARGUMENT, "got 1 inputs. HINT: queries, keys and values");
    ck_assert_ptr_null(layer_forward_many(layer, (Tensor *[]){x, x, x}, 3));
    expect_error(STATUS_SHAPE, "input 1 is (2, 3, 96). HINT: (b, s, 48)");
    options.kdim = -1;
    ck_assert_ptr_null(multihead_attention_new(E, 8, options));
    expect_error(STATUS_INVALID_ARGUMENT, "keys of -1 features");
    tensor_free(x);
    parameter_list_free(&list);
    layer_free(layer);
}
END_TEST

START_TEST(what_fits_no_attention_is_refused) {
    MultiheadAttentionOptions options = multihead_attention_defaults();
    ck_assert_ptr_null(multihead_attention_new(6, 4, options));
    expect_error(STATUS_INVALID_ARGUMENT, "6 features, 4 heads. HINT");
    ck_assert_ptr_null(multihead_attention_new(INT64_MAX / 2, 1, options)); // times 3: too many
    expect_error(STATUS_INVALID_ARGUMENT, "features. HINT: at most 2^31 - 1");
    ck_assert_ptr_null(multihead_attention_new(0, 1, options));
    expect_error(STATUS_INVALID_ARGUMENT, "0 features");
    options.dropout = NAN;
    ck_assert_ptr_null(multihead_attention_new(6, 2, options));
    expect_error(STATUS_INVALID_ARGUMENT, "HINT: from 0 to 1");
    Layer *layer = multihead_attention_new(6, 2, multihead_attention_defaults());
    Tensor *x = tensor_zeros_new(SHAPE(2, 3, 6)), *narrow = tensor_zeros_new(SHAPE(2, 3, 5));
    ck_assert_ptr_null(layer_forward(layer, narrow));
    expect_error(STATUS_SHAPE, "input 0 is (2, 3, 5). HINT: (b, s, 6)");
    ck_assert_ptr_null(layer_forward_many(layer, (Tensor *[]){x, NULL, x}, 3));
    expect_error(STATUS_INVALID_ARGUMENT, "input 1 is NULL");
    ck_assert_ptr_null(layer_forward_many(layer, (Tensor *[]){x, x, x, x, x}, 5));
    expect_error(STATUS_INVALID_ARGUMENT, "got 5 inputs");
    ck_assert_ptr_null(layer_forward_many(layer, (Tensor *[]){x, narrow}, 2));
    expect_error(STATUS_SHAPE, "the mask, (2, 3, 5), does not broadcast");
    tensor_free(x);
    tensor_free(narrow);
    layer_free(layer);
    ck_assert_ptr_null(positional_embedding_new(-1, 3));
    expect_error(STATUS_INVALID_ARGUMENT, "PositionalEmbedding: a table of -1 x 3");
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

// A sequence without a batch dim is a batch of one; evaluation drops nothing.
START_TEST(a_sequence_alone_is_a_batch_of_one) {
    MultiheadAttentionOptions options = multihead_attention_defaults();
    options.dropout = 0.5f;
    Layer *layer = multihead_attention_new(6, 2, options);
    Tensor *x = tensor_uniform_new(SHAPE(5, 6), -1.0f, 1.0f);
    Scope *scope = scope_open();
    Tensor *batch = tensor_reshape(x, SHAPE(1, 5, 6));
    float dropped = 0.0f;
    for (int training = 0; training < 2; training++) {
        layer_train(layer, training == 1);
        context_seed(1);
        Tensor *alone = layer_forward(layer, x);
        context_seed(1);
        Tensor *one = layer_forward_many(layer, (Tensor *[]){batch, NULL}, 2);
        ck_assert(shape_equal(tensor_shape(alone), SHAPE(5, 6)));
        ck_assert_mem_eq(tensor_data(alone), tensor_data(one), 30 * sizeof(float));
        Tensor *again = layer_forward(layer, x);
        dropped = fabsf(tensor_data(again)[0] - tensor_data(alone)[0]);
        ck_assert_int_eq(dropped > 0.0f, training);
    }
    scope_close(scope);
    tensor_free(x);
    layer_free(layer);
}
END_TEST

// ---- positions ------------------------------------------------------------------------------
START_TEST(a_row_is_added_to_each_position) {
    Layer *layers[] = {positional_embedding_new(7, 5), positional_encoding_new(7, 5)};
    Tensor *x = tensor_uniform_new(SHAPE(2, 3, 4, 5), -1.0f, 1.0f);
    Tensor *tables[] = {layers[0]->parameters[0].tensor, layers[1]->buffers[0].tensor};
    ck_assert_str_eq(layers[0]->parameters[0].name, "weight");
    ck_assert_str_eq(layers[1]->buffers[0].name, "pe");
    ck_assert(!tensor_wants_grad(tables[1]));
    for (int64_t i = 0; i < 35; i++) {
        double angle = (double)(i / 5) * pow(10000.0, -(double)(i % 5 / 2 * 2) / 5.0);
        double wave = i % 5 % 2 ? cos(angle) : sin(angle);
        ck_assert_double_eq_tol((double)tensor_data(tables[1])[i], wave, 1e-7);
    }
    Layer *large = positional_embedding_new(100, 100);
    double squares = 0.0;
    for (int64_t i = 0; i < 10000; i++) {
        double value = (double)tensor_data(large->parameters[0].tensor)[i];
        squares += value * value / 10000.0;
    }
    ck_assert_double_eq_tol(sqrt(squares), 0.02, 0.001);
    layer_free(large);
    Scope *scope = scope_open();
    for (int k = 0; k < 2; k++) {
        Tensor *y = layer_forward(layers[k], x);
        ck_assert_msg(y != NULL, "%s", error_message());
        for (int64_t i = 0; i < x->numel; i++)
            ck_assert(tensor_data(y)[i] == tensor_data(x)[i] + tensor_data(tables[k])[i % 20]);
        Tensor *tail = tensor_slice(x, -1, 0, 4, 1);
        ck_assert_ptr_null(layer_forward(layers[k], tail));
        expect_error(STATUS_SHAPE, "at most 7 positions");
    }
    scope_close(scope);
    tensor_free(x);
    for (int k = 0; k < 2; k++) layer_free(layers[k]);
}
END_TEST

// ---- memory that runs out -------------------------------------------------------------------
static Status train_once(void) {
    MultiheadAttentionOptions options = multihead_attention_defaults();
    options.dropout = 0.25f;
    Layer *layer = multihead_attention_new(4, 2, options);
    Layer *positions = positional_encoding_new(4, 4);
    Tensor *x = tensor_uniform_new(SHAPE(2, 3, 4), -1.0f, 1.0f);
    Scope *scope = scope_open();
    Tensor *y = layer && positions && x ? layer_forward(layer, layer_forward(positions, x)) : NULL;
    Tensor *loss = y ? tensor_mean(y, DIM_ALL, false) : NULL;
    Status status = loss ? autograd_backward(loss) : error_status();
    scope_close(scope);
    tensor_free(x);
    layer_free(positions);
    layer_free(layer);
    return status;
}

START_TEST(any_request_may_fail) {
    int failures = 0;
    for (uint64_t n = 1; n < 2000; n++, failures++) {
        Context *context = context_new();
        context_push(context);
        context_set_threads(1);
        memory_fail_at(n);
        Status status = train_once();
        memory_fail_at(0);
        ck_assert_int_eq(expect_live_bytes(), 0);
        if (status) expect_error(STATUS_OUT_OF_MEMORY, "");
        context_pop();
        context_free(context);
        if (!status) break;
    }
    expect_no_error();
    ck_assert_int_gt(failures, 60);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {it_agrees_with_pytorchs, FIXTURES},
        {parameters_begin_as_pytorchs, 0},
        {keys_and_values_of_other_features_have_weights_of_their_own, 0},
        {what_fits_no_attention_is_refused, 0},
        {a_sequence_alone_is_a_batch_of_one, 0},
        {a_row_is_added_to_each_position, 0},
        {any_request_may_fail, 0},
        {NULL, 0},
    };
    return harness_main("multihead", tests);
}
