// generation.h -- the cost and time of generating text with a language model: a forward over the
// prompt up to the first token, and one forward for each later token, with a cache of keys and
// values (layers/kv_cache.h).
#ifndef PROFILER_MEASURE_GENERATION_H
#define PROFILER_MEASURE_GENERATION_H

#include "profiler/measure/profile.h"

RIDGEPOINT_API_BEGIN

typedef struct Generation {
    int64_t prompt, tokens; // number of given tokens, and of tokens written after them
    float temperature;
    int64_t *ids; // owned: prompt and tokens; without data (meta) the prompt, and 0
    int64_t cache_bytes, cache_bytes_per_token;
    // Counts of a dry run; latencies up to the first token, and of each later token, including the
    // choice of the token. On meta their count is 0.
    ProfilePhase first, token;
    int64_t position; // number of tokens before the token that `token` counts, the middle one
} Generation;

typedef struct GenerationOptions {
    float temperature;      // as in GenerateOptions
    double seconds;         // time to repeat the prompt, and to repeat all; at least once
    const Machine *machine; // for verdicts; NULL: none
} GenerationOptions;
GenerationOptions generation_defaults(void); // the likeliest token, 1 s, no verdicts

// Writes `tokens` >= 1 after the prompt's `given` >= 1 ids, with a batch of 1; the model's weights
// and modes stay. *generation is the caller's; free it with generation_free, also after a failure.
// kv_cache_new states the requirements on the model.
Status profile_generation(Layer *model, const int64_t *prompt, int64_t given, int64_t tokens,
                          GenerationOptions options, Generation *generation);
void generation_free(Generation *generation); // NULL is fine
// Tokens per second after the first; NaN if nothing ran.
double generation_rate(const Generation *generation);

RIDGEPOINT_API_END

#endif
