// pool2d.c -- pools as layers
#include "layers/layers2d.h"

typedef struct Pool2d {
    Layer layer;
    Pool2dOptions options; // its strides are never 0
} Pool2d;

#define OPTION(field)                                                                              \
    { #field, ATTRIBUTE_INTEGER, offsetof(Pool2d, options.field) }
#define WINDOW                                                                                     \
    OPTION(kernel_h), OPTION(kernel_w), OPTION(stride_h), OPTION(stride_w), OPTION(padding_top),   \
        OPTION(padding_bottom), OPTION(padding_left), OPTION(padding_right)
static const LayerAttribute max_attributes[] = {WINDOW,
                                                OPTION(dilation_h),
                                                OPTION(dilation_w),
                                                {"ceil_mode", ATTRIBUTE_FLAG,
                                                 offsetof(Pool2d, options.ceil_mode)}};
static const LayerAttribute avg_attributes[] = {
    WINDOW,
    {"ceil_mode", ATTRIBUTE_FLAG, offsetof(Pool2d, options.ceil_mode)},
    {"exclude_pad", ATTRIBUTE_FLAG, offsetof(Pool2d, options.exclude_pad)}};
#undef WINDOW
#undef OPTION

static Tensor *max_forward(Layer *self, Tensor *const in[], int n_in) {
    (void)n_in;
    return tensor_max_pool2d(in[0], ((Pool2d *)self)->options);
}

static Tensor *avg_forward(Layer *self, Tensor *const in[], int n_in) {
    (void)n_in;
    return tensor_avg_pool2d(in[0], ((Pool2d *)self)->options);
}

static const LayerType max_type = {.name = "MaxPool2d",
                                   .size = sizeof(Pool2d),
                                   .attributes = max_attributes,
                                   .n_attributes =
                                       sizeof(max_attributes) / sizeof(max_attributes[0]),
                                   .forward = max_forward};
static const LayerType avg_type = {.name = "AvgPool2d",
                                   .size = sizeof(Pool2d),
                                   .attributes = avg_attributes,
                                   .n_attributes =
                                       sizeof(avg_attributes) / sizeof(avg_attributes[0]),
                                   .forward = avg_forward};

Pool2dOptions pool2d_padded(Pool2dOptions options, int64_t padding) {
    options.padding_top = options.padding_bottom = padding;
    options.padding_left = options.padding_right = padding;
    return options;
}

static Layer *window_new(const LayerType *type, Pool2dOptions options) {
    if (options.kernel_h < 1 || options.kernel_w < 1) {
        error_set(STATUS_INVALID_ARGUMENT, "%s: a kernel of %lld x %lld. HINT: at least 1",
                  type->name, (long long)options.kernel_h, (long long)options.kernel_w);
        return NULL;
    }
    Pool2d *self = (Pool2d *)layer_new(type);
    if (!self) return NULL;
    if (options.stride_h == 0) options.stride_h = options.kernel_h;
    if (options.stride_w == 0) options.stride_w = options.kernel_w;
    self->options = options;
    return &self->layer;
}

Layer *max_pool2d_new(Pool2dOptions options) { return window_new(&max_type, options); }
Layer *avg_pool2d_new(Pool2dOptions options) { return window_new(&avg_type, options); }

// ---- to a fixed size ---------------------------------------------------------------------------
typedef struct AdaptivePool2d {
    Layer layer;
    int64_t out_h, out_w;
} AdaptivePool2d;

static const LayerAttribute adaptive_attributes[] = {
    {"out_h", ATTRIBUTE_INTEGER, offsetof(AdaptivePool2d, out_h)},
    {"out_w", ATTRIBUTE_INTEGER, offsetof(AdaptivePool2d, out_w)}};

static Tensor *adaptive_forward(Layer *self, Tensor *const in[], int n_in) {
    const AdaptivePool2d *pool = (AdaptivePool2d *)self;
    (void)n_in;
    return tensor_adaptive_avg_pool2d(in[0], pool->out_h, pool->out_w);
}

static const LayerType adaptive_type = {.name = "AdaptiveAvgPool2d",
                                        .size = sizeof(AdaptivePool2d),
                                        .attributes = adaptive_attributes,
                                        .n_attributes = 2,
                                        .forward = adaptive_forward};

Layer *adaptive_avg_pool2d_new(int64_t out_h, int64_t out_w) {
    if (out_h < 1 || out_w < 1) {
        error_set(STATUS_INVALID_ARGUMENT,
                  "AdaptiveAvgPool2d: an output of %lld x %lld. HINT: at least 1", (long long)out_h,
                  (long long)out_w);
        return NULL;
    }
    AdaptivePool2d *self = (AdaptivePool2d *)layer_new(&adaptive_type);
    if (!self) return NULL;
    self->out_h = out_h;
    self->out_w = out_w;
    return &self->layer;
}
