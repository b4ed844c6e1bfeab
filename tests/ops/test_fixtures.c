// test_fixtures.c -- PyTorch's answers: outputs and gradients of every op, and 20 steps of each
// optimizer. The files, and what their lines mean, come from tests/fixtures/make_ops.py.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autograd/autograd.h"
#include "tests/helpers/harness.h"
#include "tests/ops/op_cases.h"

static char *ops_text;
static char *windows_text; // convolutions and pools
static char *optimizers_text;

// ---- reading ----------------------------------------------------------------------------------
static char *read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        fprintf(stderr, "%s cannot be opened: run the tests from the project's root\n", path);
        exit(1);
    }
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    rewind(file);
    char *text = calloc(size + 1, 1);
    if (text == NULL || fread(text, 1, size, file) != size) exit(1);
    fclose(file);
    return text;
}

// Like strstr for a start of a line. The address sanitizer's strstr would read to the end of the
// megabytes each time.
static const char *find_line(const char *text, const char *start) {
    for (; (text = strchr(text, '\n')) != NULL; text++)
        if (strncmp(text, start, strlen(start)) == 0) return text;
    return NULL;
}

static int count_blocks(const char *text, const char *start) {
    int count = 0;
    while ((text = find_line(text, start)) != NULL) {
        count++;
        text++;
    }
    return count;
}

// The text after the index-th `start`.
static const char *find_block(const char *text, const char *start, int index) {
    for (int i = 0; i <= index; i++) text = find_line(text, start) + strlen(start);
    return text;
}

// Steps over `word` when it comes next.
static bool take_word(const char **at, const char *word) {
    while (**at == ' ' || **at == '\n') (*at)++;
    size_t length = strlen(word);
    if (strncmp(*at, word, length) != 0 || strchr(" \n", (*at)[length]) == NULL) return false;
    *at += length;
    return true;
}

static float take_float(const char **at) {
    char *end;
    float value = strtof(*at, &end);
    ck_assert_msg(end != *at, "a number is missing at \"%.20s\"", *at);
    *at = end;
    return value;
}

typedef struct Block { // a shape and its values
    Shape shape;
    int64_t numel;
    float *values;
} Block;

static Block take_block(const char **at) {
    Block block = {.numel = 1};
    *at = strchr(*at, '(') + 1;
    while (**at != ')') {
        int64_t size = (int64_t)take_float(at);
        block.shape.dims[block.shape.ndim++] = size;
        block.numel *= size;
        if (**at == ',') (*at)++;
    }
    (*at)++;
    block.values = calloc((size_t)block.numel + 1, sizeof(float));
    for (int64_t i = 0; i < block.numel; i++) block.values[i] = take_float(at);
    return block;
}

static Tensor *tensor_of(Block block, bool labels) {
    int64_t integers[64];
    for (int64_t i = 0; labels && i < block.numel; i++) integers[i] = (int64_t)block.values[i];
    Tensor *tensor = labels ? tensor_from_labels_new(block.shape, integers)
                            : tensor_from_floats_new(block.shape, block.values);
    free(block.values);
    return tensor;
}

static void assert_equals_block(const Tensor *got, const char **at, const char *what) {
    char ours[SHAPE_TEXT];
    char theirs[SHAPE_TEXT];
    Block want = take_block(at);
    ck_assert_msg(got != NULL, "%s: there is none", what);
    ck_assert_msg(shape_equal(tensor_shape(got), want.shape), "%s: shape %s, PyTorch has %s", what,
                  shape_text(tensor_shape(got), ours), shape_text(want.shape, theirs));
    float *values = calloc((size_t)want.numel + 1, sizeof *values);
    tensor_read_floats(got, values);
    harness_assert_close(values, want.values, want.numel, 2e-6, 4e-6, what);
    free(values);
    free(want.values);
}

// ---- ops --------------------------------------------------------------------------------------
enum { MAX_INPUTS = 8 };

