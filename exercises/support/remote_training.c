// remote_training.c -- the parts of a training step: they run here on the meta device, and the
// grader decides their times. Only exercise 10's worker has them, and autograd with them.
#include "exercises/support/remote.h"
#include "exercises/support/worker.h"

Tensor *lab_loss_cross_entropy(Tensor *logits, Tensor *labels) {
    Tensor *loss = remote_breaks("loss_cross_entropy") ? NULL : loss_cross_entropy(logits, labels);
    if (loss) worker_note(NOTE_LOSS, 0);
    return loss;
}

Status lab_autograd_backward(Tensor *loss) {
    if (remote_breaks("autograd_backward")) return STATUS_DEVICE;
    Status status = autograd_backward(loss);
    if (!status) worker_note(NOTE_BACKWARD, 0);
    return status;
}

void lab_optimizer_zero_grad(Optimizer *optimizer) {
    optimizer_zero_grad(optimizer);
    worker_note(NOTE_ZERO_GRAD, 0);
}

Status lab_optimizer_step(Optimizer *optimizer) {
    if (remote_breaks("optimizer_step")) return STATUS_DEVICE;
    Status status = optimizer_step(optimizer);
    if (!status) worker_note(NOTE_OPTIMIZER, 0);
    return status;
}
