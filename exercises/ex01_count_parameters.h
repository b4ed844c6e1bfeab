// ex01_count_parameters.h -- exercise 01: how many numbers does a model learn?
//
// WHY    The parameters of a model are the numbers that training changes. Their count is the first
//        thing that anybody says about a model ("GPT-2 has 124 million"), and the first that goes
//        into a budget: four bytes each to store it, twelve more to train it with Adam, and about
//        two FLOPs each for every sample that goes through. A count that is wrong by the biases is
//        a rounding error; one that counts a shared matrix twice is wrong by a third for GPT-2; one
//        that does not fit an int is negative. You will write the count that gets all three right.
//
// TODO   Write count_parameters in ex01_count_parameters.c. You read the model, you run nothing.
//
// APPROACH
//   1. One layer first. A Layer owns `n_parameters` parameters; parameters[i].tensor is a Tensor,
//      and its `numel` is the number of its elements. A Linear(in, out) has two parameters: weight
//      (out, in) and bias (out). Add up the elements; the kind of layer does not matter.
//   2. Then the tree. A layer has `n_children` layers below it, children[i], which may have
//      children of their own, to any depth. Their parameters belong to the model, too.
//   3. Then sharing. Two layers may own the SAME tensor: the same address, not the same values. It
//      is learned once and stored once, so it counts once, wherever its owners are in the tree.
//   4. A frozen parameter (training leaves it as it is) is still stored and still multiplied with.
//      It counts. This is the count of all parameters, not of those that are trained.
//
// EXAMPLE
//   Linear(10,5)                           10 * 5 + 5 = 55
//   Linear(4,3) ReLU Linear(3,2)           (4 * 3 + 3) + 0 + (3 * 2 + 2) = 23
//   Linear(10,5,bias=false)                10 * 5 = 50
//   Linear(8,8) Linear(8,8)                72 + 72 = 144
//   ... and with tie(1.weight,0.weight)    64 + 8 + 8 = 80: one weight, two biases
//   Linear(50000,50000)                    2,500,050,000: more than a 32-bit int can say
//
// HINTS  ./lab hint 01; pages: ./lab explain tied_counted_twice, parameters
#ifndef EXERCISES_EX01_COUNT_PARAMETERS_H
#define EXERCISES_EX01_COUNT_PARAMETERS_H

#include "layers/layer.h"

// Stores in *count the number of parameters of `model` and of all layers below it.
//   [1] Elements count, not tensors and not bytes, in every layer, whatever its kind.
//   [2] The whole tree counts, to any depth. A layer without parameters adds 0, and a layer with
//       children may have parameters, too.
//   [3] A tensor with several owners counts once, wherever the owners are and however many tensors
//       are between them. The other parameters of these owners count as usual.
//   [4] Frozen parameters count.
//   [5] The count is exact, in 64 bits.
//   [6] Returns STATUS_OK, or STATUS_OUT_OF_MEMORY if you needed memory and there was none; *count
//       may then be anything.
//   [7] You may use malloc, calloc, realloc and free. Free all that you allocated, whatever you
//       return.
//   [8] The model stays unchanged, and a second call gives the same result.
Status count_parameters(const Layer *model, int64_t *count);

#endif
