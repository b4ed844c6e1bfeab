// fake_runtime.cpp -- errors of the fake CUDA runtime: who may call, what was requested to fail,
// what is pending. Memory, copies, streams and cuBLAS have files of their own.
#include <map>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <vector>

#include "tests/emulator/fake_internal.h"

namespace {

struct Failure { // calls from..to of a function return `error`
    std::string function;
    int64_t from, to;
    int error;
};

struct State {
    std::recursive_mutex mutex;
    std::map<std::string, int64_t> calls;
    std::vector<Failure> failures;
    int devices = 1;
    cudaError_t driver = cudaSuccess;
    int driver_version = CUDART_VERSION; // 0: there is none
    cudaError_t last = cudaSuccess;      // for cudaGetLastError
    cudaError_t sticky = cudaSuccess;    // the context is dead
    cudaError_t pending = cudaSuccess;   // of running work, not yet returned to anybody
    std::string fault;
};

[[noreturn]] void refuse_environment(const char *name, const char *value) {
    fprintf(stderr, "fake CUDA: %s=%s cannot be read\n", name, value);
    exit(2);
}

// "cudaMalloc:7:2,kernel:9:700:1": function, first call, error, and how many calls (all)
void read_failures(const char *text, std::vector<Failure> *failures) {
    for (const char *at = text; *at;) {
        char function[64];
        long long from, times = INT64_MAX / 2;
        int error, length = 0, longer = 0;
        if (sscanf(at, "%63[A-Za-z0-9_]:%lld:%d%n", function, &from, &error, &length) < 3)
            refuse_environment("RIDGEPOINT_FAKE_CUDA_FAIL", text);
        if (sscanf(at + length, ":%lld%n", &times, &longer) == 1) length += longer;
        failures->push_back({function, from, from + times - 1, error});
        at += length;
        if (*at != '\0' && *at++ != ',') refuse_environment("RIDGEPOINT_FAKE_CUDA_FAIL", text);
    }
}

FakeOrder read_order(const char *text) {
    if (!strcmp(text, "late")) return FAKE_LATE;
    if (!strcmp(text, "reversed")) return FAKE_REVERSED;
    if (!strcmp(text, "eager")) return FAKE_EAGER;
    refuse_environment("RIDGEPOINT_FAKE_CUDA_STREAMS", text);
}

void set_driver(State *state, int error) {
    bool version = error >= 1000;
    state->driver = !version                  ? (cudaError_t)error
                    : error >= CUDART_VERSION ? cudaSuccess
                                              : cudaErrorInsufficientDriver;
    state->driver_version = version ? error : error ? 0 : CUDART_VERSION;
}

size_t read_number(const char *name, const char *text) {
    char *end;
    unsigned long long bytes = strtoull(text, &end, 10);
    if (end == text || *end) refuse_environment(name, text);
    return (size_t)bytes;
}

void read_environment(State *state) {
    const char *failures = getenv("RIDGEPOINT_FAKE_CUDA_FAIL");
    const char *order = getenv("RIDGEPOINT_FAKE_CUDA_STREAMS");
    static const char memory_name[] = "RIDGEPOINT_FAKE_CUDA_MEMORY";
    static const char driver_name[] = "RIDGEPOINT_FAKE_CUDA_DRIVER";
    static const char devices_name[] = "RIDGEPOINT_FAKE_CUDA_DEVICES";
    const char *memory = getenv(memory_name), *driver = getenv(driver_name),
               *devices = getenv(devices_name);
    if (driver) set_driver(state, (int)read_number(driver_name, driver));
    if (devices) state->devices = (int)read_number(devices_name, devices);
    if (failures) read_failures(failures, &state->failures);
    fake::reset_memory(memory ? read_number(memory_name, memory) : (size_t)1 << 30);
    fake::set_order(order ? read_order(order) : FAKE_LATE);
}

// Never freed: work may still use it while the process ends.
State &state() {
    static State *state = [] {
        State *fresh = new State;
        read_environment(fresh);
        return fresh;
    }();
    return *state;
}

bool is_sticky(cudaError_t error) {
    switch (error) {
    case cudaErrorECCUncorrectable:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
        return true;
    default:
        return false;
    }
}

cudaError_t record(cudaError_t error) {
    state().last = error;
    if (is_sticky(error) && state().sticky == cudaSuccess) state().sticky = error;
    return error;
}

void set_fault_list(const char *format, va_list arguments) {
    char text[512];
    vsnprintf(text, sizeof text, format, arguments);
    state().fault = text;
}

// Functions are known by the names that programs write: cublasSgemm, not cublasSgemm_v2.
std::string plain_name(const char *function) {
    std::string name = function;
    size_t length = name.size();
    return length > 3 && name.compare(length - 3, 3, "_v2") == 0 ? name.substr(0, length - 3)
                                                                 : name;
}

bool usable(cudaError_t *error) {
    *error = state().driver != cudaSuccess ? state().driver
             : state().devices == 0        ? cudaErrorNoDevice
                                           : state().sticky;
    return *error == cudaSuccess;
}

} // namespace

