// op_volumes.c -- ONNX's convolutions and pools over three dimensions, composed of those over two:
// a kernel of depth k is k kernels over slices, whose results are added; a pool goes over each
// slice, then over the depth. So the number of multiplications is PyTorch's.
#include <math.h>
#include <string.h>

#include "layers/files/onnx/import.h"
#include "tensor/ops.h"

enum { DIMS = 3, MOST_SLICES = 1024 };     // each slice of a kernel is a product
static const int turn[] = {0, 2, 1, 3, 4}; // (n, c, d, h, w) to (n, d, c, h, w), and back

static Status done(Tensor *y, Tensor *out[]) {
    out[0] = y;
    return error_status();
}

static bool is_sane(int64_t number, int64_t least) {
    return number >= least && number <= INT32_MAX;
}

static Status read_window(Import *import, const Node *node, Shape in, const int64_t kernel[],
                          Sides *sides, VolumeParams *volume) {
    int64_t pads[2 * DIMS] = {0}, strides[DIMS] = {1, 1, 1}, dilations[DIMS] = {1, 1, 1};
    int n = attribute_ints(node, "pads", pads, 2 * DIMS);
    int n_strides = attribute_ints(node, "strides", strides, DIMS);
    int n_dilations = attribute_ints(node, "dilations", dilations, DIMS);
    bool sane = (n < 0 || n == 2 * DIMS) && (n_strides < 0 || n_strides == DIMS) &&
                (n_dilations < 0 || n_dilations == DIMS);
    for (int i = 0; i < DIMS; i++)
        sane = sane && is_sane(kernel[i], 1) && is_sane(strides[i], 1) &&
               is_sane(dilations[i], 1) && is_sane(pads[i], 0) && is_sane(pads[DIMS + i], 0) &&
               is_sane(in.dims[2 + i], 0);
    if (!sane)
        return import_error(import, STATUS_FORMAT,
                            "its pads, strides or dilations are not of three dimensions");
    if (attribute_is(node, "auto_pad", "SAME_UPPER", false) ||
        attribute_is(node, "auto_pad", "SAME_LOWER", false))
        return import_error(import, STATUS_NOT_IMPLEMENTED, "auto_pad of three dimensions");
    for (int i = 1; i < DIMS; i++) {
        sides->kernel[i - 1] = kernel[i];
        sides->stride[i - 1] = strides[i];
        sides->dilation[i - 1] = dilations[i];
        sides->before[i - 1] = pads[i];
        sides->after[i - 1] = pads[DIMS + i];
    }
    if (kernel[0] > MOST_SLICES)
        return import_error(import, STATUS_NOT_IMPLEMENTED, "a kernel of %lld slices",
                            (long long)kernel[0]);
    volume->kernel = kernel[0];
    volume->stride = strides[0];
    volume->dilation = dilations[0];
    volume->before = pads[0];
    volume->after = pads[DIMS];
    return STATUS_OK;
}

// Turns (n, c, d, h, w) into images (n d, c, h, w).
static Tensor *images_of(Tensor *x) {
    if (!x) return NULL;
    Shape s = x->shape;
    return tensor_reshape(tensor_contiguous(tensor_permute(x, turn)),
                          SHAPE(s.dims[0] * s.dims[2], s.dims[1], s.dims[3], s.dims[4]));
}

// Turns images (n d, c, h, w) of n volumes into (n, c, d, h, w).
static Tensor *volume_of(Tensor *images, int64_t n, int64_t d) {
    if (!images) return NULL;
    Shape s = images->shape;
    Tensor *y = tensor_reshape(images, SHAPE(n, d, s.dims[1], s.dims[2], s.dims[3]));
    return tensor_contiguous(tensor_permute(y, turn));
}

static Tensor *pad_dim(Tensor *x, int dim, int64_t before, int64_t after) {
    int64_t begin[TENSOR_MAX_DIMS] = {0}, end[TENSOR_MAX_DIMS] = {0};
    begin[dim] = before;
    end[dim] = after;
    return before == 0 && after == 0 ? x : tensor_pad(x, begin, end, PAD_CONSTANT, 0.0f);
}

