// shadow.h -- twins: what the code of a dry run (layers/cost.h) sees in place of what is not its
// own. A twin has its original's shape, type and flags, lives on the meta device, and dies with the
// context. Whatever comes in by a pointer is met by its twin: tensor_here, layer_here and so on.
#ifndef TENSOR_SHADOW_H
#define TENSOR_SHADOW_H

#include "tensor/context.h"

// A context on the meta device that has twins, and takes the workspace that `target` would. Within
// another dry run, what is that one's is somebody else's, too. NULL with an error pending.
Context *shadow_context_new(Device *target);
// What is met from now on is somebody else's business: the ledger does not count it. Until then
// twins are live, as their originals are in the ledger of the real run.
Status shadow_count_no_more(Context *context);
void shadow_free(Context *context);

// For whoever makes twins of objects of their own. Originals are compared, never followed.
int shadow_depth(void);                             // how many dry runs are around the caller
void *shadow_find(const void *original);            // NULL: it was not met yet
Status shadow_add(const void *original, void *twin, // takes the twin, also on failure
                  void (*release)(void *twin));

Tensor *shadow_tensor(Tensor *tensor);
bool shadow_is_stranger(const Tensor *tensor);
Tensor *shadow_count(Tensor *tensor); // the twin, but one that the ledger counts

// For dispatch: does the call name what is somebody else's? Then it is run with twins; what was
// given to be written into is written to in its twin.
bool shadow_has_strangers(const OpCall *call);
Status shadow_dispatch(OpCall *call);

// The tensor that stands for it in this context: nearly always itself. NULL stays NULL; from others
// it comes with an error pending.
static inline Tensor *tensor_here(Tensor *tensor) {
    return context_current()->shadows ? shadow_tensor(tensor) : tensor;
}

// In a dry run, somebody else's: its end is not for the code in there to bring about.
static inline bool tensor_is_stranger(const Tensor *tensor) {
    return context_current()->shadows && shadow_is_stranger(tensor);
}

#endif
