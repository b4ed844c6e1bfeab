// test_layers2d.c -- layers on images: initial values, attributes, refusals; and the models made of
// them.
#include <math.h>
#include <string.h>

#include "layers/models/models.h"
#include "layers/train/fit.h"
#include "tensor/memory.h"
#include "tests/helpers/expect.h"

// ---- layers ----------------------------------------------------------------------------------
START_TEST(attributes_are_told) {
    char text[512];
    Conv2dOptions options = conv2d_padded(conv2d_defaults(), 2);
    options.padding_bottom = 3;
    options.stride_w = 2;
    options.groups = 2;
    Layer *conv = conv2d_new(4, 6, 5, 3, options, false);
    ck_assert_str_eq(layer_attributes_text(conv, text, sizeof text),
                     "in_channels=4, out_channels=6, kernel_h=5, kernel_w=3, stride_h=1, "
                     "stride_w=2, padding_top=2, padding_bottom=3, padding_left=2, "
                     "padding_right=2, dilation_h=1, dilation_w=1, groups=2, bias=false");
    Layer *pools[] = {max_pool2d_new(pool2d_defaults(3)),
                      avg_pool2d_new(pool2d_padded(pool2d_defaults(3), 1)),
                      adaptive_avg_pool2d_new(7, 5)};
    ck_assert_str_eq(layer_attributes_text(pools[0], text, sizeof text),
                     "kernel_h=3, kernel_w=3, stride_h=3, stride_w=3, padding_top=0, "
                     "padding_bottom=0, padding_left=0, padding_right=0, dilation_h=1, "
                     "dilation_w=1, ceil_mode=false");
    ck_assert_str_eq(layer_attributes_text(pools[1], text, sizeof text),
                     "kernel_h=3, kernel_w=3, stride_h=3, stride_w=3, padding_top=1, "
                     "padding_bottom=1, padding_left=1, padding_right=1, ceil_mode=false, "
                     "exclude_pad=false");
    ck_assert_str_eq(layer_attributes_text(pools[2], text, sizeof text), "out_h=7, out_w=5");
    const char *const names[] = {"MaxPool2d", "AvgPool2d", "AdaptiveAvgPool2d"};
    for (int i = 0; i < 3; i++) {
        ck_assert_str_eq(pools[i]->type->name, names[i]);
        layer_free(pools[i]);
    }
    layer_free(conv);
}
END_TEST

// Uniform in +-1/sqrt(fan in), where fan in counts one group's channels.
START_TEST(weights_begin_as_pytorchs) {
    Conv2dOptions grouped = conv2d_defaults();
    grouped.groups = 4;
    Layer *conv = conv2d_new(32, 64, 3, 5, grouped, true);
    float bound = 1.0f / sqrtf(8 * 3 * 5), largest = 0.0f;
    double squares = 0.0;
    ck_assert_int_eq(conv->n_parameters, 2);
    Tensor *weight = conv->parameters[0].tensor, *bias = conv->parameters[1].tensor;
    ck_assert(shape_equal(tensor_shape(weight), SHAPE(64, 8, 3, 5)));
    ck_assert(shape_equal(tensor_shape(bias), SHAPE(64)));
    ck_assert_str_eq(conv->parameters[0].name, "weight");
    ck_assert_str_eq(conv->parameters[1].name, "bias");
    for (int64_t i = 0; i < weight->numel; i++) {
        float value = tensor_data(weight)[i];
        largest = fabsf(value) > largest ? fabsf(value) : largest;
        squares += (double)value * (double)value;
    }
    for (int64_t i = 0; i < bias->numel; i++) ck_assert(fabsf(tensor_data(bias)[i]) <= bound);
    ck_assert_msg(largest <= bound && largest > 0.99f * bound, "%g, bound %g", (double)largest,
                  (double)bound);
    double deviation = sqrt(squares / (double)weight->numel) * sqrt(3.0) / (double)bound;
    ck_assert_msg(fabs(deviation - 1.0) < 0.03, "%g", deviation);
    layer_free(conv);
}
END_TEST

