// cuda_device.h -- the cuda device for tests: the emulated one of this build, or the one that
// RIDGEPOINT_CUDA_PLUGIN names, a real GPU's (make test-cuda).
#ifndef TESTS_CUDA_CUDA_DEVICE_H
#define TESTS_CUDA_CUDA_DEVICE_H

#include "tensor/plugin.h"

// Opens it and makes it the context's. Skips the test where the emulated plug-in was not built or
// the machine has no GPU; fails it where the emulated plug-in does not open.
Device *cuda_device_use(void);

// Without opening: the emulated plug-in is set as the one to open. Skips the test where there is
// none, and where a real GPU is to be tested, because its behaviour is set through functions of the
// fake runtime, as here. NULL is no answer.
//     int (*leaks)(FILE *) = cuda_device_fake("fake_leaks");
void *cuda_device_fake(const char *function);
// The same as a declaration: FAKE(int, fake_leaks, FILE *);
#define FAKE(result, name, ...) result (*name)(__VA_ARGS__) = cuda_device_fake(#name)
// FakeOrder of fake_runtime.h, whose own includes are not on every machine.
enum { FAKE_LATE, FAKE_REVERSED, FAKE_EAGER };

// All elements in row-major order, of any dtype and layout, as floats; numel of them into `values`.
Status cuda_device_read(Tensor *t, float *values);

#endif
