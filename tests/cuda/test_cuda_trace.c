// test_cuda_trace.c -- a trace of host and emulated device on one clock: the tracks, the lengths to
// the nanosecond, the arrows. TRACE_FILE=trace.json leaves one for tools/check_trace.
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profiler/files/trace.h"
#include "tests/cuda/cuda_task.h"

enum { STEPS = 3, MOST = 2000, HOST = 300 };

typedef struct Slice {
    const char *category, *name, *path;
    int64_t begin, end, process, track, correlation; // correlation 0: none
} Slice;

typedef struct Document {
    json_t *root, *events;
    Slice slices[MOST];
    int n;
} Document;

static int64_t nanoseconds_at(json_t *event, const char *key) {
    return (int64_t)(1000.0 * json_number_value(json_object_get(event, key)) + 0.5);
}

static const char *text_at(json_t *event, const char *key) {
    const char *text = json_string_value(json_object_get(event, key));
    return text ? text : "";
}

static Document document_new(const char *path) {
    json_error_t error;
    Document document = {.root = json_load_file(path, JSON_REJECT_DUPLICATES, &error)};
    ck_assert_msg(document.root != NULL, "line %d: %s", error.line, error.text);
    document.events = json_object_get(document.root, "traceEvents");
    size_t i;
    json_t *event;
    json_array_foreach(document.events, i, event) {
        if (strcmp(text_at(event, "ph"), "X") != 0) continue;
        ck_assert_int_lt(document.n, MOST);
        json_t *arguments = json_object_get(event, "args");
        Slice slice = {.category = text_at(event, "cat"),
                       .name = text_at(event, "name"),
                       .path = text_at(arguments, "path"),
                       .begin = nanoseconds_at(event, "ts"),
                       .process = json_integer_value(json_object_get(event, "pid")),
                       .track = json_integer_value(json_object_get(event, "tid")),
                       .correlation =
                           json_integer_value(json_object_get(arguments, "correlation"))};
        slice.end = slice.begin + nanoseconds_at(event, "dur");
        document.slices[document.n++] = slice;
    }
    return document;
}

// Traces steps, each after its batch was copied, with the queue held back: the device never waits.
static Document trace_task(CudaTask *task, int64_t most_events) {
    char path[] = "/tmp/test_cuda_trace_XXXXXX";
    close(mkstemp(path));
    ProfilerOptions options = profiler_defaults();
    options.memory = false;
    Profiler *profiler = profiler_new(options);
    Device *device = task->x->device;
    ck_assert_int_eq(profiler_start(profiler), STATUS_OK);
    for (int i = 0; i < STEPS; i++) {
        device->hold(device, 1);
        ck_assert_int_eq(tensor_write_floats(task->x, (float[35]){1.0f}), STATUS_OK);
        ck_assert_int_eq(cuda_task_step(task), STATUS_OK);
        profiler_step(profiler);
    }
    ck_assert_int_eq(profiler_stop(profiler), STATUS_OK);
    TraceOptions how = {.process = "test", .most_events = most_events};
    const char *keep = getenv("TRACE_FILE");
    ck_assert_int_eq(trace_write(profiler_timeline(profiler), how, path), STATUS_OK);
    if (keep) ck_assert_int_eq(trace_write(profiler_timeline(profiler), how, keep), STATUS_OK);
    profiler_free(profiler);
    Document document = document_new(path);
    unlink(path);
    return document;
}

static bool is_device(const Slice *slice) { return slice->process == 2; }

// ---- slices ------------------------------------------------------------------------------------
// The device has a slice for each step's copy, and for each op except views, as long as its work.
START_TEST(the_stream_has_each_op_in_order_for_as_long_as_it_took) {
    CudaTask task;
    cuda_task_start(&task, HOST);
    Document document = trace_task(&task, 0);
    int at = 0;
    int64_t free_from = 0;
    for (int step = 0; step < STEPS; step++)
        for (int64_t op = -1; op < task.n_ops; op++) {
            if (op >= 0 && task.work[op] == 0) continue; // a view
            while (at < document.n && !is_device(&document.slices[at])) at++;
            ck_assert_int_lt(at, document.n);
            const Slice *slice = &document.slices[at++];
            int64_t took = op < 0 ? CUDA_COPY + 14 : CUDA_KERNEL * task.work[op];
            ck_assert_str_eq(slice->category, op < 0 ? "gpu_memcpy" : "kernel");
            ck_assert_str_eq(slice->name, op < 0 ? "Memcpy HtoD" : task.ops[op]->name);
            ck_assert_msg(slice->end - slice->begin == took, "%s: %lld ns", slice->name,
                          (long long)(slice->end - slice->begin));
            ck_assert_int_eq(slice->track, 3);
            ck_assert_int_ge(slice->begin, free_from);
            free_from = slice->end;
        }
    while (at < document.n) ck_assert(!is_device(&document.slices[at++]));
    json_decref(document.root);
    cuda_task_free(&task);
}
END_TEST

