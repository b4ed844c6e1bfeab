// test_conv.c -- convolutions and pools beyond their values (test_ops.c): saved tensors, workspace,
// dry runs that predict both; costs by closed formulas.
#include <math.h>
#include <string.h>

#include "layers/cost.h"
#include "layers/models/models.h"
#include "layers/train/fit.h"
#include "tensor/memory.h"
#include "tensor/random.h"
#include "tests/helpers/expect.h"

// ---- a convolution at random -----------------------------------------------------------------
typedef struct Case {
    int64_t n, in, out, height, width, kernel_h, kernel_w;
    Conv2dOptions options;
    bool bias;
} Case;

static int64_t below(RandomState *random, int64_t n) { return random_next_below(random, n); }

static Case case_random(int seed) {
    RandomState random = {.seed = 77000 + (uint64_t)seed};
    Case c = {.n = 1 + below(&random, 3), .bias = below(&random, 2) == 0};
    c.options = conv2d_defaults();
    c.options.groups = 1 + below(&random, 3);
    c.in = c.options.groups * (1 + below(&random, 3));
    c.out = c.options.groups * (1 + below(&random, 3));
    c.kernel_h = 1 + below(&random, 3);
    c.kernel_w = 1 + below(&random, 3);
    c.options.stride_h = 1 + below(&random, 2);
    c.options.stride_w = 1 + below(&random, 2);
    c.options.dilation_h = 1 + below(&random, 2);
    c.options.dilation_w = 1 + below(&random, 2);
    c.options.padding_top = below(&random, 3);
    c.options.padding_bottom = below(&random, 3);
    c.options.padding_left = below(&random, 3);
    c.options.padding_right = below(&random, 3);
    c.height = 5 + below(&random, 30);
    c.width = 5 + below(&random, 30);
    return c;
}

static Layer *case_layer_new(const Case *c) {
    return conv2d_new(c->in, c->out, c->kernel_h, c->kernel_w, c->options, c->bias);
}

static int64_t outputs_along(int64_t size, int64_t padding, int64_t span, int64_t stride) {
    return (size + padding - span) / stride + 1;
}

START_TEST(costs_are_those_of_the_closed_formula) {
    Case c = case_random(_i);
    const Conv2dOptions *o = &c.options;
    Layer *layer = case_layer_new(&c);
    Tensor *x = tensor_zeros_new(SHAPE(c.n, c.in, c.height, c.width));
    LayerCost cost;
    ck_assert_int_eq(layer_cost(layer, &x, 1, &cost), STATUS_OK);
    uint64_t ho = (uint64_t)outputs_along(c.height, o->padding_top + o->padding_bottom,
                                          o->dilation_h * (c.kernel_h - 1) + 1, o->stride_h);
    uint64_t wo = (uint64_t)outputs_along(c.width, o->padding_left + o->padding_right,
                                          o->dilation_w * (c.kernel_w - 1) + 1, o->stride_w);
    uint64_t outputs = (uint64_t)(c.n * c.out) * ho * wo;
    uint64_t macs = outputs * (uint64_t)(c.in / o->groups * c.kernel_h * c.kernel_w);
    uint64_t numel = (uint64_t)x->numel, weights = (uint64_t)layer->parameters[0].tensor->numel;
    uint64_t biases = c.bias ? (uint64_t)c.out : 0;
    const OpCost *forward = &cost.phase[PHASE_FORWARD],
                 *weight = &cost.phase[PHASE_BACKWARD_WEIGHT];
    ck_assert_uint_eq(forward->macs, macs);
    ck_assert_uint_eq(forward->bias_flops, c.bias ? outputs : 0);
    ck_assert_uint_eq(forward->bytes_read, 4 * (numel + weights + biases));
    ck_assert_uint_eq(forward->bytes_written, 4 * outputs);
    ck_assert_uint_eq(weight->macs, macs);
    ck_assert_uint_eq(weight->elementwise_flops, c.bias ? outputs - biases : 0);
    ck_assert_uint_eq(weight->bytes_written, 4 * (weights + biases));
    ck_assert_uint_eq(cost.phase[PHASE_BACKWARD_INPUT].macs, 0); // nobody wants it
    ck_assert_int_eq(cost.saved_bytes, 0);                       // x is data, so it is not counted
    tensor_requires_grad(x, true);
    ck_assert_int_eq(layer_cost(layer, &x, 1, &cost), STATUS_OK);
    ck_assert_uint_eq(cost.phase[PHASE_BACKWARD_INPUT].macs, macs);
    ck_assert_uint_eq(cost.phase[PHASE_BACKWARD_INPUT].bytes_written, 4 * numel);
    tensor_free(x);
    layer_free(layer);
}
END_TEST

