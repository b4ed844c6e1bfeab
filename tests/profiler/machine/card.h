// card.h -- a made-up card for tests: a device with a memory, a cache and a clock of its own, on
// which every op takes the time that the test sets. Nothing is computed, and its memory does not
// exist, so it may have as much as a real one.
#ifndef TESTS_PROFILER_MACHINE_CARD_H
#define TESTS_PROFILER_MACHINE_CARD_H

#include "tensor/device.h"

typedef enum CardCall { // the function that fails
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
    Device device; // must be first
    DeviceMemory memory;
    // launch, to_host, from_host: ns of a launch on one element, of 1024 bytes to and from the
    // host. flops: FLOPs per ns of a product of at least `large` rows; a smaller one has half.
    // cache, dram: bytes per ns of an op whose operands fit the cache, and of a larger one.
    int64_t launch, to_host, from_host, flops, cache, dram, large;
    CardCall fails;
    // Records of the calls.
    int64_t clock, live, most_live, waits;
    int64_t largest_product, largest_add, smallest_add; // rows; bytes of all operands
} Card;

// Makes a card with or without stamps. The caller frees all its memory before `card` is gone.
void card_init(Card *card, bool stamps);

#endif
