// test_cuda_orders.c -- the cuda device under every order of threads, blocks and streams that the
// emulator knows, and with so few blocks that loops reach their second round: every op case and
// training leaves the same bits. Where bits differ, a barrier or a wait is missing.
#include <stdlib.h>
#include <string.h>

#include "tests/cuda/cuda_device.h"
#include "tests/cuda/cuda_runs.h"
#include "tests/helpers/expect.h"

enum { CASES_A_TEST = 16, STEPS = 20, MOST_KERNELS = 128 };

typedef struct World { // settings that must not change a run
    const char *schedule;
    int streams;                                  // FAKE_LATE ...
    int blocks;                                   // most blocks of looping kernels; 0: as on a GPU
    enum { ALWAYS, UNHURRIED, SMALL_CASES } when; // even with a sanitizer; without; small cases
} World;

// The first world with a number of blocks is the reference for the others with that number. A sum
// over blocks depends on their number, so across numbers the case's tolerance applies.
static const World worlds[] = {
    {"forward", FAKE_LATE, 0, ALWAYS},           {"reverse", FAKE_LATE, 0, UNHURRIED},
    {"random:1", FAKE_REVERSED, 0, SMALL_CASES}, {"random:20261121", FAKE_EAGER, 0, SMALL_CASES},
    {"forward", FAKE_LATE, 1, ALWAYS},           {"reverse", FAKE_EAGER, 1, ALWAYS},
    {"forward", FAKE_REVERSED, 3, SMALL_CASES},  {"random:7", FAKE_LATE, 3, SMALL_CASES},
};
enum { WORLDS = sizeof(worlds) / sizeof(worlds[0]) };

// The index of the next world after `w` to visit, or WORLDS.
static int next_world(int w, bool small) {
    const char *multiplier = getenv("CK_TIMEOUT_MULTIPLIER");
    bool slow = multiplier && atof(multiplier) > 1.0; // as under a sanitizer
    do w++;
    while (w < WORLDS && (int)worlds[w].when > (slow ? ALWAYS : small ? SMALL_CASES : UNHURRIED));
    return w;
}

static const char *world_name(const World *world) {
    static const char *const streams[] = {"late", "reversed", "eager"};
    static char name[96];
    snprintf(name, sizeof name, "schedule %s, streams %s, %d blocks", world->schedule,
             streams[world->streams], world->blocks);
    return name;
}

static void enter(const World *world) {
    FAKE(bool, emulator_set_schedule, const char *);
    FAKE(void, emulator_set_most_blocks, int);
    FAKE(void, fake_set_streams, int);
    ck_assert(emulator_set_schedule(world->schedule));
    emulator_set_most_blocks(world->blocks);
    fake_set_streams(world->streams);
}

// Without a cache every result lies in memory that was NaN before.
static Device *open_device(void) {
    setenv("RIDGEPOINT_ALLOC", "raw", 1);
    return cuda_device_use();
}

// ---- op cases ----------------------------------------------------------------------------------
// Runs again, keeping the results of all ops, to name the op that differs.
static void tell_difference(const OpCase *self, Device *device, const World *a, const World *b,
                            const char *what) {
    char values[256];
    snprintf(values, sizeof values, "%s", what);
    enter(a);
    Outcome *of_a = outcome_of_case(self, device, true);
    enter(b);
    Outcome *of_b = outcome_of_case(self, device, true);
    const char *op = outcome_op_difference(of_a, of_b);
    ck_abort_msg("%s: %s under %s; op by op: %s", self->name, values, world_name(b),
                 op ? op : "the same, so a wait is missing and not a barrier");
}

static void check_case(const OpCase *self, Device *device) {
    Outcome *first = NULL, *reference = NULL;
    bool small = op_case_is_small(self);
    for (int w = 0, of = 0; w < WORLDS; w = next_world(w, small)) {
        enter(&worlds[w]);
        Outcome *outcome = outcome_of_case(self, device, false);
        if (w == 0) first = outcome;
        if (w == 0 || worlds[w].blocks != worlds[of].blocks) {
            if (reference != first) outcome_free(reference);
            reference = outcome;
            of = w;
            harness_assert_close(outcome->values, first->values, first->count, self->absolute,
                                 self->relative, self->name);
            continue;
        }
        const char *what = outcome_difference(reference, outcome);
        if (what) tell_difference(self, device, &worlds[of], &worlds[w], what);
        outcome_free(outcome);
    }
    if (reference != first) outcome_free(reference);
    outcome_free(first);
}

