// test_trace.c -- profiler/files/trace: made-up programs and real training runs, and files that
// cannot be written. TRACE_FILE=trace.json CK_RUN_CASE='a_training_run_is_traced[0]' leaves one for
// tools/check_trace.
#include "profiler/files/trace.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layers/train/fit.h"
#include "tensor/clock.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/nets.h"
#include "tests/profiler/files/trace_document.h"

enum { ROOM = 4000, SITES = 5, OPS = 3 };

// ---- made-up programs --------------------------------------------------------------------------
static const Op made_ops[OPS] = {{.name = "matmul"}, {.name = "relu"}, {.name = "copy"}};

typedef struct Program { // makes up events of nested sites and ops, by its own clock
    Timeline timeline;
    RandomState random;
    int64_t now, step_began, steps;
    int depth;
    int pace;         // largest distance between two moments, ns
    bool steps_cross; // a step may end anywhere; otherwise only outside all sites
} Program;

static int64_t below(Program *program, int64_t n) { return random_next_below(&program->random, n); }

static void tick(Program *program) {
    program->now += below(program, program->pace + 1);
    if (below(program, 15) || (program->depth > 0 && !program->steps_cross)) return;
    timeline_add(&program->timeline, (ProfileEvent){.begin = program->step_began,
                                                    .end = program->now,
                                                    .step = program->steps++,
                                                    .site = -1,
                                                    .kind = EVENT_STEP});
    program->step_began = program->now;
}

static ProfileEvent make_moment(Program *program) {
    ProfileEvent event = {.counter = "loss", .value = 0.5, .kind = EVENT_COUNTER};
    if (below(program, 2)) {
        event = (ProfileEvent){.category = MEM_GRADIENT, .kind = EVENT_MEMORY};
        event.value = (double)below(program, 1000000);
    }
    event.begin = event.end = program->now;
    return event;
}

static void make_events(Program *program, int count) {
    for (int i = 0; i < count; i++) {
        tick(program);
        ProfileEvent event = {.begin = program->now, .depth = (uint16_t)program->depth};
        event.phase = (uint8_t)below(program, PHASE_COUNT);
        event.site = (int32_t)below(program, SITES + 1) - 1;
        event.kind = event.site >= 0 && below(program, 3) == 0 ? EVENT_SITE : EVENT_OP;
        if (event.kind == EVENT_OP) event.op = &made_ops[below(program, OPS)];
        program->depth++;
        if (event.kind == EVENT_SITE && program->depth < 20)
            make_events(program, (int)below(program, 5));
        if (event.kind == EVENT_OP && below(program, 3) == 0)
            timeline_add(&program->timeline, make_moment(program));
        tick(program);
        program->depth--;
        event.end = program->now;
        timeline_add(&program->timeline, event);
    }
}

// A random program; gives the current context its sites "s0" to "s4".
static Program program_new(int seed, int64_t clock) {
    static const int paces[] = {1, 3, 2000, 1000000000};
    for (int i = 0; i < SITES; i++) {
        char name[8];
        snprintf(name, sizeof name, "s%d", i);
        site_leave(site_enter((uintptr_t)&made_ops, name, i ? "Linear" : "scope"));
    }
    Program program = {.random = {.seed = 70 + (uint64_t)seed}, .now = clock, .step_began = clock};
    program.pace = paces[seed % 4];
    program.steps_cross = seed % 3 == 0;
    ck_assert_int_eq(timeline_new(&program.timeline, (TimelineOptions){.capacity = ROOM}), 0);
    make_events(&program, 60);
    ck_assert_int_eq(program.timeline.dropped, 0);
    return program;
}

// ---- made-up programs are traced as they ran -------------------------------------------------
static int64_t dropped_events(const TraceDocument *document) {
    json_t *other = json_object_get(document->root, "otherData");
    return json_integer_value(json_object_get(other, "dropped_events"));
}

START_TEST(any_program_is_there_once_nested_and_to_the_nanosecond) {
    Program program = program_new(_i, 5000 + _i);
    TraceDocument document = trace_document_new(&program.timeline, (TraceOptions){0});
    trace_check_rules(&document);
    trace_check_complete(&document, &program.timeline);
    ck_assert_int_eq(dropped_events(&document), 0);
    trace_document_free(&document);
    timeline_free(&program.timeline);
}
END_TEST

START_TEST(days_of_uptime_keep_their_nanoseconds) {
    const int64_t days = INT64_C(86400000000000);
    Program program = program_new(_i, 4000 * days + 123456789);
    TraceDocument document = trace_document_new(&program.timeline, (TraceOptions){0});
    ck_assert_int_ge(document.base, 4000 * days + 123456789);
    trace_check_complete(&document, &program.timeline);
    trace_document_free(&document);
    timeline_free(&program.timeline);
}
END_TEST

