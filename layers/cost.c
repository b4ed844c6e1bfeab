// cost.c -- adds up the costs of the ops that a layer runs in a dry run (dry_run.c).
#include "layers/cost.h"
#include "tensor/given.h"

void cost_add(OpCost *total, OpCost more) {
    if (!GIVEN(total)) return;
    total->macs += more.macs;
    total->bias_flops += more.bias_flops;
    total->elementwise_flops += more.elementwise_flops;
    total->transcendental_flops += more.transcendental_flops;
    total->bytes_read += more.bytes_read;
    total->bytes_written += more.bytes_written;
}

typedef struct CostWatch {
    Observer observer; // first
    LayerCost *cost;
    double sum;
} CostWatch;

static void add_op(Observer *observer, const OpCall *call) {
    CostWatch *watch = (CostWatch *)observer;
    if (error_pending()) return; // it failed
    OpCost one = op_cost(call);
    watch->cost->ops++;
    if (!op_is_counted(call->op, &call->params))
        watch->cost->uncounted++;
    else if (!op_cost_check(one, &watch->sum))
        cost_add(&watch->cost->phase[context_current()->phase], one);
}

static Status run(Layer *layer, Tensor *const in[], int n_in, LayerCost *cost) {
    Scope *scope = scope_open();
    Tensor *out = scope ? layer_forward_many(layer, in, n_in) : NULL;
    Status status = out ? STATUS_OK : error_status();
    cost->saved_bytes = autograd_saved_bytes();
    if (tensor_wants_grad(out)) {
        Tensor *grad = tensor_new_as(out->shape, DTYPE_FLOAT32, MEM_ACTIVATION);
        status = grad ? autograd_backward_from(out, grad) : error_status();
        tensor_free(grad);
    }
    scope_close(scope);
    return status;
}

// Bit i: in[i] is a recorded result, through which backward would continue. Its twin is a leaf.
static uint64_t recorded(Tensor *const in[], int n_in) {
    uint64_t found = 0;
    for (int i = 0; i < n_in && i < 64; i++)
        if (in[i] && in[i]->origin && tensor_wants_grad(in[i])) found |= (uint64_t)1 << i;
    return found;
}

Status layer_cost(Layer *layer, Tensor *const in[], int n_in, LayerCost *cost) {
    if (!GIVEN(cost)) return STATUS_INVALID_ARGUMENT;
    *cost = (LayerCost){0};
    if (error_pending()) return error_status();
    if (!in && n_in > 0) return error_set(STATUS_INVALID_ARGUMENT, "layer_cost: no inputs");
    uint64_t go_on = recorded(in, n_in);
    Context *context = dry_run_begin(layer);
    if (!context) return error_status();
    CostWatch watch = {.observer = {.op_end = add_op}, .cost = cost};
    for (int i = 0; i < n_in && i < 64; i++)
        if (go_on >> i & 1) tensor_requires_grad(in[i], true);
    observer_add(&watch.observer);
    Status status = run(layer, in, n_in, cost);
    observer_remove(&watch.observer);
    cost->peak = context->ledger->peak;
    dry_run_end(context);
    return status;
}
