// test_batch_norm_layers.c -- the layers of batch norm: their print and state, statistics that
// follow in training and not in a dry run, refusals, and memory that runs out.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layers/cost.h"
#include "layers/layers2d.h"
#include "profiler/measure/profile.h"
#include "tensor/memory.h"
#include "tests/helpers/expect.h"

// ---- the layers --------------------------------------------------------------------------------
static void expect_printed(Layer *layer, const char *want) {
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    ck_assert_int_eq(layer_print(layer, file), STATUS_OK);
    fclose(file);
    text[strcspn(text, "\n")] = '\0';
    ck_assert_str_eq(text, want);
    free(text);
    layer_free(layer);
}

START_TEST(they_print_as_pytorchs) {
    BatchNormOptions options = batch_norm_defaults();
    expect_printed(batch_norm2d_new(64, options), "BatchNorm2d(64, eps=1e-05, momentum=0.1, "
                                                  "affine=True, track_running_stats=True)");
    options = (BatchNormOptions){.epsilon = 0.001f, .momentum = NAN};
    expect_printed(batch_norm1d_new(3, options), "BatchNorm1d(3, eps=0.001, momentum=None, "
                                                 "affine=False, track_running_stats=False)");
    char text[160];
    int64_t features = 0;
    Layer *norm = batch_norm1d_new(3, options);
    ck_assert_str_eq(layer_attributes_text(norm, text, sizeof text),
                     "num_features=3, eps=0.001, momentum=nan, affine=false, "
                     "track_running_stats=false");
    ck_assert(layer_attribute(norm, "num_features", &features) && features == 3);
    layer_free(norm);
}
END_TEST

START_TEST(their_state_is_pytorchs_and_begins_so) {
    static const char *const names[] = {"weight", "bias", "running_mean", "running_var",
                                        "num_batches_tracked"};
    BatchNormOptions options = batch_norm_defaults();
    Layer *norm = batch_norm2d_new(2, options);
    ParameterList list;
    layer_state(norm, &list);
    ck_assert_int_eq(list.count, 5);
    for (int i = 0; i < 5; i++) ck_assert_str_eq(list.items[i].path, names[i]);
    for (int i = 0; i < 5; i++) ck_assert_int_eq(list.items[i].is_buffer, i > 1);
    expect_values(list.items[0].tensor, 1, 1);
    expect_values(list.items[1].tensor, 0, 0);
    expect_values(list.items[2].tensor, 0, 0);
    expect_values(list.items[3].tensor, 1, 1);
    expect_values(list.items[4].tensor, 0);
    ck_assert_int_eq(list.items[4].tensor->dtype, DTYPE_INT64);
    ck_assert_int_eq(list.items[4].tensor->shape.ndim, 0);
    ck_assert_int_eq(layer_parameter_count(norm), 4);
    parameter_list_free(&list);
    layer_free(norm);
    options.affine = false;
    norm = batch_norm2d_new(2, options);
    ck_assert(norm->n_parameters == 0 && norm->n_buffers == 3);
    layer_free(norm);
    options.track_running_stats = false;
    norm = batch_norm2d_new(2, options);
    ck_assert(norm->n_parameters == 0 && norm->n_buffers == 0);
    layer_free(norm);
}
END_TEST

// Two batches of one channel, {1, 3} and {2, 8}: means 2 and 5, sample variances 2 and 18.
static void run_two(Layer *norm) {
    static const float batches[2][2] = {{1, 3}, {2, 8}};
    for (int i = 0; i < 2; i++) {
        Scope *scope = scope_open();
        Tensor *x = tensor_from_floats_new(SHAPE(2, 1), batches[i]);
        expect_values(layer_forward(norm, x), -1, 1); // epsilon 0
        scope_close(scope);
        tensor_free(x);
    }
}

static Tensor *evaluated(Layer *norm, float a, float b) {
    Tensor *x = tensor_from_floats_new(SHAPE(2, 1), (float[]){a, b});
    Tensor *y = layer_forward(norm, x);
    tensor_free(x);
    return y;
}

