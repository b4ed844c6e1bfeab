// conv.cu -- convolutions: unfolds images into matrices (tensor/ops/conv.h) in scratch, at most
// CONV_TILE_FLOATS at once, and multiplies them by cuBLAS, many images in one call. A 1 x 1
// convolution multiplies the images in place. depthwise.cu handles one channel per group. Folding
// is a gather: each element adds up the gradients of its taps, in order.
#include "cuda/conv.cuh"
#include "cuda/product.cuh"
#include "cuda/reduce.cuh"

// ---- patches: the parts that are unfolded at once ----------------------------------------------
struct Patch { // rows from k0, columns from p0 of the unfolded images from n0, of one group
    int64_t group, n0, images, k0, rows, p0, columns;
    int64_t row_step, image_step; // distances between rows and between images, in scratch
};

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t at_least_one(int64_t a) { return a > 1 ? a : 1; }

// The largest patch, with `beside` further floats per column in the same scratch.
static Patch largest_patch(const ConvSizes &s, int64_t beside) {
    Patch patch = {};
    bool plain = conv_is_plain(&s) && beside == 0;
    int64_t most = CONV_TILE_FLOATS;
    patch.rows = plain ? s.k : smaller(s.k, most);
    patch.columns = plain ? s.p : smaller(s.p, at_least_one(most / (patch.rows + beside)));
    int64_t images = at_least_one(most / ((patch.rows + beside) * patch.columns));
    patch.images = smaller(s.images, plain ? (int64_t)INT32_MAX : images);
    return patch;
}

// The patch at this position, clipped to the sizes.
static Patch patch_at(const ConvSizes &s, Patch patch) {
    patch.images = smaller(patch.images, s.images - patch.n0);
    patch.rows = smaller(patch.rows, s.k - patch.k0);
    patch.columns = smaller(patch.columns, s.p - patch.p0);
    return patch;
}

// ---- unfolding and folding --------------------------------------------------------------------
// Blocks loop over rows and images, threads over columns: few divisions per element.
static unsigned pairs_grid(int64_t pairs) {
    return (unsigned)smaller(at_least_one(pairs), CUDA_MOST_BLOCKS);
}

// to (rows, images, columns) = each tap's inputs in x (all images, groups, channels, h, w)
__global__ static void unfold(const float *x, float *to, ConvSizes s, Patch patch) {
    for (int64_t pair = blockIdx.x; pair < patch.rows * patch.images; pair += gridDim.x) {
        int64_t row = pair / patch.images, image = pair - row * patch.images, k = patch.k0 + row;
        int64_t channel = k / s.taps, t = k - channel * s.taps;
        int64_t i = t / s.window.kernel[1], j = t - i * s.window.kernel[1];
        int64_t plane = ((patch.n0 + image) * s.groups + patch.group) * s.channels + channel;
        const float *from = x + plane * s.height * s.width;
        float *line = to + row * patch.row_step + image * patch.image_step;
        for (int64_t c = threadIdx.x; c < patch.columns; c += blockDim.x) {
            int64_t oh = conv_quotient(patch.p0 + c, s.out_width);
            int64_t ow = patch.p0 + c - oh * s.out_width;
            int64_t ih = window_place(&s.window, 0, oh, i), iw = window_place(&s.window, 1, ow, j);
            bool inside = ih >= 0 && ih < s.height && iw >= 0 && iw < s.width;
            line[c] = inside ? from[ih * s.width + iw] : 0.0f;
        }
    }
}

