// 2_op.c -- an op of your own, y = x^3: its kernel, its gradient and its cost.
#include <ridgepoint/ridgepoint.h>

// The kernel, for n numbers that lie side by side.
static void cube_row(const float *x, float *y, int64_t n, const OpParams *params) {
    (void)params; // numbers that an op takes beside its tensors; the cube takes none
    for (int64_t i = 0; i < n; i++) y[i] = x[i] * x[i] * x[i];
}

// The gradient: dx = dy * 3 x^2. This function has no loop of its own: it calls other ops, and they
// are counted and timed as in forward.
static Status cube_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    Tensor *x = saved->in[0], *slope = tensor_mul_scalar(tensor_mul(x, x), 3.0f);
    return OP_INTO(&grad_in[0], op_mul, NULL, grad_out[0], slope); // written into grad_in[0]
}

static unsigned cube_saves(const OpCall *call) {
    (void)call;
    return SAVE_IN(0); // backward reads input 0, so autograd keeps it until then
}

static const Op cube = {
    .name = "cube",
    .module = "Cube", // its name as a layer, which activation_new(&cube) makes
    .n_inputs = 1,
    .infer = op_infer_same, // the output has the shape of the input
    .row = cube_row,
    .backward = cube_backward,
    .saves = cube_saves,
    // The profiler knows from this: the formula, 2 FLOP per output element, and that x is kept.
    .story = STORY(.formula = "y = x x x", .out = "y", .in = {"x"},
                   .elementwise = {PER_OUTPUT, .each = 2}, .keeps = KEEP_X)};

static Tensor *run_cube(Tensor *const in[], int n_in, void *user) {
    (void)n_in, (void)user;
    return OP_RUN(cube, NULL, in[0]);
}

int main(void) {
    Tensor *x = tensor_uniform_new(SHAPE(4, 8), 0.5f, 1.5f);
    Layer *layer = linear_new_fused(8, 3, true, &cube); // y = (x . weight^T + bias)^3, in one op
    LayerCost cost = {0};
    // Compares cube_backward with differences of cube_row, element by element.
    Status status = autograd_gradcheck(run_cube, NULL, &x, 1, gradcheck_defaults(), stdout);
    // Counts what the layer costs, without running a kernel.
    if (!status) status = layer_cost(layer, &x, 1, &cost);
    OpCost forward = cost.phase[PHASE_FORWARD];
    layer_print(layer, stdout);
    printf("forward: %llu FLOP of products, %llu of the cube\n",
           (unsigned long long)(2 * forward.macs), (unsigned long long)forward.elementwise_flops);
    if (status) printf("%s\n", error_message());
    layer_free(layer);
    tensor_free(x);
    context_release_thread();
    return status || forward.elementwise_flops != 2 * 4 * 3;
}
