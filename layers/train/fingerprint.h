// fingerprint.h -- internal: by which a checkpoint knows its data again. No proof against forgers.
#ifndef LAYERS_TRAIN_FINGERPRINT_H
#define LAYERS_TRAIN_FINGERPRINT_H

#include <stddef.h>
#include <stdint.h>

// Of what `so_far` is of, and these bytes behind it; 0 begins. Other bytes, their order or number
// give another one, but for one case in 2^64; machines of another byte order give others.
uint64_t fingerprint_add(uint64_t so_far, const void *bytes, size_t count);

#endif
