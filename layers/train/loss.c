// loss.c -- losses with a call site of their own, and the report on a loss that is not finite.
#include <math.h>

#include "layers/train/optimizer.h"
#include "tensor/given.h"
#include "tensor/memory.h"

static int enter(const char *type) { return site_enter(0, "loss", type); }

static Tensor *leave(int outer, Tensor *loss) {
    site_leave(outer);
    return loss;
}

// Makes a row of logits for each label, whatever dimensions both have before that; views.
Tensor *loss_cross_entropy(Tensor *logits, Tensor *labels) {
    int outer = enter("CrossEntropy");
    if (logits && labels && logits->shape.ndim > 2 &&
        labels->shape.ndim == logits->shape.ndim - 1) {
        int64_t classes = logits->shape.dims[logits->shape.ndim - 1];
        logits = tensor_reshape(logits, SHAPE(labels->numel, classes));
        labels = tensor_reshape(labels, SHAPE(labels->numel));
    }
    return leave(outer, tensor_cross_entropy(logits, labels));
}

Tensor *loss_cross_entropy_with(Tensor *logits, Tensor *labels, LabelLoss options) {
    int outer = enter("CrossEntropy");
    return leave(outer, tensor_cross_entropy_with(logits, labels, options));
}

Tensor *loss_nll(Tensor *log_probabilities, Tensor *labels, LabelLoss options) {
    int outer = enter("NLL");
    return leave(outer, tensor_nll(log_probabilities, labels, options));
}

Tensor *loss_mse(Tensor *prediction, Tensor *target) {
    int outer = enter("MSE");
    return leave(outer, tensor_mse(prediction, target));
}

Tensor *loss_l1(Tensor *prediction, Tensor *target) {
    int outer = enter("L1");
    return leave(outer, tensor_l1(prediction, target));
}

Tensor *loss_huber(Tensor *prediction, Tensor *target, float delta) {
    int outer = enter("Huber");
    return leave(outer, tensor_huber(prediction, target, delta));
}

Tensor *loss_binary_cross_entropy(Tensor *logits, Tensor *targets) {
    int outer = enter("BCEWithLogits");
    return leave(outer, tensor_binary_cross_entropy_with_logits(logits, targets));
}

Tensor *loss_kl_divergence(Tensor *log_probabilities, Tensor *targets) {
    int outer = enter("KLDiv");
    return leave(outer, tensor_kl_divergence(log_probabilities, targets));
}

// ---- non-finite values -----------------------------------------------------------------------
typedef struct FiniteWatch {
    Observer observer; // first
    bool found;
    char where[128];
} FiniteWatch;

static bool is_finite(const Tensor *t) { // float32, contiguous, on any device
    bool finite = true, here = t->device->on_host;
    float *copy = here ? NULL : memory_new((size_t)t->numel * sizeof(float));
    if (!here && (!copy || tensor_read_floats(t, copy))) finite = false; // the error says why
    const float *values = here ? (const float *)(const void *)tensor_raw(t) : copy;
    for (int64_t i = 0; finite && i < t->numel; i++) finite = isfinite(values[i]);
    memory_free(copy);
    return finite;
}

static void look_at_output(Observer *observer, const OpCall *call) {
    FiniteWatch *watch = (FiniteWatch *)observer;
    const Tensor *out = call->out[0];
    if (watch->found || !out || out->dtype != DTYPE_FLOAT32 || !tensor_is_contiguous(out) ||
        is_finite(out))
        return;
    watch->found = true;
    char path[96];
    const Context *context = context_current();
    snprintf(watch->where, sizeof(watch->where), "first in %s (%s)",
             site_path(context, context->site, path, sizeof(path)), call->op->name);
}

// On a device the weights were updated meanwhile, with gradients of that very loss.
static bool weights_are_finite(const Layer *model) {
    ParameterList list;
    bool finite = true;
    if (layer_parameters(model, &list)) return true;
    for (int i = 0; i < list.count; i++) finite = finite && is_finite(list.items[i].tensor);
    parameter_list_free(&list);
    return finite;
}

Status train_explain_non_finite(Layer *model, Tensor *x, int64_t step, double loss) {
    if (!GIVEN(model) || !GIVEN(x)) return STATUS_INVALID_ARGUMENT;
    FiniteWatch watch = {.observer = {.op_end = look_at_output}, .where = "in the loss itself"};
    bool too_late = !x->device->on_host && !weights_are_finite(model);
    if (too_late)
        snprintf(watch.where, sizeof(watch.where), "and by now the weights are not finite");
    watch.found = too_late;
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
