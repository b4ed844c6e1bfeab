// generation.h -- what it costs and takes to write text with a language model: a forward over the
// prompt until the first token is there, and one for each token behind it, with a cache of keys and
// values (layers/kv_cache.h).
#ifndef PROFILER_MEASURE_GENERATION_H
#define PROFILER_MEASURE_GENERATION_H

#include "profiler/measure/profile.h"

RIDGEPOINT_API_BEGIN

typedef struct Generation {
    int64_t prompt, tokens; // that were given, and were written behind them
    float temperature;
    int64_t *ids; // owned: both; on a device without data the prompt's, and 0
    int64_t cache_bytes, cache_bytes_per_token;
    // Counts of a dry run; latencies from the call to the first token, and of each token after the
    // first, with what picks it. Those of meta have count 0.
    ProfilePhase first, token;
    int64_t position; // of the token that `token` counts: the middle one, so many being before it
} Generation;

typedef struct GenerationOptions {
    float temperature;      // as GenerateOptions has it
    double seconds;         // of repeating the prompt, and of repeating it all: so long, or once
    const Machine *machine; // for verdicts; NULL: none
} GenerationOptions;
GenerationOptions generation_defaults(void); // the likeliest, 1 s, no verdicts

// Writes `tokens` >= 1 behind the ids of the prompt, of which there is one at least, with a batch
// of 1; the model's weights and modes stay. *generation is the caller's; free it with
// generation_free, also after a failure. What a model must be like: kv_cache_new.
Status profile_generation(Layer *model, const int64_t *prompt, int64_t given, int64_t tokens,
                          GenerationOptions options, Generation *generation);
void generation_free(Generation *generation); // NULL is fine
// Tokens a second, after the first; NaN where nothing ran.
double generation_rate(const Generation *generation);

RIDGEPOINT_API_END

#endif
