// lengths.c -- sequences of a batch that end before the longest: row indices that reverse each
// sequence by itself, the index of its last row, and a mask of the rows inside.
#include "layers/files/onnx/import.h"
#include "tensor/ops.h"

// An integer, as a new tensor.
static Tensor *number_new(int64_t number) { return tensor_arange_new(number, number + 1, 1); }

// lengths is (batch) of int64, clamped to [0, steps], because a profile may draw random ids. A
// sequence of length 0 has no last row: the index is that of its first, and `any` is 0.
Status lengths_of(Tensor *lengths, int64_t steps, int64_t batch, Lengths *out) {
    Tensor *zero = number_new(0), *one = number_new(1);
    Tensor *width = number_new(batch), *most = number_new(steps);
    Tensor *times = tensor_arange_new(0, steps, 1), *samples = tensor_arange_new(0, batch, 1);
    Tensor *t = tensor_reshape(times, SHAPE(steps, 1)),
           *b = tensor_reshape(samples, SHAPE(1, batch));
    Tensor *held =
        tensor_minimum(tensor_maximum(tensor_reshape(lengths, SHAPE(1, batch)), zero), most);
    Tensor *end = tensor_maximum(tensor_sub(held, one), zero);
    Tensor *inside = tensor_less(t, held);
    // Inside, the index is end - t; after the end, t.
    Tensor *moved = tensor_sub(tensor_sub(end, t), t);
    Tensor *at = tensor_add(t, tensor_mul(tensor_cast(inside, DTYPE_INT64), moved));
    Tensor *rows = tensor_add(tensor_mul(at, width), b);
    out->rows = tensor_reshape(rows, SHAPE(steps * batch));
    out->last = tensor_reshape(tensor_add(tensor_mul(end, width), b), SHAPE(batch));
    out->inside = tensor_reshape(inside, SHAPE(steps, batch, 1));
    out->any = tensor_reshape(tensor_less(zero, held), SHAPE(1, batch, 1));
    tensor_free(zero);
    tensor_free(one);
    tensor_free(width);
    tensor_free(most);
    tensor_free(times);
    tensor_free(samples);
    return error_status();
}

// Rows of x (steps, batch, n) at an index, as (-1, batch, n).
static Tensor *rows_at(Tensor *x, Tensor *index) {
    if (!x) return NULL;
    Shape s = x->shape;
    Tensor *table = tensor_reshape(x, SHAPE(s.dims[0] * s.dims[1], s.dims[2]));
    Tensor *found = tensor_embedding(index, table);
    int64_t steps = found && s.dims[1] ? found->shape.dims[0] / s.dims[1] : 0;
    return tensor_reshape(found, SHAPE(steps, s.dims[1], s.dims[2]));
}

Tensor *lengths_turn(const Lengths *lengths, Tensor *x) { return rows_at(x, lengths->rows); }

Tensor *lengths_last(const Lengths *lengths, Tensor *x) {
    return tensor_mul(rows_at(x, lengths->last), lengths->any);
}
