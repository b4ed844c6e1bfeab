// fill_random.c -- random tensors: made on the host, so that every device starts from the same
// bits.
#include "tensor/memory.h"
#include "tensor/shadow.h"

typedef void (*Draw)(uint64_t seed, uint64_t offset, int64_t begin, int64_t end, float *out);

static Status fill(Tensor *t, Draw draw, float shift, float scale, const char *what) {
    Context *context = context_current();
    if (context->error.status) return context->error.status;
    t = tensor_here(t);
    if (!t || !t->storage || t->dtype != DTYPE_FLOAT32 || !tensor_is_contiguous(t))
        return error_set(STATUS_INVALID_ARGUMENT, "%s: needs a contiguous float32 tensor", what);
    uint64_t offset = random_reserve(&context->random, t->numel); // on meta too: the same sequence
    if (!t->device->has_data || t->numel == 0) return STATUS_OK;
    t->storage->version++;
    float *staged =
        t->device->on_host ? (float *)tensor_raw(t) : memory_new((size_t)t->numel * sizeof(float));
    if (!staged) return STATUS_OUT_OF_MEMORY;
    draw(context->random.seed, offset, 0, t->numel, staged);
    for (int64_t i = 0; i < t->numel; i++) staged[i] = shift + scale * staged[i];
    if (t->device->on_host) return STATUS_OK;
    Status status = device_from_host(t->device, tensor_raw(t), staged, (size_t)tensor_bytes(t));
    memory_free(staged);
    return status;
}

Status tensor_fill_uniform(Tensor *t, float low, float high) {
    return fill(t, random_uniform, low, high - low, "tensor_fill_uniform");
}

Status tensor_fill_normal(Tensor *t, float mean, float deviation) {
    return fill(t, random_normal, mean, deviation, "tensor_fill_normal");
}
