// fiber.cpp -- switching stacks: makecontext enters one, the compiler's setjmp and longjmp leave
// and re-enter it, which takes nanoseconds where swapcontext makes a system call.
#include "tests/emulator/fiber.h"

#include <new>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

// AddressSanitizer must know which stack runs. These are NULL without it.
extern "C" {
__attribute__((weak)) void __sanitizer_start_switch_fiber(void **frames, const void *stack,
                                                          size_t bytes);
__attribute__((weak)) void __sanitizer_finish_switch_fiber(void *frames, const void **stack,
                                                           size_t *bytes);
}

static Fiber *left, *entered; // by the switch that happens now

static void arrived() {
    // The other stack's place is noted each time: the program's own differs between its threads.
    if (__sanitizer_finish_switch_fiber)
        __sanitizer_finish_switch_fiber(entered->asan_frames, &left->stack, &left->bytes);
}

static void enter() {
    arrived();
    entered->main();
}

// It never returns, so its frame would stay poisoned under ASan.
[[noreturn]] __attribute__((noinline, no_sanitize_address)) static void begin(Fiber *fiber) {
    ucontext_t context;
    getcontext(&context);
    context.uc_stack.ss_sp = const_cast<void *>(fiber->stack);
    context.uc_stack.ss_size = fiber->bytes;
    context.uc_link = nullptr;
    makecontext(&context, enter, 0);
    setcontext(&context);
    __builtin_unreachable();
}

// A function of its own: __builtin_setjmp and __builtin_longjmp must not share one.
[[noreturn]] __attribute__((noinline, no_sanitize_address)) static void resume(Fiber *fiber) {
    __builtin_longjmp(fiber->registers, 1);
}

// Not instrumented: AddressSanitizer would forget what it knows of the frames that wait.
__attribute__((noinline, no_sanitize_address)) void fiber_switch(Fiber *from, Fiber *to) {
    left = from;
    entered = to;
    from->started = true;
    if (__sanitizer_start_switch_fiber)
        __sanitizer_start_switch_fiber(&from->asan_frames, to->stack, to->bytes);
    if (__builtin_setjmp(from->registers) == 0) {
        if (to->started) resume(to);
        to->started = true;
        begin(to);
    }
    arrived();
}

Fiber *fiber_new(void (*main)()) {
    static size_t fibers;
    const size_t page = size_t(sysconf(_SC_PAGESIZE)), bytes = 256 * 1024;
    // Pages become memory when they are touched; the lowest never is, so an overflow is a SIGSEGV.
    void *memory = mmap(nullptr, page + bytes, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    char *stack = static_cast<char *>(memory) + page;
    if (mprotect(stack, bytes, PROT_READ | PROT_WRITE) != 0) {
        munmap(memory, page + bytes);
        return nullptr;
    }
    Fiber *fiber = new (stack + bytes - sizeof(Fiber)) Fiber();
    static_assert(sizeof(Fiber) <= 1024, "it lies above its stack");
    fiber->stack = stack;
    // Tops at different places in their pages: else all frames compete for a few lines of the
    // cache.
    fiber->bytes = bytes - 1024 - fibers++ % 16 * 256;
    fiber->main = main;
    return fiber;
}
