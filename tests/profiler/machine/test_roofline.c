// test_roofline.c -- the verdicts of profiler/roofline: by hand, with a stopwatch, at their edges.
#include "profiler/machine/roofline.h"
#include "tests/helpers/harness.h"

#include <math.h>
#include <string.h>

static const double not_measured = (double)NAN;

// Two cores of a server, with figures that are easy to divide by.
static const Machine server = {
    .peak_flops_per_second = 333e9,
    .levels = {{.name = "L1", .bytes = 96 << 10, .bytes_per_second = 400e9},
               {.name = "L2", .bytes = 4 << 20, .bytes_per_second = 150e9},
               {.name = "L3", .bytes = 32 << 20, .bytes_per_second = 58e9},
               {.name = "DRAM", .bytes = INT64_MAX, .bytes_per_second = 20e9}},
    .n_levels = 4,
    .dispatch_seconds = 40e-9,
    .spin_seconds = 300e-9,
    .wake_seconds = 50e-6,
    .from_host_bytes_per_second = 10e9,
};

// One level, so one ridge.
static Machine flat_machine(double peak, double bandwidth) {
    return (
        Machine){.peak_flops_per_second = peak,
                 .levels = {{.name = "DRAM", .bytes = INT64_MAX, .bytes_per_second = bandwidth}},
                 .n_levels = 1};
}

static void check_near(double got, double want, double relative, const char *what) {
    ck_assert_msg(fabs(got - want) <= relative * fabs(want), "%s is %.17g instead of %.17g", what,
                  got, want);
}

static void check_bound(const Roofline *got, Bound want, const char *what) {
    ck_assert_msg(got->bound == want, "%s: %s instead of %s", what, bound_name(got->bound),
                  bound_name(want));
}

// ---- By hand

typedef struct HandCase {
    double peak, bandwidth;
    uint64_t macs, elementwise, bytes;
    Bound bound;
    double roof_seconds;
} HandCase;

#define LINEAR(rows) (uint64_t)(rows) * 4096 * 4096, 0, 4u * (2u * (rows)*4096 + 4096 * 4096)
static const HandCase hand_cases[] = {
    {1000e9, 200e9, LINEAR(8), BOUND_MEMORY, 0.33685504e-3},
    {1000e9, 200e9, LINEAR(16), BOUND_COMPUTE, 0.536870912e-3},
    {95.635e9, 10e9, 500000, 0, 2000000, BOUND_MEMORY, 0.2e-3},
    {95.635e9, 10e9, 16000000, 0, 2000000, BOUND_COMPUTE, 32e6 / 95.635e9},
    {95.635e9, 10e9, 0, 95635, 10000, BOUND_COMPUTE, 1e-6}, // exactly on the ridge
    {95.635e9, 10e9, 0, 95634, 10000, BOUND_MEMORY, 1e-6},
    {100e9, 50e9, 0, 2, 1, BOUND_COMPUTE, 20e-12}, // ridge 2
    {1e9, 3e9, 0, 1, 3, BOUND_COMPUTE, 1e-9},      // ridge 1/3, which no double hits exactly
    {7e9, 49e9, 0, 100, 700, BOUND_COMPUTE, 100 / 7e9},
    {1e9, 1e9, 0, 0, 5, BOUND_MEMORY, 5e-9},  // a copy
    {1e9, 1e9, 0, 5, 0, BOUND_COMPUTE, 5e-9}, // FLOPs without bytes
};
enum { HAND_CASES = sizeof hand_cases / sizeof hand_cases[0] };

