// data.c -- the numbers that an ONNX file stores, in it or in a file beside it, of any element
// type, as doubles or floats. Trusts no count, offset or name.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "layers/files/onnx/import.h"
#include "tensor/memory.h"

bool onnx_is_float(int type) {
    return type == ONNX_FLOAT || type == ONNX_FLOAT16 || type == ONNX_DOUBLE ||
           type == ONNX_BFLOAT16;
}

Status onnx_stored_shape(const Onnx__Tensor *stored, Shape *shape) {
    int64_t count = 1;
    *shape = (Shape){.ndim = (int)stored->n_dims};
    if (stored->n_dims > TENSOR_MAX_DIMS)
        return error_set(STATUS_NOT_IMPLEMENTED, "onnx: \"%s\" has %zu dimensions, at most %d",
                         stored->name ? stored->name : "", stored->n_dims, TENSOR_MAX_DIMS);
    for (size_t i = 0; i < stored->n_dims; i++) {
        shape->dims[i] = stored->dims[i];
        if (stored->dims[i] < 0 || __builtin_mul_overflow(count, stored->dims[i], &count))
            return error_set(STATUS_FORMAT, "onnx: \"%s\" has the size %lld",
                             stored->name ? stored->name : "", (long long)stored->dims[i]);
    }
    return STATUS_OK;
}

// ---- elements ---------------------------------------------------------------------------------
static float half_value(uint16_t bits) { // IEEE 754 binary16
    uint32_t sign = (uint32_t)(bits & 0x8000) << 16, rest = bits & 0x7fff, word;
    float value;
    if (rest >= 0x7c00) { // infinite, or none
        word = sign | 0x7f800000 | (rest & 0x3ff) << 13;
    } else if (rest >= 0x400) {
        word = sign | ((rest << 13) + ((127 - 15) << 23));
    } else {
        value = (float)rest * 0x1p-24f;
        return sign ? -value : value;
    }
    memcpy(&value, &word, sizeof value);
    return value;
}

static float brain_value(uint16_t bits) {
    uint32_t word = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
}

#define AS(name, type, conversion)                                                                 \
    static double name(const void *at) {                                                           \
        type x;                                                                                    \
        memcpy(&x, at, sizeof x);                                                                  \
        return (double)(conversion);                                                               \
    }
AS(of_float, float, x)
AS(of_double, double, x)
AS(of_uint8, uint8_t, x)
AS(of_int8, int8_t, x)
AS(of_uint16, uint16_t, x)
AS(of_int16, int16_t, x)
AS(of_int32, int32_t, x)
AS(of_uint32, uint32_t, x)
AS(of_int64, int64_t, x)
AS(of_uint64, uint64_t, x)
AS(of_bool, uint8_t, x != 0)
AS(of_half, uint16_t, half_value(x))
AS(of_brain, uint16_t, brain_value(x))
#undef AS

// In which repeated field of the message elements are, where they are not raw bytes.
typedef enum Field { FIELD_FLOAT, FIELD_INT32, FIELD_INT64, FIELD_DOUBLE, FIELD_UINT64 } Field;

typedef struct Element {
    int type;
    size_t size;                  // in raw data
    double (*read)(const void *); // from there; of a field that is wider, from its first bytes
    Field field;
} Element;

static const Element elements[] = {
    {ONNX_FLOAT, 4, of_float, FIELD_FLOAT},    {ONNX_UINT8, 1, of_uint8, FIELD_INT32},
    {ONNX_INT8, 1, of_int8, FIELD_INT32},      {ONNX_UINT16, 2, of_uint16, FIELD_INT32},
    {ONNX_INT16, 2, of_int16, FIELD_INT32},    {ONNX_INT32, 4, of_int32, FIELD_INT32},
    {ONNX_INT64, 8, of_int64, FIELD_INT64},    {ONNX_BOOL, 1, of_bool, FIELD_INT32},
    {ONNX_FLOAT16, 2, of_half, FIELD_INT32},   {ONNX_DOUBLE, 8, of_double, FIELD_DOUBLE},
    {ONNX_UINT32, 4, of_uint32, FIELD_UINT64}, {ONNX_UINT64, 8, of_uint64, FIELD_UINT64},
    {ONNX_BFLOAT16, 2, of_brain, FIELD_INT32},
};

static const Element *element_of(const Onnx__Tensor *stored) {
    for (size_t i = 0; i < sizeof elements / sizeof elements[0]; i++)
        if (elements[i].type == stored->data_type) return &elements[i];
    error_set(STATUS_NOT_IMPLEMENTED, "onnx: \"%s\" is of the element type %d, which is not read",
              stored->name ? stored->name : "", stored->data_type);
    return NULL;
}

// ---- where they are ---------------------------------------------------------------------------
typedef struct Source {
    const char *bytes;
    size_t stride, count;
    void *owned;
} Source;

static const char *external_entry(const Onnx__Tensor *stored, const char *key) {
    for (size_t i = 0; i < stored->n_external_data; i++) {
        const Onnx__Text *entry = stored->external_data[i];
        if (entry->key && strcmp(entry->key, key) == 0) return entry->value;
    }
    return NULL;
}

// Below the folder of the file that names it, whatever it says.
static bool location_stays(const char *location) {
    if (!location || !location[0] || location[0] == '/') return false;
    for (const char *part = location; part; part = strchr(part, '/')) {
        part += part[0] == '/';
        if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || part[2] == '\0')) return false;
    }
    return true;
}

