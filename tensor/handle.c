// handle.c -- tensor handles: creation, recycling, and their owners and references.
#include "tensor/handle.h"

#include <string.h>

#include "tensor/memory.h"

static Tensor *obtain(Context *context) {
    if (!memory_request()) {
        error_set(STATUS_OUT_OF_MEMORY, "tensor: no room for a handle");
        return NULL;
    }
    Tensor *tensor = context->free_tensors;
    if (!tensor) return memory_new(sizeof(Tensor));
    context->free_tensors = tensor->scope_next;
    return tensor;
}

static Status bad_shape(const char *what, const Shape *shape, Status status, const char *why) {
    char text[SHAPE_TEXT];
    return error_set(status, "%s: shape %s: %s", what, shape_text(*shape, text), why);
}

// Sets row-major strides and the element count; refuses shapes whose bytes exceed int64.
static Status set_shape(const char *what, Tensor *t, const Shape *shape) {
    if (shape->ndim < 0 || shape->ndim > TENSOR_MAX_DIMS)
        return error_set(STATUS_SHAPE, "%s: %d dimensions. HINT: at most %d", what, shape->ndim,
                         TENSOR_MAX_DIMS);
    t->shape = *shape;
    int64_t numel = 1, span = 1; // span ignores zeros, so that an empty shape cannot hide overflow
    for (int i = shape->ndim - 1; i >= 0; i--) {
        int64_t size = shape->dims[i];
        if (size < 0)
            return bad_shape(what, shape, STATUS_SHAPE,
                             "a dimension is negative. HINT: sizes begin at 0");
        t->stride[i] = span;
        if (size > 0 && __builtin_mul_overflow(span, size, &span))
            return bad_shape(what, shape, STATUS_OVERFLOW,
                             "more elements than 2^63. HINT: smaller sizes");
        numel = size == 0 ? 0 : numel ? span : 0;
    }
    if (span > INT64_MAX / 16)
        return bad_shape(what, shape, STATUS_OVERFLOW, "too many bytes. HINT: smaller sizes");
    t->numel = numel;
    return STATUS_OK;
}

Tensor *handle_new(const char *what, DType dtype, const Shape *shape, Device *device,
                   Scope *scope) {
    Context *context = context_current();
    Tensor *t = obtain(context);
    if (!t) return NULL;
    if (set_shape(what, t, shape)) {
        t->scope_next = context->free_tensors;
        context->free_tensors = t;
        return NULL;
    }
    t->storage = NULL;
    t->offset = 0;
    t->device = device;
    t->dtype = (uint8_t)dtype;
    bool counted = dtype == DTYPE_FLOAT32 && !device->has_data; // nobody computes with it
    t->element_bytes = counted ? (uint8_t)precision_bytes(context->precision) : dtype_sizes[dtype];
    t->flags = TENSOR_CONTIGUOUS;
    t->origin_output = 0;
    t->origin = NULL;
    t->owners = t->references = 1;
    t->scope = NULL;
    t->grad = NULL;
    t->grad_empty = false;
    if (scope) scope_adopt(scope, t);
    return t;
}

Status handle_allocate(Tensor *t, MemoryCategory category) {
    if (category == MEM_STAGING) t->element_bytes = dtype_sizes[t->dtype]; // kept as given
    t->storage = storage_new(t->device, tensor_bytes(t), category);
    return t->storage ? STATUS_OK : STATUS_OUT_OF_MEMORY;
}

void handle_update_contiguous(Tensor *t) {
    int64_t expected = 1;
    bool contiguous = true;
    for (int i = t->shape.ndim - 1; i >= 0; i--) {
        if (t->shape.dims[i] != 1 && t->stride[i] != expected) contiguous = false;
        expected *= t->shape.dims[i];
    }
    t->flags = (uint8_t)(contiguous || t->numel == 0 ? t->flags | TENSOR_CONTIGUOUS
                                                     : t->flags & ~TENSOR_CONTIGUOUS);
}

void handle_recycle(Tensor *t) {
    Context *context = context_current();
    if (context->ledger && context->ledger->raw) {
        memory_free(t);
        return;
    }
    t->scope_next = context->free_tensors;
    context->free_tensors = t;
}

void tensor_unrefer(Tensor *t) {
    if (--t->references > 0) return;
    if (t->origin)
        origin_let_go(t->origin);
    else
        handle_recycle(t);
}

void tensor_disown(Tensor *t) {
    if (--t->owners == 0) {
        storage_release(t->storage);
        t->storage = NULL;
        if (t->grad) tensor_disown(t->grad);
        t->grad = NULL;
    }
    tensor_unrefer(t);
}

void handle_free_list(Context *context) {
    for (Tensor *t = context->free_tensors; t;) {
        Tensor *next = t->scope_next;
        memory_free(t);
        t = next;
    }
    context->free_tensors = NULL;
}
