// test_timeline_traffic.c -- a timeline notes its ops and computes their traffic later, as a
// recorder does at once: asked at the end, in between, with a full log, after a rewind.
#include <string.h>

#include "profiler/session/profiler.h"
#include "tests/helpers/expect.h"

static const Machine machine = {
    .peak_flops_per_second = 1e9,
    .threads = 1,
    .levels = {{.name = "L1", .bytes = 1000, .bytes_per_second = 3e9},
               {.name = "L2", .bytes = 10000, .bytes_per_second = 2e9},
               {.name = "DRAM", .bytes = INT64_MAX, .bytes_per_second = 1e9}},
    .n_levels = 3};
enum { L1, L2, DRAM };

enum { TENSORS = 60, EVENTS = 400 };
static Tensor *tensors[TENSORS];

static void tensors_begin(void) {
    for (int i = 0; i < TENSORS; i++) tensors[i] = tensor_full_new(SHAPE(1 + 7 * i), 1.0f);
}
static void tensors_end(void) {
    for (int i = 0; i < TENSORS; i++) tensor_free(tensors[i]);
}

static uint32_t state;
static int random_below(int n) {
    state = state * 1664525u + 1013904223u;
    return (int)((state >> 8) % (uint32_t)n);
}

// Runs a random op, sometimes one that fails or has many operands. A log of 4,096 touches and four
// for each event is full after some fifty of these.
static void run_op(void) {
    Scope *scope = scope_open();
    Tensor *x = tensors[random_below(TENSORS)], *y = tensors[random_below(TENSORS)];
    OpParams half = {.value = {0.5f}};
    switch (random_below(6)) {
    case 0:
        tensor_fill(x, 2.0f);
        break;
    case 1:
        tensor_relu(x);
        break;
    case 2:
        OP_INTO(&x, op_mul_scalar, &half, x);
        break;
    case 3:
        tensor_reshape(x, SHAPE(x->numel, 1));
        break;
    case 4:
        tensor_add(x, y); // usually of two shapes
        error_clear();
        break;
    default:
        for (int i = 0; i < 3; i++) tensor_concat(tensors, TENSORS, 0);
    }
    scope_close(scope);
}

// Asks for the traffic so far every asked_each[_i] ops; 0: only at the end.
START_TEST(what_is_found_later_is_what_was_there) {
    static const int asked_each[] = {0, 1, 7};
    Timeline timeline;
    StepRecord record;
    TimelineOptions options = {
        .capacity = EVENTS, .costs = true, .sites = true, .machine = &machine};
    tensors_begin();
    state = 5u + (uint32_t)_i;
    ck_assert(!timeline_new(&timeline, options));
    step_record_start(&record, &machine);
    ck_assert(!timeline_start(&timeline));
    for (int i = 0; timeline.count + 8 < EVENTS; i++) {
        run_op();
        if (asked_each[_i] && i % asked_each[_i] == 0) timeline_traffic(&timeline);
    }
    ck_assert(!timeline_stop(&timeline));
    step_record_stop(&record);
    const OpTraffic *traffic = timeline_traffic(&timeline);
    int64_t n = 0;
    for (int64_t i = 0; i < timeline.count; i++) {
        const ProfileEvent *event = &timeline.events[i];
        const OpCost *cost = &timeline.costs[i];
        if (event->kind != EVENT_OP || cost->bytes_read + cost->bytes_written == 0) continue;
        while (n < record.n_ops && record.ops[n].op != event->op) n++; // skips views
        ck_assert_int_lt(n, record.n_ops);
        const OpTraffic *found = &traffic[i], *there = &record.ops[n++].traffic;
        ck_assert_int_eq(found->team, there->team);
        ck_assert_msg(memcmp(found, there, offsetof(OpTraffic, team)) == 0, "event %d, %s", (int)i,
                      event->op->name);
    }
    ck_assert_int_gt(n, 100);
    timeline_free(&timeline);
    step_record_free(&record);
    tensors_end();
}
END_TEST

// ---- a session ---------------------------------------------------------------------------------
// The level of the only op's bytes; -1: none.
static int level_of(const Profiler *profiler) {
    ProfilerSummary summary;
    int level = -1;
    ck_assert(!profiler_summarise(profiler, &summary));
    for (int i = 0; i < summary.n_rows; i++)
        for (int l = L1; l <= DRAM; l++)
            if (summary.rows[i].kind == EVENT_OP && traffic_bytes(&summary.rows[i].traffic, l) > 0)
                level = l;
    profiler_summary_free(&summary);
    return level;
}

// Steps kept after warm-up steps find the caches as those left them, even if somebody asks in
// between; without warm-up the bytes come from memory. A view touches nothing.
START_TEST(steps_for_warming_up_warm_the_caches) {
    ProfilerOptions options = profiler_defaults();
    options.machine = &machine;
    options.schedule = (ProfilerSchedule){.warmup = _i, .active = 1, .repeat = 1};
    Profiler *profiler = profiler_new(options);
    Tensor *x = tensor_full_new(SHAPE(100), 1.0f);
    ck_assert(!profiler_start(profiler));
    for (int step = 0; step <= _i; step++) {
        Scope *scope = scope_open();
        if (step == _i) tensor_reshape(x, SHAPE(10, 10));
        tensor_fill(x, 2.0f);
        scope_close(scope);
        if (step == 0 && _i > 1) ck_assert_int_eq(level_of(profiler), DRAM);
        profiler_step(profiler);
    }
    ck_assert(!profiler_stop(profiler));
    ck_assert_int_eq(level_of(profiler), _i ? L1 : DRAM);
    ck_assert_int_eq(level_of(profiler), _i ? L1 : DRAM); // asking again changes nothing
    profiler_free(profiler);
    tensor_free(x);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {{what_is_found_later_is_what_was_there, 3},
                                 {steps_for_warming_up_warm_the_caches, 3},
                                 {NULL, 0}};
    return harness_main("timeline_traffic", tests);
}
