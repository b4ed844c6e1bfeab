// absent.c -- replaces onnx_load and the reader where the library was built without protobuf-c,
// which decodes such files.
#include <string.h>

#include "layers/files/onnx.h"

Layer *onnx_load(const char *path, const OnnxOptions *options, OnnxModel *about) {
    (void)options;
    if (about) *about = (OnnxModel){.remark = ""};
    error_set(STATUS_NOT_IMPLEMENTED,
              "onnx: %s: this was built without protobuf-c. HINT: `make setup` installs it "
              "(Debian: protobuf-c-compiler, libprotobuf-c-dev); then build again",
              path ? path : "(no path)");
    return NULL;
}

Status onnx_give_input(Layer *model, int input, Tensor *value) {
    (void)model, (void)input, (void)value; // no such model can exist
    return error_set(STATUS_INVALID_ARGUMENT, "onnx_give_input: this is no model of onnx_load's");
}

void onnx_model_free(OnnxModel *about) {
    if (about) memset(about, 0, sizeof *about);
}
