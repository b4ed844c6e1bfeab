// idx.h -- reads IDX files (LeCun's MNIST format), plain or gzip'ed, and folders of them.
#ifndef LAYERS_FILES_IDX_H
#define LAYERS_FILES_IDX_H

#include "layers/train/dataset.h"

RIDGEPOINT_API_BEGIN

// One file of unsigned bytes: magic 00 00 08 <ndim>, ndim big-endian 32-bit sizes, then the bytes.
typedef struct IdxArray {
    int ndim; // 1..3
    int64_t dims[3];
    int64_t count;  // product of dims
    uint8_t *bytes; // owned; free with idx_free
} IdxArray;

// STATUS_IO: cannot be opened or read; STATUS_FORMAT: not IDX, another element type, truncated,
// sizes that disagree with the file, trailing bytes, a broken gzip stream. One message names the
// file, what was found and what was expected. Memory grows with the bytes read, not with the
// header's claims, and reading stops where the header says that the data end.
Status idx_read(const char *path, IdxArray *out);
// Parse IDX bytes in memory; `name` stands for the file in messages. idx_parse_any also inflates
// gzip, which it recognises by the first two bytes, not by the name.
Status idx_parse(const uint8_t *bytes, size_t size, const char *name, IdxArray *out);
Status idx_parse_any(const uint8_t *bytes, size_t size, const char *name, IdxArray *out);
void idx_free(IdxArray *array);

// Reads a folder with {train,t10k}-images-idx3-ubyte[.gz] and ...-labels-idx1-ubyte[.gz]. If both
// pairs exist, they become train and test; with only one, its last fifth becomes test (*was_split
// tells). STATUS_IO names the missing file, STATUS_FORMAT the file and index that do not fit
// (labels are 0..9). On failure both datasets are empty.
Status dataset_read_folder(const char *folder, Dataset *train, Dataset *test, bool *was_split);

RIDGEPOINT_API_END

#endif
