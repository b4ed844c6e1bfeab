// test_onnx_known.c -- the description of a model from an ONNX file: its parameters as stored and
// tied, the exporter's changes to its norms, and its layers' attributes. Files:
// tests/fixtures/make_onnx_known.py, make_onnx.py. test_onnx.c tests results.
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "layers/files/onnx.h"
#include "layers/layers1d.h"
#include "layers/layers2d.h"
#include "tensor/ops.h"
#include "tests/helpers/harness.h"

#define FOLDER "tests/fixtures/onnx/"

static Layer *load(const char *file, OnnxModel *about) {
    Layer *model = onnx_load(file, NULL, about);
    if (!model && strstr(error_message(), "protobuf-c")) {
        error_clear();
        test_skip("this was built without protobuf-c");
    }
    ck_assert_msg(model != NULL, "%s", error_message());
    return model;
}

static const struct {
    const char *file;
    int64_t stored, parameters;
    bool folded;
} files[] = {
    {FOLDER "known_again.onnx", 16 + 4 + 16, 16 + 4 + 16, false},
    {FOLDER "known_linear_norm.onnx", 20 + 4, 20 + 4, true},
    {FOLDER "known_transpose_norm.onnx", 24 + 3, 24 + 3, true},
    {FOLDER "known_kept_norm.onnx", 54 + 6, 54 + 6, false},
    {FOLDER "known_told.onnx", 16 + 8 + 20, 16 + 4 + 8 + 20, false},
    {FOLDER "known_fresh_norm.onnx", 54, 54, true}, // adds no tensor: the fresh norm is an identity
    {FOLDER "known_zeros.onnx", 16 + 4 + 4, 16 + 4 + 8 + 8, false},
    {FOLDER "known_unrecorded.onnx", 54 + 6 + 13, 54 + 2 * 6 + 13, false},
};
enum { FILES = sizeof files / sizeof files[0] };

START_TEST(parameters_and_norms_are_told_as_they_are) {
    OnnxModel about;
    Layer *model = load(files[_i].file, &about);
    ck_assert_int_eq(about.parameters_stored, files[_i].stored);
    ck_assert_int_eq(about.parameters, files[_i].parameters);
    ck_assert_int_eq(about.norms_folded, files[_i].folded);
    ck_assert_int_eq(about.remark[0] != '\0', files[_i].folded);
    layer_free(model);
    onnx_model_free(&about);
}
END_TEST

// If the older exporter gives no class, the layer's only step, its input and its numbers tell the
// type; the bias beside them tells attention's weights.
START_TEST(types_are_pytorchs) {
    static const char *const wanted[][2] = {{"block", "Module"},
                                            {"block.fc", "Linear"},
                                            {"norm", "BatchNorm1d"},
                                            {"clip", "Hardtanh"},
                                            {"attend.out_proj", "Linear"}};
    ParameterList list;
    int found = 0;
    Layer *model = load(FOLDER "known_types.onnx", NULL);
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        const Layer *layer = layer_find(model, wanted[i][0]);
        ck_assert_msg(layer != NULL, "%s", wanted[i][0]);
        ck_assert_str_eq(layer->type->name, wanted[i][1]);
    }
    ck_assert_int_eq(layer_parameters(model, &list), STATUS_OK);
    for (int k = 0; k < list.count; k++)
        found += strcmp(list.items[k].path, "attend.in_proj_weight") == 0;
    ck_assert_int_eq(found, 1);
    parameter_list_free(&list);
    layer_free(model);
}
END_TEST

// The exporters store slopes and the weights of a group norm so that they broadcast: (4, 1).
START_TEST(channels_weights_are_vectors) {
    const char *const models[] = {FOLDER "acts.ts.onnx", FOLDER "acts.dy.onnx"};
    const char *const paths[] = {"p", "g"};
    for (int i = 0; i < 4; i++) {
        Layer *model = load(models[i / 2], NULL);
        const Layer *layer = layer_find(model, paths[i % 2]);
        ck_assert(layer && layer->n_parameters > 0);
        for (int k = 0; k < layer->n_parameters; k++)
            ck_assert(shape_equal(layer->parameters[k].tensor->shape, SHAPE(4)));
        layer_free(model);
    }
}
END_TEST

