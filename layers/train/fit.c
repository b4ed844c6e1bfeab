// fit.c -- the training loop.
#include "layers/train/fit.h"

#include <math.h>

#include "tensor/clock.h"
#include "tensor/memory.h"

typedef Tensor *(*LossFunction)(Tensor *output, Tensor *labels);

static Status step(Layer *model, Optimizer *optimizer, LossFunction function, const Batch *batch,
                   double *loss) {
    Scope *scope = scope_open();
    optimizer_zero_grad(optimizer);
    Tensor *output = layer_forward(model, batch->images);
    Tensor *mean_loss = function(output, batch->labels);
    bool known = mean_loss && mean_loss->device->has_data;
    *loss = known ? tensor_item(mean_loss) : (double)NAN;
    if (!known || isfinite(*loss)) { // else a step would only spread it over every weight
        autograd_backward(mean_loss);
        optimizer_step(optimizer);
    }
    scope_close(scope);
    return error_status();
}

Status train_step(Layer *model, Optimizer *optimizer, Tensor *x, Tensor *labels, double *loss) {
    Batch batch = {.images = x, .labels = labels};
    double unasked;
    return step(model, optimizer, loss_cross_entropy, &batch, loss ? loss : &unasked);
}

typedef struct Fit {
    Layer *model;
    Optimizer *optimizer;
    Loader *loader;
    FitOptions options;
    FitResult *result;
    double start;
    int64_t steps; // planned
} Fit;

static Status one_step(Fit *fit, const Batch *batch, int64_t epoch, double *loss) {
    if (fit->options.schedule)
        optimizer_set_learning_rate(fit->optimizer,
                                    schedule_rate(fit->options.schedule, fit->result->steps));
    LossFunction function = fit->options.loss ? fit->options.loss : loss_cross_entropy;
    Status status = step(fit->model, fit->optimizer, function, batch, loss);
    if (status) return status;
    FitResult *r = fit->result;
    r->steps++;
    r->samples += batch->count;
    if (batch->images->device->has_data && !isfinite(*loss))
        return train_explain_non_finite(fit->model, batch->images, r->steps, *loss);
    if (!fit->options.progress) return STATUS_OK;
    FitProgress progress = {epoch, fit->options.epochs,          r->steps,  fit->steps,
                            *loss, clock_seconds() - fit->start, r->samples};
    fit->options.progress(fit->options.argument, &progress);
    return STATUS_OK;
}

static bool done(const Fit *fit) {
    return fit->options.max_steps > 0 && fit->result->steps >= fit->options.max_steps;
}

static Status one_epoch(Fit *fit, int64_t epoch) {
    double total = 0.0;
    int64_t batches = 0;
    Batch batch;
    loader_start_epoch(fit->loader);
    while (!done(fit)) {
        double asked = clock_seconds();
        bool more = loader_next(fit->loader, &batch);
        fit->result->data_wait_seconds += clock_seconds() - asked;
        if (!more) break;
        double loss;
        Status status = one_step(fit, &batch, epoch, &loss);
        if (status) return status;
        total += loss;
        batches++;
    }
    if (error_pending()) return error_status();
    if (batches > 0) fit->result->final_loss = total / (double)batches;
    fit->result->epochs = epoch;
    return STATUS_OK;
}

Status train_fit(Layer *model, Optimizer *optimizer, Loader *loader, FitOptions options,
                 FitResult *result) {
    *result = (FitResult){.final_loss = (double)NAN};
    Fit fit = {model,
               optimizer,
               loader,
               options,
               result,
               clock_seconds(),
               options.epochs * loader_batches(loader)};
    if (options.max_steps > 0 && options.max_steps < fit.steps) fit.steps = options.max_steps;
    layer_train(model, true);
    Status status = STATUS_OK;
    for (int64_t epoch = 1; epoch <= options.epochs && !status && !done(&fit); epoch++)
        status = one_epoch(&fit, epoch);
    result->seconds = clock_seconds() - fit.start;
    return status;
}

static int64_t count_right(Layer *model, const Batch *batch) {
    int64_t right = 0, *guess = memory_new(2 * (size_t)batch->count * sizeof(int64_t));
    if (!guess) return 0;
    int64_t *label = guess + batch->count;
    Scope *scope = scope_open();
    Tensor *best = tensor_argmax(layer_forward(model, batch->images), 1, false);
    bool read =
        best && !tensor_read_labels(best, guess) && !tensor_read_labels(batch->labels, label);
    for (int64_t i = 0; read && i < batch->count; i++) right += guess[i] == label[i];
    scope_close(scope);
    memory_free(guess);
    return right;
}

Status train_accuracy(Layer *model, Loader *loader, double *accuracy) {
    int64_t right = 0, total = 0;
    Batch batch;
    LayerModes modes;
    if (layer_modes_save(model, &modes)) return error_status();
    layer_train(model, false);
    no_grad_begin();
    loader_start_epoch(loader);
    while (!error_pending() && loader_next(loader, &batch)) {
        right += count_right(model, &batch);
        total += batch.count;
    }
    no_grad_end();
    layer_modes_restore(model, &modes);
    *accuracy = total > 0 ? (double)right / (double)total : (double)NAN;
    return error_status();
}
