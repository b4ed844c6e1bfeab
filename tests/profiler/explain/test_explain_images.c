// test_explain_images.c -- --explain of a network on images: every equation in it is computed
// again, and a convolution derives its multiply-adds from its shapes.
#include <string.h>

#include "layers/layers2d.h"
#include "tests/helpers/expect.h"
#include "tests/profiler/explain/explained.h"

// A network with convolutions, one of them grouped and padded, and every kind of pool.
static Layer *network_new(void) {
    Conv2dOptions grouped = conv2d_padded(conv2d_defaults(), 1);
    grouped.groups = 2;
    Layer *model = sequential_new();
    layer_add_child(model, "conv1", conv2d_new(4, 6, 3, 3, grouped, true));
    layer_add_child(model, "relu1", relu_new());
    layer_add_child(model, "pool1", max_pool2d_new(pool2d_defaults(2)));
    layer_add_child(model, "conv2", conv2d_new(6, 5, 3, 2, conv2d_defaults(), false));
    layer_add_child(model, "pool2", avg_pool2d_new(pool2d_defaults(2)));
    layer_add_child(model, "pool3", adaptive_avg_pool2d_new(2, 1));
    expect_no_error();
    return model;
}

static Profile network_profile(ProfileKind kind) {
    Profile profile;
    Machine machine;
    Layer *model = network_new();
    Tensor *x = tensor_uniform_new(SHAPE(3, 4, 16, 14), 0.0f, 1.0f);
    ck_assert_int_eq(machine_read("tests/fixtures/peaks.json", &machine), STATUS_OK);
    ProfileOptions options = {.warmup = 1, .iterations = 3, .machine = &machine};
    Status status = kind == PROFILE_BACKWARD ? profile_backward(model, x, options, &profile)
                                             : profile_inference(model, x, options, &profile);
    ck_assert_msg(status == STATUS_OK, "%s", error_message());
    ck_assert_msg(profile.reconciled, "%s", profile.difference);
    tensor_free(x);
    layer_free(model);
    return profile;
}

START_TEST(every_equation_holds) {
    Profile profile = network_profile(_i ? PROFILE_INFERENCE : PROFILE_BACKWARD);
    int equations;
    for (int i = 0; i < profile.n_layers; i++) {
        Explained explained = explained_new(&profile, profile.layers[i].path, &equations);
        ck_assert_int_gt(equations, 2);
        explained_free(&explained);
    }
    profile_free(&profile);
}
END_TEST

START_TEST(a_convolution_derives_its_products) {
    Profile profile = network_profile(PROFILE_BACKWARD);
    Explained explained = explained_new(&profile, "conv1", NULL);
    const char *const titles[] = {"forward: conv2d", "backward_weight: conv2d_backward_weight"};
    for (int i = 0; i < 2; i++) {
        const ExplainedBlock *block = explained_block(&explained, titles[i]);
        ck_assert_msg(block != NULL, "no \"%s\":\n%s", titles[i], explained.printed);
        ck_assert_str_eq(explained_text(block, "products"),
                         "3 x 6 x 16 x 14 x 2 x 3 x 3 = 72,576 multiply-adds (n x out x ho x wo x "
                         "in x kh x kw)");
    }
    const ExplainedBlock *forward = explained_block(&explained, titles[0]);
    ck_assert_uint_eq(explained_count(forward, "bias"), 3 * 6 * 16 * 14);
    ck_assert_ptr_nonnull(strstr(explained.printed, "6 x 2 x 3 x 3 + 6 = 114 (weight: out x"));
    ck_assert_ptr_nonnull(explained_block(&explained, "backward_weight: conv2d_backward_bias"));
    ck_assert_ptr_null(explained_block(&explained, "backward_input")); // its input is the batch
    explained_free(&explained);
    explained = explained_new(&profile, "conv2", NULL);
    ck_assert_ptr_nonnull(explained_block(&explained, "backward_input: conv2d_backward_input"));
    // The result of the pool before it: 4 x 3 x 6 x 8 x 7.
    ck_assert_msg(strstr(explained.printed, "x 4,032 B for backward") != NULL, "%s",
                  explained.printed);
    explained_free(&explained);
    profile_free(&profile);
}
END_TEST

// A batch norm's one op gives dweight beside dx, a PReLU's comes later: neither counts as frozen.
START_TEST(what_trains_is_not_called_frozen) {
    for (int frozen = 0; frozen < 2; frozen++) {
        Layer *model = sequential_new();
        layer_add_child(model, "conv", conv2d_new(4, 6, 3, 3, conv2d_defaults(), true));
        layer_add_child(model, "norm", batch_norm2d_new(6, batch_norm_defaults()));
        layer_add_child(model, "prelu", prelu_new(1, 0.25f));
        for (int i = 1; i < 3 && frozen; i++)
            for (int k = 0; k < model->children[i]->n_parameters; k++)
                tensor_requires_grad(model->children[i]->parameters[k].tensor, false);
        Tensor *x = tensor_uniform_new(SHAPE(3, 4, 16, 14), 0.0f, 1.0f);
        Profile profile;
        ProfileOptions options = {.warmup = 1, .iterations = 1};
        ck_assert_int_eq(profile_backward(model, x, options, &profile), STATUS_OK);
        static const char *const paths[] = {"norm", "prelu"};
        for (int i = 0; i < 2; i++) {
            Explained explained = explained_new(&profile, paths[i], NULL);
            ck_assert_msg((strstr(explained.printed, "are frozen") != NULL) == frozen, "%s",
                          explained.printed);
            explained_free(&explained);
        }
        profile_free(&profile);
        tensor_free(x);
        layer_free(model);
    }
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {every_equation_holds, 2},
        {a_convolution_derives_its_products, 0},
        {what_trains_is_not_called_frozen, 0},
        {NULL, 0},
    };
    return harness_main("explain_images", tests);
}