// Zeros that are stored once belong to each layer under its own name, even if they come first.
START_TEST(zeros_are_their_layers) {
    static const char *const wanted[] = {"fc.weight", "fc.bias",     "norm.weight",
                                         "norm.bias", "gate.weight", "gate.bias"};
    ParameterList list;
    Layer *model = load(FOLDER "known_zeros.onnx", NULL);
    ck_assert_int_eq(layer_parameters(model, &list), STATUS_OK);
    ck_assert_int_eq(list.count, 6);
    for (int i = 0; i < 6; i++) {
        int found = 0;
        for (int k = 0; k < list.count; k++) found += strcmp(list.items[k].path, wanted[i]) == 0;
        ck_assert_msg(found == 1, "%s", wanted[i]);
    }
    parameter_list_free(&list);
    layer_free(model);
}
END_TEST

// ---- attributes -------------------------------------------------------------------------------
static void expect_as(Layer *model, const char *path, Layer *built) {
    char got[512], wanted[512];
    Layer *layer = layer_find(model, path);
    ck_assert_msg(layer && built, "%s: %s", path, error_message());
    ck_assert_str_eq(layer->type->name, built->type->name);
    ck_assert_str_eq(layer_attributes_text(layer, got, sizeof got),
                     layer_attributes_text(built, wanted, sizeof wanted));
    ck_assert(got[0] != '\0');
    layer_free(built);
}

START_TEST(layers_say_what_built_ones_do) {
    OnnxModel about;
    Layer *model = load(FOLDER "cnn.ts.onnx", &about);
    Conv2dOptions options = conv2d_padded(conv2d_defaults(), 1);
    options.stride_h = options.stride_w = 2;
    expect_as(model, "0", conv2d_new(3, 4, 3, 3, options, true)); // its bias comes from the norm
    expect_as(model, "7", linear_new(4, 5, true));
    expect_as(model, "5", adaptive_avg_pool2d_new(1, 1));
    int64_t stride;
    ck_assert(layer_attribute(layer_find(model, "0"), "stride_h", &stride) && stride == 2);
    ck_assert(!layer_attribute(model, "stride_h", &stride)); // several steps: no attribute
    layer_free(model);
    onnx_model_free(&about);
    model = load(FOLDER "chargpt.dy.onnx", &about);
    expect_as(model, "h.1.ln_1", layer_norm_new(SHAPE(8), 1e-5f, true));
    expect_as(model, "h.0.qkv", linear_new(8, 24, true));
    layer_free(model);
    onnx_model_free(&about);
    model = load(FOLDER "lstm.ts.onnx", &about);
    expect_as(model, "embed", embedding_new(9, 4));
    layer_free(model);
    onnx_model_free(&about);
    model = load(FOLDER "acts.ts.onnx", &about);
    Conv1dOptions flat = conv1d_defaults();
    flat.padding_left = flat.padding_right = 1;
    expect_as(model, "c", conv1d_new(2, 4, 3, flat, true));
    layer_free(model);
    onnx_model_free(&about);
    model = load(FOLDER "known_kept_norm.onnx", &about);
    expect_as(model, "1", batch_norm2d_new(3, batch_norm_defaults()));
    layer_free(model);
    onnx_model_free(&about);
}
END_TEST

// A convolution of a file has no bias that its program would read, so no norm is folded into it.
START_TEST(a_norm_of_a_file_stays_where_it_is) {
    OnnxModel about;
    Layer *model = load(FOLDER "known_kept_norm.onnx", &about);
    Scope *scope = scope_open();
    Tensor *x = tensor_uniform_new(about.inputs[0].shape, -1.0f, 1.0f), *in[] = {x};
    float before[2 * 3 * 4 * 4], after[2 * 3 * 4 * 4];
    ck_assert_int_eq(tensor_read_floats(layer_forward(model, x), before), STATUS_OK);
    int64_t count = -1;
    ck_assert_int_eq(layer_fold_norms(model, in, 1, &count), STATUS_OK);
    ck_assert_int_eq(count, 0);
    ck_assert_int_eq(layer_parameter_count(model), about.parameters);
    ck_assert_int_eq(tensor_read_floats(layer_forward(model, x), after), STATUS_OK);
    ck_assert_mem_eq(before, after, sizeof before);
    scope_close(scope);
    tensor_free(x);
    layer_free(model);
    onnx_model_free(&about);
}
END_TEST

