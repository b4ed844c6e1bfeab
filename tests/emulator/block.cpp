// block.cpp -- runs a block: one thread at a time, each until it waits for others or ends. When no
// thread can go on, either all have come to the same barrier, or the kernel is wrong.
#include "tests/emulator/block.h"

#include <string>
#include <vector>

#include "tests/emulator/emulator_device.h"
#include "tests/emulator/fiber.h"

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

enum class State { ready, at_meeting, at_barrier, exited };

struct Thread {
    uint3 index;
    State state;
    EmulatorMeeting at; // what it waits at, a barrier too
    uint64_t result;    // of the meeting
    Fiber *fiber;       // NULL before it starts
};

struct Abandoned {}; // thrown in a thread that waits when the block has failed: unwinds its stack

static const char *kernel;
static const std::function<void()> *body;
static SharedLines shared_lines;
static Thread threads[MOST_THREADS];
static unsigned size, unfinished; // threads of the block
static ReadyThreads ready;
static uint32_t meeting[MOST_WARPS]; // lanes that wait for lanes
static Thread *running;
static bool failed;

// Fibers that run no thread wait in main() for the next. A fiber whose thread has ended goes on with
// the next thread that has not started, so one serves all threads of a kernel that never waits.
static Schedule *schedule;
static Fiber scheduler;
static Thread *next; // picked by a fiber that cannot run it: it waits on another one
static std::vector<Fiber *> idle;

static unsigned number_of(const Thread *thread) { return unsigned(thread - threads); }
int emulator_lane() { return int(number_of(running) % WARP_SIZE); }

static void set_ready(Thread *thread) {
    thread->state = State::ready;
    ready.lanes[number_of(thread) / WARP_SIZE] |= 1u << (number_of(thread) % WARP_SIZE);
    ready.warps |= 1u << (number_of(thread) / WARP_SIZE);
    ready.count++;
}

static void set_all_ready() {
    for (unsigned i = 0; i < size; i++) threads[i].state = State::ready;
    for (unsigned warp = 0; warp < size / WARP_SIZE; warp++) ready.lanes[warp] = ~0u;
    if (size % WARP_SIZE) ready.lanes[size / WARP_SIZE] = (1u << size % WARP_SIZE) - 1;
    ready.warps = ~0u >> (MOST_WARPS - (size + WARP_SIZE - 1) / WARP_SIZE);
    ready.count = size;
}

static Thread *take_ready() {
    unsigned number = schedule_pick(schedule, ready);
    uint32_t *lanes = &ready.lanes[number / WARP_SIZE];
    *lanes &= ~(1u << (number % WARP_SIZE));
    if (!*lanes) ready.warps &= ~(1u << (number / WARP_SIZE));
    ready.count--;
    return &threads[number];
}

static void run_on(Fiber *fiber, Thread *thread) {
    thread->fiber = fiber;
    running = thread;
    threadIdx = thread->index;
}

// ---- messages ----------------------------------------------------------------------------------
static std::string index_text(uint3 index) {
    return "(" + std::to_string(index.x) + ", " + std::to_string(index.y) + ", " +
           std::to_string(index.z) + ")";
}

// "transpose, block (3, 0, 0), thread (17, 0, 0)"
static std::string thread_text(const Thread &thread) {
    return std::string(kernel) + ", block " + index_text(blockIdx) + ", thread " +
           index_text(thread.index);
}

// "__shfl_sync of lanes 0x0000ffff (softmax.cu:31)"
static std::string place_text(const EmulatorMeeting &at) {
    char lanes[32] = "";
    if (at.lanes) snprintf(lanes, sizeof lanes, " of lanes 0x%08x", at.lanes);
    return at.name + std::string(lanes) + " (" + at.file + ":" + std::to_string(at.line) + ")";
}

static std::string doing_text(unsigned number) {
    const Thread &thread = threads[number];
    if (number >= size) return "lane " + std::to_string(number % WARP_SIZE) + " does not exist";
    std::string who = "thread " + index_text(thread.index);
    if (thread.state == State::exited) return who + " has exited";
    return who + " waits at " + place_text(thread.at);
}

static void block_fault(const std::string &message) {
    failed = true;
    emulator_fault(cudaErrorLaunchFailure, "%s", message.c_str());
}

// ---- waiting: called on the stack of the running thread ----------------------------------------
static void wait_as(State state, const EmulatorMeeting &at) {
    running->state = state;
    running->at = at;
    fiber_switch(running->fiber, &scheduler);
    if (failed) throw Abandoned();
}

[[noreturn]] static void fail_here(const std::string &message) {
    block_fault(message);
    throw Abandoned();
}

void emulator_barrier(const char *file, int line) {
    wait_as(State::at_barrier, {"__syncthreads", file, line, 0, 0, ALL_VOTES});
}

// The source of a call, not its address: the compiler may have made several copies of it.
static bool same_place(const EmulatorMeeting &a, const EmulatorMeeting &b) {
    return a.line == b.line && a.lanes == b.lanes && strcmp(a.file, b.file) == 0 &&
           strcmp(a.name, b.name) == 0;
}

static bool takes_part(unsigned number, const EmulatorMeeting &at) {
    return number < size && threads[number].state == State::at_meeting &&
           same_place(threads[number].at, at);
}

