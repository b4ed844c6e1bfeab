// fuzz_weights.c -- random bytes for the readers of safetensors and NPY files: whatever comes, they
// answer with tensors that lie inside the file, or with one message; and take memory in proportion.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "layers/files/npy.h"
#include "layers/files/safetensors.h"
#include "tensor/context.h"
#include "tensor/memory.h"
#include "tests/fixtures/files.h"
#include "tests/fuzz/fuzzer.h"

enum { MOST_GROWTH = 16, LITTLE = 4096 }; // a tensor's bytes by the file's

static void promise(bool kept) {
    if (!kept) abort();
}

static void check_failure(Status status) {
    promise(status != STATUS_OK && error_status() == status);
    promise(status == STATUS_OUT_OF_MEMORY || strstr(error_message(), "HINT") != NULL);
    promise(strchr(error_message(), '\n') == NULL);
    error_clear();
}

// What is in the tensor is all there, and no more than the file can hold.
static void check_tensor(Tensor *tensor, size_t size) {
    promise(!error_pending() && tensor->shape.ndim <= TENSOR_MAX_DIMS);
    promise(tensor_bytes(tensor) <= (int64_t)(MOST_GROWTH * size));
    unsigned char sum = 0;
    const unsigned char *bytes = tensor->storage->data;
    for (int64_t i = 0; i < tensor_bytes(tensor); i++) sum ^= bytes[i]; // a sanitizer looks on
    promise(sum == (sum & 0xff));
    tensor_free(tensor);
}

static void read_entries(const Safetensors *file, size_t size) {
    int64_t bytes = 0;
    for (int64_t i = 0; i < safetensors_count(file); i++) {
        const SafetensorsEntry *entry = safetensors_entry(file, i);
        promise(safetensors_find(file, entry->name) == i);
        bytes += entry->bytes;
        Tensor *tensor = safetensors_tensor_new(file, i);
        if (tensor)
            check_tensor(tensor, size);
        else
            check_failure(error_status());
    }
    promise(bytes <= (int64_t)size);
    safetensors_metadata(file, "format");
}

static void read_both(const char *path, size_t size, uint64_t failing_request) {
    memory_fail_at(failing_request);
    Safetensors *file = safetensors_open(path);
    if (file)
        read_entries(file, size);
    else
        check_failure(error_status());
    safetensors_close(file);
    memory_fail_at(failing_request);
    Tensor *tensor = npy_read_new(path);
    if (tensor)
        check_tensor(tensor, size);
    else
        check_failure(error_status());
    memory_fail_at(0);
    promise(context_ledger()->live.total == 0);
    promise(context_ledger()->peak.total <= (int64_t)(MOST_GROWTH * size + LITTLE));
    ledger_reset_peak(context_ledger());
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    char path[32];
    int file = memfd_create("input", MFD_CLOEXEC);
    promise(file >= 0 && write(file, bytes, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    read_both(path, size, 0);
    read_both(path, size, 1 + size % 7);
    close(file);
    return 0;
}

static size_t copy_seed(const char *from, size_t size, uint8_t bytes[FUZZER_MAX_INPUT]) {
    memcpy(bytes, from, size);
    return size;
}

// 0, 1 Python's safetensors, then NumPy's arrays.
size_t fuzzer_seed(int index, uint8_t bytes[FUZZER_MAX_INPUT]) {
    if (index == 0) return copy_seed(python_kinds, sizeof python_kinds - 1, bytes);
    if (index == 1) return copy_seed(python_tied, sizeof python_tied - 1, bytes);
    size_t array = (size_t)index - 2;
    if (array >= sizeof npy_files / sizeof npy_files[0]) return 0;
    return copy_seed(npy_files[array].bytes, npy_files[array].size, bytes);
}
