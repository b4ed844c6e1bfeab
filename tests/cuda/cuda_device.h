// cuda_device.h -- the cuda device for tests: the emulated one of this build, or a real GPU's,
// which RIDGEPOINT_CUDA_PLUGIN names (make test-cuda).
#ifndef TESTS_CUDA_CUDA_DEVICE_H
#define TESTS_CUDA_CUDA_DEVICE_H

#include "tensor/plugin.h"

// Opens the device and makes it the context's. Skips the test if the emulated plug-in was not built
// or the machine has no GPU; fails it if the emulated plug-in does not open.
Device *cuda_device_use(void);

// A function of the fake runtime, never NULL; sets the emulated plug-in as the one to open, without
// opening it. Skips the test without that plug-in, or if a real GPU is under test, because such
// functions set only the fake's behaviour:
//     int (*leaks)(FILE *) = cuda_device_fake("fake_leaks");
void *cuda_device_fake(const char *function);
// Declares such a function: FAKE(int, fake_leaks, FILE *);
#define FAKE(result, name, ...) result (*name)(__VA_ARGS__) = cuda_device_fake(#name)
// FakeOrder of fake_runtime.h, which cannot be included on every machine.
enum { FAKE_LATE, FAKE_REVERSED, FAKE_EAGER };

// Reads numel elements of any dtype and layout into `values`, in row-major order, as floats.
Status cuda_device_read(Tensor *t, float *values);

#endif
