// test_onnx_constants.c -- the operators that run also compute constants while a file is loaded:
// with its inputs stored in the file, a graph gives the same results to the bit.
#include <string.h>

#include "layers/files/onnx.h"
#include "tests/layers/onnx_change.h"

// ---- a file with its inputs stored in it -------------------------------------------------------
enum { MOST = 8 };
static int lines_told; // remarks on precision
typedef struct Stored {
    Onnx__Tensor tensor;
    int64_t dims[TENSOR_MAX_DIMS];
} Stored;

static void store(Stored *stored, char *name, Tensor *numbers, int type) {
    onnx__tensor__init(&stored->tensor);
    stored->tensor.name = name;
    stored->tensor.dims = stored->dims;
    stored->tensor.n_dims = (size_t)numbers->shape.ndim;
    for (int i = 0; i < numbers->shape.ndim; i++) stored->dims[i] = numbers->shape.dims[i];
    stored->tensor.has_data_type = true;
    stored->tensor.data_type = type;
    stored->tensor.has_raw_data = true;
    stored->tensor.raw_data.len = (size_t)tensor_bytes(numbers);
    stored->tensor.raw_data.data = numbers->dtype == DTYPE_INT64 ? (uint8_t *)tensor_labels(numbers)
                                                                 : (uint8_t *)tensor_data(numbers);
}

static Tensor *input_new(const OnnxPort *port) {
    if (port->dtype == DTYPE_FLOAT32) return tensor_uniform_new(port->shape, -2.0f, 2.0f);
    int64_t n = shape_numel(port->shape);
    Tensor *tensor = tensor_new(port->shape, DTYPE_INT64);
    for (int64_t i = 0; i < n; i++) tensor_labels(tensor)[i] = 1 + i % 2; // index or divisor
    return tensor;
}

// Both runs agree to the bit; NaN equals NaN.
static void expect_same(Tensor *y, Tensor *want, const char *name) {
    ck_assert_msg(y && want, "%s: %s", name, error_message());
    ck_assert_int_eq(y->dtype, want->dtype);
    ck_assert_msg(shape_equal(y->shape, want->shape), "%s", name);
    y = tensor_contiguous(y), want = tensor_contiguous(want);
    const void *left = y->dtype == DTYPE_INT64 ? (void *)tensor_labels(y) : (void *)tensor_data(y);
    const void *right =
        y->dtype == DTYPE_INT64 ? (void *)tensor_labels(want) : (void *)tensor_data(want);
    ck_assert_msg(y->numel == 0 || memcmp(left, right, (size_t)tensor_bytes(y)) == 0, "%s", name);
}

// True if all inputs have types that tensors here have.
static bool can_be_stored(const Onnx__Graph *graph, const OnnxModel *about) {
    if (about->n_inputs > MOST || about->n_inputs != (int)graph->n_input || about->n_outputs > MOST)
        return false;
    for (size_t i = 0; i < graph->n_input; i++) {
        int type = graph->input[i]->type->tensor_type->elem_type;
        if (type != 1 && type != 7) return false;
    }
    return true;
}

// A remark says whenever numbers of other precisions are computed in float32.
static int precisions_told(const OnnxModel *about) {
    int told = 0;
    for (int i = 0; i < about->n_assumed; i++)
        told += strncmp(about->assumed[i].what, "the precision of ", 17) == 0;
    return told;
}

