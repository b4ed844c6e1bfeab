// ops.h -- every operation a program can call. Each returns a tensor that the innermost scope owns,
// or NULL with an error pending (its message names op, shapes and a HINT). If any input is NULL
// because of an earlier failure, the result is NULL too, so calls can be chained and checked once.
#ifndef TENSOR_OPS_H
#define TENSOR_OPS_H

#include "tensor/op_list.h"
#include "tensor/tensor.h"

RIDGEPOINT_API_BEGIN

// ---- views: no data moves, no cost ----
Tensor *tensor_reshape(Tensor *x, Shape shape); // one dim may be -1; copies first if x is strided
Tensor *tensor_transpose(Tensor *x, int dim0, int dim1);
Tensor *tensor_permute(Tensor *x, const int *dims); // output dim i is x's dim dims[i]
// Takes indices begin, begin + step ... below end; negative bounds count from the end. step >= 1.
Tensor *tensor_slice(Tensor *x, int dim, int64_t begin, int64_t end, int64_t step);
#define SLICE_END INT64_MAX                    // as `end`: up to and including the last index
Tensor *tensor_expand(Tensor *x, Shape shape); // dims of 1, and new leading ones, repeat
Tensor *tensor_detach(Tensor *x);              // same data, no gradient flows through
Tensor *tensor_contiguous(Tensor *x);          // x itself when it already is, else a copy

// ---- joining and picking ----
// Joins tensors side by side along dim; their sizes may differ only there. Takes any number of
// tensors of one dtype; only the first 64 may need gradients.
Tensor *tensor_concat(Tensor *const tensors[], int n_tensors, int dim);
Tensor *tensor_stack(Tensor *const tensors[], int n_tensors, int dim); // along a new dimension
// The result has index's shape: [i][j][k] = x[index[i][j][k]][j][k] for dim 0,
// x[i][index[i][j][k]][k] for dim 1 ... index: int64, as many dims as x, at most x's size in the
// others. x may be int64.
Tensor *tensor_gather(Tensor *x, int dim, Tensor *index);
// Also takes indices in [-n, 0), counted from the end of x's n, at the cost of tensor_gather.
Tensor *tensor_gather_signed(Tensor *x, int dim, Tensor *index);
// Converts x to float32 or int64. No gradient flows through unless dtype is x's own type. A float
// is truncated towards 0; NaN becomes 0, and a value that is too large the largest int64.
Tensor *tensor_cast(Tensor *x, DType dtype);
// The value that arithmetic on integers of `bits` bits (1 to 63) would leave of int64 x; 64 signed
// bits leave x itself. Values wrap around: 300 in 8 bits is 44 unsigned, and 200 is -56 signed.
Tensor *tensor_wrap(Tensor *x, int bits, bool is_signed);
// Turns int64 labels (...) in [0, classes) into float32 (..., classes): 1 at the label, else 0.
Tensor *tensor_one_hot(Tensor *labels, int64_t classes);
Tensor *tensor_one_hot_signed(Tensor *labels, int64_t classes); // as tensor_gather_signed
// Picks row index[...] of table (count, features), giving (..., features). index: int64, in [0,
// count). The table may be int64.
Tensor *tensor_embedding(Tensor *index, Tensor *table);
Tensor *tensor_embedding_signed(Tensor *index, Tensor *table); // as tensor_gather_signed
// As tensor_embedding, but row padding_idx of the table (PyTorch's padding_idx; negative: counted
// from the end) gets no gradient.
Tensor *tensor_embedding_padded(Tensor *index, Tensor *table, int64_t padding_idx);

