// fit.h -- the training loop around PyTorch's five lines, with progress and the first bad loss.
#ifndef LAYERS_TRAIN_FIT_H
#define LAYERS_TRAIN_FIT_H

#include "layers/train/dataset.h"
#include "layers/train/optimizer.h"
#include "layers/train/schedule.h"

RIDGEPOINT_API_BEGIN

typedef struct FitProgress { // what the callback sees after a step
    int64_t epoch, epochs;   // from 1
    int64_t step, steps;     // of all epochs, from 1
    double loss;             // of this batch; on a device the last that was read
    double seconds;          // since the start
    int64_t samples;         // trained on so far
    bool last;               // no step comes after it
} FitProgress;

typedef struct FitOptions {
    int64_t epochs;
    int64_t max_steps; // 0: no limit
    // 0; or the steps that were done in an earlier run, which this one goes on with: epochs and
    // steps count on from there, and the loader stands where it stood (layers/files/checkpoint.h).
    int64_t steps_done;
    // Of the optimizer's steps: with `accumulate` each of them is so many batches. NULL: its
    // learning rate throughout.
    const Schedule *schedule;
    LossFunction loss;                                             // NULL: loss_cross_entropy
    void (*progress)(void *argument, const FitProgress *progress); // may be NULL
    void *argument;
    // Steps from one reading of a device's losses to the next, 1 to FIT_READ_MOST; 0: 50. To read
    // one is to wait until the device has done what it was given. On the host each is known at
    // once.
    int64_t read_every;
    // Batches whose gradients add up before the optimizer's step, each loss divided by their
    // number: of as many images each, and without statistics of the batch, that is the gradient of
    // one large batch, in the memory of a small one. 0: 1. The run's last ones may be fewer. A step
    // stays one batch everywhere else; steps_done is a multiple, or all that there are to do.
    int64_t accumulate;
    // Asked before the batch that ends an optimizer's step: true makes it the last. NULL: never
    bool (*stop)(void);
} FitOptions;
enum { FIT_READ_MOST = 64 };

typedef struct FitResult {
    int64_t epochs, steps, samples; // done; samples of this run alone
    double final_loss;              // mean over the last epoch's batches, those of this run
    double seconds;                 // training alone
    double data_wait_seconds;       // of it, waiting for the loader
    bool cut_short;                 // FitOptions.stop ended it before all steps were done
} FitResult;

// One batch: zero_grad, forward, cross-entropy, backward, step. *loss is the batch's mean (NaN on
// meta); where it is not finite the parameters are left as they were (running statistics are as
// forward left them), on the host: a device is not waited for before its weights are written, and
// not at all where `loss` is NULL, which it may be.
Status train_step(Layer *model, Optimizer *optimizer, Tensor *x, Tensor *labels, double *loss);
// The same by another loss (NULL: loss_cross_entropy).
Status train_step_with(Layer *model, Optimizer *optimizer, LossFunction function, Tensor *x,
                       Tensor *labels, double *loss);

// Stops at the first loss that is not finite, with STATUS_NON_FINITE naming step and layer; on a
// device once it is read, and by then the weights may have hidden which layer it was.
Status train_fit(Layer *model, Optimizer *optimizer, Loader *loader, FitOptions options,
                 FitResult *result);

// In inference mode, over all that the loader delivers in an epoch: the share of images, or of a
// text's symbols, whose largest logit is their label (STATUS_SHAPE: the model gives no logits (...,
// classes) for labels (...)); the mean loss of a sample (`loss` NULL: loss_cross_entropy).
Status train_accuracy(Layer *model, Loader *loader, double *accuracy);
Status train_mean_loss(Layer *model, Loader *loader, LossFunction loss, double *mean);

RIDGEPOINT_API_END

#endif