// A buffer that a product reads is no parameter. A table that was read at known places is one,
// under its name, unless it repeats a row. A bias of zeros is restored. Ones that two norms share
// belong only to the norm with parameters.
START_TEST(parameters_are_what_the_exporter_recorded) {
    static const float wanted[] = {0.69023f,  1.32863f,  0.07792f,  -0.52208f, -1.57469f,
                                   -1.33655f, -0.67954f, 1.25113f,  -0.28607f, 1.05103f,
                                   -1.50327f, 0.506f,    -0.52756f, 1.48464f,  0.04019f,
                                   -0.23226f, -1.05329f, 1.90808f,  -0.34311f, -0.27943f};
    static const char *const paths[] = {"fc.weight", "fc.bias", "positions.weight", "affine.weight",
                                        "affine.bias"};
    OnnxModel about;
    ParameterList list;
    float got[20];
    Layer *model = load(FOLDER "known_told.onnx", &about);
    ck_assert_int_eq(layer_parameters(model, &list), STATUS_OK);
    ck_assert_int_eq(list.count, 5);
    for (int i = 0; i < 5; i++) {
        int at = 0;
        while (at < list.count && strcmp(list.items[at].path, paths[i]) != 0) at++;
        ck_assert_msg(at < list.count, "no parameter \"%s\"", paths[i]);
    }
    Scope *scope = scope_open();
    Tensor *x = tensor_arange_new(0, 15, 1);
    Tensor *in =
        tensor_reshape(tensor_mul_scalar(tensor_cast(x, DTYPE_FLOAT32), 0.1f), SHAPE(5, 3));
    ck_assert_int_eq(tensor_read_floats(layer_forward(model, in), got), STATUS_OK);
    harness_assert_close(got, wanted, 20, 1e-4, 1e-5, "known_told");
    scope_close(scope);
    tensor_free(x);
    parameter_list_free(&list);
    layer_free(model);
    onnx_model_free(&about);
}
END_TEST

// Uniform, normal, and 1 with a probability; other values each time.
START_TEST(noise_is_drawn) {
    OnnxModel about;
    Layer *model = load(FOLDER "known_random.onnx", &about);
    float p[200], a[200], again[200], b[200], c[200];
    for (int i = 0; i < 200; i++) p[i] = i % 2 ? 1.0f : 0.0f;
    Scope *scope = scope_open();
    Tensor *x = tensor_from_floats_new(SHAPE(2, 100), p), *out[LAYER_MAX_OUTPUTS];
    ck_assert_msg(!layer_forward_each(model, &x, 1, out, 3), "%s", error_message());
    ck_assert(shape_equal(out[1]->shape, SHAPE(5, 40)));
    tensor_read_floats(out[0], a);
    tensor_read_floats(out[1], b);
    tensor_read_floats(out[2], c);
    ck_assert_int_eq(tensor_read_floats(layer_forward(model, x), again), STATUS_OK);
    double sum = 0, squares = 0;
    for (int i = 0; i < 200; i++) {
        ck_assert(a[i] >= 2.0f && a[i] < 3.0f && c[i] == p[i]);
        sum += (double)b[i];
        squares += ((double)b[i] - 10.0) * ((double)b[i] - 10.0);
    }
    ck_assert(memcmp(a, again, sizeof a) != 0);
    ck_assert_double_eq_tol(sum / 200, 10.0, 0.2);
    ck_assert_double_eq_tol(squares / 200, 0.25, 0.1);
    scope_close(scope);
    tensor_free(x);
    layer_free(model);
    onnx_model_free(&about);
}
END_TEST

// Evaluation drops nothing; training makes a row 0, or multiplies it by 1 / 0.75.
START_TEST(depth_is_dropped_in_training) {
    OnnxModel about;
    float x[24], plain[24], got[24];
    int dropped = 0, kept = 0;
    Layer *model = load(FOLDER "known_depth.onnx", &about);
    ck_assert_str_eq(layer_find(model, "1")->type->name, "StochasticDepth");
    for (int i = 0; i < 24; i++) x[i] = (float)(i % 7) - 2.5f;
    Scope *scope = scope_open();
    Tensor *in = tensor_from_floats_new(SHAPE(8, 3), x);
    Tensor *weight = layer_find(model, "0")->parameters[0].tensor;
    ck_assert_int_eq(tensor_read_floats(tensor_linear(in, weight, NULL, NULL), plain), STATUS_OK);
    ck_assert_int_eq(tensor_read_floats(layer_forward(model, in), got), STATUS_OK);
    harness_assert_close(got, plain, 24, 1e-6, 1e-6, "in evaluation");
    layer_train(model, true);
    for (int run = 0; run < 8; run++) {
        ck_assert_int_eq(tensor_read_floats(layer_forward(model, in), got), STATUS_OK);
        for (int i = 0; i < 8; i++) {
            bool zero = got[3 * i] == 0.0f;
            zero ? dropped++ : kept++;
            for (int k = 3 * i; k < 3 * i + 3; k++)
                ck_assert(fabsf(got[k] - (zero ? 0.0f : plain[k] / 0.75f)) < 1e-5f);
        }
    }
    ck_assert(dropped > 4 && kept > 32);
    scope_close(scope);
    tensor_free(in);
    layer_free(model);
    onnx_model_free(&about);
}
END_TEST

