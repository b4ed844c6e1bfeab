// fuzz_model_text.c -- random text for the reader of models: whatever comes, it answers with a
// model or with one message that says where, and nothing is left of either.
#include <stdlib.h>
#include <string.h>

#include "layers/files/model_text.h"
#include "tensor/context.h"
#include "tensor/memory.h"
#include "tests/fuzz/fuzzer.h"

static void promise(bool kept) {
    if (!kept) abort();
}

static void read(const char *text, uint64_t failing_allocation) {
    Shape input;
    memory_fail_at(failing_allocation);
    Layer *model = model_text_read(text, &input);
    memory_fail_at(0);
    if (model) {
        promise(!error_pending() && model->parent == NULL);
    } else {
        promise(error_pending() && input.ndim == 0);
        promise(error_status() != STATUS_FORMAT || strstr(error_message(), ": line ") != NULL);
        promise(strchr(error_message(), '\n') == NULL);
    }
    layer_free(model);
    error_clear();
    promise(context_ledger()->live.total == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    char text[FUZZER_MAX_INPUT + 1];
    if (size > FUZZER_MAX_INPUT) return 0;
    memcpy(text, bytes, size);
    text[size] = '\0';
    context_set_device(device_meta()); // a text can ask for more than a machine has
    read(text, 0);
    read(text, 1 + size % 31);
    return 0;
}

size_t fuzzer_seed(int index, uint8_t bytes[FUZZER_MAX_INPUT]) {
    static const char *const seeds[] = {
        "Linear(784,512) ReLU Linear(512,10,bias=false) @ 64x784",
        "conv: Conv2d(3,5,3,kernel_w=5,stride_h=2,padding_left=1) # a name\nMaxPool2d(2) @ 1x3x9x9",
        "2*Linear(3,3) Residual(3*Sequential(PReLU(3) LeakyReLU(0.5))) tie(1.bias,0.bias)",
        "Concat(dim=-1; Identity Upsample(2,bilinear,align_corners=true) ZeroPad2d(1,top=2))",
        "BatchNorm2d(4,1e-3,affine=false) SqueezeExcitation(4,2,gate=Hardsigmoid) freeze(1)",
        "Embedding(9,4) PositionalEncoding(5,4) MultiheadAttention(4,2,causal=true) LSTM(4,2,2)",
        "ConvTranspose1d(4,6,3,2,1,1,2,dilation=3) GroupNorm(2,6) GELU Flatten(1,-1) GLU(dim=-1)"};
    if ((size_t)index >= sizeof seeds / sizeof seeds[0]) return 0;
    memcpy(bytes, seeds[index], strlen(seeds[index]));
    return strlen(seeds[index]);
}
