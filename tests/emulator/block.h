// block.h -- internal to the emulator: one block of threads, and the faults of its threads.
#ifndef TESTS_EMULATOR_BLOCK_H
#define TESTS_EMULATOR_BLOCK_H

#include "tests/emulator/emulator.h"
#include "tests/emulator/schedule.h"

#include <driver_types.h>

// The section in which shared.ld places the __shared__ variables of all kernels.
extern "C" __attribute__((visibility("hidden"))) uint64_t emulator_shared_begin[],
    emulator_shared_end[];

struct SharedLines { // a range of them, in lines of 64 bytes
    uint64_t *begin, *end;
};
// Fills the lines with the mark of unwritten memory: NaN as a float, -1 as an integer.
void block_poison(SharedLines lines);

// Call before a launch's first block; the variables of its file lie in these lines.
void block_prepare(const EmulatorLaunch &launch, const std::function<void()> &thread,
                   SharedLines lines);
// Runs all threads of block blockIdx to their end; false if one made a fault.
bool block_run(Schedule *schedule);

// Keeps and prints a message and passes it to the fake runtime with the error.
void emulator_fault(cudaError_t error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
