// mock_queue.c -- nothing really runs: the end of queued work follows from the end of the work
// before.
#include "exercises/scene/mock_queue.h"

// ---- lines -------------------------------------------------------------------------------------
static const InputField fields[] = {
    {"launch", offsetof(MockTimes, launch)},
    {"launch_uneven", offsetof(MockTimes, launch_uneven)},
    {"launch_asleep", offsetof(MockTimes, launch_asleep)},
    {"record", offsetof(MockTimes, record)},
    {"wake_up", offsetof(MockTimes, wake_up)},
    {"load", offsetof(MockTimes, load)},
    {"latency", offsetof(MockTimes, copy_latency)},
    {"kilobyte", offsetof(MockTimes, copy_ps_per_kilobyte)},
    {"kilobyte_out", offsetof(MockTimes, copy_out_ps_per_kilobyte)},
    {"kernel", offsetof(MockTimes, kernel)},
    {"fails", offsetof(MockTimes, fails)},
    {"fails_behind", offsetof(MockTimes, fails_behind)},
};
enum { FIELDS = sizeof fields / sizeof fields[0] };

void mock_times_write(const MockTimes *times, char *text, size_t size) {
    input_write(fields, FIELDS, times, text, size);
}

MockTimes mock_times_read(const char *input) {
    MockTimes times = {0};
    input_read(fields, FIELDS, input, &times);
    return times;
}

// Limits the bytes, because a hostile file may ask for any number: nothing overflows.
static int64_t copy_ps(const MockTimes *times, int64_t bytes, int64_t ps_per_kilobyte) {
    const int64_t most = INT64_C(1) << 40;
    int64_t counted = bytes < 0 ? 0 : bytes < most ? bytes : most;
    return times->copy_latency + counted * ps_per_kilobyte / 1000;
}

int64_t mock_copy_ps(const MockTimes *times, int64_t bytes) {
    return copy_ps(times, bytes, times->copy_ps_per_kilobyte);
}

int64_t mock_copy_out_ps(const MockTimes *times, int64_t bytes) {
    int64_t own = times->copy_out_ps_per_kilobyte;
    return copy_ps(times, bytes, own ? own : times->copy_ps_per_kilobyte);
}

// ---- the queue ---------------------------------------------------------------------------------
// The program spends `call` in the call; then the work begins as soon as the device is free.
static void enqueue(MockQueue *queue, int64_t call, int64_t work, VirtualTime *time) {
    virtual_time_work(time, call);
    queue->end = (queue->end > time->now ? queue->end : time->now) + work;
    if (queue->end > INT64_MAX / 4) queue->end = INT64_MAX / 4; // for hostile files
}

static void note_part(MockQueue *queue, MockPart part) {
    const int64_t most = 1000; // longer than the right order
    if (queue->order % 10 != part && queue->order < most) queue->order = 10 * queue->order + part;
}

void mock_launch_on(MockQueue *queue, int64_t times, VirtualTime *time) {
    note_part(queue, MOCK_PART_LAUNCH);
    for (int64_t i = 0; i < times; i++) {
        int64_t load = queue->launches++ == 0 ? queue->times.load : 0;
        int64_t more = queue->times.launch_uneven * (queue->launches % 2 == 1 ? 1 : -1);
        int64_t asleep = queue->times.launch / 100 * queue->times.launch_asleep;
        virtual_time_wait(time, asleep);
        enqueue(queue, queue->times.launch + more - asleep, load + queue->times.kernel, time);
        if (queue->copied) queue->behind++;
        bool fails = queue->launches == queue->times.fails;
        if (queue->behind > 0) fails |= queue->behind == queue->times.fails_behind;
        if (fails) queue->failed = true;
    }
}

bool mock_warm_up_awaited(const MockQueue *queue) {
    return queue->warmed_up > 0 && queue->launches > queue->warmed_up;
}

static void begin_copy(MockQueue *queue, MockPart part) {
    note_part(queue, part);
    queue->copied = true;
    queue->behind = 0;
}

void mock_copy_on(MockQueue *queue, int64_t bytes, VirtualTime *time) {
    begin_copy(queue, MOCK_PART_IN);
    enqueue(queue, queue->times.launch, mock_copy_ps(&queue->times, bytes), time);
}

void mock_copy_out_on(MockQueue *queue, int64_t bytes, VirtualTime *time) {
    begin_copy(queue, MOCK_PART_OUT);
    enqueue(queue, queue->times.launch, mock_copy_out_ps(&queue->times, bytes), time);
}

static MockOrder order_of(int64_t digits) {
    if (digits == 123) return MOCK_ORDER_RIGHT;
    if (digits < 100) return MOCK_ORDER_PART;
    bool each_once = digits < 1000 && digits / 100 != digits % 10; // neighbouring digits differ
    return each_once ? MOCK_ORDER_OTHER : MOCK_ORDER_MORE;
}

static Status wait_until(MockQueue *queue, int64_t at, VirtualTime *time) {
    if (at > time->now) virtual_time_wait(time, at - time->now + queue->times.wake_up);
    if (at > queue->waited) queue->waited = at;
    if (queue->warmed_up == 0) queue->warmed_up = queue->launches;
    if (queue->order) queue->awaited_order = order_of(queue->order); // waiting twice is fine
    queue->order = 0;
    bool failed = queue->failed;
    queue->failed = false;
    return failed ? STATUS_DEVICE : STATUS_OK;
}

Status mock_wait(MockQueue *queue, VirtualTime *time) {
    return wait_until(queue, queue->end, time);
}

// ---- events ------------------------------------------------------------------------------------
int64_t mock_event_make(MockQueue *queue) {
    if (queue->made >= MOCK_MOST_EVENTS) return -1;
    queue->events[queue->made].live = true;
    queue->live++;
    return queue->made++;
}

static bool is_live(MockQueue *queue, int64_t event) {
    bool live = event >= 0 && event < queue->made && queue->events[event].live;
    if (!live) queue->misuses++;
    return live;
}

void mock_event_drop(MockQueue *queue, int64_t event) {
    if (!is_live(queue, event)) return;
    queue->events[event].live = false;
    queue->live--;
}

void mock_event_mark(MockQueue *queue, int64_t event, VirtualTime *time) {
    if (!is_live(queue, event)) return;
    enqueue(queue, queue->times.record, 0, time);
    queue->events[event].recorded = true;
    queue->events[event].at = queue->end;
}

Status mock_event_wait(MockQueue *queue, int64_t event, VirtualTime *time) {
    if (!is_live(queue, event) || !queue->events[event].recorded) return STATUS_STATE;
    return wait_until(queue, queue->events[event].at, time);
}

Status mock_event_between(MockQueue *queue, int64_t start, int64_t stop, double *seconds) {
    const int64_t both[] = {start, stop};
    for (int i = 0; i < 2; i++)
        if (!is_live(queue, both[i]) || !queue->events[both[i]].recorded ||
            queue->events[both[i]].at > queue->waited)
            return STATUS_STATE;
    *seconds =
        (double)(queue->events[stop].at - queue->events[start].at) / (double)PICOSECONDS_PER_SECOND;
    return STATUS_OK;
}
