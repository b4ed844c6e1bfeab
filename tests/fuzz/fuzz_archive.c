// fuzz_archive.c -- archives from strangers, and object files that the compiler makes of their
// code: for any input its files are taken, by names that stay inside, or there is one message.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "exercises/grader/build_parts.h"
#include "exercises/instructor/archive.h"
#include "tensor/memory.h"
#include "tests/fuzz/fuzz.h"

enum { BLOCK = 512, SUM = 148 };

static Status take(void *argument, const char *name, const char *bytes, size_t count) {
    unsigned *sum = argument;
    promise(name[0] != '\0' && name[0] != '/' && strlen(name) < ARCHIVE_NAME);
    promise(strncmp(name, "../", 3) != 0 && !strstr(name, "/../") && strcmp(name, "..") != 0);
    for (size_t i = 0; i < count; i++) *sum += (unsigned char)bytes[i]; // for the sanitizer
    return STATUS_OK;
}

static void walk(const uint8_t *bytes, size_t size, uint64_t failing) {
    unsigned sum = 0;
    memory_fail_at(failing);
    Status status = archive_each_of("input", (const char *)bytes, size, take, &sum);
    memory_fail_at(0);
    if (status) promise_error(status);
    promise_clean();
}

static void read_object(const uint8_t *bytes, size_t size) {
    Object object;
    FuzzFile file = fuzz_file(bytes, size);
    Status status = object_read(dup(file.descriptor), &object);
    if (status) {
        promise_error(status);
    } else {
        object_defines(&object, "main");
        object_memory(&object);
    }
    object_free(&object);
    fuzz_file_end(&file);
    promise_clean();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    if (size > 4 && memcmp(bytes,
                           "\x7f"
                           "ELF",
                           4) == 0) {
        read_object(bytes, size);
        return 0;
    }
    walk(bytes, size, 0);
    walk(bytes, size, 1 + size % 5);
    return 0;
}

// Changes bytes; then gives most headers of a tar the right checksum.
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned seed) {
    size = LLVMFuzzerMutate(bytes, size, most);
    for (size_t at = 0; at + BLOCK <= size && seed % 8 > 0; at += BLOCK) {
        if (memcmp(bytes + at + 257, "ustar", 5) != 0) continue;
        unsigned sum = 0;
        char text[8];
        memset(bytes + at + SUM, ' ', 8);
        for (size_t i = 0; i < BLOCK; i++) sum += bytes[at + i];
        snprintf(text, sizeof text, "%06o", sum & 0777777);
        memcpy(bytes + at + SUM, text, 7);
    }
    return size;
}