// dx (images, channels, h, w) of one group = or += gradients of its taps, (rows, images, columns)
__global__ static void fold(const float *from, float *dx, ConvSizes s, Patch patch, bool add) {
    for (int64_t pair = blockIdx.x; pair < patch.images * s.channels; pair += gridDim.x) {
        int64_t image = pair / s.channels, channel = pair - image * s.channels;
        int64_t plane = ((patch.n0 + image) * s.groups + patch.group) * s.channels + channel;
        float *to = dx + plane * s.height * s.width;
        for (int64_t e = threadIdx.x; e < s.height * s.width; e += blockDim.x) {
            int64_t ih = conv_quotient(e, s.width), iw = e - ih * s.width;
            float sum = add ? to[e] : 0.0f;
            for (int64_t t = 0; t < s.taps; t++) {
                int64_t row = channel * s.taps + t - patch.k0;
                int64_t p = conv_output_of(&s, ih, iw, t) - patch.p0;
                if (row >= 0 && row < patch.rows && p >= 0 && p < patch.columns)
                    sum += from[row * patch.row_step + image * patch.image_step + p];
            }
            to[e] = sum;
        }
    }
}

// y (planes, p) += bias (channels)
__global__ static void add_bias(float *y, const float *bias, int64_t planes, int64_t p,
                                int64_t channels) {
    for (int64_t plane = blockIdx.x; plane < planes; plane += gridDim.x)
        for (int64_t i = threadIdx.x; i < p; i += blockDim.x)
            y[plane * p + i] += bias[plane % channels];
}

// ---- forward ----------------------------------------------------------------------------------
// Sets operand b of a product: the unfolded patch, or the images in place.
static Status unfolded(CudaDevice *cuda, const ConvSizes &s, const float *x, const Patch &patch,
                       float *scratch, Product *p) {
    p->b = scratch;
    p->ldb = patch.row_step;
    p->step_b = patch.image_step;
    if (!conv_is_plain(&s))
        return CUDA_LAUNCH(unfold, pairs_grid(patch.rows * patch.images), CUDA_BLOCK, 0, x, scratch,
                           s, patch);
    p->b = x + (patch.n0 * s.groups + patch.group) * s.k * s.p;
    p->ldb = s.p;
    p->step_b = s.groups * s.k * s.p;
    return STATUS_OK;
}

// y (images, outputs, columns) of one group = weight (outputs, rows) . unfolded x
static Status forward_patch(CudaDevice *cuda, const OpCall *call, const ConvSizes &s, Patch patch,
                            float *scratch) {
    Product p = {};
    patch = patch_at(s, patch);
    patch.row_step = patch.columns;
    patch.image_step = patch.rows * patch.columns;
    p.m = s.outputs;
    p.n = patch.columns;
    p.k = patch.rows;
    p.a = call_in(call, 1) + patch.group * s.outputs * s.k + patch.k0;
    p.lda = s.k;
    p.c = call_out(call, 0) + (patch.n0 * s.groups + patch.group) * s.outputs * s.p + patch.p0;
    p.ldc = s.p;
    p.step_c = s.groups * s.outputs * s.p;
    p.count = patch.images;
    p.add = patch.k0 > 0;
    Status status = unfolded(cuda, s, call_in(call, 0), patch, scratch, &p);
    return status ? status : cuda_multiply(cuda, &p);
}

typedef Status (*PatchWork)(CudaDevice *cuda, const OpCall *call, const ConvSizes &s, Patch patch,
                            float *scratch);

// Works on every patch of every group; patches of the same columns follow each other.
static Status for_each_patch(CudaDevice *cuda, const OpCall *call, const ConvSizes &s,
                             PatchWork work) {
    const Patch largest = largest_patch(s, 0);
    size_t floats = (size_t)(largest.rows * largest.columns * largest.images);
    float *scratch = NULL;
    Status status = STATUS_OK;
    if (!conv_is_plain(&s)) {
        scratch = (float *)cuda_scratch(cuda, floats * sizeof(float));
        if (!scratch) return cuda->host->error_status();
    }
    Patch patch = largest;
    for (patch.n0 = 0; patch.n0 < s.images; patch.n0 += largest.images)
        for (patch.group = 0; patch.group < s.groups; patch.group++)
            for (patch.p0 = 0; patch.p0 < s.p; patch.p0 += largest.columns)
                for (patch.k0 = 0; patch.k0 < s.k && !status; patch.k0 += largest.rows)
                    status = work(cuda, call, s, patch, scratch);
    return status;
}

