// test_cuda_transformers.c -- small transformers on the cuda device: a step of each gives the
// references' numbers, and both devices have the same counts and saved bytes; a sequence in pieces,
// with a cache, gives the logits of the whole.
#include "layers/cost.h"
#include "layers/kv_cache.h"
#include "tensor/ops.h"
#include "tests/cuda/cuda_device.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/small_transformers.h"

START_TEST(a_step_gives_the_references_numbers) {
    cuda_device_use();
    small_transformer_check(&small_transformers[_i / 2], _i % 2);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

START_TEST(a_dry_run_foretells_a_step) {
    const SmallTransformer *small = &small_transformers[_i];
    cuda_device_use();
    Layer *model = small->model_new(0.1f, false);
    Tensor *x = small->input_new();
    expect_no_error();
    model_check_dry_run(model, x);
    tensor_free(x);
    layer_free(model);
}
END_TEST

START_TEST(a_cache_gives_the_logits_of_the_whole) {
    enum { S = 7, WORDS = 11 };
    static const int64_t ends[] = {3, 4, 7};
    cuda_device_use();
    Layer *model = _i ? llama_new(small_llama()) : gpt2_new(small_gpt2());
    model_fill(model, 1.0);
    layer_train(model, false);
    no_grad_begin();
    int64_t ids[S] = {3, 1, 4, 1, 5, 9, 2};
    Tensor *all = tensor_from_labels_new(SHAPE(1, S), ids);
    KvCache *cache = kv_cache_new(model, 1, S);
    Scope *scope = scope_open();
    Tensor *whole = layer_forward(model, all);
    float want[S * WORDS], got[S * WORDS];
    ck_assert_int_eq(tensor_read_floats(whole, want), STATUS_OK);
    for (int64_t i = 0, begin = 0; i < 3; begin = ends[i++]) {
        Tensor *x = tensor_from_labels_new(SHAPE(1, ends[i] - begin), ids + begin);
        Tensor *y = kv_cache_forward(cache, x);
        expect_no_error();
        tensor_read_floats(y, got + begin * WORDS);
        tensor_free(x);
    }
    for (int i = 0; i < S * WORDS; i++)
        ck_assert_double_eq_tol((double)got[i], (double)want[i], 1e-5);
    scope_close(scope);
    no_grad_end();
    kv_cache_free(cache);
    tensor_free(all);
    layer_free(model);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_step_gives_the_references_numbers, 2 * SMALL_TRANSFORMERS},
        {a_dry_run_foretells_a_step, SMALL_TRANSFORMERS},
        {a_cache_gives_the_logits_of_the_whole, 2},
        {NULL, 0},
    };
    return harness_main("cuda_transformers", tests);
}
