// test_cuda_transformers.c -- small transformers on the cuda device: a step of each gives the
// references' numbers, and both devices count and keep the same.
#include "layers/cost.h"
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

int main(void) {
    const HarnessTest tests[] = {
        {a_step_gives_the_references_numbers, 2 * SMALL_TRANSFORMERS},
        {a_dry_run_foretells_a_step, SMALL_TRANSFORMERS},
        {NULL, 0},
    };
    return harness_main("cuda_transformers", tests);
}