START_TEST(running_statistics_follow_in_training_alone) {
    BatchNormOptions options = batch_norm_defaults();
    options.epsilon = 0.0f;
    options.momentum = 0.5f;
    Layer *norm = batch_norm1d_new(1, options);
    Scope *scope = scope_open();
    for (int round = 0; round < 2; round++) {
        layer_train(norm, true);
        if (round == 0) run_two(norm);
        layer_train(norm, false);
        expect_values(norm->buffers[0].tensor, 3.0f);  // 0 / 4 + 2 / 4 + 5 / 2
        expect_values(norm->buffers[1].tensor, 9.75f); // 1 / 4 + 2 / 4 + 18 / 2
        expect_values(norm->buffers[2].tensor, 2);
        float y = 9.75f * (float)(1.0 / sqrt(9.75)), want[] = {y, -y};
        harness_assert_close(tensor_data(evaluated(norm, 12.75f, -6.75f)), want, 2, 0.0, 2e-7,
                             "evaluated");
    }
    layer_free(norm);
    options.momentum = NAN; // equal weights for all batches
    norm = batch_norm1d_new(1, options);
    run_two(norm);
    expect_values(norm->buffers[0].tensor, 3.5f);
    expect_values(norm->buffers[1].tensor, 10.0f);
    layer_free(norm);
    options.track_running_stats = false;
    norm = batch_norm1d_new(1, options);
    layer_train(norm, false); // still uses the batch
    expect_values(evaluated(norm, 7, 9), -1, 1);
    layer_free(norm);
    scope_close(scope);
}
END_TEST

