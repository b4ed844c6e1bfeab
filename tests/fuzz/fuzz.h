// fuzz.h -- shared by the fuzz programs (fuzz_*.c): promises that a reader must keep, and files in
// memory for readers that open a path. clang's libFuzzer has their main(): make fuzz.
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "tensor/status.h"

// Feeds one input to the code, which may refuse it, but not crash, hang or leak. Returns 0.
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
// A program's own mutator, and libFuzzer's change of bytes. Both return the new size, at most
// `most`.
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size, size_t most);

static inline void promise(bool kept) {
    if (!kept) abort();
}

// Checks that the one pending error has this status and words the problem on one line, with a
// remedy unless memory ran out; clears it.
void promise_error(Status status);
// Checks that no error is pending, and that the context's ledger has no live bytes.
void promise_clean(void);

typedef struct FuzzFile { // a file of bytes in memory
    int descriptor;
    char path[32];
} FuzzFile;
FuzzFile fuzz_file(const void *bytes, size_t size);
void fuzz_file_end(FuzzFile *file);

// The bytes and a zero after them; free it.
char *fuzz_text(const uint8_t *bytes, size_t size);

#endif
