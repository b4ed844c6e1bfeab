// copy.c -- copies between host memory, which a GPU cannot reach, and the GPU's memory, through a
// ring of pinned slots: one slot is filled or emptied while the GPU works on another.
#include <string.h>

#include "cuda/cuda.h"

Status cuda_ring_new(CudaDevice *cuda) {
    Status status = CUDA_CHECK(cuda, cudaMallocHost((void **)&cuda->pinned,
                                                    (size_t)CUDA_PINNED_SLOTS * CUDA_PINNED_BYTES));
    for (int i = 0; i < CUDA_PINNED_SLOTS && !status; i++)
        status = CUDA_CHECK(cuda, cudaEventCreateWithFlags(&cuda->pinned_free[i],
                                                           cudaEventDisableTiming));
    return status;
}

void cuda_ring_free(CudaDevice *cuda) {
    for (int i = 0; i < CUDA_PINNED_SLOTS; i++)
        if (cuda->pinned_free[i]) cudaEventDestroy(cuda->pinned_free[i]);
    if (cuda->pinned) cudaFreeHost(cuda->pinned);
}

static size_t piece(size_t bytes) { return bytes < CUDA_PINNED_BYTES ? bytes : CUDA_PINNED_BYTES; }

// Takes the least recently used slot; waits for the last copy through it.
static Status take_slot(CudaDevice *cuda, int *slot) {
    *slot = cuda->pinned_next;
    cuda->pinned_next = (*slot + 1) % CUDA_PINNED_SLOTS;
    return CUDA_CHECK(cuda, cudaEventSynchronize(cuda->pinned_free[*slot]));
}

static char *slot_data(const CudaDevice *cuda, int slot) {
    return cuda->pinned + (size_t)slot * CUDA_PINNED_BYTES;
}

// Queues the copy between a slot and the device, and an event after it.
static Status queue_copy(CudaDevice *cuda, int slot, void *to, const void *from, size_t bytes,
                         enum cudaMemcpyKind kind) {
    Status status = CUDA_CHECK(cuda, cudaMemcpyAsync(to, from, bytes, kind, cuda->compute));
    return status ? status
                  : CUDA_CHECK(cuda, cudaEventRecord(cuda->pinned_free[slot], cuda->compute));
}

Status cuda_from_host(CudaDevice *cuda, void *to, const void *from, size_t bytes) {
    for (size_t done = 0; done < bytes;) {
        int slot;
        size_t count = piece(bytes - done);
        Status status = take_slot(cuda, &slot);
        if (status) return status;
        memcpy(slot_data(cuda, slot), (const char *)from + done, count);
        status = queue_copy(cuda, slot, (char *)to + done, slot_data(cuda, slot), count,
                            cudaMemcpyHostToDevice);
        if (status) return status;
        done += count;
    }
    return STATUS_OK;
}

// While the host copies a piece out of its slot, the GPU fills further slots up to `queued`.
Status cuda_to_host(CudaDevice *cuda, void *to, const void *from, size_t bytes) {
    int first = cuda->pinned_next, emptied = 0, filled = 0, slot;
    for (size_t queued = 0, done = 0; done < bytes; emptied++) {
        for (; queued < bytes && filled - emptied < CUDA_PINNED_SLOTS; filled++) {
            size_t count = piece(bytes - queued);
            Status status = take_slot(cuda, &slot);
            if (!status)
                status = queue_copy(cuda, slot, slot_data(cuda, slot), (const char *)from + queued,
                                    count, cudaMemcpyDeviceToHost);
            if (status) return status;
            queued += count;
        }
        slot = (first + emptied) % CUDA_PINNED_SLOTS;
        size_t count = piece(bytes - done);
        Status status = CUDA_CHECK(cuda, cudaEventSynchronize(cuda->pinned_free[slot]));
        if (status) return status;
        memcpy((char *)to + done, slot_data(cuda, slot), count);
        done += count;
    }
    return STATUS_OK;
}

Status cuda_clear(CudaDevice *cuda, const Tensor *t) {
    if (t->numel == 0) return STATUS_OK;
    size_t bytes = (size_t)(t->numel * dtype_sizes[t->dtype]);
    return CUDA_CHECK(cuda, cudaMemsetAsync(tensor_raw(t), 0, bytes, cuda->compute));
}
