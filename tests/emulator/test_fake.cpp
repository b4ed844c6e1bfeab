// test_fake.cpp -- tests the memory of the fake CUDA runtime: poison, guards, leaks. Errors,
// streams and cuBLAS have tests of their own.
#include <signal.h>
#include <stdlib.h>

#include "tests/emulator/fake_test.h"

#ifdef __SANITIZE_ADDRESS__
static const bool address_sanitizer = true;
#else
static const bool address_sanitizer = false;
#endif

// ---- memory ------------------------------------------------------------------------------------
START_TEST(memory_is_nan_when_allocated) {
    float *data = device_floats(5), *pinned = pinned_floats(5);
    std::vector<float> values = read_floats(data, 5);
    for (int i = 0; i < 5; i++) ck_assert(isnan(values[(size_t)i]) && isnan(pinned[i]));
    ck_assert_uint_eq((uintptr_t)data % 256, 0);
    ck_good(cudaFree(data));
    ck_good(cudaFreeHost(pinned));
    ck_assert_int_eq(fake_leaks(nullptr), 0);
}
END_TEST

// A kernel that comes too late reads NaN, and is reported by AddressSanitizer as well.
START_TEST(memory_is_nan_when_freed) {
    if (address_sanitizer) test_skip("AddressSanitizer stops at the access");
    float *data = device_floats(4), seen = 0.0f;
    ck_good(cudaMemset(data, 0, 16));
    ck_good(cudaFree(data));
    fake_enqueue(nullptr, [&] { seen = data[2]; });
    ck_good(cudaDeviceSynchronize());
    ck_assert(isnan(seen));
}
END_TEST

START_TEST(nothing_is_allocated_for_no_bytes) {
    void *data = &data;
    ck_good(cudaMalloc(&data, 0));
    ck_assert_ptr_null(data);
    ck_good(cudaFree(nullptr));
    ck_good(cudaFreeHost(nullptr));
    ck_error(cudaMalloc((void **)nullptr, 4), cudaErrorInvalidValue);
}
END_TEST

START_TEST(memory_runs_out_and_comes_back) {
    fake_set_memory(1000);
    void *first = nullptr, *second = nullptr;
    size_t left = 0, total = 0;
    ck_good(cudaMalloc(&first, 600));
    ck_error(cudaMalloc(&second, 401), cudaErrorMemoryAllocation);
    ck_fault("401 bytes of device memory: only 400 are left");
    ck_error(cudaGetLastError(), cudaErrorMemoryAllocation);
    ck_good(cudaGetLastError()); // not sticky
    ck_good(cudaMemGetInfo(&left, &total));
    ck_assert_uint_eq(left, 400);
    ck_assert_uint_eq(total, 1000);
    ck_good(cudaFree(first));
    ck_good(cudaMalloc(&second, 1000));
    ck_assert_uint_eq(fake_live_bytes(), 1000);
    ck_good(cudaFree(second));
    ck_assert_uint_eq(fake_live_bytes(), 0);
}
END_TEST

START_TEST(addresses_are_used_again_but_not_soon) {
    std::vector<void *> seen;
    for (int i = 0; i < 8; i++) {
        void *data = nullptr;
        ck_good(cudaMalloc(&data, (size_t)16 << 20));
        for (size_t j = 0; j < seen.size(); j++) ck_assert((seen[j] == data) == (i - j == 5));
        seen.push_back(data);
        ck_good(cudaFree(data));
    }
}
END_TEST

START_TEST(leaks_are_listed) {
    cublasHandle_t handle;
    device_floats(6);
    pinned_floats(1);
    new_stream();
    new_event();
    ck_good(cublasCreate(&handle));
    char *text = nullptr;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    ck_assert_int_eq(fake_leaks(file), 5);
    fclose(file);
    ck_assert_ptr_nonnull(strstr(text, "leak: allocation #1 (24 bytes of device memory)\n"));
    ck_assert_ptr_nonnull(strstr(text, "leak: allocation #2 (4 bytes of pinned memory)\n"));
    ck_assert_ptr_nonnull(
        strstr(text, "leak: stream #1\nleak: event #1\nleak: cuBLAS handle #1\n"));
    free(text);
    fake_reset();
    ck_assert_int_eq(fake_leaks(nullptr), 0);
}
END_TEST

