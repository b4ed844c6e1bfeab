// schema_table.c -- a row for each supported operator of ONNX: opsets, inputs, outputs and
// attributes, with the supported values. tests/layers/test_onnx_schemas.c checks every row against
// ONNX's own definitions.
#include "layers/files/onnx/schema.h"

#include <stdlib.h>
#include <string.h>

#define WINDOW                                                                                     \
    "auto_pad:s=NOTSET|VALID|SAME_UPPER|SAME_LOWER kernel_shape:I pads:I strides:I dilations:I"
#define CELL "activations:S direction:s=forward|reverse|bidirectional hidden_size:i layout:i=0|1"
#define CELL_IDLE                                                                                  \
    "activation_alpha:F none of the activations that are read takes it; "                          \
    "activation_beta:F none of the activations that are read takes it"
#define SEED "seed:f other numbers, as likely"
#define STASH "stash_type:i the precision of sums, which is float32 here"
#define SATURATE                                                                                   \
    "saturate:i only of numbers of 8 bits, which are not read; "                                   \
    "round_mode:s only of numbers of 8 bits, which are not read"
#define REDUCE "axes:I<18 keepdims:i=0|1 noop_with_empty_axes:i=0|1"

// Columns: name, first and last opset, least and most inputs, outputs, attributes, attributes
// without effect.
static const Schema schemas[] = {
    {"Abs", 7, 0, 1, 1, 1, NULL, NULL},
    {"Add", 7, 0, 2, 2, 1, NULL, NULL},
    {"And", 7, 0, 2, 2, 1, NULL, NULL},
    {"ArgMax", 7, 0, 1, 1, 1, "axis:i keepdims:i=0|1 select_last_index:i=0", NULL},
    {"ArgMin", 7, 0, 1, 1, 1, "axis:i keepdims:i=0|1 select_last_index:i=0", NULL},
    {"Attention", 23, 0, 3, 4, 1,
     "is_causal:i=0|1 kv_num_heads:i q_num_heads:i scale:f softcap:f=0 left_window_size:i=-1 "
     "right_window_size:i=-1",
     "qk_matmul_output_mode:i only of the fourth output, which is not computed; "
     "softmax_precision:i it is float32 here"},
    {"AveragePool", 7, 0, 1, 1, 1, WINDOW " ceil_mode:i=0|1 count_include_pad:i=0|1", NULL},
    {"BatchNormalization", 7, 0, 5, 5, 1, "epsilon:f momentum:f spatial:i=1<9 training_mode:i=0|1",
     NULL},
    {"Bernoulli", 15, 0, 1, 1, 1, "dtype:i", SEED},
    {"Cast", 7, 0, 1, 1, 1, "to:i!=1|2|3|4|5|6|7|9|10|11|12|13|16", SATURATE},
    {"CastLike", 15, 0, 2, 2, 1, NULL, SATURATE},
    {"Ceil", 7, 0, 1, 1, 1, NULL, NULL},
    {"Celu", 12, 0, 1, 1, 1, "alpha:f", NULL},
    {"Clip", 7, 0, 1, 3, 1, "max:f<11 min:f<11", NULL},
    {"Concat", 7, 0, 1, SCHEMA_ANY, 1, "axis:i!", NULL},
    {"Constant", 7, 0, 0, 0, 1, "value:t value_float:f value_floats:F value_int:i value_ints:I",
     NULL},
    {"ConstantOfShape", 9, 0, 1, 1, 1, "value:t", NULL},
    {"Conv", 7, 0, 2, 3, 1, WINDOW " group:i", NULL},
    {"ConvTranspose", 7, 0, 2, 3, 1, WINDOW " group:i output_padding:I output_shape:I", NULL},
    {"Cos", 7, 0, 1, 1, 1, NULL, NULL},
    {"CumSum", 11, 0, 2, 2, 1, "exclusive:i=0 reverse:i=0", NULL},
    {"DepthToSpace", 7, 0, 1, 1, 1, "blocksize:i! mode:s=DCR|CRD", NULL},
    {"Div", 7, 0, 2, 2, 1, NULL, NULL},
    {"Dropout", 7, 0, 1, 3, 2, NULL,
     "seed:i other numbers, as likely; ratio:f<12 nothing is dropped but in training"},
    {"Einsum", 12, 0, 1, SCHEMA_ANY, 1, "equation:s!", NULL},
    {"Elu", 7, 0, 1, 1, 1, "alpha:f", NULL},
    {"Equal", 7, 0, 2, 2, 1, NULL, NULL},
    {"Erf", 9, 0, 1, 1, 1, NULL, NULL},
    {"Exp", 7, 0, 1, 1, 1, NULL, NULL},
    {"Expand", 8, 0, 2, 2, 1, NULL, NULL},
    {"EyeLike", 9, 0, 1, 1, 1, "dtype:i k:i", NULL},
    {"Flatten", 7, 0, 1, 1, 1, "axis:i", NULL},
    {"Floor", 7, 0, 1, 1, 1, NULL, NULL},
    {"GRU", 7, 0, 3, 6, 2, CELL " linear_before_reset:i=0|1", CELL_IDLE},
    {"Gather", 7, 0, 2, 2, 1, "axis:i", NULL},
    {"GatherElements", 11, 0, 2, 2, 1, "axis:i", NULL},
    {"GatherND", 11, 0, 2, 2, 1, "batch_dims:i", NULL},
    {"Gelu", 20, 0, 1, 1, 1, "approximate:s=none|tanh", NULL},
    {"Gemm", 7, 0, 2, 3, 1, "alpha:f beta:f transA:i=0|1 transB:i=0|1", NULL},
    {"GlobalAveragePool", 7, 0, 1, 1, 1, NULL, NULL},
    {"GlobalMaxPool", 7, 0, 1, 1, 1, NULL, NULL},
    {"Greater", 7, 0, 2, 2, 1, NULL, NULL},
    {"GreaterOrEqual", 12, 0, 2, 2, 1, NULL, NULL},
    {"GroupNormalization", 18, 0, 3, 3, 1, "epsilon:f num_groups:i!", STASH},
    {"HardSigmoid", 7, 0, 1, 1, 1, "alpha:f beta:f", NULL},
    {"HardSwish", 14, 0, 1, 1, 1, NULL, NULL},
    {"Identity", 7, 0, 1, 1, 1, NULL, NULL},
    {"InstanceNormalization", 7, 0, 3, 3, 1, "epsilon:f", NULL},
    {"IsInf", 10, 0, 1, 1, 1, "detect_negative:i=1 detect_positive:i=1", NULL},
    {"IsNaN", 9, 0, 1, 1, 1, NULL, NULL},
    {"LSTM", 7, 0, 3, 7, 3, CELL " input_forget:i=0", CELL_IDLE},
    {"LayerNormalization", 7, 0, 2, 3, 1, "axis:i epsilon:f", STASH},
    {"LeakyRelu", 7, 0, 1, 1, 1, "alpha:f", NULL},
    {"Less", 7, 0, 2, 2, 1, NULL, NULL},
    {"LessOrEqual", 12, 0, 2, 2, 1, NULL, NULL},
    {"Log", 7, 0, 1, 1, 1, NULL, NULL},
    {"LogSoftmax", 7, 0, 1, 1, 1, "axis:i", NULL},
    {"MatMul", 7, 0, 2, 2, 1, NULL, NULL},
    {"Max", 7, 0, 1, SCHEMA_ANY, 1, NULL, NULL},
    {"MaxPool", 7, 0, 1, 1, 1, WINDOW " ceil_mode:i=0|1",
     "storage_order:i only of the second output, which is not computed"},
    {"Mean", 7, 0, 1, SCHEMA_ANY, 1, NULL, NULL},
    {"Min", 7, 0, 1, SCHEMA_ANY, 1, NULL, NULL},
    {"Mish", 18, 0, 1, 1, 1, NULL, NULL},
    {"Mod", 10, 0, 2, 2, 1, "fmod:i=0|1", NULL},
    {"Mul", 7, 0, 2, 2, 1, NULL, NULL},
    {"Neg", 7, 0, 1, 1, 1, NULL, NULL},
    {"NonZero", 9, 0, 1, 1, 1, NULL, NULL},
    {"Not", 7, 0, 1, 1, 1, NULL, NULL},
    {"OneHot", 9, 0, 3, 3, 1, "axis:i", NULL},
    {"Or", 7, 0, 2, 2, 1, NULL, NULL},
    {"PRelu", 7, 0, 2, 2, 1, NULL, NULL},
    {"Pad", 7, 0, 1, 4, 1, "mode:s=constant|reflect|edge|wrap pads:I!<11 value:f<11", NULL},
    {"Pow", 7, 0, 2, 2, 1, NULL, NULL},
    {"RMSNormalization", 23, 0, 2, 2, 1, "axis:i epsilon:f", STASH},
    {"RNN", 7, 0, 3, 6, 2, CELL, CELL_IDLE},
    {"RandomNormal", 7, 0, 0, 0, 1, "dtype:i mean:f scale:f shape:I!", SEED},
    {"RandomNormalLike", 7, 0, 1, 1, 1, "dtype:i mean:f scale:f", SEED},
    {"RandomUniform", 7, 0, 0, 0, 1, "dtype:i high:f low:f shape:I!", SEED},
    {"RandomUniformLike", 7, 0, 1, 1, 1, "dtype:i high:f low:f", SEED},
    {"Range", 11, 0, 3, 3, 1, NULL, STASH},
    {"Reciprocal", 7, 0, 1, 1, 1, NULL, NULL},
    {"ReduceL1", 7, 0, 1, 2, 1, REDUCE, NULL},
    {"ReduceL2", 7, 0, 1, 2, 1, REDUCE, NULL},
    {"ReduceLogSum", 7, 0, 1, 2, 1, REDUCE, NULL},
    {"ReduceLogSumExp", 7, 0, 1, 2, 1, REDUCE, NULL},
    {"ReduceMax", 7, 0, 1, 2, 1, REDUCE, NULL},
    {"ReduceMean", 7, 0, 1, 2, 1, REDUCE, NULL},
    {"ReduceMin", 7, 0, 1, 2, 1, REDUCE, NULL},
    {"ReduceProd", 7, 0, 1, 2, 1, REDUCE, NULL},
    {"ReduceSum", 7, 0, 1, 2, 1, "axes:I<13 keepdims:i=0|1 noop_with_empty_axes:i=0|1", NULL},
    {"ReduceSumSquare", 7, 0, 1, 2, 1, REDUCE, NULL},
    {"Relu", 7, 0, 1, 1, 1, NULL, NULL},
    {"Reshape", 7, 0, 2, 2, 1, "allowzero:i=0|1", NULL},
    {"Resize", 10, 0, 1, 4, 1,
     "antialias:i=0 axes:I "
     "coordinate_transformation_mode:s=half_pixel|asymmetric|align_corners|pytorch_half_pixel "
     "cubic_coeff_a:f exclude_outside:i keep_aspect_ratio_policy:s=stretch "
     "mode:s=nearest|linear|cubic nearest_mode:s=round_prefer_floor|round_prefer_ceil|floor|ceil",
     "extrapolation_value:f only of tf_crop_and_resize, which is not read"},
    {"Round", 11, 0, 1, 1, 1, NULL, NULL},
    {"ScatterElements", 11, 0, 3, 3, 1, "axis:i reduction:s=none|add", NULL},
    {"ScatterND", 11, 0, 3, 3, 1, "reduction:s=none", NULL},
    {"Selu", 7, 0, 1, 1, 1, "alpha:f gamma:f", NULL},
    {"Shape", 7, 0, 1, 1, 1, "end:i start:i", NULL},
    {"Shrink", 9, 0, 1, 1, 1, "bias:f lambd:f", NULL},
    {"Sigmoid", 7, 0, 1, 1, 1, NULL, NULL},
    {"Sign", 9, 0, 1, 1, 1, NULL, NULL},
    {"Sin", 7, 0, 1, 1, 1, NULL, NULL},
    {"Size", 7, 0, 1, 1, 1, NULL, NULL},
    {"Slice", 7, 0, 1, 5, 1, "axes:I<10 ends:I!<10 starts:I!<10", NULL},
    {"Softmax", 7, 0, 1, 1, 1, "axis:i", NULL},
    {"Softplus", 7, 0, 1, 1, 1, NULL, NULL},
    {"Softsign", 7, 0, 1, 1, 1, NULL, NULL},
    {"Split", 7, 0, 1, 2, SCHEMA_ANY, "axis:i num_outputs:i split:I<13", NULL},
    {"Sqrt", 7, 0, 1, 1, 1, NULL, NULL},
    {"Squeeze", 7, 0, 1, 2, 1, "axes:I<13", NULL},
    {"Sub", 7, 0, 2, 2, 1, NULL, NULL},
    {"Sum", 7, 0, 1, SCHEMA_ANY, 1, NULL, NULL},
    {"Swish", 24, 0, 1, 1, 1, "alpha:f", NULL},
    {"Tanh", 7, 0, 1, 1, 1, NULL, NULL},
    {"ThresholdedRelu", 10, 0, 1, 1, 1, "alpha:f", NULL},
    {"Tile", 7, 0, 2, 2, 1, NULL, NULL},
    {"TopK", 7, 0, 1, 2, 2, "axis:i k:i!<10 largest:i=0|1",
     "sorted:i 0 asks for no order, and the sorted one is one"},
    {"Transpose", 7, 0, 1, 1, 1, "perm:I", NULL},
    {"Trilu", 14, 0, 1, 2, 1, "upper:i=0|1", NULL},
    {"Unsqueeze", 7, 0, 1, 2, 1, "axes:I!<13", NULL},
    {"Upsample", 7, 9, 1, 2, 1, "mode:s=nearest|linear scales:F!<9", NULL},
    {"Where", 9, 0, 3, 3, 1, NULL, NULL},
    {"Xor", 7, 0, 2, 2, 1, NULL, NULL},
    {NULL, 0, 0, 0, 0, 0, NULL, NULL},
};

