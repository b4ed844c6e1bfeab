// generate.h -- text from a language model: draws each token from the model's prediction after
// those before it. With a cache (kv_cache.h), a model reads each token once while the window holds
// them all; after that, and without a cache, it reads the whole window for each token.
#ifndef LAYERS_TRAIN_GENERATE_H
#define LAYERS_TRAIN_GENERATE_H

#include "layers/layer.h"

RIDGEPOINT_API_BEGIN

typedef struct GenerateOptions {
    int64_t window; // the model sees at most this many last tokens; >= 1
    // Divides the logits: below 1 makes likely tokens likelier; 0 always takes the likeliest and
    // draws no random numbers.
    float temperature;
    bool no_cache;                                  // read the whole window for each token
    void (*progress)(void *argument, int64_t made); // may be NULL
    void *argument;
} GenerateOptions;

// Writes ids[given] to ids[count - 1] after ids[0] to ids[given - 1]; `given` is at least 1, and
// the caller's array has room for `count`. The model takes ids (1, t) and gives logits (1, t, v).
// It runs in inference mode, and draws from the context's random numbers.
//
//     int64_t ids[200] = {first};
//     generate_tokens(model, (GenerateOptions){.window = 128, .temperature = 0.8f}, ids, 1, 200);
Status generate_tokens(Layer *model, GenerateOptions options, int64_t *ids, int64_t given,
                       int64_t count);

RIDGEPOINT_API_END

#endif
