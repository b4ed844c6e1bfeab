// fake_device.cpp -- the fake GPUs themselves: how many there are, what they say about themselves,
// and the names and texts of errors, which are those of CUDA 13.
#include <string.h>

#include "tests/emulator/fake_internal.h"

namespace {

thread_local int current; // device of this thread

struct ErrorText {
    cudaError_t error;
    const char *name, *text;
};

const ErrorText ERRORS[] = {
#define ERROR(name, text)                                                                          \
    { name, #name, text }
    ERROR(cudaSuccess, "no error"),
    ERROR(cudaErrorInvalidValue, "invalid argument"),
    ERROR(cudaErrorMemoryAllocation, "out of memory"),
    ERROR(cudaErrorInitializationError, "initialization error"),
    ERROR(cudaErrorCudartUnloading, "driver shutting down"),
    ERROR(cudaErrorInvalidConfiguration, "invalid configuration argument"),
    ERROR(cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy"),
    ERROR(cudaErrorStubLibrary, "CUDA driver is a stub library"),
    ERROR(cudaErrorInsufficientDriver,
          "CUDA driver version is insufficient for CUDA runtime version"),
    ERROR(cudaErrorDevicesUnavailable, "CUDA-capable device(s) is/are busy or unavailable"),
    ERROR(cudaErrorInvalidDeviceFunction, "invalid device function"),
    ERROR(cudaErrorNoDevice, "no CUDA-capable device is detected"),
    ERROR(cudaErrorInvalidDevice, "invalid device ordinal"),
    ERROR(cudaErrorDeviceUninitialized, "invalid device context"),
    ERROR(cudaErrorNoKernelImageForDevice,
          "no kernel image is available for execution on the device"),
    ERROR(cudaErrorECCUncorrectable, "uncorrectable ECC error encountered"),
    ERROR(cudaErrorInvalidResourceHandle, "invalid resource handle"),
    ERROR(cudaErrorNotReady, "device not ready"),
    ERROR(cudaErrorIllegalAddress, "an illegal memory access was encountered"),
    ERROR(cudaErrorLaunchOutOfResources, "too many resources requested for launch"),
    ERROR(cudaErrorLaunchTimeout, "the launch timed out and was terminated"),
    ERROR(cudaErrorAssert, "device-side assert triggered"),
    ERROR(cudaErrorHardwareStackError, "hardware stack error"),
    ERROR(cudaErrorIllegalInstruction, "an illegal instruction was encountered"),
    ERROR(cudaErrorMisalignedAddress, "misaligned address"),
    ERROR(cudaErrorInvalidAddressSpace, "operation not supported on global/shared address space"),
    ERROR(cudaErrorInvalidPc, "invalid program counter"),
    ERROR(cudaErrorLaunchFailure, "unspecified launch failure"),
    ERROR(cudaErrorNotPermitted, "operation not permitted"),
    ERROR(cudaErrorNotSupported, "operation not supported"),
    ERROR(cudaErrorUnknown, "unknown error"),
#undef ERROR
};

const ErrorText *find(cudaError_t error) {
    for (const ErrorText &one : ERRORS)
        if (one.error == error) return &one;
    return nullptr;
}

// One in the range of the small ones of today: 64 GB/s, 8 multiprocessors.
cudaDeviceProp properties() {
    cudaDeviceProp p;
    memset(&p, 0, sizeof p);
    strcpy(p.name, "Fake GPU");
    memcpy(p.uuid.bytes, "one of the fakes", sizeof p.uuid.bytes);
    p.major = 9;
    p.totalGlobalMem = fake::memory_limit();
    p.multiProcessorCount = 8;
    p.warpSize = 32;
    p.maxThreadsPerBlock = p.maxThreadsDim[0] = p.maxThreadsDim[1] = 1024;
    p.maxThreadsDim[2] = 64;
    p.maxGridSize[0] = 0x7fffffff;
    p.maxGridSize[1] = p.maxGridSize[2] = 65535;
    p.maxThreadsPerMultiProcessor = 2048;
    p.maxBlocksPerMultiProcessor = 32;
    p.regsPerBlock = p.regsPerMultiprocessor = 65536;
    p.sharedMemPerBlock = 48 << 10;
    p.sharedMemPerBlockOptin = 227 << 10;
    p.sharedMemPerMultiprocessor = 228 << 10;
    p.l2CacheSize = 4 << 20;
    p.memoryBusWidth = 256;
    p.concurrentKernels = p.unifiedAddressing = p.asyncEngineCount = 1;
    return p;
}

bool attribute(cudaDeviceAttr name, int *value) {
    const cudaDeviceProp p = properties();
    const struct {
        cudaDeviceAttr name;
        int value;
    } all[] = {
        {cudaDevAttrComputeCapabilityMajor, p.major},
        {cudaDevAttrComputeCapabilityMinor, p.minor},
        {cudaDevAttrMultiProcessorCount, p.multiProcessorCount},
        {cudaDevAttrWarpSize, p.warpSize},
        {cudaDevAttrMaxThreadsPerBlock, p.maxThreadsPerBlock},
        {cudaDevAttrMaxThreadsPerMultiProcessor, p.maxThreadsPerMultiProcessor},
        {cudaDevAttrMaxGridDimX, p.maxGridSize[0]},
        {cudaDevAttrMaxSharedMemoryPerBlock, (int)p.sharedMemPerBlock},
        {cudaDevAttrMaxSharedMemoryPerBlockOptin, (int)p.sharedMemPerBlockOptin},
        {cudaDevAttrMaxSharedMemoryPerMultiprocessor, (int)p.sharedMemPerMultiprocessor},
        {cudaDevAttrL2CacheSize, p.l2CacheSize},
        {cudaDevAttrGlobalMemoryBusWidth, p.memoryBusWidth},
        {cudaDevAttrClockRate, 1000000},       // kHz
        {cudaDevAttrMemoryClockRate, 1000000}, // kHz, two transfers per clock
        {cudaDevAttrAsyncEngineCount, p.asyncEngineCount},
        {cudaDevAttrMemoryPoolsSupported, 0},
    };
    for (auto &one : all) {
        if (one.name != name) continue;
        *value = one.value;
        return true;
    }
    return false;
}

cudaError_t check_device(int device) {
    if (device >= 0 && device < fake::device_count()) return cudaSuccess;
    return fake::fail(cudaErrorInvalidDevice, "device %d of %d", device, fake::device_count());
}

} // namespace

cudaError_t cudaGetDeviceCount(int *count) {
    FAKE_CALL();
    *count = fake::device_count();
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device) {
    FAKE_CALL();
    *device = current;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
    FAKE_CALL();
    cudaError_t error = check_device(device);
    if (error == cudaSuccess) current = device;
    return error;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *result, int device) {
    FAKE_CALL();
    cudaError_t error = check_device(device);
    if (error == cudaSuccess) *result = properties();
    return error;
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr name, int device) {
    FAKE_CALL();
    cudaError_t error = check_device(device);
    if (error != cudaSuccess || attribute(name, value)) return error;
    return fake::fail(cudaErrorInvalidValue, "the fake GPU has no attribute %d", (int)name);
}

cudaError_t cudaFuncSetAttribute(const void *function, cudaFuncAttribute name, int value) {
    FAKE_CALL();
    if (!function) return fake::fail(cudaErrorInvalidDeviceFunction, "attribute of no function");
    bool shared = name == cudaFuncAttributeMaxDynamicSharedMemorySize;
    if (value >= 0 && (!shared || (size_t)value <= properties().sharedMemPerBlockOptin))
        return cudaSuccess;
    return fake::fail(cudaErrorInvalidValue, "attribute %d of a function: %d", (int)name, value);
}

cudaError_t cudaDriverGetVersion(int *version) {
    fake::Call call(__func__, fake::Needs::NOTHING);
    if (call.error == cudaSuccess) *version = fake::driver_version();
    return call.error;
}

cudaError_t cudaRuntimeGetVersion(int *version) {
    fake::Call call(__func__, fake::Needs::NOTHING);
    if (call.error == cudaSuccess) *version = CUDART_VERSION;
    return call.error;
}

const char *cudaGetErrorName(cudaError_t error) {
    const ErrorText *found = find(error);
    return found ? found->name : "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error) {
    const ErrorText *found = find(error);
    return found ? found->text : "unrecognized error code";
}
