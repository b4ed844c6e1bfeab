// safetensors_write.c -- writes a list of tensors: the header by jansson, then the bytes. The order
// is that of Hugging Face's writer: larger elements first, so that each tensor is at a multiple of
// its element size, then by name.
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "layers/files/safetensors_parts.h"
#include "tensor/memory.h"

enum { ALIGNMENT = 8 };

typedef struct Writer {
    const ParameterList *list;
    const ParameterEntry **order; // the entries that are written, in file order
    int count;
    json_t *header;
    WholeFile *file;
} Writer;

// ---- the tensors to write ----------------------------------------------------------------------
// The path under which a tensor is written: for tied ones the first by its bytes.
static const char *kept_path(const ParameterList *list, const Tensor *tensor) {
    const char *kept = NULL;
    for (int i = 0; i < list->count; i++) {
        const ParameterEntry *entry = &list->items[i];
        if (entry->tensor == tensor && (!kept || strcmp(entry->path, kept) < 0)) kept = entry->path;
    }
    return kept;
}

static Status check_tensor(const ParameterEntry *entry) {
    const Tensor *tensor = entry->tensor;
    char words[INPUT_WORDS];
    if (!entry->path || !tensor)
        return error_set(STATUS_INVALID_ARGUMENT, "safetensors_write: no %s",
                         entry->path ? "tensor" : "name");
    input_words(entry->path, words);
    if (!tensor_is_contiguous(tensor))
        return error_set(STATUS_INVALID_ARGUMENT,
                         "safetensors_write: '%s' is not contiguous. HINT: tensor_contiguous",
                         words);
    if (tensor->device->has_data) return STATUS_OK;
    return error_set(
        STATUS_DEVICE,
        "safetensors_write: '%s' is on %s, which has no values. HINT: save what is on another",
        words, tensor->device->name);
}

static int by_place(const void *one, const void *other) {
    const ParameterEntry *a = *(const ParameterEntry *const *)one;
    const ParameterEntry *b = *(const ParameterEntry *const *)other;
    int64_t size_a = dtype_size((DType)a->tensor->dtype);
    int64_t size_b = dtype_size((DType)b->tensor->dtype);
    return size_a != size_b ? (size_a < size_b) - (size_a > size_b) : strcmp(a->path, b->path);
}

static Status choose(Writer *writer) {
    const ParameterList *list = writer->list;
    writer->order = memory_new((size_t)(list->count + 1) * sizeof(*writer->order));
    if (!writer->order) return STATUS_OUT_OF_MEMORY;
    for (int i = 0; i < list->count; i++)
        if (check_tensor(&list->items[i])) return error_status();
    for (int i = 0; i < list->count; i++) {
        const ParameterEntry *entry = &list->items[i];
        if (kept_path(list, entry->tensor) == entry->path) writer->order[writer->count++] = entry;
    }
    qsort(writer->order, (size_t)writer->count, sizeof(*writer->order), by_place);
    return STATUS_OK;
}

// ---- the header --------------------------------------------------------------------------------
static Status refuse_name(const char *name) {
    char words[INPUT_WORDS];
    return error_set(STATUS_INVALID_ARGUMENT,
                     "safetensors_write: '%s' cannot be a name or text in the header. HINT: "
                     "UTF-8, and each once",
                     input_words(name, words));
}

static Status describe(Writer *writer, const ParameterEntry *entry, int64_t begin) {
    const Tensor *tensor = entry->tensor;
    json_t *shape = json_array();
    int failed = 0;
    for (int i = 0; i < tensor->shape.ndim; i++)
        failed |= json_array_append_new(shape, json_integer(tensor->shape.dims[i]));
    const char *dtype = element_of((DType)tensor->dtype)->name;
    json_t *object =
        json_pack("{s:s, s:o, s:[I, I]}", "dtype", dtype, "shape", shape, "data_offsets",
                  (json_int_t)begin, (json_int_t)(begin + tensor_bytes(tensor)));
    bool taken = json_object_get(writer->header, entry->path) != NULL ||
                 strcmp(entry->path, SAFETENSORS_METADATA) == 0;
    failed |= json_object_set_new(writer->header, entry->path, object);
    return taken || failed ? refuse_name(entry->path) : STATUS_OK;
}

