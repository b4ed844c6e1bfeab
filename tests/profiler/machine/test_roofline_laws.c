// test_roofline_laws.c -- rules for the roofline of any input, and its words.
#include "profiler/machine/roofline.h"
#include "tests/helpers/harness.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double not_measured = (double)NAN;

static void check_near(double got, double want, double relative, const char *what) {
    ck_assert_msg(fabs(got - want) <= relative * fabs(want), "%s is %.17g instead of %.17g", what,
                  got, want);
}

static void check_bound(const Roofline *got, Bound want, const char *what) {
    ck_assert_msg(got->bound == want, "%s: %s instead of %s", what, bound_name(got->bound),
                  bound_name(want));
}

// ---- Laws, over random machines and inputs

static uint64_t random_state;

static double uniform(void) { // xorshift64*
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return (double)((random_state * 0x2545F4914F6CDD1Dull) >> 11) * 0x1p-53;
}

static double between(double least, double most) { // log-uniform
    return least * pow(most / least, uniform());
}

static uint64_t random_count(double most) {
    return uniform() < 0.1 ? 0 : (uint64_t)between(1.0, most);
}

static Machine random_machine(void) {
    Machine machine = {.peak_flops_per_second = between(1e9, 1e15),
                       .n_levels = 1 + (int)(uniform() * MACHINE_MAX_LEVELS),
                       .dispatch_seconds = between(1e-9, 1e-5),
                       .spin_seconds = between(1e-9, 1e-5),
                       .from_host_bytes_per_second = between(1e9, 1e11)};
    bool measured = uniform() < 0.7; // otherwise given
    for (int i = 0; i < machine.n_levels; i++) {
        snprintf(machine.levels[i].name, sizeof machine.levels[i].name, "L%d", (i + 1) % 10);
        machine.levels[i].bytes_per_second = between(1e9, 1e13);
        for (int team = 0; measured && team < TEAM_COUNT; team++)
            machine.levels[i].rates[team] =
                (MachineRates){between(1e9, 1e13), i ? 0.0 : between(1e9, 1e13),
                               i ? between(1e9, 1e13) : 0.0};
    }
    if (!measured) return machine;
    machine.threads = 1 + (int)(8 * uniform());
    machine.peak_alone = machine.peak_flops_per_second / machine.threads;
    machine.root_seconds = between(1e-12, 1e-9);
    machine.division_seconds = between(1e-12, 1e-9);
    return machine;
}

static void random_traffic(Traffic *traffic) {
    for (int team = 0; team < TEAM_COUNT; team++) {
        for (int i = 0; i < MACHINE_MAX_LEVELS; i++)
            traffic->level[team][i] =
                (LevelTraffic){random_count(1e11), random_count(1e10), random_count(1e10)};
        traffic->slow[team] = (OpSlow){random_count(1e9), random_count(1e9)};
    }
    traffic->flops_alone = random_count(1e12);
}

static RooflineInput random_input(const Machine *machine) {
    RooflineInput input = {.cost = {random_count(1e13), random_count(1e10), random_count(1e12),
                                    random_count(1e9), random_count(1e11), random_count(1e10)},
                           .ops = (int64_t)between(1.0, 100.0),
                           .seconds = not_measured};
    random_traffic(&input.traffic);
    double roof = roofline_judge(machine, &input).roof_seconds;
    if (uniform() < 0.8) input.seconds = roof * between(0.8, 5.0);
    if (uniform() < 0.3) input.transfer_bytes = (int64_t)between(1.0, 1e12);
    if (uniform() < 0.3) input.traffic.handoffs = (int64_t)between(1.0, 1e9);
    return input;
}

enum { RANDOM_CASES = 20000 };