START_TEST(wrong_frees_are_named) {
    float *data = device_floats(4), *pinned = pinned_floats(4), host;
    ck_error(cudaFree(data + 1), cudaErrorInvalidValue);
    ck_fault("not the start of allocation #1 (16 bytes of device memory)");
    ck_error(cudaFree(pinned), cudaErrorInvalidValue);
    ck_fault("the wrong function for allocation #2 (16 bytes of pinned memory)");
    ck_error(cudaFreeHost(data), cudaErrorInvalidValue);
    ck_error(cudaFree(&host), cudaErrorInvalidValue);
    ck_fault("not from CUDA");
    ck_good(cudaFree(data));
    ck_error(cudaFree(data), cudaErrorInvalidValue);
    ck_fault("allocation #1 (16 bytes of device memory) is already freed");
    ck_good(cudaFreeHost(pinned));
}
END_TEST

START_TEST(the_host_cannot_touch_device_memory) {
    volatile float *data = device_floats(4);
    for (FakeOrder order : {FAKE_LATE, FAKE_EAGER}) {
        fake_set_streams(order);
        fake_enqueue(nullptr, [=] { data[0] = 1.0f; });
        ck_good(cudaDeviceSynchronize());
        int status = status_of([=] { data[0] = 2.0f; });
        ck_assert(status != 0);
        if (!address_sanitizer) ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    }
}
END_TEST

// ---- guards ------------------------------------------------------------------------------------
// Not seen by AddressSanitizer, as a library that it did not compile.
__attribute__((no_sanitize("address"))) static void put(void *data, long at, char value) {
    ((volatile char *)data)[at] = value;
}

static const struct {
    long at;
    const char *text;
} beyond[] = {{24, "past the end of"},
              {27, "past the end of"},
              {300, "past the end of"},
              {-1, "before the start of"},
              {-256, "before the start of"}};

START_TEST(a_write_outside_names_kernel_and_allocation) {
    void *other, *data;
    ck_good(cudaMalloc(&other, 8));
    ck_good(cudaMalloc(&data, 24));
    fake_enqueue(
        nullptr, [=] { put(data, beyond[_i].at, 1); }, "softmax");
    fake_enqueue(
        nullptr, [=] { put(other, 0, 0); }, "innocent");
    ck_error(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    char words[128];
    snprintf(words, sizeof words,
             "softmax wrote %s allocation #2 (24 bytes of device memory), at "
             "its byte %ld",
             beyond[_i].text, beyond[_i].at);
    ck_fault(words);
    ck_error(cudaMalloc(&other, 8), cudaErrorIllegalAddress); // sticky
    ck_error(cudaGetLastError(), cudaErrorIllegalAddress);
    ck_error(cudaGetLastError(), cudaErrorIllegalAddress);
}
END_TEST

START_TEST(a_write_past_pinned_memory_is_found_when_freed) {
    char *pinned = (char *)pinned_floats(3);
    put(pinned, 12, 0);
    ck_error(cudaFreeHost(pinned), cudaErrorIllegalAddress);
    ck_fault("something wrote past the end of allocation #1 (12 bytes of pinned memory)");
    ck_assert_int_eq(fake_leaks(nullptr), 0);
}
END_TEST

START_TEST(a_broken_guard_is_found_at_exit) {
    int status = status_of([] { put(pinned_floats(3), -3, 0); });
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    status = status_of([] { // written after it was freed
        float *data = device_floats(3);
        ck_good(cudaFree(data));
        fake_enqueue(nullptr, [=] { put(data, 4, 0); });
        ck_good(cudaDeviceSynchronize());
    });
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    ck_assert_int_eq(status_of([] { pinned_floats(3); }), 0);
}
END_TEST

int main() {
    const HarnessTest tests[] = {
        {memory_is_nan_when_allocated, 0},
        {memory_is_nan_when_freed, 0},
        {nothing_is_allocated_for_no_bytes, 0},
        {memory_runs_out_and_comes_back, 0},
        {addresses_are_used_again_but_not_soon, 0},
        {leaks_are_listed, 0},
        {wrong_frees_are_named, 0},
        {the_host_cannot_touch_device_memory, 0},
        {a_write_outside_names_kernel_and_allocation, 5},
        {a_write_past_pinned_memory_is_found_when_freed, 0},
        {a_broken_guard_is_found_at_exit, 0},
        {nullptr, 0},
    };
    return harness_main("fake", tests);
}
