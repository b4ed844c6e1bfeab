// layer_modes.c -- saves and restores what runs change in a layer beside parameters: training
// flags, and the values of buffers.
#include <string.h>

#include "layers/layer.h"
#include "tensor/given.h"
#include "tensor/handle.h"
#include "tensor/memory.h"
#include "tensor/op.h"

typedef Status (*Visit)(Tensor *buffer, char *values, char *room);

// Visits a layer and those below: self is layer number `at`, its first buffer's values start *used
// bytes in. Layers and buffers that were added since keep their modes and values.
static int walk(Layer *self, LayerModes *modes, int at, int64_t *used, bool save, Visit visit) {
    if (at < modes->count && save) modes->training[at] = self->training;
    if (at < modes->count && !save) self->training = modes->training[at];
    at++;
    for (int i = 0; i < self->n_buffers; i++) {
        Tensor *buffer = self->buffers[i].tensor;
        bool plain = buffer->device->has_data && tensor_is_contiguous(buffer);
        int64_t bytes = plain ? tensor_bytes(buffer) : 0;
        char *values = modes->values + *used;
        if (visit && bytes > 0 && *used + bytes <= modes->bytes)
            visit(buffer, values, values + modes->bytes);
        *used += bytes;
    }
    for (int i = 0; i < self->n_children; i++)
        at = walk(self->children[i], modes, at, used, save, visit);
    return at;
}

static Status take(Tensor *buffer, char *values, char *room) {
    (void)room;
    return device_to_host(buffer->device, values, tensor_raw(buffer), (size_t)tensor_bytes(buffer));
}

static Status put_back(Tensor *buffer, char *values, char *room) {
    size_t bytes = (size_t)tensor_bytes(buffer);
    Status status = device_to_host(buffer->device, room, tensor_raw(buffer), bytes);
    if (status || memcmp(values, room, bytes) == 0) return status;
    buffer->storage->version++;
    return device_from_host(buffer->device, tensor_raw(buffer), values, bytes);
}

static void free_modes(LayerModes *modes) {
    memory_free(modes->training);
    memory_free(modes->values);
    *modes = (LayerModes){0};
}

Status layer_modes_save(const Layer *self, LayerModes *modes) {
    if (!GIVEN(modes)) return STATUS_INVALID_ARGUMENT;
    *modes = (LayerModes){0};
    if (!self) return error_set(STATUS_INVALID_ARGUMENT, "layer_modes_save: no layer");
    Layer *layer = layer_here((Layer *)self); // only reads
    if (!layer) return error_status();
    int64_t bytes = 0, used = 0;
    int count = walk(layer, modes, 0, &bytes, true, NULL);
    modes->training = memory_new((size_t)count * sizeof(bool));
    modes->values = bytes > 0 && modes->training ? memory_new(2 * (size_t)bytes) : NULL;
    if (!modes->training || (bytes > 0 && !modes->values)) {
        free_modes(modes);
        return STATUS_OUT_OF_MEMORY;
    }
    modes->count = count;
    modes->bytes = bytes;
    walk(layer, modes, 0, &used, true, take);
    if (error_pending()) free_modes(modes);
    return error_status();
}

void layer_modes_restore(Layer *self, LayerModes *modes) {
    if (!GIVEN(modes)) return;
    self = layer_here(self);
    int64_t used = 0;
    if (self) walk(self, modes, 0, &used, false, put_back);
    free_modes(modes);
}
