// reference.h -- the functions of exercises 02 and 03, right: for exercises that stand on them. No
// exercise needs an earlier one to be solved. That of exercise 04 is in reference_roofline.h.
#ifndef EXERCISES_SUPPORT_REFERENCE_H
#define EXERCISES_SUPPORT_REFERENCE_H

#include "exercises/ex03_count_bytes.h"

// FLOPs of ONE sample, as count_flops of exercise 02. `input` is the whole batch's shape.
Status reference_count_flops(const Layer *model, Shape input, int64_t *flops);
// Bytes moved by the WHOLE batch, as count_bytes of exercise 03.
Status reference_count_bytes(const Layer *model, Shape input, Traffic *traffic);

#endif
