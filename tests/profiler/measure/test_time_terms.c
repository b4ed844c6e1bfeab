// test_time_terms.c -- planted causes of lost time are found under their own names: a kernel that
// does more than its roof, or whose threads write to one cache line, one that sleeps, page faults,
// threads that must be woken, a stranger on the core; and parts of a model add up.
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "profiler/measure/profile.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/nets.h"
#include "tests/helpers/planted.h"

static const Machine machine = {
    .measured = true,
    .threads = 2,
    .peak_flops_per_second = 1e12, // so that roofs take no time
    .levels = {{.name = "DRAM", .bytes = INT64_MAX, .bytes_per_second = 1e12}},
    .n_levels = 1,
    .dispatch_seconds = 1e-9,
    .spin_seconds = 1e-9,
    .wake_seconds = 30e-6};

// ---- planted causes ----------------------------------------------------------------------------
static void spend(double seconds) {
    struct timespec begin, now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while ((double)(now.tv_sec - begin.tv_sec) + 1e-9 * (double)(now.tv_nsec - begin.tv_nsec) <
           seconds);
}

static void rest(long microseconds) {
    nanosleep(&(struct timespec){.tv_nsec = 1000 * microseconds}, NULL);
}

static double work = 1e-3;
static Status work_kernel(const OpCall *call, int64_t begin, int64_t end) {
    (void)call, (void)begin, (void)end;
    spend(work);
    return STATUS_OK;
}

static Status sleep_kernel(const OpCall *call, int64_t begin, int64_t end) {
    (void)call, (void)begin, (void)end;
    rest(2000);
    return STATUS_OK;
}

static Status fault_kernel(const OpCall *call, int64_t begin, int64_t end) {
    (void)call, (void)begin, (void)end;
    const size_t bytes = 4 << 20, page = (size_t)sysconf(_SC_PAGESIZE);
    char *fresh = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (fresh == MAP_FAILED) return STATUS_OUT_OF_MEMORY;
    madvise(fresh, bytes, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < bytes; i += page) *(volatile char *)(fresh + i) = 1;
    munmap(fresh, bytes);
    return STATUS_OK;
}

static void nothing(void *argument, int64_t begin, int64_t end) {
    (void)argument, (void)begin, (void)end;
    spend(1e-5);
}

// Two threads write to their own numbers, which share a cache line.
static void count_beside(void *argument, int64_t begin, int64_t end) {
    volatile int64_t *counters = argument;
    for (int64_t i = begin; i < end; i++)
        for (int k = 0; k < 100000; k++) counters[i]++;
}
static Status share_kernel(const OpCall *call, int64_t begin, int64_t end) {
    (void)call, (void)begin, (void)end;
    static int64_t counters[2];
    cpu_parallel((OpWork){.items = 2, .cost = 1e9, .together = 1}, count_beside, counters);
    return STATUS_OK;
}

// Hands over ten times, with pauses long enough for a worker to fall asleep, or without.
enum { TIMES = 10 };
static void hand_over(double pause) {
    for (int i = 0; i < TIMES; i++) {
        spend(pause);
        cpu_parallel((OpWork){.items = 2, .cost = 1e9, .together = 1}, nothing, NULL);
    }
}
static Status wake_kernel(const OpCall *call, int64_t begin, int64_t end) {
    (void)call, (void)begin, (void)end;
    hand_over(3e-4);
    return STATUS_OK;
}
static Status spin_kernel(const OpCall *call, int64_t begin, int64_t end) {
    (void)call, (void)begin, (void)end;
    hand_over(0.0);
    return STATUS_OK;
}

static Profile profile_by(const Machine *ceilings, CpuKernel kernel, int64_t samples) {
    context_set_threads(2);
    Layer *layer = planted_new(kernel);
    Tensor *x = tensor_full_new(SHAPE(4), 1.0f);
    ProfileOptions options = profile_defaults();
    options.machine = ceilings;
    options.warmup = 2;
    options.iterations = samples;
    Profile profile;
    ck_assert_msg(!profile_inference(layer, x, options, &profile), "%s", error_message());
    tensor_free(x);
    layer_free(layer);
    return profile;
}

static Profile profile_of(CpuKernel kernel, int64_t samples) {
    return profile_by(&machine, kernel, samples);
}