// The k-th slice of a kernel (o, c, depth, h, w).
static Tensor *kernel_slice(Tensor *weight, int64_t k) {
    Shape s = weight->shape;
    return tensor_reshape(tensor_slice(weight, 2, k, k + 1, 1),
                          SHAPE(s.dims[0], s.dims[1], s.dims[3], s.dims[4]));
}

// ---- convolution --------------------------------------------------------------------------------
static Status run_conv(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)training;
    const VolumeParams *volume = &step->params.volume;
    Tensor *x = pad_dim(in[0], 2, volume->before, volume->after), *sum = NULL;
    if (!x) return error_status();
    Shape s = x->shape;
    int64_t held = (volume->kernel - 1) * volume->dilation + 1;
    int64_t depth = s.dims[2] < held ? 0 : (s.dims[2] - held) / volume->stride + 1;
    if (depth == 0)
        return error_set(STATUS_SHAPE, "conv3d: a kernel of %lld slices over %lld", (long long)held,
                         (long long)s.dims[2]);
    x = tensor_contiguous(tensor_permute(x, turn)); // (n, d, c, h, w)
    for (int64_t k = 0; k < volume->kernel && !error_pending(); k++) {
        int64_t begin = k * volume->dilation, end = begin + (depth - 1) * volume->stride + 1;
        Tensor *met = tensor_slice(x, 1, begin, end, volume->stride);
        met = tensor_reshape(met, SHAPE(s.dims[0] * depth, s.dims[1], s.dims[3], s.dims[4]));
        Tensor *y =
            tensor_conv2d(met, kernel_slice(in[1], k), k == 0 ? in[2] : NULL, volume->conv.conv);
        sum = sum ? tensor_add(sum, y) : y;
    }
    return done(volume_of(sum, s.dims[0], depth), out);
}

// ---- transposed convolution ---------------------------------------------------------------------
// Spreads rows (n, d, m) `stride` apart, starting at row `begin` of `full` rows.
static Tensor *spread(Tensor *x, int64_t stride, int64_t begin, int64_t full) {
    if (!x) return NULL;
    Shape s = x->shape;
    int64_t held = (s.dims[1] - 1) * stride + 1;
    x = pad_dim(tensor_reshape(x, SHAPE(s.dims[0], s.dims[1], 1, s.dims[2])), 2, 0, stride - 1);
    x = tensor_reshape(x, SHAPE(s.dims[0], s.dims[1] * stride, s.dims[2]));
    x = tensor_slice(x, 1, 0, held, 1);
    return pad_dim(x, 1, begin, full - begin - held);
}

static Status run_transposed(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)training;
    const VolumeParams *volume = &step->params.volume;
    Shape s = in[0]->shape, image = {.ndim = 0};
    int64_t full = (s.dims[2] - 1) * volume->stride + (volume->kernel - 1) * volume->dilation + 1;
    Tensor *x = images_of(in[0]), *sum = NULL;
    for (int64_t k = 0; k < volume->kernel && !error_pending(); k++) {
        Tensor *y = tensor_conv_transpose2d(x, kernel_slice(in[1], k), NULL, volume->conv);
        if (!y) break;
        image = y->shape;
        y = tensor_reshape(y,
                           SHAPE(s.dims[0], s.dims[2],
                                 s.dims[0] && s.dims[2] ? y->numel / (s.dims[0] * s.dims[2]) : 0));
        y = spread(y, volume->stride, k * volume->dilation, full);
        sum = sum ? tensor_add(sum, y) : y;
    }
    sum = sum ? pad_dim(sum, 1, -volume->before, volume->more - volume->after) : NULL;
    if (!sum) return error_status();
    Tensor *y = tensor_reshape(sum, SHAPE(s.dims[0] * sum->shape.dims[1], image.dims[1],
                                          image.dims[2], image.dims[3]));
    y = volume_of(y, s.dims[0], sum->shape.dims[1]);
    if (in[2]) y = tensor_add(y, tensor_reshape(in[2], SHAPE(in[2]->numel, 1, 1, 1)));
    return done(y, out);
}