// ---- element-wise, with NumPy broadcasting ----
// add, sub, mul, div, maximum, minimum, fmod, remainder, neg, abs, sign and comparisons also take
// int64 if all inputs are int64, and give int64 (comparisons: float32). Integers wrap around; their
// division truncates (PyTorch's rounding_mode="trunc"); by 0 it is STATUS_INVALID_ARGUMENT.
Tensor *tensor_add(Tensor *a, Tensor *b);
Tensor *tensor_sub(Tensor *a, Tensor *b);
Tensor *tensor_mul(Tensor *a, Tensor *b);
Tensor *tensor_div(Tensor *a, Tensor *b);
Tensor *tensor_maximum(Tensor *a, Tensor *b); // NaN wins; equals share the gradient
Tensor *tensor_minimum(Tensor *a, Tensor *b); // NaN wins; equals share the gradient
// The exact remainder of a / b: fmod has the sign of a, as C's fmod; remainder has the sign of b,
// as Python's %.
Tensor *tensor_fmod(Tensor *a, Tensor *b);
Tensor *tensor_remainder(Tensor *a, Tensor *b);
Tensor *tensor_pow_tensor(Tensor *a, Tensor *b); // a^b, as C's powf
Tensor *tensor_add_scalar(Tensor *x, float s);
Tensor *tensor_sub_scalar(Tensor *x, float s);
Tensor *tensor_mul_scalar(Tensor *x, float s);
Tensor *tensor_div_scalar(Tensor *x, float s); // divides: 1/s would be rounded
Tensor *tensor_neg(Tensor *x);
Tensor *tensor_abs(Tensor *x);
Tensor *tensor_pow(Tensor *x, float exponent); // as C's powf
// low <= high; an infinite bound has no effect. The slope at the bounds is 1.
Tensor *tensor_clamp(Tensor *x, float low, float high);
Tensor *tensor_exp(Tensor *x);
Tensor *tensor_log(Tensor *x);
Tensor *tensor_sqrt(Tensor *x);
Tensor *tensor_erf(Tensor *x);
Tensor *tensor_sin(Tensor *x); // x in radians, of any size
Tensor *tensor_cos(Tensor *x);
Tensor *tensor_reciprocal(Tensor *x); // 1 / x
Tensor *tensor_rsqrt(Tensor *x);      // 1 / sqrt(x)
// No gradient flows through these.
Tensor *tensor_sign(Tensor *x); // 1, 0 or -1; 0 for NaN
Tensor *tensor_floor(Tensor *x);
Tensor *tensor_ceil(Tensor *x);
Tensor *tensor_round(Tensor *x); // halves round to even
Tensor *tensor_relu(Tensor *x);
Tensor *tensor_leaky_relu(Tensor *x, float slope); // x where positive, else slope * x
Tensor *tensor_sigmoid(Tensor *x);
Tensor *tensor_silu(Tensor *x); // x * sigmoid(x)
Tensor *tensor_tanh(Tensor *x);
Tensor *tensor_gelu(Tensor *x);      // x/2 (1 + erf(x/sqrt 2))
Tensor *tensor_gelu_tanh(Tensor *x); // the tanh approximation of gelu (Hendrycks 2016)
// PyTorch's activations, with its slopes at the kinks. The slope of softsign at infinity is 0.
Tensor *tensor_relu6(Tensor *x);                           // x between 0 and 6
Tensor *tensor_hardtanh(Tensor *x, float low, float high); // low <= high; slope 0 at the bounds
Tensor *tensor_hardsigmoid(Tensor *x);                     // relu6(x + 3) / 6
Tensor *tensor_hardswish(Tensor *x);                       // x relu6(x + 3) / 6
Tensor *tensor_elu(Tensor *x, float alpha);                // x, but alpha (e^x - 1) below 0
Tensor *tensor_selu(Tensor *x);                            // elu scaled to keep mean and variance
Tensor *tensor_celu(Tensor *x, float alpha);               // below 0: alpha (e^(x/alpha) - 1);
                                                           // alpha is not 0
