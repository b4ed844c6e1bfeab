// fuzz_idx.c -- random bytes for the IDX reader, plain and gzip'ed: whatever comes, it answers with
// an array that fits, or with one message.
#define ZLIB_CONST
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "layers/train/idx.h"
#include "tensor/memory.h"
#include "tests/fuzz/fuzzer.h"

enum { GZIP_WINDOW = 15 + 16 };

static void promise(bool kept) {
    if (!kept) abort();
}

static void parse(const uint8_t *bytes, size_t size, uint64_t failing_allocation) {
    IdxArray array;
    memory_fail_at(failing_allocation);
    Status status = idx_parse_any(bytes, size, "input", &array);
    memory_fail_at(0);
    if (status == STATUS_OK) {
        promise(!error_pending() && array.ndim >= 1 && array.ndim <= 3);
        int64_t count = 1;
        for (int i = 0; i < array.ndim; i++) count *= array.dims[i];
        promise(array.count == count);
        uint8_t *copy = malloc((size_t)count + 1); // reads every byte that is said to be there
        promise(copy != NULL);
        memcpy(copy, array.bytes, (size_t)count);
        free(copy);
        idx_free(&array);
    } else {
        promise(array.bytes == NULL && array.count == 0);
        promise(error_status() == status);
        promise(status == STATUS_OUT_OF_MEMORY || strstr(error_message(), "HINT") != NULL);
    }
    error_clear();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    parse(bytes, size, 0);
    parse(bytes, size, 1 + size % 5);
    return 0;
}

static size_t compress_member(const uint8_t *bytes, size_t size, uint8_t *out, size_t room) {
    z_stream stream = {
        .next_in = bytes, .avail_in = (uInt)size, .next_out = out, .avail_out = (uInt)room};
    promise(deflateInit2(&stream, 9, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    promise(deflate(&stream, Z_FINISH) == Z_STREAM_END);
    deflateEnd(&stream);
    return room - stream.avail_out;
}

// 0 labels, 1 images, 2 images gzip'ed, 3 in two members.
size_t fuzzer_seed(int index, uint8_t bytes[FUZZER_MAX_INPUT]) {
    static const uint8_t labels[] = {0, 0, 8, 1, 0, 0, 0, 5, 7, 2, 1, 0, 4};
    uint8_t images[16 + 2 * 28 * 28] = {0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 28, 0, 0, 0, 28};
    for (size_t i = 16; i < sizeof(images); i++) images[i] = (uint8_t)(i * i);
    if (index == 0) {
        memcpy(bytes, labels, sizeof(labels));
        return sizeof(labels);
    }
    if (index == 1) {
        memcpy(bytes, images, sizeof(images));
        return sizeof(images);
    }
    if (index > 3) return 0;
    size_t first = index == 2 ? sizeof(images) : 10;
    size_t used = compress_member(images, first, bytes, FUZZER_MAX_INPUT);
    if (first == sizeof(images)) return used;
    return used + compress_member(images + first, sizeof(images) - first, bytes + used,
                                  FUZZER_MAX_INPUT - used);
}
