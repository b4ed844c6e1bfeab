// test_fold.c -- batch norms folded into the products before them: which can be folded and which
// not, equal values, fewer ops, and a model that stays whole when memory runs out.
#include <math.h>
#include <stdlib.h>

#include "layers/containers.h"
#include "layers/cost.h"
#include "layers/layers2d.h"
#include "layers/models/models.h"
#include "tensor/memory.h"
#include "tensor/op.h"
#include "tests/helpers/expect.h"

// Sets statistics and weights to values other than 0 and 1.
static void stir(Layer *model) {
    ParameterList list;
    ck_assert_int_eq(layer_state(model, &list), STATUS_OK);
    for (int i = 0; i < list.count; i++) {
        Tensor *t = list.items[i].tensor;
        if (t->dtype == DTYPE_FLOAT32 && t->shape.ndim == 1)
            ck_assert_int_eq(tensor_fill_uniform(t, 0.5f, 1.5f), STATUS_OK);
    }
    parameter_list_free(&list);
}

typedef struct Counter {
    Observer observer; // must be first
    int64_t ops;
} Counter;

static void count_op(Observer *self, const OpCall *call) {
    (void)call;
    ((Counter *)self)->ops++;
}

// Counts the ops of a forward.
static int64_t count_ops(Layer *model, Tensor *x) {
    Counter counter = {.observer = {.op_end = count_op}};
    observer_add(&counter.observer);
    layer_forward(model, x);
    observer_remove(&counter.observer);
    expect_no_error();
    return counter.ops;
}

// Folds a model and compares its results before and after.
static int64_t fold(Layer *model, Tensor *x) {
    int64_t count = -1;
    stir(model);
    layer_train(model, false);
    Scope *scope = scope_open();
    no_grad_begin();
    int64_t before = count_ops(model, x);
    Tensor *want = layer_forward(model, x);
    ck_assert_int_eq(layer_fold_norms(model, &x, 1, &count), STATUS_OK);
    Tensor *got = layer_forward(model, x);
    ck_assert_msg(got && want, "%s", error_message());
    double largest = 0.0, apart = 0.0;
    for (int64_t i = 0; i < want->numel; i++) {
        double w = (double)tensor_data(want)[i], g = (double)tensor_data(got)[i];
        largest = fmax(largest, fabs(w));
        apart = fmax(apart, fabs(w - g));
    }
    ck_assert_msg(apart <= 1e-5 * largest, "%g of %g", apart, largest);
    ck_assert_int_eq(count_ops(model, x), before - count);
    no_grad_end();
    scope_close(scope);
    return count;
}

START_TEST(published_networks_lose_every_norm) {
    static const struct {
        int64_t norms, parameters; // after: half of a norm's become biases; VGG has biases already
    } want[] = {{20, 11689512 - 4800}, {52, 3504872 - 17056}, {8, 132863336}};
    Layer *model = _i == 0   ? resnet_new(resnet_defaults())
                   : _i == 1 ? mobilenet_v2_new(1.0f, 1000)
                             : vgg_new(11, true, 1000);
    Tensor *x = tensor_uniform_new(SHAPE(2, 3, 32, 32), -1.0f, 1.0f);
    ck_assert_int_eq(fold(model, x), want[_i].norms);
    ck_assert_int_eq(layer_parameter_count(model), want[_i].parameters);
    tensor_free(x);
    layer_free(model);
}
END_TEST

static Layer *conv_new(bool bias) {
    return conv2d_new(4, 4, 3, 3, conv2d_padded(conv2d_defaults(), 1), bias);
}

static Layer *norm_new(bool affine, bool tracks) {
    BatchNormOptions options = batch_norm_defaults();
    options.affine = affine;
    options.track_running_stats = tracks;
    return batch_norm2d_new(4, options);
}

static Layer *chain(Layer *a, Layer *b, Layer *c) {
    Layer *self = sequential_new();
    layer_append(self, a);
    layer_append(self, b);
    if (c) layer_append(self, c);
    return self;
}

// Two layers share one weight: scaling it would change the other layer.
static Layer *shared_new(void) {
    Layer *model = chain(conv_new(false), norm_new(true, true), conv_new(false));
    ck_assert_int_eq(layer_tie(model, "2.weight", "0.weight"), STATUS_OK);
    return model;
}

// Two layers share one bias, which the norm's shift would change for both.
static Layer *shared_bias_new(void) {
    Layer *model = chain(conv_new(true), norm_new(true, true), conv_new(true));
    ck_assert_int_eq(layer_tie(model, "2.bias", "0.bias"), STATUS_OK);
    return model;
}

// A program's own layer, whose weight is not its first parameter.
typedef struct Scaled {
    Layer layer;
    bool has_bias;
} Scaled;
static Tensor *scaled(Layer *self, Tensor *const in[], int n_in) {
    (void)n_in;
    Tensor *x = tensor_mul(in[0], self->parameters[0].tensor);
    return tensor_linear(x, self->parameters[1].tensor, self->parameters[2].tensor, NULL);
}