// log(1 + e^(beta x)) / beta, and x where beta x > threshold; beta is not 0
Tensor *tensor_softplus(Tensor *x, float beta, float threshold);
Tensor *tensor_softsign(Tensor *x); // x / (1 + |x|)
Tensor *tensor_mish(Tensor *x);     // x tanh(log(1 + e^x))
Tensor *tensor_log_sigmoid(Tensor *x);
Tensor *tensor_tanhshrink(Tensor *x);                              // x - tanh(x)
Tensor *tensor_softshrink(Tensor *x, float lambd);                 // towards 0 by lambd, at least 0
Tensor *tensor_hardshrink(Tensor *x, float lambd);                 // 0 where |x| <= lambd
Tensor *tensor_threshold(Tensor *x, float threshold, float value); // value where x <= threshold
Tensor *tensor_quick_gelu(Tensor *x);                              // x sigmoid(1.702 x)
// x where positive, else weight * x. weight is (c), one per channel along x's dimension 1, or (1).
Tensor *tensor_prelu(Tensor *x, Tensor *weight);
// The first half of x along dim times the sigmoid of the second half; dim has an even size.
Tensor *tensor_glu(Tensor *x, int dim);
// Applies an activation given by its op: &op_relu or op_activation_by_name("relu"). Its parameters
// are PyTorch's defaults (Op.values). NULL gives x.
Tensor *tensor_activation(Tensor *x, const Op *activation);

// ---- conditions, float32: 1 where they hold, else 0 ----
// Element-wise, with NumPy broadcasting. NaN makes all but not_equal 0. No gradient flows through.
Tensor *tensor_less(Tensor *a, Tensor *b);
Tensor *tensor_less_equal(Tensor *a, Tensor *b);
Tensor *tensor_equal(Tensor *a, Tensor *b); // -0 equals 0
Tensor *tensor_not_equal(Tensor *a, Tensor *b);
Tensor *tensor_greater(Tensor *a, Tensor *b);
Tensor *tensor_greater_equal(Tensor *a, Tensor *b);
// These take any float32 as a condition, as tensor_where does.
Tensor *tensor_logical_and(Tensor *a, Tensor *b);
Tensor *tensor_logical_or(Tensor *a, Tensor *b);
Tensor *tensor_logical_not(Tensor *x);
Tensor *tensor_isnan(Tensor *x);
// a where the condition is true, else b; all three broadcast. Any float32 is a condition, as in
// PyTorch's x.bool(): 0 and -0 are false, all else, NaN included, is true. The condition gets no
// gradient. An element that is not chosen gets gradient 0, even where the result's is not finite. a
// and b may both be int64; the result is then int64, too.
Tensor *tensor_where(Tensor *condition, Tensor *a, Tensor *b);
Tensor *tensor_masked_fill(Tensor *x, Tensor *mask, float value); // value where the mask is true
// Keeps the lower or upper triangle of each matrix in x's last two dimensions and sets the rest to
// 0, whatever it held. The triangle includes `diagonal`: 0 is the main diagonal, 1 the next one
// above; any number is allowed. x may be int64.
Tensor *tensor_tril(Tensor *x, int64_t diagonal);
Tensor *tensor_triu(Tensor *x, int64_t diagonal);

