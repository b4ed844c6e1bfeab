// test_emulator.cpp -- the emulator of CUDA kernels finds each fault that is planted in a kernel,
// and lets the same kernel without the fault pass. What correct kernels compute:
// test_emulator_kernels.cpp.
#include <algorithm>
#include <string>

#include "tests/emulator/emulator.h"
#include "tests/emulator/fake_test.h"
#include "tests/emulator/planted.h"

// Absent without AddressSanitizer.
extern "C" __attribute__((weak)) void __asan_init();

// What each test starts from.
static void start() {
    fake_reset();
    emulator_clear_fault();
    emulator_set_schedule(nullptr);
}

struct Run { // of a planted kernel
    PlantedKernel *kernel;
    bool broken;
    std::vector<float> in, out;
    Run(PlantedKernel *kernel, bool broken, int n) : kernel(kernel), broken(broken), in(n), out(n) {
        for (int i = 0; i < n; i++) in[i] = float(i % 61) * 0.25f;
    }
    void once() { kernel(broken, in.data(), out.data(), int(out.size())); }
    const char *under_all_schedules() {
        return emulator_check_schedules([](void *run) { static_cast<Run *>(run)->once(); }, this,
                                        out.data(), out.size() * sizeof(float));
    }
};

// ---- faults ------------------------------------------------------------------------------------
static const struct {
    const char *name;
    PlantedKernel *kernel;
    const char *mention; // in what the emulator says
    cudaError_t error;   // success: nothing is wrong in itself, but the schedules disagree
} planted[] = {
#define DISAGREES(name) #name, planted_##name, " under forward and ", cudaSuccess
#define FAILS(name) #name, planted_##name
    {DISAGREES(read_after_write)},
    {DISAGREES(write_after_read)},
    {DISAGREES(tile_used_twice)},
    {DISAGREES(warp_not_in_step)},
    {DISAGREES(order_of_blocks)},
    {FAILS(barrier_after_exit),
     "divergent barrier: barrier_after_exit<true>, block (0, 0, 0), thread (0, 0, 0) waits at "
     "__syncthreads (tests/emulator/planted_barrier.cu:",
     cudaErrorLaunchFailure},
    {FAILS(barrier_in_branch), "divergent barrier: barrier_in_branch<true>, block (0, 0, 0)",
     cudaErrorLaunchFailure},
    {FAILS(lane_has_exited), "but thread (125, 0, 0) has exited", cudaErrorLaunchFailure},
    {FAILS(lane_at_barrier), "but thread (0, 0, 0) waits at __syncthreads", cudaErrorLaunchFailure},
    {FAILS(lane_not_named), "takes a value from lane 31, not named by __shfl_sync",
     cudaErrorLaunchFailure},
    {FAILS(lane_names_others), "is itself not named by __any_sync of lanes 0x0000ffff",
     cudaErrorLaunchFailure},
    {FAILS(shuffle_in_branch), "missing lane: shuffle_in_branch<true>", cudaErrorLaunchFailure},
    {FAILS(big_tile), "too much shared memory: big_tile<48 * 256 + 1>",
     cudaErrorInvalidConfiguration},
};
enum { FAULTS = sizeof planted / sizeof planted[0] };

START_TEST(a_planted_fault_is_found) {
    start();
    Run run(planted[_i].kernel, true, 3 * THREADS);
    const char *found = run.under_all_schedules();
    ck_assert_msg(found != nullptr, "%s: nothing was found", planted[_i].name);
    ck_assert_msg(strstr(found, planted[_i].mention) != nullptr, "%s", found);
    const char *fault = emulator_last_fault();
    ck_assert_int_eq(fault[0] == '\0', planted[_i].error == cudaSuccess);
    ck_assert_int_eq(strncmp(fault, found, strlen(fault)), 0);
    ck_error(cudaGetLastError(), planted[_i].error);
}
END_TEST

START_TEST(without_its_fault_a_kernel_passes) {
    start();
    Run run(planted[_i].kernel, false, 3 * THREADS);
    const char *found = run.under_all_schedules();
    ck_assert_msg(found == nullptr, "%s: %s", planted[_i].name, found);
    ck_assert_str_eq(emulator_last_fault(), "");
    ck_good(cudaGetLastError());
    for (float value : run.out) ck_assert(!isnan(value));
}
END_TEST

static long mapped_pages() {
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    ck_assert(file && fscanf(file, "%ld", &pages) == 1);
    fclose(file);
    return pages;
}

START_TEST(a_fault_leaves_nothing_behind) {
    long before = 0;
    for (int i = 0; i < 3 * FAULTS; i++) {
        if (i == FAULTS) before = mapped_pages();
        start();
        Run(planted[i % FAULTS].kernel, true, 2 * THREADS).once();
        start();
        Run good(planted_read_after_write, false, THREADS);
        good.once();
        ck_assert_str_eq(emulator_last_fault(), "");
        ck_assert(std::equal(good.out.begin(), good.out.end(), good.in.rbegin()));
    }
    long grown = mapped_pages() - before; // the stacks of one block alone are more
    ck_assert_msg(grown < 4096, "%ld pages more", grown);
}
END_TEST

