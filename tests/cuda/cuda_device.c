// cuda_device.c -- finds the emulated plug-in beside the tests, and its fake runtime's functions.
#include "tests/cuda/cuda_device.h"

#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tensor/context.h"
#include "tensor/ops.h"
#include "tests/helpers/harness.h"

static bool real_gpu; // the tests' caller set RIDGEPOINT_CUDA_PLUGIN

static void choose_plugin(void) {
    static bool chosen;
    char self[PATH_MAX - 64] = "", path[PATH_MAX];
    if (chosen) return;
    real_gpu = getenv("RIDGEPOINT_CUDA_PLUGIN") != NULL;
    if (!real_gpu) {
        ck_assert_int_gt(readlink("/proc/self/exe", self, sizeof self - 1), 0);
        snprintf(path, sizeof path, "%s/libridgepoint_cuda_emulated.so", dirname(dirname(self)));
        if (access(path, R_OK) != 0)
            test_skip("the emulated plug-in is not built: no CUDA headers, or no OpenBLAS");
        setenv("RIDGEPOINT_CUDA_PLUGIN", path, 1);
    }
    chosen = true;
}

Device *cuda_device_use(void) {
    choose_plugin();
    Device *device = device_open("cuda");
    if (!device && real_gpu) test_skip(error_message());
    ck_assert_msg(device != NULL, "%s", error_message());
    context_set_device(device);
    return device;
}

void *cuda_device_fake(const char *function) {
    choose_plugin();
    if (real_gpu) test_skip("needs the fake runtime");
    void *library = dlopen(getenv("RIDGEPOINT_CUDA_PLUGIN"), RTLD_NOW | RTLD_LOCAL);
    ck_assert_msg(library != NULL, "%s", dlerror());
    void *found = dlsym(library, function);
    ck_assert_msg(found != NULL, "%s", dlerror());
    return found;
}

static void widen(const Tensor *t, const void *bytes, float *values) {
    for (int64_t i = 0; i < t->numel; i++) {
        if (t->dtype == DTYPE_INT64)
            values[i] = (float)((const int64_t *)bytes)[i];
        else if (t->dtype == DTYPE_UINT8)
            values[i] = (float)((const uint8_t *)bytes)[i];
        else
            values[i] = ((const float *)bytes)[i];
    }
}

Status cuda_device_read(Tensor *t, float *values) {
    Scope *scope = scope_open();
    no_grad_begin();
    Tensor *dense = tensor_is_contiguous(t) ? t : tensor_contiguous(t);
    void *bytes = dense ? malloc((size_t)tensor_bytes(dense) + 1) : NULL;
    if (bytes && !dense->device->to_host(dense->device, bytes, tensor_raw(dense),
                                         (size_t)tensor_bytes(dense)))
        widen(dense, bytes, values);
    free(bytes);
    no_grad_end();
    scope_close(scope);
    return error_status();
}
