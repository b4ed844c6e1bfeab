// ex09_profile_forward_pass.c -- exercise 09: a forward pass, profiled. The task is in
// ex09_profile_forward_pass.h.
#include "exercises/ex09_profile_forward_pass.h"

Status profile_forward_pass(Layer *model, Tensor *x, ForwardMachine machine,
                            ForwardProfile *profile) {
    // TODO: 1. warm up  2. the whole  3. a row for each layer without children  4. the totals
    (void)model;
    (void)x;
    (void)machine;
    (void)profile;
    return STATUS_NOT_IMPLEMENTED;
}
