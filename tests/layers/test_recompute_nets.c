// test_recompute_nets.c -- random nets and real ones whose layers run their forward again in
// backward: values, gradients and statistics are bit-equal to those of the same nets unmarked.
// tests/autograd/test_recompute.c tests single layers.
#include <string.h>

#include "layers/containers.h"
#include "layers/cost.h"
#include "layers/models/models.h"
#include "layers/recurrent.h"
#include "layers/train/fit.h"
#include "tensor/memory.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/small_transformers.h"

// ---- results of a run --------------------------------------------------------------------------
typedef struct Left { // of one step: everything that could differ
    uint64_t values;  // hash of the output, all gradients and buffers
    RandomState random;
    int64_t saved;
} Left;

static uint64_t hash_tensor(uint64_t hash, Tensor *t) {
    const uint32_t *words = t ? (const uint32_t *)t->storage->data : NULL;
    hash = (hash ^ (t != NULL)) * 1099511628211u;
    for (int64_t i = 0; t && i < t->storage->bytes / 4; i++)
        hash = (hash ^ words[i]) * 1099511628211u;
    return hash;
}

static uint64_t hash_layer(uint64_t hash, Layer *layer) {
    ParameterList list;
    layer_state(layer, &list);
    for (int i = 0; i < list.count; i++) {
        hash = hash_tensor(hash, list.items[i].tensor);
        if (!list.items[i].is_buffer) hash = hash_tensor(hash, tensor_grad(list.items[i].tensor));
    }
    parameter_list_free(&list);
    return hash;
}

static void zero_gradients(Layer *model) {
    ParameterList list;
    layer_parameters(model, &list);
    for (int i = 0; i < list.count; i++) tensor_zero_grad(list.items[i].tensor);
    parameter_list_free(&list);
}

// Runs forward, and backward from a mean of squares, twice: the second run's gradients add up.
static Left run_step(Layer *model, Tensor *x) {
    Left left = {0};
    context_seed(77);
    zero_gradients(model);
    tensor_zero_grad(x);
    for (int k = 0; k < 2; k++) {
        Scope *scope = scope_open();
        Tensor *y = layer_forward(model, x);
        left.values = hash_tensor(left.values, y ? tensor_contiguous(y) : NULL);
        left.saved = autograd_saved_bytes();
        autograd_backward(tensor_mean(tensor_mul(y, y), DIM_ALL, false));
        scope_close(scope);
        expect_no_error();
        ck_assert_int_eq(autograd_node_count(), 0);
        ck_assert_int_eq(autograd_saved_bytes(), 0);
    }
    left.values = hash_layer(left.values, model);
    if (x->dtype == DTYPE_FLOAT32) left.values = hash_tensor(left.values, tensor_grad(x));
    left.random = context_current()->random;
    return left;
}

static void expect_same(Left marked, Left plain) {
    ck_assert_uint_eq(marked.values, plain.values);
    ck_assert_uint_eq(marked.random.offset, plain.random.offset);
}

// ---- random nets -------------------------------------------------------------------------------
static Layer *random_layer(RandomState *random, int64_t width, int depth);

static void add_random(Layer *to, RandomState *random, int64_t width, int depth) {
    int64_t n = 1 + random_next_below(random, 4);
    for (int64_t i = 0; i < n; i++) layer_append(to, random_layer(random, width, depth));
}

static Layer *random_layer(RandomState *random, int64_t width, int depth) {
    Layer *layer;
    switch (random_next_below(random, depth > 0 ? 11 : 9)) {
    case 0:
        return linear_new_fused(width, width, true, &op_gelu);
    case 1:
        return linear_new(width, width, random_next_below(random, 2) == 0);
    case 2:
        return relu_new();
    case 3:
        return gelu_new();
    case 4:
        return dropout_new(0.3f);
    case 5:
        return batch_norm1d_new(width, batch_norm_defaults());
    case 6:
        return layer_norm_new(SHAPE(width), 1e-5f, true);
    case 7:
        return flatten_new(1, -1); // with two dimensions: returns its input, or a view
    case 8:
        return softmax_new(-1);
    case 9:
        layer = residual_new();
        break;
    default:
        layer = sequential_new();
        break;
    }
    add_random(layer, random, width, depth - 1);
    return layer;
}

