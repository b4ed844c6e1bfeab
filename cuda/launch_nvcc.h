// launch_nvcc.h -- LAUNCH for nvcc, and the largest grid. The emulator of the tests has its own.
#ifndef CUDA_LAUNCH_NVCC_H
#define CUDA_LAUNCH_NVCC_H

#define LAUNCH(kernel, grid, block, shared, stream, ...)                                           \
    kernel<<<(grid), (block), (shared), (stream)>>>(__VA_ARGS__)

enum { CUDA_MOST_BLOCKS = 1 << 20 };
// Number of floats of unfolded images that a convolution holds at once: 64 MiB.
enum { CONV_TILE_FLOATS = 16 << 20 };

#endif