// ---- pools --------------------------------------------------------------------------------------
static Status run_pool(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)training;
    const VolumeParams *volume = &step->params.volume;
    bool average = step->op->name[0] == 'A';
    Shape s = in[0]->shape;
    Tensor *x =
        tensor_reshape(in[0], SHAPE(s.dims[0], s.dims[1] * s.dims[2], s.dims[3], s.dims[4]));
    x = average ? tensor_avg_pool2d(x, volume->pool) : tensor_max_pool2d(x, volume->pool);
    if (!x) return error_status();
    int64_t height = x->shape.dims[2], width = x->shape.dims[3];
    Pool2dOptions deep = {.kernel_h = volume->kernel,
                          .kernel_w = 1,
                          .stride_h = volume->stride,
                          .stride_w = 1,
                          .padding_top = volume->before,
                          .padding_bottom = volume->after,
                          .dilation_h = volume->dilation,
                          .dilation_w = 1,
                          .ceil_mode = volume->pool.ceil_mode,
                          .exclude_pad = volume->pool.exclude_pad};
    x = tensor_reshape(x, SHAPE(s.dims[0], s.dims[1], s.dims[2], height * width));
    x = average ? tensor_avg_pool2d(x, deep) : tensor_max_pool2d(x, deep);
    if (!x) return error_status();
    return done(tensor_reshape(x, SHAPE(s.dims[0], s.dims[1], x->shape.dims[2], height, width)),
                out);
}

static const Operator conv3d = {
    .name = "Conv3d", .run = run_conv, .module = "Conv3d", .optional = 1 << 2};
static const Operator transposed3d = {.name = "ConvTranspose3d",
                                      .run = run_transposed,
                                      .module = "ConvTranspose3d",
                                      .optional = 1 << 2};
static const Operator max3d = {.name = "MaxPool3d", .run = run_pool, .module = "MaxPool3d"};
static const Operator average3d = {.name = "AvgPool3d", .run = run_pool, .module = "AvgPool3d"};

// ---- reading the nodes --------------------------------------------------------------------------
Status volume_conv(Import *import, const Node *node, Step *step, Shape in, Shape weight) {
    VolumeParams *volume = &step->params.volume;
    Sides sides;
    int64_t more[DIMS] = {0};
    bool transposed = strcmp(node->op_type, "ConvTranspose") == 0;
    if (read_window(import, node, in, weight.dims + 2, &sides, volume)) return error_status();
    attribute_ints(node, "output_padding", more, DIMS);
    if (attribute_find(node, "output_shape"))
        return import_error(import, STATUS_NOT_IMPLEMENTED, "output_shape of three dimensions");
    for (int i = 0; i < DIMS; i++)
        if (!is_sane(more[i], 0)) return import_error(import, STATUS_FORMAT, "its output_padding");
    volume->more = more[0];
    volume->conv =
        (ConvTranspose2dOptions){.conv = onnx_conv_options(&sides, attribute_int(node, "group", 1)),
                                 .output_padding_h = more[1],
                                 .output_padding_w = more[2]};
    step->op = transposed ? &transposed3d : &conv3d;
    return STATUS_OK;
}

Status volume_pool(Import *import, const Node *node, Step *step, Shape in) {
    VolumeParams *volume = &step->params.volume;
    Sides sides;
    int64_t kernel[DIMS];
    bool average = strcmp(node->op_type, "AveragePool") == 0;
    if (attribute_ints(node, "kernel_shape", kernel, DIMS) != DIMS)
        return import_error(import, STATUS_FORMAT, "it has no kernel_shape of 3 dimensions");
    int64_t dilations[DIMS] = {1, 1, 1};
    attribute_ints(node, "dilations", dilations, DIMS);
    for (int i = 0; i < DIMS && average; i++)
        if (dilations[i] != 1) return pool_refuse_dilation(import);
    if (read_window(import, node, in, kernel, &sides, volume)) return error_status();
    volume->pool = onnx_pool_options(node, &sides);
    step->op = average ? &average3d : &max3d;
    return step_inputs(import, node, step, 1);
}
