// plugin.c -- finds the plug-in with the cuda device and opens it once, on first use. plugin.h
// defines plug-ins; cuda/device.c is this one.
#include "tensor/plugin.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tensor/context.h"
#include "tensor/gemm.h"
#include "tensor/given.h"
#include "tensor/memory.h"

#define PLUGIN_FILE "libridgepoint_cuda.so"
#define PLUGIN_VARIABLE "RIDGEPOINT_CUDA_PLUGIN"
#define DRIVER_FILE "libcuda.so.1"

// ---- functions that a plug-in may call ---------------------------------------------------------
static void where(char *text, size_t size) {
    const Context *context = context_current();
    site_path(context, context->site, text, size);
    size_t used = strlen(text);
    snprintf(text + used, size - used, ", %s", phase_name(context->phase));
}

static int threads(void) { return context_current()->threads; }

static int64_t trim(void) {
    Ledger *ledger = context_current()->ledger;
    int64_t cached = ledger ? ledger->cached_bytes : 0;
    if (ledger) ledger_trim(ledger);
    return cached;
}

static const PluginHost host = {.error_set = error_set,
                                .error_status = error_status,
                                .error_clear = error_clear,
                                .where = where,
                                .trim = trim,
                                .threads = threads,
                                .op_error = op_error,
                                .memory_resize = memory_resize,
                                .memory_free = memory_free};

// ---- the plug-in's path ------------------------------------------------------------------------
// Cuts a file's path to its folder: everything before the last slash.
static bool cut_to_folder(char *path) {
    char *slash = strrchr(path, '/');
    if (slash) *slash = '\0';
    return slash != NULL;
}

static bool program_folder(char path[PATH_MAX]) {
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    path[length > 0 ? length : 0] = '\0';
    return cut_to_folder(path);
}

static bool library_folder(char path[PATH_MAX]) {
    static const char here;
    Dl_info info;
    if (!dladdr(&here, &info) || !info.dli_fname || !realpath(info.dli_fname, path)) return false;
    return cut_to_folder(path);
}

// Places where a build of any variant, or an installation, puts it, relative to the program.
static const char *const beside_program[] = {"", "/build", "/..", "/../lib"};
enum { BESIDE_PROGRAM = sizeof(beside_program) / sizeof(beside_program[0]) };

// Writes the first path that exists; false, with a message pending, if none does.
static bool find_plugin(char path[PATH_MAX]) {
    char program[PATH_MAX] = "", library[PATH_MAX] = "";
    const char *named = getenv(PLUGIN_VARIABLE);
    if (named && *named) {
        snprintf(path, PATH_MAX, "%s%s", strchr(named, '/') ? "" : "./", named);
        if (access(path, R_OK) == 0) return true;
        error_set(STATUS_DEVICE, "cuda: cannot read the plug-in %s. HINT: correct or unset %s",
                  named, PLUGIN_VARIABLE);
        return false;
    }
    bool known = program_folder(program);
    for (int i = 0; known && i < BESIDE_PROGRAM; i++) {
        int length = snprintf(path, PATH_MAX, "%s%s/%s", program, beside_program[i], PLUGIN_FILE);
        if (length < PATH_MAX && access(path, R_OK) == 0) return true;
    }
    if (library_folder(library)) {
        int length = snprintf(path, PATH_MAX, "%s/%s", library, PLUGIN_FILE);
        if (length < PATH_MAX && access(path, R_OK) == 0) return true;
    }
    bool elsewhere = strcmp(library, program) != 0;
    error_set(
        STATUS_DEVICE,
        "cuda: there is no %s in %s, its build, .. and ../lib%s%s. HINT: make builds it where "
        "nvcc is; %s=file names one elsewhere",
        PLUGIN_FILE, program, elsewhere ? ", or in " : "", elsewhere ? library : "",
        PLUGIN_VARIABLE);
    return false;
}

// ---- opening -----------------------------------------------------------------------------------
// Without a driver the plug-in cannot work; this test takes 0.1 ms. A plug-in named by the user is
// opened anyway, since it may need no driver, like the tests' emulator.
static bool has_driver(void) {
    const char *named = getenv(PLUGIN_VARIABLE);
    if ((named && *named) || dlopen(DRIVER_FILE, RTLD_NOW | RTLD_LOCAL)) return true;
    error_set(
        STATUS_DEVICE,
        "cuda: no NVIDIA driver on this machine (%s). HINT: install one, or use the cpu device",
        dlerror());
    return false;
}

// Finds a function and stores it through a pointer: C has no cast from data to functions.
static bool find_function(void *library, const char *path, const char *name, void *function) {
    void *found = dlsym(library, name);
    memcpy(function, &found, sizeof found);
    if (!found)
        error_set(STATUS_DEVICE,
                  "cuda: %s is no plug-in of ours: it has no %s. HINT: set %s to a "
                  "plug-in, or unset it",
                  path, name, PLUGIN_VARIABLE);
    return found != NULL;
}

static Device *open_plugin(char about[DEVICE_REASON]) {
    char path[PATH_MAX];
    if (!has_driver() || !find_plugin(path)) return NULL;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL); // stays: drivers cannot be unloaded
    if (!library) {
        error_set(STATUS_DEVICE,
                  "cuda: cannot load %s: %s. HINT: see with ldd which of its libraries is missing",
                  path, dlerror());
        return NULL;
    }
    PluginAbi abi;
    PluginOpen entry;
    if (!find_function(library, path, PLUGIN_ABI, &abi) ||
        !find_function(library, path, PLUGIN_ENTRY, &entry))
        return NULL;
    if (abi() != plugin_abi()) {
        error_set(STATUS_DEVICE,
                  "cuda: %s was built from other sources than this program. HINT: make builds both",
                  path);
        return NULL;
    }
    Device *device = NULL;
    return entry(&host, &device, about, DEVICE_REASON) ? NULL : device;
}

// Retries after a failure at the next call: it costs little, and the reason may be gone.
static Device *open_cuda(char about[DEVICE_REASON]) {
    static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
    static Device *opened;
    static char kept[DEVICE_REASON];
    pthread_mutex_lock(&turn);
    if (!opened) opened = open_plugin(kept);
    Device *device = opened;
    if (device) snprintf(about, DEVICE_REASON, "%s", kept);
    pthread_mutex_unlock(&turn);
    return device;
}

Device *device_open(const char *name) {
    char about[DEVICE_REASON];
    if (error_pending()) return NULL;
    Device *device = device_by_name(name);
    bool cuda = name && strcmp(name, "cuda") == 0;
    if (device || cuda) return device ? device : open_cuda(about);
    error_set(STATUS_INVALID_ARGUMENT, "device_open: no device is called \"%s\". HINT: %s",
              name ? name : "", "the devices are cpu, meta and cuda");
    return NULL;
}

int device_list(DeviceState *states, int most) {
    if (!GIVEN(states)) return 0;
    DeviceState all[] = {{.name = "cpu", .usable = true},
                         {.name = "meta", .usable = true, .reason = "shapes and costs, no values"},
                         {.name = "cuda"}};
    const int count = sizeof(all) / sizeof(all[0]);
    bool pending = error_pending();
    snprintf(all[0].reason, DEVICE_REASON, "%d threads, %s", threads(), blas_name());
    if (!pending) all[2].usable = open_cuda(all[2].reason) != NULL;
    if (!all[2].usable) snprintf(all[2].reason, DEVICE_REASON, "%s", error_message());
    if (!pending) error_clear();
    for (int i = 0; i < count && i < most; i++) states[i] = all[i];
    return count;
}
