// idx.c -- reads one IDX file, plain or gzip'ed, and trusts none of its content. idx_folder.c has
// the pairs of files that make a dataset.
#define ZLIB_CONST
#include "layers/files/idx.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "tensor/given.h"
#include "tensor/memory.h"

enum {
    MAX_DIMS = 3,
    MAGIC_BYTES = 4,       // 00 00 <element type> <dimensions>
    UNSIGNED_BYTES = 0x08, // the only element type we read
    FIRST_CAPACITY = 1 << 16,
    MOST_AT_ONCE = 1 << 30, // zlib counts in 32 bits
    GZIP_WINDOW = 15 + 16,  // largest window, and a gzip header is required
    SIZES_TEXT = 96
};

// A buffer for bytes that arrive in pieces.
typedef struct Buffer {
    uint8_t *bytes;
    size_t size, capacity;
} Buffer;

// Formats "10000 x 28 x 28 = 7840000".
static const char *sizes_text(const IdxArray *array, char text[SIZES_TEXT]) {
    int length = 0;
    for (int i = 0; i < array->ndim; i++) {
        length += snprintf(text + length, (size_t)(SIZES_TEXT - length), "%s%lld", i ? " x " : "",
                           (long long)array->dims[i]);
    }
    if (array->ndim > 1 && array->count >= 0) {
        snprintf(text + length, (size_t)(SIZES_TEXT - length), " = %lld", (long long)array->count);
    }
    return text;
}

static size_t header_bytes(const IdxArray *array) { return MAGIC_BYTES + 4 * (size_t)array->ndim; }

static Status check_magic(const uint8_t *bytes, size_t size, const char *name) {
    if (!bytes && size > 0) {
        return error_set(STATUS_INVALID_ARGUMENT, "idx: %s: there are no bytes (NULL)", name);
    }
    if (size == 0) {
        return error_set(STATUS_FORMAT, "idx: %s: the file is empty. HINT: download it again",
                         name);
    }
    if (size > 1 && (bytes[0] != 0 || bytes[1] != 0)) {
        return error_set(STATUS_FORMAT,
                         "idx: %s: begins with bytes %02x %02x, an IDX file with 00 00. HINT: it "
                         "may be a saved error page; download it again",
                         name, bytes[0], bytes[1]);
    }
    if (size < MAGIC_BYTES) {
        return error_set(STATUS_FORMAT,
                         "idx: %s: is too short: ends after %zu byte%s, inside its header. HINT: "
                         "download it again",
                         name, size, size == 1 ? "" : "s");
    }
    if (bytes[2] != UNSIGNED_BYTES) {
        return error_set(STATUS_FORMAT,
                         "idx: %s: holds elements of type 0x%02x, expected 0x08 (unsigned bytes). "
                         "HINT: convert it to unsigned bytes",
                         name, bytes[2]);
    }
    if (bytes[3] < 1 || bytes[3] > MAX_DIMS) {
        return error_set(STATUS_FORMAT,
                         "idx: %s: has %d dimensions, expected 1 to 3. HINT: labels have 1, "
                         "images 3",
                         name, bytes[3]);
    }
    return STATUS_OK;
}

// Fills in ndim, dims and count from the first bytes of a file.
static Status read_header(const uint8_t *bytes, size_t size, const char *name, IdxArray *array) {
    Status status = check_magic(bytes, size, name);
    if (status) return status;
    array->ndim = bytes[3];
    if (size < header_bytes(array)) {
        return error_set(STATUS_FORMAT,
                         "idx: %s: ends after %zu bytes, inside its header of %zu. HINT: download "
                         "it again",
                         name, size, header_bytes(array));
    }
    array->count = 1;
    bool overflow = false;
    for (int i = 0; i < array->ndim; i++) {
        const uint8_t *b = bytes + MAGIC_BYTES + 4 * (size_t)i;
        int64_t dim = (int64_t)b[0] << 24 | b[1] << 16 | b[2] << 8 | b[3];
        array->dims[i] = dim;
        overflow = overflow || (dim != 0 && array->count > INT64_MAX / dim);
        if (!overflow) array->count *= dim;
    }
    if (overflow) {
        char text[SIZES_TEXT];
        array->count = -1; // leaves the product out of the text
        return error_set(STATUS_FORMAT,
                         "idx: %s: header promises %s bytes, more than any file holds. HINT: "
                         "download it again",
                         name, sizes_text(array, text));
    }
    return STATUS_OK;
}

static Status check_not_longer(const IdxArray *array, size_t size, const char *name) {
    if (size - header_bytes(array) <= (uint64_t)array->count) return STATUS_OK;
    char text[SIZES_TEXT];
    return error_set(STATUS_FORMAT,
                     "idx: %s: header promises %s bytes, but the file goes on after them. HINT: "
                     "download it again",
                     name, sizes_text(array, text));
}

Status idx_parse(const uint8_t *bytes, size_t size, const char *name, IdxArray *out) {
    if (!GIVEN(out)) return STATUS_INVALID_ARGUMENT;
    *out = (IdxArray){0};
    IdxArray array = {0};
    Status status = read_header(bytes, size, name, &array);
    if (status == STATUS_OK) status = check_not_longer(&array, size, name);
    if (status) return status;
    size_t payload = size - header_bytes(&array);
    if (payload < (uint64_t)array.count) {
        char text[SIZES_TEXT];
        return error_set(STATUS_FORMAT,
                         "idx: %s: header promises %s bytes, file has %zu. HINT: download it "
                         "again",
                         name, sizes_text(&array, text), payload);
    }
    array.bytes = memory_new(payload);
    if (!array.bytes) return STATUS_OUT_OF_MEMORY;
    memcpy(array.bytes, bytes + header_bytes(&array), payload);
    *out = array;
    return STATUS_OK;
}

