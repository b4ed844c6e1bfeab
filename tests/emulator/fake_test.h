// fake_test.h -- shared by the tests of the fake CUDA runtime: the harness in C++, and short names.
#ifndef TESTS_EMULATOR_FAKE_TEST_H
#define TESTS_EMULATOR_FAKE_TEST_H

#define _Noreturn [[noreturn]]
extern "C" {
#include "tests/helpers/harness.h"
}
#undef _Noreturn
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "tests/emulator/fake_runtime.h"

#define ck_good(call) ck_assert_int_eq((int)(call), 0)
#define ck_error(call, code) ck_assert_int_eq((int)(call), (int)(code))
// Fails unless the sentence about the latest error contains these words.
#define ck_fault(words)                                                                            \
    ck_assert_msg(strstr(fake_last_fault(), (words)) != nullptr, "the fault was: %s",              \
                  fake_last_fault())

static inline float *device_floats(size_t count) {
    void *data = nullptr;
    ck_good(cudaMalloc(&data, count * sizeof(float)));
    return (float *)data;
}

static inline float *pinned_floats(size_t count) {
    void *data = nullptr;
    ck_good(cudaMallocHost(&data, count * sizeof(float)));
    return (float *)data;
}

static inline cudaStream_t new_stream() {
    cudaStream_t stream = nullptr;
    ck_good(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    return stream;
}

static inline cudaEvent_t new_event() {
    cudaEvent_t event = nullptr;
    ck_good(cudaEventCreate(&event));
    return event;
}

// The device's values after all queued work.
static inline std::vector<float> read_floats(const float *data, size_t count) {
    std::vector<float> values(count);
    ck_good(cudaDeviceSynchronize());
    ck_good(cudaMemcpy(values.data(), data, count * sizeof(float), cudaMemcpyDeviceToHost));
    return values;
}

// The wait status of a child process that calls the function.
template <class Function> static inline int status_of(Function function) {
    fflush(nullptr);
    pid_t child = fork();
    if (child == 0) {
        if (!freopen("/dev/null", "w", stderr)) _exit(9);
        function();
        exit(0);
    }
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return status;
}

#endif