CUDA_OP(conv2d) {
    ConvSizes s = conv_sizes_forward(call);
    if (call_numel(call) == 0) return STATUS_OK;
    if (conv_is_depthwise(&s)) return cuda_depthwise_forward(cuda, call, &s);
    Status status =
        s.k == 0 ? cuda_clear(cuda, call->out[0]) : for_each_patch(cuda, call, s, forward_patch);
    if (status || !call->in[2]) return status;
    int64_t channels = s.groups * s.outputs, planes = s.images * channels;
    return CUDA_LAUNCH(add_bias, pairs_grid(planes), CUDA_BLOCK, 0, call_out(call, 0),
                       call_in(call, 2), planes, s.p, channels);
}

// ---- the input's gradient ---------------------------------------------------------------------
// dx (images, channels, h, w) of one group = folded weight^T (rows, outputs) . dy (outputs,
// columns)
static Status input_patch(CudaDevice *cuda, const OpCall *call, const ConvSizes &s, Patch patch,
                          float *scratch) {
    Product p = {};
    patch = patch_at(s, patch);
    patch.row_step = patch.columns;
    patch.image_step = patch.rows * patch.columns;
    bool plain = conv_is_plain(&s), more = patch.k0 > 0 || patch.p0 > 0;
    int64_t first = patch.n0 * s.groups + patch.group;
    float *dx = call_out(call, 0);
    p.m = patch.rows;
    p.n = patch.columns;
    p.k = s.outputs;
    p.a = call_in(call, 1) + patch.group * s.outputs * s.k + patch.k0;
    p.lda = s.k;
    p.trans_a = true;
    p.b = call_in(call, 0) + first * s.outputs * s.p + patch.p0;
    p.ldb = s.p;
    p.step_b = s.groups * s.outputs * s.p;
    p.c = plain ? dx + first * s.k * s.p : scratch;
    p.ldc = plain ? s.p : patch.row_step;
    p.step_c = plain ? s.groups * s.k * s.p : patch.image_step;
    p.count = patch.images;
    Status status = cuda_multiply(cuda, &p);
    if (status || plain) return status;
    return CUDA_LAUNCH(fold, pairs_grid(patch.images * s.channels), CUDA_BLOCK, 0, scratch, dx, s,
                       patch, more);
}

static Status backward_input(CudaDevice *cuda, const OpCall *call, const ConvSizes &s) {
    if (conv_is_depthwise(&s)) return cuda_depthwise_backward_input(cuda, call, &s);
    if (s.outputs == 0) return cuda_clear(cuda, call->out[0]);
    return for_each_patch(cuda, call, s, input_patch);
}

CUDA_OP(conv2d_backward_input) {
    return call_numel(call) ? backward_input(cuda, call, conv_sizes_backward_input(call))
                            : STATUS_OK;
}

CUDA_OP(conv_transpose2d) {
    ConvSizes s = conv_sizes_backward_input(call);
    int64_t channels = s.groups * s.channels, planes = s.images * channels;
    if (call_numel(call) == 0) return STATUS_OK;
    Status status = backward_input(cuda, call, s);
    if (status || !call->in[2]) return status;
    return CUDA_LAUNCH(add_bias, pairs_grid(planes), CUDA_BLOCK, 0, call_out(call, 0),
                       call_in(call, 2), planes, s.height * s.width, channels);
}

// ---- the weight's gradient --------------------------------------------------------------------
// packed (outputs, images, columns) = the patch's part of dy (all images, groups, outputs, p): the
// columns of many images side by side, so that one product sums over all of them
__global__ static void pack(const float *dy, float *packed, ConvSizes s, Patch patch) {
    for (int64_t pair = blockIdx.x; pair < s.outputs * patch.images; pair += gridDim.x) {
        int64_t o = pair / patch.images, image = pair - o * patch.images;
        int64_t plane = ((patch.n0 + image) * s.groups + patch.group) * s.outputs + o;
        for (int64_t c = threadIdx.x; c < patch.columns; c += blockDim.x)
            packed[pair * patch.columns + c] = dy[plane * s.p + patch.p0 + c];
    }
}

