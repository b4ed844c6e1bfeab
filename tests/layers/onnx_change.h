// onnx_change.h -- reads ONNX files of tests/fixtures/onnx, to be changed, and writes them into the
// folder that the test has begun (work_folder.h). Only for tests that are built with protobuf-c
// (tests/rules.mk).
#ifndef TESTS_LAYERS_ONNX_CHANGE_H
#define TESTS_LAYERS_ONNX_CHANGE_H

#include <onnx.pb-c.h>
#include <stdio.h>

#include "tests/helpers/byte_file.h"
#include "tests/helpers/harness.h"
#include "tests/helpers/work_folder.h"

enum { ONNX_CHANGE_MOST = 1 << 20 }; // largest file, bytes

// Reads a file such as "mlp.ts"; free with onnx__model__free_unpacked.
static inline Onnx__Model *onnx_change_read(const char *name) {
    static uint8_t bytes[ONNX_CHANGE_MOST];
    char path[128];
    snprintf(path, sizeof path, "tests/fixtures/onnx/%s.onnx", name);
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "%s", path);
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    Onnx__Model *model = onnx__model__unpack(NULL, size, bytes);
    ck_assert_msg(model && model->graph, "%s", path);
    return model;
}

// Writes the model; the returned path is valid until the next call.
static inline const char *onnx_change_write(const Onnx__Model *model) {
    static uint8_t bytes[ONNX_CHANGE_MOST];
    ck_assert_uint_le(onnx__model__get_packed_size(model), sizeof bytes);
    return byte_file_put("changed.onnx", bytes, onnx__model__pack(model, bytes));
}

#endif
