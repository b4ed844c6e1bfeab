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
// Indices begin, begin + step ... below end; a negative one counts from the end. step >= 1.
Tensor *tensor_slice(Tensor *x, int dim, int64_t begin, int64_t end, int64_t step);
#define SLICE_END INT64_MAX                    // as `end`: to the last
Tensor *tensor_expand(Tensor *x, Shape shape); // dims of 1, and new leading ones, repeat
Tensor *tensor_detach(Tensor *x);              // same data, no gradient flows through
Tensor *tensor_contiguous(Tensor *x);          // x itself when it already is, else a copy

// ---- joining and picking ----
// Side by side along dim; sizes may differ there only. Any number of tensors, of any one dtype;
// only the first 64 may need gradients.
Tensor *tensor_concat(Tensor *const tensors[], int n_tensors, int dim);
Tensor *tensor_stack(Tensor *const tensors[], int n_tensors, int dim); // along a new dimension
// Result (of index's shape) [i][j][k] = x[index[i][j][k]][j][k] for dim 0, x[i][index[i][j][k]][k]
// for dim 1 ... index: int64, as many dims as x, in the others at most x's size. x may be int64.
Tensor *tensor_gather(Tensor *x, int dim, Tensor *index);
// The same, but that an index may be in [-n, n), n being x's size: one below 0 counts from the end.
// It costs what the other does.
Tensor *tensor_gather_signed(Tensor *x, int dim, Tensor *index);
// In another element type, to float32 or int64; without a gradient, unless it is x's own type. A
// float becomes an integer towards 0: NaN 0, and what is too large the largest.
Tensor *tensor_cast(Tensor *x, DType dtype);
// Of int64: what arithmetic on numbers of so many bits, 1 to 63, would have left; a signed one of
// 64 is x itself. Wraps around: 300 in 8 bits is 44 without a sign, and 200 with one is -56.
Tensor *tensor_wrap(Tensor *x, int bits, bool is_signed);
// (...) of int64 in [0, classes) to (..., classes) of float32: 1 at the label, else 0.
Tensor *tensor_one_hot(Tensor *labels, int64_t classes);
Tensor *tensor_one_hot_signed(Tensor *labels, int64_t classes); // as tensor_gather_signed
// Row index[...] of table (count, features): (..., features). index: int64, in [0, count). The
// table may be int64.
Tensor *tensor_embedding(Tensor *index, Tensor *table);
Tensor *tensor_embedding_signed(Tensor *index, Tensor *table); // as tensor_gather_signed
// The same, but that row of the table, counted from the end where it is negative, has no gradient:
// PyTorch's padding_idx.
Tensor *tensor_embedding_padded(Tensor *index, Tensor *table, int64_t padding_idx);

