// test_cuda_networks.c -- image networks on the cuda device: a dry run predicts a step there, and a
// step on the cpu counts and saves the same. test_model_steps.c tests results,
// test_cuda_transformers.c transformers, ViT included.
#include <string.h>

#include "layers/cost.h"
#include "tests/cuda/cuda_device.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/model_values.h"
#include "tests/helpers/published.h"

// One small network of each family, on images about as small as it takes; colour images have one
// more column than rows.
static const struct {
    const char *name;
    int64_t channels, height;
} networks[] = {
    {"mnist-cnn", 1, 28},       {"mnist-resnet", 1, 28},       {"lenet5", 1, 32},
    {"alexnet", 3, 63},         {"vgg11_bn", 3, 32},           {"googlenet", 3, 32},
    {"inception_v3", 3, 75},    {"resnet18", 3, 32},           {"resnext50_32x4d", 3, 32},
    {"wide_resnet50_2", 3, 32}, {"densenet121", 3, 32},        {"squeezenet1_1", 3, 32},
    {"mobilenet_v2", 3, 32},    {"mobilenet_v3_small", 3, 32}, {"shufflenet_v2_x0_5", 3, 32},
    {"mnasnet0_5", 3, 32},      {"efficientnet_b0", 3, 32},    {"efficientnet_v2_s", 3, 32},
    {"regnet_y_400mf", 3, 32},  {"regnet_x_400mf", 3, 32},     {"convnext_tiny", 3, 32},
};
enum { NETWORKS = sizeof(networks) / sizeof(networks[0]) };

static ModelRun run_on(Device *device, int which) {
    context_set_device(device);
    Layer *model = published_new(networks[which].name, 10);
    int64_t channels = networks[which].channels, height = networks[which].height;
    Tensor *x = model_input_new(SHAPE(2, channels, height, height + (channels == 3)), 7);
    expect_no_error();
    ModelRun run = model_check_dry_run(model, x);
    tensor_free(x);
    layer_free(model);
    ck_assert_int_eq(expect_live_bytes(), 0);
    return run;
}

// Each device's peak equals its dry run's. The peaks' moments differ, as workspaces do.
START_TEST(a_step_is_that_of_a_dry_run_and_of_the_cpu) {
    Device *cpu = context_current()->device;
    FAKE(void, fake_set_memory, size_t);
    fake_set_memory((size_t)2 << 30); // room for VGG's gradients
    Device *cuda = cuda_device_use();
    context_set_threads(1);
    ModelRun here = run_on(cpu, _i), there = run_on(cuda, _i);
    ck_assert_int_eq(here.ops, there.ops);
    ck_assert_int_eq(here.saved_bytes, there.saved_bytes);
    ck_assert_int_eq(memcmp(here.phase, there.phase, sizeof(here.phase)), 0);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_step_is_that_of_a_dry_run_and_of_the_cpu, NETWORKS},
        {NULL, 0},
    };
    return harness_main("cuda_networks", tests);
}
