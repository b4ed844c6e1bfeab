// fit.h -- the training loop around PyTorch's five lines, with progress and the first bad loss.
#ifndef LAYERS_TRAIN_FIT_H
#define LAYERS_TRAIN_FIT_H

#include "layers/train/dataset.h"
#include "layers/train/optimizer.h"
#include "layers/train/schedule.h"

RIDGEPOINT_API_BEGIN

typedef struct FitProgress { // the callback's view after a step
    int64_t epoch, epochs;   // both counted from 1
    int64_t step, steps;     // over all epochs, counted from 1
    double loss;             // of this batch; on a device, the last one read
    double seconds;          // since the start
    int64_t samples;         // trained on so far
    bool last;               // no step follows
} FitProgress;

typedef struct FitOptions {
    int64_t epochs;
    int64_t max_steps; // 0: no limit
    // Steps done in an earlier run that this one continues, or 0: epochs and steps count on from
    // there, and the loader must be at its position (layers/files/checkpoint.h).
    int64_t steps_done;
    // Counts the optimizer's steps; with `accumulate` each of them is that many batches. NULL: the
    // optimizer's own learning rate throughout.
    const Schedule *schedule;
    LossFunction loss;                                             // NULL: loss_cross_entropy
    void (*progress)(void *argument, const FitProgress *progress); // may be NULL
    void *argument;
    // Steps between readings of a device's losses, 1 to FIT_READ_MOST; 0: 50. Reading one waits
    // until the device has finished its work. On the host each loss is known at once.
    int64_t read_every;
    // Number of batches whose gradients add up before an optimizer step, each loss divided by that
    // number; 0: 1. With batches of equal size and no batch statistics that is the gradient of one
    // large batch, in the memory of a small one. The run's last step may have fewer batches. A step
    // stays one batch everywhere else; steps_done is a multiple, or all steps.
    int64_t accumulate;
    // Called before the batch that ends an optimizer step; true makes it the last one. NULL: never.
    bool (*stop)(void);
} FitOptions;
enum { FIT_READ_MOST = 64 };

typedef struct FitResult {
    int64_t epochs, steps, samples; // done; samples in this run only
    double final_loss;              // mean over this run's batches of the last epoch
    double seconds;                 // training only
    double data_wait_seconds;       // part of `seconds` spent waiting for the loader
    bool cut_short;                 // FitOptions.stop ended it before all steps were done
} FitResult;

// Runs one batch: zero_grad, forward, cross-entropy, backward, step. *loss is the batch's mean (NaN
// on meta). A loss that is not finite leaves the parameters unchanged (running statistics are as
// forward left them) on the host; on a device the weights are written before the loss is read.
// `loss` may be NULL: then a device is not waited for at all.
Status train_step(Layer *model, Optimizer *optimizer, Tensor *x, Tensor *labels, double *loss);
// As train_step, with another loss function (NULL: loss_cross_entropy).
Status train_step_with(Layer *model, Optimizer *optimizer, LossFunction function, Tensor *x,
                       Tensor *labels, double *loss);

// Stops at the first loss that is not finite, with STATUS_NON_FINITE naming step and layer. On a
// device it stops when the loss is read; by then the weights may hide which layer it was.
Status train_fit(Layer *model, Optimizer *optimizer, Loader *loader, FitOptions options,
                 FitResult *result);

// Both run in inference mode over one epoch of the loader. train_accuracy: fraction of images, or
// of a text's symbols, whose largest logit is their label (STATUS_SHAPE: not logits (..., classes)
// for labels (...)). train_mean_loss: mean per sample (`loss` NULL: loss_cross_entropy).
Status train_accuracy(Layer *model, Loader *loader, double *accuracy);
Status train_mean_loss(Layer *model, Loader *loader, LossFunction loss, double *mean);

RIDGEPOINT_API_END

#endif
