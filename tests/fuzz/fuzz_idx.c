// fuzz_idx.c -- random bytes for the IDX reader, plain and gzip'ed: for any input it returns an
// array that fits, or there is one message.
#include <stdlib.h>
#include <string.h>

#include "layers/files/idx.h"
#include "tensor/memory.h"
#include "tests/fuzz/fuzz.h"

static void parse(const uint8_t *bytes, size_t size, uint64_t failing_allocation) {
    IdxArray array;
    memory_fail_at(failing_allocation);
    Status status = idx_parse_any(bytes, size, "input", &array);
    memory_fail_at(0);
    if (status == STATUS_OK) {
        promise(array.ndim >= 1 && array.ndim <= 3);
        int64_t count = 1;
        for (int i = 0; i < array.ndim; i++) count *= array.dims[i];
        promise(array.count == count);
        uint8_t *copy = malloc((size_t)count + 1); // reads every byte of the array
        promise(copy != NULL);
        memcpy(copy, array.bytes, (size_t)count);
        free(copy);
        idx_free(&array);
    } else {
        promise(array.bytes == NULL && array.count == 0);
        promise_error(status);
    }
    promise_clean();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    parse(bytes, size, 0);
    parse(bytes, size, 1 + size % 5);
    return 0;
}