// ---- element-wise, with NumPy broadcasting ----
// add, sub, mul, div, maximum, minimum, fmod, remainder, neg, abs, sign and comparisons also take
// int64, all of them then, and give it (comparisons: float32). Whole numbers wrap around, divide
// towards 0, which PyTorch calls rounding_mode="trunc", and not by 0: STATUS_INVALID_ARGUMENT.
Tensor *tensor_add(Tensor *a, Tensor *b);
Tensor *tensor_sub(Tensor *a, Tensor *b);
Tensor *tensor_mul(Tensor *a, Tensor *b);
Tensor *tensor_div(Tensor *a, Tensor *b);
Tensor *tensor_maximum(Tensor *a, Tensor *b); // NaN wins; equals share the gradient
Tensor *tensor_minimum(Tensor *a, Tensor *b); // likewise
// What is left of a without whole multiples of b, exactly: with the sign of a, as C's fmod; with
// that of b, as Python's %.
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
// low <= high; an infinite one bounds nothing. The slope is 1 at the bounds, too.
Tensor *tensor_clamp(Tensor *x, float low, float high);
Tensor *tensor_exp(Tensor *x);
Tensor *tensor_log(Tensor *x);
Tensor *tensor_sqrt(Tensor *x);
Tensor *tensor_erf(Tensor *x);
Tensor *tensor_sin(Tensor *x); // of radians, of any size
Tensor *tensor_cos(Tensor *x);
Tensor *tensor_reciprocal(Tensor *x); // 1 / x
Tensor *tensor_rsqrt(Tensor *x);      // 1 / sqrt(x)
// No gradient flows through these.
Tensor *tensor_sign(Tensor *x); // 1, 0 or -1; of NaN 0
Tensor *tensor_floor(Tensor *x);
Tensor *tensor_ceil(Tensor *x);
Tensor *tensor_round(Tensor *x); // halves to the even one
Tensor *tensor_relu(Tensor *x);
Tensor *tensor_leaky_relu(Tensor *x, float slope); // x where positive, else slope * x
Tensor *tensor_sigmoid(Tensor *x);
Tensor *tensor_silu(Tensor *x); // x * sigmoid(x)
Tensor *tensor_tanh(Tensor *x);
Tensor *tensor_gelu(Tensor *x);      // x/2 (1 + erf(x/sqrt 2))
Tensor *tensor_gelu_tanh(Tensor *x); // its tanh approximation (Hendrycks 2016)
// PyTorch's, with its slopes at the kinks. At infinity the slope of softsign is its limit, 0.
Tensor *tensor_relu6(Tensor *x);                           // x between 0 and 6
Tensor *tensor_hardtanh(Tensor *x, float low, float high); // low <= high; no slope at the bounds
Tensor *tensor_hardsigmoid(Tensor *x);                     // relu6(x + 3) / 6
Tensor *tensor_hardswish(Tensor *x);                       // x relu6(x + 3) / 6
Tensor *tensor_elu(Tensor *x, float alpha);                // x, but alpha (e^x - 1) below 0
Tensor *tensor_selu(Tensor *x);                            // an elu that keeps mean and variance
Tensor *tensor_celu(Tensor *x, float alpha);               // x, but alpha (e^(x/alpha) - 1); not 0
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
// x where positive, else weight * x: weight is (c), one for each channel along x's dimension 1, or
// (1).
Tensor *tensor_prelu(Tensor *x, Tensor *weight);
// The first half of x along dim, which is even, times the sigmoid of the second.
Tensor *tensor_glu(Tensor *x, int dim);
// An activation by its op, as &op_relu or op_activation_by_name("relu"), its parameters being what
// PyTorch has where nobody says (Op.values). NULL gives x.
Tensor *tensor_activation(Tensor *x, const Op *activation);

// ---- conditions, float32: 1 where they hold, else 0 ----
// Element-wise, with NumPy broadcasting. With NaN only not_equal holds. No gradient flows through.
Tensor *tensor_less(Tensor *a, Tensor *b);
Tensor *tensor_less_equal(Tensor *a, Tensor *b);
Tensor *tensor_equal(Tensor *a, Tensor *b); // -0 equals 0
Tensor *tensor_not_equal(Tensor *a, Tensor *b);
Tensor *tensor_greater(Tensor *a, Tensor *b);
Tensor *tensor_greater_equal(Tensor *a, Tensor *b);
// Any float32 is a condition here, as in tensor_where.
Tensor *tensor_logical_and(Tensor *a, Tensor *b);
Tensor *tensor_logical_or(Tensor *a, Tensor *b);
Tensor *tensor_logical_not(Tensor *x);
Tensor *tensor_isnan(Tensor *x);
// a where the condition is true, else b; all three broadcast. Any float32 is a condition, as x is
// by PyTorch's x.bool(): 0 and -0 are false, all else is true, and so is NaN. No gradient flows to
// it; what is not chosen has one of 0, even where the result's is not finite.
// a and b may both be int64, and so is the result then.
Tensor *tensor_where(Tensor *condition, Tensor *a, Tensor *b);
Tensor *tensor_masked_fill(Tensor *x, Tensor *mask, float value); // value where the mask is true
// The lower or upper triangle of each matrix in x's last two dimensions, and 0, whatever was there,
// in the other one. The diagonal belongs to it: 0 the main one, 1 the next one above, of any size.
// x may be int64.
Tensor *tensor_tril(Tensor *x, int64_t diagonal);
Tensor *tensor_triu(Tensor *x, int64_t diagonal);