// The numbers of an op's options, in the order of their declaration.
static void take_window(const char **at, const char *name, OpArguments *arguments) {
    int64_t n[12] = {0};
    bool transposed = strncmp(name, "conv_transpose", 14) == 0;
    int count = transposed                          ? 11
                : strncmp(name, "conv", 4) == 0     ? 9
                : strncmp(name, "adaptive", 8) == 0 ? 2
                : strncmp(name, "pixel_", 6) == 0   ? 2
                : strcmp(name, "flip") == 0         ? 4
                : strcmp(name, "resize") == 0       ? 7
                : strcmp(name, "pad") == 0          ? 9
                : strstr(name, "_dims") != NULL     ? 4
                                                    : 12;
    for (int i = 0; i < count; i++) n[i] = (int64_t)take_float(at);
    arguments->conv = (Conv2dOptions){n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8]};
    arguments->pool = (Pool2dOptions){n[0], n[1], n[2], n[3], n[4],       n[5],
                                      n[6], n[7], n[8], n[9], n[10] != 0, n[11] != 0};
    arguments->output[0] = n[transposed ? 9 : 0];
    arguments->output[1] = n[transposed ? 10 : 1];
    arguments->resize = (ResizeOptions){n[0],
                                        n[1],
                                        (double)n[2] / 8,
                                        (double)n[3] / 8,
                                        (ResizeMode)n[4],
                                        (ResizeCoordinates)n[5],
                                        (ResizeRounding)n[6]};
    arguments->pad_mode = (PadMode)n[0];
    for (int d = 0; d < 4; d++) {
        arguments->before[d] = n[1 + d];
        arguments->after[d] = n[5 + d];
    }
    arguments->n_dims = (int)n[0];
    for (int i = 0; i < 3; i++) arguments->dims[i] = (int)n[1 + i];
}

static OpFunction take_call(const char **at, OpArguments *arguments, char name[64]) {
    char activation[16];
    int flag = 0;
    int used = 0;
    ck_assert_int_eq(sscanf(*at, "%31s %d %d %f %15s%n", name, &arguments->dim, &flag,
                            &arguments->value, activation, &used),
                     5);
    arguments->flag = flag != 0;
    arguments->activation = op_activation_by_name(activation);
    *at += used;
    if (take_word(at, "window")) take_window(at, name, arguments);
    OpFunction function = op_function_by_name(name);
    ck_assert_msg(function != NULL, "no op \"%s\"", name);
    return function;
}

static void check_gradients(Tensor *result, Tensor *const in[], int n_in, const char **at,
                            char *name) {
    size_t length = strlen(name);
    Tensor *start = tensor_of(take_block(at), false);
    Status status = autograd_backward_from(result, start);
    ck_assert_msg(status == STATUS_OK, "%s: %s", name, error_message());
    for (int i = 0; i < n_in; i++) {
        if (in[i]->dtype != DTYPE_FLOAT32) continue;
        snprintf(name + length, 64 - length, ", gradient of input %d", i);
        ck_assert(take_word(at, "grad"));
        if (take_word(at, "none")) {
            ck_assert_msg(!tensor_grad(in[i]), "%s: PyTorch has none", name);
            continue;
        }
        assert_equals_block(tensor_grad(in[i]), at, name);
    }
    tensor_free(start);
}

static void check_against_pytorch(const char *at) {
    OpArguments arguments = {0};
    char name[64];
    OpFunction function = take_call(&at, &arguments, name);
    Tensor *in[MAX_INPUTS];
    int n_in = 0;
    for (;;) {
        bool labels = take_word(&at, "labels");
        if (!labels && !take_word(&at, "in")) break;
        in[n_in] = tensor_of(take_block(&at), labels);
        if (!labels) tensor_requires_grad(in[n_in], true);
        n_in++;
    }
    Scope *scope = scope_open();
    Tensor *result = function(in, n_in, &arguments);
    ck_assert_msg(result != NULL, "%s: %s", name, error_message());
    ck_assert(take_word(&at, "out"));
    assert_equals_block(result, &at, name);
    if (take_word(&at, "start"))
        check_gradients(result, in, n_in, &at, name);
    else
        ck_assert_msg(!tensor_wants_grad(result), "%s: PyTorch's wants no gradient", name);
    ck_assert(take_word(&at, "end"));
    scope_close(scope);
    for (int i = 0; i < n_in; i++) tensor_free(in[i]);
}

// Number of cases that share a process: under a sanitizer, starting one and finding its place in
// the file takes longer than running most cases.
enum { TOGETHER = 16 };

static int batches(const char *text) {
    return (count_blocks(text, "\ncase ") + TOGETHER - 1) / TOGETHER;
}

static void check_batch(const char *text, int batch) {
    const char *at = find_block(text, "\ncase ", batch * TOGETHER);
    for (int i = 0; i < TOGETHER && at; i++) {
        check_against_pytorch(at);
        context_release_thread(); // so the next one starts as in a new process
        at = find_line(at, "\ncase ");
        if (at) at += strlen("\ncase ");
    }
}