// Once all lanes that `at` names have come, each gets its result and can go on.
static void try_to_meet(unsigned warp, const EmulatorMeeting &at) {
    if ((at.lanes & ~meeting[warp]) != 0) return;
    Thread *first = threads + warp * WARP_SIZE;
    uint64_t votes = 0;
    for (unsigned lane = 0; lane < WARP_SIZE; lane++) {
        if (!(at.lanes >> lane & 1)) continue;
        if (!takes_part(warp * WARP_SIZE + lane, at)) return;
        votes |= uint64_t(first[lane].at.value != 0) << lane;
    }
    for (unsigned lane = 0; lane < WARP_SIZE; lane++) {
        if (!(at.lanes >> lane & 1)) continue;
        int source = first[lane].at.source;
        first[lane].result = source == ALL_VOTES ? votes : first[source].at.value;
        set_ready(&first[lane]);
    }
    meeting[warp] &= ~at.lanes;
}

uint64_t emulator_meet(const EmulatorMeeting &at) {
    unsigned warp = number_of(running) / WARP_SIZE, lane = number_of(running) % WARP_SIZE;
    if (!(at.lanes >> lane & 1))
        fail_here("missing lane: " + thread_text(*running) + " is itself not named by " +
                  place_text(at));
    if (at.source != ALL_VOTES && !(at.lanes >> at.source & 1))
        fail_here("missing lane: " + thread_text(*running) + " takes a value from lane " +
                  std::to_string(at.source) + ", not named by " + place_text(at));
    running->state = State::at_meeting;
    running->at = at;
    meeting[warp] |= 1u << lane;
    Thread *self = running;
    try_to_meet(warp, at);
    wait_as(self->state, at);
    return self->result;
}

// ---- running -----------------------------------------------------------------------------------
static void fiber_main() {
    for (;;) {
        try {
            (*body)();
        } catch (const Abandoned &) {
        }
        Fiber *self = running->fiber;
        running->state = State::exited;
        unfinished--;
        Thread *other = ready.count && !failed ? take_ready() : nullptr;
        if (other && !other->fiber) {
            run_on(self, other);
            continue;
        }
        next = other;
        idle.push_back(self);
        fiber_switch(self, &scheduler);
    }
}

static void resume(Thread *thread) {
    if (!thread->fiber) {
        if (idle.empty()) idle.push_back(fiber_new(fiber_main));
        thread->fiber = idle.back();
        idle.pop_back();
    }
    if (!thread->fiber) {
        thread->state = State::exited;
        unfinished--;
        return block_fault(std::string(kernel) + ": no memory for the stacks of its threads");
    }
    next = nullptr;
    run_on(thread->fiber, thread);
    fiber_switch(&scheduler, thread->fiber);
}

static void explain_meeting(const Thread &waiting) {
    unsigned number = number_of(&waiting) / WARP_SIZE * WARP_SIZE;
    for (unsigned lanes = waiting.at.lanes; lanes; lanes >>= 1, number++) {
        if (!(lanes & 1) || takes_part(number, waiting.at)) continue;
        return block_fault("missing lane: " + thread_text(waiting) + " waits at " +
                           place_text(waiting.at) + ", but " + doing_text(number));
    }
}

// No thread can go on. If all are at one barrier they pass it; else the kernel has failed.
static void pass_barrier() {
    for (unsigned i = 0; i < size; i++)
        if (threads[i].state == State::at_meeting) return explain_meeting(threads[i]);
    const Thread *first = threads;
    while (first->state == State::exited) first++;
    for (unsigned i = 0; i < size; i++)
        if (threads[i].state == State::exited || !same_place(threads[i].at, first->at))
            return block_fault("divergent barrier: " + thread_text(*first) + " waits at " +
                               place_text(first->at) + ", but " + doing_text(i));
    set_all_ready();
}

// NaN as a float, -1 as an integer. Not memset: AddressSanitizer would see what lies between the
// variables written, too; and the compiler would make one of the plain loop.
__attribute__((no_sanitize_address)) void block_poison(SharedLines lines) {
    typedef uint64_t Part __attribute__((vector_size(16), may_alias)); // there are 4 in a line
    Part *end = reinterpret_cast<Part *>(lines.end);
    for (Part *part = reinterpret_cast<Part *>(lines.begin); part < end; part += 4) {
        part[0] = part[1] = part[2] = part[3] = ~Part();
        asm volatile("" ::: "memory");
    }
}

void block_prepare(const EmulatorLaunch &launch, const std::function<void()> &thread,
                   SharedLines lines) {
    kernel = launch.kernel;
    body = &thread;
    shared_lines = lines;
    blockDim = launch.block;
    gridDim = launch.grid;
    size = blockDim.x * blockDim.y * blockDim.z;
    for (unsigned i = 0; i < size; i++)
        threads[i].index = {i % blockDim.x, i / blockDim.x % blockDim.y,
                            i / (blockDim.x * blockDim.y)};
}

bool block_run(Schedule *order) {
    schedule = order;
    block_poison(shared_lines);
    ready = ReadyThreads();
    failed = false;
    unfinished = size;
    next = nullptr;
    for (unsigned i = 0; i < size; i++) threads[i].fiber = nullptr;
    set_all_ready();
    while (unfinished && !failed) {
        if (!next && !ready.count) pass_barrier();
        if (failed) break;
        resume(next ? next : take_ready());
    }
    for (unsigned i = 0; i < size && unfinished; i++) // after a fault: unwinds those that started
        if (threads[i].fiber && threads[i].state != State::exited) resume(&threads[i]);
    for (uint32_t &lanes : meeting) lanes = 0;
    return !failed;
}
