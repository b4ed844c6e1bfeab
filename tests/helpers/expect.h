// expect.h -- checks that the engine's test programs share: the pending error, a tensor's values,
// live bytes. Comparisons of float arrays with a tolerance are in harness.h.
#ifndef TESTS_HELPERS_EXPECT_H
#define TESTS_HELPERS_EXPECT_H

#include "tensor/context.h"
#include "tests/helpers/harness.h"

// Fails unless `status` is pending with a message that contains `mention`; clears it.
#define expect_error(status, mention)                                                              \
    ck_assert_msg(expect_error_is((status), (mention)), "%s", expect_complaint())
#define expect_no_error() ck_assert_msg(!error_pending(), "pending: %s", error_message())

// Fails unless the tensor's elements, in row-major order, are exactly these.
#define expect_values(tensor, ...)                                                                 \
    ck_assert_msg(expect_values_are((tensor), (float[]){__VA_ARGS__},                              \
                                    (int64_t)(sizeof((float[]){__VA_ARGS__}) / sizeof(float))),    \
                  "%s", expect_complaint())

bool expect_error_is(Status status, const char *mention);
bool expect_values_are(const Tensor *tensor, const float *want, int64_t count);
const char *expect_complaint(void); // message of the last failed check of these two

int64_t expect_live_bytes(void); // live bytes in the current context's ledger

#endif
