// test_model_text.c -- models written down in one line: what a text makes, that no text, however
// broken, does more than leave one message; and what shape comes out of a layer.
#include "exercises/support/model_text.h"

#include <stdlib.h>
#include <string.h>

#include "exercises/support/layer_shape.h"
#include "tensor/memory.h"
#include "tests/helpers/expect.h"

static Layer *model_of(const char *text, Shape *input) {
    context_set_device(device_meta());
    Layer *model = model_from_text(text, input);
    ck_assert_msg(model != NULL, "\"%s\": %s", text, error_message());
    return model;
}

static int64_t attribute(const Layer *layer, const char *name) {
    int64_t value = -1;
    ck_assert_msg(layer_attribute(layer, name, &value), "no attribute %s", name);
    return value;
}

// ---- what a text makes ------------------------------------------------------------------------
START_TEST(a_chain_is_a_sequential_with_numbered_children) {
    static const char *const types[] = {"Linear", "ReLU", "Linear"};
    Shape input;
    Layer *model = model_of("Linear(784,512) ReLU Linear(512,10,bias=false) @ 64x784", &input);
    ck_assert(shape_equal(input, SHAPE(64, 784)));
    ck_assert_str_eq(model->type->name, "Sequential");
    ck_assert_int_eq(model->n_children, 3);
    for (int i = 0; i < 3; i++) {
        ck_assert_str_eq(model->children[i]->type->name, types[i]);
        ck_assert_int_eq(atoi(model->children[i]->name), i);
    }
    ck_assert_int_eq(attribute(model->children[0], "in_features"), 784);
    ck_assert_int_eq(attribute(model->children[0], "bias"), 1);
    ck_assert_int_eq(attribute(model->children[2], "bias"), 0);
    ck_assert_int_eq(layer_parameter_count(model), 784 * 512 + 512 + 512 * 10);
    layer_free(model);
}
END_TEST

START_TEST(one_layer_stands_for_itself_and_spaces_do_not_matter) {
    Shape input;
    Layer *model = model_of("  Linear ( 4 , out_features = 3 )@2x7x4 ", &input);
    ck_assert_str_eq(model->type->name, "Linear");
    ck_assert_str_eq(model->name, "");
    ck_assert(shape_equal(input, SHAPE(2, 7, 4)));
    layer_free(model);
    model = model_of("Tanh", &input);
    ck_assert_int_eq(input.ndim, 0);
    layer_free(model);
}
END_TEST

START_TEST(sequentials_nest_and_may_be_empty) {
    Shape input;
    Layer *model = model_of("Sequential(Linear(4,4) Sequential() Tanh) Linear(4,2)", &input);
    ck_assert_int_eq(model->n_children, 2);
    ck_assert_int_eq(model->children[0]->n_children, 3);
    ck_assert_int_eq(model->children[0]->children[1]->n_children, 0);
    layer_free(model);
}
END_TEST

START_TEST(options_of_convolutions_and_pools_go_to_their_sides) {
    Shape input;
    Layer *model =
        model_of("Conv2d(6,9,5,stride=2,padding=1,dilation=4,groups=3,bias=false) MaxPool2d(2) "
                 "AvgPool2d(3,stride=1,padding=1)",
                 &input);
    const Layer *conv = model->children[0], *max = model->children[1], *avg = model->children[2];
    ck_assert_int_eq(attribute(conv, "in_channels"), 6);
    ck_assert_int_eq(attribute(conv, "out_channels"), 9);
    ck_assert_int_eq(attribute(conv, "kernel_w"), 5);
    ck_assert_int_eq(attribute(conv, "stride_h"), 2);
    ck_assert_int_eq(attribute(conv, "padding_bottom"), 1);
    ck_assert_int_eq(attribute(conv, "dilation_w"), 4);
    ck_assert_int_eq(attribute(conv, "groups"), 3);
    ck_assert_int_eq(attribute(conv, "bias"), 0);
    ck_assert_int_eq(attribute(max, "stride_w"), 2); // the kernel's size, where nothing is said
    ck_assert_int_eq(attribute(max, "padding_top"), 0);
    ck_assert_int_eq(attribute(avg, "stride_h"), 1);
    ck_assert_int_eq(attribute(avg, "padding_right"), 1);
    layer_free(model);
}
END_TEST

