// ex04_roofline.c -- exercise 04, yours to write. The task is in ex04_roofline.h.
#include "exercises/ex04_roofline.h"

Status roofline(const RooflineInput *input, RooflineResult *result) {
    // TODO: 1. refuse  2. intensity and ridge  3. bound  4. roof time and fraction
    (void)input;
    (void)result;
    return STATUS_NOT_IMPLEMENTED;
}
