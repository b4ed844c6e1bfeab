// test_preset_norms.c -- batch norm by other tools' counts: small ones by hand, and a ResNet-18,
// whose figures are those of the tools themselves.
#include <stdio.h>

#include "layers/layers2d.h"
#include "profiler/report/preset.h"
#include "tests/helpers/expect.h"

// A profile of forward and backward in training, or of an evaluation, without a run.
static Profile profile_of(Layer *model, bool training, Shape x_shape) {
    Profile profile;
    expect_no_error();
    Tensor *x = tensor_new(x_shape, DTYPE_FLOAT32);
    Status status =
        (training ? profile_backward : profile_inference)(model, x, (ProfileOptions){0}, &profile);
    ck_assert_msg(!status, "%s", error_message());
    tensor_free(x);
    return profile;
}

static void assert_counts(const Profile *profile, Preset preset, uint64_t want) {
    uint64_t got = preset_count(preset, profile).forward;
    ck_assert_msg(got == want, "%s: %llu, not %llu", preset_name(preset), (unsigned long long)got,
                  (unsigned long long)want);
}

START_TEST(a_batch_norm_counts_as_its_tools_say) {
    enum { N = 2 * 3 * 5 * 7, CHANNELS = 3 };
    context_set_device(device_meta());
    for (int form = 0; form < 8; form++) { // 1: affine, 2: training, 4: tracks nothing
        bool affine = form & 1, training = form & 2, batch = training || form & 4;
        BatchNormOptions options = batch_norm_defaults();
        options.affine = affine;
        options.track_running_stats = !(form & 4);
        Layer *norm = batch_norm2d_new(CHANNELS, options);
        Profile profile = profile_of(norm, training, SHAPE(2, CHANNELS, 5, 7));
        uint64_t each = (batch ? 4 : 1) + affine;
        assert_counts(&profile, PRESET_FVCORE, each * N);
        assert_counts(&profile, PRESET_DEEPSPEED, each * N);
        assert_counts(&profile, PRESET_TORCHINFO, affine ? 2 * 2 * CHANNELS : 0);
        assert_counts(&profile, PRESET_TINYTORCH, N / 2);
        assert_counts(&profile, PRESET_TORCH, 0);
        assert_counts(&profile, PRESET_PAPER, 0);
        assert_counts(&profile, PRESET_TEXTBOOK, 0);
        profile_free(&profile);
        layer_free(norm);
    }
}
END_TEST

// ---- a ResNet-18, as torchvision has it ---------------------------------------------------------
static Layer *conv_new(int64_t in, int64_t out, int64_t kernel, int64_t stride) {
    Conv2dOptions options = conv2d_padded(conv2d_defaults(), kernel / 2);
    options.stride_h = options.stride_w = stride;
    return conv2d_new(in, out, kernel, kernel, options, false);
}

static Layer *norm_new(int64_t channels) {
    return batch_norm2d_new(channels, batch_norm_defaults());
}

enum { CONV1, NORM1, CONV2, NORM2, DOWN_CONV, DOWN_NORM };

static Tensor *block_forward(Layer *self, Tensor *const in[], int n_in) {
    Layer **child = self->children;
    Tensor *x = in[0], *y = layer_forward(child[CONV1], x);
    (void)n_in;
    y = tensor_relu(layer_forward(child[NORM1], y));
    y = layer_forward(child[NORM2], layer_forward(child[CONV2], y));
    if (self->n_children > DOWN_CONV)
        x = layer_forward(child[DOWN_NORM], layer_forward(child[DOWN_CONV], x));
    return tensor_relu(tensor_add(y, x));
}

static const LayerType block_type = {.name = "BasicBlock",
                                     .size = sizeof(Layer),
                                     .forward = block_forward};

static Layer *block_new(int64_t in, int64_t out, int64_t stride) {
    Layer *block = layer_new(&block_type);
    layer_add_child(block, "conv1", conv_new(in, out, 3, stride));
    layer_add_child(block, "bn1", norm_new(out));
    layer_add_child(block, "conv2", conv_new(out, out, 3, 1));
    layer_add_child(block, "bn2", norm_new(out));
    if (in == out && stride == 1) return block;
    layer_add_child(block, "down_conv", conv_new(in, out, 1, stride));
    layer_add_child(block, "down_bn", norm_new(out));
    return block;
}

static Layer *resnet18_new(void) {
    Layer *model = sequential_new();
    Pool2dOptions pool = pool2d_padded(pool2d_defaults(3), 1);
    pool.stride_h = pool.stride_w = 2;
    layer_add_child(model, "conv1", conv_new(3, 64, 7, 2));
    layer_add_child(model, "bn1", norm_new(64));
    layer_add_child(model, "relu", relu_new());
    layer_add_child(model, "maxpool", max_pool2d_new(pool));
    for (int i = 0; i < 8; i++) {
        char name[16];
        int64_t out = 64 << (i / 2), in = i % 2 || i == 0 ? out : out / 2;
        snprintf(name, sizeof name, "block%d", i);
        layer_add_child(model, name, block_new(in, out, in == out ? 1 : 2));
    }
    layer_add_child(model, "avgpool", adaptive_avg_pool2d_new(1, 1));
    layer_add_child(model, "flatten", flatten_new(1, -1));
    layer_add_child(model, "fc", linear_new(512, 1000, true));
    return model;
}

START_TEST(a_resnet_is_that_of_the_conventions) {
    context_set_device(device_meta());
    Layer *model = resnet18_new();
    ck_assert_int_eq(layer_parameter_count(model), 11689512);
    Profile profile = profile_of(model, false, SHAPE(1, 3, 224, 224));
    ck_assert_uint_eq(profile.totals[REPORT_FORWARD].cost.macs, 1814073344);
    assert_counts(&profile, PRESET_PAPER, 1814073344);
    assert_counts(&profile, PRESET_FVCORE, 1819065856);
    assert_counts(&profile, PRESET_DEEPSPEED, 3636250112);
    profile_free(&profile);
    profile = profile_of(model, true, SHAPE(1, 3, 224, 224));
    ck_assert_uint_eq(preset_count(PRESET_TORCH, &profile).backward, 7020265472);
    profile_free(&profile);
    layer_free(model);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_batch_norm_counts_as_its_tools_say, 0},
        {a_resnet_is_that_of_the_conventions, 0},
        {NULL, 0},
    };
    return harness_main("preset_norms", tests);
}
