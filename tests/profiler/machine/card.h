// card.h -- a card made up for tests: a device with a memory, a cache and a clock of its own, on
// which every op takes as long as the test says. Nothing is computed, and its memory is not there,
// so that it may have as much as a real one.
#ifndef TESTS_PROFILER_MACHINE_CARD_H
#define TESTS_PROFILER_MACHINE_CARD_H

#include "tensor/device.h"

typedef enum CardCall { // which of its functions fails
    CARD_NOTHING,
    CARD_ALLOCATE,
    CARD_RUN,
    CARD_FROM_HOST,
    CARD_TO_HOST,
    CARD_SYNCHRONIZE,
    CARD_RESERVE,
    CARD_STAMP,
    CARD_READ,
    CARD_MEMORY,
    CARD_CALLS
} CardCall;

typedef struct Card {
    Device device; // first
    DeviceMemory memory;
    // Nanoseconds: of a launch on one element, of 1024 bytes to and from the host. FLOPs a
    // nanosecond of a product of at least `large` rows; of a smaller one half. Bytes a nanosecond
    // of an op whose operands the cache holds, and of a larger one.
    int64_t launch, to_host, from_host, flops, cache, dram, large;
    CardCall fails;
    // What happened.
    int64_t clock, live, most_live, waits;
    int64_t largest_product, largest_add, smallest_add; // rows; bytes of all operands
} Card;

// With stamps, or without. The caller frees what it allocated before `card` is gone.
void card_init(Card *card, bool stamps);

#endif