// ---- products ----
// (..., m, k) . (..., k, n) -> (..., m, n); leading dims broadcast. A transposed operand is read in
// place. A vector counts as (1, k) on the left, (k, 1) on the right; the result drops that dim.
Tensor *tensor_matmul(Tensor *a, Tensor *b);
// Einstein summation, as PyTorch's einsum: "bhid,bhjd->bhij" names each operand's dimensions; those
// that the result does not name are summed over. A letter that occurs twice in an operand takes its
// diagonal; sizes of 1 broadcast; "..." stands for any dimensions. Without "->" the result has the
// letters that occur once, in alphabetical order. Runs as views, sums and, from the left, products
// of two operands: tensor_matmul where something is summed, else tensor_mul; or an operand itself.
enum { EINSUM_MAX_OPERANDS = 16 };
Tensor *tensor_einsum(const char *equation, Tensor *const operands[], int n_operands);
// x (..., in) . weight (out, in)^T + bias (out) -> (..., out); bias may be NULL. The activation, as
// in tensor_activation, is fused: computed while the product is still in cache. NULL: none.
Tensor *tensor_linear(Tensor *x, Tensor *weight, Tensor *bias, const Op *activation);
typedef struct Conv2dOptions {
    int64_t stride_h, stride_w;
    int64_t padding_top, padding_bottom, padding_left, padding_right; // with zeros
    int64_t dilation_h, dilation_w;                                   // step between taps
    int64_t groups; // channel groups, convolved separately; one per channel: depthwise
} Conv2dOptions;
Conv2dOptions conv2d_defaults(void); // stride 1, no padding, dilation 1, one group
// x (n, c, h, w) * weight (o, c / groups, kernel h, kernel w) + bias (o) -> (n, o, ho, wo), where
// ho = floor((h + top + bottom - dilation_h (kernel h - 1) - 1) / stride_h) + 1, and wo likewise;
// bias may be NULL. A cross-correlation, as everywhere in deep learning: the kernel is not flipped.
Tensor *tensor_conv2d(Tensor *x, Tensor *weight, Tensor *bias, Conv2dOptions options);
// Convolves sequences: x (n, c, l) * weight (o, c / groups, kernel) -> (n, o, lo), by views.
typedef struct Conv1dOptions {
    int64_t stride, padding_left, padding_right, dilation, groups;
} Conv1dOptions;
Conv1dOptions conv1d_defaults(void);
Tensor *tensor_conv1d(Tensor *x, Tensor *weight, Tensor *bias, Conv1dOptions options);
// The transposed convolution: maps x as conv2d with these options maps the gradient to its input;
// PyTorch's conv_transpose2d. x (n, c, h, w), weight (c, o / groups, kernel h, kernel w), bias (o)
// or NULL -> (n, o, ho, wo), ho = (h - 1) stride_h - top - bottom + dilation_h (kernel h - 1) +
// output_padding_h + 1; the output padding is less than the stride or the dilation.
typedef struct ConvTranspose2dOptions {
    Conv2dOptions conv;
    int64_t output_padding_h, output_padding_w;
} ConvTranspose2dOptions;
ConvTranspose2dOptions conv_transpose2d_defaults(void);
Tensor *tensor_conv_transpose2d(Tensor *x, Tensor *weight, Tensor *bias,
                                ConvTranspose2dOptions options);
typedef struct ConvTranspose1dOptions {
    Conv1dOptions conv;
    int64_t output_padding;
} ConvTranspose1dOptions;
ConvTranspose1dOptions conv_transpose1d_defaults(void);
Tensor *tensor_conv_transpose1d(Tensor *x, Tensor *weight, Tensor *bias,
                                ConvTranspose1dOptions options);

// ---- sequences ----
// Runs an LSTM over x (steps, batch, in), gates in PyTorch's order i, f, g, o throughout. sums
// (steps, batch, 4 hidden) are x's products, as by tensor_linear; weight (4 hidden, hidden) and
// bias (4 hidden, may be NULL) apply to the states; hidden and cell (batch, hidden) are the initial
// ones. Returns all hidden states (steps, batch, hidden) and, if `cells` is not NULL, all cell
// states. `reverse` runs from the last step to the first. Slice the result for the last state.
Tensor *tensor_lstm(Tensor *sums, Tensor *weight, Tensor *bias, Tensor *hidden, Tensor *cell,
                    bool reverse, Tensor **cells);
// Runs a GRU likewise, with gates r, z, n; as in PyTorch, the reset gate applies after the product.
Tensor *tensor_gru(Tensor *sums, Tensor *weight, Tensor *bias, Tensor *hidden, bool reverse);
// Runs a plain RNN likewise: tanh, or relu, of sums (steps, batch, hidden) plus the states.
Tensor *tensor_rnn(Tensor *sums, Tensor *weight, Tensor *bias, Tensor *hidden, bool relu,
                   bool reverse);

