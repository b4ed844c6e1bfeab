// test_onnx_edges.c -- uses that the operators' pages allow and exporters seldom write: the results
// equal those of another reader of ONNX. tests/fixtures/make_onnx_edges.py makes the files.
#include <math.h>

#include "tensor/ops.h"
#include "tests/fixtures/onnx_edges.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/onnx_files.h"

enum { FILES = sizeof edges / sizeof edges[0], MOST_NUMBERS = 32 };

static void expect_number(float got, float want, const char *name, int i) {
    bool near = isfinite(want) ? fabsf(got - want) <= 1e-5f * (1.0f + fabsf(want))
                : isnan(want)  ? isnan(got) != 0
                               : got == want;
    ck_assert_msg(near, "%s: number %d is %g, onnxruntime has %g", name, i, (double)got,
                  (double)want);
}

START_TEST(numbers_are_those_of_another_reader) {
    char path[128];
    snprintf(path, sizeof path, FOLDER "edge_%s.onnx", edges[_i].name);
    Layer *model = onnx_load(path, NULL, NULL);
    ck_assert_msg(model != NULL, "%s", error_message());
    layer_train(model, false);
    Tensor *in[2];
    for (int k = 0; k < edges[_i].inputs; k++)
        in[k] = tensor_from_floats_new(edges[_i].shape[k], edges[_i].x[k]);
    Scope *scope = scope_open();
    Tensor *y = layer_forward_many(model, in, edges[_i].inputs);
    ck_assert_msg(y != NULL, "%s: %s", edges[_i].name, error_message());
    ck_assert_int_eq(y->numel, edges[_i].count);
    float got[MOST_NUMBERS];
    ck_assert_int_eq(tensor_read_floats(y, got), STATUS_OK);
    for (int i = 0; i < edges[_i].count; i++)
        expect_number(got[i], edges[_i].y[i], edges[_i].name, i);
    scope_close(scope);
    for (int k = 0; k < edges[_i].inputs; k++) tensor_free(in[k]);
    layer_free(model);
}
END_TEST

// Means and deviations are not parameters.
START_TEST(what_is_taken_off_is_not_learned) {
    Layer *model = onnx_load(FOLDER "edge_taken_off.onnx", NULL, NULL);
    ck_assert_msg(model != NULL, "%s", error_message());
    ck_assert_int_eq(layer_parameter_count(model), 0);
    layer_free(model);
}
END_TEST

// Results without a name; a second name of a tensor that became a buffer.
START_TEST(what_nobody_exports_does_no_harm) {
    static const char *const names[] = {FOLDER "odd_unnamed.onnx", FOLDER "odd_tied_buffer.onnx"};
    Layer *model = onnx_load(names[_i], NULL, NULL);
    Tensor *x = tensor_full_new(_i ? SHAPE(1, 2, 3) : SHAPE(3, 4), 0.5f);
    Scope *scope = scope_open();
    ck_assert_msg(model && layer_forward(model, x), "%s", error_message());
    scope_close(scope);
    tensor_free(x);
    layer_free(model);
}
END_TEST

int main(void) {
    if (onnx_is_absent()) return onnx_all_skipped("onnx_edges");
    const HarnessTest tests[] = {{numbers_are_those_of_another_reader, FILES},
                                 {what_is_taken_off_is_not_learned, 0},
                                 {what_nobody_exports_does_no_harm, 2},
                                 {NULL, 0}};
    return harness_main("onnx_edges", tests);
}
