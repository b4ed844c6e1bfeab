// data.c -- the numbers that an ONNX file stores, in it or in a file beside it, of any element
// type, as integers or floats. It trusts no count, offset or name.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layers/files/input_file.h"
#include "layers/files/onnx/import.h"
#include "tensor/memory.h"

// Refuses sizes that no tensor can have (handle.c), before they enter a computation.
Status onnx_stored_shape(const Onnx__Tensor *stored, Shape *shape) {
    int64_t span = 1;
    *shape = (Shape){.ndim = (int)stored->n_dims};
    if (stored->n_dims > TENSOR_MAX_DIMS)
        return error_set(STATUS_NOT_IMPLEMENTED,
                         "onnx: \"%s\" has %zu dimensions, and up to %d are read. HINT: a Reshape "
                         "behind fewer",
                         stored->name, stored->n_dims, TENSOR_MAX_DIMS);
    for (size_t i = 0; i < stored->n_dims; i++) {
        int64_t size = shape->dims[i] = stored->dims[i];
        bool overflows = size > 0 && __builtin_mul_overflow(span, size, &span);
        if (size < 0 || overflows || span > INT64_MAX / 16)
            return error_set(STATUS_FORMAT, "onnx: \"%s\" has the size %lld", stored->name,
                             (long long)size);
    }
    return STATUS_OK;
}

// ---- elements ---------------------------------------------------------------------------------
// The repeated field of the message that has the elements, if they are not raw bytes.
typedef enum Field { FIELD_FLOAT, FIELD_INT32, FIELD_INT64, FIELD_DOUBLE, FIELD_UINT64 } Field;

typedef struct Kind {
    int type;
    const char *name;    // ONNX's name
    const char *element; // safetensors' name of the element
    Field field;
    int bits; // of an integer, its sign included
    bool is_signed, is_float;
} Kind;

static const Kind kinds[] = {
    {ONNX_FLOAT, "float", "F32", FIELD_FLOAT, .is_float = true},
    {ONNX_UINT8, "uint8", "U8", FIELD_INT32, .bits = 8},
    {ONNX_INT8, "int8", "I8", FIELD_INT32, .bits = 8, .is_signed = true},
    {ONNX_UINT16, "uint16", "U16", FIELD_INT32, .bits = 16},
    {ONNX_INT16, "int16", "I16", FIELD_INT32, .bits = 16, .is_signed = true},
    {ONNX_INT32, "int32", "I32", FIELD_INT32, .bits = 32, .is_signed = true},
    {ONNX_INT64, "int64", "I64", FIELD_INT64, .bits = 64, .is_signed = true},
    {ONNX_BOOL, "bool", "BOOL", FIELD_INT32, .bits = 0},
    {ONNX_FLOAT16, "float16", "F16", FIELD_INT32, .is_float = true},
    {ONNX_DOUBLE, "double", "F64", FIELD_DOUBLE, .is_float = true},
    {ONNX_UINT32, "uint32", "U32", FIELD_UINT64, .bits = 32},
    {ONNX_UINT64, "uint64", "U64", FIELD_UINT64, .bits = 64},
    {ONNX_BFLOAT16, "bfloat16", "BF16", FIELD_INT32, .is_float = true},
};

static const Kind *kind_by_type(int type) {
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (kinds[i].type == type) return &kinds[i];
    return NULL;
}

bool onnx_is_float(int type) {
    const Kind *kind = kind_by_type(type);
    return kind && kind->is_float;
}

int onnx_bits(int type, bool *is_signed) {
    const Kind *kind = kind_by_type(type);
    *is_signed = kind && kind->is_signed;
    return kind ? kind->bits : 0;
}

DType onnx_dtype(int type) {
    bool is_signed;
    return onnx_bits(type, &is_signed) ? DTYPE_INT64 : DTYPE_FLOAT32;
}

const char *onnx_numpy(int type) {
    const Kind *kind = kind_by_type(type);
    const char *name = kind ? element_by_name(kind->element)->numpy : NULL;
    return name ? name : "f4";
}

