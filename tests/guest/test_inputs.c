// test_inputs.c -- wrong arguments of a C program: an object whose making failed (NULL), no array,
// a number outside an enum. The call is refused where it enters, with a message; nothing dies.
#include <stdlib.h>
#include <string.h>

#include "layers/cost.h"
#include "layers/files/checkpoint.h"
#include "layers/files/corpus.h"
#include "layers/files/idx.h"
#include "layers/files/npy.h"
#include "layers/files/safetensors.h"
#include "layers/train/digits.h"
#include "layers/train/fit.h"
#include "profiler/files/profile_file.h"
#include "profiler/record/leak.h"
#include "profiler/report/weights.h"
#include "profiler/session/profiler.h"
#include "tensor/plugin.h"
#include "tests/helpers/expect.h"

// Evaluates the call, and expects a refusal as an invalid argument whose message has `mention`.
#define refused(call, mention)                                                                     \
    do {                                                                                           \
        (void)(call);                                                                              \
        ck_assert_msg(expect_error_is(STATUS_INVALID_ARGUMENT, (mention)), "%s: %s", #call,        \
                      expect_complaint());                                                         \
    } while (0)

START_TEST(an_optimizer_that_was_not_made_is_refused) {
    optimizer_zero_grad(NULL);
    expect_error(STATUS_INVALID_ARGUMENT, "optimizer: there is none");
    optimizer_set_learning_rate(NULL, 0.1f);
    expect_error(STATUS_INVALID_ARGUMENT, "optimizer: there is none");
    refused(optimizer_step(NULL), "optimizer: there is none");
    refused(optimizer_clip_gradients(NULL, 1.0f, NULL), "optimizer: there is none");
    refused(optimizer_new(NULL, optimizer_defaults(OPTIMIZER_SGD)), "no layer");
    ParameterList list;
    const OptimizerConfig config = optimizer_defaults(OPTIMIZER_SGD);
    refused(optimizer_config(NULL).kind, "optimizer: there is none");
    refused(optimizer_steps(NULL), "optimizer: there is none");
    refused(optimizer_state(NULL, NULL, &list), "optimizer: there is none");
    refused(optimizer_check_restore(NULL, config, 0), "optimizer: there is none");
    refused(optimizer_restore(NULL, config, 0), "optimizer: there is none");
}
END_TEST

START_TEST(a_file_of_nothing_is_refused) {
    Layer *layer = linear_new(3, 2, true);
    Checkpoint none = {.step = 1};
    refused(safetensors_save(NULL, "/tmp/none"), "no layer");
    refused(safetensors_save(layer, NULL), "no file is named");
    refused(safetensors_load(NULL, "/tmp/none", (SafetensorsOptions){0}), "no layer");
    refused(safetensors_load(layer, NULL, (SafetensorsOptions){0}), "no file is named");
    refused(safetensors_write(NULL, NULL, 0, "/tmp/none"), "no list");
    refused(safetensors_write(&(ParameterList){0}, NULL, 1, "/tmp/none"), "no metadata");
    refused(safetensors_open(NULL), "no file is named");
    refused(safetensors_read(NULL, 0, NULL), "no tensor 0");
    refused(safetensors_tensor_new(NULL, 0), "no tensor 0");
    ck_assert_int_eq(safetensors_count(NULL), 0);
    ck_assert_int_eq(safetensors_find(NULL, "a"), -1);
    ck_assert_ptr_null(safetensors_metadata(NULL, "a"));
    safetensors_close(NULL);
    refused(npy_read_new(NULL), "no file is named");
    refused(npy_write(NULL, "/tmp/none"), "missing");
    refused(checkpoint_write(NULL, "/tmp/none"), "there is none");
    refused(checkpoint_read(NULL, "/tmp/none"), "there is none");
    refused(checkpoint_write(&none, "/tmp/none"), "no layer");
    refused(checkpoint_read(&none, "/tmp/none"), "no layer");
    none.model = layer;
    refused(checkpoint_read(&none, NULL), "no file is named");
    layer_free(layer);
}
END_TEST