START_TEST(what_they_cannot_take_is_refused) {
    BatchNormOptions options = batch_norm_defaults();
    int64_t live = expect_live_bytes();
    ck_assert_ptr_null(batch_norm2d_new(-1, options));
    expect_error(STATUS_INVALID_ARGUMENT, "BatchNorm2d: -1 features");
    options.epsilon = NAN;
    ck_assert_ptr_null(batch_norm1d_new(3, options));
    expect_error(STATUS_INVALID_ARGUMENT, "BatchNorm1d: epsilon is nan");
    options = batch_norm_defaults();
    options.momentum = INFINITY;
    ck_assert_ptr_null(batch_norm1d_new(3, options));
    expect_error(STATUS_INVALID_ARGUMENT, "momentum is inf");
    const struct {
        bool images;
        Shape x;
        const char *mention;
    } wrong[] = {{false, SHAPE(2, 4), "BatchNorm1d of 3 channels: x is (2, 4). HINT"},
                 {false, SHAPE(3), "it takes (n, channels) or"},
                 {false, SHAPE(2, 3, 2, 2), "x is (2, 3, 2, 2)"},
                 {true, SHAPE(2, 3, 2), "(n, channels, height, width)"},
                 {true, SHAPE(2, 4, 2, 2), "BatchNorm2d of 3 channels"},
                 {true, SHAPE(1, 3, 1, 1), "one value per channel"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        Layer *norm =
            (wrong[i].images ? batch_norm2d_new : batch_norm1d_new)(3, batch_norm_defaults());
        Tensor *x = tensor_zeros_new(wrong[i].x);
        Scope *scope = scope_open();
        ck_assert_ptr_null(layer_forward(norm, x));
        Status status = i == 5 ? STATUS_INVALID_ARGUMENT : STATUS_SHAPE;
        expect_error(status, wrong[i].mention);
        if (i == 5) { // no variance, but evaluation works
            expect_values(norm->buffers[2].tensor, 0);
            layer_train(norm, false);
            ck_assert_ptr_nonnull(layer_forward(norm, x));
        }
        scope_close(scope);
        tensor_free(x);
        layer_free(norm);
    }
    ck_assert_int_eq(expect_live_bytes(), live);
}
END_TEST

// ---- dry runs ----------------------------------------------------------------------------------
enum { SAMPLES = 4, CHANNELS = 3, PLANE = 5, ELEMENTS = SAMPLES * CHANNELS * PLANE };

START_TEST(the_cost_is_that_of_the_closed_formulas_and_nothing_moves) {
    Layer *norm = batch_norm1d_new(CHANNELS, batch_norm_defaults());
    Tensor *x = tensor_zeros_new(SHAPE(SAMPLES, CHANNELS, PLANE));
    tensor_requires_grad(x, true);
    for (int eval = 0; eval < 2; eval++) {
        LayerCost cost;
        layer_train(norm, !eval);
        ck_assert_int_eq(layer_cost(norm, &x, 1, &cost), STATUS_OK);
        const OpCost *forward = &cost.phase[PHASE_FORWARD];
        uint64_t more = eval ? 0 : 4 * 2 * CHANNELS;
        ck_assert_uint_eq(forward->elementwise_flops,
                          (uint64_t)(eval ? 3 : 6) * ELEMENTS + (eval ? 1 : 8) * CHANNELS);
        ck_assert_uint_eq(forward->transcendental_flops, CHANNELS);
        ck_assert_uint_eq(forward->bias_flops, ELEMENTS);
        ck_assert_uint_eq(forward->bytes_read, 4 * (ELEMENTS + 4 * CHANNELS) + (eval ? 0 : 8));
        ck_assert_uint_eq(forward->bytes_written, 4 * ELEMENTS + 2 * more + (eval ? 0 : 8));
        const OpCost *input = &cost.phase[PHASE_BACKWARD_INPUT]; // includes dweight and dbias
        ck_assert_uint_eq(input->elementwise_flops, eval ? 6 * ELEMENTS : 9 * ELEMENTS + CHANNELS);
        ck_assert_uint_eq(input->bytes_read, 4 * (2 * ELEMENTS + 3 * CHANNELS));
        ck_assert_uint_eq(input->bytes_written, 4 * (ELEMENTS + 2 * CHANNELS));
        ck_assert_uint_eq(op_cost_total_flops(cost.phase[PHASE_BACKWARD_WEIGHT]), 0);
        expect_values(norm->buffers[0].tensor, 0, 0, 0);
        expect_values(norm->buffers[1].tensor, 1, 1, 1);
        expect_values(norm->buffers[2].tensor, 0);
    }
    tensor_free(x);
    layer_free(norm);
}
END_TEST

START_TEST(what_is_predicted_is_measured) {
    Layer *model = sequential_new();
    layer_add_child(model, "conv", conv2d_new(2, 3, 3, 3, conv2d_defaults(), false));
    layer_add_child(model, "norm", batch_norm2d_new(3, batch_norm_defaults()));
    layer_add_child(model, "relu", relu_new());
    layer_add_child(model, "flat", flatten_new(1, -1));
    layer_add_child(model, "fc", linear_new(3 * 4 * 4, 5, true));
    layer_add_child(model, "norm1", batch_norm1d_new(5, batch_norm_defaults()));
    Tensor *x = tensor_normal_new(SHAPE(4, 2, 6, 6), 0.0f, 1.0f);
    Tensor *labels = tensor_from_labels_new(SHAPE(4), (int64_t[]){0, 1, 2, 3});
    Profile profile;
    profile_training(model, optimizer_defaults(OPTIMIZER_ADAM), x, labels,
                     (ProfileOptions){.iterations = 2}, &profile);
    expect_no_error();
    ck_assert_msg(profile.reconciled, "%s", profile.difference);
    const Parameter *running = layer_find(model, "norm")->buffers; // unchanged by the profile
    expect_values(running[0].tensor, 0, 0, 0);
    expect_values(running[1].tensor, 1, 1, 1);
    ck_assert(tensor_item(running[2].tensor) == 0.0);
    profile_free(&profile);
    profile_inference(model, x, (ProfileOptions){.iterations = 2}, &profile);
    expect_no_error();
    ck_assert_msg(profile.reconciled, "%s", profile.difference);
    profile_free(&profile);
    tensor_free(x);
    tensor_free(labels);
    layer_free(model);
}
END_TEST

// ---- faults ------------------------------------------------------------------------------------
static Status run_once(void) {
    Scope *scope = scope_open();
    Layer *norm = batch_norm2d_new(2, batch_norm_defaults());
    Tensor *x = tensor_normal_new(SHAPE(2, 2, 3, 3), 0.0f, 1.0f);
    Tensor *y = norm && x ? layer_forward(norm, x) : NULL;
    if (y) autograd_backward(tensor_sum(tensor_mul(y, y), DIM_ALL, false));
    Status status = error_status();
    scope_close(scope);
    tensor_free(x);
    layer_free(norm);
    return status;
}

START_TEST(any_request_may_fail) {
    int failures = 0;
    ck_assert_int_eq(autograd_enable(), STATUS_OK);
    setenv("RIDGEPOINT_ALLOC", "raw", 1); // so that no allocation is served by a cache
    int64_t live = expect_live_bytes();
    for (uint64_t n = 1; n < 1000; n++, failures++) {
        memory_fail_at(n);
        Status status = run_once();
        memory_fail_at(0);
        ck_assert_int_eq(expect_live_bytes(), live);
        if (!status) break;
        expect_error(STATUS_OUT_OF_MEMORY, "");
    }
    ck_assert_int_gt(failures, 15);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {they_print_as_pytorchs, 0},
        {their_state_is_pytorchs_and_begins_so, 0},
        {running_statistics_follow_in_training_alone, 0},
        {what_they_cannot_take_is_refused, 0},
        {the_cost_is_that_of_the_closed_formulas_and_nothing_moves, 0},
        {what_is_predicted_is_measured, 0},
        {any_request_may_fail, 0},
        {NULL, 0},
    };
    return harness_main("batch_norm_layers", tests);
}
