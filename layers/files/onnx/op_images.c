// op_images.c -- ONNX's pools, resizing, and moving channels to pixels.
#include <math.h>
#include <string.h>

#include "layers/files/onnx/import.h"
#include "tensor/math.h"
#include "tensor/ops.h"

static Status done(Tensor *y, Tensor *out[]) {
    out[0] = y;
    return error_status();
}

// ---- pools ------------------------------------------------------------------------------------
static bool pool_pads_itself(const Sides *sides) {
    for (int i = 0; i < 2; i++)
        if (2 * sides->before[i] > sides->kernel[i] || 2 * sides->after[i] > sides->kernel[i])
            return false;
    return true;
}

// Padding beyond a pool's limit is added to the image first. It is then part of the image: a window
// may begin in it, which ceil_mode forbids.
static Status pad_first(Import *import, Step *step, Sides *sides, bool excludes, bool ceil) {
    PoolParams *pool = &step->params.pool;
    if (pool_pads_itself(sides)) return STATUS_OK;
    if (ceil)
        return import_error(import, STATUS_NOT_IMPLEMENTED,
                            "its pads are more than half the window, with ceil_mode. HINT: "
                            "ceil_mode=0, or a Pad before it");
    if (excludes)
        return import_error(import, STATUS_NOT_IMPLEMENTED,
                            "its pads are more than half the window, and do not count. HINT: "
                            "count_include_pad=1, or a Pad before it");
    pool->pad.pads = true;
    for (int i = 0; i < 2; i++) {
        int dim = pool->flat ? 1 + i : 2 + i;
        if (pool->flat && i == 0) continue;
        pool->pad.before[dim] = sides->before[i];
        pool->pad.after[dim] = sides->after[i];
        sides->before[i] = sides->after[i] = 0;
    }
    return STATUS_OK;
}

static bool excludes_pad(const Node *node) {
    return strcmp(node->op_type, "AveragePool") == 0 &&
           attribute_int(node, "count_include_pad", 0) == 0;
}

Pool2dOptions onnx_pool_options(const Node *node, const Sides *sides) {
    return (Pool2dOptions){.kernel_h = sides->kernel[0],
                           .kernel_w = sides->kernel[1],
                           .stride_h = sides->stride[0],
                           .stride_w = sides->stride[1],
                           .padding_top = sides->before[0],
                           .padding_bottom = sides->after[0],
                           .padding_left = sides->before[1],
                           .padding_right = sides->after[1],
                           .dilation_h = sides->dilation[0],
                           .dilation_w = sides->dilation[1],
                           .ceil_mode = attribute_int(node, "ceil_mode", 0) != 0,
                           .exclude_pad = excludes_pad(node)};
}

Status pool_refuse_dilation(const Import *import) {
    return import_error(import, STATUS_NOT_IMPLEMENTED,
                        "its dilations are not 1, which is what is read of an average. HINT: "
                        "export the model without them");
}

static Status build_pool(Import *import, const Node *node, Step *step) {
    const Value *in = node_input(import, node, 0);
    int dims = in ? in->shape.ndim - 2 : 0;
    int64_t kernel[2];
    Sides sides;
    if (dims == 3) return volume_pool(import, node, step, in->shape);
    if (dims < 1 || dims > 2)
        import_error(import, STATUS_NOT_IMPLEMENTED,
                     "its input has %d dimensions behind the channels, and 1 to 3 are read", dims);
    if (error_pending()) return error_status();
    if (attribute_ints(node, "kernel_shape", kernel, dims) != dims)
        return import_error(import, STATUS_FORMAT,
                            "its kernel_shape is not of %d dimensions, as its input is", dims);
    if (sides_read(import, node, in->shape, kernel, &sides)) return error_status();
    bool same = attribute_is(node, "auto_pad", "SAME_UPPER", false) ||
                attribute_is(node, "auto_pad", "SAME_LOWER", false);
    if (same && (sides.dilation[0] != 1 || sides.dilation[1] != 1))
        return import_error(
            import, STATUS_NOT_IMPLEMENTED,
            "an auto_pad of the same size with dilations, which readers of ONNX take "
            "differently. HINT: pads instead");
    sides_same(node, in->shape, dims, &sides);
    bool average = strcmp(node->op_type, "AveragePool") == 0;
    if (average && (sides.dilation[0] != 1 || sides.dilation[1] != 1))
        return pool_refuse_dilation(import);
    step->params.pool.flat = dims == 1;
    step->params.pool.pad.value = average ? 0.0f : -INFINITY;
    bool ceil = attribute_int(node, "ceil_mode", 0) != 0;
    if (pad_first(import, step, &sides, excludes_pad(node), ceil)) return error_status();
    step->params.pool.options = onnx_pool_options(node, &sides);
    return step_inputs(import, node, step, 1);
}

