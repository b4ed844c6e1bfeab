// fuzz_model_text.c -- random text for the reader of models: for any input it returns a model, or
// there is one message that names the place, and nothing is left of either.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layers/cost.h"
#include "layers/files/model_text.h"
#include "tensor/context.h"
#include "tensor/memory.h"
#include "tests/fuzz/fuzz.h"

// Prints the model, and costs it if the text gives an input: the run must end, in whatever way.
static void run_dry(Layer *model, Shape input) {
    static FILE *nowhere;
    LayerCost cost;
    if (!nowhere) nowhere = fopen("/dev/null", "w");
    if (layer_print(model, nowhere)) promise_error(error_status());
    Tensor *x = input.ndim > 0 ? tensor_new(input, DTYPE_FLOAT32) : NULL;
    if (x && layer_cost(model, &x, 1, &cost)) error_clear();
    tensor_free(x);
    error_clear(); // an input too large to count
}

static void read(const char *text, uint64_t failing_allocation) {
    Shape input;
    memory_fail_at(failing_allocation);
    Layer *model = model_text_read(text, &input);
    memory_fail_at(0);
    if (model) {
        promise(!error_pending() && model->parent == NULL);
        if (failing_allocation == 0) run_dry(model, input);
    } else {
        promise(input.ndim == 0);
        promise(error_status() != STATUS_FORMAT || strstr(error_message(), ": line ") != NULL);
        promise(strchr(error_message(), '\n') == NULL && error_pending());
        error_clear();
    }
    layer_free(model);
    promise_clean();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    char *text = fuzz_text(bytes, size);
    context_set_device(device_meta()); // a text can ask for any amount of memory
    read(text, 0);
    read(text, 1 + size % 31);
    free(text);
    return 0;
}
