// expect.c -- the functions behind expect.h's macros, which check and word the complaint.
#include "tests/helpers/expect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local char complaint[768];

const char *expect_complaint(void) { return complaint; }

bool expect_error_is(Status status, const char *mention) {
    bool right = error_status() == status && strstr(error_message(), mention) != NULL;
    snprintf(complaint, sizeof complaint, "%s is pending: \"%s\"; expected %s with \"%s\"",
             status_name(error_status()), error_message(), status_name(status), mention);
    error_clear();
    return right;
}

bool expect_values_are(const Tensor *tensor, const float *want, int64_t count) {
    if (tensor == NULL || tensor->numel != count) {
        snprintf(complaint, sizeof complaint, "%lld elements instead of %lld; pending: \"%s\"",
                 tensor ? (long long)tensor->numel : -1LL, (long long)count, error_message());
        return false;
    }
    float *got = calloc((size_t)count, sizeof *got);
    bool right = got != NULL && tensor_read_floats(tensor, got) == STATUS_OK &&
                 harness_close(got, want, count, 0.0, 0.0, "tensor");
    free(got);
    snprintf(complaint, sizeof complaint, "%s%s", error_message(), harness_close_message());
    return right;
}

int64_t expect_live_bytes(void) {
    const Ledger *ledger = context_ledger();
    return ledger ? ledger->live.total : -1;
}
