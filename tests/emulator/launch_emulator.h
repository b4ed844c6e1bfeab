// launch_emulator.h -- LAUNCH for g++ and the emulator, and the largest grid; cuda/launch_nvcc.h is
// nvcc's. Included before anything else in a .cu file (-include), which then is ordinary C++.
#ifndef TESTS_EMULATOR_LAUNCH_EMULATOR_H
#define TESTS_EMULATOR_LAUNCH_EMULATOR_H

#include <tuple>

#include "tests/emulator/emulator.h"
#include "tests/emulator/emulator_device.h"
#include "tests/emulator/fake_runtime.h"

static inline const void *emulator_probe() {
    __shared__ char probe;
    return &probe;
}
static const bool emulator_probe_is_known = emulator_know_probe(emulator_probe());

template <class T> struct EmulatorAs { typedef T type; };

// Works like <<<>>>: the arguments become the kernel's parameters and are copied now; the kernel
// runs when its stream gets there.
template <class... Parameters>
static inline void emulator_launch(const char *name, void (*kernel)(Parameters...), dim3 grid,
                                   dim3 block, size_t shared, cudaStream_t stream,
                                   typename EmulatorAs<Parameters>::type... arguments) {
    EmulatorLaunch launch = {name, grid, block, shared, emulator_probe()};
    if (!emulator_accepts(launch)) return;
    auto copies = std::make_tuple(arguments...);
    fake_enqueue(
        stream, [=] { emulator_run(launch, [&] { std::apply(kernel, copies); }); }, name);
}

#define CUDA_MOST_BLOCKS emulator_most_blocks()
// Small, so that even the tests' small images are cut, as only huge ones are on a GPU.
enum { CONV_TILE_FLOATS = 6000 };

#define LAUNCH(kernel, grid, block, shared, stream, ...)                                           \
    emulator_launch(#kernel, kernel, grid, block, shared, stream, __VA_ARGS__)

#endif
