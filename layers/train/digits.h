// digits.h -- draws labelled images of digits: glyph strokes under a random affine change, with
// random thickness and noise. Deterministic by seed; so that training has real work, offline.
#ifndef LAYERS_TRAIN_DIGITS_H
#define LAYERS_TRAIN_DIGITS_H

#include "layers/train/dataset.h"

RIDGEPOINT_API_BEGIN

enum { DIGITS_SIDE = 28 };

// `count` images, 28 x 28, classes 0..9 in equal shares and random order.
Status digits_generate(int64_t count, uint64_t seed, Dataset *out);

RIDGEPOINT_API_END

#endif
