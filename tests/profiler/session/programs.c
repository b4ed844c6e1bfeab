// programs.c -- the actions of a random program, and the clock that it advances.
#include "tests/profiler/session/programs.h"

#include "tests/helpers/virtual_clock.h"

ProfilerSchedule schedule_random(int seed) {
    RandomState random = {.seed = 70 + (uint64_t)seed};
    ProfilerSchedule schedule = {.skip = random_next_below(&random, 5)};
    if (seed % 5 == 0) return schedule;
    schedule.active = 1 + random_next_below(&random, 5);
    schedule.wait = random_next_below(&random, 4);
    schedule.warmup = random_next_below(&random, 4);
    schedule.repeat = random_next_below(&random, 4);
    return schedule;
}

static int64_t shown;
static int64_t shown_now(void) { return shown; }
static void pass_shown(int64_t nanoseconds) { shown += nanoseconds; }

void program_clock_begin(void) { virtual_clock_use((VirtualClock){shown_now, pass_shown, 0}); }

void program_clock_end(void) { virtual_clock_use((VirtualClock){0}); }

// ---- actions -----------------------------------------------------------------------------------
static void run(Program *program, int depth);

static void run_scope(Program *program, int depth) {
    static const char *const names[] = {"a", "b", "c"};
    PROFILE_SCOPE(names[random_next_below(&program->random, 3)]) {
        run(program, depth + 1);
        if (random_next_below(&program->random, 4) == 0) return;
    }
}
static void run_kernel(Program *program, int depth) {
    PROFILE_KERNEL("kernel", 7, 9) {
        run(program, depth + 1);
        if (random_next_below(&program->random, 4) == 0) break;
    }
}
static void run_op(Program *program, int depth) {
    (void)depth;
    ck_assert(tensor_relu(program->x));
}
static void run_layers(Program *program, int depth) {
    (void)depth;
    ck_assert(layer_forward(program->model, program->x));
}
static void run_counter(Program *program, int depth) {
    (void)program;
    profiler_counter("depth", (double)depth);
}
static void run_step(Program *program, int depth) {
    (void)depth;
    profiler_step(program->profiler);
    profiler_step(program->second);
}
static void run_restart(Program *program, int depth) {
    (void)depth;
    ck_assert_int_eq(profiler_stop(program->profiler), STATUS_OK);
    if (program->second) ck_assert_int_eq(profiler_stop(program->second), STATUS_OK);
    if (random_next_below(&program->random, 2)) run_op(program, depth);
    ck_assert_int_eq(profiler_start(program->profiler), STATUS_OK);
    if (program->second) ck_assert_int_eq(profiler_start(program->second), STATUS_OK);
}

static void run(Program *program, int depth) {
    static void (*const actions[])(Program *, int) = {run_scope, run_scope,  run_kernel,
                                                      run_op,    run_layers, run_counter,
                                                      run_step,  run_restart};
    enum { ACTIONS = sizeof actions / sizeof *actions };
    int64_t n = depth > 6 ? 0 : 1 + random_next_below(&program->random, 6);
    for (int64_t i = 0; i < n && program->left-- > 0; i++) {
        pass_shown(1 + random_next_below(&program->random, 1000));
        actions[random_next_below(&program->random, ACTIONS)](program, depth);
        pass_shown(1 + random_next_below(&program->random, 1000));
    }
}

void program_take_actions(Program *program) {
    while (program->left > 0) run(program, 0);
}
