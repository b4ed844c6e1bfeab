// ours.h -- the workloads on the engine, as a user would write them.
#ifndef TESTS_BENCH_OURS_H
#define TESTS_BENCH_OURS_H

#include "layers/train/optimizer.h"

typedef struct OursNet {
    Layer *model;
    Optimizer *optimizer;
    Tensor *x, *labels;
    double loss; // loss of the last step
} OursNet;

// Makes a perceptron with random input and labels; ends the program when memory runs out.
void ours_net_new(OursNet *net, const int64_t *sizes, int n_sizes, int64_t batch,
                  OptimizerConfig config);
void ours_net_free(OursNet *net);
void ours_net_forward(void *net, int64_t times); // without recording
void ours_net_step(void *net, int64_t times);

// Runs an op over and over; each result is freed before the next run.
typedef struct OursOp {
    Tensor *a, *b, *weight, *bias; // weight, bias: of a norm
    Shape row;                     // their shape: a's last size
} OursOp;
void ours_op_new(OursOp *op, Shape shape, bool two);
void ours_op_free(OursOp *op);
void ours_add(void *op, int64_t times);
void ours_relu(void *op, int64_t times);
void ours_gelu(void *op, int64_t times);
void ours_exp(void *op, int64_t times);
void ours_softmax(void *op, int64_t times);
void ours_layer_norm(void *op, int64_t times);

// A run is a chain of OURS_CHAIN relus on one element, so that its time is dispatch only.
enum { OURS_CHAIN = 256 };
void ours_chain(void *op, int64_t times);          // without recording
void ours_chain_backward(void *op, int64_t times); // recorded, then walked back; a wants a gradient

// Ends the program if an error is pending, and prints it.
void ours_check(void);

#endif
