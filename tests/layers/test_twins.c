// test_twins.c -- the stand-ins for tensors and layers in a dry run: every path to an original
// leads to its twin, changes go to the twin, and the twins are gone at the end.
#include "layers/cost.h"
#include "profiler/measure/profile.h"
#include "tensor/shadow.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/nets.h"

static void train_once(Layer *model, Tensor *x) {
    Scope *scope = scope_open();
    autograd_backward(tensor_mean(layer_forward(model, x), DIM_ALL, false));
    scope_close(scope);
}

// ---- made and switched inside ----------------------------------------------------------------
START_TEST(what_is_made_inside_is_as_if_no_dry_run_were_around) {
    Layer *model = mlp_new((int64_t[]){4, 3}, 2, mlp_defaults()), *inner;
    Context *context = dry_run_begin(model);
    inner = mlp_new((int64_t[]){4, 3}, 2, mlp_defaults());
    ck_assert_ptr_eq(layer_here(inner), inner);
    ck_assert_ptr_ne(layer_here(model), model);
    ck_assert_ptr_eq(layer_here(model), layer_here(layer_here(model)));
    layer_train(inner, false);
    ck_assert(!inner->training);
    Context *second = dry_run_begin(inner); // here `inner` is an outside layer, too
    layer_train(inner, true);
    layer_train(model, false);
    ck_assert(!inner->training);
    dry_run_end(second);
    ck_assert(layer_here(model)->training);
    layer_free(inner);
    dry_run_end(context);
    ck_assert(model->training);
    ck_assert_ptr_eq(layer_here(model), model);
    layer_free(model);
}
END_TEST

START_TEST(what_is_switched_inside_is_what_runs_inside) {
    Layer *model = dropout_new(0.5f);
    Tensor *x = tensor_full_new(SHAPE(10), 1.0f);
    tensor_requires_grad(x, true);
    train_once(model, x);
    Context *context = dry_run_begin(model);
    Scope *scope = scope_open();
    ck_assert_ptr_null(tensor_grad(x));
    train_once(model, x);
    ck_assert_ptr_nonnull(tensor_grad(x));
    tensor_zero_grad(x);
    ck_assert_ptr_null(tensor_grad(x));
    layer_train(model, false);
    Tensor *twin = tensor_here(x);
    ck_assert_ptr_ne(twin, x);
    ck_assert_ptr_eq(layer_forward(model, twin), twin); // dropout is off now
    scope_close(scope);
    dry_run_end(context);
    ck_assert_ptr_nonnull(tensor_grad(x));
    tensor_free(x);
    layer_free(model);
}
END_TEST

START_TEST(a_layer_that_leaves_its_parent_inside_is_a_child_outside) {
    Layer *model = mlp_new((int64_t[]){4, 3, 2}, 3, mlp_defaults()), *last = model->children[2];
    Tensor *x = tensor_zeros_new(SHAPE(5, 4));
    Context *context = dry_run_begin(model);
    Scope *scope = scope_open();
    layer_leave_parent(last);
    ck_assert_int_eq(tensor_shape(layer_forward(model, x)).dims[1], 3);
    ck_assert_int_eq(layer_add_child(model, "again", last), STATUS_OK);
    ck_assert_int_eq(tensor_shape(layer_forward(model, x)).dims[1], 2);
    scope_close(scope);
    dry_run_end(context);
    ck_assert_int_eq(model->n_children, 3);
    ck_assert_ptr_eq(last->parent, model);
    ck_assert_str_eq(last->name, "fc2");
    tensor_free(x);
    layer_free(model);
}
END_TEST

// A layer that reaches another through a pointer of its own instead of a child.
typedef struct Holder {
    Layer layer;
    Layer *held;
} Holder;
static Tensor *forward_held(Layer *self, Tensor *const in[], int n_in) {
    layer_train(((Holder *)self)->held, false);
    tensor_requires_grad(((Holder *)self)->held->parameters[1].tensor, false);
    return layer_forward_many(((Holder *)self)->held, in, n_in);
}

