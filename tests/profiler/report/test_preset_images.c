// test_preset_images.c -- convolutions, pools and networks of them: other tools' counts compared
// with the tools themselves (fixtures/make_presets.py), and the conventions' table of networks.
#include <string.h>

#include "layers/models/models.h"
#include "profiler/report/preset.h"
#include "tests/fixtures/presets.h"
#include "tests/helpers/expect.h"

enum {
    CONVOLUTIONS = sizeof(tool_convolutions) / sizeof(tool_convolutions[0]),
    POOLS = sizeof(tool_pools) / sizeof(tool_pools[0]),
    NETWORKS = sizeof(tool_networks) / sizeof(tool_networks[0]),
};

// A profile of forward and backward, without a run; frees the model.
static Profile profile_of(Layer *model, Shape x_shape) {
    Profile profile;
    Tensor *x = tensor_new(x_shape, DTYPE_FLOAT32);
    Status status = profile_backward(model, x, (ProfileOptions){0}, &profile);
    ck_assert_msg(!status, "%s", error_message());
    tensor_free(x);
    layer_free(model);
    return profile;
}

static void assert_counts(const Profile *profile, Preset preset, uint64_t want) {
    uint64_t got = preset_count(preset, profile).forward;
    ck_assert_msg(got == want, "%s: %llu, the tool says %llu", preset_name(preset),
                  (unsigned long long)got, (unsigned long long)want);
}

static void check_tools(const Profile *profile, const ToolCounts *want) {
    assert_counts(profile, PRESET_TORCH, want->torch);
    assert_counts(profile, PRESET_PAPER, want->torch / 2);
    assert_counts(profile, PRESET_FVCORE, want->fvcore);
    assert_counts(profile, PRESET_DEEPSPEED, want->deepspeed);
    assert_counts(profile, PRESET_TORCHINFO, want->torchinfo);
}

START_TEST(convolutions_count_as_their_tools_say) {
    const int64_t *x = tool_convolutions[_i].x, *kernel = tool_convolutions[_i].kernel;
    const int64_t *padding = tool_convolutions[_i].padding;
    const ToolCounts *want = &tool_convolutions[_i].want;
    Conv2dOptions options = {.stride_h = tool_convolutions[_i].stride[0],
                             .stride_w = tool_convolutions[_i].stride[1],
                             .padding_top = padding[0],
                             .padding_bottom = padding[0],
                             .padding_left = padding[1],
                             .padding_right = padding[1],
                             .dilation_h = tool_convolutions[_i].dilation[0],
                             .dilation_w = tool_convolutions[_i].dilation[1],
                             .groups = tool_convolutions[_i].groups};
    context_set_device(device_meta());
    Profile profile = profile_of(conv2d_new(x[1], tool_convolutions[_i].outputs, kernel[0],
                                            kernel[1], options, tool_convolutions[_i].bias),
                                 SHAPE(x[0], x[1], x[2], x[3]));
    check_tools(&profile, want);
    // PyTorch 2.15 counts the weight's gradient of a grouped convolution as if it had no groups.
    uint64_t backward = want->torch_backward / (uint64_t)options.groups;
    ck_assert_uint_eq(preset_count(PRESET_TORCH, &profile).backward, backward);
    ck_assert_uint_eq(profile.totals[REPORT_BACKWARD].cost.macs, want->torch / 2);
    uint64_t sample = want->torch / (uint64_t)x[0];
    assert_counts(&profile, PRESET_TEXTBOOK, sample);
    assert_counts(&profile, PRESET_TINYTORCH, sample * (uint64_t)options.groups);
    profile_free(&profile);
}
END_TEST

START_TEST(pools_count_as_their_tools_say) {
    Pool2dOptions options = pool2d_padded(pool2d_defaults(3), 1);
    options.stride_h = options.stride_w = 2;
    Layer *const pools[] = {max_pool2d_new(options), avg_pool2d_new(options),
                            adaptive_avg_pool2d_new(3, 2)};
    static const char *const names[] = {"max_pool2d", "avg_pool2d", "adaptive_avg_pool2d"};
    context_set_device(device_meta());
    for (int i = 0; i < POOLS; i++) {
        ck_assert_str_eq(names[i], tool_pools[i].op);
        Profile profile = profile_of(pools[i], SHAPE(2, 3, 9, 7));
        check_tools(&profile, &tool_pools[i].want);
        assert_counts(&profile, PRESET_TEXTBOOK, 0);
        assert_counts(&profile, PRESET_TINYTORCH, 3 * 9 * 7);
        profile_free(&profile);
    }
}
END_TEST

START_TEST(networks_are_those_of_the_conventions) {
    static const struct {
        const char *name;
        uint64_t parameters, macs, fvcore, deepspeed, backward;
    } truth[] = {
        {"lenet5", 61706, 416520, 416520, 845648, 1430880},
        {"alexnet", 61100840, 714188480, 714197696, 1429741184, 2716200320},
        {"vgg16", 138357544, 15470264320, 15470289408, 30973778432, 61707649024},
    };
    int64_t channels = tool_networks[_i].channels, size = tool_networks[_i].size;
    context_set_device(device_meta());
    ck_assert_int_eq(sizeof(truth) / sizeof(truth[0]), NETWORKS);
    ck_assert_str_eq(truth[_i].name, tool_networks[_i].model);
    Layer *model = _i == 0   ? lenet5_new(10)
                   : _i == 1 ? alexnet_new(1000)
                             : vgg_new(16, false, 1000);
    expect_no_error();
    ck_assert_int_eq(layer_parameter_count(model), tool_networks[_i].parameters);
    ck_assert_uint_eq((uint64_t)layer_parameter_count(model), truth[_i].parameters);
    Profile profile = profile_of(model, SHAPE(1, channels, size, size));
    check_tools(&profile, &tool_networks[_i].want);
    assert_counts(&profile, PRESET_FVCORE, truth[_i].fvcore);
    assert_counts(&profile, PRESET_DEEPSPEED, truth[_i].deepspeed);
    ck_assert_uint_eq(preset_count(PRESET_TORCH, &profile).backward, truth[_i].backward);
    ck_assert_uint_eq(tool_networks[_i].want.torch_backward, truth[_i].backward);
    ck_assert_uint_eq(profile.totals[REPORT_FORWARD].cost.macs, truth[_i].macs);
    ck_assert_uint_eq(2 * profile.totals[REPORT_BACKWARD].cost.macs, truth[_i].backward);
    profile_free(&profile);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {convolutions_count_as_their_tools_say, CONVOLUTIONS},
        {pools_count_as_their_tools_say, 0},
        {networks_are_those_of_the_conventions, NETWORKS},
        {NULL, 0},
    };
    return harness_main("preset_images", tests);
}