static bool same_where_stored(const char *name) {
    Onnx__Model *file = onnx_change_read(name);
    Onnx__Graph *graph = file->graph;
    OnnxModel about;
    Layer *model = onnx_load(onnx_change_write(file), NULL, &about);
    Tensor *in[MOST] = {NULL}, *want[MOST] = {NULL}, *y[MOST] = {NULL};
    Stored stored[MOST];
    Onnx__Tensor *initial[256];
    bool fits = model && can_be_stored(graph, &about) && graph->n_initializer + MOST < 256;
    Scope *scope = scope_open();
    for (int i = 0; i < about.n_inputs && fits; i++) in[i] = input_new(&about.inputs[i]);
    if (fits) fits = !layer_forward_each(model, in, about.n_inputs, want, about.n_outputs);
    error_clear();
    if (fits) {
        size_t n = graph->n_initializer, n_inputs = graph->n_input;
        Onnx__Tensor **before = graph->initializer;
        if (n > 0) memcpy(initial, before, n * sizeof *initial);
        for (size_t i = 0; i < n_inputs; i++) {
            int type = in[i]->dtype == DTYPE_INT64 ? 7 : 1;
            store(&stored[i], graph->input[i]->name, in[i], type);
            initial[n + i] = &stored[i].tensor;
        }
        graph->initializer = initial;
        graph->n_initializer = n + n_inputs;
        graph->n_input = 0;
        OnnxModel known;
        Layer *constant = onnx_load(onnx_change_write(file), NULL, &known);
        ck_assert_msg(constant != NULL, "%s: %s", name, error_message());
        ck_assert_msg(precisions_told(&known) == precisions_told(&about), "%s", name);
        lines_told += precisions_told(&known);
        onnx_model_free(&known);
        layer_forward_each(constant, NULL, 0, y, about.n_outputs);
        for (int i = 0; i < about.n_outputs; i++) expect_same(y[i], want[i], name);
        graph->initializer = before;
        graph->n_initializer = n;
        graph->n_input = n_inputs;
        layer_free(constant);
    }
    scope_close(scope);
    for (int i = 0; i < MOST; i++) tensor_free(in[i]);
    layer_free(model);
    onnx_model_free(&about);
    onnx__model__free_unpacked(file, NULL);
    return fits;
}

// Checks every file whose results onnx.txt lists.
START_TEST(what_is_computed_while_loading_is_what_runs) {
    FILE *list = fopen("tests/fixtures/onnx/onnx.txt", "r");
    char line[256], name[64];
    int files = 0, tried = 0;
    ck_assert_ptr_nonnull(list);
    work_folder_begin();
    while (fgets(line, sizeof line, list))
        if (sscanf(line, "model %63s", name) == 1) {
            files++;
            tried += same_where_stored(name);
        }
    fclose(list);
    ck_assert(same_where_stored("edge_doubles") && lines_told == 1);
    work_folder_end();
    ck_assert_msg(tried >= files * 3 / 4, "%d of %d files", tried, files);
}
END_TEST

// A file may claim any stored size, as long as nobody reads the data.
START_TEST(what_is_claimed_to_be_stored_is_counted_with_care) {
    static const struct {
        int64_t each;
        const char *said;
    } claims[] = {{INT64_MAX, "has the size 9223372036854775807"},
                  {INT64_C(1) << 60, "has the size 1152921504606846976"},
                  {INT64_C(1) << 58, " HINT: "}}; // no such data is stored
    work_folder_begin();
    context_set_device(device_meta());
    for (size_t i = 0; i < sizeof claims / sizeof claims[0]; i++) {
        Onnx__Model *model = onnx_change_read("mlp.ts");
        ck_assert_uint_gt(model->graph->n_initializer, 2);
        for (size_t k = 0; k < model->graph->n_initializer; k++) {
            Onnx__Tensor *tensor = model->graph->initializer[k];
            for (size_t d = 0; d < tensor->n_dims; d++) tensor->dims[d] = d ? 1 : claims[i].each;
        }
        ck_assert_ptr_null(onnx_load(onnx_change_write(model), NULL, NULL));
        ck_assert_msg(strstr(error_message(), claims[i].said) != NULL, "%s", error_message());
        error_clear();
        onnx__model__free_unpacked(model, NULL);
    }
    work_folder_end();
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {{what_is_computed_while_loading_is_what_runs, 0},
                                 {what_is_claimed_to_be_stored_is_counted_with_care, 0},
                                 {NULL, 0}};
    return harness_main("onnx_constants", tests);
}
