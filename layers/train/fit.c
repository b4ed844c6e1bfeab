// fit.c -- the training loop.
#include "layers/train/fit.h"

#include <math.h>

#include "tensor/clock.h"
#include "tensor/given.h"
#include "tensor/memory.h"

// ---- one step ----------------------------------------------------------------------------------
// Copies a loss into memory of its own, one number, to be read later.
static Tensor *keep_number(Tensor *loss) {
    no_grad_begin();
    bool shared = loss->storage && loss->storage->bytes > (int64_t)sizeof(float);
    Tensor *own = shared ? OP_RUN(op_contiguous, NULL, loss) : loss;
    Tensor *number = tensor_keep(own ? tensor_reshape(own, SHAPE_SCALAR) : NULL);
    no_grad_end();
    return number;
}

// The place of a batch among those whose gradients add up to one optimizer step.
typedef struct Turn {
    bool first, last;
    int64_t of; // number of those batches
} Turn;

// Runs one step. A device finishes its work later, and reading a loss waits for all of it: the loss
// goes to *unread, which the caller owns, and the next steps can be queued. On the host *loss is
// known before backward; on meta it is NaN.
static Status step(Layer *model, Optimizer *optimizer, LossFunction function, const Batch *batch,
                   Turn turn, double *loss, Tensor **unread) {
    Scope *scope = scope_open();
    if (turn.first) optimizer_zero_grad(optimizer);
    if (!function) function = loss_cross_entropy;
    Tensor *output = layer_forward(model, batch->images);
    Tensor *mean_loss = function(output, batch->labels);
    bool known = mean_loss && mean_loss->device->on_host;
    *loss = known ? tensor_item(mean_loss) : (double)NAN;
    if (!known || isfinite(*loss)) { // else a step would only spread it over every weight
        autograd_backward_scaled(mean_loss, 1.0f / (float)turn.of);
        if (turn.last) optimizer_step(optimizer);
    }
    bool later = !known && mean_loss && mean_loss->device->has_data;
    if (later && !error_pending()) *unread = keep_number(mean_loss);
    scope_close(scope);
    return error_status();
}

Status train_step(Layer *model, Optimizer *optimizer, Tensor *x, Tensor *labels, double *loss) {
    return train_step_with(model, optimizer, loss_cross_entropy, x, labels, loss);
}

Status train_step_with(Layer *model, Optimizer *optimizer, LossFunction function, Tensor *x,
                       Tensor *labels, double *loss) {
    Batch batch = {.images = x, .labels = labels};
    double known;
    Tensor *unread = NULL;
    Turn turn = {.first = true, .last = true, .of = 1};
    Status status = step(model, optimizer, function, &batch, turn, &known, &unread);
    if (!status && loss) *loss = unread ? tensor_item(unread) : known;
    tensor_free(unread);
    return status ? status : error_status();
}

// ---- the loop ----------------------------------------------------------------------------------
typedef struct Fit {
    Layer *model;
    Optimizer *optimizer;
    Loader *loader;
    FitOptions options;
    FitResult *result;
    double start;
    int64_t planned;     // steps in all
    int64_t steps;       // to be done: fewer after a stop
    double loss, losses; // the last one read; the sum over the epoch
    Tensor *unread[FIT_READ_MOST];
    int n_unread;
} Fit;

static Status take_loss(Fit *fit, const Batch *batch, int64_t step, double loss) {
    fit->loss = loss;
    fit->losses += loss;
    if (isfinite(loss) || !batch->images->device->has_data) return STATUS_OK;
    return train_explain_non_finite(fit->model, batch->images, step, loss);
}

static void forget_unread(Fit *fit) {
    while (fit->n_unread > 0) tensor_free(fit->unread[--fit->n_unread]);
}

// Reads all unread losses at once.
static Status read_losses(Fit *fit, const Batch *batch) {
    float values[FIT_READ_MOST];
    int n = fit->n_unread;
    Scope *scope = scope_open();
    no_grad_begin();
    Tensor *all = tensor_stack(fit->unread, n, 0);
    Status status = all ? tensor_read_floats(all, values) : error_status();
    no_grad_end();
    scope_close(scope);
    forget_unread(fit);
    for (int i = 0; i < n && !status; i++)
        status = take_loss(fit, batch, fit->result->steps - n + i + 1, (double)values[i]);
    return status;
}

