// fiber.h -- a function on a stack of its own, which can stop in the middle and go on later: what a
// thread of a block needs to wait at a barrier. Not threads: one runs at a time, until it switches.
#ifndef TESTS_EMULATOR_FIBER_H
#define TESTS_EMULATOR_FIBER_H

#include <cstddef>

struct Fiber {          // all zero: the stack that the program came with
    void *registers[5]; // where it stopped: __builtin_setjmp's five words
    void *asan_frames;  // what AddressSanitizer keeps for a stack that does not run
    const void *stack;  // lowest address
    size_t bytes;       // of the stack
    void (*main)();     // never returns
    bool started;
};

// One that will run main() from its beginning. NULL without memory. Never freed: use it again.
Fiber *fiber_new(void (*main)());

// Stops `from`, which runs, and goes on in `to`; returns when someone switches back to `from`.
void fiber_switch(Fiber *from, Fiber *to);

#endif
