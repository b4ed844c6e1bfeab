// handle.h -- internal: making tensor handles, and who keeps them alive.
// An owner keeps handle and data (the user, a scope); a reference keeps the handle alone, so that
// what was recorded of an op knows shapes, and where its inputs came from, without keeping bytes.
#ifndef TENSOR_HANDLE_H
#define TENSOR_HANDLE_H

#include "tensor/context.h"

// A handle with row-major strides and no storage; one owner: the innermost scope, or, with
// `scope` NULL, the caller. NULL with an error pending (`what` names the op): bad or overflowing
// shape, out of memory.
Tensor *handle_new(const char *what, DType dtype, const Shape *shape, Device *device, Scope *scope);
Status handle_allocate(Tensor *tensor, MemoryCategory category); // gives it a storage of its own
void handle_update_contiguous(Tensor *tensor);                   // after strides were set
void handle_free_list(Context *context);
// What was made and then filled; NULL when that went wrong: then it is freed.
Tensor *tensor_filled(Tensor *tensor, Status status);

// The storage's bytes in host memory: its own, or a copy that `copy` then owns. All of them,
// because a view may reach anywhere. NULL with an error pending.
const char *storage_on_host(const Storage *storage, char **copy);

// As shape_equal, which takes copies.
static inline bool same_shape(const Shape *a, const Shape *b) {
    bool same = a->ndim == b->ndim;
    for (int i = 0; same && i < a->ndim; i++) same = a->dims[i] == b->dims[i];
    return same;
}

static inline void tensor_own(Tensor *t) {
    t->owners++;
    t->references++;
}
static inline void tensor_refer(Tensor *t) { t->references++; }
void tensor_disown(Tensor *t);  // the last owner's leaving frees the data
void tensor_unrefer(Tensor *t); // the last reference's leaving recycles the handle, or lets go of
                                // its origin, which does
void handle_recycle(Tensor *t);
static inline void origin_hold(Origin *origin) { origin->holders++; }
static inline void origin_let_go(Origin *origin) {
    if (--origin->holders == 0) origin->release(origin);
}

void scope_empty(Scope *scope); // as closing an open one and opening it again
void scope_adopt(Scope *scope, Tensor *tensor);
void scope_forget(Tensor *tensor);
void scope_free_list(Context *context);
void site_free_all(Context *context);

// Takes the lowest bit that is set: `for (uint64_t left = bits; left;) i = bit_take(&left)`.
static inline int bit_take(uint64_t *bits) {
    int lowest = __builtin_ctzll(*bits);
    *bits &= *bits - 1;
    return lowest;
}

#endif
