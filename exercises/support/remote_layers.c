// remote_layers.c -- models whose layers take time, and the counts of exercises 02 to 04. Layers
// run here on the meta device; the grader decides their times and counts.
#include <string.h>

#include "autograd/tape.h"
#include "exercises/support/model_line.h"
#include "exercises/support/reference.h"
#include "exercises/support/reference_roofline.h"
#include "exercises/support/remote.h"
#include "exercises/support/worker.h"
#include "tensor/context.h"

enum { MOST_LAYERS = 64 };

static struct {
    const Layer *layers[MOST_LAYERS];
    int count;
} model;

// ---- the model ---------------------------------------------------------------------------------
static void enter(const Layer *layer) {
    if (model.count < MOST_LAYERS) model.layers[model.count++] = layer;
    for (int i = 0; i < layer->n_children; i++) enter(layer->children[i]);
}

int64_t remote_layer_number(const Layer *layer) {
    for (int i = 0; i < model.count; i++)
        if (model.layers[i] == layer) return i;
    return -1;
}

static void forget(const Layer *layer) {
    for (int i = 0; i < layer->n_parameters; i++) {
        Storage *storage = layer->parameters[i].tensor->storage;
        storage->ledger = NULL;
        storage->next = storage->previous = NULL;
    }
    for (int i = 0; i < layer->n_children; i++) forget(layer->children[i]);
}

Layer *remote_model(const char *text, Shape *input) {
    context_set_device(device_meta());
    Layer *made = model_from_line(text, input);
    Ledger *ledger = made ? context_ledger() : NULL;
    if (!ledger) return NULL;
    forget(made);
    ledger->live = ledger->peak = (MemoryUse){.total = 0};
    ledger->live_host_bytes = ledger->live_storages = 0;
    ledger->first_live = NULL;
    ledger->references = 1 << 20; // never the last reference, so nothing is freed
    model.count = 0;
    enter(made);
    return made;
}

Tensor *lab_layer_forward_many(Layer *self, Tensor *const in[], int n_in) {
    Tensor *y = remote_breaks("layer_forward") ? NULL : layer_forward_many(self, in, n_in);
    if (y) worker_note(NOTE_FORWARD, remote_layer_number(self));
    return y;
}

Tensor *lab_layer_forward(Layer *self, Tensor *x) { return lab_layer_forward_many(self, &x, 1); }

// ---- counts ------------------------------------------------------------------------------------
static Status count(RemoteCall call, const Layer *layer, Shape input,
                    int64_t answer[WORKER_ANSWER]) {
    int64_t arguments[1 + TENSOR_MAX_DIMS] = {remote_layer_number(layer)};
    if (remote_fails()) return STATUS_DEVICE;
    memcpy(arguments + 1, input.dims, (size_t)input.ndim * sizeof *input.dims);
    worker_call(call, arguments, 1 + input.ndim, answer);
    return (Status)answer[0];
}

Status reference_count_flops(const Layer *layer, Shape input, int64_t *flops) {
    int64_t answer[WORKER_ANSWER];
    Status status = count(CALL_FLOPS, layer, input, answer);
    if (!status) *flops = answer[1];
    return status;
}

Status reference_count_bytes(const Layer *layer, Shape input, Traffic *traffic) {
    int64_t answer[WORKER_ANSWER];
    Status status = count(CALL_BYTES, layer, input, answer);
    if (!status) *traffic = (Traffic){.bytes_read = answer[1], .bytes_written = answer[2]};
    return status;
}

Status reference_roofline(const RooflineInput *input, RooflineResult *result) {
    const double reals[] = {input->peak_flops_per_second, input->bytes_per_second,
                            input->measured_seconds};
    int64_t arguments[5] = {input->flops, input->bytes}, answer[WORKER_ANSWER];
    memcpy(arguments + 2, reals, sizeof reals);
    worker_call(CALL_ROOFLINE, arguments, 5, answer);
    if (answer[0] != STATUS_OK) return (Status)answer[0];
    memcpy(&result->intensity, &answer[1], sizeof(double));
    memcpy(&result->ridge, &answer[2], sizeof(double));
    memcpy(&result->roof_seconds, &answer[3], sizeof(double));
    memcpy(&result->roof_fraction, &answer[4], sizeof(double));
    result->bound = (RooflineBound)answer[5];
    return STATUS_OK;
}

// ---- autograd, where nothing is trained --------------------------------------------------------
// A parameter may want a gradient, but no tape is recorded: exercise 08 asks for the tensors that
// forward keeps for backward, and a student must not get them by running a model. In exercise 10's
// worker the real autograd replaces these weak functions.
__attribute__((weak)) Status autograd_enable(void) { return STATUS_OK; }

__attribute__((weak)) Tape *tape_current(void) { return NULL; }

// No layer is marked for recomputing either.
__attribute__((weak)) bool autograd_recomputing(void) { return false; }
__attribute__((weak)) Recompute *recompute_new(Recompute of) { return (void)of, NULL; }
__attribute__((weak)) void recompute_release(Recompute *self) { (void)self; }
__attribute__((weak)) void recompute_forward(Recompute *self, Tensor *const in[], int n_in,
                                             Tensor *out[], int n_out) {
    (void)self, (void)in, (void)n_in, (void)out, (void)n_out;
}