// ---- pools: each plane of x (n, c, h, w) by itself ----
typedef struct Pool2dOptions {
    int64_t kernel_h, kernel_w;
    int64_t stride_h, stride_w; // 0: the kernel's size, so that windows meet and do not overlap
    int64_t padding_top, padding_bottom, padding_left, padding_right; // at most half the kernel
    int64_t dilation_h, dilation_w; // for max_pool2d; must be 1 for avg_pool2d
    bool ceil_mode;                 // counts a last window past the end if it begins before the end
    bool exclude_pad; // avg_pool2d divides by the number of elements that are not padding
} Pool2dOptions;
Pool2dOptions pool2d_defaults(int64_t kernel); // square, stride as the kernel, no padding
// Padding is -infinity, so it is never the largest; NaN wins.
Tensor *tensor_max_pool2d(Tensor *x, Pool2dOptions options);
Tensor *tensor_avg_pool2d(Tensor *x, Pool2dOptions options); // padding is 0
// (n, c, out_h, out_w) of any size: output i is the mean of rows floor(i h / out_h) up to
// ceil((i + 1) h / out_h), and likewise along the width. 1 x 1 gives the mean of each plane.
Tensor *tensor_adaptive_avg_pool2d(Tensor *x, int64_t out_h, int64_t out_w);
// Pools of sequences (n, c, l), by views.
typedef struct Pool1dOptions {
    int64_t kernel, stride; // stride 0: the kernel's size
    int64_t padding_left, padding_right, dilation;
    bool ceil_mode, exclude_pad;
} Pool1dOptions;
Pool1dOptions pool1d_defaults(int64_t kernel);
Tensor *tensor_max_pool1d(Tensor *x, Pool1dOptions options);
Tensor *tensor_avg_pool1d(Tensor *x, Pool1dOptions options);
Tensor *tensor_adaptive_avg_pool1d(Tensor *x, int64_t out_length);

// ---- images and sequences: their ends, and their elements in another order ----
typedef enum PadMode {
    PAD_CONSTANT,  // fills with a value; pads below 0 crop
    PAD_REFLECT,   // c b | a b c | b a; pads must be smaller than the dimension
    PAD_REPLICATE, // a a | a b c | c c (ONNX: edge)
    PAD_CIRCULAR,  // b c | a b c | a b (ONNX: wrap); repeats as often as needed
} PadMode;
// before and after have one element for each of x's dimensions, in order. x may be int64; value is
// then a whole number, and tensor_pad_whole takes values that no float holds.
Tensor *tensor_pad(Tensor *x, const int64_t before[], const int64_t after[], PadMode mode,
                   float value);
Tensor *tensor_pad_whole(Tensor *x, const int64_t before[], const int64_t after[], PadMode mode,
                         int64_t value);
Tensor *tensor_flip(Tensor *x, const int *dims, int n_dims); // each dim named once; any dtype
// Resizes images (n, c, h, w) or sequences (n, c, length). All-zero options are PyTorch's
// interpolate(mode="nearest"); its "nearest-exact" is half_pixel with prefer_ceil, its bilinear and
// bicubic are half_pixel or align_corners.
typedef enum ResizeMode { RESIZE_NEAREST, RESIZE_LINEAR, RESIZE_CUBIC } ResizeMode; // a = -0.75
typedef enum ResizeCoordinates { // position of output o in the image, at a scale s:
    RESIZE_ASYMMETRIC,           // o / s
    RESIZE_HALF_PIXEL,           // (o + 0.5) / s - 0.5
    RESIZE_ALIGN_CORNERS,        // o (size - 1) / (out - 1)
    RESIZE_PYTORCH_HALF_PIXEL,   // half_pixel, but 0 for a single output
} ResizeCoordinates;
typedef enum ResizeRounding { // rounds the position in RESIZE_NEAREST
    RESIZE_FLOOR,
    RESIZE_CEIL,
    RESIZE_ROUND_PREFER_FLOOR,
    RESIZE_ROUND_PREFER_CEIL,
} ResizeRounding;
typedef struct ResizeOptions {
    int64_t out_h, out_w;    // the new size; 0: floor(size * scale)
    double scale_h, scale_w; // scale of the coordinates; 0: the ratio of the sizes
    ResizeMode mode;
    ResizeCoordinates coordinates;
    ResizeRounding rounding;
} ResizeOptions;
// Sequences use out_w and scale_w. As in PyTorch, a scale that keeps the size moves nothing in
// linear mode and in PyTorch's "nearest". A scale of 2.3 that doubles a side of 3 stays 2.3, as in
// ONNX and PyTorch's 1-D and 3-D; PyTorch's 2-D "nearest" uses 2.
Tensor *tensor_resize(Tensor *x, ResizeOptions options);
// (n, c r r, h, w) to (n, c, h r, w r), and back, as in PyTorch (ONNX DepthToSpace: CRD): channel
// (c r + i) r + j goes to row h r + i, column w r + j. depth_to_space reads channel (i r + j) c
// instead (DCR). The factor r is from 1 to 32,767.
Tensor *tensor_pixel_shuffle(Tensor *x, int64_t factor);
Tensor *tensor_pixel_unshuffle(Tensor *x, int64_t factor);
Tensor *tensor_depth_to_space(Tensor *x, int64_t factor);

