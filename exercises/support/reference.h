// reference.h -- correct functions of exercises 02 and 03, for exercises that build on them, so
// that no exercise needs your solution of an earlier one. Exercise 04's is in reference_roofline.h.
#ifndef EXERCISES_SUPPORT_REFERENCE_H
#define EXERCISES_SUPPORT_REFERENCE_H

#include "exercises/ex03_count_bytes.h"

// FLOPs of ONE sample, as count_flops of exercise 02. `input` is the whole batch's shape.
Status reference_count_flops(const Layer *model, Shape input, int64_t *flops);
// Bytes moved by the WHOLE batch, as count_bytes of exercise 03.
Status reference_count_bytes(const Layer *model, Shape input, Traffic *traffic);

#endif
