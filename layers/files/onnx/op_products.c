// op_products.c -- ONNX's products as the engine's: matrices, linear layers, convolutions and
// transposed convolutions.
#include <string.h>

#include "layers/files/onnx/import.h"
#include "tensor/ops.h"

static Status done(Tensor *y, Tensor *out[]) {
    out[0] = y;
    return error_status();
}

// ---- matrices ---------------------------------------------------------------------------------
// The exporter transposes a linear layer's weight (out, in) and stores it under a name of its own.
// Transposed back it is PyTorch's, and the product is a linear layer. A weight with other readers
// stays as it is, unless all of them are products (a layer that is called again).
static bool only_multiplies(const Import *import, const Value *weight) {
    const Onnx__Graph *graph = import->graph;
    int products = 0;
    for (size_t i = 0; i < graph->n_node; i++) {
        const Node *node = graph->node[i];
        bool product = node->n_input == 2 && strcmp(node->op_type, "MatMul") == 0;
        products += product && strcmp(node->input[1], weight->name) == 0;
    }
    return products == weight->readers; // a weight times itself counts more
}

static bool can_flip(const Import *import, const Value *weight) {
    if (!weight || weight->kind != VALUE_PARAMETER || !weight->stored || weight->shape.ndim != 2 ||
        onnx_name_is_path(weight->name))
        return false;
    if (weight->flipped) return true;
    return !weight->tensor && (weight->readers == 1 || only_multiplies(import, weight));
}

static Status run_linear(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)training;
    Tensor *bias = step->n_in > 2 ? in[2] : NULL;
    return done(tensor_linear(in[0], in[1], bias, NULL), out);
}

static const Operator linear = {
    .name = "Linear", .run = run_linear, .module = "Linear", .optional = 1 << 2};

// Without folding (torch.onnx.export(..., do_constant_folding=False)) the file has PyTorch's weight
// itself, and a node that transposes it: returns that parameter, or VALUE_ABSENT.
static int turned_parameter(const Import *import, const Value *weight) {
    const Step *turn = weight && weight->step >= 0 ? import->steps[weight->step] : NULL;
    if (!turn || strcmp(turn->op->name, "Transpose") != 0 || turn->params.reduce.dims[0] != 1)
        return VALUE_ABSENT;
    const Value *value = import_value(import, turn->in[0]);
    bool matrix = value && value->kind == VALUE_PARAMETER && value->shape.ndim == 2;
    return matrix ? turn->in[0] : VALUE_ABSENT;
}

static void take_parameter(const Import *import, Step *step, int i, int at) {
    Value *value = import->values[at];
    step->in[i] = at;
    value->held = true;
    if (value->role) return;
    value->role = "weight";
    value->role_step = import->n_steps;
}

static Status build_matmul(Import *import, const Node *node, Step *step) {
    const char *const roles[] = {NULL, "weight"};
    if (step_weights(import, node, step, 2, roles)) return error_status();
    const Value *x = node_input(import, node, 0);
    Value *weight = import_value(import, step->in[1]); // may be a copy of this layer's own
    if (!x || !weight) return import_error(import, STATUS_FORMAT, "it has not two inputs");
    int turned = x->shape.ndim > 1 ? turned_parameter(import, weight) : VALUE_ABSENT;
    if (turned >= 0)
        take_parameter(import, step, 1, turned);
    else if (can_flip(import, weight))
        weight->flipped = true;
    else
        return STATUS_OK;
    step->op = &linear;
    return STATUS_OK;
}

static Status run_matmul(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)step, (void)training;
    return done(tensor_matmul(onnx_as_float(in[0]), onnx_as_float(in[1])), out);
}

// alpha a b + beta c, with a and b each transposed or not.
static Status build_gemm(Import *import, const Node *node, Step *step) {
    const char *const roles[] = {NULL, "weight", "bias"};
    if (step_weights(import, node, step, 3, roles)) return error_status();
    const Value *a = node_input(import, node, 0);
    Value *b = import_value(import, step->in[1]); // may be a copy of this layer's own
    if (!a || !b || a->shape.ndim != 2 || b->shape.ndim != 2)
        return import_error(import, STATUS_SHAPE, "its first two inputs are not matrices");
    int64_t outputs = b->shape.dims[attribute_int(node, "transB", 0) != 0 ? 0 : 1];
    if (told_bias(import, node, step, outputs)) return error_status();
    const Value *c = import_value(import, step->in[2]);
    float *number = step->params.plain.value;
    number[0] = attribute_float(node, "alpha", 1.0f);
    number[1] = c ? attribute_float(node, "beta", 1.0f) : 1.0f;
    bool trans_a = attribute_int(node, "transA", 0) != 0;
    bool trans_b = attribute_int(node, "transB", 0) != 0;
    step->params.plain.flags[0] = trans_a;
    step->params.plain.flags[1] = trans_b;
    bool row = !c || (c->shape.ndim == 1 && c->shape.dims[0] == outputs);
    if (trans_a || !row || number[0] != 1.0f || number[1] != 1.0f) return STATUS_OK;
    if (!trans_b && !can_flip(import, b)) return STATUS_OK;
    if (!trans_b) b->flipped = true;
    step->op = &linear;
    return STATUS_OK;
}

