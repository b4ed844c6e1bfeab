// test_emulator_kernels.cpp -- correct kernels compute the right values in the emulator, the same
// bits under every schedule, and in reasonable time. Wrong ones: test_emulator.cpp.
#include <algorithm>
#include <functional>
#include <thread>

#include "tensor/clock.h"
#include "tests/emulator/emulator.h"
#include "tests/emulator/fake_test.h"
#include "tests/emulator/planted.h"

static const int sizes[] = {0, 1, 31, 32, 33, 257, 100000};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

// Runs it under every schedule; `out` holds its results.
template <class T> static void check(std::vector<T> &out, const std::function<void()> &run) {
    fake_reset();
    const char *found = emulator_check_schedules(
        [](void *run) { (*static_cast<const std::function<void()> *>(run))(); },
        const_cast<std::function<void()> *>(&run), out.data(), out.size() * sizeof(T));
    ck_assert_msg(found == nullptr, "%s", found);
    ck_good(cudaGetLastError());
}

START_TEST(sums_are_right) {
    size_t n = size_t(sizes[_i]);
    std::vector<double> in(n), between(n / 1024 + 1), out(1, -1.0);
    double want = 0.0;
    for (size_t i = 0; i < n; i++) want += in[i] = double(i % 1000) - 250.0;
    check(out, [&] { right_sum(in.data(), between.data(), out.data(), int(n)); });
    ck_assert_double_eq(out[0], want); // whole numbers: exact in any order
}
END_TEST

START_TEST(prefix_sums_are_right) {
    size_t n = size_t(sizes[_i]);
    std::vector<int> in(n), want(n), out(n);
    int sum = 0;
    for (size_t i = 0; i < n; i++) {
        in[i] = int(i % 97) - 40;
        want[i] = sum += in[i];
    }
    check(out, [&] { right_prefix_sum(in.data(), out.data(), int(n)); });
    ck_assert(out == want);
}
END_TEST

START_TEST(transposes_are_right) {
    size_t n = size_t(sizes[_i]), columns = n > 300 ? 1000 : n, rows = columns ? n / columns : 0;
    std::vector<uint32_t> in(n), want(n), out(n);
    for (size_t i = 0; i < n; i++) want[i / columns + i % columns * rows] = in[i] = uint32_t(i) + 1;
    check(out, [&] { right_transpose(in.data(), out.data(), unsigned(rows), unsigned(columns)); });
    ck_assert(out == want);
}
END_TEST

// One row of a warp as the PTX manual has it (shfl, vote), lane by lane.
static int64_t intrinsic(int row, int lane) {
    const unsigned some = 0x00ff00ffu;
    const bool inside = (some >> lane & 1) != 0;
    switch (row) {
    case 0:
        return 5;
    case 1:
        return lane / 8 * 8 + (lane + 1) % 8;
    case 2:
        return lane < 3 ? lane : lane - 3;
    case 3:
        return lane % 8 < 3 ? lane : lane - 3;
    case 4:
        return lane > 28 ? lane : lane + 3;
    case 5:
        return 1;
    case 6:
        return lane ^ 5;
    case 7:
        return (lane ^ 12) / 8 > lane / 8 ? lane : lane ^ 12;
    case 8:
        return 0x49249249;
    case 9:
        return 2;
    case 10:
        return 2;
    case 11:
        return inside ? 0x00aa00aa : 0x55005500;
    case 12:
        return inside ? 1 : -1;
    case 13:
        return __builtin_popcount(some >> lane) + (lane ? __builtin_clz(unsigned(lane)) : 32) +
               __builtin_ffs(lane);
    default:
        return (lane < 7 ? lane : 7) + (lane > 20 ? lane : 20);
    }
}

START_TEST(intrinsics_are_right) {
    std::vector<int64_t> out(INTRINSICS * WARP);
    check(out, [&] { right_intrinsics(out.data()); });
    for (int row = 0; row < INTRINSICS; row++)
        for (int lane = 0; lane < WARP; lane++)
            ck_assert_msg(out[size_t(row * WARP + lane)] == intrinsic(row, lane), "row %d, lane %d",
                          row, lane);
}
END_TEST

START_TEST(atomics_are_right) {
    std::vector<unsigned> out(ATOMICS);
    check(out, [&] { right_atomics(out.data()); });
    const unsigned threads = 10 * THREADS;
    ck_assert(out == std::vector<unsigned>({2 * threads, 999, 1 - threads, 0xfffff, 3 * threads}));
}
END_TEST

// The place of a thread in the order "forward", `phase` times after it waited.
static int place_of(int phase, int block, int thread) {
    int begin = block * 3 * THREADS, warp = thread / WARP, lane = thread % WARP;
    return phase == 2 ? begin + 2 * THREADS + thread : begin + (2 * warp + phase) * WARP + lane;
}

START_TEST(schedules_keep_their_order) {
    enum { BLOCKS = 3, N = BLOCKS * THREADS };
    std::vector<int> out(3 * N);
    std::vector<std::vector<int>> orders;
    for (const char *schedule : {"forward", "reverse", "random:1", "random:1", "random:2"}) {
        fake_reset();
        emulator_set_schedule(schedule);
        right_tickets(out.data(), BLOCKS);
        orders.push_back(out);
        std::sort(out.begin(), out.end());
        for (int i = 0; i < 3 * N; i++) ck_assert_int_eq(out[size_t(i)], i);
    }
    for (int i = 0; i < 3 * N; i++) {
        int phase = i / N, block = i % N / THREADS, thread = i % THREADS;
        ck_assert_int_eq(orders[0][size_t(i)], place_of(phase, block, thread));
        ck_assert_int_eq(orders[1][size_t(i)],
                         place_of(phase, BLOCKS - 1 - block, THREADS - 1 - thread));
    }
    ck_assert(orders[2] == orders[3] && orders[2] != orders[4]); // a seed is an order
    emulator_set_schedule(nullptr);
}
END_TEST

static void sum_in_a_thread() {
    std::vector<double> in(5000, 2.0), between(5), out(1);
    for (int i = 0; i < 4; i++) {
        right_sum(in.data(), between.data(), out.data(), 5000);
        if (out[0] != 10000.0) abort();
    }
}

// Stacks on which one host thread ran a kernel serve the next.
START_TEST(every_host_thread_may_launch) {
    fake_reset();
    sum_in_a_thread();
    for (int i = 0; i < 3; i++) {
        std::thread first(sum_in_a_thread), second(sum_in_a_thread);
        sum_in_a_thread();
        first.join();
        second.join();
    }
    ck_good(cudaGetLastError());
}
END_TEST

// A kernel without barriers costs little more than its own work: one stack serves all threads.
START_TEST(elementwise_is_fast) {
    const size_t n = 1 << 20;
    std::vector<float> x(n, 1.5f), y(n, 1.0f);
    fake_reset();
    double begin = clock_seconds();
    right_elementwise(x.data(), y.data(), int(n));
    double seconds = clock_seconds() - begin;
    ck_assert(y == std::vector<float>(n, 4.0f));
    ck_assert_msg(seconds < 5.0, "%g s", seconds); // 0.05 measured; this is for slow machines
}
END_TEST

int main() {
    const HarnessTest tests[] = {
        {sums_are_right, SIZES},
        {prefix_sums_are_right, SIZES},
        {transposes_are_right, SIZES},
        {intrinsics_are_right, 0},
        {atomics_are_right, 0},
        {schedules_keep_their_order, 0},
        {every_host_thread_may_launch, 0},
        {elementwise_is_fast, 0},
        {nullptr, 0},
    };
    return harness_main("emulator_kernels", tests);
}
