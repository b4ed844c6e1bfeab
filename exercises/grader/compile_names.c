// compile_names.c -- the names that student code may use without asking, those that it gets in
// another version, and those that it may not define.
#include "exercises/grader/compile_parts.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

// What compilers call by themselves, plain arithmetic, and what people look for mistakes with.
static const char *const compiler_symbols[] = {"_GLOBAL_OFFSET_TABLE_",
                                               "__stack_chk_fail",
                                               "__stack_chk_guard",
                                               "memcpy",
                                               "memmove",
                                               "memset",
                                               "memcmp",
                                               "__memcpy_chk",
                                               "__memset_chk",
                                               "__memmove_chk",
                                               "__assert_fail",
                                               "fabs",
                                               "fabsf",
                                               "sqrt",
                                               "sqrtf",
                                               "floor",
                                               "floorf",
                                               "ceil",
                                               "ceilf",
                                               "round",
                                               "roundf",
                                               "trunc",
                                               "fmin",
                                               "fmax",
                                               "fminf",
                                               "fmaxf",
                                               "fmod",
                                               "pow",
                                               "exp",
                                               "log",
                                               "log2",
                                               "log10",
                                               "printf",
                                               "puts",
                                               "putchar",
                                               "__printf_chk",
                                               NULL};

static const char *const sanitizer_symbols[] = {"__asan_*", "__ubsan_*", NULL};

const char *const compile_redirected[] = {"clock_gettime",
                                          "clock_getres",
                                          "timespec_get",
                                          "time",
                                          "gettimeofday",
                                          "clock",
                                          "nanosleep",
                                          "malloc",
                                          "calloc",
                                          "realloc",
                                          "free",
                                          "aligned_alloc",
                                          "posix_memalign",
                                          "layer_forward",
                                          "autograd_backward",
                                          "optimizer_step",
                                          NULL};

// Beside every name that the grader itself can find in its libraries, such as malloc.
static const char *const taken[] = {"main",       "_*",       "exercise_*", "answer_*",
                                    "worker_*",   "lab_*",    "mock_*",     "profiler_*",
                                    "tensor_*",   "layer_*",  "autograd_*", "optimizer_*",
                                    "context_*",  "memory_*", "error_*",    "cblas_*",
                                    "openblas_*", NULL};

static bool matches(const char *const *patterns, const char *name) {
    for (int i = 0; patterns && patterns[i]; i++) {
        size_t length = strlen(patterns[i]);
        bool prefix = length > 0 && patterns[i][length - 1] == '*';
        if (prefix && strncmp(name, patterns[i], length - 1) == 0) return true;
        if (strcmp(name, patterns[i]) == 0) return true;
    }
    return false;
}

bool compile_may_use(const CompileRequest *request, const char *name) {
    return request->any_symbol || matches(request->exercise->symbols, name) ||
           matches(compiler_symbols, name) ||
           (request->sanitize && matches(sanitizer_symbols, name));
}

bool compile_is_taken(const char *name) {
    return matches(taken, name) || dlsym(RTLD_DEFAULT, name) != NULL;
}

size_t compile_word(const char *words, int index, const char **word) {
    for (; index > 0; index--) {
        words += strcspn(words, " ");
        words += strspn(words, " ");
    }
    *word = words;
    return strcspn(words, " ");
}

bool compile_is_wanted(const Exercise *exercise, const char *name) {
    const char *word;
    size_t length;
    for (int i = 0; (length = compile_word(exercise->function, i, &word)) > 0; i++)
        if (strlen(name) == length && strncmp(name, word, length) == 0) return true;
    return false;
}
