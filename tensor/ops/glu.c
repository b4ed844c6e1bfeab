// glu.c -- one half of x times the sigmoid of the other half (Dauphin et al. 2017): two views, a
// sigmoid and a product
#include "tensor/tensor.h"

#include "tensor/ops.h"
#include "tensor/status.h"

Tensor *tensor_glu(Tensor *x, int dim) {
    if (!x) return tensor_slice(x, dim, 0, SLICE_END, 1); // sets the error
    int ndim = x->shape.ndim, d = dim < 0 ? dim + ndim : dim;
    bool found = d >= 0 && d < ndim;
    if (!found || x->shape.dims[d] % 2 != 0) {
        char text[SHAPE_TEXT];
        error_set(STATUS_SHAPE, "glu of %s along dimension %d. HINT: one that has two equal halves",
                  shape_text(x->shape, text), dim);
        return NULL;
    }
    int64_t half = x->shape.dims[d] / 2;
    Tensor *value = tensor_slice(x, d, 0, half, 1), *gate = tensor_slice(x, d, half, 2 * half, 1);
    return tensor_mul(value, tensor_sigmoid(gate));
}