static Status run_gemm(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)training;
    const bool *trans = step->params.plain.flags;
    const float *number = step->params.plain.value;
    Tensor *a = trans[0] ? tensor_transpose(in[0], 0, 1) : in[0];
    Tensor *b = trans[1] ? tensor_transpose(in[1], 0, 1) : in[1];
    Tensor *y = tensor_matmul(a, b), *c = step->n_in > 2 ? in[2] : NULL;
    if (number[0] != 1.0f) y = tensor_mul_scalar(y, number[0]);
    if (c && number[1] != 1.0f) c = tensor_mul_scalar(c, number[1]);
    return done(c ? tensor_add(y, c) : y, out);
}

// ---- sums by an equation ------------------------------------------------------------------------
static Status build_einsum(Import *import, const Node *node, Step *step) {
    const Onnx__Attribute *equation = attribute_find(node, "equation");
    if (!equation || !equation->has_s || equation->s.len >= EINSUM_MAX_TEXT ||
        node->n_input > EINSUM_MAX_OPERANDS)
        return import_error(
            import, STATUS_FORMAT,
            "it has no equation, one of more than %d letters, or more than %d operands",
            EINSUM_MAX_TEXT - 1, EINSUM_MAX_OPERANDS);
    memcpy(step->params.equation, equation->s.data, equation->s.len); // with a 0 after it
    for (int i = 0; i < (int)node->n_input; i++)
        if (step_weight(import, node, step, i, "weight")) return error_status();
    return STATUS_OK;
}

static Status run_einsum(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)training;
    Tensor *operands[EINSUM_MAX_OPERANDS];
    for (int i = 0; i < step->n_in; i++) operands[i] = onnx_as_float(in[i]);
    return done(tensor_einsum(step->params.equation, operands, step->n_in), out);
}

// ---- convolutions -----------------------------------------------------------------------------
Conv2dOptions onnx_conv_options(const Sides *sides, int64_t groups) {
    return (Conv2dOptions){.stride_h = sides->stride[0],
                           .stride_w = sides->stride[1],
                           .padding_top = sides->before[0],
                           .padding_bottom = sides->after[0],
                           .padding_left = sides->before[1],
                           .padding_right = sides->after[1],
                           .dilation_h = sides->dilation[0],
                           .dilation_w = sides->dilation[1],
                           .groups = groups};
}

// The part that both kinds share: weights, sides and groups. NULL: an error is pending, or the node
// has three dimensions, and is complete.
static const Value *begin_conv(Import *import, const Node *node, Step *step, Sides *sides) {
    const char *const roles[] = {NULL, "weight", "bias"};
    if (step_weights(import, node, step, 3, roles)) return NULL;
    const Value *in = node_input(import, node, 0), *weight = node_input(import, node, 1);
    int dims = in ? in->shape.ndim - 2 : 0;
    if (!weight || dims < 1 || dims > 3 || weight->shape.ndim != in->shape.ndim) {
        import_error(
            import, STATUS_NOT_IMPLEMENTED,
            "its input has %d dimensions behind the channels, and its weight as many: 1 to "
            "3 are read",
            dims);
        return NULL;
    }
    int64_t outputs = weight->shape.dims[0];
    if (strcmp(node->op_type, "ConvTranspose") == 0 &&
        __builtin_mul_overflow(weight->shape.dims[1], attribute_int(node, "group", 1), &outputs))
        outputs = 0;
    if (told_bias(import, node, step, outputs)) return NULL;
    int64_t kernel[3];
    int n = attribute_ints(node, "kernel_shape", kernel, 3);
    for (int i = 0; i < dims && n >= 0; i++)
        if (n != dims || kernel[i] != weight->shape.dims[2 + i]) {
            import_error(import, STATUS_SHAPE, "its kernel_shape is not that of its weight");
            return NULL;
        }
    if (dims == 3) {
        volume_conv(import, node, step, in->shape, weight->shape);
        return NULL;
    }
    if (sides_read(import, node, in->shape, weight->shape.dims + 2, sides)) return NULL;
    step->params.conv.flat = dims == 1;
    return in;
}

