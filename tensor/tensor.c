// tensor.c -- shapes, creation and reading. Handles are in handle.c, printing in print.c.
#include "tensor/tensor.h"

#include <math.h>
#include <stdio.h>

#include "tensor/given.h"
#include "tensor/handle.h"
#include "tensor/memory.h"
#include "tensor/ops.h"
#include "tensor/shadow.h"

char *shape_text(Shape shape, char text[SHAPE_TEXT]) {
    if (!GIVEN(text)) return NULL;
    int used = snprintf(text, SHAPE_TEXT, "(");
    int shown = shape.ndim < TENSOR_MAX_DIMS ? shape.ndim : TENSOR_MAX_DIMS;
    for (int i = 0; i < shown; i++)
        used += snprintf(text + used, (size_t)(SHAPE_TEXT - used), "%s%lld", i ? ", " : "",
                         (long long)shape.dims[i]);
    snprintf(text + used, (size_t)(SHAPE_TEXT - used), shape.ndim == 1 ? ",)" : ")");
    return text;
}

int64_t tensor_bytes(const Tensor *t) { return t ? t->numel * t->element_bytes : 0; }

int64_t tensor_distinct_bytes(const Tensor *t) {
    if (!t || t->numel == 0) return 0;
    int64_t count = 1;
    for (int i = 0; i < t->shape.ndim; i++)
        if (t->stride[i] != 0) count *= t->shape.dims[i];
    return count * t->element_bytes;
}

// ---- creation --------------------------------------------------------------------------------
Tensor *tensor_new_as(Shape shape, DType dtype, MemoryCategory category) {
    Context *context = context_current();
    if (context->error.status) return NULL;
    if ((unsigned)dtype >= DTYPE_COUNT || (unsigned)category >= MEM_COUNT) {
        error_set(STATUS_INVALID_ARGUMENT, "tensor_new: there is no dtype %d or no category %d",
                  (int)dtype, (int)category);
        return NULL;
    }
    Tensor *t = handle_new("tensor_new", dtype, &shape, context->device, NULL);
    if (t && handle_allocate(t, category)) {
        tensor_free(t);
        return NULL;
    }
    return t;
}

Tensor *tensor_new(Shape shape, DType dtype) { return tensor_new_as(shape, dtype, MEM_DATA); }

Tensor *tensor_filled(Tensor *t, Status status) {
    if (!status) return t;
    tensor_free(t);
    return NULL;
}

Tensor *tensor_full_new(Shape shape, float value) {
    Tensor *t = tensor_new(shape, DTYPE_FLOAT32);
    return tensor_filled(t, tensor_fill(t, value));
}

Tensor *tensor_zeros_new(Shape shape) { return tensor_full_new(shape, 0.0f); }

static Tensor *copied(Tensor *t, const void *values) {
    if (!t) return NULL;
    size_t bytes = (size_t)tensor_bytes(t);
    if (!values && bytes > 0)
        return tensor_filled(t, error_set(STATUS_INVALID_ARGUMENT, "tensor: there are no values"));
    return tensor_filled(t, device_from_host(t->device, t->storage->data, values, bytes));
}

Tensor *tensor_from_floats_new(Shape shape, const float *values) {
    return copied(tensor_new(shape, DTYPE_FLOAT32), values);
}

Tensor *tensor_from_labels_new(Shape shape, const int64_t *values) {
    return copied(tensor_new(shape, DTYPE_INT64), values);
}

// Fills the tensor on the host, since no device has a kernel for this.
Tensor *tensor_arange_new(int64_t begin, int64_t end, int64_t step) {
    uint64_t span = step > 0 ? (uint64_t)end - (uint64_t)begin : (uint64_t)begin - (uint64_t)end;
    uint64_t stride = step > 0 ? (uint64_t)step : -(uint64_t)step;
    bool empty = step > 0 ? begin >= end : begin <= end;
    uint64_t count = empty || stride == 0 ? 0 : (span - 1) / stride + 1;
    if (step == 0 || count > INT64_MAX / sizeof(int64_t)) {
        error_set(STATUS_INVALID_ARGUMENT,
                  "tensor_arange_new: from %lld to %lld by %lld. HINT: a step that is not 0, and "
                  "not more numbers than memory holds",
                  (long long)begin, (long long)end, (long long)step);
        return NULL;
    }
    if (!context_current()->device->has_data) return tensor_new(SHAPE((int64_t)count), DTYPE_INT64);
    int64_t *values = memory_new(count * sizeof(int64_t));
    if (!values) return NULL;
    for (uint64_t i = 0; i < count; i++)
        values[i] = (int64_t)((uint64_t)begin + i * (uint64_t)step);
    Tensor *t = tensor_from_labels_new(SHAPE((int64_t)count), values);
    memory_free(values);
    return t;
}