// Each slice of the device has one launch, which fills the op's slice. The device's slice begins
// after the launch, which does not wait for its end.
START_TEST(each_launch_lies_in_its_op_and_before_what_it_launched) {
    CudaTask task;
    cuda_task_start(&task, HOST);
    Document document = trace_task(&task, 0);
    int launches = 0;
    for (int i = 0; i < document.n; i++) {
        const Slice *done = &document.slices[i], *launch = NULL;
        if (!is_device(done)) continue;
        ck_assert_int_gt(done->correlation, 0);
        for (int k = 0; k < document.n; k++) {
            const Slice *slice = &document.slices[k];
            if (is_device(slice) || slice->correlation != done->correlation) continue;
            ck_assert_msg(launch == NULL, "%s has two launches", done->name);
            launch = slice;
            const Slice *op = &document.slices[k - 1];
            ck_assert_str_eq(op->category, "cpu_op");
            ck_assert_str_eq(op->path, done->path);
            ck_assert(op->begin == slice->begin && op->end == slice->end);
        }
        ck_assert_msg(launch != NULL, "%s has no launch", done->name);
        bool copy = strcmp(done->category, "gpu_memcpy") == 0;
        ck_assert_str_eq(launch->name, copy ? "cudaMemcpyAsync" : "cudaLaunchKernel");
        ck_assert_str_eq(launch->category, "cuda_runtime");
        // A launch takes a reading of the clock; a copy waits for its slot, too, not for the work.
        ck_assert_int_eq(launch->end - launch->begin, (copy ? 0 : HOST) + CUDA_READING);
        ck_assert_int_gt(done->begin, launch->begin);
        launches++;
    }
    ck_assert_int_eq(launches, STEPS * (task.launches + 1));
    json_decref(document.root);
    cuda_task_free(&task);
}
END_TEST

// ---- arrows ------------------------------------------------------------------------------------
// An arrow's ends lie at the beginnings of the slices before them.
START_TEST(an_arrow_leads_from_each_launch_to_its_work) {
    static const int64_t most[] = {0, 40, 41, 42, 43, 60, 3};
    CudaTask task;
    cuda_task_start(&task, HOST);
    Document document = trace_task(&task, most[_i]);
    int from[MOST] = {0}, to[MOST] = {0}, arrows = 0;
    size_t i;
    json_t *event, *before = NULL;
    json_array_foreach(document.events, i, event) {
        if (strcmp(text_at(event, "cat"), "ac2g") == 0) {
            bool begins = strcmp(text_at(event, "ph"), "s") == 0;
            int64_t id = json_integer_value(json_object_get(event, "id"));
            json_t *arguments = json_object_get(before, "args");
            ck_assert_int_eq(id, json_integer_value(json_object_get(arguments, "correlation")));
            ck_assert_int_eq(nanoseconds_at(event, "ts"), nanoseconds_at(before, "ts"));
            ck_assert(json_equal(json_object_get(event, "pid"), json_object_get(before, "pid")));
            ck_assert(json_equal(json_object_get(event, "tid"), json_object_get(before, "tid")));
            ck_assert_str_eq(text_at(event, "bp"), begins ? "" : "e");
            (begins ? from : to)[id]++;
            arrows += begins;
        }
        before = event;
    }
    for (int id = 0; id < MOST; id++) ck_assert(from[id] == to[id] && from[id] <= 1);
    if (most[_i] == 0) ck_assert_int_eq(arrows, STEPS * (task.launches + 1));
    if (most[_i] == 3) ck_assert_int_eq(arrows, 0);
    json_decref(document.root);
    cuda_task_free(&task);
}
END_TEST

START_TEST(what_is_left_out_is_counted) {
    CudaTask task;
    cuda_task_start(&task, HOST);
    Document all = trace_task(&task, 0), some = trace_task(&task, 50);
    json_t *other = json_object_get(some.root, "otherData");
    int launches = 0, kept = 0;
    for (int i = 0; i < all.n; i++) launches += all.slices[i].category[1] == 'u'; // "cuda_runtime"
    for (int i = 0; i < some.n; i++) kept += some.slices[i].category[1] != 'u';
    ck_assert_int_eq(kept, 50);
    ck_assert_int_eq(json_integer_value(json_object_get(other, "dropped_events")),
                     all.n - launches - 50);
    json_decref(all.root);
    json_decref(some.root);
    cuda_task_free(&task);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {the_stream_has_each_op_in_order_for_as_long_as_it_took, 0},
        {each_launch_lies_in_its_op_and_before_what_it_launched, 0},
        {an_arrow_leads_from_each_launch_to_its_work, 7},
        {what_is_left_out_is_counted, 0},
        {NULL, 0},
    };
    return harness_main("cuda_trace", tests);
}
