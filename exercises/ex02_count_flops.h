// ex02_count_flops.h -- exercise 02: how much arithmetic does one sample cost?
//
// WHY    FLOPs are floating-point operations: additions and multiplications. Their count is known
//        before anything runs, from shapes alone, and it is the yardstick of everything after it: a
//        time without it is neither good nor bad. It is also the number that tools disagree about
//        most. Some count a multiply-add as one (a MAC), some as two; some count biases, some
//        activations; some count a batch, some a sample. None of these counts is wrong, but a
//        count without its rule is useless. This exercise uses the rule of the textbooks:
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
//      "out_features". The kind of a layer is layer->type->name. The input of a Linear is
//      (batch, ..., in): the dimensions between the batch and the last one are the rows of a
//      sample, and each row is multiplied: (7, 5, 4) is 7 samples of 5 rows of 4 numbers.
//   2. One sample. input.dims[0] is the batch; the result does not contain it. The same model gives
//      the same count at batch 1 and at batch 64.
//   3. A chain. The input of each child of a Sequential is the output of the child before it, so
//      carry the shape along: Linear changes the last size; Conv2d changes (n, c, h, w) to
//      (n, out, Ho, Wo), and the pools to (n, c, Ho, Wo); Flatten changes (n, c, h, w) to
//      (n, c * h * w); the others change nothing. A Sequential may contain a Sequential.
//   4. Conv2d. Attributes in_channels, out_channels, kernel_h, kernel_w, stride_h, stride_w,
//      padding_top, padding_bottom, padding_left, padding_right, dilation_h, dilation_w, groups.
//          Ho = (h + padding_top + padding_bottom - dilation_h * (kernel_h - 1) - 1) / stride_h + 1
//      and Wo likewise, with the integer division of C. A pool follows the same rule with its own
//      attributes (it has no groups; an AvgPool2d has no dilation: take 1). layer_attribute returns
//      false where a layer does not have the attribute.
//   5. An input that does not fit is an error, STATUS_SHAPE: its last size is not in_features of a
//      Linear; or the input of a Conv2d or pool does not have four sizes, has the wrong number of
//      channels, or is smaller than the kernel.
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

// Stores in *flops the FLOPs of one forward pass of ONE sample by the table above. `input` is the
// shape of the whole batch, batch first, at least two sizes.
//   [1] Linear: 2 * in * out for every row of the sample.
//   [2] Conv2d: as in the table; kernel_h and kernel_w may differ, groups divide once.
//   [3] Ho and Wo of a Conv2d and of a pool: each direction follows its own attributes, which may
//       all differ. A kernel as large as the padded input fits once.
//   [4] ReLU, Sigmoid, Tanh, GELU: 1 for every element of the sample, whatever its dimensions.
//   [5] MaxPool2d, AvgPool2d, Flatten, Dropout: 0; their output shape is the next input shape.
//   [6] Sequential: the sum, to any depth; an empty Sequential costs 0 and changes nothing.
//   [7] A multiply-add counts 2, a bias 0.
//   [8] The result does not contain the batch.
//   [9] The count is exact, in 64 bits.
//  [10] STATUS_UNKNOWN_OP: the model contains a layer whose whole name is not in the table. A
//       container that is not in the table is such a layer, whatever its children are.
//  [11] STATUS_SHAPE: the input does not fit a layer somewhere in the model.
//  [12] The model stays unchanged, and a second call gives the same result; a call with another
//       input gives the count for that input.
// After an error *flops may be anything. Where both errors apply, return either.
Status count_flops(const Layer *model, Shape input, int64_t *flops);

#endif