// ---- saved tensors ---------------------------------------------------------------------------
typedef struct Watch {
    Observer observer; // must be first
    int64_t saved, activations, workspace, most_workspace;
} Watch;

static void saved(Observer *self, const Storage *storage, int site) {
    (void)site;
    ((Watch *)self)->saved += storage->bytes;
}

static void changed(Observer *self, const Storage *storage, int64_t delta) {
    Watch *watch = (Watch *)self;
    if (storage->category != MEM_WORKSPACE) return;
    watch->workspace += delta;
    if (watch->workspace > watch->most_workspace) watch->most_workspace = watch->workspace;
}

static Watch watch_start(void) { return (Watch){.observer = {.saved = saved, .storage = changed}}; }

START_TEST(a_convolution_saves_what_its_gradients_read) {
    Tensor *x = tensor_uniform_new(SHAPE(2, 3, 8, 8), -1.0f, 1.0f);
    Tensor *weight = tensor_uniform_new(SHAPE(4, 3, 3, 3), -1.0f, 1.0f);
    Tensor *bias = tensor_uniform_new(SHAPE(4), -1.0f, 1.0f);
    for (int wanted = 1; wanted < 8; wanted++) {
        tensor_requires_grad(x, wanted & 1);
        tensor_requires_grad(weight, wanted & 2);
        tensor_requires_grad(bias, wanted & 4);
        Watch watch = watch_start();
        observer_add(&watch.observer);
        Scope *scope = scope_open();
        tensor_conv2d(x, weight, bias, conv2d_defaults());
        int64_t want = (wanted & 1 ? tensor_bytes(weight) : 0) + (wanted & 2 ? tensor_bytes(x) : 0);
        ck_assert_msg(watch.saved == want, "gradients %d: saved %lld, not %lld", wanted,
                      (long long)watch.saved, (long long)want);
        scope_close(scope);
        observer_remove(&watch.observer);
    }
    tensor_free(x);
    tensor_free(weight);
    tensor_free(bias);
}
END_TEST

START_TEST(pools_save_no_values) {
    Tensor *x = tensor_uniform_new(SHAPE(2, 3, 8, 8), -1.0f, 1.0f);
    int64_t outputs = 2 * 3 * 4 * 4, live = 0;
    for (int gradient = 0; gradient < 2; gradient++) {
        tensor_requires_grad(x, gradient);
        Watch watch = watch_start();
        observer_add(&watch.observer);
        Scope *scope = scope_open();
        live = expect_live_bytes();
        tensor_max_pool2d(x, pool2d_defaults(2));
        ck_assert_int_eq(watch.saved, gradient ? 8 * outputs : 0); // only places, if wanted
        ck_assert_int_eq(expect_live_bytes() - live, (gradient ? 12 : 4) * outputs);
        tensor_avg_pool2d(x, pool2d_defaults(2));
        tensor_adaptive_avg_pool2d(x, 4, 4);
        ck_assert_int_eq(watch.saved, gradient ? 8 * outputs : 0);
        scope_close(scope);
        observer_remove(&watch.observer);
    }
    tensor_free(x);
}
END_TEST

