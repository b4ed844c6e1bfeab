// copy.c -- every copy between host memory and a device's, in one place, so that observers see each
// one. The device's table has the copying itself (device.h).
#include "tensor/context.h"
#include "tensor/given.h"

// Host memory belongs to a device in name only: nothing has to be copied.
static bool is_carried(const Device *device) { return device->has_data && !device->on_host; }

static void announce(Device *device, bool to_host, size_t bytes, bool begins) {
    for (Observer *o = context_current()->observers; o; o = o->next) {
        void (*told)(Observer *, Device *, bool, int64_t) = begins ? o->copy_begin : o->copy_end;
        if (told) told(o, device, to_host, (int64_t)bytes);
    }
}

static Status copy(Device *device, bool to_host, void *to, const void *from, size_t bytes) {
    if (device->has_data && bytes > 0 && !(to && from)) {
        given_refuse(to_host ? "device_to_host" : "device_from_host", to ? "from" : "to");
        return STATUS_INVALID_ARGUMENT;
    }
    bool carried = is_carried(device);
    if (carried) announce(device, to_host, bytes, true);
    Status status = to_host ? device->to_host(device, to, from, bytes)
                            : device->from_host(device, to, from, bytes);
    if (carried) announce(device, to_host, bytes, false);
    return status;
}

Status device_from_host(Device *device, void *to, const void *from, size_t bytes) {
    if (!GIVEN(device)) return STATUS_INVALID_ARGUMENT;
    return copy(device, false, to, from, bytes);
}

Status device_to_host(Device *device, void *to, const void *from, size_t bytes) {
    if (!GIVEN(device)) return STATUS_INVALID_ARGUMENT;
    return copy(device, true, to, from, bytes);
}
