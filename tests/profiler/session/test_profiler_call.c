// test_profiler_call.c -- the costs of one call of a function: seconds, bytes, and its ops.
#include <math.h>
#include <time.h>

#include "profiler/session/profiler.h"
#include "tests/helpers/expect.h"

typedef struct Task {
    Layer *layer;
    Tensor *x, *kept;
} Task;

static void sleep_20_ms(void *argument) {
    (void)argument;
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
}

static void spend_20_ms(void *argument) {
    (void)argument;
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    int64_t begin = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec, end = begin;
    while (end - begin < 20000000) {
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        end = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    }
}

START_TEST(seconds_pass_and_processor_time_only_where_one_works) {
    ProfilerCall asleep, busy;
    ck_assert_int_eq(profiler_call(sleep_20_ms, NULL, &asleep), STATUS_OK);
    ck_assert_int_eq(profiler_call(spend_20_ms, NULL, &busy), STATUS_OK);
    ck_assert_msg(asleep.seconds >= 0.02 && asleep.seconds < harness_patience(2.0), "%g",
                  asleep.seconds);
    ck_assert_msg(asleep.cpu_seconds < 0.01, "%g", asleep.cpu_seconds);
    ck_assert_msg(busy.seconds >= 0.02 && busy.cpu_seconds >= 0.0199, "%g", busy.cpu_seconds);
    ck_assert(asleep.ops == 0 && asleep.peak.total == 0 && asleep.left.total == 0);
}
END_TEST

// Allocates 400 bytes and then 1200, and keeps the 400; let_go frees them.
static void make_and_keep(void *argument) {
    Task *task = argument;
    task->kept = tensor_zeros_new(SHAPE(100));
    Tensor *more = tensor_zeros_new(SHAPE(300));
    tensor_free(more);
}

static void let_go(void *argument) {
    Task *task = argument;
    tensor_free(task->kept);
    task->kept = NULL;
}

START_TEST(bytes_are_those_beyond_what_was_there) {
    Task task = {0};
    Tensor *before = tensor_zeros_new(SHAPE(1000));
    ProfilerCall made, gone;
    ck_assert_int_eq(profiler_call(make_and_keep, &task, &made), STATUS_OK);
    ck_assert_int_eq(profiler_call(let_go, &task, &gone), STATUS_OK);
    ck_assert_int_eq(made.peak.total, 1600);
    ck_assert_int_eq(made.left.total, 400);
    ck_assert_int_eq(gone.peak.total, 0);
    ck_assert_int_eq(gone.left.total, -400);
    int64_t sum = 0;
    for (int c = 0; c < MEM_COUNT; c++) sum += made.peak.category[c];
    ck_assert_int_eq(sum, 1600);
    tensor_free(before);
}
END_TEST

// A reader of the peak over a longer time finds its maximum, whether before the call or in it.
START_TEST(the_peak_of_a_longer_time_stays_the_highest) {
    Task task = {0};
    Tensor *first = tensor_zeros_new(SHAPE(1)); // creates the ledger
    Ledger *ledger = context_current()->ledger;
    ProfilerCall call;
    ledger_reset_peak(ledger);
    int64_t start = ledger->live.total;
    tensor_free(tensor_zeros_new(SHAPE(_i ? 5000 : 5)));
    profiler_call(make_and_keep, &task, &call);
    ck_assert_int_eq(ledger->peak.total - start, _i ? 20000 : 1600);
    ck_assert_int_eq(call.peak.total, 1600);
    let_go(&task);
    tensor_free(first);
}
END_TEST

static void forward(void *argument) {
    Task *task = argument;
    Scope *scope = scope_open();
    no_grad_begin();
    layer_forward(task->layer, task->x);
    no_grad_end();
    scope_close(scope);
}

START_TEST(ops_have_the_counts_of_the_engine) {
    Task task = {.layer = mlp_new((int64_t[]){7, 5, 3}, 3, mlp_defaults()),
                 .x = tensor_full_new(SHAPE(4, 7), 1.0f)};
    uint64_t flops, read, written;
    ProfilerCall call, again;
    ck_assert_int_eq(profiler_call(forward, &task, &call), STATUS_OK);
    ck_assert_int_eq(profiler_count_flops(task.layer, task.x, &flops), STATUS_OK);
    ck_assert_int_eq(profiler_count_bytes(task.layer, task.x, &read, &written), STATUS_OK);
    ck_assert_uint_eq(2 * call.cost.macs, 4 * flops);
    ck_assert_uint_eq(call.cost.bytes_read, read);
    ck_assert_uint_eq(call.cost.bytes_written, written);
    ck_assert(call.ops >= 3 && call.uncounted == 0 && call.left.total == 0);
    ck_assert_int_eq(profiler_call(forward, &task, &again), STATUS_OK);
    ck_assert(again.ops == call.ops && again.peak.total == call.peak.total);
    tensor_free(task.x);
    layer_free(task.layer);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

START_TEST(what_fails_is_told_and_watched_no_longer) {
    Task task = {.layer = linear_new(7, 5, true), .x = tensor_full_new(SHAPE(4, 6), 1.0f)};
    ProfilerCall call;
    ck_assert_int_eq(profiler_call(forward, &task, &call), STATUS_SHAPE);
    ck_assert(call.seconds > 0.0 && call.ops == 0);
    ck_assert(!context_current()->observers);
    ck_assert_int_eq(profiler_call(forward, &task, &call), STATUS_SHAPE); // an error is pending
    ck_assert(call.seconds == 0.0);
    error_clear();
    ck_assert_int_eq(profiler_call(NULL, &task, &call), STATUS_INVALID_ARGUMENT);
    expect_error(STATUS_INVALID_ARGUMENT, "no function");
    tensor_free(task.x);
    layer_free(task.layer);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {{seconds_pass_and_processor_time_only_where_one_works, 0},
                                 {bytes_are_those_beyond_what_was_there, 0},
                                 {the_peak_of_a_longer_time_stays_the_highest, 2},
                                 {ops_have_the_counts_of_the_engine, 0},
                                 {what_fails_is_told_and_watched_no_longer, 0},
                                 {NULL, 0}};
    return harness_main("profiler_call", tests);
}