static const Schema classic_schemas[] = {
    {"ArrayFeatureExtractor", 1, 0, 2, 2, 1, NULL, NULL},
    {"Scaler", 1, 0, 1, 1, 1, "offset:F scale:F", NULL},
    {"ZipMap", 1, 0, 1, 1, 1, NULL,
     "classlabels_int64s:I names, of numbers in their order; "
     "classlabels_strings:S names, of numbers in their order"},
    {NULL, 0, 0, 0, 0, 0, NULL, NULL},
};

const SchemaDomain onnx_domains[] = {
    {"ai.onnx", 7, 28, schemas, sizeof schemas / sizeof schemas[0] - 1},
    {"ai.onnx.ml", 1, 5, classic_schemas, sizeof classic_schemas / sizeof classic_schemas[0] - 1},
    {NULL, 0, 0, NULL, 0},
};

// ---- looking up -------------------------------------------------------------------------------
const SchemaDomain *schema_domain(const char *name) {
    if (!name || !name[0]) return &onnx_domains[0];
    for (const SchemaDomain *domain = onnx_domains; domain->name; domain++)
        if (strcmp(domain->name, name) == 0) return domain;
    return NULL;
}

static int by_name(const void *name, const void *schema) {
    return strcmp(name, ((const Schema *)schema)->name);
}

const Schema *schema_find(const char *domain, const char *op_type) {
    const SchemaDomain *of = schema_domain(domain);
    if (!of) return NULL;
    return bsearch(op_type, of->operators, (size_t)of->n_operators, sizeof(Schema), by_name);
}

// Reads one entry of "axis:i mode:s=constant|edge axes:I<13" or "seed:f why; NAME:TYPE why".
bool schema_next(const char **at, bool idle, SchemaAttribute *out) {
    const char *text = *at;
    if (!text || !text[0]) return false;
    const char *colon = strchr(text, ':'), *end = colon + strcspn(colon, " ");
    const char *before = memchr(colon, '<', (size_t)(end - colon));
    *out = (SchemaAttribute){.name = text, .length = (int)(colon - text), .type = colon[1]};
    if (before) out->before = atoi(before + 1);
    out->required = colon[2] == '!';
    const char *values = colon + 2 + out->required;
    if (values[0] == '=') {
        out->values = values + 1;
        out->values_length = (int)((before ? before : end) - out->values);
    }
    if (idle) end += strcspn(end, ";") + (strchr(end, ';') != NULL);
    *at = end[0] == ' ' ? end + 1 : end;
    return true;
}
