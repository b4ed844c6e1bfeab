// test_models.c -- published networks against torchvision: names and shapes of weights, parameters,
// products, initial values; dry runs against real ones, failures. test_model_steps.c tests their
// results.
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layers/cost.h"
#include "layers/init.h"
#include "layers/models/models.h"
#include "tensor/memory.h"
#include "tensor/ops.h"
#include "tests/fixtures/models.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/model_values.h"
#include "tests/helpers/published.h"

// ---- settings ----------------------------------------------------------------------------------
// A digest of the settings of norms and random drops, one line each.
static uint64_t settings_digest(const Layer *layer, uint64_t value) {
    static const char *const kinds[] = {"BatchNorm2d", "Dropout", "StochasticDepth"};
    char text[256];
    layer_attributes_text(layer, text, sizeof(text));
    for (int i = 0; i < 3; i++)
        if (strcmp(layer->type->name, kinds[i]) == 0 && strcmp(text, "p=0") != 0) {
            value = model_digest(model_digest(value, kinds[i]), " ");
            value = model_digest(model_digest(value, text), "\n");
        }
    for (int i = 0; i < layer->n_children; i++) value = settings_digest(layer->children[i], value);
    return value;
}

START_TEST(weights_and_products_are_torchvisions) {
    const ModelFacts *facts = &model_facts[_i];
    context_set_device(device_meta());
    Layer *model = published_new(facts->name, 1000);
    expect_no_error();
    ck_assert_int_eq(layer_parameter_count(model), facts->parameters);
    ck_assert_msg(model_state_digest(model) == facts->state, "%s: names or shapes differ",
                  facts->name);
    ck_assert_msg(settings_digest(model, MODEL_DIGEST_BEGIN) == facts->settings,
                  "%s: norms or dropouts differ", facts->name);
    Tensor *x = tensor_new(SHAPE(1, 3, 224, 224), DTYPE_FLOAT32);
    LayerCost cost;
    layer_train(model, false);
    ck_assert_int_eq(layer_cost(model, &x, 1, &cost), STATUS_OK);
    ck_assert_int_eq((int64_t)cost.phase[PHASE_FORWARD].macs, facts->macs);
    ck_assert_int_eq(cost.uncounted, 0);
    tensor_free(x);
    layer_free(model);
}
END_TEST

// ---- initial values ----------------------------------------------------------------------------
static void statistics_of(const Tensor *tensor, double *deviation, double *magnitude,
                          double *largest) {
    float *values = malloc((size_t)tensor->numel * sizeof(float));
    double sum = 0.0, squares = 0.0, magnitudes = 0.0;
    *largest = 0.0;
    tensor_read_floats(tensor, values);
    for (int64_t i = 0; i < tensor->numel; i++) {
        double value = (double)values[i], size = fabs(value);
        sum += value;
        squares += value * value;
        magnitudes += size;
        if (size > *largest) *largest = size;
    }
    free(values);
    double n = (double)tensor->numel, mean = sum / n;
    ck_assert_double_le(fabs(mean), 5.0 * sqrt(squares / n / n));
    *deviation = sqrt(squares / n - mean * mean);
    *magnitude = magnitudes / n;
}

// A normal's mean magnitude is 0.80 deviations, a uniform's 0.87: this tells the two apart.
static void assert_initial(const Layer *layer, const InitialFacts *facts) {
    ck_assert_ptr_nonnull(layer);
    const Tensor *weight = layer->parameters[0].tensor;
    // Torchvision's sample and ours may differ by ten standard errors of a deviation.
    double deviation, magnitude, largest, tolerance = 10.0 / sqrt(2.0 * (double)weight->numel);
    statistics_of(weight, &deviation, &magnitude, &largest);
    ck_assert_msg(fabs(deviation / facts->deviation - 1.0) < tolerance &&
                      fabs(magnitude / facts->magnitude - 1.0) < tolerance,
                  "%s: deviation %g, magnitude %g, not %g, %g", facts->path, deviation, magnitude,
                  facts->deviation, facts->magnitude);
    if (layer->n_parameters == 1) return;
    statistics_of(layer->parameters[1].tensor, &deviation, &magnitude, &largest);
    ck_assert_double_le(fabs(largest - facts->bias), 0.02 * facts->bias);
}

START_TEST(weights_begin_as_torchvisions) {
    Layer *model = published_new(initialised[_i], 1000);
    int compared = 0;
    expect_no_error();
    for (size_t i = 0; i < sizeof(initial_facts) / sizeof(initial_facts[0]); i++) {
        if (strcmp(initial_facts[i].name, initialised[_i]) != 0) continue;
        assert_initial(layer_find(model, initial_facts[i].path), &initial_facts[i]);
        compared++;
    }
    ck_assert_int_ge(compared, 2);
    layer_free(model);
}
END_TEST

// ---- the dry run -------------------------------------------------------------------------------
static const char *const small[] = {"resnet18",           "mobilenet_v2",      "mobilenet_v3_small",
                                    "squeezenet1_1",      "densenet121",       "googlenet",
                                    "inception_v3",       "efficientnet_v2_s", "convnext_tiny",
                                    "shufflenet_v2_x0_5", "mnasnet0_5",        "regnet_y_400mf"};

