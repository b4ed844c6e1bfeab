// fuzz.c -- files in memory, and the promises that every error must keep.
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tensor/context.h"

void promise_error(Status status) {
    const char *message = error_message();
    promise(status != STATUS_OK && error_pending() && error_status() == status);
    promise(message[0] != '\0' && strchr(message, '\n') == NULL);
    promise(status != STATUS_FORMAT || strstr(message, "HINT") != NULL);
    error_clear();
}

void promise_clean(void) {
    promise(!error_pending());
    promise(context_ledger()->live.total == 0);
}

FuzzFile fuzz_file(const void *bytes, size_t size) {
    FuzzFile file = {.descriptor = memfd_create("input", MFD_CLOEXEC)};
    promise(file.descriptor >= 0 && write(file.descriptor, bytes, size) == (ssize_t)size);
    snprintf(file.path, sizeof file.path, "/proc/self/fd/%d", file.descriptor);
    return file;
}

void fuzz_file_end(FuzzFile *file) {
    close(file->descriptor);
    file->descriptor = -1;
}

char *fuzz_text(const uint8_t *bytes, size_t size) {
    char *text = malloc(size + 1);
    promise(text != NULL);
    memcpy(text, bytes, size);
    text[size] = '\0';
    return text;
}
