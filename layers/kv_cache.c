// kv_cache.c -- keys and values of the positions so far. A model's layers see the cache only while
// kv_cache_forward runs; parts.h declares their functions for it.
#include "layers/kv_cache.h"

#include <math.h>
#include <string.h>

#include "layers/parts.h"
#include "tensor/memory.h"
#include "tensor/ops.h"
#include "tensor/shadow.h"

typedef struct Kept { // of one attention layer
    uint64_t layer;   // its serial, which its twin has, too
    Tensor *keys, *values;
    bool filled; // by the forward that is running
} Kept;

struct KvCache {
    Layer *model;
    int64_t batch, max_tokens, length;
    int64_t fresh; // positions of the forward that is running
    Kept *kept;
    int count;
    int dry_depth; // dry runs in progress when it was made
};

// ---- making one -----------------------------------------------------------------------------
// Number of layers that keep something; -1: *wrong is a layer that cannot be cached.
static int count_keepers(const Layer *self, const Layer **wrong) {
    int64_t size[2];
    int count = self->type->keeps ? 1 : 0;
    if (self->type->mixes_positions || (count && !self->type->keeps(self, size))) {
        *wrong = self;
        return -1;
    }
    for (int i = 0; i < self->n_children; i++) {
        int below = count_keepers(self->children[i], wrong);
        if (below < 0) return -1;
        count += below;
    }
    return count;
}

bool kv_cache_fits(const Layer *model) {
    const Layer *wrong;
    return model && count_keepers(model, &wrong) > 0;
}

static Status check(const Layer *model, int64_t batch, int64_t max_tokens, int *count) {
    const Layer *wrong = NULL;
    *count = model ? count_keepers(model, &wrong) : 0;
    if (!model || batch < 1 || max_tokens < 1)
        return error_set(
            STATUS_INVALID_ARGUMENT,
            "kv_cache_new: %s, a batch of %lld, %lld tokens. HINT: one or more of each",
            model ? "a model" : "no model", (long long)batch, (long long)max_tokens);
    if (wrong)
        return error_set(STATUS_INVALID_ARGUMENT,
                         "kv_cache_new: %s \"%s\" %s. HINT: a cache is for causal self-attention, "
                         "and layers that take each position by itself",
                         wrong->type->name, wrong->name,
                         wrong->type->keeps ? "sees later positions, too"
                                            : "needs the whole sequence at once");
    if (*count > 0) return STATUS_OK;
    return error_set(STATUS_INVALID_ARGUMENT,
                     "kv_cache_new: no layer of this %s keeps keys and values. HINT: gpt2_new and "
                     "llama_new have such, and multihead_attention_new with `causal`",
                     model->type->name);
}

static void add_keepers(KvCache *cache, const Layer *layer) {
    int64_t size[2];
    if (layer->type->keeps && layer->type->keeps(layer, size) && !error_pending()) {
        Kept *kept = &cache->kept[cache->count++];
        Shape shape = SHAPE(cache->batch, size[0], cache->max_tokens, size[1]);
        kept->layer = layer->serial;
        kept->keys = tensor_new_as(shape, DTYPE_FLOAT32, MEM_ACTIVATION);
        kept->values = tensor_new_as(shape, DTYPE_FLOAT32, MEM_ACTIVATION);
    }
    for (int i = 0; i < layer->n_children; i++) add_keepers(cache, layer->children[i]);
}

KvCache *kv_cache_new(Layer *model, int64_t batch, int64_t max_tokens) {
    int count;
    if (error_pending() || check(model, batch, max_tokens, &count)) return NULL;
    KvCache *cache = memory_new(sizeof *cache);
    if (!cache) return NULL;
    *cache = (KvCache){.model = model,
                       .batch = batch,
                       .max_tokens = max_tokens,
                       .kept = memory_new((size_t)count * sizeof(Kept)),
                       .dry_depth = shadow_depth()};
    if (cache->kept) add_keepers(cache, model);
    if (!error_pending()) return cache;
    kv_cache_free(cache);
    return NULL;
}

void kv_cache_free(KvCache *cache) {
    if (!cache || cache->dry_depth < shadow_depth()) return; // belongs outside the dry run
    for (int i = 0; i < cache->count; i++) {
        tensor_free(cache->kept[i].keys);
        tensor_free(cache->kept[i].values);
    }
    memory_free(cache->kept);
    memory_free(cache);
}

// ---- in a dry run: a twin, with a length of its own -----------------------------------------
static void twin_free(void *twin) {
    memory_free(((KvCache *)twin)->kept);
    memory_free(twin);
}

static KvCache *cache_here(const KvCache *cache) {
    KvCache *self = (KvCache *)cache;
    if (!self || self->dry_depth == shadow_depth()) return self;
    KvCache *twin = shadow_find(self);
    if (twin) return twin;
    size_t bytes = (size_t)self->count * sizeof(Kept);
    twin = memory_new(sizeof *twin);
    Kept *kept = memory_new(bytes);
    if (!twin || !kept) {
        memory_free(twin);
        memory_free(kept);
        return NULL;
    }
    *twin = *self;
    twin->kept = memcpy(kept, self->kept, bytes);
    twin->dry_depth = shadow_depth();
    return shadow_add(self, twin, twin_free) ? NULL : twin;
}

// ---- looking --------------------------------------------------------------------------------
int64_t kv_cache_length(const KvCache *cache) {
    const KvCache *self = cache_here(cache);
    return self ? self->length : 0;
}

