// test_fake_errors.cpp -- tests what the fake CUDA runtime does when something is wrong: failures
// on request, sticky errors, machines without a GPU.
#include <stdlib.h>

#include "tests/emulator/fake_test.h"

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

START_TEST(drivers_of_some_version) {
    int count = 0, version = 0;
    for (int driver : {12020, CUDART_VERSION, CUDART_VERSION + 10}) {
        cudaError_t wanted = driver < CUDART_VERSION ? cudaErrorInsufficientDriver : cudaSuccess;
        fake_set_driver(driver);
        ck_error(cudaGetDeviceCount(&count), wanted);
        ck_good(cudaDriverGetVersion(&version));
        ck_assert_int_eq(version, driver);
    }
    setenv("RIDGEPOINT_FAKE_CUDA_DRIVER", "12020", 1);
    setenv("RIDGEPOINT_FAKE_CUDA_DEVICES", "0", 1);
    fake_reset();
    ck_error(cudaGetDeviceCount(&count), cudaErrorInsufficientDriver);
    fake_set_driver(0);
    ck_error(cudaGetDeviceCount(&count), cudaErrorNoDevice);
    unsetenv("RIDGEPOINT_FAKE_CUDA_DRIVER");
    unsetenv("RIDGEPOINT_FAKE_CUDA_DEVICES");
    fake_reset();
    ck_good(cudaGetDeviceCount(&count));
    ck_good(cudaDriverGetVersion(&version));
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
        {calls_fail_from_one_on, 0},
        {one_call_fails, 0},
        {what_releases_has_released, 0},
        {sticky_errors_stay, 0},
        {a_launch_fails_at_once_and_a_kernel_later, 0},
        {the_environment_requests_failures, 0},
        {machines_without_a_gpu, 0},
        {drivers_of_some_version, 0},
        {the_gpu_describes_itself, 0},
        {nullptr, 0},
    };
    return harness_main("fake_errors", tests);
}
