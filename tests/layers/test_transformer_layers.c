// test_transformer_layers.c -- encoder and decoder layers compared with PyTorch's; the bytes they
// keep for backward compared with the published formula; refusals. test_transformers.c tests whole
// models.
#include <math.h>
#include <string.h>

#include "layers/containers.h"
#include "layers/cost.h"
#include "layers/transformer.h"
#include "tensor/op.h"
#include "tensor/ops.h"
#include "tests/fixtures/transformers.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/model_values.h"

// ---- PyTorch ------------------------------------------------------------------------------------
typedef struct Truth {
    const double *results, *gradients;
} Truth;

static const struct {
    bool norm_first, gelu, bias, causal, masked;
    Truth encoder, decoder;
} cases[] = {
    {false,
     false,
     true,
     false,
     true,
     {encoder_after_results, encoder_after_gradients},
     {decoder_after_results, decoder_after_gradients}},
    {true,
     true,
     true,
     true,
     false,
     {encoder_first_results, encoder_first_gradients},
     {decoder_first_results, decoder_first_gradients}},
    {true,
     false,
     false,
     false,
     false,
     {encoder_unbiased_results, encoder_unbiased_gradients},
     {decoder_unbiased_results, decoder_unbiased_gradients}},
};
enum { CASES = sizeof(cases) / sizeof(cases[0]) };

static TransformerLayerOptions small_options(void) {
    TransformerLayerOptions options = transformer_layer_defaults();
    options.d_model = 6;
    options.nhead = 2;
    options.dim_feedforward = 10;
    options.dropout = 0.0f;
    return options;
}