START_TEST(laws_hold_for_any_input) {
    int seen[BOUND_COUNT + 1] = {0};
    random_state = 1;
    for (int i = 0; i < RANDOM_CASES; i++) {
        Machine machine = random_machine();
        RooflineInput input = random_input(&machine);
        Roofline got = roofline_judge(&machine, &input);
        seen[got.bound]++;
        double larger =
            got.compute_seconds > got.memory_seconds ? got.compute_seconds : got.memory_seconds;
        ck_assert_double_eq(got.roof_seconds, larger);
        ck_assert_int_eq(got.judged, got.roof_seconds > 0.0 && input.seconds > 0.0);
        if (got.judged)
            check_near(got.roof_fraction * input.seconds, got.roof_seconds, 1e-15, "fraction");
        if (got.bound == BOUND_COMPUTE) ck_assert_double_eq(got.roof_seconds, got.compute_seconds);
        if (got.bound == BOUND_OVERHEAD) ck_assert(got.overhead_seconds > got.memory_seconds);
        if (got.bound == BOUND_TRANSFER) ck_assert(got.transfer_seconds > got.overhead_seconds);
        ck_assert(got.bound == BOUND_COUNT || got.bound != got.near);
        if (got.bound == BOUND_MEMORY && !got.slow)
            ck_assert_double_eq(got.roof_seconds, got.memory_seconds);
        ck_assert(got.compute_seconds >= got.flop_seconds);
        if (got.slow) ck_assert_double_eq(got.roof_seconds, got.compute_seconds);
        if (got.intensity > 0.0 && !got.slow) { // flops / attainable is the roof
            double attainable = fmin(got.flops_per_second, got.intensity * got.bytes_per_second);
            check_near(got.flop_seconds * got.flops_per_second / attainable, got.roof_seconds,
                       1e-12, "roof by attainable");
        }
    }
    for (int i = 0; i < BOUND_COUNT; i++)
        ck_assert_msg(seen[i] > RANDOM_CASES / 100, "only %d %s", seen[i], bound_name((Bound)i));
}
END_TEST

static void hurry(Machine *machine, double faster) {
    machine->peak_flops_per_second *= faster;
    machine->peak_alone *= faster;
    machine->root_seconds /= faster;
    machine->division_seconds /= faster;
    machine->dispatch_seconds /= faster;
    machine->spin_seconds /= faster;
    machine->from_host_bytes_per_second *= faster;
    for (int k = 0; k < machine->n_levels; k++) {
        machine->levels[k].bytes_per_second *= faster;
        for (int team = 0; team < TEAM_COUNT; team++) {
            machine->levels[k].rates[team].fill *= faster;
            machine->levels[k].rates[team].store *= faster;
            machine->levels[k].rates[team].move *= faster;
        }
    }
}

START_TEST(a_faster_machine_in_faster_time_gets_the_same_verdict) {
    random_state = 2;
    for (int i = 0; i < RANDOM_CASES; i++) {
        Machine machine = random_machine();
        RooflineInput input = random_input(&machine);
        Roofline want = roofline_judge(&machine, &input);
        double faster = between(1e-3, 1e3);
        hurry(&machine, faster);
        input.seconds /= faster;
        Roofline got = roofline_judge(&machine, &input);
        check_bound(&got, want.bound, "scaled");
        ck_assert_int_eq(got.roof_bound, want.roof_bound);
        ck_assert_int_eq(got.level, want.level);
        ck_assert_int_eq(got.judged, want.judged);
        check_near(got.roof_seconds * faster, want.roof_seconds, 1e-13, "roof_seconds");
    }
}
END_TEST

START_TEST(more_bandwidth_never_turns_compute_into_memory) {
    random_state = 3;
    for (int i = 0; i < RANDOM_CASES; i++) {
        Machine machine = random_machine();
        RooflineInput input = random_input(&machine);
        input.seconds = not_measured;
        Roofline before = roofline_judge(&machine, &input);
        Machine wider = machine;
        wider.levels[(int)(uniform() * machine.n_levels)].bytes_per_second *= between(1.0, 1e3);
        Roofline after = roofline_judge(&wider, &input);
        ck_assert(after.roof_seconds <= before.roof_seconds);
        if (before.roof_bound == BOUND_COMPUTE) ck_assert_int_eq(after.roof_bound, BOUND_COMPUTE);
        Machine stronger = machine;
        stronger.peak_flops_per_second *= between(1.0, 1e3);
        after = roofline_judge(&stronger, &input);
        ck_assert(after.roof_seconds <= before.roof_seconds);
        if (before.roof_bound == BOUND_MEMORY) ck_assert_int_eq(after.roof_bound, BOUND_MEMORY);
    }
}
END_TEST

