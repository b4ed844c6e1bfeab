// test_onnx_learned.c -- the numbers of an ONNX file that are parameters, wherever they are stored,
// whichever nodes lie between them and a layer, and whoever shares them; the remarks on guesses;
// and a gradient for each. Files: tests/fixtures/make_onnx_learned.py.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "autograd/autograd.h"
#include "tensor/ops.h"
#include "tests/fixtures/onnx_learned.h"
#include "tests/helpers/onnx_files.h"

enum { FILES = sizeof learned / sizeof learned[0] };

static Layer *load(int which, OnnxModel *about) {
    char path[128];
    snprintf(path, sizeof path, FOLDER "learned_%s.onnx", learned[which].name);
    Layer *model = onnx_load(path, NULL, about);
    ck_assert_msg(model != NULL, "%s", error_message());
    return model;
}

START_TEST(parameters_are_where_they_go) {
    OnnxModel about;
    Layer *model = load(_i, &about);
    ck_assert_int_eq(about.parameters, learned[_i].parameters);
    ck_assert_int_eq(layer_parameter_count(model), learned[_i].parameters);
    layer_free(model);
    onnx_model_free(&about);
}
END_TEST

START_TEST(guesses_are_said) {
    OnnxModel about;
    Layer *model = load(_i, &about);
    bool said = !learned[_i].said[0];
    if (learned[_i].guessed >= 0) ck_assert_int_eq(about.parameters_guessed, learned[_i].guessed);
    ck_assert(about.n_assumed > 0 || about.parameters_guessed == 0);
    for (int i = 0; i < about.n_assumed; i++) {
        ck_assert_int_gt(strlen(about.assumed[i].what), 0);
        said = said || strstr(about.assumed[i].what, learned[_i].said) ||
               strstr(about.assumed[i].taken, learned[_i].said);
    }
    ck_assert_msg(said, "%s: \"%s\" is not said", learned[_i].name, learned[_i].said);
    bool sure = !learned[_i].said[0] && learned[_i].guessed == 0;
    for (int i = 0; i < about.n_assumed && sure; i++)
        ck_assert_msg(!strstr(about.assumed[i].what, "recorded"), "%s", about.assumed[i].what);
    layer_free(model);
    onnx_model_free(&about);
}
END_TEST

// The loss weighs each number of y differently, so that no norm makes it flat.
START_TEST(a_gradient_comes_back_to_each) {
    OnnxModel about;
    ParameterList list;
    Layer *model = load(_i, &about);
    Tensor *by = tensor_uniform_new(about.outputs[0].shape, 0.5f, 2.0f);
    layer_train(model, true);
    ck_assert_int_eq(layer_parameters(model, &list), STATUS_OK);
    for (int i = 0; i < 8 && list.count > 0; i++) { // a slope needs inputs below 0
        Scope *scope = scope_open();
        Tensor *x = tensor_uniform_new(about.inputs[0].shape, -4.0f, 4.0f);
        Tensor *y = layer_forward(model, x);
        autograd_backward(tensor_sum(tensor_mul(tensor_mul(y, y), by), DIM_ALL, false));
        scope_close(scope);
        tensor_free(x);
    }
    ck_assert_msg(!error_pending(), "%s", error_message());
    for (int i = 0; i < list.count; i++) {
        Tensor *gradient = list.items[i].tensor->grad;
        if (list.items[i].is_buffer) continue;
        float most = 0.0f;
        ck_assert_msg(gradient != NULL, "%s has none", list.items[i].path);
        for (int64_t k = 0; k < gradient->numel; k++)
            most = fmaxf(most, fabsf(tensor_data(gradient)[k]));
        ck_assert_msg(most > 0.0f, "%s: that of %s is 0", learned[_i].name, list.items[i].path);
    }
    parameter_list_free(&list);
    tensor_free(by);
    layer_free(model);
    onnx_model_free(&about);
}
END_TEST

// A function's numbers are stored once; scales are none.
START_TEST(what_is_stored_is_counted_once) {
    static const char *const files[] = {"learned_function_twice", "learned_placed_resized"};
    for (int f = 0; f < 2; f++) {
        OnnxModel about;
        char path[200];
        snprintf(path, sizeof path, FOLDER "%s.onnx", files[f]);
        Layer *model = onnx_load(path, NULL, &about);
        ck_assert_msg(model != NULL, "%s", error_message());
        ck_assert_int_eq(about.parameters_stored, f == 0 ? 9 : 0);
        for (int i = 0; i < about.n_assumed; i++)
            ck_assert(!strstr(about.assumed[i].what, "scales"));
        layer_free(model);
        onnx_model_free(&about);
    }
}
END_TEST

// Files whose parameters are no initializers, or are not called as the exporter recorded.
START_TEST(unusual_files_are_counted_with_a_word) {
    static const struct {
        const char *name, *said;
        int64_t parameters, guessed;
    } files[] = {{"inputs.ts", "837 if they are", 0, 837},
                 {"prefixed", "tied ones may count twice", 72, 64},
                 {"prefixed_twice", "tied ones may count twice", 32, 16}};
    for (int f = 0; f < 3; f++) {
        OnnxModel about;
        char path[200];
        snprintf(path, sizeof path, FOLDER "learned_%s.onnx", files[f].name);
        Layer *model = onnx_load(path, NULL, &about);
        ck_assert_msg(model != NULL, "%s", error_message());
        ck_assert_int_eq(about.parameters, files[f].parameters);
        ck_assert_int_eq(about.parameters_guessed, files[f].guessed);
        bool said = false;
        for (int i = 0; i < about.n_assumed; i++)
            said = said || strstr(about.assumed[i].taken, files[f].said);
        ck_assert(said);
        layer_free(model);
        onnx_model_free(&about);
    }
}
END_TEST

// All weights and biases of a quantised file are named, and no scale; what runs is not missing.
START_TEST(a_quantised_file_is_counted_without_its_operators) {
    OnnxModel about;
    const OnnxOptions partial = {.partial = true};
    context_set_device(device_meta());
    Layer *model = onnx_load(FOLDER "learned_quantised.onnx", &partial, &about);
    context_set_device(device_cpu());
    ck_assert_msg(model != NULL, "%s", error_message());
    ck_assert_int_eq(about.parameters, 0);
    ck_assert_int_eq(about.parameters_guessed, 72);
    ck_assert_int_eq(about.n_missing, 1);
    ck_assert_str_eq(about.missing[0].name, "DequantizeLinear");
    layer_free(model);
    onnx_model_free(&about);
}
END_TEST

int main(void) {
    if (onnx_is_absent()) return onnx_all_skipped("onnx_learned");
    const HarnessTest tests[] = {
        {parameters_are_where_they_go, FILES},
        {guesses_are_said, FILES},
        {a_gradient_comes_back_to_each, FILES},
        {what_is_stored_is_counted_once, 0},
        {a_quantised_file_is_counted_without_its_operators, 0},
        {unusual_files_are_counted_with_a_word, 0},
        {NULL, 0},
    };
    return harness_main("onnx_learned", tests);
}
