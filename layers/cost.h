// cost.h -- what a layer would cost, found by running its own code without running kernels.
#ifndef LAYERS_COST_H
#define LAYERS_COST_H

#include "layers/layer.h"

RIDGEPOINT_API_BEGIN

// Enters a context in which the same code runs on shadows: the model, and every tensor, layer,
// optimizer and loader that comes in from outside, is met by a twin on the meta device, and all
// that is written, frozen, trained or set is the twin's. Ops infer, cost and record as ever, but
// nothing is computed, no tensor data is allocated, and nothing of the real ones is touched. The
// model's parameters are counted as live, so that the context's ledger predicts the real one; the
// rest that comes in is not. What is freed inside and was not made there stays; what is made there
// must be gone at the end.
//
//     Context *dry = dry_run_begin(model);
//     train_step(model, optimizer, x, labels, &loss);      // your own loop, as it is
//     int64_t bytes = dry->ledger->peak.total;
//     dry_run_end(dry);
//
// Reading gives real values. What cannot be met so: a pointer to a tensor's bytes taken before, and
// variables of your own. NULL with an error pending.
Context *dry_run_begin(const Layer *model);
void dry_run_end(Context *context); // leaves and frees it; a pending error moves outwards

typedef struct LayerCost {
    OpCost phase[PHASE_COUNT]; // PHASE_BACKWARD: neither input's nor weight's gradient
    int64_t saved_bytes;       // activations kept for backward, each buffer once
    MemoryUse peak;            // with parameters and gradients; the inputs are the caller's
    int64_t ops, uncounted;    // executed; of them, those without a cost function
} LayerCost;

// Forward, and, when anything in it needs a gradient, backward from a gradient of the output's
// shape. The inputs may live anywhere. Example: a model of any size, in milliseconds:
//     context_set_device(device_meta());  Layer *m = mlp_new(...);  layer_cost(m, &x, 1, &cost);
Status layer_cost(Layer *layer, Tensor *const in[], int n_in, LayerCost *cost);

void cost_add(OpCost *total, OpCost more);

RIDGEPOINT_API_END

#endif