START_TEST(a_step_gives_pytorchs_numbers) {
    int i = _i / 4;
    bool decoder = _i % 2;
    TransformerLayerOptions options = small_options();
    options.norm_first = cases[i].norm_first;
    options.activation = cases[i].gelu ? &op_gelu : &op_relu;
    options.bias = cases[i].bias;
    options.causal = cases[i].causal;
    options.by_formula = _i / 2 % 2;
    Tensor *x = model_input_new(SHAPE(2, 4, 6), 11), *memory = model_input_new(SHAPE(2, 3, 6), 71),
           *mask = model_input_new(SHAPE(4, 4), 91), *other = model_input_new(SHAPE(4, 3), 131);
    Tensor *own = cases[i].masked ? mask : NULL;
    ModelStep encode = {.in = {x, own},
                        .n_in = cases[i].causal ? 1 : 2,
                        .n_out = 1,
                        .results = cases[i].encoder.results,
                        .gradients = cases[i].encoder.gradients};
    ModelStep decode = {.in = {x, memory, own, cases[i].masked ? other : NULL},
                        .n_in = cases[i].causal ? 2 : 4,
                        .n_out = 1,
                        .results = cases[i].decoder.results,
                        .gradients = cases[i].decoder.gradients};
    Layer *layer =
        decoder ? transformer_decoder_layer_new(options) : transformer_encoder_layer_new(options);
    expect_no_error();
    model_fill(layer, 1.0);
    model_check_step(layer, decoder ? &decode : &encode);
    layer_free(layer);
    Tensor *all[] = {x, memory, mask, other};
    for (int k = 0; k < 4; k++) tensor_free(all[k]);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

// Names and defaults are those of PyTorch's state_dict.
START_TEST(parts_are_called_as_pytorchs) {
    static const char *const names[2][14] = {
        {"self_attn", "linear1", "dropout", "linear2", "norm1", "norm2", "dropout1", "dropout2"},
        {"self_attn", "multihead_attn", "linear1", "dropout", "linear2", "norm1", "norm2", "norm3",
         "dropout1", "dropout2", "dropout3"}};
    static const int64_t parameters[2] = {3152384, 4204032};
    context_set_device(device_meta());
    for (int k = 0; k < 2; k++) {
        TransformerLayerOptions options = transformer_layer_defaults();
        Layer *layer =
            k ? transformer_decoder_layer_new(options) : transformer_encoder_layer_new(options);
        int n = 0;
        for (; n < 14 && names[k][n]; n++) ck_assert_str_eq(layer->children[n]->name, names[k][n]);
        ck_assert_int_eq(layer->n_children, n);
        ck_assert_int_eq(layer_parameter_count(layer), parameters[k]);
        layer_free(layer);
    }
}
END_TEST

// A stack hands its mask to each layer, and each layer uses it.
START_TEST(a_stack_hands_on_its_mask) {
    TransformerLayerOptions options = small_options();
    Layer *stack = module_list_new(), *first = transformer_encoder_layer_new(options),
          *second = transformer_encoder_layer_new(options);
    layer_append(stack, first);
    layer_append(stack, second);
    Tensor *x = model_input_new(SHAPE(1, 4, 6), 5), *mask = model_input_new(SHAPE(4, 4), 50);
    float together[24], apart[24], unmasked[24];
    Scope *scope = scope_open();
    tensor_read_floats(layer_forward_many(stack, (Tensor *[]){x, mask}, 2), together);
    Tensor *y = layer_forward_many(first, (Tensor *[]){x, mask}, 2);
    tensor_read_floats(layer_forward_many(second, (Tensor *[]){y, mask}, 2), apart);
    tensor_read_floats(layer_forward(second, y), unmasked);
    ck_assert_mem_eq(together, apart, sizeof together);
    ck_assert(memcmp(together, unmasked, sizeof together) != 0);
    ck_assert_ptr_null(layer_forward_many(stack, (Tensor *[]){NULL, mask}, 2));
    expect_error(STATUS_INVALID_ARGUMENT, "ModuleList takes x, and at most 7 more");
    scope_close(scope);
    tensor_free(x);
    tensor_free(mask);
    layer_free(stack);
}
END_TEST

// ---- saved bytes --------------------------------------------------------------------------------
enum { B = 2, S = 24, E = 32, HEADS = 4 };

static int64_t kept_by(TransformerLayerOptions options) {
    options.d_model = E;
    options.nhead = HEADS;
    options.dim_feedforward = 4 * E;
    context_set_threads(1);
    Layer *layer = transformer_encoder_layer_new(options);
    Tensor *x = model_input_new(SHAPE(B, S, E), 0);
    expect_no_error();
    int64_t kept = model_check_dry_run(layer, x).saved_bytes;
    tensor_free(x);
    layer_free(layer);
    return kept;
}

// Korthikanti et al. 2022 with 4 bytes a number: s b h (64 + 4 a s/h), with dropout s b h (66 + 9 a
// s/h), for a layer with norms first and GELU. PyTorch's layer, and so ours, keeps in addition:
// * mean and rstd of each norm's rows, 16 s b, which they leave out;
// * with dropout one more mask, of the wide features, 4 s b h: theirs drops nothing there. The
// dropped features replace GELU's result, which nobody reads any more.
// It does not keep x, which here is the caller's leaf and not the sum of a layer before, 4 s b h.
// With ReLU the wide features are kept once, not before and after the activation: 16 s b h less,
// unless dropout changes them. Fused attention keeps its result and a number for each row, not the
// scores.
static int64_t published(TransformerLayerOptions options) {
    int64_t sb = S * B, h = E, a = HEADS;
    bool drops = options.dropout > 0.0f;
    int64_t paper = sb * h * (drops ? 66 : 64), scores = sb * a * S * (drops ? 9 : 4);
    int64_t beside = 16 * sb + (drops ? 4 * sb * h : 0);
    int64_t relu = options.activation == &op_relu && !drops ? 16 * sb * h : 0;
    int64_t fused = 4 * sb * h + 4 * sb * a;
    return paper + beside - 4 * sb * h - relu + (options.by_formula ? scores : fused);
}

START_TEST(it_keeps_what_is_published) {
    TransformerLayerOptions options = transformer_layer_defaults();
    options.by_formula = _i & 1;
    options.dropout = _i & 2 ? 0.1f : 0.0f;
    options.activation = _i & 4 ? &op_relu : &op_gelu;
    options.norm_first = true;
    ck_assert_int_eq(kept_by(options), published(options));
}
END_TEST

// The bytes are equal: the last norm's input is kept instead of the first norm's result.
START_TEST(with_norms_behind_it_keeps_as_much) {
    TransformerLayerOptions options = transformer_layer_defaults();
    options.by_formula = _i & 1;
    options.dropout = _i & 2 ? 0.1f : 0.0f;
    options.activation = &op_gelu;
    ck_assert_int_eq(kept_by(options), published(options));
}
END_TEST

// In training each run drops other elements; evaluation drops none.
START_TEST(dropout_is_for_training) {
    TransformerLayerOptions options = small_options();
    options.dropout = 0.5f;
    Layer *layer = transformer_encoder_layer_new(options);
    Tensor *x = model_input_new(SHAPE(2, 4, 6), 11);
    for (int training = 0; training < 2; training++) {
        float first[48], second[48];
        layer_train(layer, training);
        Scope *scope = scope_open();
        tensor_read_floats(layer_forward(layer, x), first);
        tensor_read_floats(layer_forward(layer, x), second);
        ck_assert_int_eq(memcmp(first, second, sizeof first) != 0, training);
        scope_close(scope);
    }
    tensor_free(x);
    layer_free(layer);
}
END_TEST

// ---- refusals -----------------------------------------------------------------------------------
START_TEST(what_fits_no_layer_is_refused) {
    TransformerLayerOptions options = small_options();
    options.nhead = 4;
    ck_assert_ptr_null(transformer_encoder_layer_new(options));
    expect_error(STATUS_INVALID_ARGUMENT, "6 features, 4 heads. HINT");
    options = small_options();
    options.dim_feedforward = -1;
    ck_assert_ptr_null(transformer_decoder_layer_new(options));
    expect_error(STATUS_INVALID_ARGUMENT, "linear_new: sizes 6 -> -1. HINT");
    options = small_options();
    options.dropout = 1.5f;
    ck_assert_ptr_null(transformer_encoder_layer_new(options));
    expect_error(STATUS_INVALID_ARGUMENT, "1.5 is not a probability. HINT");
    options = small_options();
    options.layer_norm_eps = -1.0f;
    options.bias = false;
    ck_assert_ptr_null(transformer_encoder_layer_new(options));
    expect_error(STATUS_INVALID_ARGUMENT, "layer_norm_new_unbiased: epsilon is -1. HINT");
    Layer *encoder = transformer_encoder_layer_new(small_options()),
          *decoder = transformer_decoder_layer_new(small_options());
    Tensor *x = tensor_zeros_new(SHAPE(2, 3, 6)), *narrow = tensor_zeros_new(SHAPE(2, 3, 5));
    ck_assert_ptr_null(layer_forward(encoder, narrow));
    expect_error(STATUS_SHAPE, "input 0 is (2, 3, 5). HINT: (b, s, 6)");
    ck_assert_ptr_null(layer_forward_many(encoder, (Tensor *[]){x, NULL, NULL}, 3));
    expect_error(STATUS_INVALID_ARGUMENT,
                 "TransformerEncoderLayer takes x, and maybe a mask, got 3");
    ck_assert_ptr_null(layer_forward(decoder, x));
    expect_error(STATUS_INVALID_ARGUMENT, "TransformerDecoderLayer takes x and memory");
    ck_assert_ptr_null(layer_forward_many(decoder, (Tensor *[]){x, NULL}, 2));
    expect_error(STATUS_INVALID_ARGUMENT, "TransformerDecoderLayer takes x and memory");
    ck_assert_ptr_null(layer_forward_many(decoder, (Tensor *[]){x, narrow}, 2));
    expect_error(STATUS_SHAPE, "multihead_attn: MultiheadAttention: input 1 is (2, 3, 5)");
    tensor_free(x);
    tensor_free(narrow);
    layer_free(encoder);
    layer_free(decoder);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

static Layer *decoder_new(const void *unused) {
    (void)unused;
    return transformer_decoder_layer_new(small_options());
}

START_TEST(any_request_may_fail) {
    context_set_threads(1);
    Tensor *x = model_input_new(SHAPE(2, 4, 6), 11);
    model_check_failures(decoder_new, NULL, (Tensor *[]){x, x}, 2, 100);
    tensor_free(x);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_step_gives_pytorchs_numbers, 4 * CASES},
        {parts_are_called_as_pytorchs, 0},
        {a_stack_hands_on_its_mask, 0},
        {it_keeps_what_is_published, 8},
        {with_norms_behind_it_keeps_as_much, 4},
        {dropout_is_for_training, 0},
        {what_fits_no_layer_is_refused, 0},
        {any_request_may_fail, 0},
        {NULL, 0},
    };
    return harness_main("transformer_layers", tests);
}
