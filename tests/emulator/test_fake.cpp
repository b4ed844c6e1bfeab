// test_fake.cpp -- tests the fake CUDA runtime itself: memory, its guards, errors, and failures on
// request. Streams and cuBLAS have tests of their own.
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

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

START_TEST(much_memory_is_used_again) {
    size_t large = (size_t)40 << 20;
    for (int i = 0; i < 120; i++) { // more addresses than there are
        void *data = nullptr;
        ck_good(cudaMalloc(&data, large + (size_t)i));
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

// How a child process ends that does something.
template <class Function> static int status_of(Function function) {
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
        nullptr, [=] { put(data, beyond[_i].at, (char)-1); }, "softmax");
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

// ---- failures on request -----------------------------------------------------------------------
START_TEST(calls_fail_from_one_on) {
    void *data = nullptr;
    fake_fail("cudaMalloc", 2, cudaErrorMemoryAllocation);
    ck_good(cudaMalloc(&data, 4));
    ck_good(cudaFree(data));
    for (int i = 0; i < 3; i++) ck_error(cudaMalloc(&data, 4), cudaErrorMemoryAllocation);
    ck_fault("cudaMalloc fails on request, at call 4");
    ck_assert_int_eq(fake_calls("cudaMalloc"), 4);
    ck_assert_int_eq(fake_calls("cudaFree"), 1);
    ck_assert_int_eq(fake_calls("cudaMemset"), 0);
    ck_error(cudaGetLastError(), cudaErrorMemoryAllocation);
    fake_fail_never();
    ck_good(cudaMalloc(&data, 4));
}
END_TEST

START_TEST(one_call_fails) {
    cudaEvent_t event;
    fake_fail_once("cudaEventCreate", 1, cudaErrorNotSupported);
    ck_error(cudaEventCreate(&event), cudaErrorNotSupported);
    ck_good(cudaEventCreate(&event));
    fake_fail_once("any", fake_calls("any") + 2, cudaErrorUnknown);
    ck_good(cudaEventQuery(event));
    ck_error(cudaStreamSynchronize(nullptr), cudaErrorUnknown);
    ck_good(cudaEventDestroy(event));
}
END_TEST

START_TEST(what_releases_has_released) {
    float *data = device_floats(1), *pinned = pinned_floats(1);
    cudaStream_t stream = new_stream();
    cudaEvent_t event = new_event();
    cublasHandle_t handle;
    ck_good(cublasCreate(&handle));
    fake_fail("any", 1, cudaErrorUnknown);
    fake_fail("cublasDestroy", 1, CUBLAS_STATUS_INTERNAL_ERROR);
    ck_error(cudaFree(data), cudaErrorUnknown);
    ck_error(cudaFreeHost(pinned), cudaErrorUnknown);
    ck_error(cudaStreamDestroy(stream), cudaErrorUnknown);
    ck_error(cudaEventDestroy(event), cudaErrorUnknown);
    ck_error(cublasDestroy(handle), CUBLAS_STATUS_INTERNAL_ERROR);
    ck_assert_int_eq(fake_leaks(stderr), 0);
}
END_TEST

START_TEST(sticky_errors_stay) {
    float *data = device_floats(1), host = 0.0f;
    cublasHandle_t handle;
    ck_good(cublasCreate(&handle));
    fake_fail_once("cudaMemset", 1, cudaErrorLaunchFailure);
    ck_error(cudaMemset(data, 0, 4), cudaErrorLaunchFailure);
    ck_error(cudaMemcpy(&host, data, 4, cudaMemcpyDeviceToHost), cudaErrorLaunchFailure);
    ck_error(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
    ck_error(cublasSetStream(handle, nullptr), CUBLAS_STATUS_EXECUTION_FAILED);
    ck_error(cudaGetLastError(), cudaErrorLaunchFailure);
    ck_error(cudaPeekAtLastError(), cudaErrorLaunchFailure);
    ck_error(cudaFree(data), cudaErrorLaunchFailure);
    fake_reset();
    ck_good(cudaGetLastError());
    ck_good(cudaDeviceSynchronize());
}
END_TEST

START_TEST(a_launch_fails_at_once_and_a_kernel_later) {
    int ran = 0;
    fake_fail_once("cudaLaunchKernel", 1, cudaErrorLaunchOutOfResources);
    fake_enqueue(nullptr, [&] { ran++; });
    ck_error(cudaPeekAtLastError(), cudaErrorLaunchOutOfResources);
    ck_error(cudaGetLastError(), cudaErrorLaunchOutOfResources);
    ck_good(cudaDeviceSynchronize());
    fake_fail_once("kernel", 2, cudaErrorIllegalAddress);
    for (int i = 0; i < 3; i++) {
        fake_enqueue(
            nullptr, [&] { ran++; }, "gelu");
        ck_good(cudaGetLastError());
    }
    ck_error(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    ck_fault("gelu dies on request");
    ck_assert_int_eq(ran, 1); // not the third either
}
END_TEST

START_TEST(the_environment_requests_failures) {
    setenv("RIDGEPOINT_FAKE_CUDA_FAIL", "cudaMalloc:2:2:1,cublasCreate:1:3", 1);
    setenv("RIDGEPOINT_FAKE_CUDA_MEMORY", "100", 1);
    fake_reset();
    void *data;
    cublasHandle_t handle;
    ck_error(cudaMalloc(&data, 101), cudaErrorMemoryAllocation);
    ck_error(cudaMalloc(&data, 4), cudaErrorMemoryAllocation);
    ck_fault("on request, at call 2");
    ck_good(cudaMalloc(&data, 4));
    ck_error(cublasCreate(&handle), CUBLAS_STATUS_ALLOC_FAILED);
    const char *wrong[] = {"cudaMalloc", "cudaMalloc:1", "cudaMalloc:1:2;", "cudaMalloc:1:2:x"};
    for (const char *text : wrong) {
        setenv("RIDGEPOINT_FAKE_CUDA_FAIL", text, 1);
        int status = status_of([] { fake_reset(); });
        ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 2);
    }
}
END_TEST

// ---- the machine -------------------------------------------------------------------------------
START_TEST(machines_without_a_gpu) {
    int count = 0, version = 0;
    void *data;
    cublasHandle_t handle;
    fake_set_devices(0);
    ck_error(cudaGetDeviceCount(&count), cudaErrorNoDevice);
    ck_error(cudaMalloc(&data, 4), cudaErrorNoDevice);
    ck_error(cublasCreate(&handle), CUBLAS_STATUS_NOT_INITIALIZED);
    ck_assert_str_eq(cudaGetErrorString(cudaGetLastError()), "no CUDA-capable device is detected");
    for (int error : {cudaErrorInsufficientDriver, cudaErrorStubLibrary}) {
        fake_set_driver(error);
        ck_error(cudaGetDeviceCount(&count), error);
        ck_good(cudaDriverGetVersion(&version));
        ck_assert_int_eq(version, 0);
    }
    fake_set_driver(0);
    fake_set_devices(2);
    ck_good(cudaGetDeviceCount(&count));
    ck_good(cudaDriverGetVersion(&version));
    ck_assert_int_eq(count, 2);
    ck_assert_int_eq(version, CUDART_VERSION);
}
END_TEST

START_TEST(the_gpu_describes_itself) {
    cudaDeviceProp properties;
    int value = 0, device = 7;
    fake_set_memory(4096);
    ck_good(cudaGetDeviceProperties(&properties, 0));
    ck_assert_str_eq(properties.name, "Fake GPU");
    ck_assert_uint_eq(properties.totalGlobalMem, 4096);
    ck_good(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
    ck_assert_int_eq(value, properties.multiProcessorCount);
    ck_error(cudaGetDeviceProperties(&properties, 1), cudaErrorInvalidDevice);
    ck_error(cudaSetDevice(-1), cudaErrorInvalidDevice);
    ck_good(cudaSetDevice(0));
    ck_good(cudaGetDevice(&device));
    ck_assert_int_eq(device, 0);
    ck_good(cudaRuntimeGetVersion(&value));
    ck_assert_int_eq(value, CUDART_VERSION);
    const void *function = (const void *)properties.name;
    ck_good(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));
    ck_error(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20),
             cudaErrorInvalidValue);
    ck_assert_str_eq(cudaGetErrorName(cudaErrorMemoryAllocation), "cudaErrorMemoryAllocation");
    ck_assert_str_eq(cudaGetErrorString((cudaError_t)12345), "unrecognized error code");
}
END_TEST

int main() {
    const HarnessTest tests[] = {
        {memory_is_nan_when_allocated, 0},
        {memory_is_nan_when_freed, 0},
        {nothing_is_allocated_for_no_bytes, 0},
        {memory_runs_out_and_comes_back, 0},
        {much_memory_is_used_again, 0},
        {leaks_are_listed, 0},
        {wrong_frees_are_named, 0},
        {the_host_cannot_touch_device_memory, 0},
        {a_write_outside_names_kernel_and_allocation, 5},
        {a_write_past_pinned_memory_is_found_when_freed, 0},
        {a_broken_guard_is_found_at_exit, 0},
        {calls_fail_from_one_on, 0},
        {one_call_fails, 0},
        {what_releases_has_released, 0},
        {sticky_errors_stay, 0},
        {a_launch_fails_at_once_and_a_kernel_later, 0},
        {the_environment_requests_failures, 0},
        {machines_without_a_gpu, 0},
        {the_gpu_describes_itself, 0},
        {nullptr, 0},
    };
    return harness_main("fake", tests);
}