START_TEST(a_dry_run_of_them_takes_no_memory_and_any_request_may_fail) {
    context_set_device(device_meta());
    int failures = 0;
    for (uint64_t n = 1; n < 20000; n += 1 + n / 8, failures++) {
        memory_fail_at(n);
        Layer *model = published_new(small[_i], 10);
        memory_fail_at(0);
        layer_free(model);
        if (model) break;
        expect_error(STATUS_OUT_OF_MEMORY, "");
        ck_assert_int_eq(expect_live_bytes(), 0);
    }
    ck_assert_int_gt(failures, 30);
}
END_TEST

START_TEST(what_makes_no_network_is_refused) {
    ResNetOptions options = resnet_defaults();
    options.classes = 0;
    context_set_device(device_meta());
    Layer *none = resnet_new(options);
    layer_free(none); // a head without classes is legal
    expect_no_error();
    options.bottleneck = true;
    for (int i = 0; i < 4; i++) {
        static const int64_t wrong[] = {0, INT64_MAX};
        ResNetOptions other = options;
        *(i < 2 ? &other.groups : &other.width_per_group) = wrong[i % 2];
        ck_assert_ptr_null(resnet_new(other));
        expect_error(STATUS_INVALID_ARGUMENT, "HINT: each from 1 to 65536");
    }
    ck_assert_ptr_null(vgg_new(12, false, 10));
    expect_error(STATUS_INVALID_ARGUMENT, "vgg_new: 12 layers. HINT: 11, 13, 16 or 19");
    ck_assert_ptr_null(mobilenet_v2_new(0.0f, 10));
    expect_error(STATUS_INVALID_ARGUMENT, "mobilenet_v2_new: width 0");
    ck_assert_ptr_null(mobilenet_v2_new(NAN, 10));
    expect_error(STATUS_INVALID_ARGUMENT, "HINT");
    ck_assert_ptr_null(densenet_new(120, 10));
    expect_error(STATUS_INVALID_ARGUMENT, "densenet_new: 120 layers. HINT: 121, 161, 169 or 201");
    ck_assert_ptr_null(efficientnet_new("b8", 10));
    expect_error(STATUS_INVALID_ARGUMENT,
                 "efficientnet_new: no variant \"b8\". HINT: there are b0, b1, ");
    ck_assert_ptr_null(convnext_new(NULL, 10));
    expect_error(STATUS_INVALID_ARGUMENT, "there are tiny, small, base, large");
    ck_assert_ptr_null(regnet_new("z_400mf", 10));
    expect_error(STATUS_INVALID_ARGUMENT, ", x_16gf, x_32gf");
    ck_assert_ptr_null(googlenet_new(-1));
    expect_error(STATUS_INVALID_ARGUMENT, "");
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

static void drop_last_child(Layer *layer) {
    Layer *child = layer->children[layer->n_children - 1];
    layer_leave_parent(child);
    layer_free(child);
}

START_TEST(a_block_that_has_lost_a_part_says_so) {
    static const char *const blocks[][2] = {
        {"squeezenet1_1", "features.3"},    {"convnext_tiny", "features.1.0"},
        {"shufflenet_v2_x0_5", "stage2.1"}, {"regnet_y_400mf", "trunk_output.block4.block4-1"},
        {"resnet18", "layer1.0"},           {"mobilenet_v3_small", "features.1.block.1"},
        {"resnet18", "layer2.0"},           {"regnet_y_400mf", "trunk_output.block4.block4-0"}};
    Layer *model = published_new(blocks[_i][0], 10), *block = layer_find(model, blocks[_i][1]);
    Tensor *x = tensor_full_new(SHAPE(1, 3, 64, 64), 1.0f);
    drop_last_child(block);
    Scope *scope = scope_open();
    ck_assert_ptr_null(layer_forward(model, x));
    expect_error(STATUS_INVALID_ARGUMENT, "the layer is NULL");
    scope_close(scope);
    tensor_free(x);
    layer_free(model);
}
END_TEST

START_TEST(a_norm_of_pixels_is_of_images) {
    Layer *model = published_new("convnext_tiny", 10), *norm = layer_find(model, "classifier.0");
    Scope *scope = scope_open();
    for (int ndim = 0; ndim <= TENSOR_MAX_DIMS; ndim++) {
        Shape shape = {.ndim = ndim, .dims = {1, 768, 1, 1, 1, 1}};
        Tensor *x = tensor_zeros_new(shape), *y = layer_forward(norm, x);
        ck_assert((y != NULL) == (ndim == 4));
        if (!y) expect_error(STATUS_SHAPE, "0: ConvNeXt: x is ");
        tensor_free(x);
    }
    scope_close(scope);
    layer_free(model);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {weights_and_products_are_torchvisions, sizeof(model_facts) / sizeof(model_facts[0])},
        {weights_begin_as_torchvisions, sizeof(initialised) / sizeof(initialised[0])},
        {a_dry_run_of_them_takes_no_memory_and_any_request_may_fail,
         sizeof(small) / sizeof(small[0])},
        {what_makes_no_network_is_refused, 0},
        {a_block_that_has_lost_a_part_says_so, 8},
        {a_norm_of_pixels_is_of_images, 0},
        {NULL, 0},
    };
    return harness_main("models", tests);
}
