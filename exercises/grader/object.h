// object.h -- internal to the grader: an object file (ELF, 64 bits) in memory, read without
// trusting a number in it.
#ifndef EXERCISES_GRADER_OBJECT_H
#define EXERCISES_GRADER_OBJECT_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>

#include "tensor/status.h"

typedef struct Object {
    char *bytes; // owned
    size_t size;
    const Elf64_Shdr *sections; // every offset was checked against the size
    size_t n_sections;
    const Elf64_Sym *symbols;
    size_t n_symbols;
    const char *names; // of the symbols
    size_t names_size;
} Object;

// From an open file, which it closes. STATUS_IO, STATUS_FORMAT; free it in any case.
Status object_read(int file, Object *object);
void object_free(Object *object);
const char *object_symbol_name(const Object *object, size_t index); // "" where it has none
bool object_defines(const Object *object, const char *name);        // for others to see
uint64_t object_memory(const Object *object);                       // bytes when it is loaded

#endif
