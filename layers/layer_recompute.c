// layer_recompute.c -- marking layers to be run again in backward, and a hash that tells whether a
// marked layer is unchanged. autograd/recompute.c runs it again.
#include "autograd/recompute.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "layers/parts.h"
#include "tensor/given.h"

static void run(void *part, Tensor *const in[], int n_in, Tensor *out[]) {
    layer_run(part, in, n_in, out);
}

static uint64_t mix(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * 0x9E3779B97F4A7C15u;
    return hash ^ hash >> 29;
}

static uint64_t mix_tensor(uint64_t hash, const Tensor *t) {
    hash = mix(hash, (uint64_t)(uintptr_t)t);
    hash = mix(hash, t->flags & TENSOR_LEAF_GRAD);
    return mix(hash, t->storage->version);
}

// Hashes everything that values depend on: layers, their modes, their parameters. Buffers count
// only in evaluation, where they are read and not written; training changes them with every batch.
static uint64_t state_below(uint64_t hash, const Layer *layer) {
    hash = mix(mix(hash, layer->serial), layer->training);
    for (int i = 0; i < layer->n_parameters; i++)
        hash = mix_tensor(hash, layer->parameters[i].tensor);
    for (int i = 0; i < layer->n_buffers && !layer->training; i++)
        hash = mix_tensor(hash, layer->buffers[i].tensor);
    for (int i = 0; i < layer->n_children; i++) hash = state_below(hash, layer->children[i]);
    return hash;
}

static uint64_t state(const void *part) { return state_below(0, part); }

Status layer_recompute_mark(Layer *self) {
    if (self->type->n_outputs > RECOMPUTE_RESULTS)
        return error_set(STATUS_INVALID_ARGUMENT,
                         "layer_recompute: %s gives %d results, and at most %d can be made again. "
                         "HINT: its children, each by itself",
                         self->type->name, self->type->n_outputs, RECOMPUTE_RESULTS);
    if (!self->again)
        self->again = recompute_new((Recompute){.run = run, .state = state, .part = self});
    self->recompute = self->again != NULL;
    return self->again ? STATUS_OK : STATUS_OUT_OF_MEMORY;
}

// A graph that needs to run the layer again then finds that it cannot.
void layer_recompute_forget(Layer *self) {
    if (self->again) self->again->part = NULL;
    recompute_release(self->again);
}

Status layer_recompute(Layer *self, bool recompute) {
    if (error_pending()) return error_status();
    if (!self) return error_set(STATUS_INVALID_ARGUMENT, "layer_recompute: the layer is NULL");
    self = layer_here(self);
    if (!self) return error_status();
    if (recompute && self->type->in_steps)
        return error_set(STATUS_INVALID_ARGUMENT,
                         "%s: the file runs its steps one by one, never the whole. HINT: layers of "
                         "one step can be recomputed",
                         self->name[0] ? self->name : self->type->name);
    if (recompute) return layer_recompute_mark(self);
    self->recompute = false; // recorded graphs may still run it again
    return STATUS_OK;
}

// ---- by path -----------------------------------------------------------------------------------
enum { MOST_PATH = 256 }; // a longer path is matched by its beginning

static Status mark_below(Layer *layer, const char *around, const char *pattern, int64_t *count) {
    for (int i = 0; i < layer->n_children; i++) {
        Layer *child = layer->children[i];
        char path[MOST_PATH];
        snprintf(path, sizeof(path), "%s%s%s", around, around[0] ? "." : "", child->name);
        bool matches = !child->type->in_steps && fnmatch(pattern, path, 0) == 0;
        Status status =
            matches ? layer_recompute_mark(child) : mark_below(child, path, pattern, count);
        if (status) return status;
        *count += matches;
    }
    return STATUS_OK;
}

Status layer_recompute_matching(Layer *self, const char *pattern, int64_t *count) {
    if (!GIVEN(count)) return STATUS_INVALID_ARGUMENT;
    *count = 0;
    if (error_pending()) return error_status();
    if (!self || !pattern)
        return error_set(STATUS_INVALID_ARGUMENT, "layer_recompute_matching: no %s",
                         self ? "pattern" : "layer");
    self = layer_here(self);
    return self ? mark_below(self, "", pattern, count) : error_status();
}

// ---- copying marks -----------------------------------------------------------------------------
static bool is_same_tree(const Layer *a, const Layer *b) {
    bool same = a->n_children == b->n_children;
    for (int i = 0; i < a->n_children && same; i++)
        same = strcmp(a->children[i]->name, b->children[i]->name) == 0 &&
               is_same_tree(a->children[i], b->children[i]);
    return same;
}

static Status mark_as(Layer *layer, const Layer *other) {
    Status status = other->recompute ? layer_recompute_mark(layer) : STATUS_OK;
    if (!other->recompute) layer->recompute = false;
    for (int i = 0; i < layer->n_children && !status; i++)
        status = mark_as(layer->children[i], other->children[i]);
    return status;
}

Status layer_recompute_as(Layer *self, const Layer *other) {
    if (error_pending()) return error_status();
    if (!self || !other)
        return error_set(STATUS_INVALID_ARGUMENT, "layer_recompute_as: the %s is NULL",
                         self ? "other layer" : "layer");
    self = layer_here(self);
    other = layer_here((Layer *)other);
    if (!self || !other) return error_status();
    if (is_same_tree(self, other)) return mark_as(self, other);
    return error_set(STATUS_SHAPE,
                     "layer_recompute_as: %s and %s have not the same children. HINT: two models "
                     "made alike",
                     self->type->name, other->type->name);
}
