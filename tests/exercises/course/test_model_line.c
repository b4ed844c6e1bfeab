// test_model_line.c -- the models of exercises: user-defined layers, the limit, and the shape of a
// layer's output.
#include "exercises/support/model_line.h"

#include "exercises/support/layer_shape.h"
#include "tensor/memory.h"
#include "tests/helpers/expect.h"

static Layer *model_of(const char *text, Shape *input) {
    context_set_device(device_meta());
    Layer *model = model_from_line(text, input);
    ck_assert_msg(model != NULL, "\"%s\": %s", text, error_message());
    return model;
}

static int64_t attribute(const Layer *layer, const char *name) {
    int64_t value = -1;
    ck_assert_msg(layer_attribute(layer, name, &value), "no attribute %s", name);
    return value;
}

// Names that look known, three parameters, and a container other than Sequential.
START_TEST(strange_layers_are_layers) {
    Shape input, out;
    Layer *model = model_from_line("Residual(ReLU6) @ 1x3", &input);
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

START_TEST(a_mystery_multiplies_by_a_learned_factor_per_feature) {
    Shape input;
    Layer *model = model_from_line("Mystery(3) @ 2x3", &input);
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

START_TEST(a_line_of_text_takes_no_gigabytes) {
    Shape input;
    RandomState random = context_current()->random;
    ck_assert_ptr_null(model_from_line("1000*Linear(40000,40000) @ 1x40000", &input));
    expect_error(STATUS_INVALID_ARGUMENT, "1600040000000 parameters in \"1000*Linear(40000,40000)");
    ck_assert_int_eq(input.ndim, 0);
    ck_assert_int_eq(context_ledger()->peak.total, 0);
    ck_assert_mem_eq(&random, &context_current()->random, sizeof random);
    context_set_device(device_meta());
    Layer *model = model_from_line("1000*Linear(40000,40000) @ 1x40000", &input);
    ck_assert_int_eq(layer_parameter_count(model), 1600040000000);
    layer_free(model);
}
END_TEST

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

int main(void) {
    const HarnessTest tests[] = {
        {strange_layers_are_layers, 0},
        {a_mystery_multiplies_by_a_learned_factor_per_feature, 0},
        {a_line_of_text_takes_no_gigabytes, 0},
        {a_layer_s_output_shape_is_that_of_its_forward, 0},
        {a_shape_that_does_not_fit_is_a_status_and_leaves_no_error, 0},
        {NULL, 0},
    };
    return harness_main("model_line", tests);
}
