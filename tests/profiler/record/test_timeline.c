// test_timeline.c -- observed copies, and stamps of a made-up device, on every machine.
// test_cuda_stamps.c tests real stamps, test_cuda_profile.c their use in profiles.
#include <string.h>

#include "profiler/record/timeline.h"
#include "tensor/ops.h"
#include "tests/helpers/expect.h"

// ---- a device whose clock advances 1000 ns an op and 1 ns a byte --------------------------------
typedef struct Far {
    Device device; // must be first
    int64_t clock, reserved, taken, reads, reserves;
    int64_t times[TIMELINE_MOST_STAMPS];
    int64_t fails_at; // number of the stamp that fails; 0: none
    bool read_fails;
} Far;
static Far far_device;

static Status run_far(Device *self, const OpCall *call) {
    ((Far *)self)->clock += 1000;
    return device_cpu()->run(device_cpu(), call);
}
static Status copy_far(Device *self, void *to, const void *from, size_t bytes) {
    ((Far *)self)->clock += (int64_t)bytes;
    memcpy(to, from, bytes);
    return STATUS_OK;
}
static Status wait_far(Device *self) {
    (void)self;
    return STATUS_OK;
}
static Status reserve_far(Device *self, int64_t count) {
    Far *far = (Far *)self;
    far->reserves++;
    far->reserved = count;
    return STATUS_OK;
}
static Status stamp_far(Device *self, int64_t index) {
    Far *far = (Far *)self;
    ck_assert(index >= 0 && index < far->reserved);
    if (++far->taken == far->fails_at) return error_set(STATUS_DEVICE, "far: no stamp. HINT: none");
    far->times[index] = far->clock;
    return STATUS_OK;
}
static Status read_far(Device *self, int64_t count, int64_t *nanoseconds) {
    Far *far = (Far *)self;
    far->reads++;
    if (far->read_fails) return error_set(STATUS_DEVICE, "far: no times. HINT: none");
    memcpy(nanoseconds, far->times, (size_t)count * sizeof(int64_t));
    return STATUS_OK;
}

static void far_use(void) {
    far_device = (Far){.device = *device_cpu(), .clock = 5000000};
    Device *device = &far_device.device;
    device->name = "far";
    device->on_host = false;
    device->run = run_far;
    device->from_host = device->to_host = copy_far;
    device->synchronize = wait_far;
    device->stamps_reserve = reserve_far;
    device->stamp = stamp_far;
    device->stamps_read = read_far;
    context_set_device(device);
}

static Timeline timeline_of(int64_t capacity) {
    Timeline timeline;
    TimelineOptions options = {.capacity = capacity, .sites = true, .device = &far_device.device};
    ck_assert_int_eq(timeline_new(&timeline, options), STATUS_OK);
    return timeline;
}

static void run_ops(Tensor *x, int count) {
    for (int done = 0; done < count;) {
        Scope *scope = scope_open();
        for (int i = 0; i < 100 && done < count; i++, done++) tensor_relu(x);
        scope_close(scope);
    }
}

// ---- copies ------------------------------------------------------------------------------------
typedef struct Seen {
    Observer observer;
    int begins, ends;
    int64_t to_host, from_host; // bytes
    Device *device;
} Seen;

static void see_begin(Observer *self, Device *device, bool to_host, int64_t bytes) {
    Seen *seen = (Seen *)self;
    (void)to_host, (void)bytes;
    ck_assert_int_eq(seen->begins++, seen->ends);
    seen->device = device;
}
static void see_end(Observer *self, Device *device, bool to_host, int64_t bytes) {
    Seen *seen = (Seen *)self;
    ck_assert_int_eq(++seen->ends, seen->begins);
    ck_assert_ptr_eq(seen->device, device);
    *(to_host ? &seen->to_host : &seen->from_host) += bytes;
}

START_TEST(every_copy_to_and_from_a_device_is_observed_and_none_on_the_host) {
    float values[6] = {1, 2, 3, 4, 5, 6};
    int64_t labels[2] = {0, 1};
    Device *devices[] = {NULL, device_cpu(), device_meta()};
    far_use();
    devices[0] = &far_device.device;
    context_set_device(devices[_i]);
    Seen seen = {.observer = {.copy_begin = see_begin, .copy_end = see_end}};
    observer_add(&seen.observer);
    Tensor *x = tensor_from_floats_new(SHAPE(2, 3), values);        // 24 bytes
    Tensor *y = tensor_from_labels_new(SHAPE(2), labels);           // 16
    Tensor *z = tensor_uniform_new(SHAPE(5), 0.0f, 1.0f);           // 20
    ck_assert_int_eq(tensor_write_floats(x, values), STATUS_OK);    // 24
    if (_i < 2) ck_assert_int_eq(tensor_read_floats(x, values), 0); // 24 back
    if (_i < 2) ck_assert_int_eq(tensor_read_labels(y, labels), 0); // 16 back
    observer_remove(&seen.observer);
    ck_assert_int_eq(seen.begins, _i == 0 ? 6 : 0);
    ck_assert_int_eq(seen.from_host, _i == 0 ? 84 : 0);
    ck_assert_int_eq(seen.to_host, _i == 0 ? 40 : 0);
    tensor_free(x);
    tensor_free(y);
    tensor_free(z);
    expect_no_error();
}
END_TEST

