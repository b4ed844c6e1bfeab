// fingerprint.h -- internal: the hash by which a checkpoint recognises its data. Not cryptographic.
#ifndef LAYERS_TRAIN_FINGERPRINT_H
#define LAYERS_TRAIN_FINGERPRINT_H

#include <stddef.h>
#include <stdint.h>

// Extends the hash `so_far` by these bytes; 0 starts a new one. Other bytes, order or count give
// another hash, but for one case in 2^64; so do machines of another byte order.
uint64_t fingerprint_add(uint64_t so_far, const void *bytes, size_t count);

#endif