// Each side by itself; the narrower word counts, wherever it stands.
START_TEST(the_sides_of_a_window_may_differ) {
    static const struct {
        const char *text;
        int64_t kernel_h, kernel_w, stride_h, stride_w, top, bottom, left, right;
    } rows[] = {{"Conv2d(2,3,5,kernel_w=3,stride_h=2,padding_left=1)", 5, 3, 2, 1, 0, 0, 1, 0},
                {"Conv2d(2,3,kernel_h=1,kernel_w=7,stride=3,stride_w=2)", 1, 7, 3, 2, 0, 0, 0, 0},
                {"Conv2d(2,3,5,padding_bottom=9,padding=2,padding_w=4)", 5, 5, 1, 1, 2, 9, 4, 4},
                {"MaxPool2d(6,kernel_w=4,stride_w=5,padding_h=3,padding_top=1)", 6, 4, 6, 5, 1, 3,
                 0, 0},
                {"AvgPool2d(kernel_w=4,kernel_h=2,padding_right=2)", 2, 4, 2, 4, 0, 0, 0, 2}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        Shape input;
        Layer *layer = model_of(rows[i].text, &input);
        ck_assert_int_eq(attribute(layer, "kernel_h"), rows[i].kernel_h);
        ck_assert_int_eq(attribute(layer, "kernel_w"), rows[i].kernel_w);
        ck_assert_int_eq(attribute(layer, "stride_h"), rows[i].stride_h);
        ck_assert_int_eq(attribute(layer, "stride_w"), rows[i].stride_w);
        ck_assert_int_eq(attribute(layer, "padding_top"), rows[i].top);
        ck_assert_int_eq(attribute(layer, "padding_bottom"), rows[i].bottom);
        ck_assert_int_eq(attribute(layer, "padding_left"), rows[i].left);
        ck_assert_int_eq(attribute(layer, "padding_right"), rows[i].right);
        layer_free(layer);
    }
    Shape input;
    Layer *model =
        model_of("Conv2d(1,1,3,dilation_w=2) MaxPool2d(3,dilation=2,dilation_h=4)", &input);
    ck_assert_int_eq(attribute(model->children[0], "dilation_h"), 1);
    ck_assert_int_eq(attribute(model->children[0], "dilation_w"), 2);
    ck_assert_int_eq(attribute(model->children[1], "dilation_h"), 4);
    ck_assert_int_eq(attribute(model->children[1], "dilation_w"), 2);
    layer_free(model);
}
END_TEST

START_TEST(a_number_before_a_layer_says_how_often) {
    Shape input;
    Layer *model = model_of("2*Linear(3,3) Sequential( 3 * Sequential(2*ReLU) )4*Tanh@1x3", &input);
    ck_assert_int_eq(model->n_children, 7);
    ck_assert_int_eq(model->children[2]->n_children, 3);
    ck_assert_int_eq(model->children[2]->children[1]->n_children, 2);
    ck_assert_str_eq(model->children[6]->name, "6");
    ck_assert_str_eq(model->children[6]->type->name, "Tanh");
    ck_assert(model->children[0]->parameters[0].tensor != model->children[1]->parameters[0].tensor);
    layer_free(model);
    model = model_of("1*ReLU", &input);
    ck_assert_str_eq(model->type->name, "Sequential");
    ck_assert_int_eq(model->n_children, 1);
    layer_free(model);
    model = model_of("1023*ReLU", &input);
    ck_assert_int_eq(model->n_children, 1023);
    layer_free(model);
}
END_TEST

