// compile_parts.h -- what the files of the compile step share: an object's sections and symbols,
// and what judges them. Nobody else includes it.
#ifndef EXERCISES_GRADER_COMPILE_PARTS_H
#define EXERCISES_GRADER_COMPILE_PARTS_H

#include "exercises/grader/compile.h"

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>

// A whole file, with a zero behind it, owned; NULL with an error pending. Links are not followed,
// and what is no plain file, or longer than `most`, is refused.
char *compile_read(const char *path, size_t most, size_t *size);

// An object file in memory. Every offset in it was checked against its size.
typedef struct Object {
    char *bytes; // owned
    size_t size;
    const Elf64_Shdr *sections;
    size_t n_sections;
    const Elf64_Sym *symbols;
    size_t n_symbols;
    const char *names; // of the symbols
    size_t names_size;
} Object;
Status object_read(const char *path, Object *object);
void object_free(Object *object);
const char *object_section_name(const Object *object, size_t index); // "" where it has none
const char *object_symbol_name(const Object *object, size_t index);

// Each of these returns true where all is well, else it has set end and detail of the result.
bool judge_includes(const CompileRequest *request, char *output, CompileResult *result);
bool judge_assembly(const char *assembly, CompileResult *result);
bool judge_object(const CompileRequest *request, const Object *object, CompileResult *result);
bool compile_refuse(CompileResult *result, CompileEnd end, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Of words separated by single spaces, number `index`; its length, 0: there are not so many.
size_t compile_word(const char *words, int index, const char **word);
bool compile_is_wanted(const Exercise *exercise, const char *name);

// The functions that student code finds under the same name with lab_ before it; NULL at the end.
extern const char *const compile_redirected[];
bool compile_may_use(const CompileRequest *request, const char *name);
bool compile_is_taken(const char *name); // by the library, the C library or the worker

#endif
