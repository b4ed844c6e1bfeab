// ex03_count_bytes.h -- exercise 03: how many bytes does a forward move?
//
// WHY    Arithmetic is half of the story. Before a number is multiplied it has to come from memory,
//        and the result has to go back; memory is slow, and many layers wait for it rather than for
//        the arithmetic. Two counts, FLOPs and bytes, tell whether a layer waits for memory before
//        anything runs (exercise 04). This is the second count: the traffic that cannot be avoided
//        if every layer reads each of its operands once and writes its result once.
//
//        Traffic is not footprint. Footprint is how much memory is taken; traffic is how much is
//        moved. A hidden activation takes its memory once, but it is moved twice: written by the
//        layer that makes it, read by the next. A larger batch also affects the operands
//        differently: activations grow with the batch, weights are read once however large it is.
//        That is why batching makes a layer faster per sample.
//
// TODO   Write count_bytes in ex03_count_bytes.c. Numbers in [] are the clauses of the contract;
//        cases ask for each of them. All numbers are float32: 4 bytes each [1].
//
//            layer                          reads                            writes
//            Linear, Conv2d                 its input, weight and bias [2]   its output [3]
//            ReLU, Sigmoid, Tanh, GELU,     its input                        its output [4]
//            AvgPool2d
//            Flatten, Dropout               0                                0          [5]
//            Sequential                     the sum of its children                     [6]
//            any other                      STATUS_UNKNOWN_OP: unknown is not zero      [7]
//
//        Flatten is a view: the same numbers, seen in another shape. Dropout does nothing outside
//        training. MaxPool2d is not asked for (it also writes where each maximum was).
//
// APPROACH
//   1. One layer: count the elements of its input, of each of its parameters
//      (layer->parameters[i].tensor->numel) and of its output. layer_output_shape, below, gives
//      the shape of a layer's output, so you need not work it out again as in exercise 02.
//   2. The whole batch: input.dims[0] is the batch, and all of it goes through [8]. Weights and
//      biases do not depend on the batch. The input has 1 to 6 dimensions.
//   3. A Sequential: each child reads what the child before it wrote. A Sequential may contain
//      Sequentials, and an empty one moves nothing.
//   4. Two layers that share a weight both read it [9], because traffic counts what each layer
//      does. (The weight is stored once: exercise 01.) A frozen weight is read like any other.
//
// EXAMPLE
//   Linear(512,512) @ 64x512     reads  4 * (64 * 512 + 512 * 512 + 512) = 1,181,696
//                                writes 4 *  64 * 512                    =   131,072
//   ... @ 1x512                  reads  4 * (     512 + 512 * 512 + 512) = 1,052,672
//                                writes 4 *       512                    =     2,048
//   ReLU @ 64x512                reads 131,072, writes 131,072
//   Linear(4,3) ReLU @ 2x4       reads  4 * (8 + 12 + 3) + 4 * 6 = 116
//                                writes 4 * 6 + 4 * 6            = 48
//   Flatten @ 8x3x4x4            reads 0, writes 0
//
// HINTS  ./lab hint 03; pages: ./lab explain footprint_for_traffic, weights_per_sample
#ifndef EXERCISES_EX03_COUNT_BYTES_H
#define EXERCISES_EX03_COUNT_BYTES_H

#include "exercises/support/layer_shape.h" // layer_output_shape

typedef struct Traffic {
    int64_t bytes_read, bytes_written;
} Traffic;

// Stores in *traffic the bytes that one forward pass of the whole batch moves by the table above,
// whatever *traffic held before [12]; sums are exact, in 64 bits [11]. `input` is the batch's
// shape, batch first. STATUS_UNKNOWN_OP: the model contains, at any depth, a layer that is not in
// the table. STATUS_SHAPE: the input does not fit a layer [10]. Where both apply, return either.
// After a failure *traffic may hold anything.
Status count_bytes(const Layer *model, Shape input, Traffic *traffic);

#endif