bool onnx_is_known(int type) { return kind_by_type(type) != NULL; }

const char *onnx_type_name(int type) {
    static const struct {
        int type;
        const char *name;
    } others[] = {{8, "string"},          {14, "complex64"},      {15, "complex128"},
                  {17, "float8e4m3fn"},   {18, "float8e4m3fnuz"}, {19, "float8e5m2"},
                  {20, "float8e5m2fnuz"}, {21, "uint4"},          {22, "int4"},
                  {23, "float4e2m1"},     {24, "float8e8m0"}};
    const Kind *kind = kind_by_type(type);
    for (size_t i = 0; i < sizeof others / sizeof others[0] && !kind; i++)
        if (others[i].type == type) return others[i].name;
    return kind ? kind->name : "a type that is not known";
}

static const Kind *kind_of(const Onnx__Tensor *stored) {
    const Kind *kind = kind_by_type(stored->data_type);
    if (kind) return kind;
    error_set(STATUS_NOT_IMPLEMENTED,
              "onnx: \"%s\" holds elements of the type %s, which is not read. HINT: "
              "float32, or the other numbers of 8 bits and more",
              stored->name, onnx_type_name(stored->data_type));
    return NULL;
}

// ---- in a file beside it ----------------------------------------------------------------------
static const char *external_entry(const Onnx__Tensor *stored, const char *key) {
    for (size_t i = 0; i < stored->n_external_data; i++) {
        const Onnx__Text *entry = stored->external_data[i];
        if (strcmp(entry->key, key) == 0) return entry->value;
    }
    return NULL;
}

// A count of bytes; 0 where the entry is missing. False: it is not a number.
static bool external_number(const Onnx__Tensor *stored, const char *key, int64_t *number) {
    const char *text = external_entry(stored, key);
    char *end = NULL;
    errno = 0;
    *number = text ? strtoll(text, &end, 10) : 0;
    return !text || (end != text && *end == '\0' && errno == 0 && *number >= 0);
}

// True if the location is inside the folder of the file that names it.
static bool location_stays(const char *location) {
    if (!location || !location[0] || location[0] == '/') return false;
    for (const char *part = location; part; part = strchr(part, '/')) {
        part += part[0] == '/';
        if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || part[2] == '\0')) return false;
    }
    return true;
}

// True if no link leads out of the folder. *path becomes the link's target; a link that leads
// nowhere stays, and opening it fails.
static bool link_stays(char **path, size_t folder) {
    char *file = realpath(*path, NULL);
    if (!file) return true;
    char letter = (*path)[folder]; // the first of the location
    (*path)[folder] = '\0';
    char *around = realpath(folder > 0 ? *path : ".", NULL);
    (*path)[folder] = letter;
    size_t n = around ? strlen(around) : 0;
    bool root = n == 1, stays = n > 0 && strncmp(file, around, n) == 0 && (root || file[n] == '/');
    char *copy = stays ? memory_copy_string(file) : NULL;
    if (copy) {
        memory_free(*path);
        *path = copy;
    }
    free(file);
    free(around);
    return stays;
}

// Puts the model's path in front of the pending error.
static Status cannot_open(const Import *import) {
    char said[512];
    Status status = error_status();
    snprintf(said, sizeof said, "%s", error_message());
    error_clear();
    return error_set(status, "onnx: %s: %s", import->path, said);
}

// Reads the offset of the numbers, and checks that the stated length is enough for them.
static Status external_span(const Import *import, const Onnx__Tensor *stored, int64_t count,
                            InputNumbers *numbers) {
    const char *name = stored->name;
    int64_t needed, claimed;
    if (!external_number(stored, "offset", &numbers->at) ||
        !external_number(stored, "length", &claimed))
        return error_set(STATUS_FORMAT,
                         "onnx: %s: \"%s\" has an offset or a length that is no number. HINT: "
                         "export it again",
                         import->path, name);
    if (external_entry(stored, "length") &&
        (__builtin_mul_overflow(count, (int64_t)numbers->element->size, &needed) ||
         needed > claimed))
        return error_set(STATUS_FORMAT,
                         "onnx: %s: \"%s\" is said to have %lld bytes, fewer than its shape needs. "
                         "HINT: export it again",
                         import->path, name, (long long)claimed);
    return STATUS_OK;
}

