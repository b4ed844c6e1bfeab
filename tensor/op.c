// op.c -- what every op's infer, cost and error message share; and the table from id to op.
#include "tensor/op.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tensor/handle.h"

static const Op *const ops[OP_COUNT] = {
#define OP_ENTRY(name) [OP_##name] = &op_##name,
    OP_LIST(OP_ENTRY, OP_ENTRY)
#undef OP_ENTRY
};

const Op *op_by_id(int id) { return id >= 0 && id < OP_COUNT ? ops[id] : NULL; }

const DTypeSignature dtypes_float[1] = {{1, {DTYPE_FLOAT32}}};
const DTypeSignature dtypes_any[DTYPE_COUNT] = {{1, {DTYPE_FLOAT32}},
                                                {1, {DTYPE_INT64}},
                                                {1, {DTYPE_UINT8}}};

// ---- outputs ---------------------------------------------------------------------------------
Status op_output(OpCall *call, int index, DType dtype, Shape shape) {
    Tensor *preset = call->out[index];
    if (call->n_out <= index) call->n_out = index + 1;
    if (preset) {
        if (call->op->flags & OP_VIEW)
            return op_error(
                call, STATUS_INVALID_ARGUMENT,
                "a view writes nothing. HINT: take its result instead of giving a tensor");
        if (preset->dtype == dtype && shape_equal(preset->shape, shape) && preset->storage &&
            tensor_is_contiguous(preset))
            return STATUS_OK;
        return op_error(call, STATUS_INVALID_ARGUMENT,
                        "the tensor to write into must be contiguous and of the result's shape. "
                        "HINT: tensor_contiguous copies a view");
    }
    Context *context = context_current();
    if (!context->scope)
        return op_error(call, STATUS_STATE,
                        "called outside any scope. HINT: open one with scope_open(), so that the "
                        "result has somebody to free it");
    call->out[index] =
        handle_new(call->op->name, dtype, shape, call->in[0]->device, context->scope);
    return call->out[index] ? STATUS_OK : context->error.status;
}

Status op_output_like(OpCall *call, int index, const Tensor *like) {
    return op_output(call, index, (DType)like->dtype, like->shape);
}

Status op_infer_same(OpCall *call) { return op_output_like(call, 0, call->in[0]); }
Status op_infer_shape(OpCall *call) {
    return op_output(call, 0, DTYPE_FLOAT32, call->params.shape);
}

// ---- how work divides --------------------------------------------------------------------------
OpWork op_work_elements(const OpCall *call) {
    int64_t in = call->in[0]->numel, items = call->out[0]->numel;
    return (OpWork){.items = items, .cost = in > items ? (double)in / (double)items : 1.0};
}

OpWork op_work_rows(const OpCall *call) {
    const Tensor *x = call->in[0];
    int64_t row = x->shape.ndim ? x->shape.dims[x->shape.ndim - 1] : 1;
    return (OpWork){.items = row ? x->numel / row : 0, .cost = (double)row};
}

// ---- messages --------------------------------------------------------------------------------
Status op_error(const OpCall *call, Status status, const char *format, ...) {
    char text[400], shape[SHAPE_TEXT];
    int used = snprintf(text, sizeof(text), "%s", call->op->name);
    for (int i = 0; i < call->n_in && i < 4; i++) {
        const Tensor *t = call->in[i];
        used += snprintf(text + used, sizeof(text) - (size_t)used, "%s%s", i ? ", " : " of ",
                         t ? shape_text(t->shape, shape) : "none");
        if (used >= (int)sizeof(text)) break;
    }
    char reason[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof(reason), format, arguments);
    va_end(arguments);
    return error_set(status, "%s: %s", text, reason);
}

// ---- cost ------------------------------------------------------------------------------------
static bool seen_before(const OpCall *call, int index) {
    for (int i = 0; i < index; i++)
        if (call->in[i] == call->in[index]) return true;
    return false;
}

OpCost op_cost_traffic(const OpCall *call) {
    OpCost cost = {0};
    bool few = call->n_in <= 8; // the parameters of a step are distinct by construction
    for (int i = 0; i < call->n_in; i++) {
        if (!call->in[i]) continue;
        if (!few || !seen_before(call, i))
            cost.bytes_read += (uint64_t)tensor_distinct_bytes(call->in[i]);
        if (call->op->mutates && call->op->mutates(call, i))
            cost.bytes_written += (uint64_t)tensor_distinct_bytes(call->in[i]);
    }
    for (int i = 0; i < call->n_out; i++)
        cost.bytes_written += (uint64_t)tensor_bytes(call->out[i]);
    return cost;
}

OpCost op_cost_none(const OpCall *call) {
    (void)call;
    return (OpCost){0};
}

OpCost op_cost_elementwise(const OpCall *call, uint64_t elementwise, uint64_t transcendental) {
    OpCost cost = op_cost_traffic(call);
    cost.elementwise_flops = elementwise * (uint64_t)call_numel(call);
    cost.transcendental_flops = transcendental * (uint64_t)call_numel(call);
    return cost;
}

OpCost op_cost(const OpCall *call) {
    if (!call->op->cost) return (OpCost){0};
    return call->op->cost(call);
}
