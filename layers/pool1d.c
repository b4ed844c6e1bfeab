// pool1d.c -- pools of sequences as layers
#include "layers/layers1d.h"

typedef struct Pool1d {
    Layer layer;
    Pool1dOptions options; // its stride is never 0
} Pool1d;

#define OPTION(field)                                                                              \
    { #field, ATTRIBUTE_INTEGER, offsetof(Pool1d, options.field) }
#define FLAG(field)                                                                                \
    { #field, ATTRIBUTE_FLAG, offsetof(Pool1d, options.field) }
static const LayerAttribute max_attributes[] = {OPTION(kernel),       OPTION(stride),
                                                OPTION(padding_left), OPTION(padding_right),
                                                OPTION(dilation),     FLAG(ceil_mode)};
static const LayerAttribute avg_attributes[] = {OPTION(kernel),       OPTION(stride),
                                                OPTION(padding_left), OPTION(padding_right),
                                                FLAG(ceil_mode),      FLAG(exclude_pad)};
#undef FLAG
#undef OPTION

static Tensor *max_forward(Layer *self, Tensor *const in[], int n_in) {
    (void)n_in;
    return tensor_max_pool1d(in[0], ((Pool1d *)self)->options);
}

static Tensor *avg_forward(Layer *self, Tensor *const in[], int n_in) {
    (void)n_in;
    return tensor_avg_pool1d(in[0], ((Pool1d *)self)->options);
}

static void max_print(const Layer *self, FILE *file) {
    const Pool1dOptions *o = &((const Pool1d *)self)->options;
    fprintf(file, "kernel_size=%lld, stride=%lld, padding=%lld, dilation=%lld, ceil_mode=%s",
            (long long)o->kernel, (long long)o->stride, (long long)o->padding_left,
            (long long)o->dilation, o->ceil_mode ? "True" : "False");
}

static void avg_print(const Layer *self, FILE *file) {
    const Pool1dOptions *o = &((const Pool1d *)self)->options;
    fprintf(file, "kernel_size=(%lld,), stride=(%lld,), padding=(%lld,)", (long long)o->kernel,
            (long long)o->stride, (long long)o->padding_left);
}

static const LayerType max_type = {.name = "MaxPool1d",
                                   .size = sizeof(Pool1d),
                                   .attributes = max_attributes,
                                   .n_attributes =
                                       sizeof(max_attributes) / sizeof(max_attributes[0]),
                                   .forward = max_forward,
                                   .print = max_print,
                                   .mixes_positions = true};
static const LayerType avg_type = {.name = "AvgPool1d",
                                   .size = sizeof(Pool1d),
                                   .attributes = avg_attributes,
                                   .n_attributes =
                                       sizeof(avg_attributes) / sizeof(avg_attributes[0]),
                                   .forward = avg_forward,
                                   .print = avg_print,
                                   .mixes_positions = true};

static Layer *window_new(const LayerType *type, Pool1dOptions options) {
    if (options.kernel < 1) {
        error_set(STATUS_INVALID_ARGUMENT, "%s: a kernel of %lld. HINT: at least 1", type->name,
                  (long long)options.kernel);
        return NULL;
    }
    Pool1d *self = (Pool1d *)layer_new(type);
    if (!self) return NULL;
    if (options.stride == 0) options.stride = options.kernel;
    self->options = options;
    return &self->layer;
}

Layer *max_pool1d_new(Pool1dOptions options) { return window_new(&max_type, options); }
Layer *avg_pool1d_new(Pool1dOptions options) { return window_new(&avg_type, options); }

typedef struct AdaptivePool1d {
    Layer layer;
    int64_t output_size;
} AdaptivePool1d;

static const LayerAttribute adaptive_attributes[] = {
    {"output_size", ATTRIBUTE_INTEGER, offsetof(AdaptivePool1d, output_size)}};

static Tensor *adaptive_forward(Layer *self, Tensor *const in[], int n_in) {
    (void)n_in;
    return tensor_adaptive_avg_pool1d(in[0], ((AdaptivePool1d *)self)->output_size);
}

static const LayerType adaptive_type = {.name = "AdaptiveAvgPool1d",
                                        .size = sizeof(AdaptivePool1d),
                                        .attributes = adaptive_attributes,
                                        .n_attributes = 1,
                                        .forward = adaptive_forward,
                                        .mixes_positions = true};

Layer *adaptive_avg_pool1d_new(int64_t out_length) {
    if (out_length < 1) {
        error_set(STATUS_INVALID_ARGUMENT, "AdaptiveAvgPool1d: an output of %lld. HINT: at least 1",
                  (long long)out_length);
        return NULL;
    }
    AdaptivePool1d *self = (AdaptivePool1d *)layer_new(&adaptive_type);
    if (!self) return NULL;
    self->output_size = out_length;
    return &self->layer;
}
