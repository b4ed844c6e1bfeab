// mock_queue.h -- the inside of the mock device: a queue in which the end time of each piece of
// work is known. Only the grader has it; a student sees support/mock_device.h.
#ifndef EXERCISES_SCENE_MOCK_QUEUE_H
#define EXERCISES_SCENE_MOCK_QUEUE_H

#include "exercises/scene/virtual_time.h"
#include "exercises/support/input.h"
#include "tensor/status.h"

typedef struct MockTimes {            // picoseconds
    int64_t launch;                   // time of the program in a launch or an _async copy
    int64_t launch_uneven;            // launches take this much less and this much more in turn
    int64_t launch_asleep;            // per cent of a launch that the program waits
    int64_t record;                   // time of the program to record an event
    int64_t wake_up;                  // time from the end of the work until a waiting program runs
    int64_t load;                     // time to load the kernel, before its first run
    int64_t copy_latency;             // time of any copy before its first byte
    int64_t copy_ps_per_kilobyte;     // 1,000 bytes; 25 GB/s is 40,000
    int64_t copy_out_ps_per_kilobyte; // to the host; 0: as to the device
    int64_t kernel;                   // time of one run
    int64_t fails;                    // number of the launch whose kernel fails, from 1; 0: none
    int64_t fails_behind;             // like `fails`, counted anew after each copy; 0: none
} MockTimes;

// Write the times into a line (input.h), and read them back.
void mock_times_write(const MockTimes *times, char *text, size_t size);
MockTimes mock_times_read(const char *input);
// Picoseconds that the device needs for a copy to itself, and to the host.
int64_t mock_copy_ps(const MockTimes *times, int64_t bytes);
int64_t mock_copy_out_ps(const MockTimes *times, int64_t bytes);

enum { MOCK_MOST_EVENTS = 1024 };

typedef enum MockPart { MOCK_PART_IN = 1, MOCK_PART_LAUNCH, MOCK_PART_OUT } MockPart;
typedef enum MockOrder { // order of the work in the queue when the program waited
    MOCK_ORDER_NONE,     // the program never waited
    MOCK_ORDER_RIGHT,    // copy in, launches, copy out
    MOCK_ORDER_OTHER,    // these three in another order
    MOCK_ORDER_PART,     // some of the three: the program had waited in between
    MOCK_ORDER_MORE,
} MockOrder;

typedef struct MockQueue {
    MockTimes times;
    int64_t end;       // time at which all queued work ends
    int64_t waited;    // time up to which the program has waited for the device
    int64_t launches;  // number so far
    int64_t behind;    // launches since the last copy; 0: there was no copy
    int64_t warmed_up; // launches before the first wait for a launch
    bool copied;
    // The kinds of work queued, a digit (MockPart) for each change; and the order at the last wait.
    int64_t order;
    MockOrder awaited_order;
    bool failed; // a kernel failed, and no call has reported it yet
    struct {
        bool live, recorded;
        int64_t at; // time at which the device reaches it
    } events[MOCK_MOST_EVENTS];
    int64_t made, live; // numbers of events
    int64_t misuses;    // uses of events that are not live
} MockQueue;

// True if the program waited for the first launches before it launched more.
bool mock_warm_up_awaited(const MockQueue *queue);

void mock_launch_on(MockQueue *queue, int64_t times, VirtualTime *time);
void mock_copy_on(MockQueue *queue, int64_t bytes, VirtualTime *time);
void mock_copy_out_on(MockQueue *queue, int64_t bytes, VirtualTime *time);
// Waits for the queue. STATUS_DEVICE: a kernel failed since the last wait.
Status mock_wait(MockQueue *queue, VirtualTime *time);

int64_t mock_event_make(MockQueue *queue); // number of the event; -1: no room
void mock_event_drop(MockQueue *queue, int64_t event);
void mock_event_mark(MockQueue *queue, int64_t event, VirtualTime *time);
Status mock_event_wait(MockQueue *queue, int64_t event, VirtualTime *time);
Status mock_event_between(MockQueue *queue, int64_t start, int64_t stop, double *seconds);

#endif
