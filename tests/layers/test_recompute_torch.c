// test_recompute_torch.c -- recomputed layers and accumulated batches compared with PyTorch: the
// same gradients, and the FLOPs of its counter.
#include <math.h>

#include "layers/containers.h"
#include "layers/cost.h"
#include "layers/train/optimizer.h"
#include "tests/fixtures/recompute.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/model_values.h"

static Layer *block_new(void) {
    Layer *block = sequential_new();
    layer_append(block, linear_new(WIDTH, INNER, true));
    layer_append(block, gelu_new());
    layer_append(block, layer_norm_new(SHAPE(INNER), 1e-5f, true));
    layer_append(block, linear_new(INNER, WIDTH, true));
    return block;
}

static Layer *model_new(bool again) {
    Layer *model = sequential_new();
    for (int i = 0; i < 2; i++) {
        Layer *block = block_new();
        layer_append(model, block);
        layer_recompute(block, again);
    }
    layer_append(model, linear_new(WIDTH, CLASSES, true));
    model_fill(model, 1.0);
    return model;
}

static void check_gradients(const Layer *model) {
    ParameterList list;
    ck_assert_int_eq(layer_parameters(model, &list), STATUS_OK);
    ck_assert_int_eq(2 * list.count, (int)(sizeof gradients / sizeof gradients[0]));
    for (int i = 0; i < list.count; i++) {
        double sums[2];
        const double *want = &gradients[2 * i];
        model_sums(tensor_grad(list.items[i].tensor), sums);
        for (int k = 0; k < 2; k++)
            ck_assert_msg(fabs(sums[k] - want[k]) <= 1e-5 * want[0], "%s: %.9g, not %.9g",
                          list.items[i].path, sums[k], want[k]);
    }
    parameter_list_free(&list);
}

// Runs a step with the whole batch in `parts` equal parts.
static void run_step(Layer *model, int64_t parts) {
    int64_t samples = BATCHES * BATCH / parts;
    for (int64_t i = 0; i < parts; i++) {
        Tensor *x = model_input_new(SHAPE(samples, WIDTH), 7 + i * samples * WIDTH);
        Tensor *target = model_input_new(SHAPE(samples, CLASSES), 900 + i * samples * CLASSES);
        Scope *scope = scope_open();
        Tensor *loss = loss_mse(layer_forward(model, x), target);
        ck_assert_int_eq(autograd_backward_scaled(loss, 1.0f / (float)parts), STATUS_OK);
        scope_close(scope);
        tensor_free(x);
        tensor_free(target);
    }
}

// Bit 0 of _i: blocks run again; bit 1: the batch comes in four parts.
START_TEST(gradients_are_pytorchs) {
    Layer *model = model_new(_i & 1);
    run_step(model, _i & 2 ? BATCHES : 1);
    expect_no_error();
    check_gradients(model);
    layer_free(model);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

static uint64_t flops_of(const LayerCost *cost) {
    uint64_t macs = 0;
    for (int p = 0; p < PHASE_COUNT; p++) macs += cost->phase[p].macs;
    return 2 * macs;
}

START_TEST(flops_are_those_of_pytorchs_counter) {
    Layer *model = model_new(_i == 1);
    Tensor *x = tensor_zeros_new(SHAPE(BATCHES * BATCH, WIDTH));
    LayerCost cost;
    ck_assert_int_eq(layer_cost(model, &x, 1, &cost), STATUS_OK);
    ck_assert_uint_eq(flops_of(&cost), _i ? recomputed_flops : plain_flops);
    ck_assert_uint_eq(2 * cost.phase[PHASE_RECOMPUTE].macs,
                      _i ? recomputed_flops - plain_flops : 0);
    // PyTorch's early stop leaves out the last product of each block.
    uint64_t last = (uint64_t)2 * 2 * BATCHES * BATCH * INNER * WIDTH;
    if (_i) ck_assert_uint_eq(flops_of(&cost) - last, early_stop_flops);
    tensor_free(x);
    layer_free(model);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {gradients_are_pytorchs, 4},
        {flops_are_those_of_pytorchs_counter, 2},
        {NULL, 0},
    };
    return harness_main("recompute_torch", tests);
}
