// fuzz_onnx.c -- changed ONNX files for the reader: whatever comes, it answers with a model that
// runs dry, or with one message, within bounded memory.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "layers/cost.h"
#include "layers/files/onnx.h"
#include "tensor/memory.h"
#include "tests/fuzz/fuzzer.h"

static void promise(bool kept) {
    if (!kept) abort();
}

// A model that was made of random bytes: its dry run ends, in whatever way.
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
    promise(model ? !error_pending() : error_pending());
    promise(model || error_message()[0] != '\0');
    error_clear();
    if (model && failing_allocation == 0) run_dry(model, &about);
    layer_free(model);
    onnx_model_free(&about);
    promise(!error_pending());
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    char path[64];
    snprintf(path, sizeof path, "/tmp/fuzz_onnx.%d", (int)getpid());
    FILE *file = fopen(path, "wb");
    promise(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
    load(path, 0, false);
    load(path, 0, true);
    load(path, 1 + size % 97, false);
    unlink(path);
    return 0;
}

size_t fuzzer_seed(int index, uint8_t bytes[FUZZER_MAX_INPUT]) {
    static const char *const seeds[] = {"mlp.ts",       "mlp.dy",
                                        "acts.ts",      "gru.ts",
                                        "split_uneven", "resize_floor",
                                        "pad_crop",     "gather_nd",
                                        "scatter_nd",   "conv_groups",
                                        "slice_back",   "lstm_back",
                                        "conv_same",    "max_same",
                                        "average_1d",   "layer_rows",
                                        "batch",        "transpose_groups",
                                        "tile",         "expand",
                                        "gather_back",  "gather_run",
                                        "where",        "cast_whole",
                                        "trilu",        "cumsum",
                                        "group",        "reshape_zero",
                                        "prelu",        "depth_crd",
                                        "missing",      "style.ts",
                                        "shuffle.dy",   "gather_nd_batch",
                                        "router.ts",    "rnn_stack.ts",
                                        "rnn_mixed",    "einsum_three",
                                        "topk_old",     "positions.ts",
                                        "known_told",   "all_of_places",
                                        "volume.ts",    "known_depth",
                                        "known_random", "all_that_multiply",
                                        "functions"};
    char path[128];
    if (index >= (int)(sizeof seeds / sizeof seeds[0])) return 0;
    snprintf(path, sizeof path, "tests/fixtures/onnx/%s.onnx", seeds[index]);
    FILE *file = fopen(path, "rb");
    promise(file != NULL);
    size_t size = fread(bytes, 1, FUZZER_MAX_INPUT, file);
    fclose(file);
    return size;
}
