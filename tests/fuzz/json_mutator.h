// json_mutator.h -- changes a JSON document by its values and members, so that the result is still
// JSON, and reaches the checks after a reader's parser. For an LLVMFuzzerCustomMutator.
#ifndef TESTS_FUZZ_JSON_MUTATOR_H
#define TESTS_FUZZ_JSON_MUTATOR_H

#include <stddef.h>
#include <stdint.h>

// The new size, at most `most`. Input that is not JSON, and some other, is changed by bytes.
size_t json_mutate(uint8_t *bytes, size_t size, size_t most, unsigned seed);

#endif
