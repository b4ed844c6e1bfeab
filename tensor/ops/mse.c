// mse.c -- mean of (prediction - target)^2 over all elements
#include "tensor/ops/reduce.h"

Tensor *tensor_mse(Tensor *prediction, Tensor *target) {
    return OP_RUN(op_mse, NULL, prediction, target);
}

static Status mse_infer(OpCall *call) {
    if (!tensor_same_shape(call->in[0], call->in[1]))
        return op_error(call, STATUS_SHAPE, "prediction and target must have one shape");
    return op_output(call, 0, DTYPE_FLOAT32, SHAPE_SCALAR);
}

static OpCost mse_cost(const OpCall *call) { // n subtractions, n squares, n - 1 adds, a division
    OpCost cost = op_cost_traffic(call);
    cost.elementwise_flops = 3 * (uint64_t)call->in[0]->numel;
    return cost;
}

KERNEL static float sum_of_squares(const float *p, const float *t, int64_t n) {
    float square[REDUCE_BLOCK];
    double total = 0.0;
    for (int64_t from = 0; from < n; from += REDUCE_BLOCK) {
        int64_t block = n - from < REDUCE_BLOCK ? n - from : REDUCE_BLOCK;
        for (int64_t i = 0; i < block; i++)
            square[i] = (p[from + i] - t[from + i]) * (p[from + i] - t[from + i]);
        total += (double)reduce_sum(square, block);
    }
    return (float)(total / (double)n);
}

Status mse_cpu(const OpCall *call, int64_t begin, int64_t end) {
    (void)begin, (void)end;
    *call_out(call, 0) = sum_of_squares(call_in(call, 0), call_in(call, 1), call->in[0]->numel);
    return STATUS_OK;
}

// The target's gradient is the prediction's with the other sign (params.value[0]).
static Status mse_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    for (int i = 0; i < 2; i++) {
        OpParams sign = {.value = {i == 0 ? 1.0f : -1.0f}};
        if (call_needs(saved, i) &&
            OP_INTO(&grad_in[i], op_mse_backward, &sign, grad_out[0], saved->in[0], saved->in[1]))
            return error_status();
    }
    return STATUS_OK;
}

static unsigned mse_saves(const OpCall *call) {
    (void)call;
    return SAVE_IN(0) | SAVE_IN(1);
}

// ---- backward: (p - t) (2 g / n), inputs grad (), p, t ------------------------------------------
static Status backward_infer(OpCall *call) { return op_output_like(call, 0, call->in[1]); }
static OpCost backward_cost(const OpCall *call) { return op_cost_elementwise(call, 2, 0); }

KERNEL Status mse_backward_cpu(const OpCall *call, int64_t begin, int64_t end) {
    const float *p = call_in(call, 1), *t = call_in(call, 2);
    float *out = call_out(call, 0);
    float scale = call->params.value[0] * 2.0f * *call_in(call, 0) / (float)call_numel(call);
    for (int64_t i = begin; i < end; i++) out[i] = (p[i] - t[i]) * scale;
    return STATUS_OK;
}

const Op op_mse = {.id = OP_mse,
                   .name = "mse",
                   .min_inputs = 2,
                   .max_inputs = 2,
                   .dtypes = dtypes_float,
                   .n_dtypes = 1,
                   .infer = mse_infer,
                   .cost = COUNTED(mse_cost),
                   .backward = mse_backward,
                   .saves = mse_saves};
const Op op_mse_backward = {.id = OP_mse_backward,
                            .name = "mse_backward",
                            .work = op_work_elements,
                            .min_inputs = 3,
                            .max_inputs = 3,
                            .dtypes = dtypes_float,
                            .n_dtypes = 1,
                            .infer = backward_infer,
                            .cost = COUNTED(backward_cost)};
