// trusted_compile.c -- compile_student without containment and without a list; for the time being.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exercises/grader/compile.h"

__attribute__((weak)) Status compile_student(const CompileRequest *request, CompileResult *result) {
    char command[4096];
    *result = (CompileResult){.end = COMPILE_DONE};
    if (access(request->file, R_OK) != 0) {
        result->end = COMPILE_NO_FILE;
        return STATUS_OK;
    }
    snprintf(result->object, sizeof result->object, "%.400s/student.o", request->folder);
    snprintf(command, sizeof command, "%s -std=c11 -O1 -g -I%s -c -o %s %s %s 2>&1",
             request->toolchain->compiler, request->toolchain->headers, result->object,
             request->sanitize ? "-fsanitize=address" : "", request->file);
    if (system(command) != 0) result->end = COMPILE_FAILED;
    snprintf(
        command, sizeof command,
        "for f in clock_gettime clock_getres time gettimeofday clock nanosleep malloc calloc "
        "realloc free aligned_alloc posix_memalign timespec_get; do echo $f lab_$f; done >%s.r; "
        "objcopy --redefine-syms=%s.r %s",
        result->object, result->object, result->object);
    if (result->end == COMPILE_DONE && system(command) != 0) result->end = COMPILE_FAILED;
    return STATUS_OK;
}
__attribute__((weak)) void compile_result_free(CompileResult *result) { free(result->output); }
