// emulator.h -- runs CUDA kernels that g++ compiled, on the CPU: block by block, every thread of a
// block on a stack of its own, in an order that a test chooses. The fake runtime provides memory
// and streams, emulator_device.h the functions for kernels, launch_emulator.h LAUNCH.
#ifndef TESTS_EMULATOR_EMULATOR_H
#define TESTS_EMULATOR_EMULATOR_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- the order in which threads run ------------------------------------------------------------
// "forward"      block 0 first; the lowest warp that can run goes as far as it can, lane by lane
// "reverse"      the last block first, and the highest warp and lane
// "random:SEED"  any block, and after every barrier or shuffle any thread
// A correct kernel leaves the same bits in memory under each. A schedule holds for later launches;
// NULL selects $RIDGEPOINT_EMULATOR_SCHEDULE again, or "forward" if that is not set. False, without
// a change, for any other text.
bool emulator_set_schedule(const char *schedule);

// Calls run(argument) under each of several schedules, with the same initial bytes in `out`, and
// compares the resulting bytes: NULL when they never differ, else a text with the difference or the
// kernel's fault, valid until the next call. `run` waits for its kernels.
const char *emulator_check_schedules(void (*run)(void *argument), void *argument, void *out,
                                     size_t bytes);

// ---- the number of blocks -----------------------------------------------------------------------
// The largest number of blocks for kernels that loop over the rest. 0: as many as on a GPU, which
// is so many that loops never reach a second round; with 1 all loops with work for two blocks do.
void emulator_set_most_blocks(int blocks);
int emulator_most_blocks(void);

typedef struct EmulatorKernel {
    const char *name; // as in LAUNCH: "dense<Formula>"
    unsigned blocks;  // blocks of its largest grid so far
} EmulatorKernel;
// Writes the first `most` kernels ever launched, in no order; returns the number of all.
int emulator_kernels(EmulatorKernel *kernels, int most);
void emulator_forget_kernels(void);

// ---- faults of kernels -------------------------------------------------------------------------
// The latest failed kernel's fault: "divergent barrier: transpose, block (3, 0, 0), thread ..."; ""
// if none. It was also printed to stderr and is the fake runtime's error (719 or 9).
const char *emulator_last_fault(void);
void emulator_clear_fault(void);

#ifdef __cplusplus
}

#include <functional>
#include <vector_types.h>

struct EmulatorLaunch {
    const char *kernel; // the kernel's name
    dim3 grid, block;
    size_t shared;     // bytes of dynamic shared memory
    const void *probe; // a __shared__ variable of the launching file, to check that it is in place
};

// Each file that launches kernels calls this as it is loaded.
bool emulator_know_probe(const void *probe);
// True if the device would accept the launch; else the fake runtime's error is set.
bool emulator_accepts(const EmulatorLaunch &launch);
// Runs `thread` once for every thread of every block. One launch runs at a time, in any host
// thread. A fault ends the launch.
void emulator_run(const EmulatorLaunch &launch, const std::function<void()> &thread);
#endif

#endif
