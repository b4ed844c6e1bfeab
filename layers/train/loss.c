// loss.c -- losses as a call site of their own, and what to say when one is not finite.
#include <math.h>

#include "layers/train/optimizer.h"

Tensor *loss_cross_entropy(Tensor *logits, Tensor *labels) {
    int outer = site_enter(0, "loss", "CrossEntropy");
    Tensor *loss = tensor_cross_entropy(logits, labels);
    site_leave(outer);
    return loss;
}

Tensor *loss_mse(Tensor *prediction, Tensor *target) {
    int outer = site_enter(0, "loss", "MSE");
    Tensor *loss = tensor_mse(prediction, target);
    site_leave(outer);
    return loss;
}

// ---- non-finite values -----------------------------------------------------------------------
typedef struct FiniteWatch {
    Observer observer; // first
    bool found;
    char where[128];
} FiniteWatch;

static void look_at_output(Observer *observer, const OpCall *call) {
    FiniteWatch *watch = (FiniteWatch *)observer;
    const Tensor *out = call->out[0];
    if (watch->found || !out || out->dtype != DTYPE_FLOAT32 || !out->device->on_host ||
        !tensor_is_contiguous(out))
        return;
    const float *values = call_out(call, 0);
    for (int64_t i = 0; i < out->numel && !watch->found; i++) watch->found = !isfinite(values[i]);
    if (!watch->found) return;
    char path[96];
    const Context *context = context_current();
    snprintf(watch->where, sizeof(watch->where), "first in %s (%s)",
             site_path(context, context->site, path, sizeof(path)), call->op->name);
}

Status train_explain_non_finite(Layer *model, Tensor *x, int64_t step, double loss) {
    FiniteWatch watch = {.observer = {.op_end = look_at_output}, .where = "in the loss itself"};
    observer_add(&watch.observer);
    no_grad_begin();
    Scope *scope = scope_open();
    layer_forward(model, x);
    scope_close(scope);
    no_grad_end();
    observer_remove(&watch.observer);
    return error_set(STATUS_NON_FINITE,
                     "training: step %lld: the loss is %g; %s. HINT: a smaller learning rate, or "
                     "look at the input data",
                     (long long)step, loss, watch.where);
}
