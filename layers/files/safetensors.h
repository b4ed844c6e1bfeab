// safetensors.h -- files of named tensors in Hugging Face's format: weights under PyTorch's names,
// and any other list of tensors.
//
//     safetensors_save(model, "model.safetensors");            // torch: load_file, load_model
//     safetensors_load(model, "theirs.safetensors", (SafetensorsOptions){0});
//
// The format: 8 bytes, a little-endian length; so many of JSON, {name: {dtype, shape,
// data_offsets}}; the tensors' bytes, without a gap. https://huggingface.co/docs/safetensors
#ifndef LAYERS_FILES_SAFETENSORS_H
#define LAYERS_FILES_SAFETENSORS_H

#include "layers/layer.h"

RIDGEPOINT_API_BEGIN

// ---- a model's weights -----------------------------------------------------------------------
// Parameters and buffers under their paths, as layer_state lists them. Tied ones are written once,
// under the path that is first by its bytes, and the metadata say where the others are, as
// PyTorch's save_model has it. The file appears whole, or what was there stays as it was.
// STATUS_IO; STATUS_DEVICE on meta.
Status safetensors_save(const Layer *layer, const char *path);

typedef struct SafetensorsOptions {
    const char *prefix; // of the names in the file, others are not looked at; NULL: none
    bool allow_missing; // what the file lacks stays as it is
    bool allow_unknown; // what the layer has not is passed over
} SafetensorsOptions;
// The other way, by name. Floating-point numbers of any size become float32, rounded; int64 takes
// every integer that it holds, and float32 those of up to 16 bits; nothing else is converted. Of
// tied weights the file has one path, or several with the same bytes.
// All that does not fit is one error, which names the first of each kind; until everything was
// checked nothing of the layer changes. STATUS_IO, STATUS_FORMAT: the file;
// STATUS_INVALID_ARGUMENT, STATUS_SHAPE, STATUS_DTYPE: it is not this layer's. On meta shapes are
// checked, nothing is read.
Status safetensors_load(Layer *layer, const char *path, SafetensorsOptions options);

// ---- any tensors -------------------------------------------------------------------------------
// Contiguous tensors (of which the list's is_buffer says nothing) and metadata: key, value, key,
// value ..., n_pairs of them. Names and texts are UTF-8. Ties and errors as above.
Status safetensors_write(const ParameterList *list, const char *const *metadata, int n_pairs,
                         const char *path);

typedef struct Safetensors Safetensors; // an open file; one thread's
typedef struct SafetensorsEntry {
    const char *name;
    const char *dtype; // "F32", "BF16", "I64", "BOOL" ...
    Shape shape;
    int64_t bytes; // in the file
} SafetensorsEntry;
// Reads the header, and holds it against the file: tensors of at most TENSOR_MAX_DIMS dimensions,
// one after another, nothing before, between or behind them. What it takes in memory is in
// proportion to the header, which is no longer than 100 MB and the file. NULL with STATUS_IO or
// STATUS_FORMAT pending.
Safetensors *safetensors_open(const char *path);
void safetensors_close(Safetensors *file); // NULL is fine
int64_t safetensors_count(const Safetensors *file);
// In the order of their bytes; NULL: there are not so many. As long as the file is open.
const SafetensorsEntry *safetensors_entry(const Safetensors *file, int64_t index);
int64_t safetensors_find(const Safetensors *file, const char *name);        // its index; -1: none
const char *safetensors_metadata(const Safetensors *file, const char *key); // NULL: none

// Into a contiguous tensor of the same shape, converted as above: STATUS_SHAPE, STATUS_DTYPE.
Status safetensors_read(const Safetensors *file, int64_t index, Tensor *to);
// As they are stored, little-endian: entry->bytes of them.
Status safetensors_read_bytes(const Safetensors *file, int64_t index, void *to);
// A tensor of its own on the context's device: float32 of floating-point numbers, else uint8 or
// int64, whichever holds them. Yours; NULL with an error pending: STATUS_DTYPE of U64 and C64.
Tensor *safetensors_tensor_new(const Safetensors *file, int64_t index);

RIDGEPOINT_API_END

#endif