// source NULL: is it there?
static Status read_part(const Import *import, const char *location, const char *path,
                        int64_t offset, Source *source, size_t bytes) {
    struct stat about;
    FILE *file = onnx_file_open(path);
    if (!file)
        return error_set(STATUS_IO,
                         "onnx: %s: its numbers are in \"%s\", which cannot be opened: %s. HINT: "
                         "it belongs beside the model",
                         import->path, location, strerror(errno));
    Status status = STATUS_OK;
    bool fits = !fstat(fileno(file), &about) && S_ISREG(about.st_mode) && offset >= 0 &&
                offset <= about.st_size && bytes <= (size_t)(about.st_size - offset);
    if (!fits) {
        status = error_set(STATUS_FORMAT, "onnx: %s: \"%s\" ends before what it should hold",
                           import->path, location);
    } else if (source) {
        source->owned = memory_new(bytes ? bytes : 1);
        if (!source->owned)
            status = error_status();
        else if (fseeko(file, (off_t)offset, SEEK_SET) ||
                 fread(source->owned, 1, bytes, file) != bytes)
            status =
                error_set(STATUS_IO, "onnx: %s: \"%s\" cannot be read", import->path, location);
    }
    fclose(file);
    return status;
}

static Status read_external(const Import *import, const Onnx__Tensor *stored, int64_t count,
                            const Element *element, Source *source) {
    const char *location = external_entry(stored, "location");
    const char *offset = external_entry(stored, "offset"), *slash = strrchr(import->path, '/');
    if (!location_stays(location))
        return error_set(STATUS_FORMAT,
                         "onnx: %s: \"%s\" names the file \"%s\", which is not beside it or below",
                         import->path, stored->name ? stored->name : "", location ? location : "");
    int folder = slash ? (int)(slash - import->path) + 1 : 0;
    size_t length = (size_t)folder + strlen(location) + 1, bytes;
    if (__builtin_mul_overflow((size_t)count, element->size, &bytes))
        return error_set(STATUS_OVERFLOW, "onnx: %s: \"%s\" is too large", import->path,
                         stored->name ? stored->name : "");
    char *path = memory_new(length);
    if (!path) return error_status();
    snprintf(path, length, "%.*s%s", folder, import->path, location);
    Status status =
        read_part(import, location, path, offset ? strtoll(offset, NULL, 10) : 0, source, bytes);
    memory_free(path);
    if (!source) return status;
    source->bytes = source->owned;
    source->stride = element->size;
    source->count = (size_t)count;
    return status;
}

static void look_into_field(const Onnx__Tensor *stored, Field field, Source *source) {
    switch (field) {
    case FIELD_FLOAT:
        *source = (Source){(const char *)stored->float_data, 4, stored->n_float_data, NULL};
        break;
    case FIELD_INT32:
        *source = (Source){(const char *)stored->int32_data, 4, stored->n_int32_data, NULL};
        break;
    case FIELD_INT64:
        *source = (Source){(const char *)stored->int64_data, 8, stored->n_int64_data, NULL};
        break;
    case FIELD_DOUBLE:
        *source = (Source){(const char *)stored->double_data, 8, stored->n_double_data, NULL};
        break;
    default:
        *source = (Source){(const char *)stored->uint64_data, 8, stored->n_uint64_data, NULL};
    }
}

enum { EXTERNAL = 1 };

static Status open_source(const Import *import, const Onnx__Tensor *stored, int64_t count,
                          const Element *element, Source *source) {
    *source = (Source){0};
    if (stored->data_location == EXTERNAL)
        return read_external(import, stored, count, element, source);
    if (stored->has_raw_data)
        *source = (Source){(const char *)stored->raw_data.data, element->size,
                           stored->raw_data.len / element->size, NULL};
    else
        look_into_field(stored, element->field, source);
    if (source->count == (size_t)count) return STATUS_OK;
    return error_set(STATUS_FORMAT, "onnx: %s: \"%s\" holds %zu numbers, not %lld", import->path,
                     stored->name ? stored->name : "", source->count, (long long)count);
}

Status onnx_stored_check(const Import *import, const Onnx__Tensor *stored, int64_t count) {
    Source source;
    const Element *element = element_of(stored);
    if (!element) return error_status();
    if (stored->data_location == EXTERNAL)
        return read_external(import, stored, count, element, NULL);
    return open_source(import, stored, count, element, &source);
}

Status onnx_stored_doubles(const Import *import, const Onnx__Tensor *stored, int64_t count,
                           double *out) {
    Source source;
    const Element *element = element_of(stored);
    if (!element) return error_status();
    Status status = open_source(import, stored, count, element, &source);
    for (int64_t i = 0; i < count && !status; i++)
        out[i] = element->read(source.bytes + (size_t)i * source.stride);
    memory_free(source.owned);
    return status;
}

Status onnx_stored_floats(const Import *import, const Onnx__Tensor *stored, int64_t count,
                          float *out) {
    Source source;
    const Element *element = element_of(stored);
    if (!element) return error_status();
    Status status = open_source(import, stored, count, element, &source);
    if (!status && element->type == ONNX_FLOAT) {
        if (count > 0) memcpy(out, source.bytes, (size_t)count * sizeof(float));
    } else {
        for (int64_t i = 0; i < count && !status; i++)
            out[i] = (float)element->read(source.bytes + (size_t)i * source.stride);
    }
    memory_free(source.owned);
    return status;
}