Pool1dOptions pool_options_flat(const Pool2dOptions *options) {
    return (Pool1dOptions){.kernel = options->kernel_w,
                           .stride = options->stride_w,
                           .padding_left = options->padding_left,
                           .padding_right = options->padding_right,
                           .dilation = options->dilation_w,
                           .ceil_mode = options->ceil_mode,
                           .exclude_pad = options->exclude_pad};
}

static Status run_pool(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)training;
    const PoolParams *pool = &step->params.pool;
    const Pool2dOptions *options = &pool->options;
    bool average = step->op->name[0] == 'A';
    Tensor *x = in[0];
    if (pool->pad.pads)
        x = tensor_pad(x, pool->pad.before, pool->pad.after, PAD_CONSTANT, pool->pad.value);
    if (!pool->flat)
        return done(average ? tensor_avg_pool2d(x, *options) : tensor_max_pool2d(x, *options), out);
    Pool1dOptions flat = pool_options_flat(options);
    return done(average ? tensor_avg_pool1d(x, flat) : tensor_max_pool1d(x, flat), out);
}

// Reduces over all dimensions after the channels.
static Status run_global(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)training;
    Tensor *x = in[0];
    int ndim = x->shape.ndim, dims[TENSOR_MAX_DIMS];
    bool average = strcmp(step->op->name, "GlobalAveragePool") == 0;
    if (average && ndim == 4) return done(tensor_adaptive_avg_pool2d(x, 1, 1), out);
    if (average && ndim == 3) return done(tensor_adaptive_avg_pool1d(x, 1), out);
    for (int i = 2; i < ndim; i++) dims[i - 2] = i;
    if (average && ndim > 2) return done(tensor_mean_dims(x, dims, ndim - 2, true), out);
    for (int i = 2; i < ndim; i++) x = tensor_max(x, i, true);
    return done(x, out);
}

// ---- resizing ---------------------------------------------------------------------------------
typedef struct Named {
    const char *name;
    int value;
} Named;
static const Named modes[] = {
    {"nearest", RESIZE_NEAREST}, {"linear", RESIZE_LINEAR}, {"cubic", RESIZE_CUBIC}, {NULL, 0}};
static const Named coordinates[] = {{"half_pixel", RESIZE_HALF_PIXEL},
                                    {"asymmetric", RESIZE_ASYMMETRIC},
                                    {"align_corners", RESIZE_ALIGN_CORNERS},
                                    {"pytorch_half_pixel", RESIZE_PYTORCH_HALF_PIXEL},
                                    {NULL, 0}};
static const Named roundings[] = {{"round_prefer_floor", RESIZE_ROUND_PREFER_FLOOR},
                                  {"round_prefer_ceil", RESIZE_ROUND_PREFER_CEIL},
                                  {"floor", RESIZE_FLOOR},
                                  {"ceil", RESIZE_CEIL},
                                  {NULL, 0}};

// The first entry is the default.
static int named(Import *import, const Node *node, const char *attribute, const Named *names) {
    for (int i = 0; names[i].name; i++)
        if (attribute_is(node, attribute, names[i].name, i == 0)) return names[i].value;
    import_error(import, STATUS_NOT_IMPLEMENTED, "its %s is none of those that are read",
                 attribute);
    return 0;
}

// True for Upsample, and Resize in opset 10: scales only, with coordinates that start at 0.
static bool is_old(const Import *import, const Node *node) {
    return strcmp(node->op_type, "Upsample") == 0 || import->opset < 11;
}

