// json_mutator.h -- changes a JSON document by its values and members, so that what comes of it is
// JSON still, and reaches what a reader asks after its parser. For an LLVMFuzzerCustomMutator.
#ifndef TESTS_FUZZ_JSON_MUTATOR_H
#define TESTS_FUZZ_JSON_MUTATOR_H

#include <stddef.h>
#include <stdint.h>

// Its new size, at most `most`. What is no JSON, and of the rest a part, changes by its bytes.
size_t json_mutate(uint8_t *bytes, size_t size, size_t most, unsigned seed);

#endif
