// mock_queue.h -- the mock device's inside: a queue in which each piece of work has the time at
// which it will have ended. The grader's alone; what a student sees is support/mock_device.h.
#ifndef EXERCISES_SCENE_MOCK_QUEUE_H
#define EXERCISES_SCENE_MOCK_QUEUE_H

#include "exercises/scene/virtual_time.h"
#include "exercises/support/input.h"
#include "tensor/status.h"

typedef struct MockTimes {            // picoseconds
    int64_t launch;                   // what the program spends in a launch or an _async copy
    int64_t launch_uneven;            // every other launch takes so much less, those between more
    int64_t launch_asleep;            // per cent of a launch, in which the program waits
    int64_t record;                   // and in recording an event
    int64_t wake_up;                  // from the end of the work until a waiting program runs again
    int64_t load;                     // that the first kernel waits to be loaded
    int64_t copy_latency;             // of any copy, before its first byte
    int64_t copy_ps_per_kilobyte;     // 1,000 bytes; 25 GB/s: 40,000
    int64_t copy_out_ps_per_kilobyte; // to the host; 0: as to the device
    int64_t kernel;                   // of one run
    int64_t fails;                    // the launch whose kernel fails, from 1; 0: none
    int64_t fails_behind;             // the same, counted from each copy on; 0: none
} MockTimes;

// In a line (input.h), and back.
void mock_times_write(const MockTimes *times, char *text, size_t size);
MockTimes mock_times_read(const char *input);
// What the device needs for a copy: to itself, to the host.
int64_t mock_copy_ps(const MockTimes *times, int64_t bytes);
int64_t mock_copy_out_ps(const MockTimes *times, int64_t bytes);

enum { MOCK_MOST_EVENTS = 1024 };

typedef enum MockPart { MOCK_PART_IN = 1, MOCK_PART_LAUNCH, MOCK_PART_OUT } MockPart;
typedef enum MockOrder { // of what was in the queue when the program waited
    MOCK_ORDER_NONE,     // it never did
    MOCK_ORDER_RIGHT,    // in, launches, out
    MOCK_ORDER_OTHER,    // these three, otherwise
    MOCK_ORDER_PART,     // not all of them: it had waited in between
    MOCK_ORDER_MORE,
} MockOrder;

typedef struct MockQueue {
    MockTimes times;
    int64_t end;       // of what is queued
    int64_t waited;    // the program has seen the device get so far
    int64_t launches;  // so far
    int64_t behind;    // launches since the last copy; 0 where there was none
    int64_t warmed_up; // launches before the first wait for any
    bool copied;
    // A digit for each change of what is queued, by MockPart; and what the last wait was for.
    int64_t order;
    MockOrder awaited_order;
    bool failed; // a kernel did, and nobody was told
    struct {
        bool live, recorded;
        int64_t at; // when the device gets there
    } events[MOCK_MOST_EVENTS];
    int64_t made, live; // events
    int64_t misuses;    // of events that are not live
} MockQueue;

// Whether what was launched first was awaited before more was launched.
bool mock_warm_up_awaited(const MockQueue *queue);

void mock_launch_on(MockQueue *queue, int64_t times, VirtualTime *time);
void mock_copy_on(MockQueue *queue, int64_t bytes, VirtualTime *time);
void mock_copy_out_on(MockQueue *queue, int64_t bytes, VirtualTime *time);
// STATUS_DEVICE when a kernel failed since the last wait.
Status mock_wait(MockQueue *queue, VirtualTime *time);

int64_t mock_event_make(MockQueue *queue); // its number; -1: there is no room
void mock_event_drop(MockQueue *queue, int64_t event);
void mock_event_mark(MockQueue *queue, int64_t event, VirtualTime *time);
Status mock_event_wait(MockQueue *queue, int64_t event, VirtualTime *time);
Status mock_event_between(MockQueue *queue, int64_t start, int64_t stop, double *seconds);

#endif
