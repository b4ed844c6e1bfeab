// test_tool_counts.c -- other tools' counts of published networks, exact: those of the zoo, and
// those that fixtures/composed/ writes as text. fixtures/make_tool_counts.py asks the tools.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layers/files/model_text.h"
#include "layers/models/zoo.h"
#include "profiler/report/preset.h"
#include "tensor/ops.h"
#include "tests/fixtures/tool_counts.h"
#include "tests/helpers/expect.h"

enum { ROWS = sizeof(tool_counts) / sizeof(tool_counts[0]), TEXT = 1 << 14 };

// ---- a layer for this test: runs every child on x, and sums their results ----------------------
static Tensor *run_sum(Layer *self, Tensor *const in[], int n_in) {
    (void)n_in;
    Tensor *sum = layer_forward(self->children[0], in[0]);
    for (int i = 1; i < self->n_children; i++)
        sum = tensor_add(sum, layer_forward(self->children[i], in[0]));
    return sum;
}

static const LayerType sum_type = {.name = "Sum", .size = sizeof(Layer), .forward = run_sum};

static Layer *make_sum(const double *values) { return (void)values, layer_new(&sum_type); }

static const ModelTextLayer further[] = {{"Sum", "", make_sum, true}, {.name = NULL}};

static Layer *composed_new(const char *name, Shape *input) {
    static char text[TEXT];
    char path[128];
    snprintf(path, sizeof(path), "tests/fixtures/composed/%s", name);
    FILE *file = fopen(path, "r");
    ck_assert_msg(file != NULL, "%s cannot be read", path);
    size_t length = fread(text, 1, TEXT - 1, file);
    fclose(file);
    ck_assert_uint_lt(length, TEXT - 1);
    text[length] = '\0';
    return model_text_read_with(text, input, further);
}

// ---- counts -------------------------------------------------------------------------------------
static void assert_count(const char *name, const char *what, uint64_t got, uint64_t want) {
    ck_assert_msg(got == want, "%s, %s: %llu, the tool says %llu", name, what,
                  (unsigned long long)got, (unsigned long long)want);
}

static void assert_preset(int row, const Profile *profile, Preset preset, uint64_t want) {
    assert_count(tool_counts[row].name, preset_name(preset), preset_count(preset, profile).forward,
                 want);
}

static void check_forward(int row, Layer *model, Tensor *x) {
    Profile profile;
    Status status = profile_inference(model, x, (ProfileOptions){0}, &profile);
    ck_assert_msg(!status, "%s: %s", tool_counts[row].name, error_message());
    assert_count(tool_counts[row].name, "parameters", (uint64_t)profile.parameters,
                 tool_counts[row].parameters);
    assert_preset(row, &profile, PRESET_TORCH, 2 * tool_counts[row].macs);
    assert_preset(row, &profile, PRESET_PAPER, tool_counts[row].macs);
    assert_preset(row, &profile, PRESET_FVCORE, tool_counts[row].fvcore);
    assert_preset(row, &profile, PRESET_DEEPSPEED, tool_counts[row].deepspeed);
    if (tool_counts[row].torchinfo)
        assert_preset(row, &profile, PRESET_TORCHINFO, tool_counts[row].torchinfo);
    profile_free(&profile);
}

static void check_backward(int row, Layer *model, Tensor *x) {
    Profile profile;
    Status status = profile_backward(model, x, (ProfileOptions){0}, &profile);
    ck_assert_msg(!status, "%s: %s", tool_counts[row].name, error_message());
    assert_count(tool_counts[row].name, "backward", preset_count(PRESET_TORCH, &profile).backward,
                 tool_counts[row].backward);
    ck_assert_uint_eq(2 * profile.totals[REPORT_BACKWARD].cost.macs, tool_counts[row].backward);
    ck_assert_int_eq(profile.n_uncounted, 0);
    profile_free(&profile);
}

START_TEST(networks_count_as_their_tools_say) {
    const char *name = tool_counts[_i].name;
    const ZooModel *published = zoo_find(name);
    Shape input = tool_counts[_i].input;
    context_set_device(device_meta());
    Layer *model = published ? zoo_new(published, 0) : composed_new(name, &input);
    ck_assert_msg(model != NULL, "%s: %s", name, error_message());
    ck_assert(published || shape_equal(input, tool_counts[_i].input));
    Tensor *x = tensor_new(input, DTYPE_FLOAT32);
    check_forward(_i, model, x);
    check_backward(_i, model, x);
    tensor_free(x);
    layer_free(model);
}
END_TEST

// Every image network of the zoo, except this project's own.
START_TEST(each_network_of_images_is_among_them) {
    for (int i = 0; zoo_at(i); i++) {
        const ZooModel *model = zoo_at(i);
        if (model->vocabulary > 0 || model->input[1] < 200) continue;
        int found = 0;
        Shape own = SHAPE(1, model->input[0], model->input[1], model->input[2]);
        while (found < ROWS && !(strcmp(tool_counts[found].name, model->name) == 0 &&
                                 shape_equal(tool_counts[found].input, own)))
            found++;
        ck_assert_msg(found < ROWS, "%s has no counts of tools, or of images of another size",
                      model->name);
    }
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {networks_count_as_their_tools_say, ROWS},
        {each_network_of_images_is_among_them, 0},
        {NULL, 0},
    };
    return harness_main("tool_counts", tests);
}