START_TEST(a_layer_behind_a_pointer_is_met_by_its_twin) {
    const LayerType type = {.name = "Holder", .size = sizeof(Holder), .forward = forward_held};
    Layer *layer = layer_new(&type), *held = linear_new(2, 3, true);
    ((Holder *)layer)->held = held;
    Tensor *x = tensor_zeros_new(SHAPE(4, 2));
    LayerCost cost;
    ck_assert_msg(layer_cost(layer, &x, 1, &cost) == STATUS_OK, "%s", error_message());
    ck_assert_uint_eq(cost.phase[PHASE_FORWARD].macs, 24);
    ck_assert_uint_eq(cost.phase[PHASE_BACKWARD_WEIGHT].macs, 24);
    ck_assert_uint_eq(cost.phase[PHASE_BACKWARD].elementwise_flops, 0); // the bias is frozen
    ck_assert_int_eq(cost.peak.category[MEM_PARAMETER], 0);             // not the model's own
    ck_assert(held->training);
    ck_assert(held->parameters[1].tensor->flags & TENSOR_LEAF_GRAD);
    tensor_free(x);
    layer_free(layer);
    layer_free(held);
}
END_TEST

// Layers that change themselves while they run.
static Tensor *replace_buffer(Layer *self, Tensor *const in[], int n_in) {
    (void)n_in;
    Tensor *next = tensor_keep(tensor_mul_scalar(in[0], 2.0f));
    tensor_free(self->buffers[0].tensor);
    self->buffers[0].tensor = next;
    return tensor_add(in[0], next);
}
static Tensor *grow_lazily(Layer *self, Tensor *const in[], int n_in) {
    (void)n_in;
    if (self->n_children == 0) {
        layer_add_child(self, "fc", linear_new(2, 3, true));
        layer_add_parameter(self, "scale", tensor_full_new(SHAPE(3), 2.0f));
        layer_add_buffer(self, "count", tensor_full_new(SHAPE(1), 0.0f));
    }
    return tensor_mul(layer_forward(self->children[0], in[0]), self->parameters[0].tensor);
}

START_TEST(a_layer_that_changes_itself_changes_its_twin) {
    const LayerType replacing = {.name = "Replacing",
                                 .size = sizeof(Layer),
                                 .forward = replace_buffer};
    const LayerType lazy = {.name = "Lazy", .size = sizeof(Layer), .forward = grow_lazily};
    Layer *first = layer_new(&replacing), *second = layer_new(&lazy);
    layer_add_buffer(first, "last", tensor_full_new(SHAPE(4, 2), 5.0f));
    Tensor *x = tensor_full_new(SHAPE(4, 2), 1.0f), *buffer = first->buffers[0].tensor;
    for (int again = 0; again < 2; again++) {
        LayerCost cost;
        ck_assert_msg(layer_cost(first, &x, 1, &cost) == STATUS_OK, "%s", error_message());
        ck_assert_ptr_eq(first->buffers[0].tensor, buffer);
        ck_assert_msg(layer_cost(second, &x, 1, &cost) == STATUS_OK, "%s", error_message());
        ck_assert_uint_eq(cost.phase[PHASE_FORWARD].macs, 24);
        ck_assert_int_eq(second->n_children + second->n_parameters + second->n_buffers, 0);
    }
    expect_values(buffer, 5, 5, 5, 5, 5, 5, 5, 5);
    Layer *third = relu_new();
    Context *context = dry_run_begin(second); // now through the original's pointer
    layer_add_child(second, "fc", linear_new(2, 3, true));
    layer_add_buffer(second, "count", tensor_full_new(SHAPE(1), 0.0f));
    ck_assert_int_eq(layer_here(second)->n_children, 1);
    Layer *inner = sequential_new(); // adopts another's twin
    layer_add_child(inner, "adopted", third);
    layer_free(inner);
    layer_free(layer_here(second)->children[0]); // frees one that was added
    ck_assert_int_eq(layer_here(second)->n_children, 0);
    dry_run_end(context);
    ck_assert_ptr_null(third->parent);
    layer_free(third);
    ck_assert_int_eq(second->n_children + second->n_buffers, 0);
    tensor_free(x);
    layer_free(first);
    layer_free(second);
}
END_TEST

