// tensor.h -- values: shapes, views, creation, reading, printing, and ownership.
// Operations are in ops.h, gradients in autograd/autograd.h.
//
//     Scope *scope = scope_open();                              // frees the results of ops
//     Tensor *x = tensor_uniform_new(SHAPE(2, 3), -1.0f, 1.0f); // _new: yours
//     Tensor *y = tensor_relu(x);                               // an op's: the scope's
//     tensor_print(y, stdout);
//     scope_close(scope);
//     tensor_free(x);
//
// Threads: use a tensor only in the context that made it (context.h). Threads that share a tensor
// or a storage may only read elements, through pointers obtained beforehand.
#ifndef TENSOR_TENSOR_H
#define TENSOR_TENSOR_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "tensor/device.h"
#include "tensor/status.h"
#include "tensor/storage.h"

RIDGEPOINT_API_BEGIN

enum { TENSOR_MAX_DIMS = 6 };

#define DTYPE_LIST(X)                                                                              \
    X(FLOAT32, "float32", 4)                                                                       \
    X(INT64, "int64", 8)                                                                           \
    X(UINT8, "uint8", 1)

typedef enum DType {
#define DTYPE_ENUM(name, text, size) DTYPE_##name,
    DTYPE_LIST(DTYPE_ENUM)
#undef DTYPE_ENUM
        DTYPE_COUNT
} DType;

const char *dtype_name(DType dtype); // "float32"
int64_t dtype_size(DType dtype);     // bytes

// The type that reals count as where nothing runs: on a device without data every float32 tensor
// keeps its dtype, but counts this many bytes per element (context_set_precision). The numbers that
// an optimizer's step reads from the program (category staging) always count 4.
#define PRECISION_LIST(X)                                                                          \
    X(FLOAT32, "float32", "fp32", 4)                                                               \
    X(BFLOAT16, "bfloat16", "bf16", 2)                                                             \
    X(FLOAT16, "float16", "fp16", 2)                                                               \
    X(INT8, "int8", "int8", 1)

typedef enum Precision {
#define PRECISION_ENUM(name, text, brief, size) PRECISION_##name,
    PRECISION_LIST(PRECISION_ENUM)
#undef PRECISION_ENUM
        PRECISION_COUNT
} Precision;

const char *precision_name(Precision precision);  // "bfloat16"
const char *precision_brief(Precision precision); // "bf16"
int64_t precision_bytes(Precision precision);     // bytes per element

typedef struct Shape {
    int ndim;
    int64_t dims[TENSOR_MAX_DIMS];
} Shape;

#ifdef __cplusplus // C++ has no compound literals
extern "C++" template <typename... Sizes> inline Shape shape_of(Sizes... sizes) {
    static_assert(sizeof...(Sizes) <= TENSOR_MAX_DIMS, "a shape has at most 6 sizes");
    return Shape{(int)sizeof...(Sizes), {(int64_t)sizes...}};
}
#define SHAPE(...) shape_of(__VA_ARGS__)
#define SHAPE_SCALAR shape_of()
#else
#define SHAPE(...)                                                                                 \
    ((Shape){.ndim = (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)),                    \
             .dims = {__VA_ARGS__}})
#define SHAPE_SCALAR ((Shape){.ndim = 0})
#endif

static inline bool shape_equal(Shape a, Shape b) {
    if (a.ndim != b.ndim || a.ndim > TENSOR_MAX_DIMS) return false;
    for (int i = 0; i < a.ndim; i++)
        if (a.dims[i] != b.dims[i]) return false;
    return true;
}
// Number of elements of a shape; 0 for no shape (ndim -1).
static inline int64_t shape_numel(Shape shape) {
    int64_t n = shape.ndim >= 0;
    for (int i = 0; i < shape.ndim && i < TENSOR_MAX_DIMS; i++) n *= shape.dims[i];
    return n;
}
// "(64, 784)" into text; returns text.
enum { SHAPE_TEXT = 160 };
char *shape_text(Shape shape, char text[SHAPE_TEXT]);

typedef enum TensorFlag {
    TENSOR_LEAF_GRAD = 1,   // a leaf whose gradient is wanted (tensor_requires_grad)
    TENSOR_UNSAVED = 2,     // during a backward rule: not in Op.saves, so not readable
    TENSOR_CONTIGUOUS = 4,  // row-major, dense; kept up to date by handle.c
    TENSOR_RETAIN_GRAD = 8, // an op's result whose gradient is wanted as well (tensor_retain_grad)
} TensorFlag;

