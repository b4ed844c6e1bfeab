// test_onnx.c -- models from ONNX files: those of PyTorch's exporters and models of one node,
// compared with PyTorch's and ONNX's own results (tests/fixtures/make_onnx.py); names, parameters
// and tied weights; training. test_onnx_refused.c tests refusals.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layers/cost.h"
#include "layers/train/optimizer.h"
#include "tensor/memory.h"
#include "tensor/ops.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/onnx_files.h"

enum { MOST_MODELS = 256, MOST_ARRAYS = 24 };

// ---- the table of expected values -------------------------------------------------------------
typedef struct Array {
    Shape shape;
    bool whole;
    float *values;
    int64_t *labels;
} Array;

typedef struct Case {
    char name[64];
    long parameters;
    int n_in, n_out;
    Array arrays[MOST_ARRAYS];
} Case;

static char *names[MOST_MODELS];
static int n_models;

static void read_names(void) {
    FILE *file = fopen(FOLDER "onnx.txt", "r");
    char *line = NULL;
    size_t room = 0;
    while (file && getline(&line, &room, file) > 0 && n_models < MOST_MODELS) {
        char name[64];
        if (sscanf(line, "model %63s", name) == 1) names[n_models++] = strdup(name);
    }
    free(line);
    if (file) fclose(file);
    if (n_models == MOST_MODELS) abort(); // some would go untested
}

static void read_array(FILE *file, Array *array) {
    char kind[16];
    ck_assert_int_eq(fscanf(file, "%15s %d", kind, &array->shape.ndim), 2);
    for (int d = 0; d < array->shape.ndim; d++) {
        long long size;
        ck_assert_int_eq(fscanf(file, "%lld", &size), 1);
        array->shape.dims[d] = size;
    }
    int64_t n = shape_numel(array->shape);
    array->whole = strcmp(kind, "float") != 0;
    array->values = malloc((size_t)(n + 1) * sizeof(float));
    array->labels = malloc((size_t)(n + 1) * sizeof(int64_t));
    for (int64_t i = 0; i < n; i++) {
        double value;
        ck_assert_int_eq(fscanf(file, "%lf", &value), 1);
        array->values[i] = (float)value;
        array->labels[i] = array->whole ? (int64_t)value : 0;
    }
}

static void read_case(const char *name, Case *c) {
    FILE *file = fopen(FOLDER "onnx.txt", "r");
    char *line = NULL;
    size_t room = 0;
    ck_assert_ptr_nonnull(file);
    while (getline(&line, &room, file) > 0) {
        long flops;
        if (sscanf(line, "model %63s %ld %ld %d %d", c->name, &c->parameters, &flops, &c->n_in,
                   &c->n_out) == 5 &&
            strcmp(c->name, name) == 0)
            break;
    }
    ck_assert_str_eq(c->name, name);
    for (int i = 0; i < c->n_in + c->n_out; i++) read_array(file, &c->arrays[i]);
    free(line);
    fclose(file);
}

static void free_case(Case *c) {
    for (int i = 0; i < c->n_in + c->n_out; i++) {
        free(c->arrays[i].values);
        free(c->arrays[i].labels);
    }
}

static Layer *load(const char *name, OnnxModel *about) {
    char path[128];
    snprintf(path, sizeof path, FOLDER "%s.onnx", name);
    Layer *model = onnx_load(path, NULL, about);
    ck_assert_msg(model != NULL, "%s", error_message());
    return model;
}

static void make_inputs(const Case *c, const OnnxModel *about, Tensor *in[]) {
    ck_assert_int_eq(about->n_inputs, c->n_in);
    for (int i = 0; i < c->n_in; i++) {
        const Array *array = &c->arrays[i];
        ck_assert(shape_equal(about->inputs[i].shape, array->shape));
        ck_assert_int_eq(about->inputs[i].dtype, array->whole ? DTYPE_INT64 : DTYPE_FLOAT32);
        in[i] = array->whole ? tensor_from_labels_new(array->shape, array->labels)
                             : tensor_from_floats_new(array->shape, array->values);
        ck_assert_ptr_nonnull(in[i]);
    }
}