Tensor *tensor_linspace_new(float begin, float end, int64_t count) {
    Tensor *t = tensor_new(SHAPE(count), DTYPE_FLOAT32);
    if (t && !t->device->has_data) return t;
    float *values = t ? memory_new((size_t)count * sizeof(float)) : NULL;
    if (!values) return tensor_filled(t, error_status());
    double step = count > 1 ? ((double)end - (double)begin) / (double)(count - 1) : 0.0;
    for (int64_t i = 0; i < count; i++) // counts from the nearer end, so both ends are exact
        values[i] = (float)(2 * i < count ? (double)begin + step * (double)i
                                          : (double)end - step * (double)(count - 1 - i));
    Status status = device_from_host(t->device, t->storage->data, values, (size_t)tensor_bytes(t));
    memory_free(values);
    return tensor_filled(t, status);
}

// ---- random: made on the host, so all devices start from the same bits -------------------------
typedef void (*Draw)(uint64_t seed, uint64_t offset, int64_t begin, int64_t end, float *out);

// Clamps to `most`, because a sum may be rounded up beyond it.
static Status fill(Tensor *t, Draw draw, float shift, float scale, float most, const char *what) {
    Context *context = context_current();
    if (context->error.status) return context->error.status;
    t = tensor_here(t);
    if (!t || !t->storage || t->dtype != DTYPE_FLOAT32 || !tensor_is_contiguous(t))
        return error_set(STATUS_INVALID_ARGUMENT, "%s: needs a contiguous float32 tensor", what);
    uint64_t offset = random_reserve(&context->random, t->numel); // even on meta
    if (!t->device->has_data || t->numel == 0) return STATUS_OK;
    t->storage->version++;
    float *staged =
        t->device->on_host ? (float *)tensor_raw(t) : memory_new((size_t)t->numel * sizeof(float));
    if (!staged) return STATUS_OUT_OF_MEMORY;
    draw(context->random.seed, offset, 0, t->numel, staged);
    for (int64_t i = 0; i < t->numel; i++) {
        float x = shift + scale * staged[i];
        staged[i] = x > most ? most : x;
    }
    if (t->device->on_host) return STATUS_OK;
    Status status = device_from_host(t->device, tensor_raw(t), staged, (size_t)tensor_bytes(t));
    memory_free(staged);
    return status;
}

Status tensor_fill_uniform(Tensor *t, float low, float high) {
    float most = low < high ? nextafterf(high, low) : low;
    return fill(t, random_uniform, low, high - low, most, "tensor_fill_uniform");
}

Status tensor_fill_normal(Tensor *t, float mean, float deviation) {
    return fill(t, random_normal, mean, deviation, INFINITY, "tensor_fill_normal");
}

Tensor *tensor_uniform_new(Shape shape, float low, float high) {
    Tensor *t = tensor_new(shape, DTYPE_FLOAT32);
    return tensor_filled(t, tensor_fill_uniform(t, low, high));
}

Tensor *tensor_normal_new(Shape shape, float mean, float deviation) {
    Tensor *t = tensor_new(shape, DTYPE_FLOAT32);
    return tensor_filled(t, tensor_fill_normal(t, mean, deviation));
}

// ---- reading ---------------------------------------------------------------------------------
// A pointer for reading and writing. In a dry run the twin has none.
static void *host_pointer(Tensor *t, DType dtype, const char *what) {
    char shape[SHAPE_TEXT];
    if (error_pending()) return NULL;
    t = tensor_here(t);
    if (!t)
        error_set(STATUS_INVALID_ARGUMENT, "%s: there is no tensor (NULL)", what);
    else if (!t->storage)
        error_set(STATUS_STATE, "%s: the tensor has been freed", what);
    else if (t->dtype != dtype)
        error_set(STATUS_DTYPE, "%s: the tensor is %s, not %s", what, dtype_name(t->dtype),
                  dtype_name(dtype));
    else if (!t->device->on_host)
        error_set(STATUS_DEVICE,
                  "%s: the data of a %s tensor is not in host memory. HINT: "
                  "tensor_read_floats copies what there is",
                  what, t->device->name);
    else if (!tensor_is_contiguous(t))
        error_set(STATUS_SHAPE, "%s: %s is a strided view. HINT: tensor_contiguous copies it", what,
                  shape_text(t->shape, shape));
    else
        return tensor_raw(t);
    return NULL;
}