typedef struct Tensor {
    Storage *storage; // NULL once its owners are gone
    Shape shape;
    int64_t stride[TENSOR_MAX_DIMS]; // in elements; 0 along expanded dims
    int64_t offset;                  // in elements
    int64_t numel;
    Device *device;
    uint8_t dtype;         // DType
    uint8_t flags;         // TensorFlag
    uint8_t origin_output; // index among its origin's results
    bool grad_empty;       // zero_grad was called: the first writer overwrites
    int32_t owners;        // the user or a scope
    int32_t references;    // owners, and records of ops that read it
    uint8_t element_bytes; // size of the dtype, or, without data, of the precision
    struct Origin *origin; // record of the op that made it; NULL: none
    struct Scope *scope;   // frees it at close; NULL: the user frees it
    struct Tensor *scope_next, *scope_previous;
    struct Tensor *grad; // a leaf's gradient, kept between steps
} Tensor;

// ---- creation: you own the result; free it with tensor_free ----------------------------------
// These use the context's default device and category data. NULL with an error pending on a
// negative size, an element count that overflows, or exhausted memory.
Tensor *tensor_new(Shape shape, DType dtype); // uninitialised
Tensor *tensor_new_as(Shape shape, DType dtype, MemoryCategory category);
Tensor *tensor_zeros_new(Shape shape);
Tensor *tensor_full_new(Shape shape, float value);
Tensor *tensor_from_floats_new(Shape shape, const float *values);    // copies numel values
Tensor *tensor_from_labels_new(Shape shape, const int64_t *values);  // int64
Tensor *tensor_arange_new(int64_t begin, int64_t end, int64_t step); // int64: begin, begin + step
                                                                     // ... below end
Tensor *tensor_linspace_new(float begin, float end, int64_t count);  // float32, both ends
Tensor *tensor_uniform_new(Shape shape, float low, float high);      // random numbers from the
                                                                     // context
Tensor *tensor_normal_new(Shape shape, float mean, float deviation);
void tensor_free(Tensor *tensor); // NULL is fine; leaves a tensor to the scope that owns it

// Adds one owner to a tensor of yours, for one more tensor_free. Returns the tensor.
Tensor *tensor_retain(Tensor *tensor);

// ---- scopes: free the results of ops ---------------------------------------------------------
typedef struct Scope Scope;
Scope *scope_open(void);
void scope_close(Scope *scope); // also closes scopes opened inside it; NULL is fine
// Closes, but hands `result` to the enclosing scope, or to you if there is none. Returns `result`.
Tensor *scope_close_with(Scope *scope, Tensor *result);
void scope_close_with_each(Scope *scope, Tensor *const results[], int n_results); // for several
                                                                                  // results
// Makes an op's result yours, for one tensor_free. A tensor that is yours already
// (tensor_contiguous may return its input) gets one more owner and needs one more tensor_free. NULL
// passes through.
Tensor *tensor_keep(Tensor *tensor);
void tensor_release(Tensor *tensor); // frees a result early, inside its scope

// ---- access ----------------------------------------------------------------------------------
static inline Shape tensor_shape(const Tensor *t) { // ndim is -1 for NULL
    const Shape none = {-1, {0}};
    return t ? t->shape : none;
}
static inline bool tensor_is_contiguous(const Tensor *t) {
    return t && (t->flags & TENSOR_CONTIGUOUS) != 0;
}
int64_t tensor_bytes(const Tensor *t);          // numel * element_bytes
int64_t tensor_distinct_bytes(const Tensor *t); // counts expanded dims once

// The elements of a contiguous float32 tensor on the host; otherwise NULL with an error pending
// (meta has no data; read strided views with tensor_read_floats). Writes through the pointer bump
// no version, so backward misses changes to a saved tensor; tensor_write_floats bumps it.
float *tensor_data(Tensor *t);
int64_t *tensor_labels(Tensor *t); // for int64
// Copies all elements out in row-major order, converting to float; `out` has room for numel.
Status tensor_read_floats(const Tensor *t, float *out);
Status tensor_read_labels(const Tensor *t, int64_t *out); // a contiguous int64 tensor
Status tensor_write_floats(Tensor *t,
                           const float *values); // float32, contiguous; bumps the version
// Fill a tensor of yours (float32, contiguous) with random numbers from the context's generator.
Status tensor_fill_uniform(Tensor *t, float low, float high); // [low, high)
Status tensor_fill_normal(Tensor *t, float mean, float deviation);
// Value of a one-element tensor, int64 exact up to 2^53; NaN with an error pending.
double tensor_item(const Tensor *t);
// Prints as NumPy does: brackets, aligned columns, "..." in the middle of more than 1,000 elements.
Status tensor_print(const Tensor *t, FILE *file);

RIDGEPOINT_API_END

#endif
