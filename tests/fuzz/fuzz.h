// fuzz.h -- what fuzz programs (fuzz_*.c) share: promises that they hold a reader to, and files in
// memory for readers that open what they read. clang's libFuzzer is their main(): make fuzz.
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "tensor/status.h"

// Feeds one input to the code under test, which may refuse it, but not crash, hang or leak. 0.
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
// What makes one input of another where a program has it, and libFuzzer's own change of bytes. The
// new size, at most `most`.
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size, size_t most);

static inline void promise(bool kept) {
    if (!kept) abort();
}

// The one pending error is of this status and says on one line what is wrong; and is cleared. Where
// it is no lack of memory, it also says what to do.
void promise_error(Status status);
// Nothing is pending, and nothing is left allocated in the context's ledger.
void promise_clean(void);

typedef struct FuzzFile { // of bytes in memory
    int descriptor;
    char path[32];
} FuzzFile;
FuzzFile fuzz_file(const void *bytes, size_t size);
void fuzz_file_end(FuzzFile *file);

// The bytes and a zero behind them; yours to free.
char *fuzz_text(const uint8_t *bytes, size_t size);

#endif
