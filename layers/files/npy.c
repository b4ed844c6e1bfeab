// npy.c -- reads an NPY file's single array, trusting none of its content, and writes one.
#include "layers/files/npy.h"

#include <stdio.h>
#include <string.h>

#include "layers/files/input_file.h"
#include "tensor/handle.h"
#include "tensor/memory.h"
#include "tensor/op.h"

enum {
    START = 8, // "\x93NUMPY", major and minor version
    MOST_HEADER = 1 << 16,
    ALIGNMENT = 64 // of the first element, as numpy.save writes it
};
static const char magic[] = "\x93NUMPY";

typedef struct Npy {
    InputFile input;
    InputNumbers numbers; // they begin after the header
    bool fortran;
    Shape shape;
    int64_t count;
} Npy;

// ---- the header: a Python dictionary -----------------------------------------------------------
typedef struct Cursor {
    const char *at;
    bool failed; // not a dictionary: nothing matches any more
} Cursor;

static void skip_blanks(Cursor *c) {
    while (*c->at == ' ' || *c->at == '\n' || *c->at == '\t') c->at++;
}

static bool match(Cursor *c, const char *word) {
    skip_blanks(c);
    size_t length = strlen(word);
    if (c->failed || strncmp(c->at, word, length) != 0) return false;
    c->at += length;
    return true;
}

static void want(Cursor *c, const char *word) { c->failed = !match(c, word) || c->failed; }

// Reads a string of less than `size` bytes, in quotes of either kind.
static void want_string(Cursor *c, char *text, size_t size) {
    skip_blanks(c);
    char quote = *c->at;
    const char *end = quote == '\'' || quote == '"' ? strchr(c->at + 1, quote) : NULL;
    text[0] = '\0';
    if (!end || (size_t)(end - c->at) > size) {
        c->failed = true;
        return;
    }
    size_t length = (size_t)(end - c->at) - 1;
    memcpy(text, c->at + 1, length);
    text[length] = '\0';
    c->at = end + 1;
}

static int64_t want_size(Cursor *c) {
    int64_t value = 0;
    skip_blanks(c);
    c->failed = c->failed || *c->at < '0' || *c->at > '9';
    for (; !c->failed && *c->at >= '0' && *c->at <= '9'; c->at++)
        c->failed = __builtin_mul_overflow(value, 10, &value) ||
                    __builtin_add_overflow(value, *c->at - '0', &value);
    if (*c->at == 'L') c->at++; // a long in Python 2
    return value;
}

// Reads "()", "(3,)" or "(3, 4)"; "(3)" is not a tuple in Python.
static void want_shape(Cursor *c, Shape *shape) {
    bool comma = true;
    want(c, "(");
    for (shape->ndim = 0; !c->failed && !match(c, ")"); comma = match(c, ",")) {
        if (!comma || shape->ndim == TENSOR_MAX_DIMS)
            c->failed = true;
        else
            shape->dims[shape->ndim++] = want_size(c);
    }
    c->failed = c->failed || (shape->ndim == 1 && !comma);
}

// Reads {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }: each key once, in any order.
static bool parse_header(const char *text, size_t size, Npy *npy, char descr[16]) {
    Cursor c = {.at = text};
    char key[24];
    int seen = 0;
    want(&c, "{");
    while (!c.failed && !match(&c, "}")) {
        want_string(&c, key, sizeof key);
        want(&c, ":");
        int which = strcmp(key, "descr") == 0           ? 1
                    : strcmp(key, "fortran_order") == 0 ? 2
                    : strcmp(key, "shape") == 0         ? 4
                                                        : 0;
        c.failed = c.failed || which == 0 || (seen & which) != 0;
        seen |= which;
        if (which == 1) want_string(&c, descr, 16);
        if (which == 2 && !match(&c, "False")) {
            npy->fortran = true;
            want(&c, "True");
        }
        if (which == 4) want_shape(&c, &npy->shape);
        if (match(&c, "}")) break;
        want(&c, ",");
    }
    skip_blanks(&c);
    return !c.failed && seen == 7 && c.at == text + size; // false for a zero byte inside
}