float *tensor_data(Tensor *t) { return host_pointer(t, DTYPE_FLOAT32, "tensor_data"); }
int64_t *tensor_labels(Tensor *t) { return host_pointer(t, DTYPE_INT64, "tensor_labels"); }

static double number_at(const char *p, uint8_t dtype) {
    if (dtype == DTYPE_INT64) return (double)*(const int64_t *)(const void *)p;
    if (dtype == DTYPE_UINT8) return *(const uint8_t *)p;
    return (double)*(const float *)(const void *)p;
}

const char *storage_on_host(const Storage *storage, char **copy) {
    Device *device = storage->device;
    if (device->on_host) return storage->data;
    *copy = memory_new((size_t)storage->bytes);
    if (!*copy) return NULL;
    return device_to_host(device, *copy, storage->data, (size_t)storage->bytes) ? NULL : *copy;
}

// Reads any view of numbers of any type; `data` is the start of the storage.
static void read_strided(const Tensor *t, const char *data, float *out) {
    int64_t index[TENSOR_MAX_DIMS] = {0}, offset = t->offset;
    for (int64_t i = 0; i < t->numel; i++) {
        out[i] = (float)number_at(data + offset * dtype_size(t->dtype), t->dtype);
        for (int d = t->shape.ndim - 1; d >= 0; d--) { // the next index in row-major order
            offset += t->stride[d];
            if (++index[d] < t->shape.dims[d]) break;
            offset -= t->stride[d] * index[d];
            index[d] = 0;
        }
    }
}

Status tensor_read_floats(const Tensor *t, float *out) {
    if (error_pending()) return error_status();
    if (!t || !t->storage) return error_set(STATUS_STATE, "tensor_read_floats: no tensor");
    if (!out && t->numel > 0)
        return error_set(STATUS_INVALID_ARGUMENT, "tensor_read_floats: no room to read into");
    Device *device = t->device;
    if (!device->has_data) return device_to_host(device, out, NULL, 0); // sets the error
    if (t->dtype == DTYPE_FLOAT32 && tensor_is_contiguous(t))
        return device_to_host(device, out, tensor_raw(t), (size_t)tensor_bytes(t));
    if (t->numel == 0) return STATUS_OK;
    char *copy = NULL;
    const char *data = storage_on_host(t->storage, &copy);
    if (data) read_strided(t, data, out);
    memory_free(copy);
    return data ? STATUS_OK : error_status();
}

Status tensor_read_labels(const Tensor *t, int64_t *out) {
    if (error_pending()) return error_status();
    if (!t || !t->storage || t->dtype != DTYPE_INT64 || !tensor_is_contiguous(t))
        return error_set(STATUS_INVALID_ARGUMENT,
                         "tensor_read_labels: needs a contiguous int64 tensor");
    if (!out && t->numel > 0)
        return error_set(STATUS_INVALID_ARGUMENT, "tensor_read_labels: no room to read into");
    const void *data = t->device->has_data ? tensor_raw(t) : NULL;
    return device_to_host(t->device, out, data, (size_t)tensor_bytes(t));
}

Status tensor_write_floats(Tensor *t, const float *values) {
    if (error_pending()) return error_status();
    t = tensor_here(t);
    if (!t || !t->storage || t->dtype != DTYPE_FLOAT32 || !tensor_is_contiguous(t))
        return error_set(STATUS_INVALID_ARGUMENT,
                         "tensor_write_floats: needs a contiguous float32 tensor");
    if (!values && t->numel > 0)
        return error_set(STATUS_INVALID_ARGUMENT, "tensor_write_floats: there are no values");
    t->storage->version++;
    size_t bytes = (size_t)tensor_bytes(t);
    return device_from_host(t->device, t->device->has_data ? tensor_raw(t) : NULL, values, bytes);
}

double tensor_item(const Tensor *t) {
    if (error_pending()) return (double)NAN;
    if (!t) {
        error_set(STATUS_INVALID_ARGUMENT, "tensor_item: there is no tensor (NULL)");
        return (double)NAN;
    }
    if (t->numel != 1) {
        char text[SHAPE_TEXT];
        error_set(STATUS_SHAPE, "tensor_item: shape %s has %lld elements, not one",
                  shape_text(t->shape, text), (long long)t->numel);
        return (double)NAN;
    }
    if (!t->storage) {
        error_set(STATUS_STATE, "tensor_item: the tensor has been freed");
        return (double)NAN;
    }
    int64_t number = 0; // room for any type; int64 must not go through float
    const void *at = t->device->has_data ? tensor_raw(t) : NULL;
    Status status = device_to_host(t->device, &number, at, (size_t)dtype_size(t->dtype));
    return status ? (double)NAN : number_at((const char *)&number, t->dtype);
}
