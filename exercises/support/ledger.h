// ledger.h -- keeps account of what a student's code allocates: how often, when, and what was never
// given back. malloc and its like in a student's object are these lab_ functions; the library's own
// memory is elsewhere (tensor/memory.h) and is not in this account. Behind each block lies a guard:
// a program that wrote over one ends at once (worker.h).
#ifndef EXERCISES_SUPPORT_LEDGER_H
#define EXERCISES_SUPPORT_LEDGER_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

typedef struct LabLedger {
    int64_t requests;   // malloc, calloc, realloc ... so far, also those that failed
    int64_t live;       // blocks that were not freed yet
    int64_t live_bytes; // that were asked for
    int64_t bad_frees;  // of what is not live: freed twice, or never allocated; nothing happens
} LabLedger;

// Forgets the account (blocks that are still live are given back to the system).
void lab_ledger_start(void);
LabLedger lab_ledger_now(void); // and looks at all guards
// The n-th request from now (1: the next) returns NULL, and only that one; 0: none.
void lab_ledger_fail_at(int64_t nth);

void *lab_malloc(size_t bytes);
void *lab_calloc(size_t count, size_t bytes);
void *lab_realloc(void *block, size_t bytes); // of what is not live: NULL, and a bad free
void *lab_reallocarray(void *block, size_t count, size_t bytes);
char *lab_strdup(const char *text);
char *lab_strndup(const char *text, size_t most);
void *lab_aligned_alloc(size_t alignment, size_t bytes);
int lab_posix_memalign(void **block, size_t alignment, size_t bytes);
int lab_vasprintf(char **text, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));
int lab_asprintf(char **text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void lab_free(void *block);

#endif
