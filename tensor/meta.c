// meta.c -- the device without data: shapes, costs and bytes are real, values are absent.
#include <string.h>

#include "tensor/op.h"

static void *no_data(Device *self, size_t bytes) {
    (void)self, (void)bytes;
    return NULL;
}

static void nothing_to_free(Device *self, void *data, size_t bytes) {
    (void)self, (void)data, (void)bytes;
}

static Status nothing_to_run(Device *self, const OpCall *call) {
    (void)self, (void)call;
    return STATUS_OK;
}

static int64_t as_the_cpu(Device *self, const OpCall *call) {
    (void)self;
    return device_cpu()->workspace(device_cpu(), call);
}

static Status ignore_values(Device *self, void *to, const void *from, size_t bytes) {
    (void)self, (void)to, (void)from, (void)bytes;
    return STATUS_OK;
}

static Status no_values(Device *self, void *to, const void *from, size_t bytes) {
    (void)self, (void)to, (void)from, (void)bytes;
    return error_set(STATUS_DEVICE, "meta: a tensor on the meta device has a shape but no values. "
                                    "HINT: build the model on the cpu device to read values");
}

Device *device_meta(void) {
    static const Device meta = {.name = "meta",
                                .allocate = no_data,
                                .release = nothing_to_free,
                                .run = nothing_to_run,
                                .workspace = as_the_cpu,
                                .from_host = ignore_values,
                                .to_host = no_values};
    return (Device *)&meta; // never modified
}

Device *device_by_name(const char *name) {
    if (!name) return NULL;
    Device *const devices[] = {device_cpu(), device_meta()};
    for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++)
        if (strcmp(devices[i]->name, name) == 0) return devices[i];
    return NULL;
}