START_TEST(a_loader_or_a_dataset_that_was_not_made_is_refused) {
    Batch batch;
    Dataset rest, test;
    bool split;
    loader_start_epoch(NULL);
    expect_error(STATUS_INVALID_ARGUMENT, "loader: there is none");
    refused(loader_next(NULL, &batch), "loader: there is none");
    refused(loader_batches(NULL), "loader: there is none");
    refused(loader_counts(NULL).batches, "loader: there is none");
    refused(loader_position(NULL).batch, "loader: there is none");
    refused(loader_seek(NULL, (LoaderPosition){0}), "loader: there is none");
    refused(loader_new(NULL, (LoaderOptions){.batch = 1}), "no dataset");
    refused(dataset_split(NULL, 1, 0, &rest), "dataset: there is none");
    refused(dataset_read_folder(NULL, &rest, &test, &split), "no folder");
    IdxArray array;
    refused(idx_parse(NULL, 5, "x", &array), "x: there are no bytes");
    refused(idx_parse_any(NULL, 5, "x", &array), "x: there are no bytes");
    refused(idx_read(NULL, &array), "no file is named");
}
END_TEST

START_TEST(a_layer_that_was_not_made_is_refused) {
    Scope *scope = scope_open();
    Tensor *x = tensor_zeros_new(SHAPE(2, 3));
    Layer *layer = linear_new(3, 2, true);
    LayerCost cost;
    int64_t value = 7;
    char text[64] = "before";
    refused(layer_new(NULL), "no type");
    refused(layer_forward(NULL, x), "the layer is NULL");
    refused(layer_forward(layer, NULL), "input 0 is NULL");
    refused(layer_forward_many(layer, NULL, 1), "input 0 is NULL");
    refused(layer_own_parameter_count(NULL), "no layer");
    refused(layer_cost(layer, NULL, 1, &cost), "no inputs");
    refused(mlp_new(NULL, 3, mlp_defaults()), "at least an input");
    refused(layer_print(layer, NULL), "no file");
    ck_assert(!layer_attribute(NULL, "bias", &value) && value == 7);
    ck_assert(!layer_attribute(layer, NULL, &value) && value == 7);
    ck_assert_str_eq(layer_attributes_text(NULL, text, sizeof text), "");
    layer_leave_parent(NULL);
    expect_no_error();
    layer_free(layer);
    tensor_free(x);
    scope_close(scope);
}
END_TEST

START_TEST(training_with_what_was_not_made_is_refused) {
    Tensor *x = tensor_zeros_new(SHAPE(2, 3));
    Tensor *labels = tensor_from_labels_new(SHAPE(2), (int64_t[]){0, 1});
    Layer *model = linear_new(3, 2, true);
    Optimizer *optimizer = optimizer_new(model, optimizer_defaults(OPTIMIZER_SGD));
    double number;
    FitResult result;
    refused(train_step(model, NULL, x, labels, &number), "optimizer: there is none");
    refused(train_fit(model, optimizer, NULL, (FitOptions){.epochs = 1}, &result),
            "loader: there is none");
    refused(train_accuracy(model, NULL, &number), "loader: there is none");
    refused(schedule_rate(NULL, 3), "no schedule");
    ck_assert_int_eq(train_step(model, optimizer, x, labels, NULL), STATUS_OK); // loss not wanted
    ck_assert_int_eq(train_step_with(model, optimizer, NULL, x, labels, NULL), STATUS_OK);
    optimizer_free(optimizer);
    layer_free(model);
    tensor_free(x);
    tensor_free(labels);
}
END_TEST