// The n-th slice or counter in the file.
static json_t *recorded_event(const TraceDocument *document, int64_t n) {
    size_t i;
    json_t *event;
    json_array_foreach(document->events, i, event) {
        const char *phase = json_string_value(json_object_get(event, "ph"));
        if (strchr("XC", phase[0]) && n-- == 0) return event;
    }
    return NULL;
}

START_TEST(a_cap_keeps_what_began_first_and_counts_the_rest) {
    Program program = program_new(_i, 77);
    program.timeline.dropped = 7;
    TraceDocument all = trace_document_new(&program.timeline, (TraceOptions){0});
    int64_t count = program.timeline.count;
    for (int64_t most = 1; most < count + 60; most += 59) {
        TraceOptions options = {.most_events = most};
        TraceDocument some = trace_document_new(&program.timeline, options);
        trace_check_rules(&some);
        int64_t written = some.n_slices + some.n_counters;
        ck_assert_int_eq(written, most < count ? most : count);
        ck_assert_int_eq(dropped_events(&some), 7 + count - written);
        for (int64_t n = 0; n < written; n += 11) {
            json_t *got = recorded_event(&some, n), *want = recorded_event(&all, n);
            ck_assert(json_equal(json_object_get(got, "name"), json_object_get(want, "name")));
            ck_assert(json_equal(json_object_get(got, "ts"), json_object_get(want, "ts")));
        }
        trace_document_free(&some);
    }
    trace_document_free(&all);
    timeline_free(&program.timeline);
}
END_TEST

START_TEST(an_empty_timeline_is_a_trace) {
    Timeline timeline = {.dropped = 3};
    TraceDocument document = trace_document_new(&timeline, (TraceOptions){0});
    ck_assert_int_eq(document.n_slices + document.n_counters + document.n_arrow_ends, 0);
    ck_assert_int_eq(dropped_events(&document), 3);
    ck_assert_uint_eq(json_array_size(document.events), 4); // only names
    trace_document_free(&document);
}
END_TEST

START_TEST(a_counter_that_is_no_number_is_left_out_and_counted) {
    ProfileEvent events[] = {
        {.counter = "loss", .value = (double)NAN, .kind = EVENT_COUNTER},
        {.counter = "loss", .value = 1e-300, .kind = EVENT_COUNTER},
        {.counter = "loss", .value = (double)-INFINITY, .kind = EVENT_COUNTER},
    };
    Timeline timeline = {.events = events, .count = 3};
    TraceDocument document = trace_document_new(&timeline, (TraceOptions){0});
    ck_assert_int_eq(document.n_counters, 1);
    ck_assert_int_eq(dropped_events(&document), 2);
    trace_document_free(&document);
}
END_TEST

START_TEST(of_two_with_the_same_extent_the_outer_comes_first) {
    ProfileEvent events[] = {{.op = &made_ops[0], .begin = 5, .end = 9, .site = -1},
                             {.kind = EVENT_STEP, .step = 1, .begin = 5, .end = 9}};
    Timeline timeline = {.events = events, .count = 2};
    TraceDocument document = trace_document_new(&timeline, (TraceOptions){0});
    ck_assert_str_eq(document.slices[0].name, "ProfilerStep#1");
    ck_assert_str_eq(document.slices[1].name, "matmul");
    trace_document_free(&document);
}
END_TEST

START_TEST(a_step_around_the_deepest_nesting_stays_on_its_track) {
    ProfileEvent events[TIMELINE_MOST_DEPTH + 1];
    int count = TIMELINE_MOST_DEPTH + 1;
    for (int i = 0; i < count; i++)
        events[i] = (ProfileEvent){.op = &made_ops[1], .begin = count - i, .end = count + i};
    events[count - 1].kind = EVENT_STEP;
    events[count - 1].step = 1;
    Timeline timeline = {.events = events, .count = count};
    TraceDocument document = trace_document_new(&timeline, (TraceOptions){0});
    trace_check_rules(&document);
    ck_assert_int_eq(document.slices[0].track, 1);
    trace_document_free(&document);
}
END_TEST

// ---- training --------------------------------------------------------------------------------
static void add_step(Timeline *timeline, int64_t number, int64_t *began) {
    int64_t now = clock_nanoseconds();
    timeline_add(timeline,
                 (ProfileEvent){
                     .begin = *began, .end = now, .step = number, .site = -1, .kind = EVENT_STEP});
    *began = now;
}

// Trains three steps of a net, each in a scope; `across`: a step ends while the scope is open.
static Timeline train(const Net *net, bool costs, bool across) {
    NetTask task = net_task_new(net);
    Optimizer *optimizer = optimizer_new(task.model, optimizer_defaults(net->optimizer));
    Timeline timeline;
    ck_assert_int_eq(timeline_new(&timeline, (TimelineOptions){.capacity = ROOM,
                                                               .sites = true,
                                                               .memory = true,
                                                               .costs = costs}),
                     STATUS_OK);
    timeline_start(&timeline);
    int64_t began = clock_nanoseconds();
    for (int64_t i = 0; i < 3; i++) {
        double loss;
        int previous = site_enter((uintptr_t)&task, "train", "scope");
        ck_assert_int_eq(train_step(task.model, optimizer, task.x, task.labels, &loss), 0);
        if (across) add_step(&timeline, i, &began);
        site_leave(previous);
        if (!across) add_step(&timeline, i, &began);
        for (Observer *o = context_current()->observers; o; o = o->next)
            if (o->counter) o->counter(o, "loss", loss);
    }
    timeline_stop(&timeline);
    ck_assert_int_eq(timeline.dropped, 0);
    optimizer_free(optimizer);
    net_task_free(&task);
    return timeline;
}

