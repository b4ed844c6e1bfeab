// onnx_files.h -- the folder of ONNX files that tests read, and whether this build reads such
// files.
#ifndef TESTS_HELPERS_ONNX_FILES_H
#define TESTS_HELPERS_ONNX_FILES_H

#include <string.h>

#include "layers/files/onnx.h"
#include "tests/helpers/harness.h"

#define FOLDER "tests/fixtures/onnx/"

// A build without protobuf-c says in one line what to install.
static inline bool onnx_is_absent(void) {
    Layer *model = onnx_load(FOLDER "mlp.ts.onnx", NULL, NULL);
    bool absent = !model && strstr(error_message(), "libprotobuf-c-dev") != NULL;
    layer_free(model);
    error_clear();
    context_release_thread();
    return absent;
}

START_TEST(all_of_it) { test_skip("this build has no protobuf-c: make setup"); }
END_TEST

static inline int onnx_all_skipped(const char *suite) {
    const HarnessTest none[] = {{all_of_it, 0}, {NULL, 0}};
    return harness_main(suite, none);
}

#endif
