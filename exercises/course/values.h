// values.h -- the values that a case asks for, by exercise: bits of the input's "ask=". The worker
// sends the values in the order of their bits, and the cases expect them in that order.
#ifndef EXERCISES_COURSE_VALUES_H
#define EXERCISES_COURSE_VALUES_H

// Exercise 06: "ask=5 warmup=2 iterations=9".
enum LatencyValue {
    LATENCY_ASK_N = 1,
    LATENCY_ASK_MEDIAN = 2,
    LATENCY_ASK_MEAN = 4,
    LATENCY_ASK_MIN_MAX = 8, // two values
    LATENCY_ASK_IQR = 16,
    LATENCY_ASK_P95 = 32,
    // The function's use of memory: whether it allocates between the first and the last sample;
    // then, called again with each request failing, blocks not freed, frees of blocks that are not
    // live, and whether it overlooks a NULL.
    LATENCY_ASK_ACCOUNT = 64,
};

// Exercise 07: "ask=1 launches=4 bytes_in=1000 bytes_out=500".
enum DeviceValue {
    DEVICE_ASK_KERNEL = 1,
    DEVICE_ASK_COPY = 2,
    DEVICE_ASK_LAUNCH = 4,
    // NO_EVENT: called again with each event NULL, whether the function overlooks that. REFUSED:
    // with each call refused, the first call whose status the function loses (RemoteDeviceCall).
    DEVICE_ASK_NO_EVENT = 8,
    DEVICE_ASK_REFUSED = 16,
};

// Exercise 08. memory_use: "ask=7 events= p1=400 -1". training_memory: "ask=16 optimizer=2
// model=Linear(4,2) @ 8x4".
enum MemoryValue {
    MEMORY_ASK_LIVE = 1,
    MEMORY_ASK_PEAK = 2,
    MEMORY_ASK_TOTAL = 4,
    MEMORY_ASK_AT_PEAK = 8, // five values
    MEMORY_ASK_LEAKS = 16,  // two values: blocks, bytes
    MEMORY_ASK_PARAMETERS = 32,
    MEMORY_ASK_GRADIENTS = 64,
    MEMORY_ASK_OPTIMIZER = 128,
    MEMORY_ASK_ACTIVATIONS = 256,
    MEMORY_ASK_SUM = 512,
    // The status as a value, and the function's use of malloc: blocks not freed, frees of blocks
    // that are not live, whether it overlooks a NULL.
    MEMORY_ASK_ACCOUNT = 1024,
};
// The longest list of events, and the bytes of one more event behind the list, an activation, which
// the function must not read.
enum { MEMORY_MOST_EVENTS = 4096, MEMORY_BEYOND_BYTES = 1000003 };

// Exercise 01: the function's use of memory, as values.
typedef enum GivenBack { GAVE_ALL, GAVE_NOT_ALL, GAVE_MORE } GivenBack;
typedef enum Told { TOLD, TOLD_OK, TOLD_OTHERWISE } Told;

// Exercise 09: the number of rows comes first, then the values of every row, then of the whole.
typedef enum ForwardValue {
    FORWARD_ASK_FLOPS = 1,
    FORWARD_ASK_ROW_SECONDS = 2,
    FORWARD_ASK_SECONDS = 4,
    FORWARD_ASK_UNATTRIBUTED = 8,
    FORWARD_ASK_SHARES = 16,
    FORWARD_ASK_RATES = 32,   // FLOP/s of rows and of the whole
    FORWARD_ASK_SAMPLES = 64, // samples per second
    FORWARD_ASK_AMDAHL = 128,
    FORWARD_ASK_BOUNDS = 256,
} ForwardValue;

// Exercise 10.
typedef enum BackwardValue {
    BACKWARD_ASK_FLOPS = 1,   // forward, weight gradient, input gradient, backward
    BACKWARD_ASK_SECONDS = 2, // forward, backward, optimizer
    BACKWARD_ASK_RATIO = 4,
    BACKWARD_ASK_STEP = 8, // seconds of the step, share of the optimizer
} BackwardValue;

#endif
