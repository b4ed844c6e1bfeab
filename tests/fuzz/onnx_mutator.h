// onnx_mutator.h -- changes an ONNX model by its parts, so that what comes of it is a model still:
// nodes, what they are wired to, attributes, sizes, types, constants. For fuzz_onnx.
#ifndef TESTS_FUZZ_ONNX_MUTATOR_H
#define TESTS_FUZZ_ONNX_MUTATOR_H

#include <stddef.h>
#include <stdint.h>

// The model's new size, at most `most`. What is no model, and of the rest a part, changes by its
// bytes.
size_t onnx_mutate(uint8_t *bytes, size_t size, size_t most, unsigned seed);

#endif
