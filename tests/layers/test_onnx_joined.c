// test_onnx_joined.c -- several nodes that exporters write for one op become that op here, with its
// counts, and the same numbers and parameters. tests/fixtures/make_onnx_joined.py makes the files.
#include <math.h>
#include <string.h>

#include "tensor/context.h"
#include "tensor/op.h"
#include "tensor/ops.h"
#include "tests/fixtures/onnx_joined.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/onnx_files.h"

enum { FILES = sizeof joined / sizeof joined[0], MOST_NUMBERS = 48, MOST_TEXT = 256 };

typedef struct Names {
    Observer observer; // must be first: callbacks get its address
    char text[MOST_TEXT];
} Names;

static void op_ended(Observer *observer, const OpCall *call) {
    Names *names = (Names *)observer;
    size_t length = strlen(names->text);
    if (call->op->flags & OP_VIEW) return;
    snprintf(names->text + length, MOST_TEXT - length, "%s%s", length ? " " : "", call->op->name);
}

static Tensor *input_new(Shape shape) {
    float numbers[MOST_NUMBERS];
    ck_assert_int_le(shape_numel(shape), MOST_NUMBERS);
    for (int i = 0; i < shape_numel(shape); i++) numbers[i] = (float)(i * 37 % 19) / 8.0f - 1.1f;
    return tensor_from_floats_new(shape, numbers);
}

static void expect_near(const float *got, const float *want, int count, const char *name) {
    for (int i = 0; i < count; i++)
        ck_assert_msg(fabsf(got[i] - want[i]) <= 2e-5f * (1.0f + fabsf(want[i])),
                      "%s: number %d is %g, PyTorch has %g", name, i, (double)got[i],
                      (double)want[i]);
}

START_TEST(what_is_written_out_is_one_op) {
    char path[128];
    OnnxModel about;
    snprintf(path, sizeof path, FOLDER "joined_%s.onnx", joined[_i].name);
    Layer *model = onnx_load(path, NULL, &about);
    ck_assert_msg(model != NULL, "%s", error_message());
    ck_assert_int_eq(about.parameters, joined[_i].parameters);
    ck_assert_int_eq(layer_parameter_count(model), joined[_i].parameters);
    layer_train(model, false);
    Tensor *x = input_new(joined[_i].shape);
    Scope *scope = scope_open();
    Names names = {.observer = {.op_end = op_ended}};
    observer_add(&names.observer);
    Tensor *y = layer_forward(model, x);
    observer_remove(&names.observer);
    ck_assert_msg(y != NULL, "%s", error_message());
    ck_assert_str_eq(names.text, joined[_i].ops);
    ck_assert_int_eq(y->numel, joined[_i].count);
    float got[MOST_NUMBERS];
    ck_assert_int_eq(tensor_read_floats(y, got), STATUS_OK);
    expect_near(got, joined[_i].y, joined[_i].count, joined[_i].name);
    scope_close(scope);
    tensor_free(x);
    layer_free(model);
    onnx_model_free(&about);
}
END_TEST

int main(void) {
    if (onnx_is_absent()) return onnx_all_skipped("onnx_joined");
    const HarnessTest tests[] = {{what_is_written_out_is_one_op, FILES}, {NULL, 0}};
    return harness_main("onnx_joined", tests);
}
