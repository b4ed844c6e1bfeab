// fuzz_onnx.c -- changed ONNX files for the reader: for any input it returns a model that runs dry,
// or there is one message, within bounded memory.
#include <stdlib.h>

#include "layers/cost.h"
#include "layers/files/onnx.h"
#include "tensor/memory.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/onnx_mutator.h"

// The dry run of a model from random bytes must end, in whatever way.
static void run_dry(Layer *model, const OnnxModel *about) {
    Tensor *in[8] = {NULL};
    int n = about->n_inputs;
    Context *context = context_new();
    promise(context != NULL);
    context_push(context);
    context_set_device(device_meta());
    for (int i = 0; i < n && i < 8; i++)
        in[i] = tensor_new(about->inputs[i].shape, about->inputs[i].dtype);
    LayerCost cost;
    if (n <= 8 && !error_pending()) layer_cost(model, in, n, &cost);
    for (int i = 0; i < 8; i++) tensor_free(in[i]);
    error_clear();
    context_pop();
    context_free(context);
}

static void load(const char *path, uint64_t failing_allocation, bool partial) {
    OnnxModel about;
    const OnnxOptions options = {.partial = partial};
    context_set_device(device_meta()); // sizes may be anything
    memory_fail_at(failing_allocation);
    Layer *model = onnx_load(path, &options, &about);
    memory_fail_at(0);
    if (!model) promise_error(error_status());
    if (model && failing_allocation == 0) run_dry(model, &about);
    layer_free(model);
    onnx_model_free(&about);
    promise_clean();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    FuzzFile file = fuzz_file(bytes, size);
    load(file.path, 0, false);
    load(file.path, 0, true);
    load(file.path, 1 + size % 97, false);
    fuzz_file_end(&file);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned seed) {
    return onnx_mutate(bytes, size, most, seed);
}
