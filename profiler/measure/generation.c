// generation.c -- counts and times of generating text: counts by a dry run of generate_tokens
// (layers/train/generate.c), times between the tokens it reports.
#include "profiler/measure/generation.h"

#include <string.h>

#include "layers/kv_cache.h"
#include "layers/train/generate.h"
#include "profiler/measure/profile_parts.h"
#include "tensor/clock.h"
#include "tensor/given.h"
#include "tensor/memory.h"

GenerationOptions generation_defaults(void) { return (GenerationOptions){.seconds = 1.0}; }

double generation_rate(const Generation *generation) {
    if (!GIVEN(generation)) return (double)NAN;
    return 1.0 / latency_median(&generation->token.latency);
}

void generation_free(Generation *generation) {
    if (!generation) return;
    memory_free(generation->ids);
    memory_free(generation->first.latency.samples);
    memory_free(generation->token.latency.samples);
    *generation = (Generation){0};
}

// ---- counts -----------------------------------------------------------------------------------
static void forward(KvCache *cache, int64_t s) {
    Tensor *x = tensor_new(SHAPE(1, s), DTYPE_INT64);
    Scope *scope = scope_open();
    if (x) kv_cache_forward(cache, x);
    scope_close(scope);
    tensor_free(x);
}

// Counts s positions after `past`, with caches warmed by an earlier run: of the same positions for
// a prompt, of one token before for a token.
static Status count(KvCache *cache, int64_t past, int64_t s, const Machine *machine,
                    ProfilePhase *phase) {
    StepRecord record;
    int64_t warm = past > 0 ? past - 1 : 0;
    kv_cache_reset(cache);
    if (warm > 0) forward(cache, warm);
    step_record_start(&record, machine);
    record.only_traffic = true;
    forward(cache, s);
    record.only_traffic = false;
    if (past == 0) kv_cache_reset(cache);
    forward(cache, s);
    step_record_stop(&record);
    for (int64_t i = 0; i < record.n_ops; i++) {
        cost_add(&phase->cost, record.ops[i].cost);
        traffic_add_op(&phase->traffic, &record.ops[i].traffic, &record.ops[i].cost);
        phase->ops++;
    }
    Status status = error_pending() ? error_status() : record.status;
    step_record_free(&record);
    return status;
}

static Status count_all(Layer *model, const Machine *machine, Generation *generation) {
    int64_t given = generation->prompt, room = given + generation->tokens - 1;
    Context *context = dry_run_begin(model);
    if (!context) return error_status();
    no_grad_begin();
    layer_train(model, false);
    KvCache *cache = kv_cache_new(model, 1, room);
    Status status = cache ? STATUS_OK : error_status();
    generation->cache_bytes = kv_cache_bytes(cache);
    generation->cache_bytes_per_token = generation->cache_bytes / room;
    if (!status) status = count(cache, 0, given, machine, &generation->first);
    generation->position = given + (generation->tokens - 2) / 2;
    if (!status && generation->tokens > 1)
        status = count(cache, generation->position, 1, machine, &generation->token);
    kv_cache_free(cache);
    no_grad_end();
    dry_run_end(context);
    return status;
}

// ---- times ------------------------------------------------------------------------------------
typedef struct Clocked {
    Layer *model;
    Generation *generation;
    int64_t last; // nanoseconds: time of the previous token
} Clocked;

static void token_is_there(void *argument, int64_t made) {
    Clocked *clocked = argument;
    Generation *generation = clocked->generation;
    int64_t now = clock_nanoseconds();
    latency_push(made == 1 ? &generation->first.latency : &generation->token.latency,
                 1e-9 * (double)(now - clocked->last));
    clocked->last = now;
}

static Status write_tokens(Clocked *clocked, int64_t tokens) {
    Generation *generation = clocked->generation;
    int64_t given = generation->prompt;
    GenerateOptions how = {.window = given + generation->tokens,
                           .temperature = generation->temperature,
                           .progress = token_is_there,
                           .argument = clocked};
    clocked->last = clock_nanoseconds();
    return generate_tokens(clocked->model, how, generation->ids, given, given + tokens);
}

// Times prompts and tokens; the first of each kind warms up, and is discarded.
static Status time_all(Layer *model, double seconds, Generation *generation) {
    Clocked clocked = {.model = model, .generation = generation};
    Latency *first = &generation->first.latency, *token = &generation->token.latency;
    int64_t each = generation->tokens - 1, rounds = PROFILE_MOST_SAMPLES;
    Status status = latency_make_room(first, 2 * rounds + 1);
    if (!status) status = latency_make_room(token, rounds * each + 1);
    if (!status) status = write_tokens(&clocked, each > 0 ? 2 : 1);
    first->count = token->count = 0;
    double begun = clock_seconds();
    while (!status && first->count < rounds &&
           (first->count < PROFILE_FEWEST_SAMPLES || clock_seconds() - begun < seconds))
        status = write_tokens(&clocked, 1);
    begun = clock_seconds();
    for (int64_t i = 0; !status && each > 0 && i < rounds; i++) {
        if (i > 0 && clock_seconds() - begun >= seconds) break;
        status = write_tokens(&clocked, each + 1);
    }
    Latency *both[] = {first, token};
    for (int i = 0; i < 2 && !status; i++)
        if (both[i]->count > 0)
            status = statistics_summarise(both[i]->samples, both[i]->count, &both[i]->statistics);
    return status;
}

static void judge(const Machine *machine, ProfilePhase *phase) {
    double seconds = latency_median(&phase->latency);
    RooflineInput input = roofline_input(phase->cost, &phase->traffic, phase->ops, seconds);
    if (phase->ops > 0) phase->roofline = roofline_judge(machine, &input);
}

// ---- all --------------------------------------------------------------------------------------
Status profile_generation(Layer *model, const int64_t *prompt, int64_t given, int64_t tokens,
                          GenerationOptions options, Generation *generation) {
    if (!GIVEN(generation)) return STATUS_INVALID_ARGUMENT;
    *generation = (Generation){.prompt = given, .tokens = tokens};
    generation->temperature = options.temperature;
    if (error_pending()) return error_status();
    if (!model || !prompt || given < 1 || tokens < 1 || given > INT32_MAX || tokens > INT32_MAX)
        return error_set(STATUS_INVALID_ARGUMENT,
                         "profile_generation: %lld tokens behind %lld. HINT: a model, and one or "
                         "more of each",
                         (long long)tokens, (long long)given);
    generation->ids = memory_new((size_t)(given + tokens) * sizeof(int64_t));
    if (!generation->ids) return STATUS_OUT_OF_MEMORY;
    memcpy(generation->ids, prompt, (size_t)given * sizeof(int64_t));
    Status status = count_all(model, options.machine, generation);
    bool runs = context_current()->device->has_data;
    if (!status && runs) status = time_all(model, options.seconds, generation);
    if (!status && options.machine) {
        judge(options.machine, &generation->first);
        judge(options.machine, &generation->token);
    }
    return status;
}
