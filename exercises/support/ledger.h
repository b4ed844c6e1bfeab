// ledger.h -- keeps account of the memory that a student's code allocates: how often, when, and
// what it never frees. In a student's object malloc and its like are these lab_ functions; the
// library's own memory (tensor/memory.h) is not in this account. Behind each block is a guard: a
// program that overwrote one ends at once (worker.h).
#ifndef EXERCISES_SUPPORT_LEDGER_H
#define EXERCISES_SUPPORT_LEDGER_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

typedef struct LabLedger {
    int64_t requests;   // calls of malloc, calloc, realloc ... so far, also those that failed
    int64_t live;       // blocks not freed yet
    int64_t live_bytes; // bytes requested for the live blocks
    int64_t bad_frees;  // frees of a block freed before or never allocated; they do nothing else
} LabLedger;

// Starts the account anew, and frees the blocks that are still live.
void lab_ledger_start(void);
LabLedger lab_ledger_now(void); // checks all guards, too
// Makes the n-th request from now (1: the next), and only that one, return NULL; 0: none.
void lab_ledger_fail_at(int64_t nth);

void *lab_malloc(size_t bytes);
void *lab_calloc(size_t count, size_t bytes);
void *lab_realloc(void *block, size_t bytes); // a block that is not live: NULL, and a bad free
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
