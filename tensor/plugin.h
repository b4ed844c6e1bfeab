// plugin.h -- a device in a shared library, opened on first use, so a program that never uses it
// pays nothing and links nothing. The library links none of our code either: it calls us through a
// table, and refuses a table of another build.
#ifndef TENSOR_PLUGIN_H
#define TENSOR_PLUGIN_H

#include "tensor/op.h"

RIDGEPOINT_API_BEGIN

// Functions that a plug-in may call. It has its own copies of the headers' inline functions.
typedef struct PluginHost {
    Status (*error_set)(Status status, const char *format, ...)
        __attribute__((format(printf, 2, 3)));
    Status (*error_status)(void);
    void (*error_clear)(void);
    void (*where)(char *text, size_t size); // the running layer and phase: "fc1, forward"
    int (*threads)(void);                   // of the current context
    int64_t (*trim)(void); // frees the current context's cached blocks; returns their bytes
    Status (*op_error)(const OpCall *call, Status status, const char *format, ...)
        __attribute__((format(printf, 3, 4)));
    void *(*memory_resize)(void *old, size_t old_bytes,
                           size_t bytes); // as in tensor/memory.h
    void (*memory_free)(void *block);
} PluginHost;

// A plug-in exports two functions with these names. The first is plugin_abi() as the plug-in was
// built: unless it equals the program's, nothing else of the plug-in is called. The second fills
// *device, which lives until the process ends, and `about` ("NVIDIA H200, 141 GB"), or leaves a
// message pending ("cuda: ... HINT: ...") and returns its status.
#define PLUGIN_ABI "ridgepoint_plugin_abi"
typedef uint64_t (*PluginAbi)(void);
#define PLUGIN_ENTRY "ridgepoint_plugin_open"
typedef Status (*PluginOpen)(const PluginHost *host, Device **device, char *about, size_t size);

// A device by name: "cpu", "meta", or one from a plug-in ("cuda"), which opens on first use, by any
// thread. NULL with an error pending: STATUS_DEVICE says why the device cannot be used and what to
// do; STATUS_INVALID_ARGUMENT means an unknown name.
Device *device_open(const char *name);

enum { DEVICE_REASON = 512 };
typedef struct DeviceState { // for --devices
    const char *name;
    bool usable;
    char reason[DEVICE_REASON]; // why it is unusable, or a description: "NVIDIA H200, 141 GB, ..."
} DeviceState;
// Opens each device and writes the first `most`; returns their number. Leaves no error pending.
int device_list(DeviceState *states, int most);

// A hash of ops and struct sizes: equal if program and plug-in were built from the same ones.
static inline uint64_t plugin_abi(void) {
#define PLUGIN_NAME(name) #name ";"
    static const char names[] = OP_LIST(PLUGIN_NAME, PLUGIN_NAME);
#undef PLUGIN_NAME
    const size_t sizes[] = {sizeof(Tensor), sizeof(Storage),    sizeof(OpCall),
                            sizeof(Shape),  sizeof(OpParams),   sizeof(Op),
                            sizeof(Device), sizeof(PluginHost), sizeof(DeviceMemory)};
    uint64_t hash = UINT64_C(0xcbf29ce484222325); // FNV-1a
    for (size_t i = 0; i < sizeof(names); i++)
        hash = (hash ^ (unsigned char)names[i]) * UINT64_C(0x100000001b3);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        hash = (hash ^ sizes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

RIDGEPOINT_API_END

#endif