// ---- products ----
// (…, m, k) . (…, k, n) -> (…, m, n); leading dims broadcast. A transposed operand is read in
// place. A vector on the left is (1, k), on the right (k, 1), and that dimension goes again.
Tensor *tensor_matmul(Tensor *a, Tensor *b);
// Einstein's sums, as PyTorch's einsum: "bhid,bhjd->bhij" names each operand's dimensions, and what
// the result does not name is summed over; a letter twice in an operand is its diagonal, sizes of 1
// broadcast, "..." stands for any dimensions, and without "->" the result has what stands once, by
// the alphabet. Composed of views, sums and, from the left, products of two operands: a
// tensor_matmul where something is summed, else a tensor_mul; the operand itself where there is
// nothing to do.
enum { EINSUM_MAX_OPERANDS = 16 };
Tensor *tensor_einsum(const char *equation, Tensor *const operands[], int n_operands);
// x (…, in) . weight (out, in)^T + bias (out) -> (…, out); bias may be NULL; the activation, as
// in tensor_activation, is fused: computed while the product is still in cache. NULL: none.
Tensor *tensor_linear(Tensor *x, Tensor *weight, Tensor *bias, const Op *activation);
typedef struct Conv2dOptions {
    int64_t stride_h, stride_w;
    int64_t padding_top, padding_bottom, padding_left, padding_right; // with zeros
    int64_t dilation_h, dilation_w;                                   // from tap to tap
    int64_t groups; // of channels, convolved apart; as many as channels: depthwise
} Conv2dOptions;
Conv2dOptions conv2d_defaults(void); // stride 1, no padding, dilation 1, one group
// x (n, c, h, w) * weight (o, c / groups, kernel h, kernel w) + bias (o) -> (n, o, ho, wo), where
// ho = floor((h + top + bottom - dilation_h (kernel h - 1) - 1) / stride_h) + 1, and wo likewise;
// bias may be NULL. A cross-correlation, as everywhere in deep learning: the kernel is not flipped.
Tensor *tensor_conv2d(Tensor *x, Tensor *weight, Tensor *bias, Conv2dOptions options);
// The same of sequences: x (n, c, l) * weight (o, c / groups, kernel) -> (n, o, lo), by views.
typedef struct Conv1dOptions {
    int64_t stride, padding_left, padding_right, dilation, groups;
} Conv1dOptions;
Conv1dOptions conv1d_defaults(void);
Tensor *tensor_conv1d(Tensor *x, Tensor *weight, Tensor *bias, Conv1dOptions options);
// The transpose: what the convolution of these options does to the gradient of its input, as
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
// The pass of an LSTM over x (steps, batch, in), in PyTorch's order of gates i, f, g, o, which is
// that of weight and bias: sums (steps, batch, 4 hidden) are x's own products, as by tensor_linear;
// weight (4 hidden, hidden) and bias (4 hidden), which may be NULL, are for the states; hidden and
// cell (batch, hidden) are the first. Gives all hidden states (steps, batch, hidden) and, where
// wanted, all cells; `reverse`: from the last step to the first. What is last is a slice of it.
Tensor *tensor_lstm(Tensor *sums, Tensor *weight, Tensor *bias, Tensor *hidden, Tensor *cell,
                    bool reverse, Tensor **cells);