// ---- workspace -------------------------------------------------------------------------------
static Status run_back(Layer *layer, Tensor *x) {
    Scope *scope = scope_open();
    Tensor *y = layer_forward(layer, x);
    Tensor *grad = y ? tensor_new_as(tensor_shape(y), DTYPE_FLOAT32, MEM_ACTIVATION) : NULL;
    if (grad) memset(grad->storage->data, 0, (size_t)grad->storage->bytes);
    Status status = grad ? autograd_backward_from(y, grad) : error_status();
    tensor_free(grad);
    scope_close(scope);
    return status;
}

// Checks a peak caused by workspace: small activations, a large unfolding.
static void check_peak(Layer *layer, Tensor *x, const char *what) {
    LayerCost cost;
    ck_assert_int_eq(layer_cost(layer, &x, 1, &cost), STATUS_OK);
    ledger_reset_peak(context_ledger());
    int64_t live = expect_live_bytes();
    ck_assert_msg(run_back(layer, x) == STATUS_OK, "%s", error_message());
    MemoryUse peak = context_ledger()->peak;
    peak.category[MEM_DATA] -= tensor_bytes(x); // x is the caller's
    for (int c = 0; c < MEM_COUNT; c++)
        ck_assert_msg(cost.peak.category[c] == peak.category[c],
                      "%s, %d threads: %s: predicted %lld, measured %lld", what,
                      context_current()->threads, memory_category_name((MemoryCategory)c),
                      (long long)cost.peak.category[c], (long long)peak.category[c]);
    ck_assert_int_eq(context_ledger()->live.category[MEM_WORKSPACE], 0);
    ck_assert_int_ge(expect_live_bytes(), live);
}

START_TEST(a_dry_run_predicts_the_peak_with_its_workspace) {
    static const int threads[] = {1, 2, 3, 8};
    for (int t = 0; t < 4; t++) {
        context_set_threads(threads[t]);
        Case c = case_random(_i);
        c.height += 20; // so that some use several threads
        c.out *= 7;
        Layer *layer = case_layer_new(&c);
        Tensor *x = tensor_uniform_new(SHAPE(c.n, c.in, c.height, c.width), -1.0f, 1.0f);
        tensor_requires_grad(x, true);
        check_peak(layer, x, "convolution");
        tensor_free(x);
        layer_free(layer);
    }
    Layer *model = lenet5_new(10);
    Tensor *x = tensor_uniform_new(SHAPE(5, 1, 32, 32), 0.0f, 1.0f);
    check_peak(model, x, "lenet5");
    ck_assert_int_gt(context_ledger()->peak.total, 0);
    tensor_free(x);
    layer_free(model);
}
END_TEST

static int64_t most_workspace(const Case *c, int threads) {
    Watch watch = watch_start();
    context_set_threads(threads);
    Layer *layer = case_layer_new(c);
    Tensor *x = tensor_new(SHAPE(c->n, c->in, c->height, c->width), DTYPE_FLOAT32);
    tensor_requires_grad(x, true);
    Context *dry = dry_run_begin(layer);
    observer_add(&watch.observer);
    Scope *scope = scope_open();
    Tensor *y = layer_forward(layer, x);
    Tensor *grad = tensor_new_as(tensor_shape(y), DTYPE_FLOAT32, MEM_ACTIVATION);
    ck_assert_int_eq(autograd_backward_from(y, grad), STATUS_OK);
    tensor_free(grad);
    scope_close(scope);
    observer_remove(&watch.observer);
    dry_run_end(dry);
    tensor_free(x);
    layer_free(layer);
    return watch.most_workspace;
}

