// idx_folder.c -- a folder with two or four of MNIST's files, as datasets. One file: idx.c.
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "layers/files/idx.h"
#include "tensor/given.h"

enum { CLASSES = 10, HELD_OUT_PART = 5, LONGEST_NAME = 64 };

// A file of images and one of labels, each plain or gzip'ed.
typedef struct Pair {
    const char *part; // "train"
    bool has_images, has_labels;
    char images[PATH_MAX], labels[PATH_MAX];
} Pair;

static bool find_file(const char *folder, const char *part, const char *kind, char path[PATH_MAX]) {
    static const char *const endings[] = {"", ".gz"};
    for (int i = 0; i < 2; i++) {
        snprintf(path, PATH_MAX, "%s/%s-%s-ubyte%s", folder, part, kind, endings[i]);
        if (access(path, F_OK) == 0) return true;
    }
    return false;
}

// Finds a pair. It may be absent, but half a pair means that a download went wrong.
static Status find_pair(const char *folder, const char *part, Pair *pair) {
    pair->part = part;
    pair->has_images = find_file(folder, part, "images-idx3", pair->images);
    pair->has_labels = find_file(folder, part, "labels-idx1", pair->labels);
    if (pair->has_images == pair->has_labels) return STATUS_OK;
    return error_set(STATUS_IO,
                     "dataset: %s: %s-%s-ubyte[.gz] is missing. HINT: images and labels come in "
                     "pairs; download it too",
                     folder, part, pair->has_images ? "labels-idx1" : "images-idx3");
}

static Status find_pairs(const char *folder, Pair *train, Pair *test) {
    if (folder[0] == '\0') {
        return error_set(STATUS_IO, "dataset: the folder's name is empty. HINT: name a folder with "
                                    "MNIST's files");
    }
    struct stat info;
    int failed = stat(folder, &info);
    if (failed || !S_ISDIR(info.st_mode)) {
        return error_set(STATUS_IO, "dataset: %s: %s. HINT: name a folder with MNIST's files",
                         folder, failed ? strerror(errno) : "not a folder");
    }
    if (strlen(folder) > PATH_MAX - LONGEST_NAME) {
        return error_set(STATUS_IO, "dataset: the folder's name is too long. HINT: go nearer");
    }
    Status status = find_pair(folder, "train", train);
    if (status == STATUS_OK) status = find_pair(folder, "t10k", test);
    if (status == STATUS_OK && !train->has_images && !test->has_images) {
        return error_set(STATUS_IO,
                         "dataset: %s: holds neither train-images-idx3-ubyte[.gz] nor "
                         "t10k-images-idx3-ubyte[.gz]. HINT: download MNIST's files into it, "
                         "labels too",
                         folder);
    }
    return status;
}

static Status check_pair(const Pair *pair, const IdxArray *images, const IdxArray *labels) {
    if (images->ndim != 3 || images->count == 0) {
        return error_set(STATUS_FORMAT,
                         "dataset: %s: holds no images: %d dimensions, %lld bytes. HINT: images "
                         "have 3 dimensions, count x rows x columns",
                         pair->images, images->ndim, (long long)images->count);
    }
    if (labels->ndim != 1) {
        return error_set(STATUS_FORMAT,
                         "dataset: %s: has %d dimensions, labels have 1. HINT: is it the file of "
                         "the images?",
                         pair->labels, labels->ndim);
    }
    if (images->dims[0] != labels->count) {
        return error_set(STATUS_FORMAT,
                         "dataset: %s: %lld labels for %lld images. HINT: take both files from "
                         "the same place",
                         pair->labels, (long long)labels->count, (long long)images->dims[0]);
    }
    for (int64_t i = 0; i < labels->count; i++) {
        if (labels->bytes[i] < CLASSES) continue;
        return error_set(STATUS_FORMAT,
                         "dataset: %s: label %d at index %lld, expected 0 to %d. HINT: download "
                         "it again",
                         pair->labels, labels->bytes[i], (long long)i, CLASSES - 1);
    }
    return STATUS_OK;
}

static Status read_pair(const Pair *pair, const char *folder, Dataset *out) {
    IdxArray images = {0}, labels = {0};
    Status status = idx_read(pair->images, &images);
    if (status == STATUS_OK) status = idx_read(pair->labels, &labels);
    if (status == STATUS_OK) status = check_pair(pair, &images, &labels);
    if (status) {
        idx_free(&images);
        idx_free(&labels);
        return status;
    }
    *out = (Dataset){.count = images.dims[0],
                     .rows = images.dims[1],
                     .columns = images.dims[2],
                     .classes = CLASSES,
                     .images = images.bytes,
                     .labels = labels.bytes};
    snprintf(out->name, sizeof(out->name), "%s", folder);
    return STATUS_OK;
}

static Status check_same_size(const char *folder, const Dataset *train, const Dataset *test) {
    if (train->rows == test->rows && train->columns == test->columns) return STATUS_OK;
    return error_set(STATUS_FORMAT,
                     "dataset: %s: train images are %lld x %lld, test images %lld x %lld. HINT: "
                     "take all files from the same dataset",
                     folder, (long long)train->rows, (long long)train->columns,
                     (long long)test->rows, (long long)test->columns);
}

static Status split_pair(const Pair *pair, Dataset *train, Dataset *test) {
    int64_t held_out = train->count / HELD_OUT_PART;
    if (held_out > 0) return dataset_split(train, held_out, 0, test);
    return error_set(STATUS_FORMAT,
                     "dataset: %s: %lld images are too few to hold out a fifth as test. HINT: add "
                     "the other pair of files",
                     pair->images, (long long)train->count);
}

Status dataset_read_folder(const char *folder, Dataset *train, Dataset *test, bool *was_split) {
    if (!GIVEN(train) || !GIVEN(test) || !GIVEN(was_split)) return STATUS_INVALID_ARGUMENT;
    *train = *test = (Dataset){0};
    *was_split = false;
    if (!folder) return error_set(STATUS_INVALID_ARGUMENT, "idx: no folder is named");
    Pair first, second;
    Status status = find_pairs(folder, &first, &second);
    if (status) return status;
    const Pair *pair = first.has_images ? &first : &second;
    *was_split = !first.has_images || !second.has_images;
    status = read_pair(pair, folder, train);
    if (status == STATUS_OK && *was_split) {
        status = split_pair(pair, train, test);
    } else if (status == STATUS_OK) {
        status = read_pair(&second, folder, test);
        if (status == STATUS_OK) status = check_same_size(folder, train, test);
    }
    if (status) {
        dataset_free(train);
        dataset_free(test);
    }
    return status;
}
