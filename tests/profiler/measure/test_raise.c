// test_raise.c -- ceilings that an op was seen to beat: the profile that saw it raises them by at
// most a quarter and not past the level before; the given machine stays unchanged.
#include <time.h>

#include "profiler/measure/profile.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/planted.h"

static const Machine machine = {.measured = true,
                                .threads = 2,
                                .peak_flops_per_second = 1e12, // so that arithmetic takes no time
                                .dispatch_seconds = 1e-9,
                                .spin_seconds = 1e-9};

static const double work = 1e-3; // processor seconds of the op

static Status work_kernel(const OpCall *call, int64_t begin, int64_t end) {
    (void)call, (void)begin, (void)end;
    struct timespec from, now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
    do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while ((double)(now.tv_sec - from.tv_sec) + 1e-9 * (double)(now.tv_nsec - from.tv_nsec) < work);
    return STATUS_OK;
}

typedef struct RaiseCase {
    double roof;      // roof in seconds; the op takes 1 ms
    double nearer;    // how many times as fast the level before is
    int64_t samples;  // samples of the op
    bool given, stay; // ceilings were not measured; must not be raised
    double least, most;
} RaiseCase;

static const RaiseCase raise_cases[] = {
    {1.1e-3, 9.0, 10, false, false, 0.01, 0.25}, // by the measured time
    {1.0, 9.0, 10, false, false, 0.25, 0.25},    // by a quarter at most
    {1.0, 1.06, 10, false, false, 0.06, 0.06},   // not past the level before
    {0.5e-3, 9.0, 10, false, false, 0.0, 0.0},   // slower than its roof
    {1.0, 9.0, 5, false, false, 0.0, 0.0},       // too few samples
    {1.0, 9.0, 10, true, false, 0.0, 0.0},       {5e-3, 9.0, 10, false, true, 0.0, 0.0},
};
enum { RAISE_CASES = sizeof raise_cases / sizeof raise_cases[0] };

// The given ceilings stay unchanged.
START_TEST(an_op_that_beats_its_roof_raises_it_in_this_profile) {
    const RaiseCase *c = &raise_cases[_i];
    Machine low = machine;
    low.measured = !c->given;
    low.levels[1] =
        (MachineLevel){.name = "DRAM", .bytes = INT64_MAX, .bytes_per_second = 32 / c->roof};
    low.levels[0] = (MachineLevel){.name = "L1",
                                   .bytes = 16, // the op moves 32
                                   .bytes_per_second = c->nearer * low.levels[1].bytes_per_second};
    low.n_levels = 2;
    context_set_threads(2);
    Layer *layer = planted_new(work_kernel);
    Tensor *x = tensor_full_new(SHAPE(4), 1.0f);
    ProfileOptions options = {
        .warmup = 2, .iterations = c->samples, .machine = &low, .ceilings_stay = c->stay};
    Profile profile;
    ck_assert_msg(!profile_inference(layer, x, options, &profile), "%s", error_message());
    const MachineRaise *raise = &profile.machine.levels[1].raise;
    double fraction = profile.ops[0].roofline.roof_fraction;
    if (_i == 0 && raise->by == 0.0)
        ck_assert(fraction <= 1.0); // other work had the core
    else
        ck_assert_msg(raise->by > c->least - 1e-9 && raise->by < c->most + 1e-9, "%g", raise->by);
    if (raise->by > 0.0) ck_assert_str_eq(raise->op, profile.layers[0].path);
    if (raise->by > 0.0 && raise->by < 0.249 && c->nearer > 2.0) ck_assert(fraction < 1.0 + 1e-9);
    ck_assert_double_eq(low.levels[1].raise.by, 0.0);
    ck_assert_double_eq(profile.machine.levels[1].bytes_per_second, low.levels[1].bytes_per_second);
    profile_free(&profile);
    tensor_free(x);
    layer_free(layer);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {{an_op_that_beats_its_roof_raises_it_in_this_profile, RAISE_CASES},
                                 {NULL, 0}};
    return harness_main("raise", tests);
}