static char seen[100];
// True if cause `wanted` (kernel, off core, fault) takes most of the time, and no other much.
static bool is_found(const Profile *profile, int wanted) {
    const TimeTerms *terms = &profile->totals[REPORT_STEP].terms;
    double seconds = latency_median(&profile->totals[REPORT_STEP].latency);
    double off_core = terms->others - terms->faults;
    if (wanted != 1) seconds -= off_core; // other tests take the core, too
    const double all[] = {terms->kernels, off_core, terms->faults};
    bool found = true;
    for (int i = 0; i < 3; i++) {
        bool there = all[i] > 0.5 * seconds && all[i] < 1.5 * seconds;
        found = found && (i == wanted ? there : i == 1 || all[i] < 0.4 * seconds);
    }
    snprintf(seen, sizeof seen, "%g, %g, %g of %g", all[0], all[1], all[2], seconds);
    return found;
}

// Threads that other work keeps apart do not contend for a line: it is enough if one of a few
// profiles shows a cause.
START_TEST(each_cause_is_found_under_its_name) {
    static const CpuKernel kernels[] = {work_kernel, sleep_kernel, fault_kernel, share_kernel};
    static const int wanted[] = {0, 1, 2, 0};
    enum { TRIES = 5 };
    bool found = false;
    for (int i = 0; i < TRIES && !found; i++) {
        Profile profile = profile_of(kernels[_i], 10);
        found = is_found(&profile, wanted[_i]);
        profile_free(&profile);
    }
    ck_assert_msg(found, "%s", seen);
}
END_TEST

// Wake-ups times this machine's cost of one: sleeping threads are woken, others are not.
START_TEST(handing_over_costs_by_who_sleeps) {
    enum { SAMPLES = 10 };
    Profile profile = profile_of(_i ? wake_kernel : spin_kernel, SAMPLES);
    const ProfileOp *op = &profile.ops[0];
    const TimeTerms *terms = &profile.totals[REPORT_STEP].terms;
    double runs = (double)(SAMPLES * profile.steps_per_sample);
    int64_t handed = (int64_t)runs * TIMES;
    ck_assert_int_le(op->woken, handed);
    if (_i == 0) ck_assert_int_lt(2 * op->woken, handed);
    if (_i == 1) ck_assert_int_gt(10 * op->woken, handed); // few fall asleep beside other work
    ck_assert_double_eq_tol(terms->threads, (double)op->woken / runs * (30e-6 - 1e-9), 1e-12);
    profile_free(&profile);
}
END_TEST

// A kernel of 1 ms under a roof of 0.2 ms: the rest is its own, and nothing is unexplained.
START_TEST(what_a_kernel_takes_beyond_its_roof_is_known) {
    Machine slow = machine;
    slow.levels[0].bytes_per_second = 32 / 0.2e-3; // reads 4 numbers, writes 4
    Profile profile = profile_by(&slow, work_kernel, 10);
    const TimeTerms terms = profile_op_terms(&profile, &profile.ops[0]);
    ck_assert_double_eq_tol(terms.roofs, 0.2e-3, 1e-12);
    ck_assert_msg(fabs(terms.kernels - 0.8e-3) < 0.2e-3, "%g", terms.kernels);
    ck_assert_str_eq(bound_name(profile.ops[0].roofline.bound), "memory");
    ck_assert_str_eq(bound_name(profile.layers[0].phase[REPORT_FORWARD].roofline.bound), "memory");
    profile_free(&profile);
    const TimeTerms known = {.roofs = 1, .kernels = 2, .threads = 4, .others = 8, .faults = 3};
    ck_assert_double_eq(time_terms_left(&known, 40), 25);
    ck_assert_double_eq(time_terms_left(&known, 10), -5);
    ck_assert(isnan(time_terms_left(&(TimeTerms){.others = 1}, 10))); // without ceilings
}
END_TEST

// Alone, a kernel runs warm, whatever the step leaves near: all 32 bytes are in the first level.
START_TEST(a_kernel_alone_finds_its_operands_where_it_left_them) {
    Machine near = machine;
    near.levels[1] = near.levels[0];
    near.levels[0] = (MachineLevel){.name = "L1", .bytes = 32, .bytes_per_second = 1e12};
    near.n_levels = 2;
    Profile profile = profile_by(&near, work_kernel, 2);
    const OpTraffic *warm = &profile.ops[0].warm_traffic;
    ck_assert_uint_eq(warm->level[0].read + warm->level[0].written, 32);
    ck_assert_uint_eq(warm->level[1].read + warm->level[1].written, 0);
    profile_free(&profile);
}
END_TEST

static Status quick_kernel(const OpCall *call, int64_t begin, int64_t end) {
    (void)call, (void)begin, (void)end;
    return STATUS_OK;
}

