// data_files.h -- IDX files made on the spot, for the tests of the code that reads them.
#ifndef TESTS_HELPERS_DATA_FILES_H
#define TESTS_HELPERS_DATA_FILES_H

#include <stddef.h>
#include <stdint.h>

#include "tensor/status.h"

enum { DATA_PATH = 512, DATA_ROOM = 1 << 17 };

#define DATA_TRAIN_IMAGES "train-images-idx3-ubyte"
#define DATA_TRAIN_LABELS "train-labels-idx1-ubyte"
#define DATA_TEST_IMAGES "t10k-images-idx3-ubyte"
#define DATA_TEST_LABELS "t10k-labels-idx1-ubyte"

typedef struct DataBytes {
    size_t size;
    uint8_t at[DATA_ROOM];
} DataBytes;

// An IDX file of these sizes; element i is i % 251, or, with one dimension, i % 10.
DataBytes data_idx(int ndim, const int64_t *dims);
DataBytes data_images(int64_t count, int64_t rows, int64_t columns);
DataBytes data_labels(int64_t count);
DataBytes data_gzip(const uint8_t *from, size_t size);

// A new empty folder. data_folder_remove also deletes the four files above, gzip'ed or not.
void data_folder_new(char folder[DATA_PATH]);
void data_folder_remove(const char *folder);
const char *data_path(const char *folder, const char *name); // valid until the next call
void data_write(const char *folder, const char *name, DataBytes bytes);

// Fails the test unless `got` is `want` and the pending message says `text` and gives a hint; then
// clears it.
void data_expect_error(Status got, Status want, const char *text);

#endif
