// alike.c -- the attributes of a layer from a file, such as kernel and channels: those of the
// equivalent layer of this library, which is built without numbers and dropped.
#include <string.h>

#include "layers/files/onnx/graph.h"
#include "layers/layers1d.h"
#include "layers/layers2d.h"
#include "tensor/context.h"

typedef struct Likeness { // the one step of a layer
    const StepParams *params;
    Shape weight; // no dimensions: no weight
    bool bias;
} Likeness;

// ---- products ---------------------------------------------------------------------------------
static Layer *linear(const Likeness *of) {
    return linear_new(of->weight.dims[1], of->weight.dims[0], of->bias);
}

static Layer *conv2d(const Likeness *of) {
    Conv2dOptions options = of->params->conv.options.conv;
    const int64_t *w = of->weight.dims;
    return conv2d_new(w[1] * options.groups, w[0], w[2], w[3], options, of->bias);
}

static Layer *transposed2d(const Likeness *of) {
    ConvTranspose2dOptions options = of->params->conv.options;
    const int64_t *w = of->weight.dims;
    return conv_transpose2d_new(w[0], w[1] * options.conv.groups, w[2], w[3], options, of->bias);
}

static Layer *conv1d(const Likeness *of) {
    Conv1dOptions options = conv_options_flat(&of->params->conv.options.conv);
    const int64_t *w = of->weight.dims;
    return conv1d_new(w[1] * options.groups, w[0], w[2], options, of->bias);
}

static Layer *transposed1d(const Likeness *of) {
    const ConvTranspose2dOptions *both = &of->params->conv.options;
    ConvTranspose1dOptions options = {.conv = conv_options_flat(&both->conv),
                                      .output_padding = both->output_padding_w};
    const int64_t *w = of->weight.dims;
    return conv_transpose1d_new(w[0], w[1] * options.conv.groups, w[2], options, of->bias);
}

static Layer *embedding(const Likeness *of) {
    return embedding_new(of->weight.dims[0], of->weight.dims[1]);
}

// ---- norms ------------------------------------------------------------------------------------
static BatchNormOptions batch_options(const Likeness *of) {
    BatchNormOptions options = batch_norm_defaults();
    options.epsilon = of->params->norm.epsilon;
    options.momentum = of->params->norm.momentum;
    return options;
}

static Layer *batch_norm1d(const Likeness *of) {
    return batch_norm1d_new(of->weight.dims[0], batch_options(of));
}

static Layer *batch_norm2d(const Likeness *of) {
    return batch_norm2d_new(of->weight.dims[0], batch_options(of));
}

static Layer *group_norm(const Likeness *of) {
    const NormParams *norm = &of->params->norm;
    return group_norm_new(norm->groups, of->weight.dims[0], norm->epsilon, true);
}

static Layer *layer_norm(const Likeness *of) {
    return layer_norm_new(of->params->norm.row, of->params->norm.epsilon, of->weight.ndim > 0);
}

static Layer *rms_norm(const Likeness *of) {
    return rms_norm_new(of->params->norm.row, of->params->norm.epsilon, of->weight.ndim > 0);
}

// ---- pools ------------------------------------------------------------------------------------
static Layer *max_pool2d(const Likeness *of) { return max_pool2d_new(of->params->pool.options); }
static Layer *avg_pool2d(const Likeness *of) { return avg_pool2d_new(of->params->pool.options); }
static Layer *max_pool1d(const Likeness *of) {
    return max_pool1d_new(pool_options_flat(&of->params->pool.options));
}
static Layer *avg_pool1d(const Likeness *of) {
    return avg_pool1d_new(pool_options_flat(&of->params->pool.options));
}
static Layer *to_one2d(const Likeness *of) {
    (void)of;
    return adaptive_avg_pool2d_new(1, 1);
}
static Layer *to_one1d(const Likeness *of) {
    (void)of;
    return adaptive_avg_pool1d_new(1);
}