// The same of a GRU, with gates r, z, n, and the reset behind the product, as PyTorch has it.
Tensor *tensor_gru(Tensor *sums, Tensor *weight, Tensor *bias, Tensor *hidden, bool reverse);
// The same of a plain cell: tanh, or relu, of x's sums (steps, batch, hidden) and the state's.
Tensor *tensor_rnn(Tensor *sums, Tensor *weight, Tensor *bias, Tensor *hidden, bool relu,
                   bool reverse);

// ---- pools: each plane of x (n, c, h, w) by itself ----
typedef struct Pool2dOptions {
    int64_t kernel_h, kernel_w;
    int64_t stride_h, stride_w; // 0: the kernel's size, so that windows meet and do not overlap
    int64_t padding_top, padding_bottom, padding_left, padding_right; // at most half the kernel
    int64_t dilation_h, dilation_w; // of max_pool2d; 1 for avg_pool2d
    bool ceil_mode;   // a last window that goes over the end counts, if it begins before the end
    bool exclude_pad; // avg_pool2d divides by the elements that are not padding
} Pool2dOptions;
Pool2dOptions pool2d_defaults(int64_t kernel); // square, stride as the kernel, no padding
// Padding is -infinity, so it is never the largest; NaN wins.
Tensor *tensor_max_pool2d(Tensor *x, Pool2dOptions options);
Tensor *tensor_avg_pool2d(Tensor *x, Pool2dOptions options); // padding is 0
// (n, c, out_h, out_w) of any size: output i is the mean from floor(i h / out_h) up to
// ceil((i + 1) h / out_h), and likewise along the width. 1 x 1: the mean of each plane.
Tensor *tensor_adaptive_avg_pool2d(Tensor *x, int64_t out_h, int64_t out_w);
// The same of sequences (n, c, l), by views.
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
    PAD_CONSTANT,  // a value; pads below 0 crop
    PAD_REFLECT,   // c b | a b c | b a: shorter than the dimension
    PAD_REPLICATE, // a a | a b c | c c (ONNX: edge)
    PAD_CIRCULAR,  // b c | a b c | a b (ONNX: wrap); as often as it takes
} PadMode;
// before and after: an element for each of x's dimensions, the first one's first. x may be int64,
// and value a whole number then; tensor_pad_whole takes one that no float is.
Tensor *tensor_pad(Tensor *x, const int64_t before[], const int64_t after[], PadMode mode,
                   float value);
Tensor *tensor_pad_whole(Tensor *x, const int64_t before[], const int64_t after[], PadMode mode,
                         int64_t value);
Tensor *tensor_flip(Tensor *x, const int *dims, int n_dims); // each named once; of any type
// Images (n, c, h, w), or sequences (n, c, length), of another size. As zeros the options are
// PyTorch's interpolate(mode="nearest"); its "nearest-exact" is half_pixel and prefer_ceil, its
// bilinear and bicubic half_pixel or align_corners.
typedef enum ResizeMode { RESIZE_NEAREST, RESIZE_LINEAR, RESIZE_CUBIC } ResizeMode; // a = -0.75
typedef enum ResizeCoordinates { // where output o is in the image, at a scale s:
    RESIZE_ASYMMETRIC,           // o / s
    RESIZE_HALF_PIXEL,           // (o + 0.5) / s - 0.5
    RESIZE_ALIGN_CORNERS,        // o (size - 1) / (out - 1)
    RESIZE_PYTORCH_HALF_PIXEL,   // half_pixel; of a single output 0
} ResizeCoordinates;
typedef enum ResizeRounding { // to the nearest one, where that is what is asked for
    RESIZE_FLOOR,
    RESIZE_CEIL,
    RESIZE_ROUND_PREFER_FLOOR,
    RESIZE_ROUND_PREFER_CEIL,
} ResizeRounding;
typedef struct ResizeOptions {
    int64_t out_h, out_w;    // the new size; 0: floor(size * scale)
    double scale_h, scale_w; // of the coordinates, too; 0: what the sizes come to
    ResizeMode mode;
    ResizeCoordinates coordinates;
    ResizeRounding rounding;
} ResizeOptions;
// Of a sequence out_w and scale_w. As in PyTorch a scale that leaves the size as it is moves
// nothing where the mode is linear, or its "nearest". A scale of 2.3 that doubles a side of 3 is
// 2.3, as in ONNX and PyTorch's 1-D and 3-D; PyTorch's 2-D "nearest" takes 2.
Tensor *tensor_resize(Tensor *x, ResizeOptions options);
// (n, c r r, h, w) to (n, c, h r, w r), and back, as PyTorch's (ONNX DepthToSpace: CRD): channel
// (c r + i) r + j goes to row h r + i, column w r + j. depth_to_space has channel (i r + j) c
// (DCR). The factor r is from 1 to 32,767.
Tensor *tensor_pixel_shuffle(Tensor *x, int64_t factor);
Tensor *tensor_pixel_unshuffle(Tensor *x, int64_t factor);
Tensor *tensor_depth_to_space(Tensor *x, int64_t factor);

