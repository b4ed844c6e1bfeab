// autograd.h -- gradients: a tape that records tensor ops as they run, and the walk back over it.
//
//     tensor_requires_grad(w, true);
//     Tensor *loss = tensor_mean(tensor_mul(w, x), DIM_ALL, false);
//     autograd_backward(loss);            // tensor_grad(w) now holds d loss / d w
//
// Threads: the tape belongs to the context, so backward runs where forward ran.
#ifndef AUTOGRAD_AUTOGRAD_H
#define AUTOGRAD_AUTOGRAD_H

#include "tensor/context.h"
#include "tensor/ops.h"

RIDGEPOINT_API_BEGIN

// Installs a tape in the current context if it has none; tensor_requires_grad does it too.
Status autograd_enable(void);

// Marks a tensor of yours (float32, not an op's result) as a leaf whose gradient is wanted. Ops may
// then write into it in place only between no_grad_begin and no_grad_end.
Status tensor_requires_grad(Tensor *leaf, bool wanted);

// Also keeps the gradient of an op's result; call before backward. STATUS_STATE if the result is
// not part of a graph.
Status tensor_retain_grad(Tensor *result);
// Whether backward brings the tensor a gradient: it is a leaf, or an op's result that depends on a
// leaf and was not walked yet.
bool tensor_wants_grad(const Tensor *tensor);

// The gradient of a leaf or of a result that retains it, owned by the tensor; NULL when none has
// arrived (no error). For other results STATUS_STATE is pending.
Tensor *tensor_grad(Tensor *tensor);
void tensor_zero_grad(Tensor *tensor); // marks the gradient empty; touches no memory

// Adds d loss / d leaf to every leaf that `loss` depends on, and frees the graph behind the loss;
// graphs of other losses stay. The loss has one element. STATUS_STATE, with nothing changed, if the
// loss was not recorded, if it or part of its graph was walked already, or if a saved buffer was
// written in place since. If memory runs out on the way, the graph is gone and the gradients are
// partial: zero them and run forward again.
Status autograd_backward(Tensor *loss);
Status autograd_backward_keep(Tensor *loss); // keeps the graph, so it can be walked again
// Walks back from factor x loss, without an op for the product: factor 1 / n for each of n batches
// makes their gradients add up to those of one large batch.
Status autograd_backward_scaled(Tensor *loss, float factor);
// Starts from a gradient of the output's shape instead of 1.
Status autograd_backward_from(Tensor *output, Tensor *grad_output);

// A graph lives as long as somebody can ask it for a gradient: it goes with the last of its
// results, so a forward without backward leaves nothing behind. Current totals:
int64_t autograd_saved_bytes(void); // kept for backward, each storage once, activations only
int autograd_node_count(void);

// Whether a layer's forward is running again for backward (layer_recompute). State that forward
// changes besides its results was changed the first time.
bool autograd_recomputing(void);

// Compares backward with central differences, element by element.
//     bool wrong = autograd_gradcheck(f, NULL, inputs, 2, gradcheck_defaults(), stderr);
typedef Tensor *(*GradcheckFunction)(Tensor *const inputs[], int n_inputs, void *user);
typedef struct GradcheckOptions {
    float step;               // h of (f(x-2h) - 8 f(x-h) + 8 f(x+h) - f(x+2h)) / 12h
    float absolute, relative; // |analytic - numeric| <= absolute + relative * |numeric|
    uint64_t seed;            // seed of the random weights that make the output a scalar
} GradcheckOptions;
GradcheckOptions gradcheck_defaults(void);
// Inputs are contiguous float32 leaves of yours; int64 ones are passed along unchecked. STATUS_OK
// if every element agrees; STATUS_INVALID_ARGUMENT if not, with a readable table of the worst
// elements on `report` (may be NULL); other statuses if the function itself failed.
Status autograd_gradcheck(GradcheckFunction function, void *user, Tensor *const inputs[],
                          int n_inputs, GradcheckOptions options, FILE *report);

RIDGEPOINT_API_END

#endif
