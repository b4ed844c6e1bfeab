// fuzz_weights.c -- random bytes for the readers of safetensors and NPY files: for any input they
// return tensors that lie inside the file, or there is one message; memory stays in proportion.
#include <stdlib.h>
#include <string.h>

#include "layers/files/npy.h"
#include "layers/files/safetensors.h"
#include "tensor/context.h"
#include "tensor/memory.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/json_mutator.h"

enum { MOST_GROWTH = 16, LITTLE = 4096, LENGTH = 8 }; // a tensor's bytes over the file's

// Checks that all of the tensor's data exists, and that it is no more than the file can hold.
static void check_tensor(Tensor *tensor, size_t size) {
    promise(!error_pending() && tensor->shape.ndim <= TENSOR_MAX_DIMS);
    promise(tensor_bytes(tensor) <= (int64_t)(MOST_GROWTH * size));
    const volatile unsigned char *bytes = tensor->storage->data; // volatile: every read happens
    for (int64_t i = 0; i < tensor_bytes(tensor); i++) (void)bytes[i]; // for the sanitizer
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
            promise_error(error_status());
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
        promise_error(error_status());
    safetensors_close(file);
    memory_fail_at(failing_request);
    Tensor *tensor = npy_read_new(path);
    if (tensor)
        check_tensor(tensor, size);
    else
        promise_error(error_status());
    memory_fail_at(0);
    promise(context_ledger()->live.total == 0);
    promise(context_ledger()->peak.total <= (int64_t)(MOST_GROWTH * size + LITTLE));
    ledger_reset_peak(context_ledger());
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    FuzzFile file = fuzz_file(bytes, size);
    read_both(file.path, size, 0);
    read_both(file.path, size, 1 + size % 7);
    fuzz_file_end(&file);
    return 0;
}

// Mostly changes the header of a safetensors file, and puts the right length before it.
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned seed) {
    uint64_t header = 0;
    for (int i = LENGTH - 1; i >= 0 && size > LENGTH; i--) header = header << 8 | bytes[i];
    if (size <= LENGTH || header > size - LENGTH || seed % 4 == 0)
        return LLVMFuzzerMutate(bytes, size, most);
    size_t tensors = size - LENGTH - header, length;
    uint8_t *behind = malloc(tensors + 1);
    promise(behind != NULL);
    memcpy(behind, bytes + LENGTH + header, tensors);
    length = json_mutate(bytes + LENGTH, header, most - LENGTH - tensors, seed);
    memcpy(bytes + LENGTH + length, behind, tensors);
    free(behind);
    for (int i = 0; i < LENGTH; i++) bytes[i] = (uint8_t)(length >> 8 * i);
    return LENGTH + length + tensors;
}