// A sample of many steps shares its time out. Other work may have the core in some profiles.
START_TEST(a_step_that_never_leaves_the_core_is_always_there) {
    double off = 1.0, steps = 0.0;
    for (int tries = 0; tries < 5 && (steps <= 1.0 || off >= 0.5); tries++) {
        Profile profile = profile_of(quick_kernel, 20);
        const ProfilePhase *step = &profile.totals[REPORT_STEP];
        off = (step->terms.others - step->terms.faults) / latency_median(&step->latency);
        steps = (double)profile.steps_per_sample;
        profile_free(&profile);
    }
    ck_assert_msg(steps > 1.0 && off < 0.5, "%.0f steps a sample, %.2f off the cores", steps, off);
}
END_TEST

// Three other processes want the only core, for longer than the system lets one have it.
START_TEST(strangers_on_the_core_are_time_on_none) {
    cpu_set_t all, one;
    ck_assert_int_eq(sched_getaffinity(0, sizeof all, &all), 0);
    CPU_ZERO(&one);
    for (int i = 0; CPU_COUNT(&one) == 0; i++)
        if (CPU_ISSET(i, &all)) CPU_SET(i, &one);
    sched_setaffinity(0, sizeof one, &one);
    pid_t others[3];
    for (int i = 0; i < 3; i++) {
        others[i] = fork();
        while (others[i] == 0)
            if (getppid() == 1) _exit(0);
    }
    work = 30e-3;
    Profile profile = profile_of(work_kernel, 4);
    for (int i = 0; i < 3; i++) {
        kill(others[i], SIGKILL);
        waitpid(others[i], NULL, 0);
    }
    const TimeTerms *terms = &profile.totals[REPORT_STEP].terms;
    double seconds = latency_median(&profile.totals[REPORT_STEP].latency);
    ck_assert_msg(terms->others > 0.3 * seconds, "%g of %g", terms->others, seconds);
    ck_assert_msg(fabs(terms->kernels - work) < 0.2 * work, "%g of %g", terms->kernels, seconds);
    profile_free(&profile);
}
END_TEST

// ---- terms of a whole --------------------------------------------------------------------------
static void add_terms(TimeTerms *sum, const TimeTerms *terms) {
    sum->roofs += terms->roofs;
    sum->kernels += terms->kernels;
    sum->threads += terms->threads;
}

static void expect_terms(const TimeTerms *got, const TimeTerms *want) {
    ck_assert_double_eq_tol(got->roofs, want->roofs, 1e-9 * (1e-9 + want->roofs));
    ck_assert_double_eq_tol(got->kernels, want->kernels, 1e-9 * (1e-9 + want->kernels));
    ck_assert_double_eq_tol(got->threads, want->threads, 1e-9 * (1e-9 + want->threads));
}

START_TEST(terms_of_layers_are_those_of_their_ops) {
    Net net = net_random(_i);
    NetTask task = net_task_new(&net);
    ProfileOptions options = {.warmup = 2, .iterations = 3, .machine = &machine};
    Profile profile;
    ck_assert_msg(!profile_training(task.model, optimizer_defaults(net.optimizer), task.x,
                                    task.labels, options, &profile),
                  "%s", error_message());
    TimeTerms layers[REPORT_COUNT] = {0}, ops = {0};
    for (int i = 0; i < profile.n_layers; i++)
        for (int p = 0; p < REPORT_COUNT; p++) {
            const ProfilePhase *phase = &profile.layers[i].phase[p];
            ck_assert(phase->terms.kernels >= (double)phase->ops * machine.dispatch_seconds);
            ck_assert(phase->terms.roofs >= phase->roofline.roof_seconds * (1.0 - 1e-9));
            add_terms(&layers[p], &phase->terms);
        }
    for (int64_t i = 0; i < profile.n_ops; i++) {
        const TimeTerms terms = profile_op_terms(&profile, &profile.ops[i]);
        add_terms(&ops, &terms);
    }
    for (int p = 0; p < REPORT_COUNT; p++) expect_terms(&profile.totals[p].terms, &layers[p]);
    expect_terms(&ops, &layers[REPORT_STEP]);
    profile_free(&profile);
    net_task_free(&task);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {{each_cause_is_found_under_its_name, 4},
                                 {handing_over_costs_by_who_sleeps, 2},
                                 {a_kernel_alone_finds_its_operands_where_it_left_them, 0},
                                 {what_a_kernel_takes_beyond_its_roof_is_known, 0},
                                 {a_step_that_never_leaves_the_core_is_always_there, 0},
                                 {strangers_on_the_core_are_time_on_none, 0},
                                 {terms_of_layers_are_those_of_their_ops, 6},
                                 {NULL, 0}};
    return harness_main("time_terms", tests);
}