namespace fake {

Lock::Lock() : guard(state().mutex) {}

Call::Call(const char *function, Needs needs) {
    std::string name = plain_name(function);
    int failure = requested(name.c_str());
    int any = requested("any");
    if (running()) {
        fail(error = cudaErrorNotPermitted, "%s was called by work on a stream", name.c_str());
    } else if (needs == Needs::DEVICE && !usable(&error)) {
        record(error);
    } else if (failure || any) {
        error = (cudaError_t)(failure ? failure : any);
        fail(error, "%s fails on request, at call %lld", name.c_str(),
             (long long)state().calls[name]);
    }
}

BlasCall::BlasCall(const char *function) {
    std::string name = plain_name(function);
    status = (cublasStatus_t)requested(name.c_str());
    cudaError_t error;
    if (running()) {
        status = CUBLAS_STATUS_INTERNAL_ERROR;
        set_fault("%s was called by work on a stream", name.c_str());
    } else if (!usable(&error)) {
        status = state().sticky != cudaSuccess ? CUBLAS_STATUS_EXECUTION_FAILED
                                               : CUBLAS_STATUS_NOT_INITIALIZED;
    } else if (status != CUBLAS_STATUS_SUCCESS) {
        set_fault("%s fails on request, at call %lld", name.c_str(),
                  (long long)state().calls[name]);
    }
}

cudaError_t fail(cudaError_t error, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    set_fault_list(format, arguments);
    va_end(arguments);
    return record(error);
}

void set_fault(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    set_fault_list(format, arguments);
    va_end(arguments);
}

cudaError_t refuse(cudaError_t error) { return record(error); }

cudaError_t sticky() { return state().sticky; }

int device_count() { return state().devices; }

int driver_version() { return state().driver_version; }

cudaError_t asynchronous() {
    cudaError_t error = state().sticky != cudaSuccess ? state().sticky : state().pending;
    state().pending = cudaSuccess;
    return error == cudaSuccess ? error : record(error);
}

int requested(const char *name) {
    int64_t call = ++state().calls[name];
    for (const Failure &failure : state().failures)
        if (failure.function == name && call >= failure.from && call <= failure.to)
            return failure.error;
    return 0;
}

} // namespace fake

// ---- for tests ---------------------------------------------------------------------------------
void fake_reset(void) {
    fake::Lock lock;
    fake::reset_streams();
    fake::reset_events();
    fake::reset_blas();
    state().calls.clear();
    state().failures.clear();
    state().devices = 1;
    state().driver_version = CUDART_VERSION;
    state().driver = state().last = state().sticky = state().pending = cudaSuccess;
    state().fault.clear();
    read_environment(&state());
}

void fake_set_devices(int count) {
    fake::Lock lock;
    state().devices = count;
}

void fake_set_driver(int error) {
    fake::Lock lock;
    set_driver(&state(), error);
}

void fake_fail(const char *function, int64_t from, int error) {
    fake::Lock lock;
    state().failures.push_back({function, from, INT64_MAX, error});
}

void fake_fail_once(const char *function, int64_t call, int error) {
    fake::Lock lock;
    state().failures.push_back({function, call, call, error});
}

void fake_fail_never(void) {
    fake::Lock lock;
    state().failures.clear();
}

int64_t fake_calls(const char *function) {
    fake::Lock lock;
    auto found = state().calls.find(function);
    return found == state().calls.end() ? 0 : found->second;
}

int fake_functions(const char **names, int most) {
    fake::Lock lock;
    int count = 0;
    for (const auto &entry : state().calls) {
        if (count < most) names[count] = entry.first.c_str();
        count++;
    }
    return count;
}

const char *fake_last_fault(void) { return state().fault.c_str(); }

void fake_fault(cudaError_t error, const char *format, ...) {
    fake::Lock lock;
    va_list arguments;
    va_start(arguments, format);
    set_fault_list(format, arguments);
    va_end(arguments);
    record(error);
    if (fake::running() && state().pending == cudaSuccess) state().pending = error;
}

int fake_leaks(FILE *file) {
    fake::Lock lock;
    return fake::list_memory(file) + fake::list_streams(file) + fake::list_events(file) +
           fake::list_blas(file);
}

// ---- the functions of CUDA ---------------------------------------------------------------------
cudaError_t cudaGetLastError(void) {
    fake::Lock lock;
    cudaError_t error = cudaPeekAtLastError();
    state().last = state().pending = cudaSuccess;
    return error;
}

cudaError_t cudaPeekAtLastError(void) {
    fake::Lock lock;
    return state().sticky != cudaSuccess ? state().sticky : state().last;
}
