// test_dry_cost.c -- the cost of a dry run itself: no tensor data, however large the model, and
// only a moment; and models that cannot be costed. test_cost.c tests the figures.
#include <time.h>

#include "layers/cost.h"
#include "tensor/memory.h"
#include "tests/helpers/expect.h"

static uint64_t macs_of_backward(const LayerCost *cost) {
    return cost->phase[PHASE_BACKWARD].macs + cost->phase[PHASE_BACKWARD_INPUT].macs +
           cost->phase[PHASE_BACKWARD_WEIGHT].macs;
}

// ---- models that no machine could hold --------------------------------------------------------
static double seconds(void) { // processor time of this thread
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

START_TEST(a_model_of_175_billion_parameters_is_costed_at_once_and_without_memory) {
    enum { LAYERS = 12, WIDTH = 120800, BATCH = 512 };
    int64_t sizes[LAYERS + 1];
    for (int i = 0; i <= LAYERS; i++) sizes[i] = WIDTH;
    int64_t reserved = context_ledger()->reserved_bytes;
    uint64_t calls = memory_system_calls();
    double start = seconds();
    context_set_device(device_meta());
    Layer *model = mlp_new(sizes, LAYERS + 1, mlp_defaults());
    Tensor *x = tensor_zeros_new(SHAPE(BATCH, WIDTH));
    LayerCost cost;
    ck_assert_msg(layer_cost(model, &x, 1, &cost) == STATUS_OK, "%s", error_message());
    double elapsed = seconds() - start;
    const uint64_t weights = (uint64_t)LAYERS * WIDTH * WIDTH;
    ck_assert_int_eq(layer_parameter_count(model), (int64_t)weights + LAYERS * WIDTH);
    ck_assert_int_ge(layer_parameter_count(model), 175000000000);
    ck_assert_uint_eq(cost.phase[PHASE_FORWARD].macs, weights * BATCH);
    ck_assert_uint_eq(macs_of_backward(&cost), (2 * weights - weights / LAYERS) * BATCH);
    ck_assert_int_eq(cost.peak.category[MEM_PARAMETER], 4 * layer_parameter_count(model));
    ck_assert_int_eq(context_ledger()->reserved_bytes, reserved);
    ck_assert_uint_lt(memory_system_calls() - calls, 1000);
    ck_assert_msg(elapsed < 0.5, "it took %g s", elapsed); // it usually takes 0.0005 s
    tensor_free(x);
    layer_free(model);
    context_set_device(device_cpu());
}
END_TEST

START_TEST(a_dry_run_of_a_cpu_model_allocates_no_tensor_data) {
    Layer *model = mlp_new((int64_t[]){200, 300, 50}, 3, mlp_defaults());
    Tensor *x = tensor_zeros_new(SHAPE(64, 200));
    Context *context = dry_run_begin(model);
    Scope *scope = scope_open();
    Tensor *y = layer_forward(model, x);
    ck_assert_ptr_eq(y->device, device_meta());
    ck_assert_int_eq(autograd_backward(tensor_mean(y, DIM_ALL, false)), STATUS_OK);
    ck_assert_int_eq(context->ledger->reserved_bytes, 0);
    ck_assert_int_gt(context->ledger->live.category[MEM_GRADIENT], 0);
    ck_assert_int_eq(tensor_bytes(tensor_grad(model->children[0]->parameters[0].tensor)), 240000);
    scope_close(scope);
    dry_run_end(context);
    ck_assert_ptr_null(tensor_grad(model->children[0]->parameters[0].tensor));
    tensor_free(x);
    layer_free(model);
}
END_TEST

START_TEST(what_cannot_run_cannot_be_costed_and_says_why) {
    Layer *model = mlp_new((int64_t[]){4, 3}, 2, mlp_defaults());
    Tensor *x = tensor_zeros_new(SHAPE(2, 5));
    Context *before = context_current();
    LayerCost cost;
    ck_assert_int_eq(layer_cost(model, &x, 1, &cost), STATUS_SHAPE);
    expect_error(STATUS_SHAPE, "linear of (2, 5), (3, 4)");
    Layer *nothing = relu_new(); // no parameter, and int64 input fails
    Tensor *labels = tensor_from_labels_new(SHAPE(1), (int64_t[]){1});
    ck_assert_int_eq(layer_cost(nothing, &labels, 1, &cost), STATUS_DTYPE);
    expect_error(STATUS_DTYPE, "int64");
    layer_free(nothing);
    tensor_free(labels);
    ck_assert_int_eq(layer_cost(NULL, &x, 1, &cost), STATUS_INVALID_ARGUMENT);
    expect_error(STATUS_INVALID_ARGUMENT, "no layer");
    ck_assert_ptr_eq(context_current(), before);
    tensor_free(x);
    layer_free(model);
}
END_TEST

START_TEST(an_input_that_is_recorded_wants_its_gradient_as_a_leaf_does) {
    Layer *model = linear_new(5, 3, true);
    Tensor *leaf = tensor_full_new(SHAPE(8, 5), 1.0f);
    LayerCost of_leaf, of_result;
    tensor_requires_grad(leaf, true);
    Scope *scope = scope_open();
    Tensor *result = tensor_relu(leaf);
    ck_assert_int_eq(layer_cost(model, &leaf, 1, &of_leaf), STATUS_OK);
    ck_assert_int_eq(layer_cost(model, &result, 1, &of_result), STATUS_OK);
    ck_assert_uint_eq(of_result.phase[PHASE_BACKWARD_INPUT].macs, 120);
    ck_assert_mem_eq(of_leaf.phase, of_result.phase, sizeof of_leaf.phase);
    ck_assert_int_eq(autograd_backward(tensor_sum(result, DIM_ALL, false)), STATUS_OK);
    scope_close(scope);
    tensor_free(leaf);
    layer_free(model);
}
END_TEST

START_TEST(without_gradients_there_is_only_a_forward) {
    Layer *model = relu_new();
    Tensor *x = tensor_zeros_new(SHAPE(10));
    LayerCost cost;
    ck_assert_int_eq(layer_cost(model, &x, 1, &cost), STATUS_OK);
    ck_assert_int_eq(cost.ops, 1);
    ck_assert_uint_eq(cost.phase[PHASE_FORWARD].elementwise_flops, 10);
    ck_assert_int_eq(cost.saved_bytes, 0);
    ck_assert_int_eq(cost.peak.total, 40);
    tensor_free(x);
    layer_free(model);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_model_of_175_billion_parameters_is_costed_at_once_and_without_memory, 0},
        {a_dry_run_of_a_cpu_model_allocates_no_tensor_data, 0},
        {what_cannot_run_cannot_be_costed_and_says_why, 0},
        {an_input_that_is_recorded_wants_its_gradient_as_a_leaf_does, 0},
        {without_gradients_there_is_only_a_forward, 0},
        {NULL, 0},
    };
    return harness_main("dry_cost", tests);
}
