// test_cost.c -- the dry run: what layer_cost says before a run equals what a real run on the CPU
// executes, and closed formulas written here on their own; and it leaves no trace on the model.
#include <string.h>
#include <time.h>

#include "layers/cost.h"
#include "layers/train/fit.h"
#include "tensor/memory.h"
#include "tests/expect.h"

// Field by field, so that a failure names what differs.
#define assert_cost(got, want, what)                                                               \
    do {                                                                                           \
        const OpCost g = (got), w = (want);                                                        \
        ck_assert_msg(memcmp(&g, &w, sizeof g) == 0,                                               \
                      "%s: macs %llu (%llu), bias %llu (%llu), elementwise %llu (%llu), "          \
                      "transcendental %llu (%llu), read %llu (%llu), written %llu (%llu)",         \
                      what, (unsigned long long)g.macs, (unsigned long long)w.macs,                \
                      (unsigned long long)g.bias_flops, (unsigned long long)w.bias_flops,          \
                      (unsigned long long)g.elementwise_flops,                                     \
                      (unsigned long long)w.elementwise_flops,                                     \
                      (unsigned long long)g.transcendental_flops,                                  \
                      (unsigned long long)w.transcendental_flops,                                  \
                      (unsigned long long)g.bytes_read, (unsigned long long)w.bytes_read,          \
                      (unsigned long long)g.bytes_written, (unsigned long long)w.bytes_written);   \
    } while (0)

static uint64_t macs_of_backward(const LayerCost *cost) {
    return cost->phase[PHASE_BACKWARD].macs + cost->phase[PHASE_BACKWARD_INPUT].macs +
           cost->phase[PHASE_BACKWARD_WEIGHT].macs;
}

// ---- known numbers ----------------------------------------------------------------------------
START_TEST(the_mlp_784_512_10_costs_what_the_conventions_say) {
    Layer *model = mlp_new((int64_t[]){784, 512, 10}, 3, mlp_defaults());
    Tensor *x = tensor_zeros_new(SHAPE(1, 784));
    LayerCost cost;
    ck_assert_int_eq(layer_cost(model, &x, 1, &cost), STATUS_OK);
    ck_assert_uint_eq(cost.phase[PHASE_FORWARD].macs, 406528);
    ck_assert_uint_eq(2 * cost.phase[PHASE_FORWARD].macs, 813056);
    ck_assert_uint_eq(cost.phase[PHASE_FORWARD].bias_flops, 522);
    ck_assert_uint_eq(cost.phase[PHASE_FORWARD].elementwise_flops, 512);
    ck_assert_uint_eq(2 * macs_of_backward(&cost), 823296);
    ck_assert_uint_eq(2 * cost.phase[PHASE_BACKWARD_WEIGHT].macs, 813056);
    ck_assert_uint_eq(2 * cost.phase[PHASE_BACKWARD_INPUT].macs, 10240); // fc2's alone
    ck_assert_uint_eq(op_cost_total_flops(cost.phase[PHASE_FORWARD]), 813056 + 522 + 512);
    ck_assert_int_eq(cost.saved_bytes, 4 * 512);
    ck_assert_int_eq(cost.peak.category[MEM_PARAMETER], 4 * 407050);
    ck_assert_int_eq(cost.uncounted, 0);
    tensor_requires_grad(x, true); // then fc1 has an input gradient, too
    layer_cost(model, &x, 1, &cost);
    ck_assert_uint_eq(2 * macs_of_backward(&cost), 2 * 813056);
    tensor_free(x);
    layer_free(model);
}
END_TEST

// ---- closed formulas --------------------------------------------------------------------------
typedef struct Mlp { // a random one
    int64_t sizes[8], batch;
    int n_sizes;
    MlpOptions options;
} Mlp;

static Mlp mlp_random(int seed) {
    RandomState random = {.seed = 4000 + (uint64_t)seed};
    Mlp mlp = {.n_sizes = 2 + (int)random_next_below(&random, 5)};
    for (int i = 0; i < mlp.n_sizes; i++) mlp.sizes[i] = 1 + random_next_below(&random, 60);
    mlp.batch = 1 + random_next_below(&random, 9);
    mlp.options = (MlpOptions){.activation = (Activation)(seed % ACTIVATION_COUNT),
                               .bias = seed / ACTIVATION_COUNT % 2,
                               .fuse = seed / ACTIVATION_COUNT / 2 % 2};
    return mlp;
}

