// test_onnx_partial.c -- files with one faulty node. With an unknown operator all but that node is
// counted: each node of each graph is renamed in turn, and the counts then missing add up to the
// whole. A node without enough inputs is refused.
#include "layers/cost.h"
#include "layers/files/onnx.h"
#include "layers/files/onnx/schema.h"
#include "tests/helpers/expect.h"
#include "tests/layers/onnx_change.h"

// ---- one node at a time ------------------------------------------------------------------------
typedef struct Result { // a node's result
    Onnx__ValueInfo info;
    Onnx__Type type;
    Onnx__TensorType tensor;
    Onnx__Sizes sizes;
    Onnx__Dimension dims[TENSOR_MAX_DIMS], *each[TENSOR_MAX_DIMS];
} Result;

static void result_init(Result *result, char *name, const OnnxPort *port) {
    onnx__value_info__init(&result->info);
    onnx__type__init(&result->type);
    onnx__tensor_type__init(&result->tensor);
    onnx__sizes__init(&result->sizes);
    result->info.name = name;
    result->info.type = &result->type;
    result->type.tensor_type = &result->tensor;
    if (!port) return;
    result->tensor.has_elem_type = true;
    result->tensor.elem_type = port->dtype == DTYPE_INT64 ? 7 : 1;
    result->tensor.shape = &result->sizes;
    result->sizes.dim = result->each;
    result->sizes.n_dim = (size_t)port->shape.ndim;
    for (int i = 0; i < port->shape.ndim; i++) {
        onnx__dimension__init(&result->dims[i]);
        result->dims[i].has_dim_value = true;
        result->dims[i].dim_value = port->shape.dims[i];
        result->each[i] = &result->dims[i];
    }
}

// Multiply-adds of forward and backward. The caller frees the contents of `about`.
static bool count(const Onnx__Model *changed, bool partial, uint64_t macs[2], OnnxModel *about) {
    const OnnxOptions options = {.partial = partial};
    Layer *model = onnx_load(onnx_change_write(changed), &options, about);
    Tensor *in[8] = {NULL};
    LayerCost cost;
    for (int i = 0; model && i < about->n_inputs; i++)
        in[i] = tensor_new(about->inputs[i].shape, about->inputs[i].dtype);
    bool counted = model && !layer_cost(model, in, about->n_inputs, &cost);
    macs[0] = counted ? cost.phase[PHASE_FORWARD].macs : 0;
    macs[1] = counted
                  ? cost.phase[PHASE_BACKWARD_INPUT].macs + cost.phase[PHASE_BACKWARD_WEIGHT].macs
                  : 0;
    for (int i = 0; i < 8; i++) tensor_free(in[i]);
    layer_free(model);
    return counted;
}

// The count of node i: the whole less the partial one. 0 if the loader must know the node's result,
// or if nobody reads it.
static void count_without(Onnx__Model *model, size_t i, const uint64_t whole[2], uint64_t lost[2]) {
    Onnx__Graph *graph = model->graph;
    Onnx__Node *node = graph->node[i];
    Onnx__ValueInfo **outputs = graph->output, **infos = graph->value_info, *new_infos[8],
                    *new_outputs[8];
    size_t n_outputs = graph->n_output, n_infos = graph->n_value_info, n = 0;
    Result results[8];
    OnnxModel about;
    uint64_t macs[2];
    lost[0] = lost[1] = 0;
    for (size_t k = 0; k < node->n_output && k < 8; k++) {
        if (!node->output[k][0]) continue;
        result_init(&results[n], node->output[k], NULL);
        new_outputs[n] = &results[n].info;
        n++;
    }
    graph->output = new_outputs;
    graph->n_output = n;
    bool known = count(model, false, macs, &about);
    error_clear();
    graph->output = outputs;
    graph->n_output = n_outputs;
    for (size_t k = 0; k < n && known; k++) {
        result_init(&results[k], results[k].info.name, &about.outputs[k]);
        new_infos[k] = &results[k].info;
    }
    onnx_model_free(&about);
    if (!known) return;
    graph->value_info = new_infos;
    graph->n_value_info = n;
    char *name = node->op_type, strange[] = "Strange";
    node->op_type = strange;
    bool counted = count(model, true, macs, &about);
    onnx_model_free(&about);
    node->op_type = name;
    graph->value_info = infos;
    graph->n_value_info = n_infos;
    error_clear();
    for (int p = 0; p < 2 && counted; p++) {
        ck_assert_msg(macs[p] <= whole[p], "%s %zu: %llu of %llu", name, i,
                      (unsigned long long)macs[p], (unsigned long long)whole[p]);
        lost[p] = whole[p] - macs[p];
    }
}

static const char *const files[] = {"mlp.ts",      "cnn.ts",       "chargpt.ts",
                                    "encoder.ts",  "router.ts",    "shuffle.ts",
                                    "attend.ts",   "steps.ts",     "lstm_stack.ts",
                                    "gru_both",    "known_told",   "transpose_groups",
                                    "conv_groups", "einsum_three", "matmul_batch",
                                    "gru.ts",      "rnn_stack.ts", "style.ts"};
enum { FILES = sizeof files / sizeof files[0] };

START_TEST(all_but_what_is_missing_is_counted) {
    work_folder_begin();
    context_set_device(device_meta());
    Onnx__Model *model = onnx_change_read(files[_i]);
    OnnxModel about;
    uint64_t whole[2], sum[2] = {0}, lost[2];
    ck_assert_msg(count(model, false, whole, &about), "%s", error_message());
    onnx_model_free(&about);
    ck_assert_uint_gt(whole[0], 0);
    for (size_t i = 0; i < model->graph->n_node; i++) {
        count_without(model, i, whole, lost);
        for (int p = 0; p < 2; p++) sum[p] += lost[p];
    }
    for (int p = 0; p < 2; p++) ck_assert_uint_eq(sum[p], whole[p]);
    onnx__model__free_unpacked(model, NULL);
    work_folder_end();
}
END_TEST

// Each node in turn gets only its first k inputs. With fewer than its operator needs, the file is
// refused, with the number of the first missing input; with more it may be another model.
START_TEST(a_node_without_enough_inputs_is_refused) {
    work_folder_begin();
    Onnx__Model *model = onnx_change_read(files[_i]);
    for (size_t i = 0; i < model->graph->n_node; i++) {
        Onnx__Node *node = model->graph->node[i];
        const Schema *schema = schema_find(node->domain, node->op_type);
        size_t all = node->n_input;
        for (node->n_input = 0; node->n_input < all; node->n_input++) {
            OnnxModel about;
            Layer *made = onnx_load(onnx_change_write(model), NULL, &about);
            bool few = node->n_input < (size_t)schema->least;
            ck_assert_msg(!few || !made, "%s of %zu inputs", node->op_type, node->n_input);
            if (few) expect_error(STATUS_FORMAT, "it has no input ");
            layer_free(made);
            onnx_model_free(&about);
            error_clear();
        }
    }
    onnx__model__free_unpacked(model, NULL);
    work_folder_end();
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {{all_but_what_is_missing_is_counted, FILES},
                                 {a_node_without_enough_inputs_is_refused, FILES},
                                 {NULL, 0}};
    return harness_main("onnx_partial", tests);
}
