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
// sizes that disagree with the file, trailing bytes, a broken gzip stream. One message naming the
// file, what was found and what was expected. Memory grows with the bytes that arrive, whatever the
// header promises, and a file is read no further than its header allows.
Status idx_read(const char *path, IdxArray *out);
// The same from memory; `name` stands for the file in messages. idx_parse_any also inflates gzip,
// which it knows by its first two bytes, not by the name.
Status idx_parse(const uint8_t *bytes, size_t size, const char *name, IdxArray *out);
Status idx_parse_any(const uint8_t *bytes, size_t size, const char *name, IdxArray *out);
void idx_free(IdxArray *array);

// A folder with {train,t10k}-images-idx3-ubyte[.gz] and ...-labels-idx1-ubyte[.gz]. Where both
// pairs are there, they become train and test; with only one pair its last fifth is held out as
// test (*was_split tells). STATUS_IO names the file that is missing, STATUS_FORMAT the file and
// index that do not fit (labels are 0..9). On failure both datasets are empty.
Status dataset_read_folder(const char *folder, Dataset *train, Dataset *test, bool *was_split);

RIDGEPOINT_API_END

#endif