// Reads *n sizes or scales, one per axis. In early opsets scales are an attribute.
static Status read_given(Import *import, const Node *node, double given[], int *n, bool *sizes) {
    bool old = is_old(import, node);
    const Onnx__Attribute *scales = attribute_find(node, "scales");
    Value *value = old ? NULL : node_input(import, node, 3);
    *sizes = value && shape_numel(value->shape) > 0;
    if (!*sizes) value = node_input(import, node, old ? 1 : 2);
    if (value && !value_data(import, value)) return error_status();
    int64_t count = scales ? (int64_t)scales->n_floats : value ? shape_numel(value->shape) : 0;
    if (count < 1 || count > TENSOR_MAX_DIMS)
        return import_error(import, STATUS_FORMAT,
                            "it has not one size or scale for each of its dimensions, or axes");
    for (int i = 0; i < count; i++)
        given[i] = scales ? (double)scales->floats[i] : value_number(value, i);
    *n = (int)count;
    return STATUS_OK;
}

// Only dimensions after the channels may change.
static Status read_sizes(Import *import, const Node *node, Shape in, ResizeOptions *options,
                         ResizeOptions *depth) {
    int64_t axes[TENSOR_MAX_DIMS], size[3] = {0};
    double given[TENSOR_MAX_DIMS], scale[3] = {1.0, 1.0, 1.0};
    bool sizes;
    int n = 0, n_axes = attribute_ints(node, "axes", axes, TENSOR_MAX_DIMS);
    if (n_axes < 0)
        for (n_axes = 0; n_axes < in.ndim; n_axes++) axes[n_axes] = n_axes;
    if (read_given(import, node, given, &n, &sizes)) return error_status();
    if (n_axes > in.ndim || n != n_axes)
        return import_error(import, STATUS_FORMAT,
                            "it has not one size or scale for each of its dimensions, or axes");
    for (int i = 0; i < n_axes; i++) {
        int axis = import_axis(import, axes[i], in.ndim), at = axis - in.ndim + 3;
        if (axis < 0) return error_status();
        bool stays = given[i] == (sizes ? (double)in.dims[axis] : 1.0);
        if (axis < 2 && !stays)
            return import_error(
                import, STATUS_NOT_IMPLEMENTED,
                "it changes the batch or the channels, and what is behind them is read. HINT: "
                "a Transpose before it, and one behind");
        if (axis < 2) continue;
        if (!(given[i] > 0.0 && given[i] < 0x1p31))
            return import_error(import, STATUS_FORMAT,
                                "it has a size or scale of %g, and what is above 0 can be",
                                given[i]);
        // A scale is float32, and so is its product: 2.6 times 5 is 13.
        size[at] = sizes ? (int64_t)given[i]
                         : math_to_int64(floorf((float)given[i] * (float)in.dims[axis]));
        scale[at] = sizes ? 0.0 : given[i];
    }
    options->out_h = size[1], options->out_w = size[2];
    options->scale_h = scale[1], options->scale_w = scale[2];
    depth->out_h = size[0], depth->scale_h = scale[0], depth->scale_w = 1.0;
    return STATUS_OK;
}

// Old nodes round down, but up where the output is smaller: onnxruntime's interpretation of what
// the specification leaves open.
static Status old_rounding(Import *import, const Node *node, Step *step) {
    ResizeOptions *options = &step->params.resize;
    const double scales[] = {options->scale_h, options->scale_w, step->params.depth.scale_h};
    bool fewer = false, more = false;
    for (int i = 0; i < 3; i++) {
        fewer = fewer || scales[i] < 1.0;
        more = more || scales[i] > 1.0;
    }
    bool nearest = options->mode == RESIZE_NEAREST;
    if (fewer && strcmp(node->op_type, "Upsample") == 0)
        return import_error(import, STATUS_FORMAT,
                            "its scales are below 1, which Upsample does not take. HINT: Resize");
    if (fewer && more && nearest)
        return import_error(import, STATUS_NOT_IMPLEMENTED,
                            "its scales are below 1 and above. HINT: "
                            "onnx.version_converter.convert_version(model, 13)");
    options->coordinates = RESIZE_ASYMMETRIC;
    options->rounding = fewer ? RESIZE_CEIL : RESIZE_FLOOR;
    return STATUS_OK;
}