START_TEST(ops_agree_with_pytorch) { check_batch(ops_text, _i); }
END_TEST

START_TEST(convolutions_and_pools_agree_with_pytorch) { check_batch(windows_text, _i); }
END_TEST

// ---- optimizers: a weight (2, 3) and a bias (2), one after the other in the file --------------
typedef struct Trained {
    Tensor *parameter[2], *gradient[2], *first[2], *second[2];
} Trained;

static Tensor *take_tensor(const char **at, Shape shape) {
    float values[6];
    for (int i = 0; i < (shape.ndim == 2 ? 6 : 2); i++) values[i] = take_float(at);
    return tensor_from_floats_new(shape, values);
}

static void take_step(const char *op, Trained *t, Tensor *state, float momentum, float decay,
                      bool decoupled) {
    Tensor *inputs[9] = {state};
    int n = 1;
    Status status;
    bool adam = strcmp(op, "adam_step") == 0;
    for (int i = 0; i < 2; i++) {
        inputs[n++] = t->parameter[i];
        inputs[n++] = t->gradient[i];
        if (adam || momentum != 0.0f) inputs[n++] = t->first[i];
        if (adam) inputs[n++] = t->second[i];
    }
    if (adam) {
        AdamParams params = {0.9f, 0.999f, 1e-8f, decay, decoupled};
        status = tensor_adam_step(inputs, 2, params);
    } else {
        SgdParams params = {.momentum = momentum, .weight_decay = decay};
        status = tensor_sgd_step(inputs, 2, params);
    }
    ck_assert_msg(status == STATUS_OK, "%s: %s", op, error_message());
}

START_TEST(optimizers_follow_pytorch) {
    const char *at = find_block(optimizers_text, "\ntrajectory ", _i);
    const Shape shapes[2] = {SHAPE(2, 3), SHAPE(2)};
    char op[32];
    float momentum;
    float decay;
    int decoupled;
    int used;
    ck_assert_int_eq(sscanf(at, "%31s %f %f %d%n", op, &momentum, &decay, &decoupled, &used), 4);
    at += used;
    Trained t;
    Tensor *state = tensor_zeros_new(SHAPE(strcmp(op, "adam_step") == 0 ? 2 : 1));
    ck_assert(take_word(&at, "start"));
    for (int i = 0; i < 2; i++) {
        t.parameter[i] = take_tensor(&at, shapes[i]);
        t.first[i] = tensor_zeros_new(shapes[i]);
        t.second[i] = tensor_zeros_new(shapes[i]);
    }
    for (int step = 0; step < 20; step++) {
        ck_assert(take_word(&at, "rate"));
        tensor_data(state)[0] = take_float(&at);
        ck_assert(take_word(&at, "gradient"));
        for (int i = 0; i < 2; i++) t.gradient[i] = take_tensor(&at, shapes[i]);
        take_step(op, &t, state, momentum, decay, decoupled != 0);
        ck_assert(take_word(&at, "after"));
        for (int i = 0; i < 2; i++) {
            Tensor *want = take_tensor(&at, shapes[i]);
            char what[96];
            snprintf(what, sizeof what, "%s, step %d, parameter %d", op, step + 1, i);
            harness_assert_close(tensor_data(t.parameter[i]), tensor_data(want), want->numel, 2e-6,
                                 2e-6, what);
            tensor_free(want);
            tensor_free(t.gradient[i]);
        }
    }
    ck_assert(take_word(&at, "end"));
    for (int i = 0; i < 2; i++) {
        tensor_free(t.parameter[i]);
        tensor_free(t.first[i]);
        tensor_free(t.second[i]);
    }
    tensor_free(state);
}
END_TEST

int main(void) {
    ops_text = read_file("tests/fixtures/ops.txt");
    windows_text = read_file("tests/fixtures/windows.txt");
    optimizers_text = read_file("tests/fixtures/optimizers.txt");
    const HarnessTest tests[] = {
        {ops_agree_with_pytorch, batches(ops_text)},
        {convolutions_and_pools_agree_with_pytorch, batches(windows_text)},
        {optimizers_follow_pytorch, count_blocks(optimizers_text, "\ntrajectory ")},
        {NULL, 0},
    };
    int status = harness_main("fixtures", tests);
    free(ops_text);
    free(windows_text);
    free(optimizers_text);
    return status;
}