START_TEST(a_profile_inside_is_of_twins_and_measures_nothing) {
    Layer *model = mlp_new((int64_t[]){4, 3, 2}, 3, mlp_defaults());
    Tensor *x = tensor_full_new(SHAPE(5, 4), 1.0f);
    Profile inside, outside;
    profile_backward(model, x, (ProfileOptions){.iterations = 1}, &outside);
    Context *context = dry_run_begin(model);
    context_set_device(device_cpu());
    ck_assert_ptr_eq(context->device, device_meta());
    Status status = profile_backward(model, x, (ProfileOptions){.iterations = 1}, &inside);
    ck_assert_msg(status == STATUS_OK, "%s", error_message());
    profile_expect_counted_only(&inside);
    ck_assert_str_eq(inside.device, "meta");
    ck_assert_int_eq(inside.n_ops, outside.n_ops);
    profile_free(&inside);
    dry_run_end(context);
    profile_free(&outside);
    tensor_free(x);
    layer_free(model);
}
END_TEST

// Two parameters that view one buffer: saved and counted once, as in the real run.
START_TEST(views_of_one_buffer_are_views_of_one_twin) {
    Tensor *whole = tensor_normal_new(SHAPE(6, 4), 0.0f, 1.0f);
    Scope *scope = scope_open();
    Tensor *half = tensor_keep(tensor_slice(whole, 0, 3, 6, 1));
    scope_close(scope);
    Layer *model = relu_new();
    Context *context = dry_run_begin(model);
    Tensor *twin = tensor_here(half);
    ck_assert_ptr_eq(twin->storage, tensor_here(whole)->storage);
    ck_assert_int_eq(twin->offset, 12);
    ck_assert_int_eq(context->ledger->live.total, 0); // not part of the run
    dry_run_end(context);
    tensor_free(half);
    tensor_free(whole);
    layer_free(model);
}
END_TEST

// An op that writes its result into a tensor of the caller's, with inputs of the caller's.
START_TEST(a_result_written_into_a_tensor_from_outside_stays_outside) {
    Tensor *x = tensor_full_new(SHAPE(3), -1.0f), *y = tensor_full_new(SHAPE(3), 7.0f), *given = y;
    Layer *model = relu_new();
    Context *context = dry_run_begin(model);
    ck_assert_int_eq(OP_INTO(&given, op_relu, NULL, x), STATUS_OK);
    ck_assert_ptr_eq(given, y);
    given = tensor_full_new(SHAPE(2), 0.0f);
    Tensor *wrong = given;
    ck_assert_int_ne(OP_INTO(&given, op_relu, NULL, x), STATUS_OK);
    expect_error(STATUS_INVALID_ARGUMENT, "result's shape");
    tensor_free(wrong);
    dry_run_end(context);
    expect_values(y, 7, 7, 7);
    tensor_free(x);
    tensor_free(y);
    layer_free(model);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {what_is_made_inside_is_as_if_no_dry_run_were_around, 0},
        {what_is_switched_inside_is_what_runs_inside, 0},
        {a_layer_that_leaves_its_parent_inside_is_a_child_outside, 0},
        {a_layer_behind_a_pointer_is_met_by_its_twin, 0},
        {a_layer_that_changes_itself_changes_its_twin, 0},
        {a_profile_inside_is_of_twins_and_measures_nothing, 0},
        {views_of_one_buffer_are_views_of_one_twin, 0},
        {a_result_written_into_a_tensor_from_outside_stays_outside, 0},
        {NULL, 0},
    };
    return harness_main("twins", tests);
}
