// test_fake_streams.cpp -- tests when the fake CUDA runtime does what: streams that run late,
// events between them, copies from three kinds of memory, and the fake clock.
#include <stdlib.h>

#include "tests/emulator/fake_test.h"

static void append(cudaStream_t stream, std::vector<int> *seen, int value) {
    fake_enqueue(stream, [=] { seen->push_back(value); });
}

static void ck_seen(const std::vector<int> &seen, const std::vector<int> &want) {
    ck_assert_uint_eq(seen.size(), want.size());
    for (size_t i = 0; i < want.size(); i++) ck_assert_int_eq(seen[i], want[i]);
}

// ---- when work runs ----------------------------------------------------------------------------
START_TEST(work_waits_for_a_wait) {
    std::vector<int> seen;
    cudaStream_t stream = new_stream();
    append(stream, &seen, 1);
    append(stream, &seen, 2);
    ck_seen(seen, {});
    ck_good(cudaStreamSynchronize(stream));
    ck_seen(seen, {1, 2});
}
END_TEST

START_TEST(only_the_stream_waited_for_runs) {
    std::vector<int> seen;
    cudaStream_t one = new_stream(), two = new_stream();
    append(one, &seen, 1);
    append(two, &seen, 2);
    ck_good(cudaStreamSynchronize(two));
    ck_seen(seen, {2});
    ck_good(cudaDeviceSynchronize());
    ck_seen(seen, {2, 1});
}
END_TEST

START_TEST(three_orders) {
    const struct {
        const char *name;
        std::vector<int> want;
    } orders[] = {{"late", {1, 3, 2}}, {"reversed", {2, 1, 3}}, {"eager", {1, 2, 3}}};
    for (auto &order : orders) {
        setenv("RIDGEPOINT_FAKE_CUDA_STREAMS", order.name, 1);
        fake_reset();
        std::vector<int> seen;
        cudaStream_t one = new_stream(), two = new_stream();
        append(one, &seen, 1);
        append(two, &seen, 2);
        append(one, &seen, 3);
        ck_assert_uint_eq(seen.size(), strcmp(order.name, "eager") ? 0 : 3);
        ck_good(cudaDeviceSynchronize());
        ck_seen(seen, order.want);
    }
}
END_TEST

START_TEST(events_order_streams) {
    std::vector<int> seen;
    cudaStream_t one = new_stream(), two = new_stream();
    cudaEvent_t event = new_event();
    ck_good(cudaStreamWaitEvent(two, event, 0)); // never recorded: nothing to wait for
    append(two, &seen, 1);
    append(one, &seen, 2);
    ck_good(cudaEventRecord(event, one));
    append(one, &seen, 3);
    ck_good(cudaStreamWaitEvent(two, event, 0));
    ck_good(cudaEventRecord(event, one)); // of no concern to the wait above
    append(two, &seen, 4);
    ck_good(cudaEventDestroy(event)); // nor is this
    ck_good(cudaStreamSynchronize(two));
    ck_seen(seen, {1, 2, 4});
    ck_good(cudaStreamSynchronize(one));
    ck_seen(seen, {1, 2, 4, 3});
}
END_TEST

START_TEST(long_chains_of_waits_need_no_stack) {
    std::vector<int> seen;
    cudaStream_t streams[2] = {new_stream(), new_stream()};
    cudaEvent_t event = new_event();
    enum { LINKS = 20000 };
    for (int i = 0; i < LINKS; i++) {
        ck_good(cudaStreamWaitEvent(streams[i % 2], event, 0));
        append(streams[i % 2], &seen, i);
        ck_good(cudaEventRecord(event, streams[i % 2]));
    }
    ck_good(cudaEventSynchronize(event));
    ck_assert_uint_eq(seen.size(), LINKS);
    for (int i = 0; i < LINKS; i++) ck_assert_int_eq(seen[(size_t)i], i);
}
END_TEST

START_TEST(queries_say_not_ready_a_few_times) {
    std::vector<int> seen;
    cudaStream_t stream = new_stream();
    cudaEvent_t event = new_event();
    ck_good(cudaEventQuery(event)); // never recorded
    ck_good(cudaStreamQuery(stream));
    append(stream, &seen, 1);
    ck_good(cudaEventRecord(event, stream));
    append(stream, &seen, 2);
    ck_error(cudaEventQuery(event), cudaErrorNotReady);
    ck_error(cudaEventQuery(event), cudaErrorNotReady);
    ck_good(cudaEventQuery(event));
    ck_seen(seen, {1});
    fake_set_polls(0);
    ck_good(cudaStreamQuery(stream));
    ck_seen(seen, {1, 2});
    ck_error(cudaGetLastError(), cudaErrorNotReady); // as with the real one
}
END_TEST

START_TEST(the_null_stream_orders_blocking_streams) {
    std::vector<int> seen;
    cudaStream_t blocking, free = new_stream();
    ck_good(cudaStreamCreate(&blocking));
    append(free, &seen, 1);
    append(blocking, &seen, 2);
    append(nullptr, &seen, 3);
    append(blocking, &seen, 4);
    ck_good(cudaStreamSynchronize(nullptr));
    ck_seen(seen, {2, 3});
    ck_good(cudaStreamSynchronize(blocking));
    ck_seen(seen, {2, 3, 4});
    append(nullptr, &seen, 5);
    append(blocking, &seen, 6);
    ck_good(cudaStreamSynchronize(blocking));
    ck_seen(seen, {2, 3, 4, 5, 6});
    ck_good(cudaStreamSynchronize(free));
    ck_seen(seen, {2, 3, 4, 5, 6, 1});
}
END_TEST