START_TEST(a_training_run_is_traced) {
    Net net = net_random(_i);
    Timeline timeline = train(&net, true, _i % 4 == 3);
    TraceDocument document = trace_document_new(&timeline, (TraceOptions){.process = "training"});
    trace_check_rules(&document);
    trace_check_complete(&document, &timeline);
    // Every step has an arrow for each layer with a weight, and one for the loss.
    ck_assert_int_ge(document.n_arrow_ends, 2 * 3 * net.n_sizes);
    int steps = 0;
    for (int i = 0; i < document.n_slices; i++) {
        TraceSlice *slice = &document.slices[i];
        char name[24];
        snprintf(name, sizeof name, "ProfilerStep#%d", steps);
        if (strncmp(slice->name, "ProfilerStep", 12) != 0) continue;
        ck_assert_str_eq(slice->name, name);
        ck_assert_int_eq(slice->track, _i % 4 == 3 ? 2 : 1);
        steps++;
    }
    ck_assert_int_eq(steps, 3);
    const char *keep = getenv("TRACE_FILE");
    if (keep) ck_assert_int_eq(trace_write(&timeline, (TraceOptions){.process = keep}, keep), 0);
    trace_document_free(&document);
    timeline_free(&timeline);
}
END_TEST

static uint64_t sum(const TraceDocument *document, const char *key) {
    uint64_t total = 0;
    for (int i = 0; i < document->n_slices; i++)
        total += (uint64_t)json_integer_value(trace_argument(document->slices[i].event, key));
    return total;
}

START_TEST(ops_carry_what_they_cost) {
    Net net = net_random(_i);
    for (int costs = 0; costs < 2; costs++) {
        Timeline timeline = train(&net, costs, false);
        OpCost want = {0};
        for (int64_t i = 0; i < timeline.count && costs; i++) {
            if (timeline.events[i].kind != EVENT_OP) continue;
            const OpCost *cost = &timeline.costs[i];
            want.macs += cost->macs;
            want.elementwise_flops += op_cost_total_flops(*cost) - 2 * cost->macs;
            want.bytes_read += cost->bytes_read;
            want.bytes_written += cost->bytes_written;
        }
        TraceDocument document = trace_document_new(&timeline, (TraceOptions){0});
        ck_assert_uint_eq(sum(&document, "flops"), 2 * want.macs);
        ck_assert_uint_eq(sum(&document, "total_flops"), 2 * want.macs + want.elementwise_flops);
        ck_assert_uint_eq(sum(&document, "bytes_read"), want.bytes_read);
        ck_assert_uint_eq(sum(&document, "bytes_written"), want.bytes_written);
        ck_assert_int_eq(want.macs > 0, costs);
        trace_document_free(&document);
        timeline_free(&timeline);
    }
}
END_TEST

START_TEST(an_unknown_cost_is_absent_and_a_views_is_zero) {
    static const Op unknown = {.name = "unknown"}, view = {.name = "view", .flags = OP_VIEW};
    OpCost costs[2] = {0};
    ProfileEvent events[] = {{.op = &unknown, .site = -1}, {.op = &view, .begin = 1, .end = 2}};
    Timeline timeline = {.events = events, .costs = costs, .count = 2};
    TraceDocument document = trace_document_new(&timeline, (TraceOptions){0});
    ck_assert_ptr_null(trace_argument(document.slices[0].event, "flops"));
    ck_assert_int_eq(json_integer_value(trace_argument(document.slices[1].event, "flops")), 0);
    ck_assert(json_is_integer(trace_argument(document.slices[1].event, "bytes_read")));
    trace_document_free(&document);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {any_program_is_there_once_nested_and_to_the_nanosecond, 60},
        {days_of_uptime_keep_their_nanoseconds, 12},
        {a_cap_keeps_what_began_first_and_counts_the_rest, 12},
        {an_empty_timeline_is_a_trace, 0},
        {a_counter_that_is_no_number_is_left_out_and_counted, 0},
        {of_two_with_the_same_extent_the_outer_comes_first, 0},
        {a_step_around_the_deepest_nesting_stays_on_its_track, 0},
        {a_training_run_is_traced, 20},
        {ops_carry_what_they_cost, 6},
        {an_unknown_cost_is_absent_and_a_views_is_zero, 0},
        {NULL, 0},
    };
    return harness_main("trace", tests);
}