// Opens the named file, and checks that it has `count` numbers.
static Status open_external(const Import *import, const Onnx__Tensor *stored, int64_t count,
                            InputFile *file, InputNumbers *numbers) {
    const char *location = external_entry(stored, "location");
    const char *slash = strrchr(import->path, '/');
    if (!location_stays(location))
        return error_set(STATUS_FORMAT,
                         "onnx: %s: \"%s\" names the file \"%s\", which is not beside it or below. "
                         "HINT: put it beside the model, and onnx.save(model, path, "
                         "save_as_external_data=True)",
                         import->path, stored->name, location ? location : "");
    int folder = slash ? (int)(slash - import->path) + 1 : 0;
    size_t length = (size_t)folder + strlen(location) + 1;
    char *path = memory_new(length);
    if (!path) return error_status();
    snprintf(path, length, "%.*s%s", folder, import->path, location);
    if (!link_stays(&path, (size_t)folder))
        error_set(STATUS_FORMAT,
                  "onnx: %s: \"%s\" is a link to a file that is not beside it or below. HINT: put "
                  "the file itself there",
                  import->path, location);
    Status status = input_open("its numbers", path, file); // which stays closed after an error
    if (status && !strstr(error_message(), import->path)) cannot_open(import);
    memory_free(path);
    file->who = "onnx";
    file->name = location;
    if (!status) status = external_span(import, stored, count, numbers);
    if (status) {
        input_close(file);
        return status;
    }
    if (numbers->at >= 0 && numbers->at <= file->size &&
        count <= (file->size - numbers->at) / numbers->element->size)
        return STATUS_OK;
    input_close(file);
    return error_set(STATUS_FORMAT,
                     "onnx: %s: \"%s\" ends before what it should hold. HINT: it is cut "
                     "off, or another model's",
                     import->path, location);
}

// ---- the source of numbers --------------------------------------------------------------------
typedef struct Source {
    InputNumbers numbers; // in the file, if they are in one beside the model
    InputFile file;
    const uint8_t *bytes; // else here, one every `stride` bytes
    size_t stride, count;
    bool is_raw; // little-endian; else in this machine's order
} Source;

static void look_into_field(const Onnx__Tensor *stored, Field field, Source *source) {
    const struct {
        const void *numbers;
        size_t stride, count;
    } fields[] = {[FIELD_FLOAT] = {stored->float_data, 4, stored->n_float_data},
                  [FIELD_INT32] = {stored->int32_data, 4, stored->n_int32_data},
                  [FIELD_INT64] = {stored->int64_data, 8, stored->n_int64_data},
                  [FIELD_DOUBLE] = {stored->double_data, 8, stored->n_double_data},
                  [FIELD_UINT64] = {stored->uint64_data, 8, stored->n_uint64_data}};
    source->bytes = fields[field].numbers;
    source->stride = fields[field].stride;
    source->count = fields[field].count;
    // A number that is narrower than its field is in the low-order bytes.
    if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ && source->count > 0)
        source->bytes += source->stride - (size_t)source->numbers.element->size;
}

enum { EXTERNAL = 1 };

static Status open_source(const Import *import, const Onnx__Tensor *stored, int64_t count,
                          Source *source) {
    const Kind *kind = kind_of(stored);
    *source = (Source){.file.descriptor = -1};
    if (!kind) return error_status();
    source->numbers.element = element_by_name(kind->element);
    if (stored->data_location == EXTERNAL)
        return open_external(import, stored, count, &source->file, &source->numbers);
    if (stored->has_raw_data) {
        source->bytes = stored->raw_data.data;
        source->stride = (size_t)source->numbers.element->size;
        source->count = stored->raw_data.len / source->stride;
        source->is_raw = true;
    } else {
        look_into_field(stored, kind->field, source);
    }
    if (source->count == (size_t)count) return STATUS_OK;
    return error_set(STATUS_FORMAT, "onnx: %s: \"%s\" holds %zu numbers, not %lld", import->path,
                     stored->name, source->count, (long long)count);
}