static Status build_conv(Import *import, const Node *node, Step *step) {
    Sides sides;
    const Value *in = begin_conv(import, node, step, &sides);
    if (!in) return error_status();
    sides_same(node, in->shape, in->shape.ndim - 2, &sides);
    step->params.conv.options.conv = onnx_conv_options(&sides, attribute_int(node, "group", 1));
    return STATUS_OK;
}

Conv1dOptions conv_options_flat(const Conv2dOptions *options) {
    return (Conv1dOptions){.stride = options->stride_w,
                           .padding_left = options->padding_left,
                           .padding_right = options->padding_right,
                           .dilation = options->dilation_w,
                           .groups = options->groups};
}

static Status run_conv(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)training;
    const Conv2dOptions *options = &step->params.conv.options.conv;
    if (step->params.conv.flat)
        return done(tensor_conv1d(in[0], in[1], in[2], conv_options_flat(options)), out);
    return done(tensor_conv2d(in[0], in[1], in[2], *options), out);
}

static Status build_transposed(Import *import, const Node *node, Step *step) {
    Sides sides;
    int64_t more[2] = {0}, wanted[2];
    const Value *in = begin_conv(import, node, step, &sides);
    if (!in) return error_status();
    int dims = in->shape.ndim - 2, first = 2 - dims;
    int64_t extra[2] = {0};
    attribute_ints(node, "output_padding", extra, dims);
    for (int i = 0; i < dims; i++) {
        if (extra[i] < 0 || extra[i] > INT32_MAX)
            return import_error(import, STATUS_FORMAT, "its output_padding is below 0");
        more[first + i] = extra[i];
    }
    bool sized = attribute_ints(node, "output_shape", wanted, dims) == dims;
    bool lower = attribute_is(node, "auto_pad", "SAME_LOWER", false);
    bool same = lower || attribute_is(node, "auto_pad", "SAME_UPPER", false);
    for (int i = first; i < 2 && (sized || same); i++) {
        int64_t size = in->shape.dims[in->shape.ndim - 2 + i];
        int64_t full =
            (size - 1) * sides.stride[i] + more[i] + (sides.kernel[i] - 1) * sides.dilation[i] + 1;
        if (sized && (wanted[i - first] < 0 || wanted[i - first] > INT32_MAX))
            return import_error(import, STATUS_FORMAT, "its output_shape is below 0");
        int64_t pad = full - (sized ? wanted[i - first] : size * sides.stride[i]);
        if (sized && pad < 0) more[i] -= pad; // zeros after the last window
        if (sized && more[i] >= sides.stride[i] && more[i] >= sides.dilation[i] && pad < 0)
            return import_error(import, STATUS_NOT_IMPLEMENTED,
                                "its output_shape has %lld, and its windows reach %lld. HINT: less "
                                "than a stride more",
                                (long long)wanted[i - first], (long long)full);
        pad = pad > 0 ? pad : 0;
        sides.before[i] = lower || !same ? pad - pad / 2 : pad / 2;
        sides.after[i] = pad - sides.before[i];
    }
    step->params.conv.options =
        (ConvTranspose2dOptions){.conv = onnx_conv_options(&sides, attribute_int(node, "group", 1)),
                                 .output_padding_h = more[0],
                                 .output_padding_w = more[1]};
    return STATUS_OK;
}

static Status run_transposed(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)training;
    const ConvTranspose2dOptions *options = &step->params.conv.options;
    if (!step->params.conv.flat)
        return done(tensor_conv_transpose2d(in[0], in[1], in[2], *options), out);
    ConvTranspose1dOptions flat = {.conv = conv_options_flat(&options->conv),
                                   .output_padding = options->output_padding_w};
    return done(tensor_conv_transpose1d(in[0], in[1], in[2], flat), out);
}

const Operator onnx_products[] = {
    {.name = "MatMul", .build = build_matmul, .run = run_matmul, .module = "Linear"},
    {.name = "Gemm", .build = build_gemm, .run = run_gemm, .module = "Linear", .optional = 1 << 2},
    {.name = "Einsum", .build = build_einsum, .run = run_einsum},
    {.name = "Conv", .build = build_conv, .run = run_conv, .module = "Conv2d", .optional = 1 << 2},
    {.name = "ConvTranspose",
     .build = build_transposed,
     .run = run_transposed,
     .module = "ConvTranspose2d",
     .optional = 1 << 2},
    {.name = NULL},
};
