// build_parts.h -- internal to building: the tools and whether they work, object files, and which
// functions a student's file may call.
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

// ---- names: names.c ----------------------------------------------------------------------------
// Which functions a student's file may call, the same in every exercise, and where it calls what. A
// diagnosis for honest students: it keeps nobody out.
// Functions that student code finds under the same name with lab_ before it; NULL at the end.
extern const char *const names_redirected[];
extern const char names_allowed_text[]; // what may be called, for people

typedef enum NameRule {
    NAME_ALLOWED,
    NAME_REFUSED,   // there is such a function, and it is not for exercises
    NAME_ELSEWHERE, // it may be called, but is not there in this exercise
    NAME_NOWHERE,   // nobody defines it
} NameRule;
// `worker`: the exercise's side, which defines what of the library may be called.
NameRule name_rule(const char *name, const Object *worker, bool sanitize);

// The line of a source, from 1, in which `name` is called, or else first stands; 0: in none. A
// comment or a string may look like it: it is for people.
int source_line_of(const char *source, const char *name);
// The line in which a function of that name begins; 0.
int source_definition(const char *source, const char *name);

// ---- tools: build_tools.c ----------------------------------------------------------------------
enum { BUILD_NAME = 128, MOST_WORDS = 128 };

typedef struct Work { // at one worker
    const BuildOrder *order;
    Build *build;
    char *source; // the student's text, owned
    char file[BUILD_NAME];
    char compiler[BUILD_NAME * 4], objcopy[BUILD_NAME * 4], own_flag[BUILD_NAME / 2]; // or ""
    Object worker; // the exercise's side
} Work;

typedef struct Words { // a command line
    const char *word[MOST_WORDS];
    int count;
} Words;

void words_add(Words *words, const char *word);

// How the work ends; false, so that a step can return it.
bool build_ends(Build *build, BuildEnd end, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool build_machine_failed(Build *build); // by the pending error

bool tools_find(Work *work); // `tools` of the parts
// Runs one, confined, in the work's room; false: it could not be run at all, and the work has
// ended.
bool tool_run(const Work *work, const Words *words, ConfineResult *ran);
bool tool_ended_well(const ConfineResult *ran);
// Command lines: of the compiler for a file, with the names that system headers are to declare; of
// the linker, with room for words of its own. Without `object` the wanted functions are nowhere,
// and that is said to be fine: a control.
void tool_compile(const Work *work, const char *file, const char *names, Words *words);
enum { LINK_WORDS = 10, LINK_WORD = BUILD_NAME + 24 };
void tool_link(const Work *work, const char *object, char text[LINK_WORDS][LINK_WORD],
               Words *words);
// Whether a file of our own goes the same way, `what`: "linking"; if not, the machine cannot, and
// the work has ended.
bool tool_control(const Work *work, bool link, const char *what);

#endif
