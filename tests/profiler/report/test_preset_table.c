// test_preset_table.c -- the print of --flop-convention: its contents, and that it fits 80 columns.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/report/preset.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/nets.h"

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

// The text of preset_print; free it. Each line must fit, end plainly, and cut no code point.
static char *printed(Preset preset, const Profile *profile) {
    char *text;
    size_t length;
    FILE *file = open_memstream(&text, &length);
    preset_print(preset, profile, file);
    fclose(file);
    int columns = 0;
    for (size_t i = 0; i < length; i++) {
        bool begins = (text[i] & 0xC0) != 0x80;
        columns = text[i] == '\n' ? 0 : columns + begins;
        ck_assert_msg(columns <= 80, "%s is too wide:\n%s", preset_name(preset), text);
        bool has_second = (text[i + 1] & 0xC0) == 0x80;
        ck_assert_msg((text[i] & 0xE0) != 0xC0 || has_second, "a character is cut:\n%s", text);
        ck_assert_msg(text[i] != ' ' || text[i + 1] != '\n', "%s: spaces end a line", text);
    }
    ck_assert_int_eq(text[length - 1], '\n');
    return text;
}

static void check_printed(Preset preset, const Profile *profile, const char *want) {
    char *got = printed(preset, profile);
    ck_assert_str_eq(got, want);
    free(got);
}

START_TEST(tables_are_these) {
    Net net = {.sizes = {784, 512, 10}, .n_sizes = 3, .batch = 64, .options = mlp_defaults()};
    context_set_device(device_meta());
    Profile profile =
        profile_of(mlp_new(net.sizes, net.n_sizes, net.options), SHAPE(net.batch, net.sizes[0]));
    check_printed(PRESET_TORCH, &profile,
                  "FLOP CONVENTION torch  FLOP of PyTorch's FlopCounterMode; a batch of 64\n"
                  "  layer          forward      backward\n"
                  "  fc1         51,380,224    51,380,224\n"
                  "  relu1                0             0\n"
                  "  fc2            655,360     1,310,720\n"
                  "  total       52,035,584    52,690,944\n"
                  "  a sample       813,056       823,296\n"
                  "  forward + backward: 104,726,528\n"
                  "  rule: 2 per multiply-add, in backward too; all else is 0\n"
                  "  ours: 813,056 FLOP = 2 x 406,528 MAC a sample; PyTorch counts the same\n");
    check_printed(PRESET_TEXTBOOK, &profile,
                  "FLOP CONVENTION textbook  FLOP of a textbook exercise; a sample\n"
                  "  layer          forward\n"
                  "  fc1            802,816\n"
                  "  relu1              512\n"
                  "  fc2             10,240\n"
                  "  total          813,568\n"
                  "  rule: 2 per multiply-add, 1 per value of an activation\n"
                  "  ours: 813,056 FLOP = 2 x 406,528 MAC a sample; textbooks add activations\n");
    profile_free(&profile);
}
END_TEST

START_TEST(a_training_tables_rows_are_the_call_sites_of_forward) {
    Net net = {.sizes = {4, 3}, .n_sizes = 2, .batch = 1, .options = mlp_defaults()};
    Profile profile = net_profile(&net, 1);
    check_printed(PRESET_FVCORE, &profile,
                  "FLOP CONVENTION fvcore  fvcore's flops, which are MAC; a batch of 1\n"
                  "  layer          forward\n"
                  "  fc1                 12\n"
                  "  loss                 0\n"
                  "  total               12\n"
                  "  rule: 1 per MAC and value into adaptive pools; 1 to 5 into norms\n"
                  "  ours: 24 FLOP = 2 x 12 MAC a sample; fvcore counts MAC\n");
    profile_free(&profile);
}
END_TEST

START_TEST(tables_of_inference_have_no_backward) {
    Net net = {.sizes = {4, 3}, .n_sizes = 2, .batch = 1, .options = mlp_defaults()};
    NetTask task = net_task_new(&net);
    Profile profile;
    profile_inference(task.model, task.x, (ProfileOptions){.iterations = 1}, &profile);
    expect_no_error();
    char *text = printed(PRESET_TORCH, &profile);
    ck_assert_msg(strstr(text, "  layer          forward\n") && !strstr(text, "forward +"), "%s",
                  text);
    free(text);
    profile_free(&profile);
    net_task_free(&task);
}
END_TEST

START_TEST(tables_fit_whatever_they_hold) {
    static const char *const names[] = {
        "a layer whose name is much longer than any column of any table ever was",
        "\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f\xc3\xa4\xc3\xb6\xc3\xbc"
        "\xc3\x9f\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f\xc3\xa4\xc3\xb6"
        "\xc3\xbc\xc3\x9f\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f",
    };
    context_set_device(device_meta());
    for (int64_t batch = 1; batch <= 250000; batch *= 500) {
        Layer *model = sequential_new();
        layer_add_child(model, names[0], linear_new(1000000, 2000000, true));
        layer_add_child(model, names[1], linear_new_fused(2000000, 3, true, &op_gelu));
        expect_no_error();
        Profile profile = profile_of(model, SHAPE(batch, 1000000));
        for (Preset preset = 0; preset < PRESET_COUNT; preset++) {
            char *text = printed(preset, &profile);
            ck_assert_msg(strstr(text, "  a layer whose name is m~ ") != NULL, "%s", text);
            free(text);
        }
        profile_free(&profile);
    }
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {tables_are_these, 0},
        {a_training_tables_rows_are_the_call_sites_of_forward, 0},
        {tables_of_inference_have_no_backward, 0},
        {tables_fit_whatever_they_hold, 0},
        {NULL, 0},
    };
    return harness_main("preset_table", tests);
}
