// test_generation.c -- costs and times of writing a text: counts of a prompt and of a token, times
// of each token, the cache's bytes; on meta, at the edges, without memory.
#include <string.h>

#include "layers/cost.h"
#include "layers/models/transformers.h"
#include "profiler/measure/generation.h"
#include "tensor/memory.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/small_transformers.h"

enum { LEVELS = 2 };
static const Machine machine = {
    .measured = false,
    .fingerprint = "",
    .threads = 1,
    .peak_flops_per_second = 1e11,
    .levels = {{.name = "L1", .bytes = 1 << 16, .bytes_per_second = 1e11},
               {.name = "DRAM", .bytes = INT64_MAX, .bytes_per_second = 1e10}},
    .n_levels = LEVELS,
    .dispatch_seconds = 1e-8};

static Layer *model_new(int index) {
    Gpt2Options gpt2 = {.vocab_size = 50, .context = 64, .embed_dim = 24, .layers = 3, .heads = 2};
    LlamaOptions llama = small_llama();
    llama.context = 64;
    Layer *model = index ? llama_new(llama) : gpt2_new(gpt2);
    expect_no_error();
    return model;
}

static const int64_t prompt[5] = {3, 1, 4, 1, 5};

START_TEST(counts_are_the_models_and_times_are_there) {
    GenerationOptions options = generation_defaults();
    options.seconds = 0.0;
    options.machine = &machine;
    Layer *model = model_new(_i);
    Generation g;
    ck_assert_msg(!profile_generation(model, prompt, 5, 12, options, &g), "%s", error_message());
    ck_assert(g.prompt == 5 && g.tokens == 12 && g.position == 10);
    ck_assert_int_eq(g.cache_bytes, 16 * g.cache_bytes_per_token);
    int64_t numbers = _i ? 2 * 2 * 2 * 4 : 3 * 2 * 24; // layers, keys and values, features
    ck_assert_int_eq(g.cache_bytes_per_token, 4 * numbers);
    Tensor *x = tensor_from_labels_new(SHAPE(1, 5), prompt);
    LayerCost whole;
    ck_assert_int_eq(layer_cost(model, &x, 1, &whole), STATUS_OK);
    ck_assert_int_eq((int64_t)g.first.cost.macs, (int64_t)whole.phase[PHASE_FORWARD].macs);
    ck_assert_int_lt((int64_t)g.token.cost.macs, (int64_t)g.first.cost.macs / 4);
    ck_assert_int_ge(g.first.latency.count, 11);
    ck_assert_int_eq(g.token.latency.count, 11); // one text; its first token is the prompt's
    ck_assert(g.first.roofline.judged && g.token.roofline.judged);
    ck_assert(generation_rate(&g) > 0.0 && g.token.latency.statistics.min > 0.0);
    uint64_t levels = traffic_bytes(&g.token.traffic, 0) + traffic_bytes(&g.token.traffic, 1);
    ck_assert_int_eq((int64_t)levels,
                     (int64_t)(g.token.cost.bytes_read + g.token.cost.bytes_written));
    ck_assert_mem_eq(g.ids, prompt, sizeof prompt);
    for (int i = 5; i < 17; i++) ck_assert(g.ids[i] >= 0 && g.ids[i] < 50);
    tensor_free(x);
    generation_free(&g);
    generation_free(&g);
    generation_free(NULL);
    layer_free(model);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

// The meta device gives the same counts; and one token after a prompt of one.
START_TEST(on_meta_it_is_counted) {
    GenerationOptions options = generation_defaults();
    options.seconds = 0.0;
    Layer *model = model_new(_i);
    Generation real, meta;
    ck_assert_int_eq(profile_generation(model, prompt, 5, 7, options, &real), STATUS_OK);
    layer_free(model);
    context_set_device(device_meta());
    model = model_new(_i);
    ck_assert_int_eq(profile_generation(model, prompt, 5, 7, options, &meta), STATUS_OK);
    ck_assert_mem_eq(&real.first.cost, &meta.first.cost, sizeof(OpCost));
    ck_assert_mem_eq(&real.token.cost, &meta.token.cost, sizeof(OpCost));
    ck_assert_int_eq(meta.position, 7); // the earlier of the two middle ones of 6 to 11
    ck_assert(meta.first.latency.count == 0 && meta.token.latency.count == 0);
    ck_assert(isnan(generation_rate(&meta)) && !meta.first.roofline.judged);
    generation_free(&real);
    generation_free(&meta);
    ck_assert_int_eq(profile_generation(model, prompt, 1, 1, options, &meta), STATUS_OK);
    ck_assert(meta.first.ops > 0 && meta.token.ops == 0);
    generation_free(&meta);
    ck_assert_int_eq(profile_generation(model, prompt, 1, 2, options, &meta), STATUS_OK);
    ck_assert(meta.position == 1 && meta.token.cost.macs > meta.first.cost.macs);
    generation_free(&meta);
    layer_free(model);
    ck_assert_int_eq(context_ledger()->live_host_bytes, 0);
}
END_TEST

START_TEST(what_does_not_fit_is_refused) {
    GenerationOptions options = generation_defaults();
    Layer *model = model_new(_i), *other = linear_new(3, 3, true);
    Generation g;
    static const int64_t sizes[][2] = {{0, 3}, {3, 0}, {-1, 3}, {3, -1}, {3, INT64_MAX}};
    for (int i = 0; i < 5; i++) {
        ck_assert(profile_generation(model, prompt, sizes[i][0], sizes[i][1], options, &g));
        expect_error(STATUS_INVALID_ARGUMENT, "HINT: a model, and one or more of each");
        generation_free(&g);
    }
    ck_assert(profile_generation(model, prompt, 5, 61, options, &g));
    expect_error(STATUS_SHAPE, "in a context of 64");
    generation_free(&g);
    ck_assert(profile_generation(other, prompt, 5, 6, options, &g));
    expect_error(STATUS_INVALID_ARGUMENT, "keeps keys and values");
    generation_free(&g);
    options.temperature = -1.0f;
    ck_assert(profile_generation(model, prompt, 5, 6, options, &g));
    expect_error(STATUS_INVALID_ARGUMENT, "temperature -1");
    generation_free(&g);
    layer_free(model);
    layer_free(other);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

START_TEST(any_request_may_fail) {
    GenerationOptions options = generation_defaults();
    options.seconds = 0.0;
    Layer *model = model_new(1);
    int64_t live = expect_live_bytes();
    int failures = 0;
    context_set_threads(1);
    for (uint64_t n = 1; n < 100000; n += 1 + n / 16, failures++) {
        Generation g;
        memory_fail_at(n);
        Status status = profile_generation(model, prompt, 5, 4, options, &g);
        memory_fail_at(0);
        if (status) expect_error(STATUS_OUT_OF_MEMORY, "");
        generation_free(&g);
        ck_assert_int_eq(expect_live_bytes(), live);
        ck_assert(model->training);
        if (!status) break;
    }
    ck_assert_int_gt(failures, 40);
    layer_free(model);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {counts_are_the_models_and_times_are_there, 2},
        {on_meta_it_is_counted, 2},
        {what_does_not_fit_is_refused, 2},
        {any_request_may_fail, 0},
        {NULL, 0},
    };
    return harness_main("generation", tests);
}
