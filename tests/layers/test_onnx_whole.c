// test_onnx_whole.c -- integers of ONNX files, of every width: running and loading compute ONNX's
// results to the last bit, and in its types. Files: tests/fixtures/make_onnx_whole.py.
#include <string.h>

#include "layers/files/onnx.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/harness.h"
#include "tests/helpers/onnx_files.h"

#define FOLDER "tests/fixtures/onnx/"
enum { MOST = 16 };

typedef struct Numbers {
    const char *name, *numpy;
    int n;
    int64_t whole[MOST];
    double real[MOST];
} Numbers;

#define ARRAY(...)                                                                                 \
    { __VA_ARGS__ }
#define GIVEN(name, n, whole, real) {name, NULL, n, whole, real},
#define WANT(...)
static const Numbers given[] = {
#include "tests/fixtures/onnx_whole.h"
};
#undef GIVEN
#undef WANT
#define GIVEN(...)
#define WANT(name, numpy, n, whole, real) {name, numpy, n, whole, real},
static const Numbers want[] = {
#include "tests/fixtures/onnx_whole.h"
};
enum { GIVEN_COUNT = sizeof given / sizeof given[0], WANTED = sizeof want / sizeof want[0] };

static Tensor *input_new(const OnnxPort *port) {
    for (int i = 0; i < GIVEN_COUNT; i++) {
        if (strcmp(given[i].name, port->name) != 0) continue;
        if (port->dtype == DTYPE_INT64)
            return tensor_from_labels_new(SHAPE(given[i].n), given[i].whole);
        float real[MOST];
        for (int k = 0; k < given[i].n; k++) real[k] = (float)given[i].real[k];
        return tensor_from_floats_new(SHAPE(given[i].n), real);
    }
    ck_abort_msg("%s", port->name);
}

static void expect(const Numbers *numbers, const OnnxPort *port, Tensor *y) {
    ck_assert_msg(y != NULL, "%s: %s", numbers->name, error_message());
    ck_assert_msg(strcmp(port->numpy, numbers->numpy) == 0, "%s: %s, not %s", numbers->name,
                  port->numpy, numbers->numpy);
    ck_assert_msg(y->numel == numbers->n, "%s: %lld numbers", numbers->name, (long long)y->numel);
    y = tensor_contiguous(y);
    bool integers = y->dtype == DTYPE_INT64;
    ck_assert_int_eq(integers, numbers->numpy[0] == 'i' || numbers->numpy[0] == 'u');
    for (int i = 0; i < numbers->n; i++) {
        if (integers)
            ck_assert_msg(tensor_labels(y)[i] == numbers->whole[i], "%s, number %d: %lld, not %lld",
                          numbers->name, i, (long long)tensor_labels(y)[i],
                          (long long)numbers->whole[i]);
        else if (numbers->numpy[0] == 'b')
            ck_assert_msg(tensor_data(y)[i] == (float)numbers->whole[i], "%s", numbers->name);
        else
            ck_assert_msg(tensor_data(y)[i] == (float)numbers->real[i], "%s", numbers->name);
    }
}

// The inputs are given at run time, or stored in the file.
START_TEST(integers_are_onnxs) {
    OnnxModel about;
    Tensor *in[GIVEN_COUNT] = {NULL}, *out[LAYER_MAX_OUTPUTS] = {NULL};
    Layer *model =
        onnx_load(_i ? FOLDER "whole_stored.onnx" : FOLDER "whole_run.onnx", NULL, &about);
    ck_assert_msg(model != NULL, "%s", error_message());
    ck_assert_int_eq(about.n_inputs, _i ? 0 : GIVEN_COUNT);
    ck_assert_int_eq(about.n_outputs, WANTED);
    Scope *scope = scope_open();
    for (int i = 0; i < about.n_inputs; i++) in[i] = input_new(&about.inputs[i]);
    layer_forward_each(model, in, about.n_inputs, out, WANTED);
    for (int i = 0; i < WANTED; i++) expect(&want[i], &about.outputs[i], out[i]);
    scope_close(scope);
    for (int i = 0; i < about.n_inputs; i++) tensor_free(in[i]);
    layer_free(model);
    onnx_model_free(&about);
}
END_TEST

// All floats are computed in float32; a remark names each other float type of the graph once.
START_TEST(what_is_rounded_otherwise_is_said) {
    static const char *const files[] = {"whole_run", "half", "elu"}, *const types[] = {"float16",
                                                                                       "double",
                                                                                       NULL};
    static const bool said[][2] = {{true, true}, {true, false}, {false, false}};
    OnnxModel about;
    char path[96];
    snprintf(path, sizeof path, FOLDER "%s.onnx", files[_i]);
    layer_free(onnx_load(path, NULL, &about));
    expect_no_error();
    for (int k = 0; types[k]; k++) {
        int times = 0;
        for (int i = 0; i < about.n_assumed; i++)
            times += strstr(about.assumed[i].what, types[k]) != NULL &&
                     strstr(about.assumed[i].taken, "float32") != NULL;
        ck_assert_msg(times == said[_i][k], "%s: %d times %s", files[_i], times, types[k]);
    }
    onnx_model_free(&about);
}
END_TEST

int main(void) {
    if (onnx_is_absent()) return onnx_all_skipped("onnx_whole");
    const HarnessTest tests[] = {{integers_are_onnxs, 2},
                                 {what_is_rounded_otherwise_is_said, 3},
                                 {NULL, 0}};
    return harness_main("onnx_whole", tests);
}
