// test_metronome.c -- a beat does the same work on any number of cores, leaves the thread where it
// could run before, and accompanies each round of a profile that asks for it.
#include <sched.h>

#include "layers/layer.h"
#include "profiler/measure/metronome.h"
#include "profiler/measure/profile.h"
#include "tensor/clock.h"
#include "tensor/context.h"
#include "tensor/memory.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/harness.h"
#include "tests/helpers/virtual_clock.h"

START_TEST(a_beat_is_some_time_of_each) {
    Metronome *metronome = metronome_new();
    ck_assert_ptr_nonnull(metronome);
    for (int cores = 0; cores <= 1000; cores = 10 * cores + 1) {
        Beat beat = metronome_beat(metronome, cores);
        ck_assert_msg(beat.product > 1e-6 && beat.read > 1e-6, "%g %g", beat.product, beat.read);
    }
    ck_assert_int_ge(metronome_version(), 1);
    metronome_free(metronome);
    metronome_free(NULL);
}
END_TEST

// Even if the thread may run only on a part of the cores.
START_TEST(the_thread_may_run_where_it_could) {
    cpu_set_t before, part, after;
    Metronome *metronome = metronome_new();
    ck_assert_int_eq(sched_getaffinity(0, sizeof before, &before), 0);
    part = before;
    for (int i = 0, left = CPU_COUNT(&before) > 2 ? 2 : 1; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &part) && left-- <= 0) CPU_CLR(i, &part);
    const cpu_set_t *sets[] = {&before, &part};
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(sched_setaffinity(0, sizeof *sets[i], sets[i]), 0);
        metronome_beat(metronome, 8);
        ck_assert_int_eq(sched_getaffinity(0, sizeof after, &after), 0);
        ck_assert(CPU_EQUAL(&after, sets[i]));
    }
    ck_assert_int_eq(sched_setaffinity(0, sizeof before, &before), 0);
    metronome_free(metronome);
}
END_TEST

START_TEST(without_memory_there_is_none) {
    for (uint64_t nth = 1; nth <= 2; nth++) {
        memory_fail_at(nth);
        ck_assert_ptr_null(metronome_new());
        memory_fail_at(0);
        expect_error(STATUS_OUT_OF_MEMORY, nth == 1 ? "" : "4 MB");
    }
}
END_TEST

// A profile that is to be compared has a beat in each round, and no other profile has one.
START_TEST(a_profile_has_one_where_it_is_asked_for) {
    Layer *model = linear_new(8, 4, true);
    Tensor *x = tensor_zeros_new(SHAPE(3, 8));
    for (int asked = 0; asked < 2; asked++) {
        ProfileOptions how = profile_defaults();
        Profile profile;
        how.iterations = 7;
        how.metronome = asked;
        ck_assert_int_eq(profile_inference(model, x, how, &profile), STATUS_OK);
        const ProfileMetronome *metronome = &profile.metronome;
        ck_assert_int_eq(metronome->version, asked ? metronome_version() : 0);
        ck_assert_int_eq(metronome->product.count, asked ? 7 : 0);
        ck_assert_int_eq(metronome->read.count, asked ? 7 : 0);
        ck_assert_int_eq(profile_beat(&profile, 0, true) > 0.0, asked);
        ck_assert_int_eq(profile_beat(&profile, 0, false) > 0.0, asked);
        ck_assert(!(profile_beat(&profile, 1, true) > 0.0));
        profile_free(&profile);
    }
    tensor_free(x);
    layer_free(model);
}
END_TEST

// ---- long steps --------------------------------------------------------------------------------
enum { SLOW = 20, READING = 1000 }; // number of layers; ns
static int64_t shown, readings;
static int64_t shown_now(void) { return shown; }
static void pass(int64_t nanoseconds) {
    shown += nanoseconds;
    readings++;
}

static Tensor *slow_forward(Layer *self, Tensor *const in[], int n_in) {
    (void)self, (void)n_in;
    shown += 10000000;
    return tensor_relu(in[0]);
}
static const LayerType slow_type = {.name = "Slow", .size = sizeof(Layer), .forward = slow_forward};

// Steps of 200 ms, three of them observed. The metronome also runs between the ops of a step, and
// no measured time includes it.
START_TEST(in_a_long_step_it_runs_between_ops) {
    Layer *model = sequential_new();
    Tensor *x = tensor_zeros_new(SHAPE(3));
    Profile profiles[2];
    int64_t read[2];
    for (int i = 0; i < SLOW; i++) layer_append(model, layer_new(&slow_type));
    for (int with = 0; with < 2; with++) {
        ProfileOptions how = profile_defaults();
        how.seconds = 0.1;
        how.metronome = with;
        shown = clock_nanoseconds();
        readings = 0;
        virtual_clock_use((VirtualClock){shown_now, pass, READING});
        Status status = profile_inference(model, x, how, &profiles[with]);
        virtual_clock_use((VirtualClock){0});
        ck_assert(!status && profiles[with].totals[REPORT_STEP].latency.count == 3);
        read[with] = readings;
    }
    ck_assert_int_gt(read[1] - read[0], 3 * SLOW * 5); // a beat reads the clock five times
    for (int p = 0; p < REPORT_COUNT; p++) {
        if (profiles[0].totals[p].ops == 0) continue;
        double without = latency_median(&profiles[0].totals[p].latency);
        double with = latency_median(&profiles[1].totals[p].latency);
        // One reading after each op tells whether a beat is due.
        ck_assert_double_eq_tol(with - without, 1e-9 * SLOW * READING, 2e-9 * READING);
    }
    for (int64_t i = 0; i < profiles[1].n_ops; i++)
        ck_assert_double_eq_tol(latency_median(&profiles[1].ops[i].latency),
                                latency_median(&profiles[0].ops[i].latency), 1e-9 * READING);
    for (int i = 0; i < 2; i++) profile_free(&profiles[i]);
    tensor_free(x);
    layer_free(model);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_beat_is_some_time_of_each, 0},        {the_thread_may_run_where_it_could, 0},
        {without_memory_there_is_none, 0},       {a_profile_has_one_where_it_is_asked_for, 0},
        {in_a_long_step_it_runs_between_ops, 0}, {NULL, 0},
    };
    return harness_main("metronome", tests);
}
