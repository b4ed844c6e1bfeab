// op.c -- shared by every op's infer and error messages; and the table from id to op.
#include "tensor/op.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tensor/given.h"
#include "tensor/handle.h"

static const Op *const ops[OP_COUNT] = {
#define OP_ENTRY(name) [OP_##name] = &op_##name,
    OP_LIST(OP_ENTRY, OP_ENTRY)
#undef OP_ENTRY
};

const Op *op_by_id(int id) { return id > 0 && id < OP_COUNT ? ops[id] : NULL; }

const Op *op_activation_at(int index) {
    for (int id = 1; id < OP_COUNT; id++)
        if (ops[id]->module && index-- == 0) return ops[id];
    return NULL;
}

const Op *op_activation_by_name(const char *name) {
    const Op *op = name ? op_activation_at(0) : NULL;
    for (int i = 1; op && strcmp(op->name, name) != 0; i++) op = op_activation_at(i);
    return op;
}

const DTypeSignature dtypes_any[DTYPE_COUNT] = {{1, {DTYPE_FLOAT32}},
                                                {1, {DTYPE_INT64}},
                                                {1, {DTYPE_UINT8}}};

// ---- outputs ---------------------------------------------------------------------------------
Status op_output_of(OpCall *call, int index, DType dtype, const Shape *shape) {
    if (!GIVEN(call) || !GIVEN(shape)) return STATUS_INVALID_ARGUMENT;
    if (index < 0 || index >= OP_MAX_OUTPUTS || (unsigned)dtype >= DTYPE_COUNT)
        return op_error(call, STATUS_INVALID_ARGUMENT,
                        "infer makes an output %d of dtype %d. HINT: OP_MAX_OUTPUTS, DType", index,
                        (int)dtype);
    Tensor *preset = call->out[index];
    if (call->n_out <= index) call->n_out = index + 1;
    if (preset) {
        if (call->op->flags & OP_VIEW)
            return op_error(
                call, STATUS_INVALID_ARGUMENT,
                "a view writes nothing. HINT: take its result instead of giving a tensor");
        if (preset->device != call->in[0]->device)
            return op_error(call, STATUS_DEVICE,
                            "inputs are on %s, the tensor to write into on %s. "
                            "HINT: make it there",
                            call->in[0]->device->name, preset->device->name);
        if (preset->dtype == dtype && same_shape(&preset->shape, shape) && preset->storage &&
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
    Tensor *out = handle_new(call->op->name, dtype, shape, call->in[0]->device, context->scope);
    call->out[index] = out;
    if (!out) return context->error.status;
    if (call->op->flags & OP_VIEW) out->element_bytes = call->in[0]->element_bytes;
    return STATUS_OK;
}

Status op_output(OpCall *call, int index, DType dtype, Shape shape) {
    if (!GIVEN(call)) return STATUS_INVALID_ARGUMENT;
    return op_output_of(call, index, dtype, &shape);
}

Status op_output_like(OpCall *call, int index, const Tensor *like) {
    if (!GIVEN(call) || !GIVEN(like)) return STATUS_INVALID_ARGUMENT;
    return op_output_of(call, index, (DType)like->dtype, &like->shape);
}

Status op_infer_same(OpCall *call) {
    if (!GIVEN(call)) return STATUS_INVALID_ARGUMENT;
    return op_output_like(call, 0, call->in[0]);
}
Status op_infer_shape(OpCall *call) {
    if (!GIVEN(call)) return STATUS_INVALID_ARGUMENT;
    return op_output_of(call, 0, DTYPE_FLOAT32, &call->params.shape);
}

// ---- division of work --------------------------------------------------------------------------
OpWork op_work_elements(const OpCall *call) {
    if (!GIVEN(call)) return (OpWork){0};
    int64_t in = call->in[0]->numel, items = call->n_out ? call->out[0]->numel : in;
    return (OpWork){.items = items, .cost = in > items ? (double)in / (double)items : 1.0};
}

OpWork op_work_rows(const OpCall *call) {
    if (!GIVEN(call)) return (OpWork){0};
    const Tensor *x = call->in[0];
    int64_t row = x->shape.ndim ? x->shape.dims[x->shape.ndim - 1] : 1;
    return (OpWork){.items = row ? x->numel / row : 0, .cost = (double)row};
}

// ---- messages --------------------------------------------------------------------------------
Status op_error(const OpCall *call, Status status, const char *format, ...) {
    if (!GIVEN(call)) return STATUS_INVALID_ARGUMENT;
    char text[400], shape[SHAPE_TEXT];
    int used = snprintf(text, sizeof(text), "%.100s", call->op->name);
    for (int i = 0; i < call->n_in && i < 4; i++) {
        const Tensor *t = call->in[i];
        used += snprintf(text + used, sizeof(text) - (size_t)used, "%s%s", i ? ", " : " of ",
                         t ? shape_text(t->shape, shape) : "none");
        if (used >= (int)sizeof(text)) break;
    }
    char reason[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof(reason), format ? format : "an error without a message", arguments);
    va_end(arguments);
    return error_set(status, "%s: %s", text, reason);
}
