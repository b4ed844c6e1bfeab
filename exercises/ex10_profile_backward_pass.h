// ex10_profile_backward_pass.h -- exercise 10: what a training step takes, measured.
//
// WHY    "Backward is twice forward" is on every slide. This is a count, and a rough one: for every
//        product of a layer, backward has two of the same size, one for the gradient of the weight
//        and one for the gradient of the input. But the first layer's input is data, and nobody
//        wants its gradient; a frozen layer's weight needs none either. And the rule counts
//        products, not time: activations, memory traffic and another order of access make
//        backward 1.3 times as long as forward here, 3 times there. So count both parts, and
//        measure the time. The optimizer is a part of the step, too: it touches every parameter,
//        its gradient and its state, and on a small batch it can take as long as forward.
//
// TODO   Write profile_backward_pass in exercises/ex10_profile_backward_pass.c.
//
// APPROACH  [1] to [14] are the requirements: each has a case that fails without it.
//   1. [1] A step is: optimizer_zero_grad(optimizer); output = layer_forward(model, x);
//      loss = loss_cross_entropy(output, labels); autograd_backward(loss);
//      optimizer_step(optimizer). Every step begins with optimizer_zero_grad, the first one too:
//      gradients may be there before you are called, and each backward adds to them.
//      [2] Run a step to warm up (more than one is fine), and do not count its time.
//   2. Run another one with CLOCK_MONOTONIC read right before and right after [3] layer_forward,
//      [4] autograd_backward and [5] optimizer_step: three differences, in seconds. The loss and
//      zero_grad take time, too, and are in none of them.
//      [13] layer_forward and loss_cross_entropy return NULL when they fail: return error_status().
//      If a call returns a status other than STATUS_OK, return it. Both hold for every step.
//   3. [6] step_seconds is the sum of the three; [7] backward_ratio is backward / forward as
//      measured; [8] optimizer_share is the optimizer's part of step_seconds, 0 to 1.
//   4. FLOPs of the whole batch, products only: layers with a weight (Linear, Conv2d) count
//      reference_count_flops(layer, input, ...) * batch; all others count 0 here. Sequentials may
//      contain Sequentials; the batch is the first size of the input.
//          [9]  forward_flops           every product
//          [10] weight_gradient_flops   the products whose weight wants a gradient
//          [11] input_gradient_flops    the products whose input depends on a parameter that wants
//                                       a gradient: a layer BEFORE it has such a parameter, even
//                                       just a bias. The first layer never counts
//          [12] backward_flops          the sum of the last two
//      parameters[i].tensor->flags & TENSOR_LEAF_GRAD tells whether a parameter wants a gradient;
//      parameters[0] is the weight. A layer may be frozen, or its weight alone, or its bias alone;
//      a weight that two layers share counts in each of them. layer_output_shape carries the shape
//      from layer to layer.
//   5. [14] If you allocate, return STATUS_OUT_OF_MEMORY when malloc gives NULL, and free all
//      memory on every way out.
//
//   You may rely on: no pointer is NULL; x is data, wants no gradient, and has at least one sample;
//   a Sequential runs its children one after the other; only Linear and Conv2d have parameters.
//   If nothing wants a gradient, autograd_backward fails: [13].
//
// EXAMPLE  Linear(4,3) ReLU Linear(3,2) @ 10x4; forward takes 4 ms, backward 6, the optimizer 2.
//     product        forward          weight gradient   input gradient
//     Linear(4,3)    10 * 24 = 240    240               none: x is data
//     Linear(3,2)    10 * 12 = 120    120               120
//                    360              360               120          backward 480, 1.33 * forward
//     step 0.012 s, backward_ratio 6 / 4 = 1.5, optimizer_share 2 / 12 = 0.1667
//   With the first layer frozen: weight gradient 120, input gradient 0 (nothing before
//   the second layer wants a gradient), backward 120.
//
// HINTS
//   * Two functions: one runs a step and fills in three times, one walks over the layers with a
//     shape and a flag "something before me wants a gradient".
//   * ./lab hint 10; pages: ./lab explain backward_twice_forward, first_layer_input_gradient
#ifndef EXERCISES_EX10_PROFILE_BACKWARD_PASS_H
#define EXERCISES_EX10_PROFILE_BACKWARD_PASS_H

#include "exercises/support/reference.h"
#include "layers/train/optimizer.h"

typedef struct BackwardProfile {
    int64_t forward_flops, weight_gradient_flops, input_gradient_flops; // for the whole batch
    int64_t backward_flops;                                             // sum of both gradients
    double forward_seconds, backward_seconds, optimizer_seconds;        // measured, warm
    double step_seconds;                                                // sum of the three
    double backward_ratio;  // backward_seconds / forward_seconds
    double optimizer_share; // part of step_seconds: 0.25, not 25
} BackwardProfile;

// Profiles one training step. Returns STATUS_OK; the status of a part or count that failed [13];
// STATUS_OUT_OF_MEMORY [14]. *profile is only read with STATUS_OK.
Status profile_backward_pass(Layer *model, Optimizer *optimizer, Tensor *x, Tensor *labels,
                             BackwardProfile *profile);

#endif