START_TEST(agrees_with_arithmetic_by_hand) {
    const HandCase *hand = &hand_cases[_i];
    Machine machine = flat_machine(hand->peak, hand->bandwidth);
    RooflineInput input = {.cost = {.macs = hand->macs,
                                    .elementwise_flops = hand->elementwise,
                                    .bytes_read = hand->bytes / 3,
                                    .bytes_written = hand->bytes - hand->bytes / 3},
                           .seconds = 1.25 * hand->roof_seconds};
    Roofline got = roofline_judge(&machine, &input);
    double flops = (double)(2 * hand->macs + hand->elementwise);
    check_bound(&got, hand->bound, "by hand");
    check_near(got.roof_seconds, hand->roof_seconds, 1e-12, "roof_seconds");
    check_near(got.roof_fraction, 0.8, 1e-12, "roof_fraction");
    check_near(got.ridge, hand->peak / hand->bandwidth, 1e-15, "ridge");
    ck_assert(got.judged);
    ck_assert_int_eq(got.level, 0);
    if (hand->bytes > 0) check_near(got.intensity, flops / (double)hand->bytes, 1e-15, "intensity");
    ck_assert_int_eq(isnan(got.intensity) != 0, hand->bytes == 0);
}
END_TEST

START_TEST(every_kind_of_flop_counts) {
    Machine machine = flat_machine(1e9, 1e9);
    RooflineInput input = {.cost = {100, 20, 3, 4, 5, 6}, .seconds = 1.0};
    Roofline got = roofline_judge(&machine, &input);
    check_near(got.compute_seconds, 227e-9, 1e-15, "compute_seconds");
    check_near(got.memory_seconds, 11e-9, 1e-15, "memory_seconds");
}
END_TEST

// ---- Levels

START_TEST(bytes_count_once_and_the_remainder_at_the_last_level) {
    RooflineInput input = {.cost = {.bytes_read = 6000, .bytes_written = 4000},
                           .traffic.level[TEAM_ALL] = {{.read = 1000},
                                                       {.read = 2000},
                                                       {.read = 3000},
                                                       {.read = 1},
                                                       {.read = 99999}},
                           .seconds = not_measured};
    Roofline got = roofline_judge(&server, &input);
    double want = 1000 / 400e9 + 2000 / 150e9 + 3000 / 58e9 + 4000 / 20e9;
    check_near(got.memory_seconds, want, 1e-14, "memory_seconds");
    check_near(got.bytes_per_second, 10000 / want, 1e-14, "bytes_per_second");
    check_near(got.ridge, 333e9 * want / 10000, 1e-14, "ridge");
    ck_assert_int_eq(got.level, 3);
    memset(&input.traffic, 0, sizeof input.traffic); // unknown: all belongs to the last level
    got = roofline_judge(&server, &input);
    check_near(got.memory_seconds, 10000 / 20e9, 1e-15, "memory_seconds without levels");
    ck_assert_double_eq(got.bytes_per_second, 20e9);
    input.traffic.level[TEAM_ALL][1] = (LevelTraffic){12345, 12345, 99999}; // more than counted
    got = roofline_judge(&server, &input);
    check_near(got.memory_seconds, 10000 / 150e9, 1e-15, "memory_seconds with too much");
    ck_assert_int_eq(got.level, 1);
}
END_TEST

START_TEST(the_level_named_costs_most_not_holds_most) {
    RooflineInput input = {.cost = {.bytes_read = 10000},
                           .traffic.level[TEAM_ALL] = {{0}, {.read = 8000}, {.read = 2000}}};
    ck_assert_int_eq(roofline_judge(&server, &input).level, 1); // 53 ns against 34 ns
    input.traffic.level[TEAM_ALL][1].read = 7000;
    input.traffic.level[TEAM_ALL][2].read = 3000;
    ck_assert_int_eq(roofline_judge(&server, &input).level, 2); // 47 ns against 52 ns
}
END_TEST

// ---- Lines fetched and written back

static const Machine core = {
    .peak_flops_per_second = 100e9,
    .peak_alone = 50e9,
    .threads = 2,
    .root_seconds = 2e-9,
    .division_seconds = 1e-9,
    .levels = {{.name = "L1",
                .bytes = 64 << 10,
                .bytes_per_second = 200e9,
                .bytes_alone = 32 << 10,
                .rates = {{.fill = 400e9, .store = 100e9}, {0}}},
               {.name = "L2",
                .bytes = 2 << 20,
                .bytes_per_second = 80e9,
                .bytes_alone = 1 << 20,
                .rates = {{.fill = 100e9, .move = 160e9}, {.fill = 50e9}}}},
    .n_levels = 2,
};