void idx_free(IdxArray *array) {
    if (!array) return;
    memory_free(array->bytes);
    *array = (IdxArray){0};
}

static bool is_gzip(const uint8_t *bytes, size_t size) {
    return bytes && size >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

// Doubles the room as bytes arrive: the size in the header is never allocated at once.
static Status grow(Buffer *buffer) {
    size_t capacity = buffer->capacity ? 2 * buffer->capacity : FIRST_CAPACITY;
    uint8_t *bytes = memory_resize(buffer->bytes, buffer->capacity, capacity);
    if (!bytes) return STATUS_OUT_OF_MEMORY;
    buffer->bytes = bytes;
    buffer->capacity = capacity;
    return STATUS_OK;
}

// As grow, but checks the header first: reading a huge file or a gzip bomb stops when the first
// bytes are no header, or when all bytes that the header states are there.
static Status grow_idx(Buffer *buffer, const char *name) {
    if (buffer->size > 0) {
        IdxArray array = {0};
        Status status = read_header(buffer->bytes, buffer->size, name, &array);
        if (status == STATUS_OK) status = check_not_longer(&array, buffer->size, name);
        if (status) return status;
    }
    return grow(buffer);
}

static Status broken_gzip(const char *name, const char *what) {
    return error_set(STATUS_FORMAT, "idx: %s: broken gzip stream: %s. HINT: download it again",
                     name, what);
}

// A gzip file is one or more members, end to end.
static Status inflate_members(z_stream *stream, const uint8_t *bytes, size_t size, const char *name,
                              Buffer *out) {
    size_t used = 0;
    for (;;) {
        Status status = out->size == out->capacity ? grow_idx(out, name) : STATUS_OK;
        if (status) return status;
        size_t left = size - used, room = out->capacity - out->size;
        const uInt in = left < MOST_AT_ONCE ? (uInt)left : MOST_AT_ONCE;
        const uInt to = room < MOST_AT_ONCE ? (uInt)room : MOST_AT_ONCE;
        stream->next_in = bytes + used;
        stream->avail_in = in;
        stream->next_out = out->bytes + out->size;
        stream->avail_out = to;
        int code = inflate(stream, Z_NO_FLUSH);
        used += in - stream->avail_in;
        out->size += to - stream->avail_out;
        if (code == Z_STREAM_END) {
            if (used == size) return STATUS_OK;
            if (!is_gzip(bytes + used, size - used)) {
                return broken_gzip(name, "other bytes follow its end");
            }
            inflateReset(stream);
        } else if (code == Z_BUF_ERROR) { // there was room, so input is missing
            return broken_gzip(name, "the file ends before the stream does");
        } else if (code == Z_MEM_ERROR) {
            return STATUS_OUT_OF_MEMORY; // set by zlib_allocate
        } else if (code != Z_OK) {
            return broken_gzip(name, stream->msg ? stream->msg : zError(code));
        }
    }
}

static voidpf zlib_allocate(voidpf unused, uInt items, uInt size) {
    (void)unused;
    return memory_new((size_t)items * size);
}

static void zlib_free(voidpf unused, voidpf block) {
    (void)unused;
    memory_free(block);
}

Status idx_parse_any(const uint8_t *bytes, size_t size, const char *name, IdxArray *out) {
    if (!GIVEN(out)) return STATUS_INVALID_ARGUMENT;
    if (!is_gzip(bytes, size)) return idx_parse(bytes, size, name, out);
    *out = (IdxArray){0};
    z_stream stream = {.zalloc = zlib_allocate, .zfree = zlib_free};
    if (inflateInit2(&stream, GZIP_WINDOW) != Z_OK) return STATUS_OUT_OF_MEMORY;
    Buffer inflated = {0};
    Status status = inflate_members(&stream, bytes, size, name, &inflated);
    inflateEnd(&stream);
    if (status == STATUS_OK) status = idx_parse(inflated.bytes, inflated.size, name, out);
    memory_free(inflated.bytes);
    return status;
}

static Status load(FILE *file, const char *name, Buffer *buffer) {
    for (;;) {
        if (buffer->size == buffer->capacity) {
            Status status =
                is_gzip(buffer->bytes, buffer->size) ? grow(buffer) : grow_idx(buffer, name);
            if (status) return status;
        }
        size_t room = buffer->capacity - buffer->size;
        size_t got = fread(buffer->bytes + buffer->size, 1, room, file);
        buffer->size += got;
        if (ferror(file)) { // a folder can be opened, but not read
            return error_set(STATUS_IO, "idx: %s: cannot be read: %s. HINT: name an IDX file", name,
                             strerror(errno));
        }
        if (got < room) return STATUS_OK;
    }
}

Status idx_read(const char *path, IdxArray *out) {
    if (!GIVEN(out)) return STATUS_INVALID_ARGUMENT;
    *out = (IdxArray){0};
    if (!path) return error_set(STATUS_INVALID_ARGUMENT, "idx: no file is named");
    FILE *file = fopen(path, "rb");
    if (!file) {
        return error_set(STATUS_IO, "idx: %s: cannot be opened: %s. HINT: check the path", path,
                         strerror(errno));
    }
    Buffer buffer = {0};
    Status status = load(file, path, &buffer);
    fclose(file);
    if (status == STATUS_OK) status = idx_parse_any(buffer.bytes, buffer.size, path, out);
    memory_free(buffer.bytes);
    return status;
}