// ---- reading ----------------------------------------------------------------------------------
// Copies a number's bytes in this machine's order.
static void bytes_at(const Source *source, size_t i, uint8_t bytes[sizeof(uint64_t)]) {
    const Element *element = source->numbers.element;
    memcpy(bytes, source->bytes + i * source->stride, (size_t)element->size);
    if (source->is_raw) element_order(element, false, bytes, 1);
}

static double number_at(const Source *source, size_t i) {
    const Element *element = source->numbers.element;
    uint8_t bytes[sizeof(uint64_t)];
    bytes_at(source, i, bytes);
    if (element->real) return element->real(bytes);
    if (element->integer) return (double)element->integer(bytes);
    uint64_t large; // only U64 remains
    memcpy(&large, bytes, sizeof large);
    return (double)large;
}

static int64_t integer_at(const Source *source, size_t i) {
    const Element *element = source->numbers.element;
    uint8_t bytes[sizeof(uint64_t)];
    bytes_at(source, i, bytes);
    int64_t large;
    if (element->integer) return element->integer(bytes);
    memcpy(&large, bytes, sizeof large); // only U64 remains: from 2^63 on, 2^64 less
    return large;
}

Status onnx_stored_check(const Import *import, const Onnx__Tensor *stored, int64_t count) {
    Source source;
    Status status = open_source(import, stored, count, &source);
    input_close(&source.file);
    return status;
}

// Reads numbers of a file beside the model into *read, yours to free.
static Status bring(Source *source, int64_t count, uint8_t **read) {
    if (source->file.descriptor < 0) return STATUS_OK;
    source->stride = (size_t)source->numbers.element->size;
    size_t bytes = (size_t)count * source->stride;
    source->bytes = *read = memory_new(bytes + 1);
    source->is_raw = true;
    return *read ? input_read(&source->file, source->numbers.at, *read, bytes) : error_status();
}

Status onnx_stored_integers(const Import *import, const Onnx__Tensor *stored, int64_t count,
                            int64_t *out) {
    Source source;
    uint8_t *read = NULL;
    Status status = open_source(import, stored, count, &source);
    if (!status) status = bring(&source, count, &read);
    for (size_t i = 0; i < (size_t)count && !status; i++) out[i] = integer_at(&source, i);
    memory_free(read);
    input_close(&source.file);
    return status;
}

Status onnx_stored_floats(const Import *import, const Onnx__Tensor *stored, int64_t count,
                          float *out) {
    Source source;
    uint8_t *read = NULL;
    Status status = open_source(import, stored, count, &source);
    const Element *element = source.numbers.element;
    if (!status && source.file.descriptor >= 0 && element_fits(element, DTYPE_FLOAT32)) {
        status = input_read_numbers(&source.file, source.numbers, count, DTYPE_FLOAT32, out);
    } else if (!status && count > 0 && element == element_of(DTYPE_FLOAT32) &&
               (!source.is_raw || element_in_order(element, false))) {
        memcpy(out, source.bytes, (size_t)count * sizeof(float));
    } else {
        if (!status) status = bring(&source, count, &read);
        for (size_t i = 0; i < (size_t)count && !status; i++) out[i] = (float)number_at(&source, i);
    }
    memory_free(read);
    input_close(&source.file);
    return status;
}

float *onnx_stored_new(const Import *import, const Onnx__Tensor *stored, int64_t count) {
    if (onnx_stored_check(import, stored, count)) return NULL;
    float *numbers = memory_new((size_t)(count ? count : 1) * sizeof(float));
    if (!numbers || !onnx_stored_floats(import, stored, count, numbers)) return numbers;
    memory_free(numbers);
    return NULL;
}