START_TEST(every_case_leaves_the_same_bits_in_every_order) {
    Device *device = open_device();
    int end = (_i + 1) * CASES_A_TEST;
    for (int i = _i * CASES_A_TEST; i < end && i < op_case_count(); i++) {
        OpCase self = op_case_at(i);
        check_case(&self, device);
    }
}
END_TEST

// ---- training ----------------------------------------------------------------------------------
START_TEST(training_leaves_the_same_bits_in_every_order) {
    Device *device = open_device();
    Outcome *reference = NULL;
    for (int w = 0, of = 0; w < WORLDS; w = next_world(w, true)) {
        enter(&worlds[w]);
        Outcome *outcome = outcome_of_training(outcome_training(_i, STEPS), device);
        if (w == 0 || worlds[w].blocks != worlds[of].blocks) {
            outcome_free(reference);
            reference = outcome;
            of = w;
            continue;
        }
        const char *what = outcome_difference(reference, outcome);
        ck_assert_msg(!what, "%s under %s", what, world_name(&worlds[w]));
        outcome_free(outcome);
    }
    outcome_free(reference);
}
END_TEST

// ---- second rounds -----------------------------------------------------------------------------
typedef struct Kernel { // as EmulatorKernel of emulator.h
    const char *name;
    unsigned blocks;
} Kernel;

static bool runs_one_block(const char *kernel) {
    static const char *const kernels[] = {"adam_begin", "norm_finish", "nll_divide", "batch_count"};
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        if (strcmp(kernel, kernels[i]) == 0) return true;
    return false;
}

static int with_several_blocks(const Kernel kernels[], int count) {
    int several = 0;
    for (int i = 0; i < count; i++) several += kernels[i].blocks > 1;
    return several;
}

static void run_case(int index, Device *device) {
    OpCase self = op_case_at(index);
    outcome_free(outcome_of_case(&self, device, false));
}

// A kernel that loops over blocks works with any number of them. The tests above compare the values
// of such runs. This test checks that the table has a large enough case for each kernel, and that
// most do loop: the first such case of each kernel runs again with one block.
START_TEST(every_kernel_has_a_case_of_several_blocks_and_most_make_do_with_one) {
    harness_allow(4); // all cases of all ops: 18 seconds, and growing
    FAKE(int, emulator_kernels, Kernel *, int);
    FAKE(void, emulator_forget_kernels, void);
    Device *device = open_device();
    Kernel kernels[MOST_KERNELS];
    int first[MOST_KERNELS], firsts = 0, several = 0, count = 0, one = 0;
    emulator_forget_kernels();
    enter(&worlds[0]);
    for (int i = 0; i < op_case_count(); i++) {
        run_case(i, device);
        count = emulator_kernels(kernels, MOST_KERNELS);
        ck_assert_int_le(count, MOST_KERNELS);
        int now = with_several_blocks(kernels, count);
        if (now > several) first[firsts++] = i;
        several = now;
    }
    ck_assert_int_gt(count, 10);
    for (int i = 0; i < count; i++)
        ck_assert_msg(kernels[i].blocks > 1 || runs_one_block(kernels[i].name),
                      "kernel %s never gets a second block. HINT: a larger case in op_shapes.h",
                      kernels[i].name);
    emulator_forget_kernels();
    enter(&(World){"forward", FAKE_LATE, 1, ALWAYS});
    for (int i = 0; i < firsts; i++) run_case(first[i], device);
    int again = emulator_kernels(kernels, MOST_KERNELS);
    for (int i = 0; i < again; i++) one += kernels[i].blocks == 1;
    ck_assert_int_gt(one, count / 2);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {every_case_leaves_the_same_bits_in_every_order,
         (op_case_count() + CASES_A_TEST - 1) / CASES_A_TEST},
        {training_leaves_the_same_bits_in_every_order, OUTCOME_TRAININGS},
        {every_kernel_has_a_case_of_several_blocks_and_most_make_do_with_one, 0},
        {NULL, 0},
    };
    return harness_main("cuda_orders", tests);
}
