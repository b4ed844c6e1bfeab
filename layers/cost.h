// cost.h -- what a layer would cost, found by running its own code without running kernels.
#ifndef LAYERS_COST_H
#define LAYERS_COST_H

#include "layers/layer.h"

RIDGEPOINT_API_BEGIN

// Enters a context in which the same code runs on shadows. The model, and every tensor, layer,
// optimizer and loader from outside, is replaced by a twin on the meta device, and every write,
// freeze or change of settings goes to the twin. Ops infer shapes, count costs and record as usual,
// but nothing is computed, no tensor data is allocated, and the real objects stay untouched. The
// model's parameters count as live, so that the context's ledger predicts the real one; other
// outside objects do not. Freeing an outside object does nothing; all that is made inside must be
// freed before the end.
//
//     Context *dry = dry_run_begin(model);
//     train_step(model, optimizer, x, labels, &loss);      // your own loop, as it is
//     int64_t bytes = dry->ledger->peak.total;
//     dry_run_end(dry);
//
// Reading gives real values. Two things escape the run: a pointer to a tensor's bytes taken before
// it, and your own variables. NULL with an error pending.
Context *dry_run_begin(const Layer *model);
void dry_run_end(Context *context); // leaves and frees it; a pending error moves outwards

typedef struct LayerCost {
    OpCost phase[PHASE_COUNT]; // PHASE_BACKWARD: all but the inputs' and weights' gradients
    int64_t saved_bytes;       // activations kept for backward, each buffer once
    MemoryUse peak;            // with parameters and gradients, without the inputs
    int64_t ops, uncounted;    // ops executed; those of them without a cost function
} LayerCost;

// Runs forward and, if anything in it needs a gradient, backward from a gradient of the output's
// shape. The inputs may live anywhere. Example: a model of any size, in milliseconds:
//     context_set_device(device_meta());  Layer *m = mlp_new(...);  layer_cost(m, &x, 1, &cost);
Status layer_cost(Layer *layer, Tensor *const in[], int n_in, LayerCost *cost);

void cost_add(OpCost *total, OpCost more);

RIDGEPOINT_API_END

#endif