START_TEST(no_values_and_no_room_are_refused) {
    Scope *scope = scope_open();
    Tensor *x = tensor_zeros_new(SHAPE(3)), *none = tensor_zeros_new(SHAPE(0));
    Tensor *labels = tensor_from_labels_new(SHAPE(1), (int64_t[]){0});
    refused(tensor_from_floats_new(SHAPE(3), NULL), "no values");
    refused(tensor_from_labels_new(SHAPE(3), NULL), "no values");
    refused(tensor_write_floats(x, NULL), "no values");
    refused(tensor_read_floats(x, NULL), "no room");
    refused(tensor_read_labels(labels, NULL), "no room");
    refused(tensor_print(x, NULL), "no file");
    refused(tensor_concat(NULL, 3, 0), "no inputs");
    refused(tensor_stack(NULL, 3, 0), "stack: got 0 tensors");
    refused(tensor_permute(x, NULL), "no dims");
    refused(tensor_clip_norm(NULL, 3, 1.0f), "no inputs");
    refused(tensor_sgd_step(NULL, 1, (SgdParams){0}), "no inputs");
    refused(tensor_adam_step(NULL, 1, (AdamParams){0}), "no inputs");
    ck_assert_int_eq(tensor_bytes(NULL) + tensor_distinct_bytes(NULL), 0);
    ck_assert_int_eq(tensor_read_floats(none, NULL) | tensor_write_floats(none, NULL), STATUS_OK);
    Tensor *empty = tensor_from_floats_new(SHAPE(0, 4), NULL);
    ck_assert_ptr_nonnull(empty);
    tensor_free(empty);
    tensor_free(none);
    tensor_free(labels);
    tensor_free(x);
    scope_close(scope);
}
END_TEST

START_TEST(numbers_that_an_enum_has_not_are_refused) {
    refused(tensor_new(SHAPE(2), (DType)77), "no dtype 77");
    refused(tensor_new_as(SHAPE(2), DTYPE_FLOAT32, (MemoryCategory)99), "no category 99");
    refused(tensor_new_as(SHAPE(2), DTYPE_FLOAT32, (MemoryCategory)-1), "no category -1");
    ck_assert_int_eq(dtype_size((DType)77), 0);
    Shape huge = {.ndim = 1000};
    ck_assert(!shape_equal(huge, huge));
    ck_assert_int_eq(statistics_samples_needed(0.0) + statistics_samples_needed(100.0), 0);
}
END_TEST

START_TEST(contexts_and_devices_that_are_none_are_refused) {
    refused(device_open(NULL), "no device is called");
    refused(storage_new(NULL, 4, MEM_DATA), "no device");
    ck_assert_ptr_null(device_by_name(NULL));
    Device *before = context_current()->device;
    context_set_device(NULL);
    expect_error(STATUS_INVALID_ARGUMENT, "no device");
    ck_assert_ptr_eq(context_current()->device, before);
    context_push(NULL);
    expect_error(STATUS_STATE, "no context");
    Context *context = context_new();
    context_push(context);
    context_push(context); // pushing it twice would make a circle
    expect_error(STATUS_STATE, "on the stack already");
    context_pop();
    ck_assert_ptr_ne(context_current(), context);
    context_free(context);
    observer_add(NULL);
    observer_remove(NULL);
    ledger_trim(NULL);
    ledger_reset_peak(NULL);
    expect_no_error();
}
END_TEST

START_TEST(a_context_that_is_in_use_is_not_freed) {
    Context *own = context_default(), *outer = context_new(), *inner = context_new();
    context_free(own);
    expect_error(STATUS_STATE, "context_free: it is the thread's own");
    ck_assert_ptr_eq(context_default(), own); // asking for it does not make a new one
    context_push(outer);
    context_push(inner);
    context_free(outer);
    expect_error(STATUS_STATE, "another is pushed over it");
    ck_assert_ptr_eq(context_default(), own);
    ck_assert_ptr_eq(context_current(), inner);
    context_pop();
    context_pop();
    context_free(inner);
    context_free(outer);
    expect_no_error();
}
END_TEST

