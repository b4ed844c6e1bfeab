// test_cost.c -- the predictions of layer_cost equal the counts of a real run on the CPU, and of
// closed formulas written here independently. test_dry_run.c tests what a dry run leaves alone.
#include <string.h>

#include "layers/cost.h"
#include "layers/train/fit.h"
#include "tests/helpers/expect.h"

// Compares field by field, so that a failure names the field.
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
    ck_assert_uint_eq(2 * cost.phase[PHASE_BACKWARD_INPUT].macs, 10240); // only fc2 has one
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

// Per element: basic ops and transcendentals of the forward, then those of slope times gradient;
// keeps_input: the slope is no function of the result.
static const struct {
    const Op *op;
    uint64_t flops[4];
    bool keeps_input;
} activations[] = {{NULL, {0}, false},
                   {&op_relu, {1, 0, 1, 0}, false},
                   {&op_sigmoid, {2, 1, 3, 0}, false},
                   {&op_tanh, {0, 1, 3, 0}, false},
                   {&op_gelu, {4, 1, 9, 2}, true},
                   {&op_gelu_tanh, {8, 1, 17, 1}, true},
                   {&op_leaky_relu, {2, 0, 2, 0}, true},
                   {&op_silu, {3, 1, 7, 1}, true}};
enum { ACTIVATIONS = sizeof activations / sizeof *activations };

static Mlp mlp_random(int seed) {
    RandomState random = {.seed = 4000 + (uint64_t)seed};
    Mlp mlp = {.n_sizes = 2 + (int)random_next_below(&random, 5)};
    for (int i = 0; i < mlp.n_sizes; i++) mlp.sizes[i] = 1 + random_next_below(&random, 60);
    mlp.batch = 1 + random_next_below(&random, 9);
    mlp.options = (MlpOptions){.activation = activations[seed % ACTIVATIONS].op,
                               .bias = seed / ACTIVATIONS % 2,
                               .fuse = seed / ACTIVATIONS / 2 % 2};
    return mlp;
}

static void add_traffic(OpCost *cost, uint64_t floats_read, uint64_t floats_written) {
    cost->bytes_read += 4 * floats_read;
    cost->bytes_written += 4 * floats_written;
}

static void add_activation(LayerCost *want, const Mlp *mlp, uint64_t n) {
    int index = 0;
    while (activations[index].op != mlp->options.activation) index++;
    const uint64_t *flops = activations[index].flops;
    bool fused = mlp->options.fuse;
    OpCost *forward = &want->phase[PHASE_FORWARD];
    OpCost *backward = &want->phase[fused ? PHASE_BACKWARD : PHASE_BACKWARD_INPUT];
    bool keeps = activations[index].keeps_input;
    forward->elementwise_flops += flops[0] * n;
    forward->transcendental_flops += flops[1] * n;
    backward->elementwise_flops += flops[2] * n;
    backward->transcendental_flops += flops[3] * n;
    if (!fused)
        add_traffic(forward, n, n);
    else if (keeps)
        add_traffic(forward, 0, n); // the activation's input is a second output
    add_traffic(backward, 2 * n, n);
    if (keeps) want->saved_bytes += 4 * (int64_t)n;
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
        if (!last && mlp->options.activation != NULL) add_activation(&want, mlp, b * out);
    }
    return want;
}

// ---- a real run, counted by an observer -------------------------------------------------------
typedef struct Executed {
    Observer observer; // must be first
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
    peak.category[MEM_DATA] -= tensor_bytes(x); // the caller's
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

// Loss and optimizer included: the same code runs dry and for real.
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

int main(void) {
    const HarnessTest tests[] = {
        {the_mlp_784_512_10_costs_what_the_conventions_say, 0},
        {the_dry_run_equals_closed_formulas_and_a_real_run_in_every_field_and_phase, 72},
        {a_whole_training_step_costs_dry_what_it_costs_for_real, OPTIMIZER_COUNT},
        {NULL, 0},
    };
    return harness_main("cost", tests);
}