// Per element: forward + - * / and transcendentals, then the same of the slope times the gradient.
static const uint64_t activation_flops[ACTIVATION_COUNT][4] = {
    [ACTIVATION_RELU] = {1, 0, 1, 0},       [ACTIVATION_SIGMOID] = {2, 1, 3, 0},
    [ACTIVATION_TANH] = {0, 1, 3, 0},       [ACTIVATION_GELU] = {4, 1, 9, 2},
    [ACTIVATION_GELU_TANH] = {8, 1, 17, 1},
};

static void add_traffic(OpCost *cost, uint64_t floats_read, uint64_t floats_written) {
    cost->bytes_read += 4 * floats_read;
    cost->bytes_written += 4 * floats_written;
}

static void add_activation(LayerCost *want, const Mlp *mlp, uint64_t n) {
    const uint64_t *flops = activation_flops[mlp->options.activation];
    bool fused = mlp->options.fuse;
    OpCost *forward = &want->phase[PHASE_FORWARD];
    OpCost *backward = &want->phase[fused ? PHASE_BACKWARD : PHASE_BACKWARD_INPUT];
    bool gelu = mlp->options.activation >= ACTIVATION_GELU;
    forward->elementwise_flops += flops[0] * n;
    forward->transcendental_flops += flops[1] * n;
    backward->elementwise_flops += flops[2] * n;
    backward->transcendental_flops += flops[3] * n;
    if (!fused)
        add_traffic(forward, n, n);
    else if (gelu)
        add_traffic(forward, 0, n); // what went into the GELU is an output of its own
    add_traffic(backward, 2 * n, n);
    if (gelu) want->saved_bytes += 4 * (int64_t)n;
}

static LayerCost closed_formulas(const Mlp *mlp) {
    LayerCost want = {0};
    OpCost *forward = &want.phase[PHASE_FORWARD], *input = &want.phase[PHASE_BACKWARD_INPUT];
    OpCost *weight = &want.phase[PHASE_BACKWARD_WEIGHT];
    uint64_t b = (uint64_t)mlp->batch;
    for (int i = 0; i + 1 < mlp->n_sizes; i++) {
        uint64_t in = (uint64_t)mlp->sizes[i], out = (uint64_t)mlp->sizes[i + 1];
        bool last = i + 2 == mlp->n_sizes;
        forward->macs += b * in * out;
        add_traffic(forward, b * in + in * out, b * out);
        weight->macs += b * in * out;
        add_traffic(weight, b * out + b * in, in * out);
        if (mlp->options.bias) {
            forward->bias_flops += b * out;
            add_traffic(forward, out, 0);
            weight->elementwise_flops += (b - 1) * out;
            add_traffic(weight, b * out, out);
        }
        if (i > 0) { // the first layer's input needs no gradient, and is data, not activation
            input->macs += b * in * out;
            add_traffic(input, b * out + in * out, b * in);
            want.saved_bytes += 4 * (int64_t)(b * in);
        }
        if (!last && mlp->options.activation != ACTIVATION_NONE)
            add_activation(&want, mlp, b * out);
    }
    return want;
}

// ---- a real run, counted by an observer -------------------------------------------------------
typedef struct Executed {
    Observer observer; // first
    OpCost phase[PHASE_COUNT];
    int64_t ops;
} Executed;

static void add_op(Observer *self, const OpCall *call) {
    Executed *executed = (Executed *)self;
    executed->ops++;
    cost_add(&executed->phase[context_current()->phase], op_cost(call));
}

static MemoryUse run_for_real(Layer *model, Tensor *x, Executed *executed) {
    *executed = (Executed){.observer = {.op_end = add_op}};
    observer_add(&executed->observer);
    ledger_reset_peak(context_ledger());
    Scope *scope = scope_open();
    Tensor *out = layer_forward(model, x);
    ck_assert_msg(out != NULL, "%s", error_message());
    Tensor *grad = tensor_new_as(tensor_shape(out), DTYPE_FLOAT32, MEM_ACTIVATION);
    memset(grad->storage->data, 0, (size_t)grad->storage->bytes); // setting values is not an op
    ck_assert_int_eq(autograd_backward_from(out, grad), STATUS_OK);
    tensor_free(grad);
    scope_close(scope);
    observer_remove(&executed->observer);
    return context_ledger()->peak;
}

