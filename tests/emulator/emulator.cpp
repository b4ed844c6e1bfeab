// emulator.cpp -- runs a launch: checks its shape, then its blocks, one after another; keeps what
// went wrong; and compares schedules.
#include "tests/emulator/emulator.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "tests/emulator/block.h"
#include "tests/emulator/emulator_device.h"
#include "tests/emulator/fake_runtime.h"

static std::mutex one_launch, one_note; // at a time
static std::string chosen_schedule, last_fault, difference;
static int chosen_most_blocks;
static std::map<std::string, unsigned> largest_grids;

// ---- faults ------------------------------------------------------------------------------------
void emulator_fault(cudaError_t error, const char *format, ...) {
    char message[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    {
        std::lock_guard<std::mutex> lock(one_note);
        last_fault = message;
    }
    fprintf(stderr, "emulator: %s\n", message);
    fake_fault(error, "%s", message);
}

const char *emulator_last_fault(void) { return last_fault.c_str(); }
void emulator_clear_fault(void) { last_fault.clear(); }

// ---- launches ----------------------------------------------------------------------------------
static std::string schedule_text() {
    const char *wish = getenv("RIDGEPOINT_EMULATOR_SCHEDULE");
    return !chosen_schedule.empty() ? chosen_schedule : wish ? wish : "forward";
}

bool emulator_set_schedule(const char *schedule) {
    Schedule parsed;
    if (schedule && !schedule_parse(schedule, &parsed)) return false;
    chosen_schedule = schedule ? schedule : "";
    return true;
}

void emulator_set_most_blocks(int blocks) { chosen_most_blocks = blocks; }
int emulator_most_blocks(void) { return chosen_most_blocks ? chosen_most_blocks : 1 << 20; }

static void note_launch(const EmulatorLaunch &launch) {
    std::lock_guard<std::mutex> lock(one_note);
    unsigned &largest = largest_grids[launch.kernel];
    largest = std::max(largest, launch.grid.x * launch.grid.y * launch.grid.z);
}

int emulator_kernels(EmulatorKernel *kernels, int most) {
    std::lock_guard<std::mutex> lock(one_note);
    int count = 0;
    for (const auto &[name, blocks] : largest_grids) {
        if (count < most) kernels[count] = {name.c_str(), blocks};
        count++;
    }
    return count;
}

void emulator_forget_kernels(void) {
    std::lock_guard<std::mutex> lock(one_note);
    largest_grids.clear();
}

// The limits of every GPU that CUDA 13 knows. 48 kB is what a kernel gets without asking for more.
static const size_t MOST_SHARED = 48 * 1024;

static const char *what_is_wrong(const EmulatorLaunch &launch) {
    const dim3 grid = launch.grid, block = launch.block;
    if (!grid.x || !grid.y || !grid.z) return "a grid of no blocks";
    if (!block.x || !block.y || !block.z) return "a block of no threads";
    if (grid.x > 0x7fffffffu || grid.y > 0xffffu || grid.z > 0xffffu) return "too large a grid";
    if (block.x > 1024 || block.y > 1024 || block.z > 64 ||
        uint64_t(block.x) * block.y * block.z > MOST_THREADS)
        return "too large a block";
    if (launch.shared > MOST_SHARED) return "too much shared memory";
    return nullptr;
}

bool emulator_accepts(const EmulatorLaunch &launch) {
    const dim3 grid = launch.grid, block = launch.block;
    Schedule parsed;
    if (const char *wrong = what_is_wrong(launch)) {
        emulator_fault(cudaErrorInvalidConfiguration,
                       "bad launch shape: %s: %s: grid (%u, %u, %u), block (%u, %u, %u), "
                       "%zu bytes of dynamic shared memory",
                       launch.kernel, wrong, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                       launch.shared);
        return false;
    }
    if (!schedule_parse(schedule_text().c_str(), &parsed)) {
        emulator_fault(cudaErrorInvalidValue, "RIDGEPOINT_EMULATOR_SCHEDULE=%s is no schedule",
                       schedule_text().c_str());
        return false;
    }
    if (launch.probe < emulator_shared_begin || launch.probe >= emulator_shared_end) {
        emulator_fault(cudaErrorInvalidDeviceFunction,
                       "%s: its file was not compiled with -fdata-sections", launch.kernel);
        return false;
    }
    note_launch(launch);
    return true;
}

// The linker lays file after file, so that a file's variables lie between the probes of the files
// before and after it.
static std::set<uintptr_t> &probes() {
    static std::set<uintptr_t> all;
    return all;
}
bool emulator_know_probe(const void *probe) { return probes().insert(uintptr_t(probe)).second; }

static SharedLines lines_of(const void *probe) {
    auto own = probes().find(uintptr_t(probe)), after = std::next(own);
    SharedLines lines = {emulator_shared_begin, emulator_shared_end};
    if (own != probes().begin())
        lines.begin = reinterpret_cast<uint64_t *>(*std::prev(own) / 64 * 64);
    if (after != probes().end())
        lines.end = reinterpret_cast<uint64_t *>((*after + 63) / 64 * 64);
    return lines;
}

// How much shared memory a kernel declares cannot be asked for; what it wrote can be seen: nothing
// else of all files' has been written since it was poisoned.
__attribute__((no_sanitize_address)) static bool shared_fits(const EmulatorLaunch &launch,
                                                             SharedLines lines) {
    size_t written = 0, elsewhere = 0;
    for (uint64_t *word = emulator_shared_begin; word < emulator_shared_end; word++)
        for (uint64_t changed = ~*word; changed; changed >>= 8) {
            written += (changed & 0xff) != 0;
            elsewhere += word < lines.begin || word >= lines.end;
        }
    if (written + launch.shared <= MOST_SHARED && !elsewhere) return true;
    emulator_fault(cudaErrorInvalidConfiguration,
                   elsewhere ? "shared memory of another file: %s: a block wrote %zu bytes; %zu "
                               "are allowed"
                             : "too much shared memory: %s: a block wrote %zu bytes of it; %zu "
                               "are allowed",
                   launch.kernel, written, MOST_SHARED);
    return false;
}

static void run_blocks(const EmulatorLaunch &launch, SharedLines lines) {
    Schedule schedule;
    schedule_parse(schedule_text().c_str(), &schedule);
    const dim3 grid = launch.grid;
    const uint64_t count = uint64_t(grid.x) * grid.y * grid.z;
    BlockOrder blocks = schedule_blocks(&schedule, count);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t block = schedule_next_block(&blocks);
        blockIdx = {unsigned(block % grid.x), unsigned(block / grid.x % grid.y),
                    unsigned(block / grid.x / grid.y)};
        if (!block_run(&schedule)) return;
        if (i == 0 && !shared_fits(launch, lines)) return;
    }
}

