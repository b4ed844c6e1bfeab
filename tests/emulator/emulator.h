// emulator.h -- runs CUDA kernels that g++ compiled, on the CPU: block by block, every thread of a
// block on a stack of its own, in an order that a test chooses. Memory and streams are the fake
// runtime's. What a kernel may write is in emulator_device.h, LAUNCH in launch_emulator.h.
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
// A correct kernel leaves the same bits in memory under each. It stands for all later launches;
// NULL: $RIDGEPOINT_EMULATOR_SCHEDULE again, which is "forward" where it is not set. False, and no
// change, for any other text.
bool emulator_set_schedule(const char *schedule);

// Calls run(argument) under each of several schedules, every time with the same bytes in `out` to
// begin with, and compares what it left there: NULL when that never differs, else a text that says
// what does, or the kernel's fault. It is there until the next call. `run` waits for its kernels.
const char *emulator_check_schedules(void (*run)(void *argument), void *argument, void *out,
                                     size_t bytes);

// ---- how many blocks there are ------------------------------------------------------------------
// The most that kernels which loop over the rest are launched with. 0: as many as on a GPU, which
// is so many that loops never come to their second round; with 1 all do that have work for two
// blocks.
void emulator_set_most_blocks(int blocks);
int emulator_most_blocks(void);

typedef struct EmulatorKernel {
    const char *name; // as LAUNCH has it: "dense<Formula>"
    unsigned blocks;  // of its largest grid so far
} EmulatorKernel;
// Writes the first `most` kernels that were ever launched, in no order; returns how many there are.
int emulator_kernels(EmulatorKernel *kernels, int most);
void emulator_forget_kernels(void);

// ---- what kernels did wrong --------------------------------------------------------------------
// Of the latest kernel that failed: "divergent barrier: transpose, block (3, 0, 0), thread ...". ""
// before that. It was printed to stderr, too, and is the fake runtime's error (719 or 9).
const char *emulator_last_fault(void);
void emulator_clear_fault(void);

#ifdef __cplusplus
}

#include <functional>
#include <vector_types.h>

struct EmulatorLaunch {
    const char *kernel; // its name
    dim3 grid, block;
    size_t shared;     // bytes of dynamic shared memory
    const void *probe; // a __shared__ variable of the file that launches: is it where it must be?
};

// Each file that launches kernels calls this as it is loaded.
bool emulator_know_probe(const void *probe);
// Whether the device would take it; false with the fake runtime's error set.
bool emulator_accepts(const EmulatorLaunch &launch);
// Runs `thread` once for every thread of every block. One launch runs at a time, in any host
// thread. A fault ends it.
void emulator_run(const EmulatorLaunch &launch, const std::function<void()> &thread);
#endif

#endif
