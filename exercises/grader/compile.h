// compile.h -- from a student's file to an object that may be linked into a worker, or the reason
// why not. Compiler and binutils run contained; the object's symbols and sections are judged by the
// exercise's list. Not here: linking and running it (grade.c).
#ifndef EXERCISES_GRADER_COMPILE_H
#define EXERCISES_GRADER_COMPILE_H

#include "exercises/grader/contain.h"
#include "exercises/grader/exercise.h"
#include "exercises/grader/toolchain.h"

typedef struct CompileRequest {
    const Toolchain *toolchain;
    const Exercise *exercise;
    const char *file;   // of the student's
    const char *folder; // contain_directory_new's; the object goes there
    bool sanitize;      // with AddressSanitizer
    unsigned without;   // layers of containment to leave out, and
    bool any_symbol;    // no list: both for the grader's own tests
} CompileRequest;

typedef enum CompileEnd {
    COMPILE_DONE,
    COMPILE_NO_FILE,
    COMPILE_FAILED,    // output says why; also where the wanted function is not defined
    COMPILE_FORBIDDEN, // detail names it: "symbol system", "inline assembly", "includes
                       // /etc/passwd"
} CompileEnd;

typedef struct CompileResult {
    CompileEnd end;
    char object[512];       // the path: only the wanted functions are global, the time and memory
                            // functions are redirected to lab_ ones (exercises/support)
    char detail[CASE_LINE]; // cleaned
    char *output;           // of the compiler, cleaned and cut, owned; NULL: none
    int line;               // of the exercise's function in the file; 0: not found
} CompileResult;

Status compile_student(const CompileRequest *request, CompileResult *result);
void compile_result_free(CompileResult *result);

#endif