START_TEST(workspace_is_bounded_whatever_the_image) {
    const int64_t most = 4 * ((1 << 17) + 8); // 512 KiB a thread, plus the copies' overshoot
    context_set_device(device_meta());
    Conv2dOptions padded = conv2d_padded(conv2d_defaults(), 1), grouped = padded;
    grouped.groups = 4;
    const Case cases[] = {
        {1, 3, 64, 4096, 4096, 3, 3, padded, true},   {32, 512, 512, 28, 28, 3, 3, padded, true},
        {1, 1, 1, 3, 1 << 24, 1, 1001, padded, true}, {2, 4096, 8, 9, 9, 7, 7, padded, false},
        {64, 64, 64, 56, 56, 3, 3, grouped, true},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for (int threads = 1; threads <= 16; threads *= 4) {
            int64_t bytes = most_workspace(&cases[i], threads);
            ck_assert_msg(bytes > 0 && bytes <= threads * most, "case %zu, %d threads: %lld", i,
                          threads, (long long)bytes);
        }
    Conv2dOptions apart = padded;
    apart.groups = 64;
    const Case none[] = {{8, 64, 64, 56, 56, 3, 3, apart, true}, // depthwise; 1 x 1
                         {8, 64, 128, 56, 56, 1, 1, conv2d_defaults(), true}};
    for (int i = 0; i < 2; i++) ck_assert_int_eq(most_workspace(&none[i], 2), 0);
}
END_TEST

// ---- memory that runs out --------------------------------------------------------------------
static void add(Layer *model, const char *name, Layer *child) {
    if (model)
        layer_add_child(model, name, child);
    else
        layer_free(child);
}

static Layer *network_new(void) {
    Layer *model = sequential_new();
    add(model, "conv", conv2d_new(2, 3, 3, 3, conv2d_defaults(), true));
    add(model, "max", max_pool2d_new(pool2d_defaults(2)));
    add(model, "conv2", conv2d_new(3, 3, 2, 2, conv2d_defaults(), true));
    add(model, "mean", avg_pool2d_new(pool2d_defaults(2)));
    add(model, "all", adaptive_avg_pool2d_new(1, 1));
    if (!error_pending()) return model;
    layer_free(model);
    return NULL;
}

START_TEST(any_request_may_fail) {
    float values[2 * 2 * 12 * 12] = {0};
    int failures = 0;
    for (uint64_t n = 1; n < 1000; n++, failures++) {
        Context *context = context_new();
        context_push(context);
        context_set_threads(1);
        memory_fail_at(n);
        Layer *model = network_new();
        Tensor *x = model ? tensor_from_floats_new(SHAPE(2, 2, 12, 12), values) : NULL;
        Status status = x ? run_back(model, x) : error_status();
        memory_fail_at(0);
        bool done = status == STATUS_OK;
        ck_assert(done || error_status() == STATUS_OUT_OF_MEMORY);
        error_clear();
        tensor_free(x);
        layer_free(model);
        if (context->ledger) ck_assert_int_eq(context->ledger->live.total, 0);
        context_pop();
        context_free(context);
        if (done) break;
    }
    ck_assert_int_gt(failures, 60);
}
END_TEST

// ---- odd windows -----------------------------------------------------------------------------
START_TEST(a_window_of_padding_alone_is_minus_infinity_and_takes_no_gradient) {
    Tensor *x = tensor_from_floats_new(SHAPE(1, 1, 1, 4), (float[]){1, 2, 3, 4});
    tensor_requires_grad(x, true);
    Pool2dOptions options = {.kernel_h = 1, .kernel_w = 2, .dilation_h = 1, .dilation_w = 5};
    options.padding_left = options.padding_right = 1; // the taps at -1 and 4 are in no other window
    options.stride_h = options.stride_w = 1;
    Scope *scope = scope_open();
    Tensor *y = tensor_max_pool2d(x, options), *one = tensor_full_new(SHAPE(1, 1, 1, 1), 1.0f);
    expect_values(y, -HUGE_VAL);
    ck_assert_int_eq(autograd_backward_from(y, one), STATUS_OK);
    expect_values(tensor_grad(x), 0, 0, 0, 0);
    tensor_free(one);
    scope_close(scope);
    tensor_free(x);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {costs_are_those_of_the_closed_formula, 40},
        {a_convolution_saves_what_its_gradients_read, 0},
        {pools_save_no_values, 0},
        {a_dry_run_predicts_the_peak_with_its_workspace, 12},
        {workspace_is_bounded_whatever_the_image, 0},
        {any_request_may_fail, 0},
        {a_window_of_padding_alone_is_minus_infinity_and_takes_no_gradient, 0},
        {NULL, 0},
    };
    return harness_main("conv", tests);
}