typedef struct LineCase {
    int level;
    LevelTraffic traffic;
    double seconds;
    uint64_t bytes;
    const char *what;
} LineCase;

static const LineCase line_cases[] = {
    {0, {8000, 8000, 8000}, 80e-9, 8000, "stored"}, // out of place: writing fetches nothing
    {0, {40000, 8000, 0}, 100e-9, 40000, "loaded"},
    {0, {16000, 0, 0}, 40e-9, 16000, "loaded"},
    {1, {8000, 8000, 8000}, 160e-9, 16000, "fetched"}, // writing back is free
    {1, {8000, 8000, 0}, 100e-9, 16000, "moved"},      // in place
    {1, {8000, 0, 0}, 80e-9, 8000, "fetched"},
    {1, {0, 8000, 8000}, 100e-9, 16000, "moved"}, // a fill fetches the lines it writes
    {1, {0, 0, 0}, 0.0, 0, ""},
};
enum { LINE_CASES = sizeof line_cases / sizeof line_cases[0] };

START_TEST(time_follows_the_lines_that_move) {
    const LineCase *c = &line_cases[_i];
    LevelTime time = roofline_level_time(&core.levels[c->level], TEAM_ALL, &c->traffic);
    check_near(time.seconds, c->seconds, 1e-14, "seconds");
    ck_assert_uint_eq(time.bytes, c->bytes);
    ck_assert_str_eq(time.what, c->what);
    MachineLevel given = {.bytes = INT64_MAX,
                          .bytes_per_second = 10e9}; // it has only counted bytes
    time = roofline_level_time(&given, TEAM_ONE, &c->traffic);
    uint64_t counted = c->traffic.read + c->traffic.written;
    check_near(time.seconds, (double)counted / 10e9, 1e-14, "given");
    ck_assert_uint_eq(time.bytes, counted);
    ck_assert_str_eq(time.what, "");
}
END_TEST

START_TEST(teams_are_judged_by_their_own_ceilings) {
    RooflineInput input = {
        .cost = {.macs = 500, .bytes_read = 24000},
        .traffic =
            {.level = {[TEAM_ALL] = {{0}, {.read = 16000}}, [TEAM_ONE] = {{0}, {.read = 8000}}},
             .flops_alone = 400},
        .seconds = not_measured};
    Roofline got = roofline_judge(&core, &input);
    check_near(got.memory_seconds, 16000 / 100e9 + 8000 / 50e9, 1e-14, "memory_seconds");
    check_near(got.compute_seconds, 600 / 100e9 + 400 / 50e9, 1e-14, "compute_seconds");
    check_near(got.flops_per_second, 1000 / got.compute_seconds, 1e-14, "flops_per_second");
    ck_assert(!got.slow);
}
END_TEST

START_TEST(roots_and_divisions_are_a_floor) {
    char text[ROOFLINE_TEXT];
    RooflineInput input = {.cost = {.elementwise_flops = 100, .bytes_read = 8},
                           .traffic.slow = {{.roots = 10, .divisions = 20}, {.divisions = 5}},
                           .ops = 1,
                           .seconds = 50e-9};
    Roofline got = roofline_judge(&core, &input);
    check_near(got.compute_seconds, 40e-9 / 2 + 5e-9, 1e-14, "compute_seconds");
    ck_assert(got.slow);
    check_bound(&got, BOUND_COMPUTE, "slow");
    roofline_evidence(&core, &input, &got, text);
    ck_assert_str_eq(text,
                     "12.5 FLOP/B >= ridge 1.00 (100 GFLOP/s / 100 GB/s, L2): compute-bound; its "
                     "roots and divisions, the roof, take 25.0 of 50.0 ns = 50%");
    input.cost.bytes_read = 400; // below the ridge: memory by intensity; the roof is the same
    got = roofline_judge(&core, &input);
    check_bound(&got, BOUND_MEMORY, "slow, below the ridge");
    ck_assert_double_eq(got.roof_seconds, got.compute_seconds);
    input.cost.bytes_read = 4000; // the roof exceeds the time
    got = roofline_judge(&core, &input);
    ck_assert(!got.slow);
    ck_assert_double_eq(got.roof_seconds, got.memory_seconds);
    input.cost.elementwise_flops = 10000;
    got = roofline_judge(&core, &input);
    ck_assert(!got.slow);
    check_near(got.compute_seconds, 100e-9, 1e-14, "compute_seconds");
}
END_TEST

