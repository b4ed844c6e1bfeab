// own_ledger.h -- for the tests of storage: a context of their own, whose ledger starts empty.
#ifndef TESTS_TENSOR_OWN_LEDGER_H
#define TESTS_TENSOR_OWN_LEDGER_H

#include <stdlib.h>

#include "tensor/context.h"
#include "tensor/storage.h"
#include "tests/helpers/expect.h"

static Context *own;

// Pushes a fresh context whose ledger keeps a cache, or, with `raw`, none.
static Ledger *enter(bool raw) {
    if (raw)
        setenv("RIDGEPOINT_ALLOC", "raw", 1);
    else
        unsetenv("RIDGEPOINT_ALLOC");
    own = context_new();
    context_push(own);
    return context_ledger();
}

static void leave(void) {
    context_pop();
    context_free(own);
    expect_no_error();
}

static Storage *cpu_storage(int64_t bytes) { return storage_new(device_cpu(), bytes, MEM_DATA); }

#endif