static const struct {
    const char *type, *op; // PyTorch's class, and the step's operator
    int weight;            // dimensions of its weight; 0: it may have none
    Layer *(*build)(const Likeness *of);
} known[] = {{"Linear", "Linear", 2, linear},
             {"Conv2d", "Conv", 4, conv2d},
             {"Conv1d", "Conv", 3, conv1d},
             {"ConvTranspose2d", "ConvTranspose", 4, transposed2d},
             {"ConvTranspose1d", "ConvTranspose", 3, transposed1d},
             {"Embedding", "Gather", 2, embedding},
             {"BatchNorm1d", "BatchNormalization", 1, batch_norm1d},
             {"BatchNorm2d", "BatchNormalization", 1, batch_norm2d},
             {"GroupNorm", "GroupNormalization", 1, group_norm},
             {"LayerNorm", "LayerNormalization", 0, layer_norm},
             {"RMSNorm", "RMSNormalization", 0, rms_norm},
             {"MaxPool2d", "MaxPool", 0, max_pool2d},
             {"MaxPool1d", "MaxPool", 0, max_pool1d},
             {"AvgPool2d", "AveragePool", 0, avg_pool2d},
             {"AvgPool1d", "AveragePool", 0, avg_pool1d},
             {"AdaptiveAvgPool2d", "GlobalAveragePool", 0, to_one2d},
             {"AdaptiveAvgPool1d", "GlobalAveragePool", 0, to_one1d}};

// ---- all of them ------------------------------------------------------------------------------
static size_t size_of(AttributeKind kind) {
    if (kind == ATTRIBUTE_REAL) return sizeof(float);
    if (kind == ATTRIBUTE_FLAG) return sizeof(bool);
    return kind == ATTRIBUTE_ACTIVATION ? sizeof(const Op *) : sizeof(int64_t);
}

static void take_attributes(GraphLayer *self, const Layer *like) {
    int n = like->type->n_attributes;
    if (n > GRAPH_ATTRIBUTES) n = GRAPH_ATTRIBUTES;
    for (int i = 0; i < n; i++) {
        const LayerAttribute *a = &like->type->attributes[i];
        memcpy(self->values[i], (const char *)like + a->offset, size_of(a->kind));
        size_t offset = offsetof(GraphLayer, values) + (size_t)i * sizeof self->values[0];
        self->attributes[i] = (LayerAttribute){a->name, a->kind, offset};
    }
    self->type.attributes = self->attributes;
    self->type.n_attributes = n;
}

static Shape weight_of(const Program *program, const Step *step) {
    bool table = strcmp(step->op->name, "Gather") == 0; // its first input is the table
    int at = table ? 0 : 1;
    if (at >= step->n_in || step->in[at] < 0) return (Shape){0};
    const Slot *slot = &program->slots[step->in[at]];
    if (slot->owner && !slot->is_buffer) return slot->owner->parameters[slot->index].tensor->shape;
    return slot->constant ? slot->constant->shape : (Shape){0};
}

static void describe(const Program *program, const RunStep *run) {
    const Step *step = &run->step;
    GraphLayer *self = (GraphLayer *)run->layer;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(self->type.name, known[i].type) != 0 || strcmp(step->op->name, known[i].op) != 0)
            continue;
        Likeness of = {.params = &step->params,
                       .weight = weight_of(program, step),
                       .bias = step->n_in > 2 && step->in[2] >= 0};
        if (known[i].weight > 0 && of.weight.ndim != known[i].weight) return;
        Layer *like = known[i].build(&of);
        if (like) take_attributes(self, like);
        layer_free(like);
        if (error_pending() && error_status() != STATUS_OUT_OF_MEMORY)
            error_clear(); // no layer here has these settings
        return;
    }
}

Status graph_describe(Program *program) {
    Context *context = context_new();
    if (!context) return error_status();
    context_push(context);
    context_set_device(device_meta());
    for (int i = 0; i < program->n_steps && !error_pending(); i++) {
        const Layer *layer = program->steps[i].layer;
        if (layer && layer->type->n_attributes == 0) describe(program, &program->steps[i]);
    }
    context_pop();
    context_free(context);
    return error_status();
}
