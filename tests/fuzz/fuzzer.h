// fuzzer.h -- what a fuzz program (fuzz_*.c) provides; fuzzer.c then drives it for some seconds.
// libFuzzer can drive it too: clang -fsanitize=fuzzer,address -D_GNU_SOURCE -I.
// tests/fuzz/fuzz_idx.c with the library's sources.
#ifndef TESTS_FUZZ_FUZZER_H
#define TESTS_FUZZ_FUZZER_H

#include <stddef.h>
#include <stdint.h>

enum { FUZZER_MAX_INPUT = 4096 };

// Feeds one input to the code under test, which may refuse it, but not crash, hang or leak; abort()
// when a promise is broken. Returns 0.
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

// A valid input to start from: writes it and returns its size; 0 past the last index.
size_t fuzzer_seed(int index, uint8_t bytes[FUZZER_MAX_INPUT]);

#endif
