// 2_op.c -- an op of one's own: y = x^3, with its kernel, its gradient, and what it costs.
#include <ridgepoint/ridgepoint.h>

static void cube_row(const float *x, float *y, int64_t n, const OpParams *params) {
    (void)params; // where a number beside the tensor would be
    for (int64_t i = 0; i < n; i++) y[i] = x[i] * x[i] * x[i];
}

// dx = dy 3 x x. A rule computes nothing itself: it calls ops, which are counted as any other.
static Status cube_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    Tensor *x = saved->in[0], *slope = tensor_mul_scalar(tensor_mul(x, x), 3.0f);
    return OP_INTO(&grad_in[0], op_mul, NULL, grad_out[0], slope);
}

static unsigned cube_saves(const OpCall *call) {
    (void)call;
    return SAVE_IN(0); // backward reads x, so the tape keeps it
}

static const Op cube = {.name = "cube",
                        .module = "Cube", // as a layer: activation_new(&cube)
                        .n_inputs = 1,
                        .infer = op_infer_same,
                        .row = cube_row,
                        .backward = cube_backward,
                        .saves = cube_saves,
                        .story = STORY(.formula = "y = x x x", .out = "y", .in = {"x"},
                                       .elementwise = {PER_OUTPUT, .each = 2}, .keeps = KEEP_X)};

static Tensor *run_cube(Tensor *const in[], int n_in, void *user) {
    (void)n_in, (void)user;
    return OP_RUN(cube, NULL, in[0]);
}

int main(void) {
    Tensor *x = tensor_uniform_new(SHAPE(4, 8), 0.5f, 1.5f);
    Layer *layer = linear_new_fused(8, 3, true, &cube); // a product with the cube inside
    LayerCost cost = {0};
    autograd_enable();
    // Its rule against differences of its kernel; then what both cost, where nothing runs.
    Status status = autograd_gradcheck(run_cube, NULL, &x, 1, gradcheck_defaults(), stdout);
    if (!status) status = layer_cost(layer, &x, 1, &cost);
    layer_print(layer, stdout);
    printf("forward: %llu FLOP of products, %llu of the cube\n",
           (unsigned long long)(2 * cost.phase[PHASE_FORWARD].macs),
           (unsigned long long)cost.phase[PHASE_FORWARD].elementwise_flops);
    if (status) printf("%s\n", error_message());
    layer_free(layer);
    tensor_free(x);
    context_release_thread();
    return status || cost.phase[PHASE_FORWARD].elementwise_flops != 2 * 4 * 3;
}
