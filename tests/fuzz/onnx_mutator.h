// onnx_mutator.h -- changes an ONNX model by its parts, so that the result is still a model: nodes,
// their connections, attributes, sizes, types, constants. For fuzz_onnx.
#ifndef TESTS_FUZZ_ONNX_MUTATOR_H
#define TESTS_FUZZ_ONNX_MUTATOR_H

#include <stddef.h>
#include <stdint.h>

// Returns the model's new size, at most `most`. Input that is no model, and some other, is changed
// by its bytes.
size_t onnx_mutate(uint8_t *bytes, size_t size, size_t most, unsigned seed);

#endif
