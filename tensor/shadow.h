// shadow.h -- twins: stand-ins, in a dry run (layers/cost.h), for objects from outside it. A twin
// has its original's shape, type and flags, lives on the meta device, and dies with the context.
// tensor_here, layer_here and so on turn any incoming pointer into its twin.
#ifndef TENSOR_SHADOW_H
#define TENSOR_SHADOW_H

#include "tensor/context.h"

// A context on the meta device with twins; it counts the workspace that `target` would use. A
// nested dry run treats the outer one's objects as foreign, too. NULL with an error pending.
Context *shadow_context_new(Device *target);
// The ledger does not count twins made from now on. Twins made before are live, as their originals
// are in the ledger of the real run.
Status shadow_count_no_more(Context *context);
void shadow_free(Context *context);

// For code that makes twins of its own objects. Originals are compared, never followed.
int shadow_depth(void);                             // number of dry runs around the caller
void *shadow_find(const void *original);            // NULL: no twin yet
Status shadow_add(const void *original, void *twin, // owns the twin from now on, also on failure
                  void (*release)(void *twin));

Tensor *shadow_tensor(Tensor *tensor);
bool shadow_is_stranger(const Tensor *tensor);
Tensor *shadow_count(Tensor *tensor); // its twin, made to count in the ledger

// For dispatch: whether the call names foreign tensors. It then runs with twins; writes into a
// foreign tensor go to its twin.
bool shadow_has_strangers(const OpCall *call);
Status shadow_dispatch(OpCall *call);

// The tensor that stands for `tensor` in this context: nearly always itself. NULL stays NULL;
// otherwise NULL means that an error is pending.
static inline Tensor *tensor_here(Tensor *tensor) {
    return context_current()->shadows ? shadow_tensor(tensor) : tensor;
}

// True for a foreign tensor in a dry run: code in there must not end its life.
static inline bool tensor_is_stranger(const Tensor *tensor) {
    return context_current()->shadows && shadow_is_stranger(tensor);
}

#endif
