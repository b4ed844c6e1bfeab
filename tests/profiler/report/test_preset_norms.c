// test_preset_norms.c -- batch norm by other tools' counts: small ones by hand, and networks, whose
// figures are those of the tools themselves.
#include "layers/models/models.h"
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

// ---- networks, as torchvision has them ---------------------------------------------------------
static const struct {
    const char *name;
    uint64_t macs, fvcore, deepspeed, backward; // of one image: the tools' own figures
} networks[] = {
    {"ResNet-18", 1814073344, 1819065856, 3636250112, 7020265472},
    {"ResNet-50", 4089184256, 4111512576, 8211108352, 16120709120},
    {"MobileNetV2", 300774272, 314193216, 621073280, 1181421056},
};

static Layer *network_new(int which) {
    ResNetOptions resnet = resnet_defaults();
    if (which == 1) resnet = (ResNetOptions){{3, 4, 6, 3}, true, 1, 64, 1000};
    return which == 2 ? mobilenet_v2_new(1.0f, 1000) : resnet_new(resnet);
}

START_TEST(networks_with_norms_count_as_their_tools_say) {
    context_set_device(device_meta());
    Layer *model = network_new(_i);
    Profile profile = profile_of(model, false, SHAPE(1, 3, 224, 224));
    ck_assert_uint_eq(profile.totals[REPORT_FORWARD].cost.macs, networks[_i].macs);
    assert_counts(&profile, PRESET_PAPER, networks[_i].macs);
    assert_counts(&profile, PRESET_FVCORE, networks[_i].fvcore);
    assert_counts(&profile, PRESET_DEEPSPEED, networks[_i].deepspeed);
    profile_free(&profile);
    profile = profile_of(model, true, SHAPE(1, 3, 224, 224));
    ck_assert_uint_eq(preset_count(PRESET_TORCH, &profile).backward, networks[_i].backward);
    profile_free(&profile);
    layer_free(model);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_batch_norm_counts_as_its_tools_say, 0},
        {networks_with_norms_count_as_their_tools_say, 3},
        {NULL, 0},
    };
    return harness_main("preset_norms", tests);
}
