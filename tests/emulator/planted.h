// planted.h -- small kernels with a fault, each beside its version without the fault: the emulator
// must find the first and accept the second; and larger correct kernels. Launched from host memory.
#ifndef TESTS_EMULATOR_PLANTED_H
#define TESTS_EMULATOR_PLANTED_H

#include <cstdint>

#include <cuda_runtime.h>

enum { THREADS = 128, WARP = 32 };

// Runs kernel<broken>(in (n), out (n), n) to its end, whatever the result.
typedef void PlantedKernel(bool broken, const float *in, float *out, int n);
#define PLANTED(kernel)                                                                            \
    void planted_##kernel(bool broken, const float *in, float *out, int n) {                       \
        unsigned blocks = unsigned(n + THREADS - 1) / THREADS;                                     \
        if (broken)                                                                                \
            LAUNCH(kernel<true>, blocks, THREADS, 0, nullptr, in, out, n);                         \
        else                                                                                       \
            LAUNCH(kernel<false>, blocks, THREADS, 0, nullptr, in, out, n);                        \
        cudaDeviceSynchronize();                                                                   \
    }

// ---- planted_barrier.cu, planted_warp.cu, planted_memory.cu ------------------------------------
PlantedKernel planted_read_after_write, planted_write_after_read, planted_tile_used_twice,
    planted_barrier_after_exit, planted_barrier_in_branch;
PlantedKernel planted_warp_not_in_step, planted_lane_has_exited, planted_lane_at_barrier,
    planted_lane_not_named, planted_lane_names_others, planted_shuffle_in_branch;
PlantedKernel planted_out_of_bounds, planted_out_of_tile, planted_out_of_array,
    planted_uninitialised, planted_never_written, planted_left_over, planted_order_of_blocks,
    planted_big_tile;
// A kernel that does nothing, in any shape.
void planted_launch(dim3 grid, dim3 block, size_t shared);

// ---- planted_right.cu --------------------------------------------------------------------------
void right_sum(const double *in, double *between, double *out, int n); // between (n / 1024 + 1)
void right_transpose(const uint32_t *in, uint32_t *out, unsigned rows, unsigned columns);
void right_prefix_sum(const int *in, int *out, int n);
void right_elementwise(const float *x, float *y, int n); // y += 2 x
enum { INTRINSICS = 15, ATOMICS = 5 };
void right_intrinsics(int64_t *out);      // out (INTRINSICS, WARP)
void right_atomics(unsigned *out);        // out (ATOMICS), all zero at the start
void right_tickets(int *out, int blocks); // out (3, blocks * THREADS): the order of threads

#endif