static Status set_text(json_t *object, const char *key, const char *text) {
    json_t *value = json_string(text);
    bool is_text = value != NULL;
    if (json_object_set_new(object, key, value) == 0) return STATUS_OK;
    return refuse_name(is_text ? key : text);
}

// Adds the caller's metadata, and for each path that is not written the one with its tensor.
static Status describe_more(Writer *writer, const char *const *metadata, int n_pairs) {
    json_t *object = json_object();
    Status status = STATUS_OK;
    for (int i = 0; i < n_pairs && !status; i++)
        status = set_text(object, metadata[2 * i], metadata[2 * i + 1]);
    for (int i = 0; i < writer->list->count && !status; i++) {
        const ParameterEntry *entry = &writer->list->items[i];
        const char *kept = kept_path(writer->list, entry->tensor);
        if (strcmp(kept, entry->path) != 0) status = set_text(object, entry->path, kept);
    }
    if (status || json_object_size(object) == 0)
        json_decref(object);
    else if (json_object_set_new(writer->header, SAFETENSORS_METADATA, object))
        status = refuse_name(SAFETENSORS_METADATA);
    return status;
}

static Status write_header(Writer *writer) {
    size_t length = json_dumpb(writer->header, NULL, 0, JSON_COMPACT);
    size_t padded = (length + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    char *text = memory_new(SAFETENSORS_LENGTH + padded);
    if (!text) return STATUS_OUT_OF_MEMORY;
    for (int i = 0; i < SAFETENSORS_LENGTH; i++) text[i] = (char)((uint64_t)padded >> 8 * i);
    memset(text + SAFETENSORS_LENGTH, ' ', padded);
    json_dumpb(writer->header, text + SAFETENSORS_LENGTH, length, JSON_COMPACT);
    Status status = STATUS_OK;
    if (length == 0 || padded > SAFETENSORS_MOST_HEADER)
        status = error_set(STATUS_INVALID_ARGUMENT,
                           "safetensors_write: no header of %zu bytes can be written. HINT: fewer "
                           "tensors, or shorter texts",
                           length);
    else
        whole_file_write(writer->file, text, SAFETENSORS_LENGTH + padded);
    memory_free(text);
    return status;
}

// ---- the whole ---------------------------------------------------------------------------------
static Status write_all(Writer *writer, const char *const *metadata, int n_pairs) {
    Status status = choose(writer);
    if (!status) status = describe_more(writer, metadata, n_pairs);
    int64_t at = 0;
    for (int i = 0; i < writer->count && !status; i++) {
        status = describe(writer, writer->order[i], at);
        at += tensor_bytes(writer->order[i]->tensor);
    }
    if (!status) status = write_header(writer);
    for (int i = 0; i < writer->count && !status; i++)
        status = elements_write(writer->file, writer->order[i]->tensor);
    return status;
}

Status safetensors_write(const ParameterList *list, const char *const *metadata, int n_pairs,
                         const char *path) {
    if (error_pending()) return error_status();
    if (!list || (n_pairs > 0 && !metadata))
        return error_set(STATUS_INVALID_ARGUMENT, "safetensors_write: no %s",
                         list ? "metadata" : "list");
    Writer writer = {.list = list, .file = whole_file_open(path)};
    if (!writer.file) return error_status();
    writer.header = json_object();
    Status status = write_all(&writer, metadata, n_pairs);
    json_decref(writer.header);
    memory_free(writer.order);
    if (status) {
        whole_file_discard(writer.file);
        return status;
    }
    whole_file_sync(writer.file);
    return whole_file_close(writer.file);
}