// ---- reductions; dim < 0 counts from the end ----
// sum, sum_dims, max, argmax, min, argmin, topk and cumsum also take int64; sums wrap around.
enum { DIM_ALL = -1000 }; // over every element; the result is a scalar
Tensor *tensor_sum(Tensor *x, int dim, bool keep_dim);
Tensor *tensor_mean(Tensor *x, int dim, bool keep_dim); // of nothing: NaN
// Over n_dims dimensions, in any order, each named once; n_dims 0: over all, as PyTorch's dim=().
Tensor *tensor_sum_dims(Tensor *x, const int *dims, int n_dims, bool keep_dim);
Tensor *tensor_mean_dims(Tensor *x, const int *dims, int n_dims, bool keep_dim);
// Of nothing: an error. NaN wins, and of equals the first, which gets the gradient; PyTorch's max
// over every element shares it among them.
Tensor *tensor_max(Tensor *x, int dim, bool keep_dim);
Tensor *tensor_argmax(Tensor *x, int dim, bool keep_dim); // int64; the first of equals
Tensor *tensor_min(Tensor *x, int dim, bool keep_dim);    // as tensor_max, and NaN wins here, too
Tensor *tensor_argmin(Tensor *x, int dim, bool keep_dim);
// The k largest, or smallest, along dim, sorted, and in *indices (int64; NULL: not wanted) where
// they are. NaN is larger than all else, as in PyTorch, and of equals the first comes first, where
// PyTorch promises no order. The gradient goes to what was found. On a GPU the k are found one
// after the other: for small k.
Tensor *tensor_topk(Tensor *x, int64_t k, int dim, bool largest, Tensor **indices);
// The sum of squared distances from the mean over n - correction (1: an estimate from a sample; 0:
// of the numbers themselves), and its root. As in PyTorch n <= correction gives inf, or NaN where
// all are equal, and no error; and the root's gradient is 0 where it is 0. It holds its digits
// however far x is from 0. For n <= correction the gradient is PyTorch's over one dimension, for
// DIM_ALL, too.
Tensor *tensor_var(Tensor *x, int dim, float correction, bool keep_dim);
Tensor *tensor_std(Tensor *x, int dim, float correction, bool keep_dim);
Tensor *tensor_cumsum(Tensor *x, int dim); // y[i] = x[0] + ... + x[i] along dim, added in double
Tensor *tensor_softmax(Tensor *x, int dim);
Tensor *tensor_log_softmax(Tensor *x, int dim);
// (x - mean) / sqrt(variance + epsilon) * weight + bias, mean and variance of each row: of all
// elements of x's last dimensions, which are `row`, such as SHAPE(768). weight and bias have that
// shape; each may be NULL. Mean and variance hold their digits however far x is from 0.
Tensor *tensor_layer_norm(Tensor *x, Shape row, Tensor *weight, Tensor *bias, float epsilon);
// x / sqrt(mean of x x + epsilon) * weight, of rows as there; weight may be NULL. Squares that a
// float does not hold are added in double.
Tensor *tensor_rms_norm(Tensor *x, Shape row, Tensor *weight, float epsilon);
// (x - mean) / sqrt(variance + epsilon) * weight + bias of x (n, channels, ...), mean and variance
// of channels / groups neighbouring channels of one sample; weight and bias (channels) may be NULL.
// As PyTorch's it refuses a batch of one whose groups are single numbers; sizes of 0 are legal.
Tensor *tensor_group_norm(Tensor *x, int64_t groups, Tensor *weight, Tensor *bias, float epsilon);
// The same of each channel by itself: a group norm of as many groups. Planes of one number are
// refused, as PyTorch's are. It has no running statistics. Equal numbers without an epsilon are
// NaN, as in every norm here; PyTorch's instance norm, alone among its norms, makes them 0.
Tensor *tensor_instance_norm(Tensor *x, Tensor *weight, Tensor *bias, float epsilon);
typedef struct RunningStatistics { // of the batches of a training, as PyTorch's BatchNorm has them
    Tensor *mean, *variance;       // (channels); no gradient flows to them
    Tensor *batches;               // int64, one number: how many there were; may be NULL
    float momentum; // what the newest batch counts; NaN: all count alike (needs batches)
} RunningStatistics;
// The same of each channel of x (n, channels, ...), mean and variance over all else: of training.
// One value per channel is an error. weight and bias (channels) may be NULL. `running` follows in
// place, its variance being that of a sample (n - 1), and batches is counted up; without any, {0}.
Tensor *tensor_batch_norm(Tensor *x, Tensor *weight, Tensor *bias, float epsilon,
                          RunningStatistics running);