START_TEST(what_makes_no_layer_is_refused) {
    Conv2dOptions options = conv2d_defaults();
    ck_assert_ptr_null(conv2d_new(0, 6, 3, 3, options, true));
    expect_error(STATUS_INVALID_ARGUMENT, "0 -> 6 channels");
    ck_assert_ptr_null(conv2d_new(3, 6, 3, 0, options, true));
    expect_error(STATUS_INVALID_ARGUMENT, "kernel 3 x 0");
    options.groups = 2;
    ck_assert_ptr_null(conv2d_new(3, 6, 3, 3, options, true));
    expect_error(STATUS_INVALID_ARGUMENT, "2 groups do not divide 3");
    ck_assert_ptr_null(conv2d_new(4, 5, 3, 3, options, true));
    expect_error(STATUS_INVALID_ARGUMENT, "HINT");
    options.groups = 0;
    ck_assert_ptr_null(conv2d_new(4, 5, 3, 3, options, true));
    expect_error(STATUS_INVALID_ARGUMENT, "0 groups");
    ck_assert_ptr_null(max_pool2d_new(pool2d_defaults(0)));
    expect_error(STATUS_INVALID_ARGUMENT, "MaxPool2d: a kernel of 0 x 0");
    ck_assert_ptr_null(adaptive_avg_pool2d_new(1, 0));
    expect_error(STATUS_INVALID_ARGUMENT, "1 x 0");
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

START_TEST(one_input_is_what_they_take) {
    Layer *layers[] = {conv2d_new(1, 1, 1, 1, conv2d_defaults(), true),
                       max_pool2d_new(pool2d_defaults(1)), avg_pool2d_new(pool2d_defaults(1)),
                       adaptive_avg_pool2d_new(1, 1)};
    Tensor *x = tensor_zeros_new(SHAPE(1, 1, 1, 1));
    for (int i = 0; i < 4; i++) {
        ck_assert_ptr_null(layer_forward_many(layers[i], (Tensor *[]){x, x}, 2));
        expect_error(STATUS_INVALID_ARGUMENT, "takes one input, got 2");
        layer_free(layers[i]);
    }
    tensor_free(x);
}
END_TEST

// ---- models ----------------------------------------------------------------------------------
static void check_forward(Layer *model, Shape in, Shape out) {
    Tensor *x = tensor_new(in, DTYPE_FLOAT32);
    Scope *scope = scope_open();
    Tensor *y = layer_forward(model, x);
    ck_assert_msg(y != NULL, "%s", error_message());
    ck_assert(shape_equal(tensor_shape(y), out));
    scope_close(scope);
    tensor_free(x);
}

START_TEST(models_have_their_shapes_and_names) {
    context_set_device(device_meta());
    const struct {
        Layer *model;
        int64_t channels, size, classes;
        const char *first, *last;
        int parameters;
    } models[] = {
        {lenet5_new(10), 1, 32, 10, "conv1.weight", "fc3.bias", 10},
        {alexnet_new(1000), 3, 224, 1000, "features.0.weight", "classifier.6.bias", 16},
        {vgg_new(16, false, 10), 3, 224, 10, "features.0.weight", "classifier.6.bias", 32},
    };
    for (int i = 0; i < 3; i++) {
        int64_t channels = models[i].channels, size = models[i].size;
        ParameterList list;
        ck_assert_int_eq(layer_parameters(models[i].model, &list), STATUS_OK);
        ck_assert_int_eq(list.count, models[i].parameters);
        ck_assert_str_eq(list.items[0].path, models[i].first);
        ck_assert_str_eq(list.items[list.count - 1].path, models[i].last);
        parameter_list_free(&list);
        for (int64_t batch = 0; batch < 4; batch += 3)
            check_forward(models[i].model, SHAPE(batch, channels, size, size),
                          SHAPE(batch, models[i].classes));
        layer_free(models[i].model);
    }
    Layer *alexnet = alexnet_new(7); // takes any image that is large enough
    check_forward(alexnet, SHAPE(2, 3, 300, 257), SHAPE(2, 7));
    Tensor *x = tensor_new(SHAPE(1, 3, 40, 40), DTYPE_FLOAT32);
    Scope *scope = scope_open();
    ck_assert_ptr_null(layer_forward(alexnet, x));
    expect_error(STATUS_SHAPE, "does not fit");
    scope_close(scope);
    tensor_free(x);
    layer_free(alexnet);
}
END_TEST

START_TEST(lenet_learns) {
    enum { IMAGES = 16, STEPS = 60 };
    static int64_t classes[IMAGES];
    for (int i = 0; i < IMAGES; i++) classes[i] = i % 10;
    context_seed(3);
    Layer *model = lenet5_new(10);
    Optimizer *optimizer = optimizer_new(model, optimizer_defaults(OPTIMIZER_ADAM));
    Tensor *x = tensor_uniform_new(SHAPE(IMAGES, 1, 32, 32), -1.0f, 1.0f);
    Tensor *labels = tensor_from_labels_new(SHAPE(IMAGES), classes);
    double first = 0.0, loss = 0.0;
    for (int i = 0; i < STEPS; i++) {
        ck_assert_msg(train_step(model, optimizer, x, labels, &loss) == STATUS_OK, "%s",
                      error_message());
        if (i == 0) first = loss;
    }
    ck_assert_msg(loss < 0.5 * first, "%g, at first %g", loss, first);
    tensor_free(labels);
    tensor_free(x);
    optimizer_free(optimizer);
    layer_free(model);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

START_TEST(any_request_of_a_model_may_fail) {
    int failures = 0;
    context_set_device(device_meta());
    for (uint64_t n = 1; n < 1000; n++, failures++) {
        memory_fail_at(n);
        Layer *model = _i == 0   ? alexnet_new(10)
                       : _i == 1 ? vgg_new(16, false, 10)
                                 : lenet5_new(10);
        memory_fail_at(0);
        layer_free(model);
        if (model) break;
        expect_error(STATUS_OUT_OF_MEMORY, "");
        ck_assert_int_eq(expect_live_bytes(), 0);
    }
    expect_no_error();
    ck_assert_int_gt(failures, 60);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {attributes_are_told, 0},
        {weights_begin_as_pytorchs, 0},
        {what_makes_no_layer_is_refused, 0},
        {one_input_is_what_they_take, 0},
        {models_have_their_shapes_and_names, 0},
        {lenet_learns, 0},
        {any_request_of_a_model_may_fail, 3},
        {NULL, 0},
    };
    return harness_main("layers2d", tests);
}
