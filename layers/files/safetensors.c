// safetensors.c -- opens a file: reads its header with jansson and checks it against the file; also
// reads single tensors. Whole models: safetensors_layer.c.
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layers/files/safetensors_parts.h"
#include "tensor/handle.h"
#include "tensor/memory.h"
#include "tensor/shadow.h"

static const char hint[] = "write it again, or get it again";

enum { LEAST_ENTRY = 49 }; // bytes: "":{"dtype":"U8","shape":[],"data_offsets":[0,0]}

typedef struct Entry {
    SafetensorsEntry shown;
    const Element *element;
    int64_t begin, end; // offsets in bytes from the first tensor
} Entry;

struct Safetensors {
    InputFile input;
    char *path;
    int64_t data;  // offset in bytes of the tensors
    json_t *names; // name: index; and the metadata
    Entry *entries;
    int64_t count;
};

// ---- the header --------------------------------------------------------------------------------
// True for {name: {member: [numbers]}}. Deeper text is refused, so that jansson's memory stays
// proportional to the text.
static bool has_form(const char *text, int64_t size) {
    static const char form[] = "{{[";
    int depth = 0;
    bool quoted = false;
    for (int64_t i = 0; i < size; i++) {
        char c = text[i];
        if (quoted && c == '\\') {
            i++;
        } else if (c == '"') {
            quoted = !quoted;
        } else if (!quoted && (c == '{' || c == '[')) {
            if (depth == 3 || form[depth++] != c) return false;
        } else if (!quoted && (c == '}' || c == ']')) {
            depth -= depth > 0;
        }
    }
    return size > 0 && text[0] == '{';
}

static Status parse(const InputFile *input, const char *text, int64_t size, json_t **header) {
    if (!has_form(text, size))
        return input_refuse(input, "its header is not {name: {dtype, shape, data_offsets}}", hint);
    json_error_t error;
    *header = json_loadb(text, (size_t)size, JSON_REJECT_DUPLICATES, &error);
    if (*header) return STATUS_OK;
    if (json_error_code(&error) == json_error_out_of_memory)
        return error_set(STATUS_OUT_OF_MEMORY, "safetensors: %s: no room for its header",
                         input->name);
    char words[INPUT_WORDS];
    return error_set(STATUS_FORMAT, "safetensors: %s: its header, at byte %d: %s. HINT: %s",
                     input->name, error.position, input_words(error.text, words), hint);
}

static Status read_header(Safetensors *file) {
    const InputFile *input = &file->input;
    uint8_t length[SAFETENSORS_LENGTH];
    if (input->size < SAFETENSORS_LENGTH)
        return input_refuse(input, "it is too short for any", hint);
    Status status = input_read(input, 0, length, sizeof length);
    uint64_t size = 0;
    for (int i = SAFETENSORS_LENGTH - 1; i >= 0; i--) size = size << 8 | length[i];
    if (status) return status;
    if (size > SAFETENSORS_MOST_HEADER || (int64_t)size > input->size - SAFETENSORS_LENGTH)
        return error_set(STATUS_FORMAT,
                         "safetensors: %s: a header of %llu bytes in a file of %lld. HINT: at most "
                         "100000000, and the file; is it a safetensors file?",
                         input->name, (unsigned long long)size, (long long)input->size);
    file->data = SAFETENSORS_LENGTH + (int64_t)size;
    char *text = memory_new((size_t)size + 1);
    if (!text) return STATUS_OUT_OF_MEMORY;
    status = input_read(input, SAFETENSORS_LENGTH, text, (size_t)size);
    if (!status) status = parse(input, text, (int64_t)size, &file->names);
    memory_free(text);
    return status;
}

// ---- its entries -------------------------------------------------------------------------------
static Status refuse_entry(const Safetensors *file, const char *name, const char *what) {
    char words[INPUT_WORDS];
    return error_set(STATUS_FORMAT, "safetensors: %s: '%s': %s. HINT: %s", file->input.name,
                     input_words(name, words), what, hint);
}

// Reads whole numbers from 0 on; returns the count, or -1: another content, or more than `room`.
static int read_integers(const json_t *array, int64_t *numbers, int room) {
    size_t n = json_array_size(array); // 0 where it is no array
    if (!json_is_array(array) || n > (size_t)room) return -1;
    for (size_t i = 0; i < n; i++) {
        const json_t *number = json_array_get(array, i);
        numbers[i] = json_integer_value(number); // 0 where it is no integer
        if (!json_is_integer(number) || numbers[i] < 0) return -1;
    }
    return (int)n;
}