START_TEST(the_dry_run_equals_closed_formulas_and_a_real_run_in_every_field_and_phase) {
    Mlp mlp = mlp_random(_i);
    Layer *model = mlp_new(mlp.sizes, mlp.n_sizes, mlp.options);
    Tensor *x = tensor_normal_new(SHAPE(mlp.batch, mlp.sizes[0]), 0.0f, 1.0f);
    LayerCost cost, want = closed_formulas(&mlp);
    Executed executed;
    ck_assert_int_eq(layer_cost(model, &x, 1, &cost), STATUS_OK);
    MemoryUse peak = run_for_real(model, x, &executed);
    for (int p = 0; p < PHASE_COUNT; p++) {
        assert_cost(cost.phase[p], want.phase[p], phase_name((Phase)p));
        assert_cost(executed.phase[p], want.phase[p], phase_name((Phase)p));
    }
    ck_assert_int_eq(cost.ops, executed.ops);
    ck_assert_int_eq(cost.saved_bytes, want.saved_bytes);
    ck_assert_int_eq(cost.uncounted, 0);
    peak.category[MEM_DATA] -= tensor_bytes(x); // which is the caller's
    peak.total -= tensor_bytes(x);
    for (int c = 0; c < MEM_COUNT; c++)
        ck_assert_msg(cost.peak.category[c] == peak.category[c],
                      "%s: predicted %lld, measured %lld", memory_category_name((MemoryCategory)c),
                      (long long)cost.peak.category[c], (long long)peak.category[c]);
    ck_assert_int_eq(cost.peak.total, peak.total);
    tensor_free(x);
    layer_free(model);
}
END_TEST

// Loss and optimizer included: the same code in a dry run and for real.
START_TEST(a_whole_training_step_costs_dry_what_it_costs_for_real) {
    Layer *model = mlp_new((int64_t[]){20, 30, 5}, 3, mlp_defaults());
    Tensor *x = tensor_normal_new(SHAPE(8, 20), 0.0f, 1.0f);
    Tensor *labels = tensor_from_labels_new(SHAPE(8), (int64_t[]){0, 1, 2, 3, 4, 0, 1, 2});
    Executed executed[2];
    for (int dry = 0; dry < 2; dry++) {
        Context *context = dry ? dry_run_begin(model) : NULL;
        Optimizer *optimizer = optimizer_new(model, optimizer_defaults((OptimizerKind)_i));
        executed[dry] = (Executed){.observer = {.op_end = add_op}};
        observer_add(&executed[dry].observer);
        double loss;
        for (int step = 0; step < 2; step++)
            ck_assert_msg(train_step(model, optimizer, x, labels, &loss) == STATUS_OK, "%s",
                          error_message());
        observer_remove(&executed[dry].observer);
        optimizer_free(optimizer);
        dry_run_end(context);
    }
    ck_assert_uint_gt(executed[0].phase[PHASE_OPTIMIZER].elementwise_flops, 0);
    for (int p = 0; p < PHASE_COUNT; p++)
        assert_cost(executed[1].phase[p], executed[0].phase[p], phase_name((Phase)p));
    ck_assert_int_eq(executed[1].ops, executed[0].ops);
    tensor_free(x);
    tensor_free(labels);
    layer_free(model);
}
END_TEST

// ---- no trace ---------------------------------------------------------------------------------
static void train_once(Layer *model, Tensor *x) {
    Scope *scope = scope_open();
    autograd_backward(tensor_mean(layer_forward(model, x), DIM_ALL, false));
    scope_close(scope);
}

START_TEST(a_dry_run_leaves_the_model_its_gradients_and_the_context_as_they_were) {
    Layer *model = mlp_new((int64_t[]){20, 30, 5}, 3, mlp_defaults());
    Tensor *x = tensor_normal_new(SHAPE(8, 20), 0.0f, 1.0f), *parameter[4], handle[4];
    Storage storage[4];
    float values[4][600], gradients[4][600];
    train_once(model, x);
    ParameterList list;
    layer_parameters(model, &list);
    for (int i = 0; i < 4; i++) {
        parameter[i] = list.items[i].tensor;
        handle[i] = *parameter[i];
        storage[i] = *parameter[i]->storage;
        tensor_read_floats(parameter[i], values[i]);
        tensor_read_floats(tensor_grad(parameter[i]), gradients[i]);
    }
    RandomState random = context_current()->random;
    Ledger ledger = *context_ledger();
    LayerCost cost;
    ck_assert_int_eq(layer_cost(model, &x, 1, &cost), STATUS_OK);
    ck_assert_mem_eq(&ledger, context_ledger(), sizeof ledger);
    ck_assert_mem_eq(&random, &context_current()->random, sizeof random);
    ck_assert_int_eq(autograd_node_count(), 0);
    for (int i = 0; i < 4; i++) {
        size_t bytes = (size_t)tensor_bytes(parameter[i]);
        ck_assert_mem_eq(&handle[i], parameter[i], sizeof handle[i]);
        ck_assert_mem_eq(&storage[i], parameter[i]->storage, sizeof storage[i]);
        ck_assert_mem_eq(values[i], tensor_data(parameter[i]), bytes);
        ck_assert_mem_eq(gradients[i], tensor_data(tensor_grad(parameter[i])), bytes);
    }
    parameter_list_free(&list);
    tensor_free(x);
    layer_free(model);
}
END_TEST

