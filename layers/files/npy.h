// npy.h -- NumPy's single-array files, as numpy.save writes and numpy.load reads them.
// Format: numpy.org/doc/stable/reference/generated/numpy.lib.format.html
//
//     Tensor *x = npy_read_new("x.npy");
//     npy_write(x, "copy.npy");
//     tensor_free(x);
#ifndef LAYERS_FILES_NPY_H
#define LAYERS_FILES_NPY_H

#include "tensor/tensor.h"

RIDGEPOINT_API_BEGIN

// Reads a tensor of the same shape on the context's device, yours: float32 for f2, f4 and f8
// (rounded to nearest), int64 for b1, i1 to i8 and u1 to u4. Versions 1 to 3, either byte order, C
// and Fortran element order, up to TENSOR_MAX_DIMS dimensions. On meta only the shape is read. NULL
// with STATUS_IO or STATUS_FORMAT pending: no such array, or a size that disagrees with its shape.
// Memory is proportional to the file.
Tensor *npy_read_new(const char *path);

// Writes a contiguous tensor of any dtype. The file appears whole, or an existing one stays as it
// was. STATUS_IO; STATUS_DEVICE on meta.
Status npy_write(const Tensor *tensor, const char *path);
// Writes a float32 or int64 tensor as numbers of a NumPy type: "f2", "f4", "f8", "i1" to "i8", "u1"
// to "u8", "b1". Rounds to nearest; keeps the lower bits of an integer. STATUS_INVALID_ARGUMENT:
// another type.
Status npy_write_as(const Tensor *tensor, const char *type, const char *path);

RIDGEPOINT_API_END

#endif