// ---- reductions; dim < 0 counts from the end ----
// sum, sum_dims, max, argmax, min, argmin, topk and cumsum also take int64; sums wrap around.
enum { DIM_ALL = -1000 }; // over every element; the result is a scalar
Tensor *tensor_sum(Tensor *x, int dim, bool keep_dim);
Tensor *tensor_mean(Tensor *x, int dim, bool keep_dim); // NaN for no elements
// Reduces n_dims dimensions, each named once, in any order; n_dims 0: all, as PyTorch's dim=().
Tensor *tensor_sum_dims(Tensor *x, const int *dims, int n_dims, bool keep_dim);
Tensor *tensor_mean_dims(Tensor *x, const int *dims, int n_dims, bool keep_dim);
// An empty input is an error. NaN wins. The first of equals wins and gets the gradient; PyTorch's
// max over every element shares the gradient among equals.
Tensor *tensor_max(Tensor *x, int dim, bool keep_dim);
Tensor *tensor_argmax(Tensor *x, int dim, bool keep_dim); // int64; the first of equals
Tensor *tensor_min(Tensor *x, int dim, bool keep_dim);    // ties and NaN as in tensor_max
Tensor *tensor_argmin(Tensor *x, int dim, bool keep_dim);
// The k largest, or smallest, elements along dim, sorted; *indices (int64; NULL: not wanted) tells
// where they are. NaN is larger than all else, as in PyTorch; equals keep their order, where
// PyTorch promises none. The gradient goes to the elements found. A GPU finds them one after the
// other, so keep k small there.
Tensor *tensor_topk(Tensor *x, int64_t k, int dim, bool largest, Tensor **indices);
// Variance: the sum of squared distances from the mean over n - correction (1: estimate from a
// sample; 0: of the numbers themselves); std is its root. As in PyTorch, n <= correction gives inf,
// or NaN where all are equal, not an error; std has gradient 0 where it is 0. The result keeps its
// digits however far x is from 0. For n <= correction the gradient is PyTorch's for one dimension,
// with DIM_ALL, too.
Tensor *tensor_var(Tensor *x, int dim, float correction, bool keep_dim);
Tensor *tensor_std(Tensor *x, int dim, float correction, bool keep_dim);
Tensor *tensor_cumsum(Tensor *x, int dim); // y[i] = x[0] + ... + x[i] along dim, added in double
Tensor *tensor_softmax(Tensor *x, int dim);
Tensor *tensor_log_softmax(Tensor *x, int dim);
// (x - mean) / sqrt(variance + epsilon) * weight + bias; mean and variance are those of a row: x's
// last dimensions, given by `row`, such as SHAPE(768). weight and bias have shape `row`; each may
// be NULL. Mean and variance keep their digits however far x is from 0.
Tensor *tensor_layer_norm(Tensor *x, Shape row, Tensor *weight, Tensor *bias, float epsilon);
// x / sqrt(mean of x x + epsilon) * weight, with rows as in tensor_layer_norm; weight may be NULL.
// Squares outside the range of float are added in double.
Tensor *tensor_rms_norm(Tensor *x, Shape row, Tensor *weight, float epsilon);
// (x - mean) / sqrt(variance + epsilon) * weight + bias of x (n, channels, ...); mean and variance
// cover channels / groups adjacent channels of one sample; weight and bias (channels) may be NULL.
// As PyTorch, it refuses a batch of one whose groups are single numbers; sizes of 0 are legal.
Tensor *tensor_group_norm(Tensor *x, int64_t groups, Tensor *weight, Tensor *bias, float epsilon);
// Group norm with one channel per group. Like PyTorch, it refuses planes of one number. It keeps no
// running statistics. Equal numbers without an epsilon give NaN, as in every norm here; PyTorch's
// instance norm, alone among its norms, gives 0.
Tensor *tensor_instance_norm(Tensor *x, Tensor *weight, Tensor *bias, float epsilon);
typedef struct RunningStatistics { // over training batches, as in PyTorch's BatchNorm
    Tensor *mean, *variance;       // (channels); no gradient flows to them
    Tensor *batches;               // int64, one element: number of batches so far; may be NULL
    float momentum; // weight of the newest batch; NaN: all count alike (needs batches)
} RunningStatistics;
// Training batch norm: normalizes each channel of x (n, channels, ...) over all other dimensions.
// One value per channel is an error. weight and bias (channels) may be NULL. `running` is updated
// in place, with the sample variance (n - 1), and batches goes up by 1; pass {0} for none.
Tensor *tensor_batch_norm(Tensor *x, Tensor *weight, Tensor *bias, float epsilon,
                          RunningStatistics running);
