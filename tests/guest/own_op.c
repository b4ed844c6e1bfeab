// own_op.c -- a guest with an op, a layer and an observer of its own: y = x^3, with its gradient
// and what it costs. Being an activation, it is a layer at once and can be fused into a product.
#include <ridgepoint/ridgepoint.h>

// ---- an op -------------------------------------------------------------------------------------
static void cube_row(const float *x, float *y, int64_t n, const OpParams *params) {
    (void)params;
    for (int64_t i = 0; i < n; i++) y[i] = x[i] * x[i] * x[i];
}

static Status cube_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    Tensor *x = saved->in[0], *slope = tensor_mul_scalar(tensor_mul(x, x), 3.0f);
    return OP_INTO(&grad_in[0], op_mul, NULL, grad_out[0], slope);
}

static unsigned cube_saves(const OpCall *call) {
    (void)call;
    return SAVE_IN(0);
}

static const Op cube = {.name = "cube",
                        .module = "Cube",
                        .n_inputs = 1,
                        .infer = op_infer_same,
                        .row = cube_row,
                        .backward = cube_backward,
                        .saves = cube_saves,
                        .story = STORY(.formula = "y = x x x", .out = "y", .in = {"x"},
                                       .elementwise = {PER_OUTPUT, .each = 2}, .keeps = KEEP_X)};

// ---- a layer, of two branches ------------------------------------------------------------------
static Tensor *forward(Layer *self, Tensor *const in[], int n_in) {
    (void)n_in;
    return tensor_add(layer_forward(self->children[0], in[0]), OP_RUN(cube, NULL, in[0]));
}
static const LayerType residual = {.name = "ResidualCube",
                                   .size = sizeof(Layer),
                                   .forward = forward};

// ---- an observer -------------------------------------------------------------------------------
typedef struct Counter {
    Observer observer; // first
    int cubes;
} Counter;
static void count(Observer *self, const OpCall *call) {
    if (call->op == &cube) ((Counter *)self)->cubes++;
}

static Tensor *run_cube(Tensor *const in[], int n_in, void *user) {
    (void)n_in, (void)user;
    return OP_RUN(cube, NULL, in[0]);
}

int main(void) {
    Layer *model = sequential_new(), *block = layer_new(&residual);
    layer_add_child(block, "fc", linear_new_fused(8, 8, true, &cube));
    layer_add_child(model, "block", block);
    layer_add_child(model, "cube", activation_new(&cube));
    Tensor *x = tensor_uniform_new(SHAPE(4, 8), 0.5f, 1.5f),
           *labels = tensor_new(SHAPE(4), DTYPE_INT64);
    for (int i = 0; i < 4 && labels; i++) tensor_labels(labels)[i] = i;
    autograd_enable();
    Status status = autograd_gradcheck(run_cube, NULL, &x, 1, gradcheck_defaults(), stdout);

    Counter counter = {.observer = {.op_end = count}};
    observer_add(&counter.observer);
    Scope *scope = scope_open();
    layer_forward(model, x);
    scope_close(scope);
    observer_remove(&counter.observer);

    Profile profile = {0};
    if (!status)
        status = profile_training(model, optimizer_defaults(OPTIMIZER_SGD), x, labels,
                                  (ProfileOptions){.warmup = 1, .iterations = 3}, &profile);
    uint64_t flops = profile.totals[REPORT_FORWARD].cost.elementwise_flops;
    layer_print(model, stdout);
    if (!status) explain_print(&profile, "cube", stdout);
    printf("%d cubes seen, %llu FLOP, reconciled %d, uncounted %d\n%s\n", counter.cubes,
           (unsigned long long)flops, profile.reconciled, profile.n_uncounted, error_message());
    // Fused, of its own in the block and behind it: 2 of each of 32 elements, and 32 of the sum.
    bool right = counter.cubes == 2 && profile.reconciled && profile.n_uncounted == 0;
    profile_free(&profile);
    layer_free(model);
    tensor_free(x);
    tensor_free(labels);
    context_release_thread();
    return right && flops >= 3 * 2 * 32 + 32 ? 0 : 1;
}