// Of evaluation: by the running mean and variance, which stay as they are.
Tensor *tensor_batch_norm_eval(Tensor *x, Tensor *weight, Tensor *bias, float epsilon,
                               RunningStatistics running);

// ---- losses: mean over the rows (cross-entropy) or elements (the others), a scalar ----
Tensor *tensor_cross_entropy(Tensor *logits, Tensor *labels); // (n, classes), int64 (n)
typedef struct LabelLoss {
    Tensor *weight;  // (classes): what a row counts, by its label; NULL: 1. It has no gradient
    bool ignores;    // rows of the label `ignored` do not count; others outside are an error
    int64_t ignored; // PyTorch's ignore_index
    float smoothing; // 0 to 1: so much of each row's target all classes have alike
} LabelLoss;
LabelLoss label_loss_defaults(void); // as PyTorch's: no weight, -100 is ignored, no smoothing
// With the weights of the rows that count the mean is divided by their sum; where none counts it is
// NaN. In two passes, where the plain one, which ignores no label, is fused.
Tensor *tensor_cross_entropy_with(Tensor *logits, Tensor *labels, LabelLoss options);
// The same of what is a log_softmax already: the mean of -x[label].
Tensor *tensor_nll(Tensor *log_probabilities, Tensor *labels, LabelLoss options);
Tensor *tensor_mse(Tensor *prediction, Tensor *target);
Tensor *tensor_l1(Tensor *prediction, Tensor *target); // |d|; its slope at 0 is 0
// d d / 2 up to |d| = delta, above 0, and a line from there on; smooth_l1 is it divided by beta,
// and l1 for a beta of 0.
Tensor *tensor_huber(Tensor *prediction, Tensor *target, float delta);
Tensor *tensor_smooth_l1(Tensor *prediction, Tensor *target, float beta);
// The sum of t (log(t) - x), divided by the rows (PyTorch's `batchmean`), x being a log_softmax,
// say; a target of 0 costs nothing.
Tensor *tensor_kl_divergence(Tensor *log_probabilities, Tensor *targets);
// -t log(p) - (1 - t) log(1 - p) with p = sigmoid(logit); targets t of the logits' shape.
Tensor *tensor_binary_cross_entropy_with_logits(Tensor *logits, Tensor *targets);

