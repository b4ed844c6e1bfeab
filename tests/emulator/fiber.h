// fiber.h -- a function on its own stack, which can stop in the middle and continue later, as a
// block's thread does at a barrier. Fibers are no threads: one runs at a time, until it switches.
#ifndef TESTS_EMULATOR_FIBER_H
#define TESTS_EMULATOR_FIBER_H

#include <cstddef>

struct Fiber {          // all zero: the program's original stack
    void *registers[5]; // its stopping point: __builtin_setjmp's five words
    void *asan_frames;  // AddressSanitizer's data for a stack that is not running
    const void *stack;  // lowest address
    size_t bytes;       // of the stack
    void (*main)();     // never returns
    bool started;
};

// A fiber that will run main() from its beginning. NULL without memory. Never freed, but reused.
Fiber *fiber_new(void (*main)());

// Stops the running `from` and continues `to`; returns when another fiber switches back to `from`.
void fiber_switch(Fiber *from, Fiber *to);

#endif