// ---- Text

static void check_fits(const Machine *machine, const RooflineInput *input) {
    char text[ROOFLINE_TEXT + 1];
    memset(text, '~', sizeof text);
    Roofline got = roofline_judge(machine, input);
    ck_assert_ptr_eq(roofline_evidence(machine, input, &got, text), text);
    size_t length = strlen(text);
    ck_assert_msg(length > 20 && length < ROOFLINE_TEXT - 1, "%zu characters: %s", length, text);
    ck_assert_msg(text[ROOFLINE_TEXT] == '~', "written beyond the end: %s", text);
    if (got.bound == BOUND_COUNT) return;
    ck_assert_msg(strstr(text, isnan(got.intensity) ? "no bytes" : " FLOP/B") != NULL,
                  "no intensity: %s", text);
    ck_assert_msg(isnan(got.intensity) || strstr(text, "ridge "), "no ridge: %s", text);
    ck_assert_msg(strstr(text, bound_name(got.bound)) != NULL, "no bound: %s", text);
    ck_assert_msg(strstr(text, got.judged ? " of " : "not measured"), "no time: %s", text);
}

START_TEST(evidence_fits_whatever_the_figures) {
    const double rates[] = {5e-324, 1e-3, 999.4, 999.6e9, 1e30, 1.7e308};
    const double times[] = {5e-324, 1.2345e-9, 0.9995, 1e30, 1.7e308, not_measured};
    const uint64_t counts[] = {0, 1, 999999999999999, UINT64_MAX / 8};
    for (int i = 0; i < 6 * 6 * 6 * 6 * 4 * 4 * 4; i++) {
        int rest = i;
#define TAKE(array) array[rest % (int)(sizeof array / sizeof *array)]
#define NEXT(array) (rest /= (int)(sizeof array / sizeof *array))
        Machine machine = {.device = {i % 3 ? 'X' : '\0'},
                           .n_levels = 2,
                           .levels = {{.name = "L1-near", .bytes = 1, .bytes_per_second = 0},
                                      {.name = "HBM-far", .bytes = 2, .bytes_per_second = 0}}};
        RooflineInput input = {.ops = i % 2 ? INT64_MAX : 0,
                               .traffic.handoffs = i % 3 ? INT64_MAX : 1,
                               .transfer_bytes = i % 7 ? 0 : INT64_MAX};
        machine.peak_flops_per_second = TAKE(rates), NEXT(rates);
        machine.levels[0].bytes_per_second = TAKE(rates), NEXT(rates);
        machine.levels[1].bytes_per_second = i % 5 ? 1.0 : 1e20;
        machine.dispatch_seconds = machine.spin_seconds = TAKE(times), NEXT(times);
        machine.from_host_bytes_per_second = machine.peak_flops_per_second;
        input.seconds = TAKE(times), NEXT(times);
        input.cost.macs = TAKE(counts), NEXT(counts);
        input.cost.bytes_read = TAKE(counts), NEXT(counts);
        input.traffic.level[i % 2][0] = (LevelTraffic){TAKE(counts), 7, 3};
#undef TAKE
#undef NEXT
        check_fits(&machine, &input);
    }
}
END_TEST

static const Machine server = {
    .peak_flops_per_second = 333e9,
    .levels = {{.name = "L3", .bytes = 32 << 20, .bytes_per_second = 58e9},
               {.name = "DRAM", .bytes = INT64_MAX, .bytes_per_second = 20e9}},
    .n_levels = 2,
    .dispatch_seconds = 40e-9,
};