// The run's last group may have fewer batches.
static Turn turn_of(const Fit *fit) {
    int64_t many = fit->options.accumulate, place = fit->result->steps % many;
    int64_t left = fit->steps - (fit->result->steps - place); // from the group's first batch on
    int64_t of = left < many ? left : many;
    return (Turn){.first = place == 0, .last = place == of - 1, .of = of};
}

static Status one_step(Fit *fit, const Batch *batch, bool last) {
    const FitOptions *options = &fit->options;
    if (options->schedule) // schedules count the optimizer's steps
        optimizer_set_learning_rate(fit->optimizer,
                                    schedule_rate(options->schedule,
                                                  fit->result->steps / options->accumulate));
    Tensor *unread = NULL;
    double loss;
    Status status =
        step(fit->model, fit->optimizer, options->loss, batch, turn_of(fit), &loss, &unread);
    if (unread) fit->unread[fit->n_unread++] = unread;
    if (status) return status;
    fit->result->steps++;
    fit->result->samples += batch->count;
    last = last || fit->result->steps == fit->steps;
    if (!unread && take_loss(fit, batch, fit->result->steps, loss)) return error_status();
    bool due = last || fit->n_unread == fit->options.read_every;
    return due && fit->n_unread > 0 ? read_losses(fit, batch) : STATUS_OK;
}

static void tell_progress(Fit *fit, int64_t epoch) {
    if (!fit->options.progress) return;
    const FitResult *r = fit->result;
    double seconds = clock_seconds() - fit->start;
    FitProgress progress = {epoch,      fit->options.epochs,
                            r->steps,   fit->planned,
                            fit->loss,  seconds,
                            r->samples, r->steps == fit->steps};
    fit->options.progress(fit->options.argument, &progress);
}

static bool done(const Fit *fit) { return fit->result->steps >= fit->steps; }

// Ends the run with the next batch if the caller asks for it and the batch completes a group.
static void look_for_end(Fit *fit) {
    const FitOptions *options = &fit->options;
    int64_t next = fit->result->steps + 1;
    if (next == fit->planned || next % options->accumulate > 0) return;
    if (options->stop && options->stop()) fit->steps = next;
}

static Status one_epoch(Fit *fit, int64_t epoch) {
    int64_t before = fit->result->steps % loader_batches(fit->loader), batches = before;
    Batch batch;
    fit->losses = 0.0;
    if (before == 0) loader_start_epoch(fit->loader); // else continue inside an earlier run's epoch
    while (!done(fit)) {
        double asked = clock_seconds();
        bool more = loader_next(fit->loader, &batch);
        fit->result->data_wait_seconds += clock_seconds() - asked;
        if (!more) break;
        look_for_end(fit);
        Status status = one_step(fit, &batch, ++batches == loader_batches(fit->loader));
        if (status) return status;
        tell_progress(fit, epoch);
    }
    if (error_pending()) return error_status();
    if (batches > before) fit->result->final_loss = fit->losses / (double)(batches - before);
    fit->result->epochs = epoch;
    return STATUS_OK;
}

// `steps`: number of steps in the whole run.
static Status check_options(FitOptions *options, int64_t steps) {
    if (options->read_every == 0) options->read_every = 50;
    if (options->accumulate == 0) options->accumulate = 1;
    if (options->schedule && schedule_check(options->schedule)) return error_status();
    bool whole = options->accumulate > 0 && options->steps_done % options->accumulate == 0;
    if (!whole && (options->accumulate < 1 || options->steps_done < steps))
        return error_set(STATUS_INVALID_ARGUMENT,
                         "train_fit: gradients of %lld batches are to add up, and %lld steps are "
                         "done. HINT: 1 or more, and steps that are a multiple",
                         (long long)options->accumulate, (long long)options->steps_done);
    if (options->steps_done < 0)
        return error_set(STATUS_INVALID_ARGUMENT, "train_fit: %lld steps are done. HINT: 0 or more",
                         (long long)options->steps_done);
    if (options->read_every >= 1 && options->read_every <= FIT_READ_MOST) return STATUS_OK;
    return error_set(STATUS_INVALID_ARGUMENT,
                     "train_fit: the loss is to be read every %lld steps. HINT: 1 to %d",
                     (long long)options->read_every, FIT_READ_MOST);
}

// Number of steps in the whole run; INT64_MAX where epochs are endless and only max_steps ends it.
static int64_t planned(const FitOptions *options, int64_t batches) {
    int64_t steps;
    if (__builtin_mul_overflow(options->epochs, batches, &steps)) steps = INT64_MAX;
    return options->max_steps > 0 && options->max_steps < steps ? options->max_steps : steps;
}