START_TEST(a_dry_run_in_the_middle_of_a_step_does_not_disturb_it) {
    Layer *model = mlp_new((int64_t[]){20, 30, 5}, 3, mlp_defaults());
    Tensor *x = tensor_normal_new(SHAPE(8, 20), 0.0f, 1.0f), *bias;
    LayerCost before, between;
    bias = model->children[2]->parameters[1].tensor;
    layer_cost(model, &x, 1, &before);
    Scope *scope = scope_open();
    Tensor *loss = tensor_sum(layer_forward(model, x), DIM_ALL, false);
    layer_cost(model, &x, 1, &between);
    ck_assert_mem_eq(&before, &between, sizeof before);
    ck_assert_int_eq(autograd_backward(loss), STATUS_OK);
    expect_values(tensor_grad(bias), 8, 8, 8, 8, 8);
    scope_close(scope);
    tensor_free(x);
    layer_free(model);
}
END_TEST

// A layer that keeps running statistics: it writes into a tensor of its own.
static Tensor *running;
static Tensor *write_statistics(Layer *self, Tensor *const in[], int n_in) {
    (void)self, (void)n_in;
    no_grad_begin();
    tensor_accumulate(running, in[0]);
    tensor_fill(running, 0.0f);
    no_grad_end();
    return tensor_relu(in[0]);
}

START_TEST(a_dry_run_does_not_write_where_a_layer_writes_in_place) {
    const LayerType type = {.name = "Statistics",
                            .size = sizeof(Layer),
                            .forward = write_statistics};
    Layer *layer = layer_new(&type);
    Tensor *x = tensor_full_new(SHAPE(2), 1.0f);
    running = tensor_full_new(SHAPE(2), 5.0f);
    uint32_t version = running->storage->version;
    LayerCost cost;
    ck_assert_int_eq(layer_cost(layer, &x, 1, &cost), STATUS_OK);
    expect_values(running, 5, 5);
    ck_assert_uint_eq(running->storage->version, version);
    tensor_free(running);
    tensor_free(x);
    layer_free(layer);
}
END_TEST

// ---- models that no machine could hold --------------------------------------------------------
static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
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
    ck_assert_msg(elapsed < 0.5, "it took %g s", elapsed); // 0.0005 s when nothing else runs
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
    ck_assert_int_eq(layer_cost(NULL, &x, 1, &cost), STATUS_INVALID_ARGUMENT);
    expect_error(STATUS_INVALID_ARGUMENT, "no layer");
    ck_assert_ptr_eq(context_current(), before);
    tensor_free(x);
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
        {the_mlp_784_512_10_costs_what_the_conventions_say, 0},
        {the_dry_run_equals_closed_formulas_and_a_real_run_in_every_field_and_phase, 72},
        {a_whole_training_step_costs_dry_what_it_costs_for_real, OPTIMIZER_COUNT},
        {a_dry_run_leaves_the_model_its_gradients_and_the_context_as_they_were, 0},
        {a_dry_run_in_the_middle_of_a_step_does_not_disturb_it, 0},
        {a_dry_run_does_not_write_where_a_layer_writes_in_place, 0},
        {a_model_of_175_billion_parameters_is_costed_at_once_and_without_memory, 0},
        {a_dry_run_of_a_cpu_model_allocates_no_tensor_data, 0},
        {what_cannot_run_cannot_be_costed_and_says_why, 0},
        {without_gradients_there_is_only_a_forward, 0},
        {NULL, 0},
    };
    return harness_main("cost", tests);
}