static void mark_some(Layer *layer, RandomState *random) {
    if (random_next_below(random, 3) == 0) layer_recompute(layer, true);
    for (int i = 0; i < layer->n_children; i++) mark_some(layer->children[i], random);
}

static void freeze_some(Layer *layer, RandomState *random) {
    for (int i = 0; i < layer->n_parameters; i++)
        if (random_next_below(random, 4) == 0)
            tensor_requires_grad(layer->parameters[i].tensor, false);
    for (int i = 0; i < layer->n_children; i++) freeze_some(layer->children[i], random);
}

// Ties the first two linear layers found, so a marked layer may share a weight with one outside.
static void tie_some(Layer *layer, Layer **first) {
    if (strcmp(layer->type->name, "Linear") == 0 && !*first) {
        *first = layer;
    } else if (strcmp(layer->type->name, "Linear") == 0 && layer->n_parameters > 0) {
        tensor_free(layer->parameters[0].tensor);
        layer->parameters[0].tensor = tensor_retain((*first)->parameters[0].tensor);
    }
    for (int i = 0; i < layer->n_children; i++) tie_some(layer->children[i], first);
}

static Layer *random_net(int seed, RandomState *random) {
    *random = (RandomState){.seed = 5000 + (uint64_t)seed};
    context_seed(3);
    Layer *model = sequential_new(), *first = NULL;
    layer_append(model, linear_new(6, 6, true));
    add_random(model, random, 6, 3);
    layer_append(model, linear_new(6, 6, true));
    if (seed % 4 == 0) tie_some(model, &first);
    if (seed % 3 == 0) freeze_some(model, random);
    layer_train(model, seed % 5 != 0);
    expect_no_error();
    return model;
}

START_TEST(random_nets_with_random_marks_do_what_they_do_without) {
    Left left[2];
    for (int marked = 0; marked < 2; marked++) {
        RandomState random;
        Layer *model = random_net(_i, &random);
        Tensor *x = tensor_normal_new(SHAPE(5, 6), 0.0f, 1.0f);
        tensor_requires_grad(x, _i % 2 == 0);
        if (marked) mark_some(model, &random);
        LayerCost cost;
        left[marked] = run_step(model, x);
        int64_t live = expect_live_bytes();
        layer_cost(model, &x, 1, &cost);
        ck_assert_int_eq(expect_live_bytes(), live);
        ck_assert_int_eq(cost.saved_bytes, left[marked].saved);
        tensor_free(x);
        layer_free(model);
        expect_no_error();
        ck_assert_int_eq(expect_live_bytes(), 0);
    }
    expect_same(left[1], left[0]);
}
END_TEST

// ---- published networks ------------------------------------------------------------------------
typedef struct Network {
    Layer *(*model_new)(void);
    Tensor *(*input_new)(void);
    const char *blocks; // marks all children of this layer, which do most of the work
} Network;

static Layer *resnet(void) { return mnist_resnet_new(10); }
static Tensor *digits(void) { return tensor_normal_new(SHAPE(2, 1, 12, 12), 0.0f, 1.0f); }
static Layer *gpt2(void) {
    Gpt2Options options = small_gpt2();
    options.dropout = 0.1f;
    return gpt2_new(options);
}
static Layer *lstm(void) { return lstm_new(3, 4, recurrent_defaults()); }
static Tensor *sequence(void) { return tensor_normal_new(SHAPE(2, 5, 3), 0.0f, 1.0f); }

static const Network networks[] = {{resnet, digits, ""},
                                   {gpt2, small_ids_new, "transformer.h"},
                                   {lstm, sequence, NULL}};

static void mark(Layer *model, const char *blocks) {
    if (!blocks) layer_recompute(model, true);
    Layer *around = blocks ? layer_find(model, blocks) : NULL;
    ck_assert(!blocks || around);
    for (int i = 0; blocks && i < around->n_children; i++)
        layer_recompute(around->children[i], true);
}

