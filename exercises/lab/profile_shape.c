// profile_shape.c -- layer_output_shape for ./lab profile, in place of support/layer_shape.c: here
// models are real ones, so their shapes are found by a dry run.
#include "exercises/support/layer_shape.h"
#include "layers/cost.h"
#include "tensor/context.h"

Status layer_output_shape(const Layer *layer, Shape in, Shape *out) {
    Context *context = dry_run_begin(layer);
    Tensor *x = context ? tensor_new(in, DTYPE_FLOAT32) : NULL;
    Tensor *y = x ? layer_forward((Layer *)(uintptr_t)layer, x) : NULL;
    Status status = y ? STATUS_OK : error_status();
    if (y) *out = tensor_shape(y);
    tensor_free(x);
    if (context) dry_run_end(context);
    error_clear(); // the caller has the status, and may go on
    return status;
}