// A dropout's second result is the mask of kept elements. Here x is multiplied by it once more.
START_TEST(dropout_says_what_it_keeps) {
    float x[8], got[8];
    int kept = 0, dropped = 0;
    Layer *model = load(FOLDER "edge_dropout_mask.onnx", NULL);
    for (int i = 0; i < 8; i++) x[i] = (float)i - 3.5f;
    layer_train(model, true);
    Scope *scope = scope_open();
    Tensor *in = tensor_from_floats_new(SHAPE(2, 4), x);
    for (int run = 0; run < 8; run++) {
        ck_assert_int_eq(tensor_read_floats(layer_forward(model, in), got), STATUS_OK);
        for (int i = 0; i < 8; i++) {
            got[i] == 0.0f ? dropped++ : kept++;
            ck_assert(got[i] == 0.0f || got[i] == 2.0f * x[i]);
        }
    }
    ck_assert(dropped > 8 && kept > 8);
    scope_close(scope);
    tensor_free(in);
    layer_free(model);
}
END_TEST

// The end of scikit-learn's classifiers: classes by their scores, in one row.
START_TEST(classes_have_their_names) {
    static const float scores[] = {1, 3, 2, 9, 0, 1, 0, 1, 5, -3, -1, -2};
    static const float names[] = {-2, 7, 40, -2}, entries[] = {2, 1, 1, 9, 5, 0, -2, -3};
    static const float scaled[] = {0, 0.5f, 9, 16, -1, 6, -2, -0.5f, 18, -8, -1.5f, -3};
    OnnxModel about;
    Layer *model = load(FOLDER "known_labels.onnx", &about);
    Scope *scope = scope_open();
    Tensor *x = tensor_from_floats_new(SHAPE(4, 3), scores), *out[LAYER_MAX_OUTPUTS];
    ck_assert_msg(!layer_forward_each(model, &x, 1, out, 3), "%s", error_message());
    Tensor *y = tensor_cast(out[0], DTYPE_FLOAT32);
    ck_assert_msg(y && shape_equal(y->shape, SHAPE(1, 4)), "%s", error_message());
    ck_assert_mem_eq(tensor_data(y), names, sizeof names);
    ck_assert(shape_equal(out[1]->shape, SHAPE(4, 2)));
    ck_assert_mem_eq(tensor_data(out[1]), entries, sizeof entries);
    ck_assert(shape_equal(out[2]->shape, SHAPE(4, 3)));
    ck_assert_mem_eq(tensor_data(out[2]), scaled, sizeof scaled);
    scope_close(scope);
    tensor_free(x);
    layer_free(model);
    onnx_model_free(&about);
}
END_TEST

// A loader that read a pipe without a writer would wait forever.
START_TEST(a_pipe_is_no_model) {
    char folder[64], path[80];
    OnnxModel about;
    snprintf(folder, sizeof folder, "/tmp/ridgepoint-pipe-%ld", (long)getpid());
    ck_assert_int_eq(mkdir(folder, 0700), 0);
    snprintf(path, sizeof path, "%s/x.onnx", folder);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    layer_free(load(files[0].file, &about)); // without a reader of ONNX all files fail
    onnx_model_free(&about);
    ck_assert_ptr_null(onnx_load(path, NULL, NULL));
    ck_assert_msg(error_status() == STATUS_IO, "%s", error_message());
    error_clear();
    unlink(path);
    rmdir(folder);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {parameters_and_norms_are_told_as_they_are, FILES},
        {types_are_pytorchs, 0},
        {channels_weights_are_vectors, 0},
        {zeros_are_their_layers, 0},
        {layers_say_what_built_ones_do, 0},
        {a_norm_of_a_file_stays_where_it_is, 0},
        {parameters_are_what_the_exporter_recorded, 0},
        {noise_is_drawn, 0},
        {depth_is_dropped_in_training, 0},
        {dropout_says_what_it_keeps, 0},
        {classes_have_their_names, 0},
        {a_pipe_is_no_model, 0},
        {NULL, 0},
    };
    return harness_main("onnx_known", tests);
}
