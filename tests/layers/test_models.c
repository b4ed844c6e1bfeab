// test_models.c -- published networks against torchvision: names and shapes of weights, parameters,
// products, and what a training step gives; dry runs of all of them beside real ones of the small.
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layers/cost.h"
#include "layers/models/models.h"
#include "tensor/memory.h"
#include "tensor/ops.h"
#include "tests/fixtures/models.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/model_values.h"

// ResNets by their blocks; of a bottleneck its groups and their width.
static const struct {
    const char *name;
    ResNetOptions options;
} resnets[] = {
    {"resnet18", {{2, 2, 2, 2}, false, 1, 64, 0}},
    {"resnet34", {{3, 4, 6, 3}, false, 1, 64, 0}},
    {"resnet50", {{3, 4, 6, 3}, true, 1, 64, 0}},
    {"resnet101", {{3, 4, 23, 3}, true, 1, 64, 0}},
    {"resnet152", {{3, 8, 36, 3}, true, 1, 64, 0}},
    {"resnext50_32x4d", {{3, 4, 6, 3}, true, 32, 4, 0}},
    {"resnext101_32x8d", {{3, 4, 23, 3}, true, 32, 8, 0}},
    {"resnext101_64x4d", {{3, 4, 23, 3}, true, 64, 4, 0}},
    {"wide_resnet50_2", {{3, 4, 6, 3}, true, 1, 128, 0}},
    {"wide_resnet101_2", {{3, 4, 23, 3}, true, 1, 128, 0}},
};

static Layer *model_of(const char *name, int64_t classes) {
    int depth;
    if (strcmp(name, "alexnet") == 0) return alexnet_new(classes);
    if (strcmp(name, "mobilenet_v2") == 0) return mobilenet_v2_new(1.0f, classes);
    if (sscanf(name, "vgg%d", &depth) == 1)
        return vgg_new(depth, strstr(name, "_bn") != NULL, classes);
    for (size_t i = 0; i < sizeof(resnets) / sizeof(resnets[0]); i++)
        if (strcmp(name, resnets[i].name) == 0) {
            ResNetOptions options = resnets[i].options;
            options.classes = classes;
            return resnet_new(options);
        }
    ck_abort_msg("no model %s", name);
    return NULL;
}

// ---- what they are -----------------------------------------------------------------------------
START_TEST(weights_and_products_are_torchvisions) {
    const ModelFacts *facts = &model_facts[_i];
    context_set_device(device_meta());
    Layer *model = model_of(facts->name, 1000);
    expect_no_error();
    ck_assert_int_eq(layer_parameter_count(model), facts->parameters);
    ck_assert_msg(model_state_digest(model) == facts->state, "%s: names or shapes differ",
                  facts->name);
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

// ---- what they compute -------------------------------------------------------------------------
static bool ends_with(const char *text, const char *end) {
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static void fill(const ParameterList *list) {
    int64_t at = 0;
    for (int i = 0; i < list->count; i++) {
        Tensor *t = list->items[i].tensor;
        bool norm = t->shape.ndim == 1 && ends_with(list->items[i].path, "weight");
        double scale = t->shape.ndim > 1 ? sqrt(24.0 / (double)(t->numel / t->shape.dims[0])) : 0.2;
        float *values = malloc((size_t)t->numel * sizeof(float));
        for (int64_t k = 0; k < t->numel; k++, at++)
            values[k] = (float)(scale * model_mixed(at) + (norm ? 1.0 : 0.0));
        ck_assert_int_eq(tensor_write_floats(t, values), STATUS_OK);
        free(values);
    }
}

static const struct {
    const char *name;
    int64_t side; // of the images
    const double *logits, *gradients;
} steps[] = {{"resnet18", 64, resnet18_logits, resnet18_gradients},
             {"mobilenet_v2", 64, mobilenet_v2_logits, mobilenet_v2_gradients}};

START_TEST(a_training_step_gives_pytorchs_numbers) {
    Layer *model = model_of(steps[_i].name, 10);
    ParameterList list;
    layer_parameters(model, &list);
    fill(&list);
    layer_train(model, _i == 0);
    Tensor *x = model_input_new(SHAPE(2, 3, steps[_i].side, steps[_i].side), 7),
           *labels = tensor_from_labels_new(SHAPE(2), (int64_t[]){3, 7});
    Scope *scope = scope_open();
    Tensor *y = layer_forward(model, x);
    float logits[20];
    tensor_read_floats(y, logits);
    for (int i = 0; i < 20; i++)
        ck_assert_msg(fabs((double)logits[i] - steps[_i].logits[i]) < 1e-4, "logit %d: %g, not %g",
                      i, (double)logits[i], steps[_i].logits[i]);
    ck_assert_int_eq(autograd_backward(tensor_cross_entropy(y, labels)), STATUS_OK);
    for (int i = 0; i < list.count; i++) {
        double sums[2], norm = steps[_i].gradients[2 * i];
        model_sums(list.items[i].tensor->grad, sums);
        double worst = fmax(fabs(sums[0] - norm), fabs(sums[1] - steps[_i].gradients[2 * i + 1]));
        // What a batch norm takes out again has a gradient of 0, and here of rounding.
        ck_assert_msg(worst <= 1e-4 * norm + 5e-5, "%s: %g, %g, not %g, %g", list.items[i].path,
                      sums[0], sums[1], norm, steps[_i].gradients[2 * i + 1]);
    }
    scope_close(scope);
    parameter_list_free(&list);
    tensor_free(x);
    tensor_free(labels);
    layer_free(model);
}
END_TEST

// ---- the dry run -------------------------------------------------------------------------------
START_TEST(a_dry_run_of_them_takes_no_memory_and_any_request_may_fail) {
    context_set_device(device_meta());
    int failures = 0;
    for (uint64_t n = 1; n < 4000; n += 1 + n / 16, failures++) {
        memory_fail_at(n);
        Layer *model = model_of(steps[_i].name, 10);
        memory_fail_at(0);
        layer_free(model);
        if (model) break;
        expect_error(STATUS_OUT_OF_MEMORY, "");
        ck_assert_int_eq(expect_live_bytes(), 0);
    }
    ck_assert_int_gt(failures, 40);
}
END_TEST

START_TEST(what_makes_no_network_is_refused) {
    ResNetOptions options = resnet_defaults();
    options.classes = 0;
    context_set_device(device_meta());
    Layer *none = resnet_new(options);
    layer_free(none); // no class is a legal head
    expect_no_error();
    options.groups = 0;
    options.bottleneck = true;
    ck_assert_ptr_null(resnet_new(options));
    expect_error(STATUS_INVALID_ARGUMENT, "conv2d_new");
    ck_assert_ptr_null(vgg_new(12, false, 10));
    expect_error(STATUS_INVALID_ARGUMENT, "vgg_new: 12 layers. HINT: 11, 13, 16 or 19");
    ck_assert_ptr_null(mobilenet_v2_new(0.0f, 10));
    expect_error(STATUS_INVALID_ARGUMENT, "mobilenet_v2_new: width 0");
    ck_assert_ptr_null(mobilenet_v2_new(NAN, 10));
    expect_error(STATUS_INVALID_ARGUMENT, "HINT");
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {weights_and_products_are_torchvisions, sizeof(model_facts) / sizeof(model_facts[0])},
        {a_training_step_gives_pytorchs_numbers, 2},
        {a_dry_run_of_them_takes_no_memory_and_any_request_may_fail, 2},
        {what_makes_no_network_is_refused, 0},
        {NULL, 0},
    };
    return harness_main("models", tests);
}