START_TEST(without_a_time_there_is_a_bound_and_no_fraction) {
    const double times[] = {not_measured, 0.0, -1.0, (double)INFINITY};
    char text[ROOFLINE_TEXT];
    RooflineInput input = {.cost = {.elementwise_flops = 8, .bytes_read = 8}, .seconds = times[_i]};
    Roofline got = roofline_judge(&server, &input);
    check_bound(&got, BOUND_MEMORY, "1 FLOP/B");
    ck_assert(!got.judged && isnan(got.roof_fraction));
    ck_assert_str_eq(roofline_evidence(&server, &input, &got, text),
                     "1.00 FLOP/B < ridge 16.6 (333 GFLOP/s / 20.0 GB/s, DRAM): memory-bound in "
                     "DRAM; roof 0.40 ns, not measured");
    input.cost.macs = 100;
    got = roofline_judge(&server, &input);
    check_bound(&got, BOUND_COMPUTE, "26 FLOP/B");
    input.ops = 1000;
    got = roofline_judge(&server, &input);
    check_bound(&got, BOUND_OVERHEAD, "1000 dispatches");
    ck_assert_str_eq(roofline_evidence(&server, &input, &got, text),
                     "1,000 dispatches cost 40.0 us, the roof is 0.62 ns: overhead; not measured; "
                     "26.0 FLOP/B, ridge 16.6");
    input.cost = (OpCost){0};
    got = roofline_judge(&server, &input);
    check_bound(&got, BOUND_COUNT, "nothing");
    ck_assert(!got.judged);
}
END_TEST

START_TEST(nothing_counted_is_no_verdict) {
    char text[ROOFLINE_TEXT];
    RooflineInput input = {.ops = 3, .seconds = 1.0, .transfer_bytes = 9, .traffic.handoffs = 1};
    Roofline got = roofline_judge(&server, &input);
    check_bound(&got, BOUND_COUNT, "nothing");
    ck_assert(!got.judged && isnan(got.intensity) && isnan(got.roof_fraction));
    ck_assert_double_eq(got.roof_seconds, 0.0);
    ck_assert_str_eq(bound_name(got.bound), "-");
    ck_assert_str_eq(roofline_evidence(&server, &input, &got, text),
                     "nothing was counted: no verdict");
}
END_TEST

START_TEST(evidence_is_said_in_one_sentence) {
    char text[ROOFLINE_TEXT];
    RooflineInput input = {
        .cost = {.macs = 51380224, .bytes_read = 3000000, .bytes_written = 877752},
        .traffic.level[TEAM_ALL] = {{.read = 3000000, .written = 877752}},
        .ops = 3,
        .seconds = 484e-6};
    Roofline got = roofline_judge(&server, &input);
    ck_assert_str_eq(roofline_evidence(&server, &input, &got, text),
                     "26.5 FLOP/B >= ridge 5.74 (333 GFLOP/s / 58.0 GB/s, L3): compute-bound; "
                     "212 of 333 GFLOP/s = 64% of the roof (309 of 484 us)");
    input.cost.macs = 11125000; // the intensity rounds to the ridge
    input.seconds = 100e-6;
    got = roofline_judge(&server, &input);
    ck_assert_str_eq(
        roofline_evidence(&server, &input, &got, text),
        "5.74 FLOP/B, just below ridge 5.74 (333 GFLOP/s / 58.0 GB/s, L3): "
        "memory-bound in L3, near the ridge; 38.8 of 58.0 GB/s = 67% of the roof (66.9 "
        "of 100 us)");
    input.traffic.level[TEAM_ALL][0].written = 0; // then from memory
    got = roofline_judge(&server, &input);
    ck_assert_str_eq(roofline_evidence(&server, &input, &got, text),
                     "5.74 FLOP/B < ridge 8.21 (333 GFLOP/s / 40.6 GB/s, mostly L3): memory-bound "
                     "in L3; 38.8 of 40.6 GB/s = 96% of the roof (95.6 of 100 us)");
    input.cost = (OpCost){.macs = 51380224};
    input.seconds = 2.0;
    got = roofline_judge(&server, &input);
    ck_assert_str_eq(roofline_evidence(&server, &input, &got, text),
                     "no bytes to wait for: compute-bound; 51.4 MFLOP/s of 333 GFLOP/s = <1% of "
                     "the roof (309 us of 2.00 s)");
    input.cost = (OpCost){.macs = 1000};
    got = roofline_judge(&server, &input);
    ck_assert_str_eq(roofline_evidence(&server, &input, &got, text),
                     "3 dispatches cost 120 ns, the roof is 6.01 ns: overhead; <1% of its time "
                     "(120 ns of 2.00 s); no bytes");
}
END_TEST