// ---- Verdicts of a person with a stopwatch --

typedef struct Workload {
    const char *name;
    RooflineInput input;
    Bound bound;
    const char *level;    // for a memory bound
    const char *evidence; // text that it must contain
} Workload;

static const Workload workloads[] = {
    {"product of 2048 x 2048",
     {.cost = {.macs = 1ull << 33, .bytes_read = 2 << 24, .bytes_written = 1 << 24},
      .ops = 1,
      .seconds = 57e-3},
     BOUND_COMPUTE,
     "",
     "compute-bound; 301 of 333 GFLOP/s = 91% of the roof (51.6 of 57.0 ms)"},
    {"product of 8 x 8",
     {.cost = {.macs = 512, .bytes_read = 512, .bytes_written = 256},
      .traffic.level[TEAM_ALL] = {{.read = 512, .written = 256}},
      .ops = 1,
      .seconds = 60e-9},
     BOUND_OVERHEAD,
     "",
     "1 dispatch costs 40.0 ns, the roof is 3.08 ns: overhead; 67% of its time (40.0 of 60.0 ns)"},
    {"copy of 64 MiB",
     {.cost = {.bytes_read = 64 << 20, .bytes_written = 64 << 20}, .ops = 1, .seconds = 7.4e-3},
     BOUND_MEMORY,
     "DRAM",
     "0 FLOP/B < ridge 16.6 (333 GFLOP/s / 20.0 GB/s, DRAM): memory-bound"},
    {"sum of 4 MiB, just written",
     {.cost = {.elementwise_flops = 1 << 20, .bytes_read = 4 << 20, .bytes_written = 4},
      .traffic.level[TEAM_ALL] = {{0}, {0}, {.read = 4 << 20, .written = 4}},
      .ops = 1,
      .seconds = 90e-6},
     BOUND_MEMORY,
     "L3",
     "memory-bound in L3; 46.6 of 58.0 GB/s = 80% of the roof"},
    {"linear 4096 x 4096, batch 1",
     {.cost = {.macs = 1 << 24, .bytes_read = (4 << 24) + (4 << 12), .bytes_written = 4 << 12},
      .traffic.level[TEAM_ALL] = {{.read = 4 << 12, .written = 4 << 12}},
      .ops = 1,
      .seconds = 3.9e-3},
     BOUND_MEMORY,
     "DRAM",
     "0.50 FLOP/B < ridge"},
    {"product of 256 x 256 that slept", // the time changes no bound
     {.cost = {.macs = 1 << 24, .bytes_read = 8 << 16, .bytes_written = 4 << 16},
      .traffic.level[TEAM_ALL] = {{0}, {.read = 8 << 16, .written = 4 << 16}},
      .ops = 1,
      .seconds = 5e-3},
     BOUND_COMPUTE,
     "",
     "compute-bound; 6.71 of 333 GFLOP/s = 2% of the roof"},
    {"fill of 64 MiB that faults",
     {.cost = {.bytes_written = 64 << 20}, .ops = 1, .seconds = 12e-3},
     BOUND_MEMORY,
     "DRAM",
     "memory-bound in DRAM; 5.59 of 20.0 GB/s = 28% of the roof"},
    {"ReLU of 64 x 512",
     {.cost = {.elementwise_flops = 1 << 15, .bytes_read = 4 << 15, .bytes_written = 4 << 15},
      .traffic.level[TEAM_ALL] = {{0}, {.read = 4 << 15, .written = 4 << 15}},
      .ops = 1,
      .seconds = 2.5e-6},
     BOUND_MEMORY,
     "L2",
     "0.12 FLOP/B < ridge 2.22 (333 GFLOP/s / 150 GB/s, L2): memory-bound in"},
    {"Adam over 16 M parameters",
     {.cost = {.elementwise_flops = 11ull << 24,
               .transcendental_flops = 1 << 24,
               .bytes_read = 16ull << 24,
               .bytes_written = 12ull << 24},
      .ops = 1,
      .seconds = 26e-3},
     BOUND_MEMORY,
     "DRAM",
     "18.1 of 20.0 GB/s = 90% of the roof (23.5 of 26.0 ms)"},
    {"linear 4096 x 4096, m = 4", // a tenth of the peak, though not for lack of arithmetic
     {.cost = {.macs = 4 << 24, .bytes_read = (4 << 24) + (16 << 12), .bytes_written = 16 << 12},
      .traffic.level[TEAM_ALL] = {{.read = 16 << 12, .written = 16 << 12}},
      .ops = 1,
      .seconds = 4.5e-3},
     BOUND_MEMORY,
     "DRAM",
     "2.00 FLOP/B < ridge 16.6"},
    {"a slow product: few FLOP/s are not memory",
     {.cost = {.macs = 1ull << 33, .bytes_read = 2 << 24, .bytes_written = 1 << 24},
      .ops = 1,
      .seconds = 95e-3},
     BOUND_COMPUTE,
     "",
     "54% of the roof"},
    {"a layer of 30 small ops",
     {.cost = {.elementwise_flops = 1 << 13, .bytes_read = 4 << 13, .bytes_written = 4 << 11},
      .traffic.level[TEAM_ALL] = {{0}, {.read = 4 << 13, .written = 4 << 11}},
      .ops = 30,
      .seconds = 2e-6},
     BOUND_OVERHEAD,
     "",
     "30 dispatches cost 1.20 us, the roof is 273 ns: overhead; 60% of its time (1.20 of 2.00 us)"},
    {"a product that is handed to seven threads",
     {.cost = {.macs = 1 << 18, .bytes_read = 8 << 12, .bytes_written = 4 << 12},
      .traffic = {.level[TEAM_ALL] = {{0}, {.read = 8 << 12, .written = 4 << 12}}, .handoffs = 7},
      .ops = 1,
      .seconds = 7e-6},
     BOUND_OVERHEAD,
     "",
     "1 dispatch and 7 hand-offs to threads cost 2.14 us, the roof is 1.57 us: overhead; 31% of"},
    {"a step whose batch is carried",
     {.cost = {.macs = 1 << 24, .bytes_read = 8 << 16, .bytes_written = 4 << 16},
      .ops = 1,
      .seconds = 300e-6,
      .transfer_bytes = 1800000},
     BOUND_TRANSFER,
     "",
     "copying 1.80 MB costs 180 us, the roof is 101 us: transfer; 60% of its time (180 of 300 us)"},
};
enum { WORKLOADS = sizeof workloads / sizeof workloads[0] };

