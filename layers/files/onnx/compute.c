// compute.c -- computes constants from constants: while a file is loaded, the run-time operators
// run on the CPU, after a run on the meta device has found their size. Makes no step of the model.
#include <string.h>

#include "layers/files/onnx/import.h"
#include "tensor/memory.h"

int64_t import_index(const Import *import, const Value *indices, int64_t i, int64_t size) {
    int64_t at = value_integer(indices, i);
    if (at < 0) at += size;
    if (at >= 0 && at < size) return at;
    import_error(import, STATUS_FORMAT, "its index %lld is not in [-%lld, %lld)",
                 (long long)value_integer(indices, i), (long long)size, (long long)size);
    return -1;
}

// Bounds the memory of a run on the host, which the meta device has just counted, as constants are
// bounded.
static Status check_size(Import *import, int64_t before) {
    const Ledger *ledger = context_ledger();
    int64_t bytes = ledger ? ledger->peak.total - before : 0;
    return error_pending() ? error_status() : import_room(import, bytes / (int64_t)sizeof(float));
}

// Runs the step on the current device, on the inputs `in`.
static Status run_on(const Step *step, Tensor *const in[], Tensor *out[]) {
    memset(out, 0, STEP_OUTPUTS * sizeof *out);
    return step_run(step, false, in, out);
}

static Status run_dry(Import *import, const Step *step, Tensor **in) {
    Tensor *out[STEP_OUTPUTS];
    Ledger *ledger = context_ledger();
    if (!ledger) return error_status();
    ledger_reset_peak(ledger);
    int64_t before = ledger->live.total;
    for (int i = 0; i < step->n_in; i++) {
        const Value *value = import_value(import, step->in[i]);
        in[i] = value ? tensor_new(value->shape, onnx_dtype(value->type)) : NULL;
    }
    Scope *scope = error_pending() ? NULL : scope_open();
    if (scope && !run_on(step, in, out)) check_size(import, before);
    // A result that is a view (Expand) takes memory only when it becomes dense.
    for (int i = 0; i < step->n_out && !error_pending(); i++)
        if (out[i]) import_room(import, shape_numel(out[i]->shape));
    scope_close(scope);
    for (int i = 0; i < step->n_in; i++) tensor_free(in[i]);
    return error_status();
}

// Makes a result dense, because a view of a large table would keep all of it.
static Tensor *own_new(Tensor *result) {
    Tensor *dense = tensor_contiguous(result);
    if (!dense) return NULL;
    if (tensor_bytes(dense) == dense->storage->bytes)
        return tensor_keep(tensor_reshape(dense, dense->shape));
    if (dense->dtype == DTYPE_INT64)
        return tensor_from_labels_new(dense->shape, tensor_labels(dense));
    return tensor_from_floats_new(dense->shape, tensor_data(dense));
}

static Status keep_result(Import *import, const Step *step, int i, Tensor *result) {
    Value *value = import_value(import, step->out[i]);
    Tensor *own = own_new(result);
    if (value->kind != VALUE_RUN) return value_set(import, value, step_type(step, i), own);
    value_drop(import, value);
    value->data = own; // the model computes it as well, if it needs it then
    import->held += own ? own->numel : 0;
    return error_status();
}

static Status run_on_host(Import *import, const Step *step, Tensor **in) {
    Tensor *out[STEP_OUTPUTS];
    for (int i = 0; i < step->n_in; i++) {
        Value *value = import_value(import, step->in[i]);
        in[i] = value ? (Tensor *)value_data(import, value) : NULL;
        if (value && !in[i]) return error_status();
    }
    context_push(import->host);
    Scope *scope = scope_open();
    if (scope) run_on(step, in, out);
    for (int i = 0; i < step->n_out && !error_pending(); i++) {
        Value *value = import_value(import, step->out[i]);
        if (value && out[i]) keep_result(import, step, i, out[i]);
        if (value && !out[i])
            import_error(import, STATUS_NOT_IMPLEMENTED, "its output %d is not computed", i);
    }
    scope_close(scope);
    context_pop();
    return error_status();
}

Status step_compute(Import *import, Step *step) {
    Tensor **in = memory_new((size_t)(step->n_in + 1) * sizeof *in);
    Status status = in ? run_dry(import, step, in) : error_status();
    if (!status) status = run_on_host(import, step, in);
    memory_free(in);
    return status;
}

Status import_compute(Import *import, const Node *node, const Operator *op) {
    int values = import->n_values;
    import->computing = true;
    step_build(import, node, op, step_compute);
    import->computing = false;
    // Drop constants that the operator made for its own use.
    for (int i = values; i < import->n_values; i++) value_drop(import, import->values[i]);
    return error_status();
}