// Shared memory is NaN when a block starts, whatever the block before left there.
START_TEST(shared_memory_that_nobody_wrote_is_nan) {
    PlantedKernel *const kernels[] = {planted_never_written, planted_uninitialised,
                                      planted_left_over};
    for (int k = 0; k < 3; k++)
        for (bool broken : {false, true}) {
            start();
            Run run(kernels[k], broken, 2 * THREADS + 5);
            run.once();
            ck_assert_int_eq(isnan(run.out.back()), broken);
            ck_assert_int_eq(isnan(run.out.front()), broken && k == 0);
        }
}
END_TEST

// What a child process writes to stderr, which AddressSanitizer ends if it `dies`.
static std::string report_of(PlantedKernel *kernel, bool broken, int n, bool dies) {
    FILE *file = tmpfile();
    ck_assert_ptr_nonnull(file);
    int status = status_of([&] {
        dup2(fileno(file), STDERR_FILENO);
        Run(kernel, broken, n).once();
    });
    std::string text(1 << 16, '\0');
    rewind(file);
    text.resize(fread(&text[0], 1, text.size(), file));
    fclose(file);
    ck_assert_msg((status != 0) == dies, "status %d: %s", status, text.c_str());
    return text;
}

START_TEST(address_sanitizer_sees_kernels) {
    if (!&__asan_init) test_skip("not built with AddressSanitizer");
    start();
    for (PlantedKernel *kernel : {planted_out_of_bounds, planted_out_of_tile, planted_out_of_array})
        for (bool broken : {false, true}) {
            int n = THREADS - (kernel == planted_out_of_bounds ? 3 : 0); // so that one is left over
            std::string text = report_of(kernel, broken, n, broken);
            size_t error = text.find("-buffer-overflow"), ubsan = text.find("runtime error");
            ck_assert_int_eq(error != text.npos || ubsan != text.npos, broken);
            ck_assert_int_eq(text.find("planted_memory.cu:") != text.npos, broken);
        }
    // It knows the stacks: nothing confuses it when those of a block that failed are unwound.
    std::string text = report_of(planted_barrier_after_exit, true, THREADS, false);
    ck_assert_msg(text.find("ASan is ignoring") == text.npos, "%s", text.c_str());
}
END_TEST

// ---- launches and schedules --------------------------------------------------------------------
START_TEST(a_launch_has_a_shape) {
    static const struct {
        dim3 grid, block;
        size_t shared;
        bool good;
    } launches[] = {
        {1, 1024, 0, true},
        {{3, 2, 2}, {4, 4, 64}, 49152, true},
        {0, 32, 0, false},
        {{1, 0, 1}, 32, 0, false},
        {1, 0, 0, false},
        {1, {1, 1, 0}, 0, false},
        {1, 1025, 0, false},
        {1, {32, 33, 1}, 0, false},
        {1, {1, 1, 65}, 0, false},
        {1u << 31, 1, 0, false},
        {{1, 65536, 1}, 1, 0, false},
        {{1, 1, 65536}, 1, 0, false},
        {1, 32, 49153, false},
        {1, {65536, 65536, 1}, 0, false},
    };
    for (const auto &launch : launches) {
        start();
        planted_launch(launch.grid, launch.block, launch.shared);
        ck_error(cudaGetLastError(), launch.good ? cudaSuccess : cudaErrorInvalidConfiguration);
        ck_assert_int_eq(emulator_last_fault()[0] == '\0', launch.good);
    }
}
END_TEST

START_TEST(a_schedule_has_a_name) {
    start();
    for (const char *text : {"forward", "reverse", "random:0", "random:18446744073709551615"})
        ck_assert_msg(emulator_set_schedule(text), "%s", text);
    for (const char *text : {"", "forwards", "random", "random:", "random:-1", "random:1x",
                             "random: 1", "random:18446744073709551616"})
        ck_assert_msg(!emulator_set_schedule(text), "%s", text);
    setenv("RIDGEPOINT_EMULATOR_SCHEDULE", "sideways", 1);
    planted_launch(1, 1, 0);
    ck_good(cudaGetLastError()); // the choice above still stands
    emulator_set_schedule(nullptr);
    planted_launch(1, 1, 0);
    ck_error(cudaGetLastError(), cudaErrorInvalidValue);
    ck_assert_ptr_nonnull(strstr(emulator_last_fault(), "=sideways is no schedule"));
    setenv("RIDGEPOINT_EMULATOR_SCHEDULE", "reverse", 1);
    start();
    Run run(planted_order_of_blocks, true, 2 * THREADS);
    run.once();
    ck_assert(run.out.back() == 1.0f); // block 1 came first, over zeros
    run.out.assign(2 * THREADS, 5.0f);
    run.once();
    ck_assert(run.out.back() == 6.0f);
    unsetenv("RIDGEPOINT_EMULATOR_SCHEDULE");
}
END_TEST

int main() {
    const HarnessTest tests[] = {
        {a_planted_fault_is_found, FAULTS},  {without_its_fault_a_kernel_passes, FAULTS},
        {a_fault_leaves_nothing_behind, 0},  {shared_memory_that_nobody_wrote_is_nan, 0},
        {address_sanitizer_sees_kernels, 0}, {a_launch_has_a_shape, 0},
        {a_schedule_has_a_name, 0},          {nullptr, 0},
    };
    return harness_main("emulator", tests);
}
