// test_fake_copies.cpp -- tests the copies and memsets of the fake CUDA runtime: when they happen,
// by the kind of memory, and which are refused.
#include "tests/emulator/fake_test.h"

START_TEST(a_missing_synchronisation_shows) {
    float *data = device_floats(1), *pinned = pinned_floats(1), host = 0.0f;
    cudaStream_t stream = new_stream();
    fake_enqueue(stream, [=] { *data = 1.0f; });
    ck_good(cudaMemcpyAsync(pinned, data, 4, cudaMemcpyDeviceToHost, stream));
    ck_assert(isnan(*pinned)); // nobody waited for the copy
    ck_good(cudaMemcpy(&host, data, 4, cudaMemcpyDeviceToHost));
    ck_assert(isnan(host)); // cudaMemcpy does not wait for a non-blocking stream
    ck_good(cudaStreamSynchronize(stream));
    ck_assert_float_eq(*pinned, 1.0f);
}
END_TEST

START_TEST(pageable_memory_is_staged_and_pinned_memory_is_not) {
    float *data = device_floats(2), *pinned = pinned_floats(1), host = 1.0f, back = 0.0f;
    cudaStream_t stream = new_stream();
    *pinned = 1.0f;
    ck_good(cudaMemcpyAsync(data, &host, 4, cudaMemcpyHostToDevice, stream));
    ck_good(cudaMemcpyAsync(data + 1, pinned, 4, cudaMemcpyHostToDevice, stream));
    host = *pinned = 2.0f;
    ck_good(cudaMemcpyAsync(&back, data, 4, cudaMemcpyDeviceToHost, stream));
    ck_assert_float_eq(back, 1.0f); // has waited
    ck_good(cudaMemcpyAsync(&back, data + 1, 4, cudaMemcpyDeviceToHost, stream));
    ck_assert_float_eq(back, 2.0f);
}
END_TEST

START_TEST(cudamemcpy_waits_as_documented) {
    float *data = device_floats(2), *pinned = pinned_floats(1), host = 3.0f, back = 0.0f;
    cudaStream_t stream = new_stream();
    ck_good(cudaMemcpy(data, &host, 4, cudaMemcpyHostToDevice)); // not there yet
    ck_good(cudaMemcpyAsync(&back, data, 4, cudaMemcpyDeviceToHost, stream));
    ck_assert(isnan(back));
    ck_good(cudaMemcpy(data + 1, data, 4, cudaMemcpyDeviceToDevice)); // nor this
    ck_good(cudaMemcpyAsync(&back, data + 1, 4, cudaMemcpyDeviceToHost, stream));
    ck_assert(isnan(back));
    *pinned = 4.0f;
    ck_good(cudaMemcpy(data + 1, pinned, 4, cudaMemcpyDefault)); // this is
    *pinned = 5.0f;
    ck_good(cudaMemcpyAsync(&back, data + 1, 4, cudaMemcpyDeviceToHost, stream));
    ck_assert_float_eq(back, 4.0f);
    ck_good(cudaMemset(data, 0, 4));
    ck_good(cudaMemcpy(&back, data, 4, cudaMemcpyDefault)); // same stream: in order
    ck_assert_float_eq(back, 0.0f);
    ck_good(cudaMemcpy(&back, &host, 4, cudaMemcpyHostToHost));
    ck_assert_float_eq(back, 3.0f);
}
END_TEST

START_TEST(wrong_copies_are_named) {
    float *data = device_floats(4), *freed = device_floats(4), *pinned = pinned_floats(2);
    float host[8] = {0};
    ck_good(cudaFree(freed));
    const struct {
        void *to;
        const void *from;
        size_t bytes;
        cudaMemcpyKind kind;
        const char *words;
    } wrong[] = {
        {host, host + 4, 16, cudaMemcpyHostToDevice, "is pageable host memory, not device memory"},
        {data, data, 16, cudaMemcpyHostToDevice, "is device memory, not host memory"},
        {pinned, host, 8, cudaMemcpyDeviceToHost, "the source of a copy: "},
        {data, host, 16, cudaMemcpyDeviceToHost, "the destination of a copy: "},
        {data, pinned, 8, cudaMemcpyDeviceToDevice, "is pinned memory, not device memory"},
        {data + 1, host, 16, cudaMemcpyHostToDevice,
         "16 bytes from byte 4 on pass the end of allocation #1 (16 bytes of device memory)"},
        {data, pinned, 12, cudaMemcpyDefault, "pass the end of allocation #3"},
        {freed, host, 4, cudaMemcpyHostToDevice, "device memory that is not allocated"},
        {data, data + 1, 8, cudaMemcpyDeviceToDevice, "onto itself"},
        {data, nullptr, 8, cudaMemcpyHostToDevice, "is no memory"},
    };
    for (auto &copy : wrong) {
        ck_error(cudaMemcpy(copy.to, copy.from, copy.bytes, copy.kind), cudaErrorInvalidValue);
        ck_fault(copy.words);
        ck_error(cudaMemcpyAsync(copy.to, copy.from, copy.bytes, copy.kind, nullptr),
                 cudaErrorInvalidValue);
    }
    ck_error(cudaMemset(host, 0, 4), cudaErrorInvalidValue);
    ck_error(cudaMemset(data, 0, 17), cudaErrorInvalidValue);
    ck_error(cudaMemcpy(data, host, 4, (cudaMemcpyKind)7), cudaErrorInvalidMemcpyDirection);
    ck_good(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice));
}
END_TEST

int main() {
    const HarnessTest tests[] = {
        {a_missing_synchronisation_shows, 0},
        {pageable_memory_is_staged_and_pinned_memory_is_not, 0},
        {cudamemcpy_waits_as_documented, 0},
        {wrong_copies_are_named, 0},
        {nullptr, 0},
    };
    return harness_main("fake_copies", tests);
}
