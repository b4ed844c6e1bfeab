// test_onnx_cases.c -- small models with one attribute, index or function changed: the result is
// that of another reader of ONNX, or a refusal in one line that names the unread part.
// tests/fixtures/make_onnx_cases.py makes the models and numbers.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tensor/memory.h"
#include "tensor/ops.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/onnx_files.h"

enum { MOST_LINE = 20000, MOST_PORTS = 6, MOST_NUMBERS = 256 };

typedef struct Port {
    Shape shape;
    float numbers[MOST_NUMBERS];
} Port;

typedef struct Case {
    char word[100]; // text in the refusal
    char title[120];
    Port in[MOST_PORTS], want[MOST_PORTS];
    int n_in, n_want;
} Case;

static Case one;
static char path[] = "/tmp/onnx_case.XXXXXX";
static int values, refusals, decided;

static void read_port(const char *text, Port *port) {
    int length;
    *port = (Port){.shape = SHAPE_SCALAR};
    ck_assert_int_eq(sscanf(text, "%d%n", &port->shape.ndim, &length), 1);
    for (int d = 0; d < port->shape.ndim; d++) {
        text += length;
        ck_assert_int_eq(sscanf(text, " %ld%n", &port->shape.dims[d], &length), 1);
    }
    text += length;
    ck_assert_int_le(shape_numel(port->shape), MOST_NUMBERS);
    for (int64_t i = 0; i < shape_numel(port->shape); i++) {
        char *end;
        port->numbers[i] = strtof(text, &end);
        ck_assert_ptr_ne(end, text);
        text = end;
    }
}

static void write_model(const char *hex) {
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    for (unsigned byte; sscanf(hex, "%2x", &byte) == 1; hex += 2) fputc((int)byte, file);
    ck_assert_int_eq(fclose(file), 0);
}

static bool is_near(float got, float want) {
    if (isnan(want)) return isnan(got);
    return isinf(want) ? got == want : fabsf(got - want) <= 1e-5f * (1.0f + fabsf(want));
}

static void expect_port(Tensor *y, const Port *want, int port) {
    float got[MOST_NUMBERS];
    ck_assert_msg(y && shape_equal(y->shape, want->shape), "%s: output %d is of another shape",
                  one.title, port);
    if (y->dtype != DTYPE_FLOAT32) y = tensor_cast(y, DTYPE_FLOAT32);
    ck_assert_int_eq(tensor_read_floats(y, got), STATUS_OK);
    for (int64_t i = 0; i < y->numel; i++)
        ck_assert_msg(is_near(got[i], want->numbers[i]), "%s: output %d has %g at %ld, not %g",
                      one.title, port, (double)got[i], (long)i, (double)want->numbers[i]);
}

static Tensor *port_new(const Port *port, DType dtype) {
    Tensor *floats = tensor_from_floats_new(port->shape, port->numbers), *whole;
    if (dtype == DTYPE_FLOAT32) return floats;
    Scope *scope = scope_open();
    whole = tensor_keep(tensor_cast(floats, DTYPE_INT64));
    scope_close(scope);
    tensor_free(floats);
    return whole;
}

static void run(Layer *model, const OnnxModel *about) {
    Tensor *in[MOST_PORTS], *out[MOST_PORTS] = {NULL};
    layer_train(model, false);
    Scope *scope = scope_open();
    ck_assert_int_eq(about->n_inputs, one.n_in);
    ck_assert_int_eq(about->n_outputs, one.n_want);
    for (int i = 0; i < one.n_in; i++) {
        in[i] = port_new(&one.in[i], about->inputs[i].dtype);
    }
    layer_forward_each(model, in, one.n_in, out, one.n_want);
    ck_assert_msg(!error_pending(), "%s: %s", one.title, error_message());
    for (int i = 0; i < one.n_want; i++) expect_port(out[i], &one.want[i], i);
    scope_close(scope);
    for (int i = 0; i < one.n_in; i++) tensor_free(in[i]);
}

// Fails each allocation in turn while function calls are expanded: an error, and nothing is lost.
static void run_out(void) {
    bool loaded = false;
    for (uint64_t n = 1; !loaded; n++) {
        memory_fail_at(n);
        Layer *model = onnx_load(path, NULL, NULL);
        memory_fail_at(0);
        loaded = model != NULL;
        if (!loaded) expect_error(STATUS_OUT_OF_MEMORY, "");
        layer_free(model);
        ck_assert_int_eq(expect_live_bytes(), 0);
    }
}

