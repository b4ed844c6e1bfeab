// kv_cache.h -- the keys and values that attention keeps of a growing sequence, for every position
// so far, so that a model needs the new positions only. Drawing tokens with it: train/generate.h.
//
//     KvCache *cache = kv_cache_new(model, 1, 192);           // room for 192 positions
//     Tensor *logits = kv_cache_forward(cache, prompt);       // int64 (1, 128) -> (1, 128, v)
//     Tensor *next = kv_cache_forward(cache, token);          // (1, 1) -> (1, 1, v)
//     kv_cache_free(cache);
#ifndef LAYERS_KV_CACHE_H
#define LAYERS_KV_CACHE_H

#include "layers/layer.h"

RIDGEPOINT_API_BEGIN

typedef struct KvCache KvCache;

// Allocates two tensors for each attention in the model, keys and values, of shape (batch, heads,
// max_tokens, d), on the context's device, category activation. `heads` counts those of the keys,
// which several queries may share. The model is borrowed; outside kv_cache_forward no cache affects
// it, and it may have several. STATUS_INVALID_ARGUMENT: no layer is attention, one sees later
// positions, or one mixes positions otherwise (LayerType.mixes_positions: a recurrent layer would
// start anew with each call).
KvCache *kv_cache_new(Layer *model, int64_t batch, int64_t max_tokens);
void kv_cache_free(KvCache *cache); // NULL is fine
// True if this model can have a cache.
bool kv_cache_fits(const Layer *model);

// Runs the model on x (batch, s, ...), the positions that follow the cached ones, and returns the
// rows of the result that layer_forward on all positions would have for them. One position or more,
// up to max_tokens in all (STATUS_SHAPE). Without gradients: between no_grad_begin and no_grad_end.
// A failure leaves the cached positions as they were.
Tensor *kv_cache_forward(KvCache *cache, Tensor *x);
int64_t kv_cache_length(const KvCache *cache); // number of cached positions
void kv_cache_reset(KvCache *cache);           // empties it, for another sequence
int64_t kv_cache_bytes(const KvCache *cache);  // of all its room; of one position, 1 / max_tokens

RIDGEPOINT_API_END

#endif
