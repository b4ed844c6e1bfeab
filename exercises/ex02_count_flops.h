// ex02_count_flops.h -- exercise 02: how much arithmetic does one sample cost?
//
// WHY    FLOPs are floating-point operations: additions and multiplications. Their count is known
//        before anything runs, from shapes alone, and it is the yardstick of everything after it: a
//        time without it is neither good nor bad. It is also the number that tools disagree about
//        most. Some count a multiply-add as one (that is a MAC), some as two; some count biases,
//        some activations, some for a batch, some for a sample. None of them is wrong; a count
//        without its rule is. Here is our rule for this exercise, the textbook's:
//
//            layer                                   FLOPs for ONE sample
//            Linear(in, out)                         2 * in * out, for every row of the sample
//            Conv2d(in, out, kernel)                 2 * Ho * Wo * kh * kw * (in / groups) * out
//            ReLU, Sigmoid, Tanh, GELU               1 for every element that goes through
//            MaxPool2d, AvgPool2d, Flatten, Dropout  0
//            Sequential                              the sum of its children
//            any other                               STATUS_UNKNOWN_OP: unknown is not zero
//
//        A multiply-add counts 2. Biases do not count (they are one addition beside thousands).
//
// TODO   Write count_flops in ex02_count_flops.c. You read the model, you run nothing.
//
// APPROACH
//   1. One Linear. Its sizes are attributes: layer_attribute(layer, "in_features", &value), and
//      "out_features". Which kind of layer it is says layer->type->name. Its input is
//      (batch, ..., in): what stands between the batch and the last size are the rows of a sample,
//      and each row is multiplied: (7, 5, 4) is 7 samples of 5 rows of 4 numbers.
//   2. One sample. input.dims[0] is the batch; it is not in the result. The same model gives the
//      same count at batch 1 and at batch 64.
//   3. A chain. Each child of a Sequential gets what the one before it gave, so carry the shape
//      along: Linear changes the last size; Conv2d and the pools change (n, c, h, w) to
//      (n, out, Ho, Wo), and (n, c, Ho, Wo); Flatten makes (n, c, h, w) to (n, c * h * w); the
//      others change nothing. A Sequential may stand within a Sequential.
//   4. Conv2d. Attributes in_channels, out_channels, kernel_h, kernel_w, stride_h, stride_w,
//      padding_top, padding_bottom, padding_left, padding_right, dilation_h, dilation_w, groups.
//          Ho = (h + padding_top + padding_bottom - dilation_h * (kernel_h - 1) - 1) / stride_h + 1
//      and Wo likewise, with the integer division of C. A pool: the same with its own attributes
//      (it has no groups; an AvgPool2d has no dilation: take 1). A layer without that attribute:
//      layer_attribute returns false.
//   5. What does not fit is an error: an input whose last size is not in_features, a Conv2d or pool
//      whose input does not have four sizes, or the wrong number of channels, or is smaller than
//      the kernel: STATUS_SHAPE.
//
// EXAMPLE
//   Linear(128,64) @ 1x128, and @ 32x128           2 * 128 * 64 = 16,384
//   Linear(128,64) Linear(64,10) @ 1x128           16,384 + 1,280 = 17,664
//   Linear(4,3) ReLU Linear(3,2) @ 1x4             24 + 3 + 12 = 39
//   Linear(4,3) @ 7x5x4                            5 rows: 5 * 24 = 120
//   Conv2d(3,16,3) @ 1x3x32x32                     2 * 30 * 30 * 3 * 3 * 3 * 16 = 777,600
//   Conv2d(3,64,7,stride=2) @ 1x3x224x224          2 * 109 * 109 * 7 * 7 * 3 * 64 = 223,552,896
//   Conv2d(3,10,3,padding=3) @ 1x3x28x28           2 * 32 * 32 * 3 * 3 * 3 * 10 = 552,960
//   Conv2d(1,2,3) Conv2d(2,3,3) @ 1x1x8x8          1,296 + 1,728 = 3,024
//   Linear(50000,50000) @ 1x50000                  5,000,000,000, which needs 64 bits
//
// HINTS  ./lab hint 02; pages: ./lab explain mac_vs_flop, batch_multiplied, output_size
#ifndef EXERCISES_EX02_COUNT_FLOPS_H
#define EXERCISES_EX02_COUNT_FLOPS_H

#include "layers/layer.h"

// Stores in *flops what one forward of ONE sample costs by the table above. `input` is the shape of
// the whole batch, batch first, at least two sizes.
//   [1] Linear: 2 * in * out for every row of the sample.
//   [2] Conv2d: as in the table; kernel_h and kernel_w may differ, groups divide once.
//   [3] Ho and Wo, of a Conv2d and of a pool: each direction by its own attributes, which may all
//       differ. A kernel as large as the padded input fits once.
//   [4] ReLU, Sigmoid, Tanh, GELU: 1 for every element of the sample, in however many sizes.
//   [5] MaxPool2d, AvgPool2d, Flatten, Dropout: 0; their output's shape is the next one's input.
//   [6] Sequential: the sum, to any depth; one without children costs 0 and changes nothing.
//   [7] A multiply-add counts 2, a bias 0.
//   [8] The batch is not in the result.
//   [9] Exactly, in 64 bits.
//  [10] STATUS_UNKNOWN_OP: somewhere in the model is a layer that is not in the table, by its whole
//       name. A container that is not in the table is one, whatever its children.
//  [11] STATUS_SHAPE: the input does not fit a layer somewhere in the model.
//  [12] The model stays as it is, and whoever calls a second time gets the same; with another
//       input, that one's count.
// After an error *flops may be anything. Where both errors are there, say either.
Status count_flops(const Layer *model, Shape input, int64_t *flops);

#endif