START_TEST(says_what_a_stopwatch_says) {
    const Workload *workload = &workloads[_i];
    char text[ROOFLINE_TEXT];
    Roofline got = roofline_judge(&server, &workload->input);
    roofline_evidence(&server, &workload->input, &got, text);
    check_bound(&got, workload->bound, workload->name);
    ck_assert(got.judged);
    ck_assert_msg(strstr(text, workload->evidence) != NULL, "%s: \"%s\" without \"%s\"",
                  workload->name, text, workload->evidence);
    if (got.bound == BOUND_MEMORY) ck_assert_str_eq(server.levels[got.level].name, workload->level);
}
END_TEST

// ---- The four figures, and their distances -

typedef struct FigureCase { // seconds of each; the machine's rates are 1 per second
    double compute, memory, overhead, transfer;
    Bound bound, near, roof_bound;
    const char *text;
} FigureCase;

static const FigureCase figure_cases[] = {
    {16, 4, 0, 0, BOUND_COMPUTE, BOUND_COUNT, BOUND_COMPUTE, ""},
    {16, 16, 16, 16, BOUND_COMPUTE, BOUND_MEMORY, BOUND_COMPUTE, "near the ridge"}, // first wins
    {12, 16, 0, 0, BOUND_MEMORY, BOUND_COUNT, BOUND_MEMORY, ""},
    {16, 20, 0, 0, BOUND_MEMORY, BOUND_COMPUTE, BOUND_MEMORY, "near the ridge"},
    {20, 16, 16, 0, BOUND_COMPUTE, BOUND_MEMORY, BOUND_COMPUTE, "near the ridge"},
    {15, 4, 16, 0, BOUND_OVERHEAD, BOUND_COMPUTE, BOUND_COMPUTE, "between overhead and compute"},
    {4, 16, 15, 0, BOUND_MEMORY, BOUND_OVERHEAD, BOUND_MEMORY, "between memory and overhead"},
    {2, 3, 8, 64, BOUND_TRANSFER, BOUND_COUNT, BOUND_MEMORY, ""},
    {1, 1, 60, 64, BOUND_TRANSFER, BOUND_OVERHEAD, BOUND_COMPUTE, "between transfer and overhead"},
    {0, 1, 60, 0, BOUND_OVERHEAD, BOUND_COUNT, BOUND_MEMORY, ""},
    {0, 0, 60, 64, BOUND_COUNT, BOUND_COUNT, BOUND_COUNT, ""}, // nothing was counted
};
enum { FIGURE_CASES = sizeof figure_cases / sizeof figure_cases[0] };

