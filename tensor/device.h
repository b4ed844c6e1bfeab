// device.h -- a device is a table of functions; the CPU and meta tables live in cpu.c and meta.c.
// The GPU is one more entry, handed over by a plug-in (cuda/).
#ifndef TENSOR_DEVICE_H
#define TENSOR_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tensor/status.h"

struct OpCall;

// Outlives every ledger that holds its memory: freed blocks wait in the cache with their device.
typedef struct Device {
    const char *name; // "cpu", "meta"
    bool has_data;    // false on meta: shapes, costs and bytes are real, values are absent
    bool on_host;     // tensor_data may hand out the pointer
    void *(*allocate)(struct Device *self, size_t bytes); // NULL when exhausted
    void (*release)(struct Device *self, void *data, size_t bytes);
    // Runs the kernel of call->op for its dtype. A missing one is STATUS_NOT_IMPLEMENTED naming op
    // and device, never a silent copy to another device, which would falsify the profile.
    Status (*run)(struct Device *self, const struct OpCall *call);
    // Temporary bytes the kernel takes: the device's answer for its thread count, not the op's
    // cost. Asked of an op with OP_WORKSPACE; dispatch hands them over in call->workspace.
    int64_t (*workspace)(struct Device *self, const struct OpCall *call);
    Status (*from_host)(struct Device *self, void *to, const void *from, size_t bytes);
    Status (*to_host)(struct Device *self, void *to, const void *from, size_t bytes);
    // Waits until all that was launched is over; NULL where a kernel is over when run returns.
    Status (*synchronize)(struct Device *self);
} Device;

// Waits for what runs behind the caller's back, if the device does that: before reading a clock.
static inline Status device_synchronize(Device *device) {
    return device->synchronize ? device->synchronize(device) : STATUS_OK;
}

Device *device_cpu(void);
Device *device_meta(void);
Device *device_by_name(const char *name); // NULL when there is none of that name; no error is set

#endif