// Bytes of a shape; -1: overflow.
static int64_t bytes_of(const Shape *shape, int size) {
    int64_t bytes = size;
    for (int i = 0; i < shape->ndim; i++)
        if (__builtin_mul_overflow(bytes, shape->dims[i], &bytes)) return -1;
    return bytes;
}

static Status read_entry(const Safetensors *file, const char *name, json_t *object, Entry *entry) {
    const char *dtype = json_string_value(json_object_get(object, "dtype"));
    int64_t offsets[2];
    Shape *shape = &entry->shown.shape;
    entry->element = dtype ? element_by_name(dtype) : NULL;
    if (!entry->element) return refuse_entry(file, name, "its dtype is none that is known here");
    shape->ndim = read_integers(json_object_get(object, "shape"), shape->dims, TENSOR_MAX_DIMS);
    if (shape->ndim < 0) return refuse_entry(file, name, "its shape is not of up to 6 sizes");
    if (read_integers(json_object_get(object, "data_offsets"), offsets, 2) != 2)
        return refuse_entry(file, name, "its data_offsets are not two whole numbers from 0 on");
    entry->begin = offsets[0];
    entry->end = offsets[1];
    entry->shown.name = name;
    entry->shown.dtype = entry->element->name;
    entry->shown.bytes = bytes_of(shape, entry->element->size);
    if (entry->shown.bytes < 0 || entry->end < entry->begin ||
        entry->end - entry->begin != entry->shown.bytes)
        return refuse_entry(file, name, "its shape and its data_offsets disagree");
    return STATUS_OK;
}

static int by_place(const void *one, const void *other) {
    const Entry *a = one, *b = other;
    if (a->begin != b->begin) return a->begin < b->begin ? -1 : 1;
    return (a->end > b->end) - (a->end < b->end);
}

// Checks that the metadata, which are not a tensor, map text to text.
static Status check_metadata(const Safetensors *file, json_t *metadata) {
    const char *key;
    json_t *value;
    bool good = json_is_object(metadata);
    json_object_foreach(metadata, key, value) good = good && json_is_string(value);
    return good ? STATUS_OK : refuse_entry(file, SAFETENSORS_METADATA, "it is not {text: text}");
}

static Status read_entries(Safetensors *file) {
    const char *name;
    json_t *object;
    size_t members = json_object_size(file->names);
    if ((int64_t)members > file->data / LEAST_ENTRY + 1)
        return input_refuse(&file->input, "its header has more names than it can describe", hint);
    file->entries = memory_new((members + 1) * sizeof(Entry));
    if (!file->entries) return STATUS_OUT_OF_MEMORY;
    json_object_foreach(file->names, name, object) {
        bool is_metadata = strcmp(name, SAFETENSORS_METADATA) == 0;
        Status status = is_metadata ? check_metadata(file, object)
                                    : read_entry(file, name, object, &file->entries[file->count]);
        if (status) return status;
        file->count += !is_metadata;
    }
    return STATUS_OK;
}

// Checks that the tensors are adjacent from the first byte to the last.
static Status check_places(const Safetensors *file) {
    int64_t end = 0;
    for (int64_t i = 0; i < file->count; i++) {
        const Entry *entry = &file->entries[i];
        if (entry->begin < end)
            return refuse_entry(file, entry->shown.name, "it overlaps with another tensor");
        if (entry->begin > end)
            return refuse_entry(file, entry->shown.name, "bytes before it are no tensor's");
        end = entry->end;
    }
    int64_t there = file->input.size - file->data;
    if (end == there) return STATUS_OK;
    return error_set(STATUS_FORMAT,
                     "safetensors: %s: its header promises tensors of %lld bytes, the file has "
                     "%lld. HINT: %s",
                     file->input.name, (long long)end, (long long)there, hint);
}

// Makes each name lead to its index.
static Status index_names(Safetensors *file) {
    for (int64_t i = 0; i < file->count; i++)
        if (json_object_set_new(file->names, file->entries[i].shown.name, json_integer(i)))
            return error_set(STATUS_OUT_OF_MEMORY, "safetensors: %s: no room for its names",
                             file->input.name);
    return STATUS_OK;
}

Safetensors *safetensors_open(const char *path) {
    InputFile input;
    if (input_open("safetensors", path, &input)) return NULL;
    Safetensors *file = memory_new(sizeof *file);
    if (!file) {
        input_close(&input);
        return NULL;
    }
    file->input = input;
    file->path = memory_copy_string(path);
    file->input.name = file->path;
    Status status = file->path ? read_header(file) : STATUS_OUT_OF_MEMORY;
    if (!status) status = read_entries(file);
    if (!status && file->count > 0)
        qsort(file->entries, (size_t)file->count, sizeof(Entry), by_place);
    if (!status) status = check_places(file);
    if (!status) status = index_names(file);
    if (!status) return file;
    safetensors_close(file);
    return NULL;
}