START_TEST(a_product_whose_weight_comes_second_stays) {
    static const LayerAttribute attributes[] = {
        {"bias", ATTRIBUTE_FLAG, offsetof(Scaled, has_bias)}};
    const LayerType type = {.name = "Scaled",
                            .size = sizeof(Scaled),
                            .attributes = attributes,
                            .n_attributes = 1,
                            .forward = scaled};
    Layer *own = layer_new(&type), *model;
    ((Scaled *)own)->has_bias = true;
    layer_add_parameter(own, "scale", tensor_full_new(SHAPE(3, 3), 2.0f));
    layer_add_parameter(own, "weight", tensor_uniform_new(SHAPE(3, 3), -1.0f, 1.0f));
    layer_add_parameter(own, "bias", tensor_full_new(SHAPE(3), 1.0f));
    model = chain(own, batch_norm1d_new(3, batch_norm_defaults()), NULL);
    Tensor *x = tensor_uniform_new(SHAPE(3, 3), -1.0f, 1.0f);
    ck_assert_int_eq(fold(model, x), 0);
    tensor_free(x);
    layer_free(model);
}
END_TEST

// With input (n, length, features) a linear layer acts on features, but a norm on lengths, even if
// both sizes are equal.
START_TEST(a_norm_of_another_dimension_stays) {
    for (int64_t length = 3; length < 8; length++) {
        Layer *norm = batch_norm1d_new(length, batch_norm_defaults());
        Layer *model = chain(linear_new(6, 5, length % 2 == 0), norm, NULL);
        Tensor *x = tensor_uniform_new(SHAPE(2, length, 6), -1.0f, 1.0f);
        ck_assert_int_eq(fold(model, x), 0);
        tensor_free(x);
        layer_free(model);
    }
    Layer *model = chain(linear_new(6, 4, true), norm_new(true, true), NULL);
    Tensor *x = tensor_uniform_new(SHAPE(2, 4, 3, 6), -1.0f, 1.0f);
    ck_assert_int_eq(fold(model, x), 0);
    tensor_free(x);
    layer_free(model);
}
END_TEST

// The product's weight is also an embedding table, which the norm's scale must not change.
START_TEST(a_weight_that_is_a_table_too_stays) {
    Layer *model = chain(embedding_new(3, 2), linear_new(2, 3, false),
                         batch_norm1d_new(3, batch_norm_defaults()));
    ck_assert_int_eq(layer_tie(model, "1.weight", "0.weight"), STATUS_OK);
    Tensor *ids = tensor_from_labels_new(SHAPE(3), (int64_t[]){0, 1, 2});
    ck_assert_int_eq(fold(model, ids), 0);
    tensor_free(ids);
    layer_free(model);
}
END_TEST

// The convolution's result is also added.
static Layer *used_twice_new(void) {
    Layer *body = residual_new();
    layer_append(body, norm_new(true, true));
    return chain(conv_new(true), body, NULL);
}

// The norm also runs on a result of no product.
static Tensor *norm_twice(Layer *self, Tensor *const in[], int n_in) {
    Layer *const *child = self->children;
    (void)n_in;
    Tensor *y = layer_forward(child[1], layer_forward(child[0], in[0]));
    return layer_forward(child[1], tensor_relu(y));
}
static const LayerType norm_twice_type = {.name = "Twice",
                                          .size = sizeof(Layer),
                                          .forward = norm_twice};

// The first norm also runs on a second convolution, and a second norm on the first convolution.
static Tensor *norms_cross(Layer *self, Tensor *const in[], int n_in) {
    Layer *const *child = self->children;
    (void)n_in;
    Tensor *y = layer_forward(child[0], in[0]);
    Tensor *first = layer_forward(child[1], y), *second = layer_forward(child[2], y);
    Tensor *other = layer_forward(child[1], layer_forward(child[3], in[0]));
    return tensor_add(tensor_add(first, second), other);
}
static const LayerType norms_cross_type = {.name = "Cross",
                                           .size = sizeof(Layer),
                                           .forward = norms_cross};

// The convolution's result is also an output.
static Status both_results(Layer *self, Tensor *const in[], int n_in, Tensor *out[]) {
    (void)n_in;
    out[1] = layer_forward(self->children[0], in[0]);
    out[0] = layer_forward(self->children[1], out[1]);
    return error_status();
}
static const LayerType both_results_type = {
    .name = "Both", .size = sizeof(Layer), .forward_each = both_results, .n_outputs = 2};

static Layer *conv_and_norm_in(Layer *self) {
    layer_append(self, conv_new(true));
    layer_append(self, norm_new(true, true));
    return self;
}

