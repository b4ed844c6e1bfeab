// shadow.c -- the twins of a dry run: a table from foreign objects to their stand-ins.
#include "tensor/shadow.h"

#include <string.h>

#include "tensor/handle.h"
#include "tensor/memory.h"

typedef struct Twin {
    const void *original;
    void *twin;
    void (*release)(void *twin);
} Twin;

typedef struct Shadows {
    int depth;
    Ledger *others; // charged with uncounted twins; NULL: the run's own ledger still counts them
    Twin *entries;  // open addressing, keyed by the original
    int count, capacity; // a power of two, at most half full
} Shadows;

// ---- the table ---------------------------------------------------------------------------------
static Twin *find(const Shadows *self, const void *original) {
    uintptr_t hash = ((uintptr_t)original >> 4) * 0x9E3779B97F4A7C15u;
    for (uintptr_t i = hash >> 32;; i++) {
        Twin *entry = &self->entries[i & (uintptr_t)(self->capacity - 1)];
        if (entry->original == original || !entry->original) return entry;
    }
}

static Status grow(Shadows *self) {
    Shadows bigger = *self;
    bigger.capacity = self->capacity ? 2 * self->capacity : 64;
    bigger.entries = memory_new((size_t)bigger.capacity * sizeof(Twin));
    if (!bigger.entries) return STATUS_OUT_OF_MEMORY;
    for (int i = 0; i < self->capacity; i++)
        if (self->entries[i].original) *find(&bigger, self->entries[i].original) = self->entries[i];
    memory_free(self->entries);
    *self = bigger;
    return STATUS_OK;
}

int shadow_depth(void) {
    const Shadows *self = context_current()->shadows;
    return self ? self->depth : 0;
}

void *shadow_find(const void *original) {
    const Shadows *self = context_current()->shadows;
    return self->count > 0 ? find(self, original)->twin : NULL;
}

Status shadow_add(const void *original, void *twin, void (*release)(void *twin)) {
    Shadows *self = context_current()->shadows;
    if (2 * self->count >= self->capacity && grow(self)) {
        release(twin);
        return STATUS_OUT_OF_MEMORY;
    }
    *find(self, original) = (Twin){original, twin, release};
    self->count++;
    return STATUS_OK;
}

// ---- the end -----------------------------------------------------------------------------------
static void release_storage(void *twin) { storage_release(twin); }

// Owners that were added to the original were added to the twin, too; some may have been given back
// to the original only.
static void release_tensor(void *twin) {
    for (int owners = ((Tensor *)twin)->owners; owners > 0; owners--) tensor_disown(twin);
}

static bool is_of_tensor(const Twin *twin) {
    return twin->release == release_tensor || twin->release == release_storage;
}

void shadow_free(Context *context) {
    Shadows *self = context->shadows;
    if (!self) return;
    for (int tensors = 0; tensors < 2; tensors++) // tensors last: other twins own some
        for (int i = 0; i < self->capacity; i++) {
            const Twin *entry = &self->entries[i];
            if (entry->original && is_of_tensor(entry) == (tensors == 1))
                entry->release(entry->twin);
        }
    ledger_release(self->others);
    memory_free(self->entries);
    memory_free(self);
    context->shadows = NULL;
}

// ---- the context -------------------------------------------------------------------------------
Context *shadow_context_new(Device *target) {
    int depth = shadow_depth() + 1;
    Context *context = context_new();
    if (!context) return NULL;
    context->device = device_meta();
    context->target = target;
    context->shadows = memory_new(sizeof(Shadows));
    if (context->shadows) {
        context->shadows->depth = depth;
        return context;
    }
    context_free(context);
    return NULL;
}

Status shadow_count_no_more(Context *context) {
    context->shadows->others = ledger_new();
    return context->shadows->others ? STATUS_OK : STATUS_OUT_OF_MEMORY;
}

// ---- tensors -----------------------------------------------------------------------------------
static Storage *make_storage(Context *context, const Storage *original) {
    Ledger *own = context->ledger;
    Observer *observers = context->observers;
    if (context->shadows->others) {
        context->ledger = context->shadows->others;
        context->observers = NULL;
    }
    Storage *twin = storage_new(device_meta(), original->bytes, original->category);
    if (context->shadows->others) {
        context->ledger = own;
        context->observers = observers;
    }
    if (!twin || shadow_add(original, twin, release_storage)) return NULL;
    return twin;
}

// Views of one buffer become views of one twin.
static Tensor *make_tensor(Context *context, const Tensor *original) {
    Storage *storage = shadow_find(original->storage);
    if (!storage) storage = make_storage(context, original->storage);
    if (!storage) return NULL;
    Tensor *twin =
        handle_new("dry run", (DType)original->dtype, &original->shape, device_meta(), NULL);
    if (!twin) return NULL;
    for (int i = 0; i < original->shape.ndim; i++) twin->stride[i] = original->stride[i];
    twin->offset = original->offset;
    twin->element_bytes = original->element_bytes;
    twin->flags = original->flags & (TENSOR_LEAF_GRAD | TENSOR_CONTIGUOUS);
    twin->storage = storage_retain(storage);
    return shadow_add(original, twin, release_tensor) ? NULL : twin;
}

bool shadow_is_stranger(const Tensor *tensor) {
    const Context *context = context_current();
    if (!tensor || !tensor->storage) return false; // others report freed tensors
    const Ledger *ledger = tensor->storage->ledger;
    return ledger != context->ledger && ledger != context->shadows->others;
}

Tensor *shadow_tensor(Tensor *tensor) {
    if (!shadow_is_stranger(tensor)) return tensor;
    Tensor *twin = shadow_find(tensor);
    return twin ? twin : make_tensor(context_current(), tensor);
}

Tensor *shadow_count(Tensor *tensor) {
    Shadows *self = context_current()->shadows;
    Ledger *others = self->others;
    self->others = NULL;
    Tensor *twin = shadow_tensor(tensor);
    self->others = others;
    return twin;
}

// ---- ops ---------------------------------------------------------------------------------------
bool shadow_has_strangers(const OpCall *call) {
    bool found = false;
    for (int i = 0; i < call->n_in; i++) found = found || shadow_is_stranger(call->in[i]);
    for (int i = 0; i < OP_MAX_OUTPUTS; i++) found = found || shadow_is_stranger(call->out[i]);
    return found;
}

Status shadow_dispatch(OpCall *call) {
    Tensor **given = call->in, *out[OP_MAX_OUTPUTS];
    Status status = error_status();
    memcpy(out, call->out, sizeof(out));
    call->in = status ? NULL : memory_new((size_t)call->n_in * sizeof(Tensor *));
    for (int i = 0; i < call->n_in && call->in; i++) call->in[i] = tensor_here(given[i]);
    for (int i = 0; i < OP_MAX_OUTPUTS && call->in; i++) call->out[i] = tensor_here(out[i]);
    status = error_status();
    if (!status) status = op_dispatch(call);
    for (int i = 0; i < OP_MAX_OUTPUTS; i++)
        if (status || out[i]) call->out[i] = status ? NULL : out[i];
    memory_free(call->in);
    call->in = given;
    return status;
}
