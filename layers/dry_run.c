// dry_run.c -- a dry run: the context in which it happens, and the twins of layers in it. What is
// counted meanwhile is cost.c's; the twins of tensors are tensor/shadow.c's.
#include <string.h>

#include "layers/cost.h"
#include "layers/parts.h"
#include "tensor/memory.h"
#include "tensor/shadow.h"

// ---- twins of layers ---------------------------------------------------------------------------
// Frees a twin and what it was given in the run; its child twins stay. The run's end frees all
// twins in any order, so that children need not keep their places.
static void twin_free(void *twin) {
    Layer *self = twin, *parent = self->parent;
    if (parent) {
        Layer *last = parent->children[--parent->n_children];
        parent->children[self->place] = last;
        last->place = self->place;
        self->parent = NULL;
    }
    layer_dismantle(self);
}

// NULL: out of memory. *copied counts the entries so far, so that they can be freed.
static Parameter *copy_list(const Parameter *list, int count, int *copied) {
    Parameter *copies = memory_new((size_t)count * sizeof(Parameter));
    for (int i = 0; copies && i < count && !error_pending(); i++) {
        copies[i].tensor = tensor_retain(list[i].tensor); // the twin owns a reference, too
        copies[i].name = memory_copy_string(list[i].name);
        copies[i].unsaved = list[i].unsaved;
        *copied = i + 1;
    }
    return copies;
}

static Layer *twin_of(Layer *layer);

static Status copy_children(Layer *twin, const Layer *original) {
    twin->children = memory_new((size_t)original->n_children * sizeof(Layer *));
    if (!twin->children) return STATUS_OUT_OF_MEMORY;
    for (int i = 0; i < original->n_children; i++) {
        Layer *child = twin_of(original->children[i]);
        if (!child) return error_status();
        child->parent = twin;
        child->place = twin->n_children;
        twin->children[twin->n_children++] = child;
    }
    return STATUS_OK;
}

// A twin copies the original's numbers and flags; pointers lead to objects that have twins of their
// own. Type.free is not called for it.
static Layer *twin_of(Layer *layer) {
    if (layer->dry_depth == shadow_depth()) return layer;
    Layer *twin = shadow_find(layer);
    if (twin) return twin;
    twin = memory_new(layer->type->size);
    if (!twin) return NULL;
    memcpy(twin, layer, layer->type->size);
    twin->dry_depth = shadow_depth();
    twin->is_twin = true;
    twin->parent = NULL;
    twin->children = NULL;
    twin->again = NULL;
    twin->names = NULL;
    twin->cache = NULL;
    twin->n_children = twin->n_parameters = twin->n_buffers = 0;
    twin->name = memory_copy_string(layer->name);
    twin->parameters = copy_list(layer->parameters, layer->n_parameters, &twin->n_parameters);
    twin->buffers = copy_list(layer->buffers, layer->n_buffers, &twin->n_buffers);
    if (twin->recompute) layer_recompute_mark(twin);
    if (error_pending() || copy_children(twin, layer)) {
        twin_free(twin); // half a twin must not stay
        return NULL;
    }
    return shadow_add(layer, twin, twin_free) ? NULL : twin;
}

Layer *layer_here(Layer *layer) {
    return layer && context_current()->shadows ? twin_of(layer) : layer;
}

// ---- the run -----------------------------------------------------------------------------------
Context *dry_run_begin(const Layer *model) {
    const Context *outer = context_current();
    int threads = outer->threads;
    Precision precision = outer->device->has_data ? PRECISION_FLOAT32 : outer->precision;
    if (!model) {
        error_set(STATUS_INVALID_ARGUMENT, "dry_run_begin: no layer");
        return NULL;
    }
    Context *context = shadow_context_new(outer->target ? outer->target : outer->device);
    if (!context) return NULL;
    context->threads = threads;
    context->precision = precision;
    context_push(context);
    if (context_ledger() && layer_here((Layer *)model) && !shadow_count_no_more(context) &&
        !autograd_enable())
        return context;
    dry_run_end(context);
    return NULL;
}

void dry_run_end(Context *context) {
    if (!context) return;
    context_pop();
    context_free(context);
}
