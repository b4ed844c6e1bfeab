// ours.h -- the workloads on the engine, as a user would write them.
#ifndef TESTS_BENCH_OURS_H
#define TESTS_BENCH_OURS_H

#include "layers/train/optimizer.h"

typedef struct OursNet {
    Layer *model;
    Optimizer *optimizer;
    Tensor *x, *labels;
    double loss; // of the last step
} OursNet;

// A perceptron with its random input and labels; ends the program when there is no memory.
void ours_net_new(OursNet *net, const int64_t *sizes, int n_sizes, int64_t batch,
                  OptimizerConfig config);
void ours_net_free(OursNet *net);
void ours_net_forward(void *net, int64_t times); // without recording
void ours_net_step(void *net, int64_t times);

// An op over and over, each result freed before the next is asked for.
typedef struct OursOp {
    Tensor *a, *b, *weight, *bias; // the last two: of a norm
    Shape row;                     // theirs: the last size of a
} OursOp;
void ours_op_new(OursOp *op, Shape shape, bool two);
void ours_op_free(OursOp *op);
void ours_add(void *op, int64_t times);
void ours_relu(void *op, int64_t times);
void ours_gelu(void *op, int64_t times);
void ours_exp(void *op, int64_t times);
void ours_softmax(void *op, int64_t times);
void ours_layer_norm(void *op, int64_t times);

// A run is a chain of so many relus of one element, so that dispatch is all there is.
enum { OURS_CHAIN = 256 };
void ours_chain(void *op, int64_t times);          // without recording
void ours_chain_backward(void *op, int64_t times); // recorded, then walked back; a wants a gradient

// Ends the program with the pending error, if there is one.
void ours_check(void);

#endif