static void free_inputs(const Case *c, Tensor *in[]) {
    for (int i = 0; i < c->n_in; i++) tensor_free(in[i]);
}

static void compare(const Case *c, int i, const OnnxModel *about, Tensor *got) {
    const Array *want = &c->arrays[c->n_in + i];
    char text[SHAPE_TEXT];
    ck_assert_msg(shape_equal(got->shape, want->shape), "%s: output %d is %s", c->name, i,
                  shape_text(got->shape, text));
    ck_assert(shape_equal(about->outputs[i].shape, want->shape));
    ck_assert_msg(got->dtype == about->outputs[i].dtype, "%s: output %d is %s", c->name, i,
                  dtype_name((DType)got->dtype));
    float *values = malloc((size_t)(got->numel + 1) * sizeof(float));
    ck_assert_int_eq(tensor_read_floats(got, values), STATUS_OK);
    harness_assert_close(values, want->values, got->numel, 2e-5, 1e-5, c->name);
    free(values);
}

// Checks every model of the table, its outputs, and that a dry run counts what a real run does.
START_TEST(models_give_what_they_gave) {
    Case c = {.name = ""};
    OnnxModel about;
    Tensor *in[MOST_ARRAYS], *out[LAYER_MAX_OUTPUTS];
    read_case(names[_i], &c);
    Layer *model = load(c.name, &about);
    make_inputs(&c, &about, in);
    Scope *scope = scope_open();
    ck_assert_msg(!layer_forward_each(model, in, c.n_in, out, c.n_out), "%s: %s", c.name,
                  error_message());
    for (int i = 0; i < c.n_out; i++) compare(&c, i, &about, out[i]);
    Tensor *again = layer_forward_many(model, in, c.n_in); // a second run gives the same
    compare(&c, 0, &about, again);
    LayerCost cost;
    ck_assert_msg(!layer_cost(model, in, c.n_in, &cost), "%s: %s", c.name, error_message());
    ck_assert_int_eq(cost.uncounted, 0);
    scope_close(scope);
    ck_assert_int_eq(layer_parameter_count(model), about.parameters);
    free_inputs(&c, in);
    layer_free(model);
    onnx_model_free(&about);
    free_case(&c);
    expect_no_error();
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

// ---- layers and names -------------------------------------------------------------------------
static void expect_layer(Layer *model, const char *path, const char *type) {
    Layer *found = layer_find(model, path);
    ck_assert_msg(found != NULL, "no layer \"%s\"", path);
    ck_assert_str_eq(found->type->name, type);
}

START_TEST(layers_are_pytorchs_modules) {
    OnnxModel about;
    Layer *model = load("cnn.ts", &about);
    expect_layer(model, "0", "Conv2d");
    expect_layer(model, "4.1.conv1", "Conv2d");
    expect_layer(model, "4.1.relu", "Module"); // called twice
    expect_layer(model, "4.1.down.0", "Conv2d");
    expect_layer(model, "7", "Linear");
    ck_assert(about.norms_folded && strstr(about.remark, "torch.onnx.export") != NULL);
    layer_free(model);
    onnx_model_free(&about);
    model = load("chargpt.dy", &about);
    expect_layer(model, "h.1", "Block");
    expect_layer(model, "h.1.ln_1", "LayerNorm");
    expect_layer(model, "h.1.fc", "Linear");
    ck_assert(!about.norms_folded);
    ck_assert_int_eq(about.opset, 20);
    ck_assert_int_eq(strncmp(about.producer, "pytorch ", 8), 0);
    layer_free(model);
    onnx_model_free(&about);
}
END_TEST

typedef struct Sites {
    Observer observer;
    const char *wanted;
    int ops, found;
} Sites;

static void note_site(Observer *self, const OpCall *call) {
    Sites *sites = (Sites *)self;
    char path[128];
    (void)call;
    site_path(context_current(), context_current()->site, path, sizeof path);
    sites->ops++;
    sites->found += strcmp(path, sites->wanted) == 0;
}

// Each op is charged to its layer.
START_TEST(ops_run_in_their_layers) {
    OnnxModel about;
    Case c = {.name = ""};
    Tensor *in[MOST_ARRAYS];
    Sites sites = {.observer = {.op_end = note_site}, .wanted = "h.1.fc"};
    read_case("chargpt.ts", &c);
    Layer *model = load("chargpt.ts", &about);
    make_inputs(&c, &about, in);
    Scope *scope = scope_open();
    observer_add(&sites.observer);
    ck_assert_ptr_nonnull(layer_forward(model, in[0]));
    observer_remove(&sites.observer);
    scope_close(scope);
    ck_assert_int_eq(sites.found, 1); // product and bias are one op
    ck_assert_int_ge(sites.ops, 40);
    free_inputs(&c, in);
    layer_free(model);
    onnx_model_free(&about);
    free_case(&c);
}
END_TEST

// In a character GPT the head's weights are the table's, which the exporter stored transposed.
START_TEST(tied_weights_are_one) {
    const char *const files[] = {"chargpt.ts", "chargpt.dy"};
    for (int i = 0; i < 2; i++) {
        OnnxModel about;
        Case c = {.name = ""};
        read_case(files[i], &c);
        Layer *model = load(files[i], &about);
        // without the positions (6, 8), which the exporter folded; tied weights count once
        ck_assert_int_eq(about.parameters, c.parameters - 48);
        ck_assert_int_gt(about.parameters_stored, 0);
        ck_assert_msg(layer_find(model, "wte") && layer_find(model, "lm_head"),
                      "%s: each of the "
                      "two layers of the tied weights is where the file says",
                      files[i]);
        layer_free(model);
        onnx_model_free(&about);
        free_case(&c);
    }
}
END_TEST

// Two products read one weight: each stays a layer of its own.
START_TEST(tied_products_are_two_layers) {
    const char *const files[] = {"tied.ts", "tied.dy"};
    for (int i = 0; i < 2; i++) {
        Layer *model = load(files[i], NULL);
        ck_assert_str_eq(layer_find(model, "a")->type->name, "Linear");
        ck_assert_str_eq(layer_find(model, "b")->type->name, "Linear");
        layer_free(model);
    }
}
END_TEST

START_TEST(counts_are_pytorchs) {
    const char *const files[] = {
        "mlp.ts",       "mlp.dy",     "style.ts",     "style.dy",    "lstm.ts",       "lstm.dy",
        "gru.ts",       "gru.dy",     "acts.ts",      "acts.dy",     "encoder.ts",    "encoder.dy",
        "shuffle.ts",   "shuffle.dy", "rnn_stack.ts", "rnn_relu.ts", "lstm_stack.ts", "router.ts",
        "gru_unfolded", "attend.ts",  "tied.ts",      "tied.dy",     "steps.ts",      "steps.dy",
        "packed.ts",    "copies.ts",  "copies.dy",    "turned.ts",   "turned.dy"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        OnnxModel about;
        Case c = {.name = ""};
        read_case(files[i], &c);
        Layer *model = load(files[i], &about);
        ck_assert_msg(about.parameters == c.parameters, "%s: %lld parameters, not %ld", files[i],
                      (long long)about.parameters, c.parameters);
        layer_free(model);
        onnx_model_free(&about);
        free_case(&c);
    }
}
END_TEST

// A bidirectional stack of two layers keeps PyTorch's names, as in its checkpoints. Its weights are
// put together once, and not in each forward.
static void note_weight_work(Observer *self, const OpCall *call) {
    for (int i = 0; i < call->n_in; i++)
        if (call->in[i] && call->in[i]->flags & TENSOR_LEAF_GRAD)
            ((Sites *)self)->found += call->op->id == OP_slice || call->op->id == OP_concat;
}

START_TEST(recurrent_weights_are_pytorchs) {
    static const char *const wanted[] = {"rnn.weight_ih_l0",         "rnn.weight_hh_l0",
                                         "rnn.bias_ih_l0",           "rnn.bias_hh_l0",
                                         "rnn.weight_ih_l0_reverse", "rnn.weight_hh_l0_reverse",
                                         "rnn.bias_ih_l0_reverse",   "rnn.bias_hh_l0_reverse",
                                         "rnn.weight_ih_l1",         "rnn.weight_hh_l1",
                                         "rnn.bias_ih_l1",           "rnn.bias_hh_l1",
                                         "rnn.weight_ih_l1_reverse", "rnn.weight_hh_l1_reverse",
                                         "rnn.bias_ih_l1_reverse",   "rnn.bias_hh_l1_reverse"};
    const char *const files[] = {"rnn_stack.ts", "lstm_stack.ts"};
    for (int i = 0; i < 2; i++) {
        OnnxModel about;
        ParameterList list;
        Sites sites = {.observer = {.op_end = note_weight_work}};
        Layer *model = load(files[i], &about);
        ck_assert_int_eq(layer_parameters(model, &list), STATUS_OK);
        ck_assert_int_eq(list.count, 16);
        for (int k = 0; k < 16; k++) ck_assert_str_eq(list.items[k].path, wanted[k]);
        ck_assert_int_eq(about.parameters, about.parameters_stored);
        Tensor *x = tensor_uniform_new(SHAPE(3, 2, 3), -1.0f, 1.0f);
        ck_assert_int_eq(autograd_enable(), STATUS_OK);
        Scope *scope = scope_open();
        observer_add(&sites.observer);
        Tensor *loss = tensor_sum(layer_forward(model, x), DIM_ALL, false);
        observer_remove(&sites.observer);
        ck_assert_int_eq(autograd_backward(loss), STATUS_OK);
        for (int k = 0; k < 16; k++)
            ck_assert_msg(tensor_grad(list.items[k].tensor) != NULL, "%s", list.items[k].path);
        scope_close(scope);
        ck_assert_int_eq(sites.found, 0);
        parameter_list_free(&list);
        tensor_free(x);
        layer_free(model);
        onnx_model_free(&about);
    }
}
END_TEST

// mlp has 2 x (6 x 5 + 5 x 3) multiply-adds; errors name the layer.
START_TEST(layers_count_and_complain_by_path) {
    OnnxModel about;
    Layer *model = load("mlp.dy", &about);
    Tensor *x = tensor_zeros_new(SHAPE(2, 6)), *wrong = tensor_zeros_new(SHAPE(2, 7));
    LayerCost cost;
    ck_assert_int_eq(layer_cost(model, &x, 1, &cost), STATUS_OK);
    ck_assert_int_eq((int64_t)cost.phase[PHASE_FORWARD].macs, 2 * (6 * 5 + 5 * 3));
    Scope *scope = scope_open();
    ck_assert_ptr_null(layer_forward(model, wrong));
    expect_error(STATUS_SHAPE, "loaded for (2, 6)");
    scope_close(scope);
    tensor_free(x);
    tensor_free(wrong);
    layer_free(model);
    onnx_model_free(&about);
}
END_TEST

// PyTorch's FlopCounterMode counts 27648 and 41472: a first layer has no input gradient.
START_TEST(volumes_multiply_as_often_as_pytorchs) {
    const char *const files[] = {"volume.ts", "volume.dy"};
    for (int i = 0; i < 2; i++) {
        OnnxModel about;
        LayerCost cost;
        Layer *model = load(files[i], &about);
        ck_assert_str_eq(layer_find(model, "a")->type->name, "Conv3d");
        ck_assert_str_eq(layer_find(model, "max")->type->name, "MaxPool3d");
        ck_assert_str_eq(layer_find(model, "up")->type->name, "ConvTranspose3d");
        Tensor *x = tensor_zeros_new(about.inputs[0].shape);
        ck_assert_int_eq(layer_cost(model, &x, 1, &cost), STATUS_OK);
        ck_assert_int_eq((int64_t)cost.phase[PHASE_FORWARD].macs, 27648 / 2);
        ck_assert_int_eq((int64_t)(cost.phase[PHASE_BACKWARD_INPUT].macs +
                                   cost.phase[PHASE_BACKWARD_WEIGHT].macs),
                         41472 / 2);
        tensor_free(x);
        layer_free(model);
        onnx_model_free(&about);
    }
}
END_TEST

// Free sizes take the requested value or 1; a size that the file fixes cannot change.
START_TEST(shapes_can_be_asked_for) {
    OnnxModel about;
    OnnxShape shape = {.shape = SHAPE(3, 6)};
    OnnxOptions options = {.shapes = &shape, .n_shapes = 1};
    ck_assert_ptr_null(onnx_load(FOLDER "mlp.ts.onnx", &options, &about));
    expect_error(STATUS_SHAPE, "has the size 2 as dimension 0, not 3");
    onnx_model_free(&about);
    shape = (OnnxShape){.shape = SHAPE(3)};
    ck_assert_ptr_null(onnx_load(FOLDER "mlp.ts.onnx", &options, NULL));
    expect_error(STATUS_SHAPE, "dimensions");
    for (int64_t batch = 1; batch <= 4; batch += 3) { // 1 by default
        shape = (OnnxShape){.name = "x", .shape = SHAPE(batch, 6)};
        Layer *model = onnx_load(FOLDER "free.onnx", batch > 1 ? &options : NULL, &about);
        ck_assert_msg(model != NULL, "%s", error_message());
        ck_assert_int_eq(about.inputs[0].shape.dims[0], batch);
        ck_assert_int_eq(about.outputs[0].shape.dims[0], batch);
        ck_assert_int_eq(about.steps, 3); // the shape's ops are folded
        layer_free(model);
        onnx_model_free(&about);
    }
}
END_TEST

// ---- training ---------------------------------------------------------------------------------
START_TEST(a_loaded_model_trains) {
    OnnxModel about;
    Layer *model = load("cnn.dy", &about);
    Optimizer *optimizer = optimizer_new(model, optimizer_defaults(OPTIMIZER_ADAM));
    Tensor *x = tensor_uniform_new(SHAPE(1, 3, 16, 16), -1.0f, 1.0f), *labels;
    labels = tensor_from_labels_new(SHAPE(1), (int64_t[]){2});
    double first = 0.0, last = 0.0;
    ck_assert_int_eq(autograd_enable(), STATUS_OK);
    for (int step = 0; step < 30; step++) {
        Scope *scope = scope_open();
        optimizer_zero_grad(optimizer);
        Tensor *loss = tensor_cross_entropy(layer_forward(model, x), labels);
        ck_assert_int_eq(autograd_backward(loss), STATUS_OK);
        ck_assert_int_eq(optimizer_step(optimizer), STATUS_OK);
        last = tensor_item(loss);
        if (step == 0) first = last;
        scope_close(scope);
    }
    ck_assert_msg(last < 0.8 * first, "the loss went from %g to %g", first, last);
    tensor_free(x);
    tensor_free(labels);
    optimizer_free(optimizer);
    layer_free(model);
    onnx_model_free(&about);
    expect_no_error();
}
END_TEST

// In training the batch's statistics are used, and the running ones follow.
START_TEST(batch_norm_trains) {
    OnnxModel about;
    Layer *model = load("batch", &about);
    Tensor *x = tensor_uniform_new(SHAPE(2, 3, 5, 4), 4.0f, 5.0f);
    float before[3], after[3];
    ParameterList list;
    ck_assert_int_eq(layer_state(model, &list), STATUS_OK);
    ck_assert_int_eq(list.count, 4);
    ck_assert(!list.items[1].is_buffer && list.items[2].is_buffer); // the file names it c3
    tensor_read_floats(list.items[2].tensor, before);
    Scope *scope = scope_open();
    layer_train(model, true);
    ck_assert_ptr_nonnull(layer_forward(model, x));
    scope_close(scope);
    tensor_read_floats(list.items[2].tensor, after);
    for (int i = 0; i < 3; i++) // PyTorch's momentum is 0.1
        ck_assert_double_eq_tol((double)after[i], 0.9 * (double)before[i] + 0.45, 0.02);
    parameter_list_free(&list);
    tensor_free(x);
    layer_free(model);
    onnx_model_free(&about);
}
END_TEST

// A layer that runs again in backward repeats its own step, not the file's last one.
START_TEST(layers_run_again_by_themselves) {
    enum { ROOM = 512 };
    float gradients[2][ROOM] = {{0}};
    int64_t n = 0;
    for (int again = 0; again < 2; again++) {
        Layer *model = load("cnn.ts", NULL);
        layer_train(model, true);
        ck_assert_int_eq(layer_recompute(layer_find(model, "2"), again), STATUS_OK); // Hardswish
        Tensor *x = tensor_full_new(SHAPE(1, 3, 16, 16), 0.5f);
        Scope *scope = scope_open();
        Tensor *y = layer_forward(model, x);
        autograd_backward(tensor_mean(tensor_mul(y, y), DIM_ALL, false));
        expect_no_error();
        scope_close(scope);
        ParameterList list;
        ck_assert_int_eq(layer_parameters(model, &list), STATUS_OK);
        n = 0;
        for (int i = 0; i < list.count; n += list.items[i++].tensor->numel)
            tensor_read_floats(tensor_grad(list.items[i].tensor), gradients[again] + n);
        parameter_list_free(&list);
        tensor_free(x);
        layer_free(model);
    }
    ck_assert(n > 100 && n <= ROOM);
    ck_assert_mem_eq(gradients[0], gradients[1], (size_t)n * sizeof(float));
    Layer *model = load("cnn.ts", NULL);
    layer_recompute(layer_find(model, "4.0.relu"), true); // it has two steps
    expect_error(STATUS_INVALID_ARGUMENT, "relu: the file runs its steps one by one");
    layer_recompute(layer_find(model, "4"), true); // it has no step of its own
    expect_error(STATUS_INVALID_ARGUMENT, "4: the file runs its steps one by one");
    int64_t count;
    ck_assert_int_eq(layer_recompute_matching(model, "4.0.relu", &count), STATUS_OK);
    ck_assert_int_eq(count, 0);
    ck_assert_int_eq(layer_recompute_matching(model, "4*", &count), STATUS_OK); // the layers inside
    ck_assert(count > 1 && layer_find(model, "4.0")->recompute);
    ck_assert(!layer_find(model, "4")->recompute && !layer_find(model, "4.0.relu")->recompute);
    layer_free(model);
}
END_TEST

int main(void) {
    if (onnx_is_absent()) return onnx_all_skipped("onnx");
    read_names();
    const HarnessTest tests[] = {{models_give_what_they_gave, n_models},
                                 {layers_are_pytorchs_modules, 0},
                                 {ops_run_in_their_layers, 0},
                                 {tied_weights_are_one, 0},
                                 {tied_products_are_two_layers, 0},
                                 {counts_are_pytorchs, 0},
                                 {recurrent_weights_are_pytorchs, 0},
                                 {layers_count_and_complain_by_path, 0},
                                 {volumes_multiply_as_often_as_pytorchs, 0},
                                 {shapes_can_be_asked_for, 0},
                                 {a_loaded_model_trains, 0},
                                 {batch_norm_trains, 0},
                                 {layers_run_again_by_themselves, 0},
                                 {NULL, 0}};
    int status = harness_main("onnx", tests);
    for (int i = 0; i < n_models; i++) free(names[i]);
    return status;
}
