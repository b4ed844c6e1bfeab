// handle.h -- internal: making tensor handles, and keeping them alive.
// An owner (the user, a scope) keeps handle and data; a reference keeps only the handle, so that
// records of an op know shapes and the origin of its inputs without keeping bytes.
#ifndef TENSOR_HANDLE_H
#define TENSOR_HANDLE_H

#include "tensor/context.h"

// A handle with row-major strides and no storage. Its one owner is `scope`, or the caller if NULL.
// NULL with an error pending (`what` names the op): bad or overflowing shape, out of memory.
Tensor *handle_new(const char *what, DType dtype, const Shape *shape, Device *device, Scope *scope);
Status handle_allocate(Tensor *tensor, MemoryCategory category); // gives it its own storage
void handle_update_contiguous(Tensor *tensor);                   // call after setting strides
void handle_free_list(Context *context);
// Returns `tensor` if `status`, that of filling it, is OK; otherwise frees it and returns NULL.
Tensor *tensor_filled(Tensor *tensor, Status status);

// The storage's bytes in host memory: in place, or in a copy that `copy` then owns. Gives all
// bytes, because a view may reach any of them. NULL with an error pending.
const char *storage_on_host(const Storage *storage, char **copy);

// As shape_equal, without copying the shapes.
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
void tensor_disown(Tensor *t);  // the last owner frees the data
void tensor_unrefer(Tensor *t); // the last reference recycles the handle, or releases its origin,
                                // which recycles it
void handle_recycle(Tensor *t);
static inline void origin_hold(Origin *origin) { origin->holders++; }
static inline void origin_let_go(Origin *origin) {
    if (--origin->holders == 0) origin->release(origin);
}

void scope_empty(Scope *scope); // as closing an open scope and opening it again
void scope_adopt(Scope *scope, Tensor *tensor);
void scope_forget(Tensor *tensor);
void scope_free_list(Context *context);
void site_free_all(Context *context);

// Removes and returns the lowest set bit: `for (uint64_t left = bits; left;) i = bit_take(&left)`.
static inline int bit_take(uint64_t *bits) {
    int lowest = __builtin_ctzll(*bits);
    *bits &= *bits - 1;
    return lowest;
}

#endif