START_TEST(a_copy_is_an_event_with_its_bytes_and_direction) {
    far_use();
    float values[6] = {0};
    Tensor *x = tensor_from_floats_new(SHAPE(6), values);
    Timeline timeline = timeline_of(10);
    ck_assert_int_eq(timeline_start(&timeline), STATUS_OK);
    int site = site_enter((uintptr_t)&far_device, "loading", "scope");
    ck_assert_int_eq(tensor_write_floats(x, values), STATUS_OK);
    site_leave(site);
    ck_assert_int_eq(tensor_read_floats(x, values), STATUS_OK);
    ck_assert_int_eq(timeline_stop(&timeline), STATUS_OK);
    ck_assert_int_eq(timeline.count, 3);
    static const int at[] = {0, 2}; // the scope ends between the two ops
    for (int i = 0; i < 2; i++) {
        const ProfileEvent *event = &timeline.events[at[i]];
        const EventTimes *times = timeline_device_times(&timeline, at[i]);
        ck_assert_int_eq(event->kind, EVENT_COPY);
        ck_assert_int_eq(event->to_host, i);
        ck_assert_double_eq(event->value, 24.0);
        ck_assert_int_eq(event->site >= 0, i == 0);
        ck_assert_int_eq(times->end - times->begin, 24);
    }
    ck_assert_int_eq(timeline.events[1].kind, EVENT_SITE);
    ck_assert_ptr_null(timeline_device_times(&timeline, 1));
    timeline_free(&timeline);
    tensor_free(x);
}
END_TEST

// ---- stamps ------------------------------------------------------------------------------------
START_TEST(more_ops_than_stamps_wait_for_the_device_now_and_then) {
    enum { OPS = TIMELINE_MOST_STAMPS + 1000, WAITS = 2 * OPS / TIMELINE_MOST_STAMPS };
    far_use();
    Tensor *x = tensor_full_new(SHAPE(1), 1.0f);
    Timeline timeline = timeline_of(OPS + 1);
    ck_assert_int_eq(timeline_start(&timeline), STATUS_OK);
    int64_t reserves = far_device.reserves;
    int site = site_enter((uintptr_t)&far_device, "all", "scope");
    run_ops(x, OPS);
    ck_assert_int_eq(far_device.reads, WAITS);
    ck_assert_int_eq(far_device.reserves, reserves + WAITS);
    site_leave(site);
    ck_assert_int_eq(timeline_stop(&timeline), STATUS_OK);
    ck_assert_int_eq(timeline.count, OPS + 1);
    for (int64_t i = 0; i < OPS; i++) {
        const EventTimes *times = timeline_device_times(&timeline, i);
        ck_assert_ptr_nonnull(times);
        ck_assert_int_eq(times->end - times->begin, 1000);
        if (i > 0) ck_assert_int_eq(times->begin, timeline.device_times[i - 1].end);
    }
    timeline_free(&timeline);
    tensor_free(x);
}
END_TEST

START_TEST(views_and_other_devices_have_no_device_time) {
    far_use();
    Tensor *x = tensor_full_new(SHAPE(4), 1.0f);
    context_set_device(device_cpu());
    Tensor *here = tensor_full_new(SHAPE(4), 1.0f);
    far_device.taken = 0;
    Timeline timeline = timeline_of(10);
    ck_assert_int_eq(timeline_start(&timeline), STATUS_OK);
    Scope *scope = scope_open();
    tensor_slice(x, 0, 0, 2, 1);
    tensor_relu(here);
    ck_assert_int_eq(far_device.taken, 0);
    tensor_relu(x);
    ck_assert_int_eq(far_device.taken, 2);
    scope_close(scope);
    ck_assert_int_eq(timeline_stop(&timeline), STATUS_OK);
    ck_assert_int_eq(timeline.count, 3);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(timeline_device_times(&timeline, i) != NULL, i == 2);
    timeline_free(&timeline);
    tensor_free(here);
    tensor_free(x);
}
END_TEST

START_TEST(a_stamp_that_fails_is_an_error_and_its_op_has_no_device_time) {
    far_use();
    Tensor *x = tensor_full_new(SHAPE(1), 1.0f);
    Timeline timeline = timeline_of(100);
    ck_assert_int_eq(timeline_start(&timeline), STATUS_OK);
    far_device.fails_at = 4 + _i; // the third op's begin, or the second's end
    Scope *scope = scope_open();
    for (int i = 0; i < 4; i++) tensor_relu(x);
    scope_close(scope);
    expect_error(STATUS_DEVICE, "far: no stamp");
    ck_assert_int_eq(timeline_stop(&timeline), STATUS_OK);
    for (int64_t i = 0; i < timeline.count; i++)
        ck_assert_int_eq(timeline_device_times(&timeline, i) != NULL, i < 1 + _i);
    timeline_free(&timeline);
    tensor_free(x);
}
END_TEST

START_TEST(times_that_cannot_be_read_are_an_error_and_none) {
    far_use();
    Tensor *x = tensor_full_new(SHAPE(1), 1.0f);
    Timeline timeline = timeline_of(100);
    ck_assert_int_eq(timeline_start(&timeline), STATUS_OK);
    run_ops(x, 3);
    ck_assert_ptr_null(timeline_device_times(&timeline, 0)); // not known yet
    far_device.read_fails = true;
    ck_assert_int_eq(timeline_stop(&timeline), STATUS_DEVICE);
    expect_error(STATUS_DEVICE, "far: no times");
    for (int i = 0; i < 3; i++) ck_assert_ptr_null(timeline_device_times(&timeline, i));
    timeline_free(&timeline);
    tensor_free(x);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {every_copy_to_and_from_a_device_is_observed_and_none_on_the_host, 3},
        {a_copy_is_an_event_with_its_bytes_and_direction, 0},
        {more_ops_than_stamps_wait_for_the_device_now_and_then, 0},
        {views_and_other_devices_have_no_device_time, 0},
        {a_stamp_that_fails_is_an_error_and_its_op_has_no_device_time, 2},
        {times_that_cannot_be_read_are_an_error_and_none, 0},
        {NULL, 0},
    };
    return harness_main("timeline", tests);
}