START_TEST(a_norm_is_folded_only_where_nobody_else_notices) {
    Layer *const models[] = {
        chain(conv_new(true), norm_new(true, true), relu_new()),
        chain(conv_new(false), norm_new(false, true), relu_new()),
        chain(norm_new(true, true), conv_new(false), norm_new(true, true)), // the second norm
        chain(conv_new(true), relu_new(), norm_new(true, true)),            // not after a product
        chain(conv_new(true), norm_new(true, false), NULL),                 // uses batch statistics
        shared_new(),
        shared_bias_new(),
        used_twice_new(),
        conv_and_norm_in(layer_new(&norm_twice_type)),
        conv_and_norm_in(layer_new(&both_results_type)),
        conv_and_norm_in(layer_new(&norms_cross_type)),
    };
    layer_append(models[10], norm_new(true, true));
    layer_append(models[10], conv_new(true));
    static const int64_t want[] = {1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0};
    Tensor *x = tensor_uniform_new(SHAPE(2, 4, 5, 5), -1.0f, 1.0f);
    for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
        ck_assert_int_eq(fold(models[i], x), want[i]);
        layer_free(models[i]);
    }
    tensor_free(x);
}
END_TEST

START_TEST(behind_a_linear_layer_too_unless_it_is_fused) {
    for (int fused = 0; fused < 2; fused++) {
        Layer *linear = linear_new_fused(3, 5, true, fused ? &op_relu : NULL);
        Layer *model = chain(linear, batch_norm1d_new(5, batch_norm_defaults()), NULL);
        Tensor *x = tensor_uniform_new(SHAPE(7, 3), -1.0f, 1.0f);
        ck_assert_int_eq(fold(model, x), !fused);
        tensor_free(x);
        layer_free(model);
    }
}
END_TEST

START_TEST(on_meta_the_counts_follow) {
    context_set_device(device_meta());
    ResNetOptions options = resnet_defaults();
    Layer *model = resnet_new(options);
    Tensor *x = tensor_new(SHAPE(1, 3, 224, 224), DTYPE_FLOAT32);
    int64_t count;
    LayerCost before, after;
    layer_train(model, false);
    ck_assert_int_eq(layer_cost(model, &x, 1, &before), STATUS_OK);
    ck_assert_int_eq(layer_fold_norms(model, &x, 1, &count), STATUS_OK);
    ck_assert_int_eq(layer_cost(model, &x, 1, &after), STATUS_OK);
    ck_assert_int_eq(count, 20);
    ck_assert_uint_eq(after.phase[PHASE_FORWARD].macs, before.phase[PHASE_FORWARD].macs);
    // The norms' biases become the convolutions'; one subtraction and one product less per number.
    ck_assert_uint_eq(after.phase[PHASE_FORWARD].bias_flops,
                      before.phase[PHASE_FORWARD].bias_flops);
    ck_assert_uint_ge(before.phase[PHASE_FORWARD].elementwise_flops,
                      after.phase[PHASE_FORWARD].elementwise_flops + 2 * 2483712);
    ck_assert_uint_lt(after.phase[PHASE_FORWARD].bytes_read,
                      before.phase[PHASE_FORWARD].bytes_read);
    tensor_free(x);
    layer_free(model);
}
END_TEST

// After any failed allocation the model computes the same: a norm is folded whole or not at all.
START_TEST(a_failure_leaves_a_model_that_gives_the_same) {
    Tensor *x = tensor_uniform_new(SHAPE(2, 4, 5, 5), -1.0f, 1.0f);
    for (uint64_t n = 1;; n++) {
        Layer *model = chain(conv_new(false), norm_new(true, true), relu_new());
        int64_t count;
        stir(model);
        layer_train(model, false);
        Scope *scope = scope_open();
        Tensor *want = layer_forward(model, x);
        memory_fail_at(n);
        Status status = layer_fold_norms(model, &x, 1, &count);
        memory_fail_at(0);
        if (status) {
            ck_assert_int_eq(status, STATUS_OUT_OF_MEMORY);
            error_clear();
        }
        Tensor *got = layer_forward(model, x);
        for (int64_t i = 0; i < want->numel; i++)
            ck_assert(fabsf(tensor_data(got)[i] - tensor_data(want)[i]) <
                      1e-5f + 1e-5f * fabsf(tensor_data(want)[i]));
        scope_close(scope);
        layer_free(model);
        if (!status) break;
        ck_assert_int_eq(count, 0);
    }
    tensor_free(x);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {published_networks_lose_every_norm, 3},
        {a_norm_is_folded_only_where_nobody_else_notices, 0},
        {a_product_whose_weight_comes_second_stays, 0},
        {a_norm_of_another_dimension_stays, 0},
        {a_weight_that_is_a_table_too_stays, 0},
        {behind_a_linear_layer_too_unless_it_is_fused, 0},
        {on_meta_the_counts_follow, 0},
        {a_failure_leaves_a_model_that_gives_the_same, 0},
        {NULL, 0},
    };
    return harness_main("fold", tests);
}