// A loader keeps the description of its data, and refuses when the data itself is gone.
START_TEST(a_loader_outlives_its_data) {
    Corpus *text = calloc(1, sizeof *text);
    Dataset *digits = calloc(1, sizeof *digits), moved, rest;
    Batch batch;
    ck_assert(digits && text);
    ck_assert_int_eq(digits_generate(8, 1, digits) | corpus_generate(500, 1, text), STATUS_OK);
    LoaderOptions options = {.batch = 2, .prefetch = _i};
    Loader *loaders[] = {loader_new(digits, options), corpus_loader_new(text, 9, options),
                         loader_new(digits, options)};
    moved = *digits;
    Corpus moved_text = *text;
    free(digits); // frees only the structs
    free(text);
    for (int i = 0; i < 3; i++) ck_assert(loader_next(loaders[i], &batch));
    loader_free(loaders[2]);
    ck_assert_int_eq(dataset_split(&moved, 2, 0, &rest), STATUS_OK); // copies and frees it
    corpus_free(&moved_text);
    for (int i = 0; i < 2; i++) {
        ck_assert(!loader_next(loaders[i], &batch));
        expect_error(STATUS_STATE, "the data that it reads was freed");
        loader_position(loaders[i]);
        expect_error(STATUS_STATE, "the data that it reads was freed");
        loader_start_epoch(loaders[i]);
        loader_free(loaders[i]);
    }
    dataset_free(&moved);
    dataset_free(&rest);
    expect_no_error();
}
END_TEST

START_TEST(files_without_a_name_are_refused) {
    Profile profile = {0};
    Machine machine = {0};
    refused(profile_write_file(&profile, "a test", NULL), "no file is named");
    refused(tinytorch_write(&profile, NULL), "no file is named");
    refused(machine_write(&machine, NULL), "no file is named");
}
END_TEST

START_TEST(profiling_with_what_was_not_made_is_refused) {
    LeakReport report;
    leak_start(NULL);
    leak_step(NULL);
    leak_stop(NULL);
    expect_no_error();
    refused(leak_report(NULL, &report), "leak test: there is none");
    profiler_hook_add(NULL);
    profiler_hook_remove(NULL);
    expect_no_error();
    LatencyStatistics statistics;
    refused(statistics_summarise(NULL, 5, &statistics), "no samples");
    WeightStatistics weights;
    refused(weights_summarise(NULL, &weights), "weights: there is none");
    refused(autograd_gradcheck(NULL, NULL, NULL, 0, gradcheck_defaults(), NULL), "no function");
}
END_TEST

START_TEST(nothing_can_be_freed) {
    tensor_free(NULL);
    scope_close(NULL);
    layer_free(NULL);
    optimizer_free(NULL);
    loader_free(NULL);
    dataset_free(NULL);
    idx_free(NULL);
    parameter_list_free(NULL);
    context_free(NULL);
    dry_run_end(NULL);
    leak_free(NULL);
    latency_free(NULL);
    profile_free(NULL);
    profiler_free(NULL);
    profiler_summary_free(NULL);
    ledger_release(NULL);
    expect_no_error();
}
END_TEST

// The first failure is the one reported, however long the chain of calls after it.
START_TEST(the_first_failure_is_the_one_that_is_told) {
    Layer *model = mlp_new((int64_t[]){4, -2}, 2, mlp_defaults());
    Optimizer *optimizer = optimizer_new(model, optimizer_defaults(OPTIMIZER_ADAM));
    Scope *scope = scope_open();
    Tensor *loss = loss_cross_entropy(layer_forward(model, NULL), NULL);
    optimizer_zero_grad(optimizer);
    autograd_backward(loss);
    optimizer_step(optimizer);
    scope_close(scope);
    optimizer_free(optimizer);
    layer_free(model);
    expect_error(STATUS_INVALID_ARGUMENT, "mlp_new: needs at least");
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {an_optimizer_that_was_not_made_is_refused, 0},
        {a_file_of_nothing_is_refused, 0},
        {a_loader_or_a_dataset_that_was_not_made_is_refused, 0},
        {a_layer_that_was_not_made_is_refused, 0},
        {training_with_what_was_not_made_is_refused, 0},
        {no_values_and_no_room_are_refused, 0},
        {numbers_that_an_enum_has_not_are_refused, 0},
        {contexts_and_devices_that_are_none_are_refused, 0},
        {a_context_that_is_in_use_is_not_freed, 0},
        {a_loader_outlives_its_data, 2},
        {files_without_a_name_are_refused, 0},
        {profiling_with_what_was_not_made_is_refused, 0},
        {nothing_can_be_freed, 0},
        {the_first_failure_is_the_one_that_is_told, 0},
        {NULL, 0},
    };
    return harness_main("inputs", tests);
}
