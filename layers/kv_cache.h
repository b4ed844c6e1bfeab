// kv_cache.h -- what attention keeps of a sequence that grows: keys and values of every position so
// far, so that a model is given the new positions only. What draws tokens with it:
// train/generate.h.
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

// Of each attention in the model, keys and values as two tensors (batch, heads, max_tokens, d) on
// the context's device, category activation: heads are those of the keys, which several queries may
// share. The model is borrowed; outside kv_cache_forward it is as if there were no cache, and may
// have several. STATUS_INVALID_ARGUMENT: no layer is attention, one sees what comes later, or one
// mixes positions otherwise (LayerType.mixes_positions: a recurrent layer would begin anew with
// each call).
KvCache *kv_cache_new(Layer *model, int64_t batch, int64_t max_tokens);
void kv_cache_free(KvCache *cache); // NULL is fine
// Can this model have one?
bool kv_cache_fits(const Layer *model);

// Runs the model on x (batch, s, ...), whose positions go on behind those that are kept: as many
// rows of the result as layer_forward has for them behind the others. One position or more, up to
// max_tokens in all (STATUS_SHAPE). Without gradients: between no_grad_begin and no_grad_end. After
// a failure what is kept is as it was.
Tensor *kv_cache_forward(KvCache *cache, Tensor *x);
int64_t kv_cache_length(const KvCache *cache); // positions that are kept
void kv_cache_reset(KvCache *cache);           // none are: another sequence
int64_t kv_cache_bytes(const KvCache *cache);  // of all its room; of a position, max_tokens-th part

RIDGEPOINT_API_END

#endif