START_TEST(networks_of_marked_blocks_do_what_they_do_without_and_keep_less) {
    const Network *network = &networks[_i];
    Left left[2];
    for (int marked = 0; marked < 2; marked++) {
        context_seed(9);
        Layer *model = network->model_new();
        Tensor *x = network->input_new();
        if (marked) mark(model, network->blocks);
        left[marked] = run_step(model, x);
        tensor_free(x);
        layer_free(model);
    }
    expect_same(left[1], left[0]);
    ck_assert_int_lt(left[1].saved, left[0].saved);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

// ---- training ----------------------------------------------------------------------------------
static Layer *marked_mlp(void) {
    MlpOptions options = mlp_defaults();
    options.dropout = 0.2f;
    Layer *model = sequential_new(), *around = sequential_new();
    layer_append(around, mlp_new((int64_t[]){6, 9, 9}, 3, options));
    layer_append(around, batch_norm1d_new(9, batch_norm_defaults()));
    layer_append(around, linear_new(9, 3, true));
    layer_append(model, around);
    if (error_pending()) return model;
    layer_recompute(around, true);
    layer_recompute(around->children[0], true);
    return model;
}

static Status train(Layer *model, Tensor *x, Tensor *labels) {
    Optimizer *optimizer = optimizer_new(model, optimizer_defaults(OPTIMIZER_ADAM));
    for (int i = 0; i < 2 && optimizer; i++) train_step(model, optimizer, x, labels, NULL);
    optimizer_free(optimizer);
    return error_status();
}

START_TEST(a_dry_run_of_marked_layers_predicts_the_peak) {
    Layer *model = marked_mlp();
    Tensor *x = tensor_normal_new(SHAPE(4, 6), 0.0f, 1.0f);
    Tensor *labels = tensor_from_labels_new(SHAPE(4), (int64_t[]){0, 1, 2, 0});
    int64_t others = tensor_bytes(x) + tensor_bytes(labels);
    Context *dry = dry_run_begin(model);
    ck_assert_int_eq(train(model, x, labels), STATUS_OK);
    MemoryUse predicted = dry->ledger->peak;
    dry_run_end(dry);
    ledger_reset_peak(context_ledger());
    ck_assert_int_eq(train(model, x, labels), STATUS_OK);
    MemoryUse peak = context_ledger()->peak;
    ck_assert_int_eq(predicted.total, peak.total - others);
    ck_assert_int_eq(predicted.category[MEM_ACTIVATION], peak.category[MEM_ACTIVATION]);
    tensor_free(x);
    tensor_free(labels);
    layer_free(model);
}
END_TEST

START_TEST(any_request_may_fail_and_everything_is_freed) {
    int failures = 0;
    for (uint64_t n = 1; n < 4000; n++, failures++) {
        Context *context = context_new();
        context_push(context);
        context_set_threads(1);
        Tensor *x = tensor_normal_new(SHAPE(4, 6), 0.0f, 1.0f);
        Tensor *labels = tensor_from_labels_new(SHAPE(4), (int64_t[]){0, 1, 2, 0});
        memory_fail_at(n);
        Layer *model = marked_mlp();
        LayerCost cost;
        if (model && !error_pending()) layer_cost(model, &x, 1, &cost);
        if (model && !error_pending()) train(model, x, labels);
        memory_fail_at(0);
        Status status = error_status();
        if (status) expect_error(STATUS_OUT_OF_MEMORY, "");
        error_clear();
        ck_assert_int_eq(context->no_grad, 0);
        ck_assert_int_eq(context->phase, PHASE_FORWARD);
        ck_assert_int_eq(autograd_node_count(), 0);
        if (model && status && model->n_children == 1 && model->children[0]->n_children == 3)
            ck_assert_int_eq(train(model, x, labels), STATUS_OK); // and training still works
        layer_free(model);
        tensor_free(x);
        tensor_free(labels);
        ck_assert_int_eq(context->ledger->live.total, 0);
        context_pop();
        context_free(context);
        if (!status) break;
    }
    ck_assert_int_gt(failures, 300);
    ck_assert_int_lt(failures, 3999);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {random_nets_with_random_marks_do_what_they_do_without, 60},
        {networks_of_marked_blocks_do_what_they_do_without_and_keep_less,
         sizeof(networks) / sizeof(networks[0])},
        {a_dry_run_of_marked_layers_predicts_the_peak, 0},
        {any_request_may_fail_and_everything_is_freed, 0},
        {NULL, 0},
    };
    return harness_main("recompute_nets", tests);
}
