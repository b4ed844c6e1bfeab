// test_model_steps.c -- results of published networks: logits and gradients of a training step, or
// of one with running statistics, against PyTorch.
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "layers/cost.h"
#include "tensor/ops.h"
#include "tests/fixtures/models.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/model_values.h"
#include "tests/helpers/published.h"

static bool ends_with(const char *text, const char *end) {
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static void fill(const ParameterList *list, double gain) {
    int64_t at = 0;
    for (int i = 0; i < list->count; i++) {
        Tensor *t = list->items[i].tensor;
        bool norm = t->shape.ndim == 1 && ends_with(list->items[i].path, "weight");
        int64_t fan_in = t->numel / t->shape.dims[0];
        double scale = fan_in > 1 ? gain * sqrt(24.0 / (double)fan_in) : 0.2;
        float *values = malloc((size_t)t->numel * sizeof(float));
        for (int64_t k = 0; k < t->numel; k++, at++)
            values[k] = (float)(scale * model_mixed(at) + (norm ? 1.0 : 0.0));
        ck_assert_int_eq(tensor_write_floats(t, values), STATUS_OK);
        free(values);
    }
}

static const struct {
    const char *name;
    int64_t side;  // image side, pixels
    bool training; // else running statistics and no dropout
    double gain;   // scale of the weights
    // Relative tolerance of gradients. If rounding moves an activation over a ReLU's kink, the
    // error exceeds rounding, and a DenseNet normalises the same activations again and again.
    double tolerance;
    const double *logits, *gradients;
} steps[] = {
    {"resnet18", 64, true, 1.0, 1e-4, resnet18_logits, resnet18_gradients},
    {"mobilenet_v2", 64, false, 1.0, 1e-4, mobilenet_v2_logits, mobilenet_v2_gradients},
    {"mobilenet_v3_small", 64, false, 1.0, 1e-4, mobilenet_v3_small_logits,
     mobilenet_v3_small_gradients},
    {"squeezenet1_1", 64, false, 1.0, 1e-4, squeezenet1_1_logits, squeezenet1_1_gradients},
    {"densenet121", 32, false, 1.0, 2e-3, densenet121_logits, densenet121_gradients},
    {"googlenet", 64, false, 1.0, 1e-4, googlenet_logits, googlenet_gradients},
    {"inception_v3", 96, false, 1.0, 1e-4, inception_v3_logits, inception_v3_gradients},
    {"efficientnet_b0", 64, false, 1.0, 1e-4, efficientnet_b0_logits, efficientnet_b0_gradients},
    {"efficientnet_v2_s", 64, false, 0.7, 1e-4, efficientnet_v2_s_logits,
     efficientnet_v2_s_gradients},
    {"convnext_tiny", 64, false, 1.0, 1e-4, convnext_tiny_logits, convnext_tiny_gradients},
    {"shufflenet_v2_x0_5", 64, false, 1.0, 1e-4, shufflenet_v2_x0_5_logits,
     shufflenet_v2_x0_5_gradients},
    {"mnasnet0_5", 64, false, 1.0, 1e-4, mnasnet0_5_logits, mnasnet0_5_gradients},
    {"regnet_y_400mf", 64, false, 1.0, 1e-4, regnet_y_400mf_logits, regnet_y_400mf_gradients},
};

static void assert_logits(const Tensor *y, const double want[20]) {
    float got[20];
    double largest = 0.0;
    tensor_read_floats(y, got);
    for (int i = 0; i < 20; i++) largest = fmax(largest, fabs(want[i]));
    for (int i = 0; i < 20; i++)
        ck_assert_msg(fabs((double)got[i] - want[i]) < 1e-4 * largest, "logit %d: %g, not %g", i,
                      (double)got[i], want[i]);
}

START_TEST(a_step_gives_pytorchs_numbers) {
    Layer *model = published_new(steps[_i].name, 10);
    ParameterList list;
    layer_parameters(model, &list);
    fill(&list, steps[_i].gain);
    layer_train(model, steps[_i].training);
    Tensor *x = model_input_new(SHAPE(2, 3, steps[_i].side, steps[_i].side), 7),
           *labels = tensor_from_labels_new(SHAPE(2), (int64_t[]){3, 7});
    Scope *scope = scope_open();
    Tensor *y = layer_forward(model, x);
    assert_logits(y, steps[_i].logits);
    ck_assert_int_eq(autograd_backward(tensor_cross_entropy(y, labels)), STATUS_OK);
    for (int i = 0; i < list.count; i++) {
        double sums[2], norm = steps[_i].gradients[2 * i];
        model_sums(list.items[i].tensor->grad, sums);
        double worst = fmax(fabs(sums[0] - norm), fabs(sums[1] - steps[_i].gradients[2 * i + 1]));
        // If the batch norm cancels a parameter, its gradient is 0, and here only rounding.
        double rounding = steps[_i].training ? 5e-5 : 0.0;
        ck_assert_msg(worst <= steps[_i].tolerance * norm + rounding, "%s: %g, %g, not %g, %g",
                      list.items[i].path, sums[0], sums[1], norm, steps[_i].gradients[2 * i + 1]);
    }
    scope_close(scope);
    parameter_list_free(&list);
    tensor_free(x);
    tensor_free(labels);
    layer_free(model);
}
END_TEST

// ---- dry and real ------------------------------------------------------------------------------
// In training, dropout and stochastic depth included.
START_TEST(a_dry_run_costs_what_a_real_one_does) {
    Layer *model = published_new(steps[_i].name, 10);
    Tensor *x = model_input_new(SHAPE(2, 3, steps[_i].side, steps[_i].side), 7);
    expect_no_error();
    model_check_dry_run(model, x);
    tensor_free(x);
    layer_free(model);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_step_gives_pytorchs_numbers, sizeof(steps) / sizeof(steps[0])},
        {a_dry_run_costs_what_a_real_one_does, sizeof(steps) / sizeof(steps[0])},
        {NULL, 0},
    };
    return harness_main("model_steps", tests);
}
