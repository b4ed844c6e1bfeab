// generate.h -- text from a language model: each token drawn from what the model expects after
// those before it. A model that can have a cache (kv_cache.h) is given each token once, as long as
// the window holds them all; then, and any other model, the whole window for each.
#ifndef LAYERS_TRAIN_GENERATE_H
#define LAYERS_TRAIN_GENERATE_H

#include "layers/layer.h"

RIDGEPOINT_API_BEGIN

typedef struct GenerateOptions {
    int64_t window; // tokens that the model sees at most: the last ones; >= 1
    // Logits are divided by it: below 1 the likely becomes likelier; 0: always the likeliest, drawn
    // from nothing.
    float temperature;
    bool no_cache;                                  // the whole window for each token
    void (*progress)(void *argument, int64_t made); // may be NULL
    void *argument;
} GenerateOptions;

// Writes ids[given] to ids[count - 1] after ids[0] to ids[given - 1], of which there is one at
// least; room for `count` is the caller's. The model takes ids (1, t) and gives logits (1, t, v).
// It runs in inference mode, and draws from the context's random numbers.
//
//     int64_t ids[200] = {first};
//     generate_tokens(model, (GenerateOptions){.window = 128, .temperature = 0.8f}, ids, 1, 200);
Status generate_tokens(Layer *model, GenerateOptions options, int64_t *ids, int64_t given,
                       int64_t count);

RIDGEPOINT_API_END

#endif