void kv_cache_reset(KvCache *cache) {
    KvCache *self = cache_here(cache);
    if (self) self->length = 0;
}

int64_t kv_cache_bytes(const KvCache *cache) {
    int64_t bytes = 0;
    for (int i = 0; cache && i < cache->count; i++)
        bytes += tensor_bytes(cache->kept[i].keys) + tensor_bytes(cache->kept[i].values);
    return bytes;
}

// ---- for layers -----------------------------------------------------------------------------
int64_t layer_past(const Layer *self) { return self->cache ? self->cache->length : 0; }

static Kept *kept_of(const Layer *self) {
    KvCache *cache = self->cache;
    for (int i = 0; i < cache->count; i++)
        if (cache->kept[i].layer == self->serial && !cache->kept[i].filled) return &cache->kept[i];
    error_set(STATUS_STATE,
              "%s: its cache has no place for it, or it ran before in the same forward. HINT: make "
              "the cache when the model is whole; each attention runs once",
              self->type->name);
    return NULL;
}

// Appends `more` (b, h, s, d) to the positions of `all` (b, h, max, d); returns all so far, a view.
static Tensor *append(Tensor *all, Tensor *more, int64_t length) {
    int64_t end = more ? length + more->shape.dims[2] : 0;
    Tensor *place = more ? tensor_slice(all, 2, length, end, 1) : NULL;
    if (!place || tensor_assign(place, more)) return NULL;
    tensor_release(place);
    tensor_release(more);
    return tensor_slice(all, 2, 0, end, 1);
}

// A mask (s, t) for s new positions of t: -infinity where a key comes later than the query.
static Tensor *later_keys(const Tensor *q, int64_t t) {
    int64_t s = q->shape.dims[2];
    Context *context = context_current();
    Device *before = context->device;
    context_set_device(q->device);
    Tensor *all = tensor_full_new(SHAPE(s, t), -INFINITY);
    context_set_device(before);
    Tensor *later = tensor_triu(all, t - s + 1);
    tensor_free(all);
    return later;
}

// A first call needs no mask, because tensor_attention's causality begins at the first key, as its
// queries do; a single new query is the last position, and sees all.
Status layer_remember(const Layer *self, Tensor *heads[3], Tensor **mask, bool *causal) {
    if (!self->cache || error_pending()) return error_status();
    Kept *kept = kept_of(self);
    if (!kept) return error_status();
    int64_t past = self->cache->length, fresh = self->cache->fresh;
    if (heads[1] && heads[1]->shape.dims[2] != fresh)
        return error_set(
            STATUS_SHAPE,
            "%s: keys of %lld positions, and %lld are new. HINT: a cache is for models "
            "that neither add nor join positions",
            self->type->name, (long long)heads[1]->shape.dims[2], (long long)fresh);
    heads[1] = append(kept->keys, heads[1], past);
    heads[2] = append(kept->values, heads[2], past);
    kept->filled = true;
    if (past == 0 || error_pending()) return error_status();
    *causal = false;
    if (heads[0]->shape.dims[2] == 1) return STATUS_OK;
    Tensor *later = later_keys(heads[0], heads[1]->shape.dims[2]);
    *mask = *mask ? tensor_add(*mask, later) : later;
    return error_status();
}

// ---- running --------------------------------------------------------------------------------
static void attach(Layer *layer, KvCache *cache) {
    layer->cache = cache;
    for (int i = 0; i < layer->n_children; i++) attach(layer->children[i], cache);
}

static Status check_room(const KvCache *cache, const Tensor *x) {
    char text[SHAPE_TEXT];
    if (!x) return error_set(STATUS_INVALID_ARGUMENT, "kv_cache_forward: no input");
    if (x->shape.ndim < 2 || x->shape.dims[0] != cache->batch || x->shape.dims[1] < 1)
        return error_set(STATUS_SHAPE,
                         "kv_cache_forward: x is %s. HINT: (%lld, s, ...), with one new position "
                         "or more",
                         shape_text(x->shape, text), (long long)cache->batch);
    if (x->shape.dims[1] <= cache->max_tokens - cache->length) return STATUS_OK;
    return error_set(STATUS_SHAPE,
                     "kv_cache_forward: %lld more positions behind %lld, and there is room for "
                     "%lld. HINT: kv_cache_reset begins anew; make a longer cache",
                     (long long)x->shape.dims[1], (long long)cache->length,
                     (long long)cache->max_tokens);
}

Tensor *kv_cache_forward(KvCache *cache, Tensor *x) {
    if (error_pending()) return NULL;
    if (!cache) {
        error_set(STATUS_INVALID_ARGUMENT, "kv_cache_forward: no cache");
        return NULL;
    }
    cache = cache_here(cache);
    Layer *model = cache && !check_room(cache, x) ? layer_here(cache->model) : NULL;
    if (!model) return NULL;
    for (int i = 0; i < cache->count; i++) cache->kept[i].filled = false;
    cache->fresh = x->shape.dims[1];
    attach(model, cache);
    Tensor *y = layer_forward(model, x);
    attach(model, NULL);
    bool all = true;
    for (int i = 0; i < cache->count; i++) all = all && cache->kept[i].filled;
    if (y && !all)
        error_set(STATUS_STATE, "kv_cache_forward: an attention that the cache keeps places for "
                                "did not run. HINT: make the cache when the model is whole");
    if (!y || !all) return NULL;
    cache->length += x->shape.dims[1];
    return y;
}