Status train_fit(Layer *model, Optimizer *optimizer, Loader *loader, FitOptions options,
                 FitResult *result) {
    if (!GIVEN(result)) return STATUS_INVALID_ARGUMENT;
    *result = (FitResult){.final_loss = (double)NAN};
    int64_t batches = loader_batches(loader), first_epoch = 1;
    if (batches < 1) return error_status(); // no loader
    int64_t steps = planned(&options, batches);
    if (check_options(&options, steps)) return error_status();
    first_epoch += options.steps_done / batches;
    result->steps = options.steps_done;
    result->epochs = first_epoch - 1;
    Fit fit = {.model = model,
               .optimizer = optimizer,
               .loader = loader,
               .options = options,
               .result = result,
               .start = clock_seconds(),
               .planned = steps,
               .steps = steps,
               .loss = (double)NAN};
    layer_train(model, true);
    Status status = STATUS_OK;
    for (int64_t epoch = first_epoch; epoch <= options.epochs && !status && !done(&fit); epoch++)
        status = one_epoch(&fit, epoch);
    forget_unread(&fit);
    result->seconds = clock_seconds() - fit.start;
    result->cut_short = fit.steps < fit.planned;
    return status;
}

// ---- evaluation --------------------------------------------------------------------------------
// The likeliest class of each label, in the labels' order; NULL with an error pending.
static Tensor *guesses(Tensor *logits, const Tensor *labels) {
    char text[SHAPE_TEXT], wanted[SHAPE_TEXT];
    bool rows = logits && logits->shape.ndim == labels->shape.ndim + 1;
    Tensor *best = tensor_argmax(logits, rows ? -1 : 1, false);
    if (!best || best->numel == labels->numel) return best;
    error_set(STATUS_SHAPE, "train_accuracy: logits %s, labels %s. HINT: (..., classes) and (...)",
              shape_text(logits->shape, text), shape_text(labels->shape, wanted));
    return NULL;
}

// Number of recognised samples in a batch; a sample with several labels counts as a fraction.
static double count_right(Tensor *logits, const Batch *batch) {
    int64_t right = 0, n = batch->labels->numel;
    Tensor *best = guesses(logits, batch->labels);
    int64_t *guess = best ? memory_new(2 * (size_t)n * sizeof(int64_t)) : NULL;
    if (!guess) return 0.0;
    int64_t *label = guess + n;
    bool read = !tensor_read_labels(best, guess) && !tensor_read_labels(batch->labels, label);
    for (int64_t i = 0; read && i < n; i++) right += guess[i] == label[i];
    memory_free(guess);
    return (double)right * (double)batch->count / (double)n;
}

// The sum of a batch's losses, or without a loss function the number of recognised samples.
static double judge(Layer *model, const Batch *batch, LossFunction loss) {
    Scope *scope = scope_open();
    Tensor *output = layer_forward(model, batch->images), *mean = NULL;
    double sum = 0.0;
    if (!loss)
        sum = count_right(output, batch);
    else if ((mean = loss(output, batch->labels)))
        sum = tensor_item(mean) * (double)batch->count;
    scope_close(scope);
    return sum;
}

static Status judge_all(Layer *model, Loader *loader, LossFunction loss, double *mean) {
    double sum = 0.0;
    int64_t total = 0;
    Batch batch;
    LayerModes modes;
    if (layer_modes_save(model, &modes)) return error_status();
    layer_train(model, false);
    no_grad_begin();
    loader_start_epoch(loader);
    while (!error_pending() && loader_next(loader, &batch)) {
        sum += judge(model, &batch, loss);
        total += batch.count;
    }
    no_grad_end();
    layer_modes_restore(model, &modes);
    *mean = total > 0 ? sum / (double)total : (double)NAN;
    return error_status();
}

Status train_accuracy(Layer *model, Loader *loader, double *accuracy) {
    if (!GIVEN(accuracy)) return STATUS_INVALID_ARGUMENT;
    return judge_all(model, loader, NULL, accuracy);
}

Status train_mean_loss(Layer *model, Loader *loader, LossFunction loss, double *mean) {
    if (!GIVEN(mean)) return STATUS_INVALID_ARGUMENT;
    return judge_all(model, loader, loss ? loss : loss_cross_entropy, mean);
}