// Evaluation batch norm: uses the running mean and variance, and leaves them unchanged.
Tensor *tensor_batch_norm_eval(Tensor *x, Tensor *weight, Tensor *bias, float epsilon,
                               RunningStatistics running);

// ---- losses: mean over the rows (cross-entropy) or elements (the others), a scalar ----
Tensor *tensor_cross_entropy(Tensor *logits, Tensor *labels); // (n, classes), int64 (n)
typedef struct LabelLoss {
    Tensor *weight;  // (classes): weight of a row, by its label; NULL: 1. It has no gradient
    bool ignores;    // skips rows with the label `ignored`; other labels out of range are an error
    int64_t ignored; // PyTorch's ignore_index
    float smoothing; // 0 to 1: share of each row's target that is spread over all classes
} LabelLoss;
LabelLoss label_loss_defaults(void); // PyTorch's: no weight, -100 is ignored, no smoothing
// With weights, the mean is divided by their sum over the rows that count; it is NaN if none
// counts. Takes two passes; tensor_cross_entropy, which ignores no label, is fused.
Tensor *tensor_cross_entropy_with(Tensor *logits, Tensor *labels, LabelLoss options);
// As tensor_cross_entropy_with, for inputs that are a log_softmax already: the mean of -x[label].
Tensor *tensor_nll(Tensor *log_probabilities, Tensor *labels, LabelLoss options);
Tensor *tensor_mse(Tensor *prediction, Tensor *target);
Tensor *tensor_l1(Tensor *prediction, Tensor *target); // |d|; its slope at 0 is 0
// d d / 2 up to |d| = delta > 0, a line beyond; smooth_l1 is huber divided by beta, and l1 for beta
// 0.
Tensor *tensor_huber(Tensor *prediction, Tensor *target, float delta);
Tensor *tensor_smooth_l1(Tensor *prediction, Tensor *target, float beta);
// The sum of t (log(t) - x), divided by the number of rows (PyTorch's `batchmean`); x is a
// log_softmax or the like. A target of 0 adds nothing.
Tensor *tensor_kl_divergence(Tensor *log_probabilities, Tensor *targets);
// -t log(p) - (1 - t) log(1 - p) with p = sigmoid(logit); targets t of the logits' shape.
Tensor *tensor_binary_cross_entropy_with_logits(Tensor *logits, Tensor *targets);

// ---- random ----
Tensor *tensor_dropout(Tensor *x, float p); // zeroes with probability p, scales the rest by 1/(1-p)
// Dropout with one decision for all elements that share their first n_dims indices: for x (n, c, h,
// w) 1 drops samples, 2 drops channels, as PyTorch's dropout2d.
Tensor *tensor_dropout_blocks(Tensor *x, int n_dims, float p);