START_TEST(the_largest_figure_is_the_bound) {
    const FigureCase *c = &figure_cases[_i];
    Machine machine = flat_machine(1.0, 1.0);
    machine.dispatch_seconds = 0.75;
    machine.spin_seconds = 0.25;
    machine.from_host_bytes_per_second = 1.0;
    int64_t ops = (int64_t)c->overhead; // each hands over one range
    RooflineInput input = {.cost = {.elementwise_flops = (uint64_t)c->compute,
                                    .bytes_read = (uint64_t)c->memory},
                           .traffic.handoffs = ops,
                           .ops = ops,
                           .transfer_bytes = (int64_t)c->transfer};
    const double times[] = {not_measured, 1e-3, 16.0, 1e9};
    char text[ROOFLINE_NEAR_TEXT];
    for (int i = 0; i < 4; i++) {
        input.seconds = times[i];
        Roofline got = roofline_judge(&machine, &input);
        check_bound(&got, c->bound, "of four");
        ck_assert_str_eq(bound_name(got.near), bound_name(c->near));
        ck_assert_str_eq(bound_name(got.roof_bound), bound_name(c->roof_bound));
        ck_assert_str_eq(roofline_near_text(&got, text), c->text);
        ck_assert_double_eq(got.overhead_seconds, c->overhead);
        ck_assert_double_eq(got.transfer_seconds, c->transfer);
    }
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {agrees_with_arithmetic_by_hand, HAND_CASES},
        {every_kind_of_flop_counts, 0},
        {bytes_count_once_and_the_remainder_at_the_last_level, 0},
        {the_level_named_costs_most_not_holds_most, 0},
        {time_follows_the_lines_that_move, LINE_CASES},
        {teams_are_judged_by_their_own_ceilings, 0},
        {roots_and_divisions_are_a_floor, 0},
        {says_what_a_stopwatch_says, WORKLOADS},
        {the_largest_figure_is_the_bound, FIGURE_CASES},
        {NULL, 0},
    };
    return harness_main("roofline", tests);
}
