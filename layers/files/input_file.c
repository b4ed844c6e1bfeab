// input_file.c -- reads at offsets, and converts meanwhile, in pieces of a fixed size.
#include "layers/files/input_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tensor/memory.h"
#include "tensor/op.h"

enum { PIECE = 1 << 15, MOST_AT_ONCE = 1 << 30 }; // numbers; bytes of one call

static Status cannot_read(const InputFile *file, const char *why) {
    return error_set(STATUS_IO, "%s: %s: cannot be read: %s. HINT: check the path", file->who,
                     file->name, why);
}

Status input_open(const char *who, const char *path, InputFile *file) {
    *file = (InputFile){.who = who, .name = path, .descriptor = -1};
    if (error_pending()) return error_status();
    if (!path) return error_set(STATUS_INVALID_ARGUMENT, "%s: no file is named", who);
    // Opening a pipe without a writer would block.
    file->descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file->descriptor < 0) return cannot_read(file, strerror(errno));
    struct stat found;
    int error = fstat(file->descriptor, &found) == 0 ? 0 : errno;
    if (error == 0 && S_ISREG(found.st_mode)) {
        file->size = found.st_size;
        return STATUS_OK;
    }
    input_close(file);
    return cannot_read(file, error ? strerror(error) : "it is no regular file");
}

void input_close(InputFile *file) {
    if (file->descriptor >= 0) (void)close(file->descriptor);
    file->descriptor = -1;
}

Status input_refuse(const InputFile *file, const char *what, const char *hint) {
    return error_set(STATUS_FORMAT, "%s: %s: %s. HINT: %s", file->who, file->name, what, hint);
}

Status input_read(const InputFile *file, int64_t at, void *to, size_t bytes) {
    uint8_t *out = to;
    while (bytes > 0) {
        size_t wanted = bytes < MOST_AT_ONCE ? bytes : MOST_AT_ONCE;
        ssize_t got = pread(file->descriptor, out, wanted, (off_t)at);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return cannot_read(file, strerror(errno));
        if (got == 0) return cannot_read(file, "it has become shorter meanwhile");
        out += got;
        at += got;
        bytes -= (size_t)got;
    }
    return STATUS_OK;
}

// ---- numbers -----------------------------------------------------------------------------------
static bool as_held(InputNumbers numbers, DType dtype) {
    return numbers.element == element_of(dtype) &&
           element_in_order(numbers.element, numbers.big_endian);
}

// Converts numbers [done, done + n) into `to`, by way of `raw`, which has room for them as stored.
static Status read_piece(const InputFile *file, InputNumbers numbers, int64_t done, int64_t n,
                         DType dtype, uint8_t *raw, void *to) {
    int64_t size = numbers.element->size;
    Status status = input_read(file, numbers.at + done * size, raw, (size_t)(n * size));
    if (status) return status;
    element_order(numbers.element, numbers.big_endian, raw, n);
    element_convert(numbers.element, raw, n, dtype, to);
    return STATUS_OK;
}

Status input_read_numbers(const InputFile *file, InputNumbers numbers, int64_t count, DType dtype,
                          void *to) {
    int64_t size = dtype_size(dtype);
    if (as_held(numbers, dtype)) return input_read(file, numbers.at, to, (size_t)(count * size));
    int64_t piece = count < PIECE ? count : PIECE;
    uint8_t *raw = memory_new((size_t)(piece * numbers.element->size));
    if (!raw) return STATUS_OUT_OF_MEMORY;
    Status status = STATUS_OK;
    for (int64_t done = 0; done < count && !status; done += piece) {
        int64_t n = count - done < piece ? count - done : piece;
        status = read_piece(file, numbers, done, n, dtype, raw, (char *)to + done * size);
    }
    memory_free(raw);
    return status;
}

// For memory that the host cannot write: assembles each piece here and sends it.
static Status send_pieces(const InputFile *file, InputNumbers numbers, Tensor *to) {
    int64_t size = dtype_size(to->dtype), piece = PIECE < to->numel ? PIECE : to->numel;
    uint8_t *ready = memory_new((size_t)(piece * (size + numbers.element->size)));
    if (!ready) return STATUS_OUT_OF_MEMORY;
    uint8_t *raw = ready + piece * size; // needs no alignment
    Status status = STATUS_OK;
    for (int64_t done = 0; done < to->numel && !status; done += piece) {
        int64_t n = to->numel - done < piece ? to->numel - done : piece;
        status = read_piece(file, numbers, done, n, to->dtype, raw, ready);
        if (!status)
            status = device_from_host(to->device, tensor_raw(to) + done * size, ready,
                                      (size_t)(n * size));
    }
    memory_free(ready);
    return status;
}

Status input_read_tensor(const InputFile *file, InputNumbers numbers, Tensor *to) {
    if (!to->device->has_data || to->numel == 0) return STATUS_OK;
    to->storage->version++;
    if (!to->device->on_host) return send_pieces(file, numbers, to);
    return input_read_numbers(file, numbers, to->numel, to->dtype, tensor_raw(to));
}

const char *input_words(const char *words, char text[INPUT_WORDS]) {
    size_t n = 0;
    if (!words) words = "(NULL)";
    for (; words[n] && n < INPUT_WORDS - 4; n++) {
        unsigned char c = (unsigned char)words[n];
        text[n] = (char)(c < 0x20 || c == 0x7f ? '?' : c);
    }
    // Does not cut inside a character, which bytes 10xxxxxx continue.
    while (n > 0 && words[n] && ((unsigned char)words[n] & 0xc0) == 0x80) n--;
    strcpy(text + n, words[n] ? "..." : "");
    return text;
}