// Inputs that decide the graph refuse other numbers; all other inputs take them.
static void expect_decided(Layer *model, const OnnxModel *about, Tensor *in[]) {
    int n = 0;
    for (int i = 0; i < one.n_in; i++) {
        Tensor *out[MOST_PORTS] = {NULL};
        bool whole = in[i]->dtype == DTYPE_INT64;
        int64_t kept = whole ? tensor_labels(in[i])[0] : 0;
        float kept_float = whole ? 0.0f : tensor_data(in[i])[0];
        if (whole)
            tensor_labels(in[i])[0] = !kept;
        else
            tensor_data(in[i])[0] += 1.0f;
        Scope *scope = scope_open();
        layer_forward_each(model, in, one.n_in, out, one.n_want);
        if (about->inputs[i].decides)
            expect_error(STATUS_INVALID_ARGUMENT, "other numbers than it was loaded for");
        ck_assert_msg(!error_pending(), "%s: %s", one.title, error_message());
        scope_close(scope);
        if (whole)
            tensor_labels(in[i])[0] = kept;
        else
            tensor_data(in[i])[0] = kept_float;
        n += about->inputs[i].decides;
        ck_assert(!about->inputs[i].batched);
    }
    ck_assert_int_ge(n, 1);
    ck_assert_int_ge(about->n_assumed, n);
}

// Loads with the numbers of all inputs given: the results do not change, and a model that loaded
// without them still loads.
static void end_told(bool was_read) {
    OnnxShape shapes[MOST_PORTS];
    OnnxModel about;
    Tensor *in[MOST_PORTS];
    layer_free(onnx_load(path, NULL, &about)); // to learn the types of its inputs
    error_clear();
    bool all = about.n_inputs == one.n_in;
    for (int i = 0; i < one.n_in && all; i++) {
        in[i] = port_new(&one.in[i], about.inputs[i].dtype);
        shapes[i] = (OnnxShape){.shape = in[i]->shape, .numbers = in[i]};
    }
    onnx_model_free(&about);
    if (!all) return;
    Layer *model = onnx_load(path, &(OnnxOptions){.shapes = shapes, .n_shapes = one.n_in}, &about);
    ck_assert_msg(model || !was_read, "%s: with numbers: %s", one.title, error_message());
    bool asks = strncmp(one.word, "--input ", 8) == 0;
    if (asks) ck_assert_msg(model != NULL, "%s: %s", one.title, error_message());
    if (!was_read && !model)
        ck_assert_msg(strstr(error_message(), one.word), "%s: %s", one.title, error_message());
    error_clear();
    if (model && one.n_want > 0) run(model, &about);
    if (asks) expect_decided(model, &about, in);
    decided += asks;
    layer_free(model);
    onnx_model_free(&about);
    for (int i = 0; i < one.n_in; i++) tensor_free(in[i]);
}

static void end_case(void) {
    OnnxModel about;
    Layer *model = onnx_load(path, NULL, &about);
    bool was_read = model != NULL;
    if (model) {
        ck_assert_msg(one.n_want > 0, "%s: nobody else reads it", one.title);
        run(model, &about);
        values++;
    } else {
        bool asks = strstr(error_message(), "HINT: --input ") != NULL; // asks for another input
        ck_assert_msg(asks || strstr(error_message(), one.word) != NULL, "%s: %s", one.title,
                      error_message());
        error_clear();
        refusals++;
    }
    layer_free(model);
    onnx_model_free(&about);
    if (strcmp(one.word, "Twice") == 0) run_out();
    end_told(was_read);
}

START_TEST(numbers_are_others_or_it_is_said_why_not) {
    static char line[MOST_LINE];
    FILE *file = fopen("tests/fixtures/onnx_cases.txt", "r");
    int descriptor = mkstemp(path);
    ck_assert(file && descriptor >= 0);
    close(descriptor);
    while (fgets(line, sizeof line, file)) {
        char *end = strchr(line, '\n');
        ck_assert_ptr_nonnull(end);
        *end = '\0';
        if (strncmp(line, "case ", 5) == 0) {
            one.n_in = one.n_want = 0;
            snprintf(one.title, sizeof one.title, "%.100s", line);
            snprintf(one.word, sizeof one.word, "%.90s", strchr(line + 5, ' ') + 1);
        } else if (strncmp(line, "model ", 6) == 0) {
            write_model(line + 6);
        } else if (strncmp(line, "in ", 3) == 0) {
            ck_assert_int_lt(one.n_in, MOST_PORTS);
            read_port(line + 3, &one.in[one.n_in++]);
        } else if (strncmp(line, "want ", 5) == 0) {
            ck_assert_int_lt(one.n_want, MOST_PORTS);
            read_port(line + 5, &one.want[one.n_want++]);
        } else if (strncmp(line, "by ", 3) == 0) {
            end_case();
        }
    }
    fclose(file);
    unlink(path);
    ck_assert_int_ge(decided, 24);
    ck_assert_msg(values >= 625, "%d are read, %d refused", values, refusals);
}
END_TEST

int main(void) {
    if (onnx_is_absent()) return onnx_all_skipped("onnx_cases");
    const HarnessTest tests[] = {{numbers_are_others_or_it_is_said_why_not, 0}, {NULL, 0}};
    return harness_main("onnx_cases", tests);
}