// dweight (outputs, rows) of one group = or += packed dy . unfolded x (rows, images, columns)^T
static Status weight_patch(CudaDevice *cuda, const OpCall *call, const ConvSizes &s, Patch patch,
                           float *scratch) {
    Product p = {};
    patch = patch_at(s, patch);
    patch.image_step = patch.columns;
    patch.row_step = patch.images * patch.columns;
    float *packed = scratch + patch.rows * patch.row_step;
    p.m = s.outputs;
    p.n = patch.rows;
    p.k = patch.row_step;
    p.a = packed;
    p.b = scratch;
    p.lda = p.ldb = patch.row_step;
    p.trans_b = true;
    p.c = call_out(call, 0) + patch.group * s.outputs * s.k + patch.k0;
    p.ldc = s.k;
    p.count = 1;
    p.add = call->adds || patch.n0 > 0 || patch.p0 > 0;
    Status status = CUDA_LAUNCH(unfold, pairs_grid(patch.rows * patch.images), CUDA_BLOCK, 0,
                                call_in(call, 1), scratch, s, patch);
    if (!status)
        status = CUDA_LAUNCH(pack, pairs_grid(s.outputs * patch.images), CUDA_BLOCK, 0,
                             call_in(call, 0), packed, s, patch);
    return status ? status : cuda_multiply(cuda, &p);
}

CUDA_OP(conv2d_backward_weight) {
    ConvSizes s = conv_sizes_backward_weight(call);
    if (call_numel(call) == 0) return STATUS_OK;
    if (s.images == 0) return call->adds ? STATUS_OK : cuda_clear(cuda, call->out[0]);
    if (conv_is_depthwise(&s)) return cuda_depthwise_backward_weight(cuda, call, &s);
    const Patch largest = largest_patch(s, s.outputs);
    size_t floats = (size_t)((largest.rows + s.outputs) * largest.images * largest.columns);
    float *scratch = (float *)cuda_scratch(cuda, floats * sizeof(float));
    if (!scratch) return cuda->host->error_status();
    Status status = STATUS_OK;
    Patch patch = largest;
    for (patch.group = 0; patch.group < s.groups; patch.group++)
        for (patch.k0 = 0; patch.k0 < s.k; patch.k0 += largest.rows)
            for (patch.n0 = 0; patch.n0 < s.images; patch.n0 += largest.images)
                for (patch.p0 = 0; patch.p0 < s.p && !status; patch.p0 += largest.columns)
                    status = weight_patch(cuda, call, s, patch, scratch);
    return status;
}

// ---- the bias's gradient ----------------------------------------------------------------------
// dbias (channels) = the sum of each channel of dy (images, channels, p); a block per channel
__global__ static void sum_channels(const float *dy, float *dbias, int64_t images, int64_t channels,
                                    int64_t p) {
    __shared__ double shared[REDUCE_WARPS];
    for (int64_t o = blockIdx.x; o < channels; o += gridDim.x) {
        double sum = 0.0;
        for (int64_t i = threadIdx.x; i < images * p; i += blockDim.x) {
            int64_t n = conv_quotient(i, p);
            sum += (double)dy[(n * channels + o) * p + i - n * p];
        }
        sum = block_sum(sum, shared);
        if (threadIdx.x == 0) dbias[o] = (float)sum;
    }
}

CUDA_OP(conv2d_backward_bias) {
    const Tensor *dy = call->in[0];
    int64_t channels = dy->shape.dims[1];
    if (channels == 0) return STATUS_OK;
    return CUDA_LAUNCH(sum_channels, pairs_grid(channels), CUDA_BLOCK, 0, call_in(call, 0),
                       call_out(call, 0), dy->shape.dims[0], channels,
                       dy->shape.dims[2] * dy->shape.dims[3]);
}