// ---- attention (Vaswani et al. 2017): y = softmax(q . k^T scale + mask) . v, of each head ----
typedef struct AttentionOptions {
    float scale;   // of the scores; 0: 1 / sqrt(d)
    bool causal;   // query i sees keys 0 to i, whatever their number, as in PyTorch: queries that
                   // continue a cache of keys need a mask; a single one needs none
    float dropout; // probability for the attention weights, as in tensor_dropout
} AttentionOptions;
AttentionOptions attention_defaults(void); // 1 / sqrt(d), all keys, no dropout
// q (..., h, s, d), k (..., h, t, d), v (..., h, t, e) -> (..., h, s, e); each 2-d to 6-d. k and v
// may have fewer heads, each shared by equally many adjacent heads of q (grouped queries). The
// mask, or NULL, is added to the scores (..., h, s, t), to which it broadcasts: 0, or -INFINITY
// where a query does not see a key; it has no gradient. A query that sees no key gets result and
// gradient 0, as in PyTorch. The scores are never stored, not even for backward. An unseen key has
// weight 0, so a value of it that is not finite still gives NaN.
Tensor *tensor_attention(Tensor *q, Tensor *k, Tensor *v, Tensor *mask, AttentionOptions options);
// Attention op by op: it stores the scores, the mask may have a gradient, and a query that sees no
// key gets NaN, as from softmax.
Tensor *tensor_attention_by_formula(Tensor *q, Tensor *k, Tensor *v, Tensor *mask,
                                    AttentionOptions options);
// Rotary positions (Su et al. 2021): turns the pairs (x[j], x[j + d / 2]) of each row of x (..., s,
// d), d even, by an angle per pair; cosines and sines (s, d / 2) hold its cosine and sine. The
// pairs are those of GPT-NeoX and LLaMA (rotate_half). The tables have no gradient.
Tensor *tensor_rotary(Tensor *x, Tensor *cosines, Tensor *sines);
// Makes these tables for positions begin to begin + count - 1: row i has angles (begin + i)
// base^(-2 j / d), j < d / 2. base: 10,000 in the paper. You own them; false: an error is pending.
bool rotary_tables_new(int64_t begin, int64_t count, int64_t d, float base, Tensor **cosines,
                       Tensor **sines);

// ---- in place: a tensor that needs a gradient only between no_grad_begin and no_grad_end ----
Status tensor_fill(Tensor *x, float value);            // float32
Status tensor_assign(Tensor *into, Tensor *from);      // into = from, same shape; `into` may be a
                                                       // view: a slice to write to
Status tensor_accumulate(Tensor *into, Tensor *value); // into += value, same shape
// Each updates all parameters in one pass. inputs[0] is the state, a small float32 tensor of the
// values that change per step, so that a captured step can be replayed: sgd, rmsprop, lion
// {learning rate}, adam {learning rate, t (incremented)}. Then comes one group of equal-shaped
// tensors per parameter.
typedef struct SgdParams {
    float momentum, weight_decay; // as torch.optim.SGD, dampening 0
    bool nesterov;                // look ahead; only with momentum
} SgdParams;
typedef struct AdamParams {
    float beta1, beta2, epsilon, weight_decay;
    bool decoupled; // AdamW: decay the weight itself; else add it to the gradient
} AdamParams;
typedef struct RmspropParams {
    float smoothing, epsilon, weight_decay; // smoothing: torch's alpha
} RmspropParams;
typedef struct LionParams {
    float beta1, beta2, weight_decay; // decays the weight itself
} LionParams;
// groups: n x {parameter, gradient} or, with momentum != 0, n x {parameter, gradient, velocity}
Status tensor_sgd_step(Tensor *const inputs[], int n_groups, SgdParams params);
// groups: n x {parameter, gradient, m, v}
Status tensor_adam_step(Tensor *const inputs[], int n_groups, AdamParams params);
// groups: n x {parameter, gradient, v}, as torch.optim.RMSprop without momentum
Status tensor_rmsprop_step(Tensor *const inputs[], int n_groups, RmspropParams params);
// groups: n x {parameter, gradient, m}, as Chen et al. 2023
Status tensor_lion_step(Tensor *const inputs[], int n_groups, LionParams params);
// Scales all tensors by max_norm / (norm + 1e-6) if their common Euclidean norm is larger, as
// torch.nn.utils.clip_grad_norm_; always multiplies once, so the cost depends on no value. Returns
// the norm before scaling, a scalar.
Tensor *tensor_clip_norm(Tensor *const tensors[], int n_tensors, float max_norm);

RIDGEPOINT_API_END

#endif