// Names that look known, three parameters, and a container that is no Sequential.
START_TEST(strange_layers_are_layers) {
    Shape input, out;
    Layer *model = model_from_text("Residual(ReLU6) @ 1x3", &input);
    Tensor *x = tensor_full_new(input, 7.0f);
    Scope *scope = scope_open();
    expect_values(layer_forward(model, x), 13.0f, 13.0f, 13.0f);
    scope_close(scope);
    tensor_free(x);
    layer_free(model);
    model = model_of("Residual(LinearGated(4,4) ReLU6) Residual() @ 2x4", &input);
    const Layer *gated = model->children[0]->children[0];
    ck_assert_int_eq(gated->n_parameters, 3);
    ck_assert_int_eq(attribute(gated, "in_features"), 4);
    ck_assert_int_eq(layer_parameter_count(model), 16 + 16 + 4);
    ck_assert_int_eq(layer_output_shape(model, input, &out), STATUS_OK);
    ck_assert(shape_equal(out, input));
    ck_assert_int_eq(layer_output_shape(model, SHAPE(2, 5), &out), STATUS_SHAPE);
    layer_free(model);
    model = model_of("Scaled(Linear(4,3) Scaled()) @ 2x4", &input);
    ck_assert_int_eq(layer_parameter_count(model), 1 + 12 + 3 + 1);
    ck_assert_int_eq(layer_output_shape(model, input, &out), STATUS_OK);
    ck_assert(shape_equal(out, SHAPE(2, 3)));
    layer_free(model);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

START_TEST(ties_and_freezes_name_paths) {
    Shape input;
    Layer *model = model_of("Linear(8,8) Sequential(Linear(8,8) ReLU) tie(1.0.weight, 0.weight) "
                            "freeze(1) freeze(0.bias) @ 1x8",
                            &input);
    const Layer *first = model->children[0], *second = model->children[1]->children[0];
    ck_assert_ptr_eq(first->parameters[0].tensor, second->parameters[0].tensor);
    ck_assert_int_eq(layer_parameter_count(model), 64 + 8 + 8);
    ck_assert_int_eq(layer_trainable_count(model), 0);
    layer_free(model);
    model = model_of("Linear(8,8) freeze(bias)", &input);
    ck_assert_int_eq(layer_trainable_count(model), 64);
    layer_free(model);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

START_TEST(every_layer_of_the_table_can_be_named) {
    for (int i = 0; model_text_layer(i); i++) {
        char text[80];
        bool made = false;
        static const char *const sizes[] = {"", "()", "(2)", "(0.5)", "(4,2)", "(4,2,3)"};
        for (size_t j = 0; j < sizeof(sizes) / sizeof(sizes[0]) && !made; j++) {
            Shape input;
            snprintf(text, sizeof(text), "%s%s", model_text_layer(i), sizes[j]);
            context_set_device(device_meta());
            Layer *model = model_from_text(text, &input);
            made = model && strcmp(model->type->name, model_text_layer(i)) == 0;
            layer_free(model);
            error_clear();
        }
        ck_assert_msg(made, "%s", model_text_layer(i));
    }
}
END_TEST

START_TEST(a_mystery_multiplies_by_a_learned_factor_per_feature) {
    Shape input;
    Layer *model = model_from_text("Mystery(3) @ 2x3", &input);
    Tensor *x = tensor_full_new(input, 2.0f);
    Scope *scope = scope_open();
    Tensor *y = layer_forward(model, x);
    const float *scale = tensor_data(model->parameters[0].tensor);
    expect_values(y, 2 * scale[0], 2 * scale[1], 2 * scale[2], 2 * scale[0], 2 * scale[1],
                  2 * scale[2]);
    scope_close(scope);
    ck_assert_int_eq(attribute(model, "size"), 3);
    ck_assert_int_eq(layer_parameter_count(model), 3);
    tensor_free(x);
    layer_free(model);
}
END_TEST

START_TEST(a_residual_adds_what_goes_in) {
    Shape input;
    Layer *model = model_from_text("Residual(ReLU ReLU) @ 1x3", &input);
    ck_assert_str_eq(model->type->name, "Residual");
    Tensor *x = tensor_from_floats_new(input, (const float[]){-1, 2, 3});
    Scope *scope = scope_open();
    expect_values(layer_forward(model, x), -1, 4, 6);
    scope_close(scope);
    tensor_free(x);
    layer_free(model);
}
END_TEST

START_TEST(a_model_of_50000_by_50000_takes_no_memory_on_meta) {
    Shape input;
    Layer *model = model_of("Linear(50000,50000,bias=false) @ 1x50000", &input);
    ck_assert_int_eq(layer_parameter_count(model), INT64_C(2500000000));
    layer_free(model);
}
END_TEST

// ---- what it refuses --------------------------------------------------------------------------
static const struct {
    const char *text, *mention;
    Status status;
} bad[] = {
    {"", "a layer is missing in column 1", STATUS_FORMAT},
    {"@ 3x4", "a layer is missing", STATUS_FORMAT},
    {"Linear", "lacks a size", STATUS_FORMAT},
    {"Linear(3", "a ) is missing", STATUS_FORMAT},
    {"Linear(3)", "lacks a size", STATUS_FORMAT},
    {"Linear(3,)", "an argument is missing", STATUS_FORMAT},
    {"Linear(out_features=3)", "lacks a size", STATUS_FORMAT},
    {"Linear(3,4,true,5)", "does not take", STATUS_FORMAT},
    {"Linear(3,4,biass=true)", "does not take", STATUS_FORMAT},
    {"Linear(3,out_features=4,false)", "does not take", STATUS_FORMAT},
    {"Linear(3,4,in_features=4)", "given before", STATUS_FORMAT},
    {"Linear(3,4,bias=1)", "does not fit", STATUS_FORMAT},
    {"Linear(3.0,4)", "does not fit", STATUS_FORMAT},
    {"Linear(1e3,4)", "does not fit", STATUS_FORMAT},
    {"Linear(0x10,4)", "does not fit", STATUS_FORMAT},
    {"Linear(nan,4)", "does not fit", STATUS_FORMAT},
    {"Linear(9007199254740993000,4)", "does not fit", STATUS_FORMAT},
    {"Linear(-1,4)", "at least 0", STATUS_INVALID_ARGUMENT},
    {"Linear(9007199254740992,9007199254740992)", "", STATUS_OVERFLOW},
    {"Conv2d(3,4,3,groups=2)", "", STATUS_INVALID_ARGUMENT},
    {"Dropout(inf)", "does not fit", STATUS_FORMAT},
    {"Dropout(2)", "not a probability", STATUS_INVALID_ARGUMENT},
    {"Linnear(3,4)", "a layer that there is not in column 1", STATUS_FORMAT},
    {"ReLU Linnear(3,4)", "a layer that there is not in column 6", STATUS_FORMAT},
    {"ReLU(3)", "does not take", STATUS_FORMAT},
    {"ReLU()", "an argument is missing", STATUS_FORMAT},
    {"Sequential", "a ( is missing", STATUS_FORMAT},
    {"Sequential(ReLU", "a layer is missing", STATUS_FORMAT},
    {"Sequential(ReLU))", "something else", STATUS_FORMAT},
    {"Conv2d(3,8)", "at least 1", STATUS_INVALID_ARGUMENT},
    {"Conv2d(3,8,kernel_h=3)", "at least 1", STATUS_INVALID_ARGUMENT},
    {"Conv2d(3,8,3,1,0,1,1,true,3)", "does not take", STATUS_FORMAT},
    {"Conv2d(3,8,3,kernel_h=3,kernel_h=3)", "given before", STATUS_FORMAT},
    {"Conv2d(3,8,3,padding_up=3)", "does not take", STATUS_FORMAT},
    {"MaxPool2d", "at least 1", STATUS_INVALID_ARGUMENT},
    {"MaxPool2d(3,1,0,2)", "does not take", STATUS_FORMAT},
    {"AvgPool2d(3,dilation_h=2)", "does not take", STATUS_FORMAT},
    {"LinearGated(3)", "lacks a size", STATUS_FORMAT},
    {"Residual", "a ( is missing", STATUS_FORMAT},
    {"Residual(ReLU", "a layer is missing", STATUS_FORMAT},
    {"3", "a * is missing", STATUS_FORMAT},
    {"3*", "a layer is missing", STATUS_FORMAT},
    {"3ReLU", "no number of layers", STATUS_FORMAT},
    {"3 ReLU", "a * is missing", STATUS_FORMAT},
    {"0*ReLU", "no number of layers", STATUS_FORMAT},
    {"1.5*ReLU", "no number of layers", STATUS_FORMAT},
    {"9999999999*ReLU", "no number of layers", STATUS_FORMAT},
    {"1025*ReLU", "no number of layers", STATUS_FORMAT},
    {"1024*ReLU Tanh", "more than 1024 layers in column 11", STATUS_FORMAT},
    {"99*Sequential(99*Sequential(99*ReLU))", "more than 1024 layers", STATUS_FORMAT},
    {"2*Linnear(3,4)", "a layer that there is not in column 3", STATUS_FORMAT},
    {"ReLU 2*@ 3", "a layer is missing", STATUS_FORMAT},
    {"ReLU @", "no shape", STATUS_FORMAT},
    {"ReLU @ 3x", "no shape", STATUS_FORMAT},
    {"ReLU @ 1x2x3x4x5x6x7", "no shape", STATUS_FORMAT},
    {"ReLU @ -3", "no shape", STATUS_FORMAT},
    {"ReLU @ 99999999999999999999", "too large", STATUS_FORMAT},
    {"ReLU @ 3x4 ReLU", "something else", STATUS_FORMAT},
    {"ReLU thaw(0)", "neither tie nor freeze", STATUS_FORMAT},
    {"ReLU freeze(0)", "leads nowhere", STATUS_FORMAT},
    {"Linear(2,2) freeze(weights)", "leads nowhere", STATUS_FORMAT},
    {"Linear(2,2) ReLU tie(0.weight)", "a comma is missing", STATUS_FORMAT},
    {"Linear(2,2) ReLU tie(0.weight,1.weight)", "no parameter", STATUS_INVALID_ARGUMENT},
    {"Linear(2,2) Linear(2,3) tie(1.weight,0.weight)", "(2, 2)", STATUS_SHAPE},
    {"Linear(2,2) tie(0,0)", "no parameter", STATUS_INVALID_ARGUMENT},
};
enum { BAD = sizeof(bad) / sizeof(bad[0]) };

START_TEST(a_malformed_text_is_one_message_with_its_column) {
    Shape input;
    context_set_device(device_meta());
    ck_assert_ptr_null(model_from_text(bad[_i].text, &input));
    ck_assert_int_eq(input.ndim, 0);
    expect_error(bad[_i].status, bad[_i].mention);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

START_TEST(a_line_of_text_takes_no_gigabytes) {
    Shape input;
    RandomState random = context_current()->random;
    ck_assert_ptr_null(model_from_text("1000*Linear(40000,40000) @ 1x40000", &input));
    expect_error(STATUS_INVALID_ARGUMENT, "1600040000000 parameters in \"1000*Linear(40000,40000)");
    ck_assert_int_eq(input.ndim, 0);
    ck_assert_int_eq(context_ledger()->peak.total, 0);
    ck_assert_mem_eq(&random, &context_current()->random, sizeof random);
    context_set_device(device_meta());
    Layer *model = model_from_text("1000*Linear(40000,40000) @ 1x40000", &input);
    ck_assert_int_eq(layer_parameter_count(model), 1600040000000);
    layer_free(model);
}
END_TEST

START_TEST(nesting_without_end_is_refused) {
    char text[12 * 4096] = "";
    Shape input;
    for (int i = 0; i < 4096; i++) memcpy(text + 11 * i, "Sequential(", 12);
    ck_assert_ptr_null(model_from_text(text, &input));
    expect_error(STATUS_FORMAT, "too deep nesting");
}
END_TEST

START_TEST(every_failing_allocation_is_survived) {
    static const char text[] =
        "Sequential(Linear(3,4) Tanh) Mystery(4) 2*Residual(LinearGated(4,4)) Linear(4,3) "
        "tie(4.bias,4.bias) freeze(0) @ 5x3";
    Shape input;
    int failures = 0;
    for (uint64_t n = 1;; n++) {
        memory_fail_at(n);
        Layer *model = model_from_text(text, &input);
        memory_fail_at(0);
        if (model) {
            layer_free(model);
            break;
        }
        expect_error(STATUS_OUT_OF_MEMORY, "");
        failures++;
    }
    ck_assert_int_gt(failures, 20);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

// ---- the shape that comes out -----------------------------------------------------------------
START_TEST(a_layer_s_output_shape_is_that_of_its_forward) {
    static const struct {
        const char *text;
        Shape out;
    } cases[] = {{"Linear(4,3) @ 7x5x4", {3, {7, 5, 3}}},
                 {"Conv2d(3,10,3,padding=3) @ 2x3x28x17", {4, {2, 10, 32, 21}}},
                 {"Conv2d(3,6,3,stride=2,groups=3,dilation=2,bias=false) @ 1x3x9x8",
                  {4, {1, 6, 3, 2}}},
                 {"MaxPool2d(2) @ 2x3x5x4", {4, {2, 3, 2, 2}}},
                 {"AvgPool2d(3,stride=1,padding=1) @ 2x3x5x4", {4, {2, 3, 5, 4}}},
                 {"Flatten @ 2x3x5x4", {2, {2, 60}}},
                 {"Sequential(Linear(4,3) Dropout(0.5)) Mystery(3) @ 0x4", {2, {0, 3}}}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        Shape input, out = {0};
        Layer *model = model_of(cases[i].text, &input);
        ck_assert_int_eq(layer_output_shape(model, input, &out), STATUS_OK);
        ck_assert_msg(shape_equal(out, cases[i].out), "%s", cases[i].text);
        layer_free(model);
    }
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

START_TEST(a_shape_that_does_not_fit_is_a_status_and_leaves_no_error) {
    Shape input, out = SHAPE(1, 2, 3);
    Layer *model = model_of("Linear(4,3)", &input);
    ck_assert_int_eq(layer_output_shape(model, SHAPE(2, 5), &out), STATUS_SHAPE);
    ck_assert(shape_equal(out, SHAPE(1, 2, 3)));
    expect_no_error();
    for (uint64_t n = 1, failed = 1; failed; n++) {
        memory_fail_at(n);
        Status status = layer_output_shape(model, SHAPE(2, 4), &out);
        memory_fail_at(0);
        failed = status != STATUS_OK;
        if (failed) ck_assert_int_eq(status, STATUS_OUT_OF_MEMORY);
        expect_no_error();
    }
    ck_assert(shape_equal(out, SHAPE(2, 3)));
    layer_free(model);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

// ---- any text ---------------------------------------------------------------------------------
static uint64_t noise(uint64_t *state) { // splitmix64 (Steele et al. 2014)
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

// A good text with bytes changed, doubled or cut out, and pieces of it swapped in.
static void distort(char *text, size_t room, uint64_t *state) {
    static const char alphabet[] = "(),=@x. 0129-eLRS\x80\n";
    for (uint64_t n = 1 + noise(state) % 3; n > 0; n--) {
        size_t length = strlen(text);
        if (length == 0) return;
        size_t at = noise(state) % length, from = noise(state) % length;
        size_t some = noise(state) % 9;
        if (from + some > length) some = length - from;
        switch (noise(state) % 3) {
        case 0:
            text[at] = alphabet[noise(state) % (sizeof(alphabet) - 1)];
            break;
        case 1:
            memmove(text + from, text + from + some, length - from - some + 1);
            break;
        case 2:
            if (length + some + 1 > room) break;
            memmove(text + at + some, text + at, length - at + 1);
            memmove(text + at, text + (from >= at ? from + some : from), some);
            break;
        }
    }
}

static const char *const seeds[] = {
    "Linear(784,512) ReLU Linear(512,10,bias=false) @ 64x784",
    "Sequential(Linear(4,4) Tanh) Linear(4,2) freeze(0) @ 3x4",
    "Linear(8,8) Linear(8,8) tie(1.weight,0.weight) freeze(0.bias) @ 7x8",
    "Sequential(Sequential(Dropout(0.5) Mystery(5)) GELU) @ 1x2x3x4x5x5",
    "Conv2d(3,16,3,stride=2,padding=1,groups=1) MaxPool2d(2) Flatten LayerNorm(9) @ 1x3x9x9",
    ("Conv2d(3,5,3,kernel_w=5,stride_h=2,padding_left=1,dilation_w=2) AvgPool2d(kernel_h=2,"
     "kernel_w=3,stride_w=1) MaxPool2d(3,padding_top=1,dilation_h=2) @ 1x3x19x29"),
    "2*Linear(3,3) Residual(3*Sequential(LinearGated(3,3)) ReLU6) tie(1.bias,0.bias) @ 5x3",
    "Embedding(9,4) Linear(4,9,bias=false) tie(1.weight,0.weight)"};

// A model, or NULL and one message; and nothing is left of it.
static bool try_text(const char *text) {
    Shape input;
    Layer *model = model_from_text(text, &input);
    bool made = model != NULL;
    ck_assert_msg(made == !error_pending(), "%s", text);
    ck_assert(made || (input.ndim == 0 && error_message()[0]));
    layer_free(model);
    error_clear();
    ck_assert_msg(expect_live_bytes() == 0, "%s", text);
    return made;
}

START_TEST(a_text_may_end_anywhere) {
    context_set_device(device_meta());
    for (size_t i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++) {
        char text[256];
        ck_assert(try_text(seeds[i]));
        for (size_t length = 0; length < strlen(seeds[i]); length++) {
            snprintf(text, sizeof(text), "%.*s", (int)length, seeds[i]);
            try_text(text);
        }
    }
}
END_TEST

START_TEST(any_text_gives_a_model_or_one_message) {
    uint64_t state = (uint64_t)_i;
    int models = 0, messages = 0;
    context_set_device(device_meta());
    for (int n = 0; n < 5000; n++) {
        char text[256];
        strcpy(text, seeds[noise(&state) % (sizeof(seeds) / sizeof(seeds[0]))]);
        distort(text, sizeof(text), &state);
        ++*(try_text(text) ? &models : &messages);
    }
    ck_assert_int_gt(models, 200);
    ck_assert_int_gt(messages, 200);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_chain_is_a_sequential_with_numbered_children, 0},
        {one_layer_stands_for_itself_and_spaces_do_not_matter, 0},
        {sequentials_nest_and_may_be_empty, 0},
        {options_of_convolutions_and_pools_go_to_their_sides, 0},
        {the_sides_of_a_window_may_differ, 0},
        {a_number_before_a_layer_says_how_often, 0},
        {strange_layers_are_layers, 0},
        {ties_and_freezes_name_paths, 0},
        {every_layer_of_the_table_can_be_named, 0},
        {a_mystery_multiplies_by_a_learned_factor_per_feature, 0},
        {a_residual_adds_what_goes_in, 0},
        {a_model_of_50000_by_50000_takes_no_memory_on_meta, 0},
        {a_malformed_text_is_one_message_with_its_column, BAD},
        {a_line_of_text_takes_no_gigabytes, 0},
        {nesting_without_end_is_refused, 0},
        {every_failing_allocation_is_survived, 0},
        {a_layer_s_output_shape_is_that_of_its_forward, 0},
        {a_shape_that_does_not_fit_is_a_status_and_leaves_no_error, 0},
        {a_text_may_end_anywhere, 0},
        {any_text_gives_a_model_or_one_message, 4},
        {NULL, 0},
    };
    return harness_main("model_text", tests);
}
