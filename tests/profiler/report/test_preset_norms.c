// test_preset_norms.c -- other tools' counts of batch norm: small ones by hand. test_tool_counts.c
// tests networks.
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
    for (int form = 0; form < 8; form++) { // bits: 1 affine, 2 training, 4 no running statistics
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

int main(void) {
    const HarnessTest tests[] = {
        {a_batch_norm_counts_as_its_tools_say, 0},
        {NULL, 0},
    };
    return harness_main("preset_norms", tests);
}
