// build_parts.h -- internal to building: the tools and a check that they work, object files, and
// the functions that a student's file may call.
#ifndef EXERCISES_GRADER_BUILD_PARTS_H
#define EXERCISES_GRADER_BUILD_PARTS_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>

#include "exercises/grader/build.h"
#include "exercises/grader/confine.h"

// ---- an object file (ELF, 64 bits) in memory, read without trusting a number in it: object.c ----
typedef struct Object {
    char *bytes; // owned
    size_t size;
    const Elf64_Shdr *sections; // all offsets are checked against the size
    size_t n_sections;
    const Elf64_Sym *symbols;
    size_t n_symbols;
    const char *names; // names of the symbols
    size_t names_size;
} Object;

// Reads an open file and closes it. STATUS_IO, STATUS_FORMAT. Free the object in any case.
Status object_read(int file, Object *object);
void object_free(Object *object);
const char *object_symbol_name(const Object *object, size_t index); // "": no name
bool object_defines(const Object *object, const char *name);        // as a global symbol
uint64_t object_memory(const Object *object);                       // bytes once loaded

// ---- names: names.c ----------------------------------------------------------------------------
// The functions that a student's file may call, the same in every exercise, and the lines of calls.
// This is a diagnosis for honest students; it is no protection.
// Functions whose calls go to the same name with the prefix lab_; NULL at the end.
extern const char *const names_redirected[];
extern const char names_allowed_text[]; // the allowed functions, as text for people

typedef enum NameRule {
    NAME_ALLOWED,
    NAME_REFUSED,   // the function exists, but is not for exercises
    NAME_ELSEWHERE, // the function is allowed, but does not exist in this exercise
    NAME_NOWHERE,   // no such function
} NameRule;
// `worker`: the exercise's side, which defines the library functions that may be called.
NameRule name_rule(const char *name, const Object *worker, bool sanitize);

// The line of a source, from 1, in which `name` is called, or else first occurs; 0: none. Comments
// and strings may mislead it: the line is only for people.
int source_line_of(const char *source, const char *name);
// The line in which a function of that name begins; 0: none.
int source_definition(const char *source, const char *name);

// ---- tools: build_tools.c ----------------------------------------------------------------------
enum { BUILD_NAME = 128, MOST_WORDS = 128 };

typedef struct Work { // the build of one worker
    const BuildOrder *order;
    Build *build;
    char *source; // the student's text, owned
    char file[BUILD_NAME];
    char compiler[BUILD_NAME * 4], objcopy[BUILD_NAME * 4], own_flag[BUILD_NAME / 2]; // flag or ""
    Object worker; // the exercise's side
} Work;

typedef struct Words { // a command line
    const char *word[MOST_WORDS];
    int count;
} Words;

void words_add(Words *words, const char *word);

// Sets the end of the build. Returns false, so that a step can return the result.
bool build_ends(Build *build, BuildEnd end, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool build_machine_failed(Build *build); // ends it with the pending error

bool tools_find(Work *work); // reads the file `tools` of the parts
// Runs a tool, confined, in the work's room. False: it did not run at all, and the build has ended.
bool tool_run(const Work *work, const Words *words, ConfineResult *ran);
bool tool_ended_well(const ConfineResult *ran);
// Command lines of the compiler for a file, with the names that system headers shall declare; and
// of the linker, with room for words of its own. Without `object` the wanted functions are
// undefined, which the linker is told to accept: a control.
void tool_compile(const Work *work, const char *file, const char *names, Words *words);
enum { LINK_WORDS = 10, LINK_WORD = BUILD_NAME + 24 };
void tool_link(const Work *work, const char *object, char text[LINK_WORDS][LINK_WORD],
               Words *words);
// True if compiling (or linking) works for a file of our own. False: the machine fails at `what`
// ("linking"), and the build has ended.
bool tool_control(const Work *work, bool link, const char *what);

#endif