void emulator_run(const EmulatorLaunch &launch, const std::function<void()> &thread) {
    std::lock_guard<std::mutex> lock(one_launch);
    static bool all_poisoned;
    if (!all_poisoned) block_poison({emulator_shared_begin, emulator_shared_end});
    all_poisoned = true;
    SharedLines lines = lines_of(launch.probe);
    block_prepare(launch, thread, lines);
    run_blocks(launch, lines);
    block_poison(lines);
}

// ---- comparing schedules -----------------------------------------------------------------------
static std::string word_text(const unsigned char *bytes, size_t size, size_t word) {
    uint32_t bits = 0;
    float value;
    memcpy(&bits, bytes + word * 4, size - word * 4 < 4 ? size - word * 4 : 4);
    memcpy(&value, &bits, sizeof value);
    char text[64];
    snprintf(text, sizeof text, "0x%08x (%g)", bits, double(value));
    return text;
}

const char *emulator_check_schedules(void (*run)(void *argument), void *argument, void *out,
                                     size_t bytes) {
    static const char *const schedules[] = {"forward", "reverse", "random:1", "random:2",
                                            "random:3"};
    unsigned char *now = static_cast<unsigned char *>(out);
    const std::vector<unsigned char> before(now, now + bytes);
    std::vector<unsigned char> first;
    const std::string previous = chosen_schedule;
    difference.clear();
    last_fault.clear();
    for (const char *schedule : schedules) {
        if (bytes) memcpy(now, before.data(), bytes);
        chosen_schedule = schedule;
        run(argument);
        if (!last_fault.empty()) difference = last_fault + " [" + schedule + "]";
        if (first.empty()) first.assign(now, now + bytes);
        size_t byte = 0;
        while (byte < bytes && first[byte] == now[byte]) byte++;
        if (byte < bytes && difference.empty())
            difference = "word " + std::to_string(byte / 4) + " is " +
                         word_text(first.data(), bytes, byte / 4) + " under " + schedules[0] +
                         " and " + word_text(now, bytes, byte / 4) + " under " + schedule;
        if (!difference.empty()) break;
    }
    chosen_schedule = previous;
    return difference.empty() ? nullptr : difference.c_str();
}