START_TEST(a_card_is_launched_on_and_copied_to) {
    char text[ROOFLINE_TEXT];
    Machine card = server;
    snprintf(card.device, sizeof card.device, "a card");
    card.dispatch_seconds = 2e-6;
    RooflineInput input = {.cost = {.bytes_read = 20000}, .ops = 2, .seconds = 8e-6};
    Roofline got = roofline_judge(&card, &input);
    ck_assert_str_eq(
        roofline_evidence(&card, &input, &got, text),
        "2 launches cost 4.00 us, the roof is 1.00 us: overhead; 50% of its time (4.00 "
        "of 8.00 us); 0 FLOP/B, ridge 16.6");
    input.cost.bytes_read = 84000; // slightly longer than its launches
    got = roofline_judge(&card, &input);
    ck_assert_str_eq(roofline_evidence(&card, &input, &got, text),
                     "0 FLOP/B < ridge 16.6 (333 GFLOP/s / 20.0 GB/s, DRAM): memory-bound in DRAM, "
                     "between memory and overhead; 10.5 of 20.0 GB/s = 52% of the roof (4.20 of "
                     "8.00 us)");
    input.transfer_bytes = 1 << 20; // rate unknown
    ck_assert_double_eq(roofline_judge(&card, &input).transfer_seconds, 0.0);
    card.from_host_bytes_per_second = 1e9;
    got = roofline_judge(&card, &input);
    check_bound(&got, BOUND_TRANSFER, "1 MiB at 1 GB/s");
}
END_TEST

START_TEST(help_publishes_the_constants) {
    char constant[64];
    int order = 0;
    snprintf(constant, sizeof constant, "a factor of %.2f", ROOFLINE_NEAR_PERCENT / 100.0);
    ck_assert_ptr_nonnull(strstr(roofline_help_text, constant));
    for (int i = 0; i < BOUND_COUNT; i++) {
        snprintf(constant, sizeof constant, "\n  %d %s ", i + 1, bound_name((Bound)i));
        const char *found = strstr(roofline_help_text, constant);
        ck_assert_msg(found != NULL, "no line \"%s\"", constant);
        ck_assert_int_gt((int)(found - roofline_help_text), order);
        order = (int)(found - roofline_help_text);
    }
    const char *line = roofline_help_text;
    for (const char *end; (end = strchr(line, '\n')) != NULL; line = end + 1)
        ck_assert_msg(end - line <= 80, "too wide: %.*s", (int)(end - line), line);
    ck_assert_str_eq(line, ""); // the last line has an end, too
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {laws_hold_for_any_input, 0},
        {a_faster_machine_in_faster_time_gets_the_same_verdict, 0},
        {more_bandwidth_never_turns_compute_into_memory, 0},
        {evidence_fits_whatever_the_figures, 0},
        {without_a_time_there_is_a_bound_and_no_fraction, 4},
        {nothing_counted_is_no_verdict, 0},
        {evidence_is_said_in_one_sentence, 0},
        {a_card_is_launched_on_and_copied_to, 0},
        {help_publishes_the_constants, 0},
        {NULL, 0},
    };
    return harness_main("roofline_laws", tests);
}