static Status build_resize(Import *import, const Node *node, Step *step) {
    const Value *in = node_input(import, node, 0);
    ResizeOptions *options = &step->params.resize;
    if (in->shape.ndim < 3 || in->shape.ndim > 5)
        import_error(import, STATUS_NOT_IMPLEMENTED,
                     "its input has %d dimensions, and 3 to 5 are read", in->shape.ndim);
    if (error_pending() || read_sizes(import, node, in->shape, options, &step->params.depth))
        return error_status();
    options->mode = (ResizeMode)named(import, node, "mode", modes);
    if (is_old(import, node)) {
        if (old_rounding(import, node, step)) return error_status();
        return step_inputs(import, node, step, 1);
    }
    options->coordinates =
        (ResizeCoordinates)named(import, node, "coordinate_transformation_mode", coordinates);
    options->rounding = (ResizeRounding)named(import, node, "nearest_mode", roundings);
    bool cubic = options->mode == RESIZE_CUBIC;
    if (cubic && attribute_float(node, "cubic_coeff_a", -0.75f) != -0.75f)
        return import_error(import, STATUS_NOT_IMPLEMENTED,
                            "its cubic_coeff_a is %g, and -0.75 is what is read. HINT: export the "
                            "model without it",
                            (double)attribute_float(node, "cubic_coeff_a", 0.0f));
    if (cubic && attribute_int(node, "exclude_outside", 0) != 0)
        return import_error(import, STATUS_NOT_IMPLEMENTED,
                            "its exclude_outside is not 0, which is what is read with cubic. HINT: "
                            "export the model without it");
    return error_pending() ? error_status() : step_inputs(import, node, step, 1);
}

// Resizes (n, c, d, h, w) along the depth, then each slice.
static Status resize_volume(const Step *step, Tensor *x, Tensor *out[]) {
    ResizeOptions depth = step->params.resize;
    depth.out_h = step->params.depth.out_h, depth.out_w = 0;
    depth.scale_h = step->params.depth.scale_h, depth.scale_w = 1.0;
    Shape s = x->shape;
    x = tensor_reshape(x, SHAPE(s.dims[0], s.dims[1], s.dims[2], s.dims[3] * s.dims[4]));
    x = tensor_resize(x, depth);
    if (!x) return error_status();
    s.dims[2] = x->shape.dims[2];
    x = tensor_reshape(x, SHAPE(s.dims[0], s.dims[1] * s.dims[2], s.dims[3], s.dims[4]));
    x = tensor_resize(x, step->params.resize);
    if (!x) return error_status();
    return done(tensor_reshape(x, SHAPE(s.dims[0], s.dims[1], s.dims[2], x->shape.dims[2],
                                        x->shape.dims[3])),
                out);
}

static Status run_resize(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)training;
    Tensor *x = onnx_as_float(in[0]);
    if (x && x->shape.ndim == 5) return resize_volume(step, x, out);
    return done(tensor_resize(x, step->params.resize), out);
}

// ---- channels and pixels ----------------------------------------------------------------------
static Status build_depth(Import *import, const Node *node, Step *step) {
    step->params.plain.count = attribute_int(node, "blocksize", 0);
    step->params.plain.flags[0] = attribute_is(node, "mode", "CRD", false);
    return step_inputs(import, node, step, 1);
}

static Status run_depth(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)training;
    int64_t factor = step->params.plain.count;
    return done(step->params.plain.flags[0] ? tensor_pixel_shuffle(in[0], factor)
                                            : tensor_depth_to_space(in[0], factor),
                out);
}

const Operator onnx_images[] = {
    {.name = "MaxPool", .build = build_pool, .run = run_pool, .module = "MaxPool2d"},
    {.name = "AveragePool", .build = build_pool, .run = run_pool, .module = "AvgPool2d"},
    {.name = "GlobalAveragePool",
     .build = step_build_one,
     .run = run_global,
     .module = "AdaptiveAvgPool2d"},
    {.name = "GlobalMaxPool",
     .build = step_build_one,
     .run = run_global,
     .module = "AdaptiveMaxPool2d"},
    {.name = "Resize", .build = build_resize, .run = run_resize, .module = "Upsample"},
    {.name = "Upsample", .build = build_resize, .run = run_resize, .module = "Upsample"},
    {.name = "DepthToSpace",
     .build = build_depth,
     .run = run_depth,
     .module = "PixelShuffle",
     .whole = WHOLE_MOVED},
    {.name = NULL},
};
