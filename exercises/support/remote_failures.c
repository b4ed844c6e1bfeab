// remote_failures.c -- makes each call of a student's function fail in turn, and checks how the
// function reacts. The function may make any number of calls.
#include "exercises/support/ledger.h"
#include "exercises/support/remote.h"

enum { MOST_TRIES = 256 };

typedef struct Failures { // the values of the answer
    Status status;
    int64_t ignored_call, ignored_allocation, blocks_left;
} Failures;

static struct {
    int64_t left; // calls until one fails; 0: none fails
    bool failed;
    bool broken, went_on; // an engine call failed; another engine call followed
} calls;

bool remote_fails(void) {
    if (calls.left == 0 || --calls.left > 0) return false;
    calls.failed = true;
    return true;
}

bool remote_breaks(const char *call) {
    if (calls.broken) calls.went_on = true;
    if (!remote_fails()) return false;
    calls.broken = true;
    error_set(STATUS_DEVICE, "%s: the device does not answer. HINT: give the status back", call);
    return true;
}

// Makes engine call number `call` fail, or that allocation; *failed: it was reached.
static Status attempt(Status (*function)(void *), void *argument, int64_t call, int64_t allocation,
                      bool *failed, int64_t *blocks_left) {
    lab_ledger_start();
    lab_ledger_fail_at(allocation);
    calls.left = call;
    calls.failed = calls.broken = calls.went_on = false;
    Status status = function(argument);
    LabLedger ledger = lab_ledger_now();
    *failed = calls.failed || (allocation > 0 && ledger.requests >= allocation);
    if (ledger.live > *blocks_left) *blocks_left = ledger.live;
    calls.left = 0;
    lab_ledger_start();
    error_clear(); // the function has reported it
    return status;
}

static Failures try_failures(Status (*function)(void *), void *argument) {
    Failures found = {.status = STATUS_OK};
    bool failed = true;
    for (int64_t nth = 1; nth <= MOST_TRIES && failed; nth++) {
        Status status = attempt(function, argument, nth, 0, &failed, &found.blocks_left);
        bool told = !failed || (status == STATUS_DEVICE && !calls.went_on);
        if (!told && !found.ignored_call) found.ignored_call = nth;
    }
    failed = true;
    for (int64_t nth = 1; nth <= MOST_TRIES && failed; nth++) {
        found.status = attempt(function, argument, 0, nth, &failed, &found.blocks_left);
        bool told = !failed || found.status == STATUS_OUT_OF_MEMORY;
        if (!told && !found.ignored_allocation) found.ignored_allocation = nth;
    }
    return found;
}

void remote_answer_failures(Answer *answer, Status (*function)(void *), void *argument) {
    answer_begin(answer);
    Failures found = try_failures(function, argument);
    bool written = found.status != STATUS_NOT_IMPLEMENTED;
    answer_status(answer, written ? STATUS_OK : found.status);
    if (!written) return;
    answer_integer(answer, found.status);
    answer_integer(answer, found.ignored_call);
    answer_integer(answer, found.ignored_allocation);
    answer_integer(answer, found.blocks_left);
}