START_TEST(work_outlives_its_stream) {
    std::vector<int> seen;
    cudaStream_t stream = new_stream();
    append(stream, &seen, 1);
    ck_good(cudaStreamDestroy(stream));
    ck_assert_int_eq(fake_leaks(nullptr), 0);
    ck_error(cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle);
    append(stream, &seen, 2);
    ck_error(cudaGetLastError(), cudaErrorInvalidResourceHandle);
    ck_error(cudaStreamDestroy(nullptr), cudaErrorInvalidResourceHandle);
    ck_good(cudaDeviceSynchronize());
    ck_seen(seen, {1});
}
END_TEST

START_TEST(freeing_waits_for_the_device) {
    std::vector<int> seen;
    float *data = device_floats(1);
    append(new_stream(), &seen, 1);
    ck_good(cudaFree(data));
    ck_seen(seen, {1});
}
END_TEST

static void host_function(void *data) { *(int *)data = (int)cudaDeviceSynchronize(); }

START_TEST(host_functions_run_in_order_and_call_nothing) {
    int result = -1;
    cudaStream_t stream = new_stream();
    ck_good(cudaLaunchHostFunc(stream, host_function, &result));
    ck_assert_int_eq(result, -1);
    ck_good(cudaStreamSynchronize(stream));
    ck_error(result, cudaErrorNotPermitted);
}
END_TEST

// ---- the clock ---------------------------------------------------------------------------------
START_TEST(the_clock_is_exact_in_every_order) {
    for (FakeOrder order : {FAKE_LATE, FAKE_REVERSED, FAKE_EAGER}) {
        fake_reset();
        fake_set_streams(order);
        cudaStream_t compute = new_stream(), copy = new_stream();
        cudaEvent_t start = new_event(), end = new_event(), copied = new_event();
        float *data = device_floats(25), *pinned = pinned_floats(25), milliseconds = 0.0f;
        memset(pinned, 0, 100);
        ck_good(cudaEventRecord(start, compute));
        ck_good(cudaMemcpyAsync(data, pinned, 100, cudaMemcpyHostToDevice, copy)); // 2010 ns
        ck_good(cudaMemcpyAsync(data, pinned, 1, cudaMemcpyHostToDevice, copy));   // 2001 ns
        ck_good(cudaEventRecord(copied, copy));
        fake_enqueue(compute, [] {}); // 5000 ns, beside the copies
        ck_good(cudaMemsetAsync(data, 0, 100, compute));
        ck_good(cudaStreamWaitEvent(compute, copied, 0)); // over already
        ck_good(cudaEventRecord(end, compute));
        if (order != FAKE_EAGER)
            ck_error(cudaEventElapsedTime(&milliseconds, start, end), cudaErrorNotReady);
        ck_assert_int_eq(fake_clock(), 0); // the host has waited for nothing
        ck_good(cudaEventSynchronize(end));
        ck_good(cudaEventElapsedTime(&milliseconds, start, end));
        ck_assert_float_eq(milliseconds, 0.00701f);
        ck_good(cudaEventElapsedTime(&milliseconds, start, copied));
        ck_assert_float_eq(milliseconds, 0.004011f);
        ck_assert_int_eq(fake_clock(), 7010);
        fake_enqueue(copy, [] {}); // begins when the host queued it
        ck_good(cudaStreamSynchronize(copy));
        ck_assert_int_eq(fake_clock(), 12010);
        fake_enqueue(copy, [] {});
        ck_good(cudaEventRecord(copied, copy));
        ck_good(cudaStreamWaitEvent(compute, copied, 0));
        fake_enqueue(compute, [] {}); // begins when the other has ended
        ck_good(cudaStreamSynchronize(compute));
        ck_assert_int_eq(fake_clock(), 22010);
    }
}
END_TEST

START_TEST(times_can_be_set) {
    cudaEvent_t start = new_event(), end = new_event(), blind;
    float *data = device_floats(4), milliseconds = 0.0f;
    fake_set_times({1000000, 3, 4});
    ck_good(cudaEventRecord(start, nullptr));
    fake_enqueue(nullptr, [] {});
    ck_good(cudaMemset(data, 0, 16));
    ck_good(cudaEventRecord(end, nullptr));
    ck_good(cudaDeviceSynchronize());
    ck_good(cudaEventElapsedTime(&milliseconds, start, end));
    ck_assert_float_eq(milliseconds, 1.000007f);
    ck_good(cudaEventCreateWithFlags(&blind, cudaEventDisableTiming));
    ck_good(cudaEventRecord(blind, nullptr));
    ck_error(cudaEventElapsedTime(&milliseconds, start, blind), cudaErrorInvalidResourceHandle);
    ck_error(cudaEventElapsedTime(&milliseconds, start, new_event()),
             cudaErrorInvalidResourceHandle);
    ck_good(cudaEventDestroy(blind));
    ck_error(cudaEventRecord(blind, nullptr), cudaErrorInvalidResourceHandle);
}
END_TEST

int main() {
    const HarnessTest tests[] = {
        {work_waits_for_a_wait, 0},
        {only_the_stream_waited_for_runs, 0},
        {three_orders, 0},
        {events_order_streams, 0},
        {long_chains_of_waits_need_no_stack, 0},
        {queries_say_not_ready_a_few_times, 0},
        {the_null_stream_orders_blocking_streams, 0},
        {work_outlives_its_stream, 0},
        {freeing_waits_for_the_device, 0},
        {host_functions_run_in_order_and_call_nothing, 0},
        {the_clock_is_exact_in_every_order, 0},
        {times_can_be_set, 0},
        {nullptr, 0},
    };
    return harness_main("fake_streams", tests);
}