static Status take_descr(Npy *npy, const char *descr) {
    char words[INPUT_WORDS];
    bool ordered = descr[0] && strchr("<>=|", descr[0]);
    npy->numbers.element = ordered ? element_by_numpy(descr + 1) : NULL;
    npy->numbers.big_endian =
        descr[0] == '>' || (descr[0] == '=' && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
    const Element *element = npy->numbers.element;
    bool known = element && (element->real || element->integer);
    if (known && (descr[0] != '|' || element->size == 1)) return STATUS_OK;
    return error_set(STATUS_FORMAT,
                     "npy: %s: elements of type '%s'. HINT: f2, f4, f8, b1, i1 to i8 and u1 to u4 "
                     "can be read: numpy.save(name, x.astype('f4'))",
                     npy->input.name, input_words(descr, words));
}

// ---- the file ----------------------------------------------------------------------------------
static const char hint[] = "write it again with numpy.save";

// Finds offset and length of the header's text.
static Status find_header(const Npy *npy, int64_t *begin, int64_t *length) {
    const InputFile *input = &npy->input;
    uint8_t start[START + 4];
    if (input->size < START + 2) return input_refuse(input, "it is too short for any", hint);
    int64_t there = input->size < START + 4 ? input->size : START + 4;
    Status status = input_read(input, 0, start, (size_t)there);
    if (status) return status;
    if (memcmp(start, magic, 6) != 0)
        return input_refuse(input, "it does not begin as NPY files do", "is it one of numpy.save?");
    if (start[6] < 1 || start[6] > 3 || start[7] != 0)
        return input_refuse(input, "its version is none of 1.0, 2.0, 3.0", hint);
    int bytes = start[6] == 1 ? 2 : 4;
    *begin = START + bytes;
    for (int i = bytes - 1; i >= 0 && there >= *begin; i--)
        *length = *length << 8 | start[START + i];
    if (*length > 0 && *length <= MOST_HEADER && *length <= input->size - *begin) return STATUS_OK;
    return input_refuse(input, "its header is longer than 65536 bytes or the file, or empty", hint);
}

static Status read_header(Npy *npy) {
    int64_t begin = 0, length = 0;
    char descr[16] = "";
    Status status = find_header(npy, &begin, &length);
    if (status) return status;
    npy->numbers.at = begin + length;
    char *text = memory_new((size_t)length + 1);
    if (!text) return STATUS_OUT_OF_MEMORY;
    status = input_read(&npy->input, begin, text, (size_t)length);
    if (!status && !parse_header(text, (size_t)length, npy, descr))
        status = input_refuse(&npy->input,
                              "its header is no {'descr', 'fortran_order', 'shape'} of up to 6 "
                              "dimensions",
                              hint);
    memory_free(text);
    return status ? status : take_descr(npy, descr);
}

// Checks that the shape's size equals the number of bytes in the file.
static Status check_size(Npy *npy) {
    int64_t bytes = npy->numbers.element->size, there = npy->input.size - npy->numbers.at;
    bool overflow = false;
    for (int i = 0; i < npy->shape.ndim; i++)
        overflow = __builtin_mul_overflow(bytes, npy->shape.dims[i], &bytes) || overflow;
    npy->count = bytes / npy->numbers.element->size;
    if (!overflow && bytes == there) return STATUS_OK;
    char shape[SHAPE_TEXT];
    return error_set(STATUS_FORMAT,
                     "npy: %s: %lld bytes for the shape %s of numbers of %d. HINT: %s",
                     npy->input.name, (long long)there, shape_text(npy->shape, shape),
                     npy->numbers.element->size, hint);
}

// ---- Fortran order -----------------------------------------------------------------------------
// Moves the file's numbers, whose first index runs fastest, to their places in a row-major array.
static void scatter(const char *from, int64_t size, const Shape *shape, char *to) {
    int64_t index[TENSOR_MAX_DIMS] = {0}, stride[TENSOR_MAX_DIMS], span = size;
    for (int d = shape->ndim - 1; d >= 0; d--) {
        stride[d] = span;
        span *= shape->dims[d];
    }
    for (int64_t at = 0, end = span; end > 0; from += size) {
        memcpy(to + at, from, (size_t)size);
        int d = 0;
        for (; d < shape->ndim && ++index[d] == shape->dims[d]; d++) {
            at -= (shape->dims[d] - 1) * stride[d];
            index[d] = 0;
        }
        if (d == shape->ndim) return;
        at += stride[d];
    }
}

static Status read_fortran(const Npy *npy, Tensor *to) {
    int64_t bytes = tensor_bytes(to);
    if (bytes == 0 || !to->device->has_data) return STATUS_OK;
    char *values = memory_new(2 * (size_t)bytes); // as in the file; after them, in order
    if (!values) return STATUS_OUT_OF_MEMORY;
    Status status =
        input_read_numbers(&npy->input, npy->numbers, npy->count, (DType)to->dtype, values);
    if (!status) {
        scatter(values, dtype_size((DType)to->dtype), &npy->shape, values + bytes);
        status = device_from_host(to->device, tensor_raw(to), values + bytes, (size_t)bytes);
    }
    memory_free(values);
    return status;
}

Tensor *npy_read_new(const char *path) {
    Npy npy = {0};
    if (input_open("npy", path, &npy.input)) return NULL;
    Status status = read_header(&npy);
    if (!status) status = check_size(&npy);
    Tensor *tensor = NULL;
    if (!status)
        tensor = tensor_new(npy.shape, npy.numbers.element->real ? DTYPE_FLOAT32 : DTYPE_INT64);
    if (tensor)
        tensor =
            tensor_filled(tensor, npy.fortran ? read_fortran(&npy, tensor)
                                              : input_read_tensor(&npy.input, npy.numbers, tensor));
    input_close(&npy.input);
    return tensor;
}

// ---- writing -----------------------------------------------------------------------------------
// Writes numpy.save's header, byte for byte, with blanks for a first size of up to 21 digits.
static void write_header(WholeFile *file, const Tensor *tensor, const Element *element) {
    const Shape *shape = &tensor->shape;
    char text[4 * ALIGNMENT], sizes[SHAPE_TEXT];
    int length =
        snprintf(text, sizeof text, "{'descr': '%c%s', 'fortran_order': False, 'shape': %s, }",
                 element->size == 1 ? '|' : '<', element->numpy, shape_text(*shape, sizes));
    if (shape->ndim > 0) length += 21 - snprintf(NULL, 0, "%lld", (long long)shape->dims[0]);
    int padded = ((START + 2 + length + 1) / ALIGNMENT + 1) * ALIGNMENT - START - 2;
    const uint8_t lengths[2] = {(uint8_t)padded, (uint8_t)(padded >> 8)};
    whole_file_write(file, magic, 6);
    whole_file_write(file, "\1\0", 2);
    whole_file_write(file, lengths, 2);
    whole_file_print(file, "%-*s\n", padded - 1, text);
}

static Status write_as(const Tensor *tensor, const Element *element, const char *path) {
    if (!tensor->device->has_data)
        return error_set(
            STATUS_DEVICE,
            "npy_write: on %s a tensor has no values. HINT: copy it from another device",
            tensor->device->name);
    WholeFile *file = whole_file_open(path);
    if (!file) return error_status();
    write_header(file, tensor, element);
    if (elements_write_as(file, tensor, element)) {
        whole_file_discard(file);
        return error_status();
    }
    return whole_file_close(file);
}

static Status check_tensor(const Tensor *tensor) {
    if (error_pending()) return error_status();
    if (tensor && tensor_is_contiguous(tensor)) return STATUS_OK;
    return error_set(STATUS_INVALID_ARGUMENT, "npy_write: the tensor is %s",
                     tensor ? "not contiguous. HINT: tensor_contiguous" : "missing (NULL)");
}

Status npy_write(const Tensor *tensor, const char *path) {
    if (check_tensor(tensor)) return error_status();
    return write_as(tensor, element_of((DType)tensor->dtype), path);
}

Status npy_write_as(const Tensor *tensor, const char *type, const char *path) {
    if (check_tensor(tensor)) return error_status();
    const Element *element = type ? element_by_numpy(type) : NULL;
    uint8_t room[8];
    const int64_t number = 0;
    if (!element || tensor->dtype == DTYPE_UINT8 ||
        !element_store(element, &number, (DType)tensor->dtype, room))
        return error_set(
            STATUS_INVALID_ARGUMENT,
            "npy_write_as: no %s of %s is written. HINT: f2, f4, f8, i1 to i8, u1 to u8, b1 "
            "of float32 or int64",
            type ? type : "type", dtype_name((DType)tensor->dtype));
    return write_as(tensor, element, path);
}