void safetensors_close(Safetensors *file) {
    if (!file) return;
    input_close(&file->input);
    json_decref(file->names);
    memory_free(file->entries);
    memory_free(file->path);
    memory_free(file);
}

// ---- looking up --------------------------------------------------------------------------------
int64_t safetensors_count(const Safetensors *file) { return file ? file->count : 0; }

const SafetensorsEntry *safetensors_entry(const Safetensors *file, int64_t index) {
    if (!file || index < 0 || index >= file->count) return NULL;
    return &file->entries[index].shown;
}

int64_t safetensors_find(const Safetensors *file, const char *name) {
    json_t *index = file && name ? json_object_get(file->names, name) : NULL;
    return json_is_integer(index) ? json_integer_value(index) : -1;
}

const char *safetensors_metadata(const Safetensors *file, const char *key) {
    json_t *metadata = file ? json_object_get(file->names, SAFETENSORS_METADATA) : NULL;
    return key ? json_string_value(json_object_get(metadata, key)) : NULL;
}

const InputFile *safetensors_input(const Safetensors *file) { return &file->input; }

InputNumbers safetensors_numbers(const Safetensors *file, int64_t index) {
    const Entry *entry = &file->entries[index];
    return (InputNumbers){.at = file->data + entry->begin, .element = entry->element};
}

// ---- reading -----------------------------------------------------------------------------------
// NULL with an error pending: the file has no such tensor.
static const Entry *entry_at(const Safetensors *file, int64_t index) {
    if (error_pending()) return NULL;
    if (safetensors_entry(file, index)) return &file->entries[index];
    error_set(STATUS_INVALID_ARGUMENT,
              "safetensors: there is no tensor %lld. HINT: from 0 to below %lld", (long long)index,
              (long long)safetensors_count(file));
    return NULL;
}

Status safetensors_read(const Safetensors *file, int64_t index, Tensor *to) {
    const Entry *entry = entry_at(file, index);
    if (!entry) return error_status();
    char words[INPUT_WORDS], shape[SHAPE_TEXT], own[SHAPE_TEXT];
    to = tensor_here(to);
    if (!to || !tensor_is_contiguous(to))
        return error_set(STATUS_INVALID_ARGUMENT,
                         "safetensors_read: the tensor is %s. HINT: tensor_new makes one",
                         to ? "not contiguous" : "missing (NULL)");
    if (!same_shape(&entry->shown.shape, &to->shape))
        return error_set(STATUS_SHAPE, "safetensors: %s: '%s' is %s, the tensor %s. HINT: alike",
                         file->input.name, input_words(entry->shown.name, words),
                         shape_text(entry->shown.shape, shape), shape_text(to->shape, own));
    if (!element_fits(entry->element, (DType)to->dtype))
        return error_set(
            STATUS_DTYPE,
            "safetensors: %s: '%s' is %s, which %s does not hold. HINT: safetensors_tensor_new",
            file->input.name, input_words(entry->shown.name, words), entry->shown.dtype,
            dtype_name((DType)to->dtype));
    return input_read_tensor(&file->input, safetensors_numbers(file, index), to);
}

Status safetensors_read_bytes(const Safetensors *file, int64_t index, void *to) {
    const Entry *entry = entry_at(file, index);
    if (!entry) return error_status();
    return input_read(&file->input, file->data + entry->begin, to, (size_t)entry->shown.bytes);
}

Tensor *safetensors_tensor_new(const Safetensors *file, int64_t index) {
    const Entry *entry = entry_at(file, index);
    char words[INPUT_WORDS];
    if (!entry) return NULL;
    if (!entry->element->real && !entry->element->integer) {
        error_set(STATUS_DTYPE,
                  "safetensors: %s: '%s' is %s, which no tensor holds. HINT: "
                  "safetensors_read_bytes",
                  file->input.name, input_words(entry->shown.name, words), entry->shown.dtype);
        return NULL;
    }
    DType dtype = entry->element->real                        ? DTYPE_FLOAT32
                  : element_fits(entry->element, DTYPE_UINT8) ? DTYPE_UINT8
                                                              : DTYPE_INT64;
    Tensor *tensor = tensor_new(entry->shown.shape, dtype);
    return tensor ? tensor_filled(tensor, safetensors_read(file, index, tensor)) : NULL;
}
