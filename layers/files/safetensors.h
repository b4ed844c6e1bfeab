// safetensors.h -- files of named tensors in Hugging Face's format: weights under PyTorch's names,
// and any other list of tensors.
//
//     safetensors_save(model, "model.safetensors");            // torch: load_file, load_model
//     safetensors_load(model, "theirs.safetensors", (SafetensorsOptions){0});
//
// The format: 8 bytes with a little-endian length; that many bytes of JSON, {name: {dtype, shape,
// data_offsets}}; the tensors' bytes, without a gap. https://huggingface.co/docs/safetensors
#ifndef LAYERS_FILES_SAFETENSORS_H
#define LAYERS_FILES_SAFETENSORS_H

#include "layers/layer.h"

RIDGEPOINT_API_BEGIN

// ---- a model's weights -----------------------------------------------------------------------
// Writes parameters and buffers under their paths, as layer_state lists them. Tied ones are written
// once, under the path that comes first by its bytes, and the metadata name the others, as
// PyTorch's save_model does. The file appears whole, or an existing one stays as it was. STATUS_IO;
// STATUS_DEVICE on meta.
Status safetensors_save(const Layer *layer, const char *path);

typedef struct SafetensorsOptions {
    const char *prefix; // reads only the file's names that begin with it; NULL: all
    bool allow_missing; // what the file lacks keeps its values
    bool allow_unknown; // skips what the layer does not have
} SafetensorsOptions;
// Reads parameters and buffers by name. Floating-point numbers of any size become float32, rounded;
// int64 takes every integer that it can hold, and float32 those of up to 16 bits; nothing else
// converts. For tied weights the file has one path, or several with the same bytes. All mismatches
// make one error, which names the first of each kind; nothing in the layer changes before
// everything is checked. STATUS_IO, STATUS_FORMAT: the file; STATUS_INVALID_ARGUMENT, STATUS_SHAPE,
// STATUS_DTYPE: it does not fit this layer. On meta shapes are checked, and nothing is read.
Status safetensors_load(Layer *layer, const char *path, SafetensorsOptions options);

// ---- any tensors -------------------------------------------------------------------------------
// Writes contiguous tensors (is_buffer has no effect) and metadata: key, value, key, value ...,
// n_pairs of them. Names and texts are UTF-8. Ties and errors as above.
Status safetensors_write(const ParameterList *list, const char *const *metadata, int n_pairs,
                         const char *path);

typedef struct Safetensors Safetensors; // an open file, for one thread
typedef struct SafetensorsEntry {
    const char *name;
    const char *dtype; // "F32", "BF16", "I64", "BOOL" ...
    Shape shape;
    int64_t bytes; // size in the file
} SafetensorsEntry;
// Reads the header, and checks it against the file: tensors of at most TENSOR_MAX_DIMS dimensions,
// contiguous, with nothing before, between or after them. Its memory is proportional to the header,
// which is at most 100 MB and no longer than the file. NULL with STATUS_IO or STATUS_FORMAT
// pending.
Safetensors *safetensors_open(const char *path);
void safetensors_close(Safetensors *file); // NULL is fine
int64_t safetensors_count(const Safetensors *file);
// In the order of their bytes; NULL: no such index. Valid while the file is open.
const SafetensorsEntry *safetensors_entry(const Safetensors *file, int64_t index);
int64_t safetensors_find(const Safetensors *file, const char *name);        // its index; -1: none
const char *safetensors_metadata(const Safetensors *file, const char *key); // NULL: none

// Reads into a contiguous tensor of the same shape, converted as above: STATUS_SHAPE, STATUS_DTYPE.
Status safetensors_read(const Safetensors *file, int64_t index, Tensor *to);
// Reads the stored bytes, little-endian: entry->bytes of them.
Status safetensors_read_bytes(const Safetensors *file, int64_t index, void *to);
// Makes a new tensor on the context's device: float32 for floating-point numbers, else uint8 or
// int64, whichever holds them. Yours; NULL with an error pending: STATUS_DTYPE for U64 and C64.
Tensor *safetensors_tensor_new(const Safetensors *file, int64_t index);

RIDGEPOINT_API_END

#endif