// ---- random ----
Tensor *tensor_dropout(Tensor *x, float p); // zeroes with probability p, scales the rest 1/(1-p)
// The same with one decision for all elements that share their first n_dims indices: of
// x (n, c, h, w) 1 drops samples, 2 channels, as PyTorch's dropout2d.
Tensor *tensor_dropout_blocks(Tensor *x, int n_dims, float p);

// ---- attention (Vaswani et al. 2017): y = softmax(q . k^T scale + mask) . v, of each head ----
typedef struct AttentionOptions {
    float scale;   // of the scores; 0: 1 / sqrt(d)
    bool causal;   // query i sees the keys 0 to i, however many there are, as in PyTorch: queries
                   // that go on behind a cache of keys take a mask, and a single one takes none
    float dropout; // of the probabilities, as tensor_dropout
} AttentionOptions;
AttentionOptions attention_defaults(void); // 1 / sqrt(d), all keys, no dropout
// q (..., h, s, d), k (..., h, t, d), v (..., h, t, e) -> (..., h, s, e); each 2-d to 6-d. Of k and
// v there may be fewer heads, when so many neighbours of q share one (grouped queries). The mask,
// or NULL, is added to the scores (..., h, s, t), to which it broadcasts: 0, or -INFINITY where a
// query does not see a key; it has no gradient. A query that sees no key gets 0, as in PyTorch, and
// so does its gradient. The scores are never stored, neither here nor for backward. A key that is
// not seen weighs 0, which leaves what is not finite in its value NaN.
Tensor *tensor_attention(Tensor *q, Tensor *k, Tensor *v, Tensor *mask, AttentionOptions options);
// The same op by op: it stores the scores, the mask may have a gradient, and a query that sees no
// key gets NaN, as softmax has it.
Tensor *tensor_attention_by_formula(Tensor *q, Tensor *k, Tensor *v, Tensor *mask,
                                    AttentionOptions options);
// Rotary positions (Su et al. 2021): turns the pairs (x[j], x[j + d / 2]) of each row of x (..., s,
// d), d even, by the angle whose cosine and sine are in cosines and sines (s, d / 2), one for each
// pair: as GPT-NeoX and LLaMA have it (rotate_half). The tables have no gradient.
Tensor *tensor_rotary(Tensor *x, Tensor *cosines, Tensor *sines);
// Those tables for positions begin to begin + count - 1: row i has the angles (begin + i)
// base^(-2 j / d), j < d / 2. base: 10,000 as in the paper. Yours; false: an error is pending.
bool rotary_tables_new(int64_t begin, int64_t count, int64_t d, float base, Tensor **cosines,
                       Tensor **sines);

// ---- in place: a tensor that needs a gradient only between no_grad_begin and no_grad_end ----
Status tensor_fill(Tensor *x, float value);            // float32
Status tensor_assign(Tensor *into, Tensor *from);      // into = from, same shape; `into` may be a
                                                       // view: a slice of what is written
Status tensor_accumulate(Tensor *into, Tensor *value); // into += value, same shape
// One pass over all parameters. inputs[0] is the state, a small float32 tensor of what changes per
// step, so that a captured step can be replayed: sgd, rmsprop, lion {learning rate}, adam {learning
// rate, t (incremented)}. Then come groups of tensors of one shape, one group a parameter.
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
// Scales all tensors by max_norm / (norm + 1e-6) where their common Euclidean norm is larger, as
// torch.nn.utils.clip_grad_norm_; always one multiplication each, so the cost depends on no value.
// The result is the norm before, a scalar.
Tensor *tensor_clip_norm(Tensor *const tensors[], int n_tensors, float max_norm);

RIDGEPOINT_API_END

#endif
