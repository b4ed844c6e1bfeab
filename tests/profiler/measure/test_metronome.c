// test_metronome.c -- a beat is of the same work on however many cores, leaves the thread where it
// could run before, and stands beside each round of a profile that asks for it.
#include <sched.h>

#include "layers/layer.h"
#include "profiler/measure/metronome.h"
#include "profiler/profile.h"
#include "tensor/context.h"
#include "tensor/memory.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/harness.h"

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

// Also where it may run on a part of the cores only.
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

// Beside each round of a profile that is to be compared, and of no other.
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

int main(void) {
    const HarnessTest tests[] = {
        {a_beat_is_some_time_of_each, 0},
        {the_thread_may_run_where_it_could, 0},
        {without_memory_there_is_none, 0},
        {a_profile_has_one_where_it_is_asked_for, 0},
        {NULL, 0},
    };
    return harness_main("metronome", tests);
}
