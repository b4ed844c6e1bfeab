// filter.h -- kernel filters (seccomp) of the system calls that a program may make: for the
// compiler, for a worker while it starts, and for a worker that runs a student's function. Supports
// x86-64 and 64-bit ARM.
#ifndef EXERCISES_SUPPORT_FILTER_H
#define EXERCISES_SUPPORT_FILTER_H

#include <linux/filter.h>

typedef enum FilterKind {
    FILTER_COMPILER, // all but signals, sockets, modes, owners, other processes' memory
    FILTER_START,    // a worker's start: calls that the loader and the C library need; one execve
    FILTER_RUN,      // a worker's function: memory, clocks, open files; nothing can be opened
} FilterKind;

enum { FILTER_MOST = 256 };

typedef struct Filter {
    struct sock_filter steps[FILTER_MOST];
    unsigned short count;
} Filter;

// For FILTER_START, `program` is the path that may be executed, recognised by its address; NULL:
// any path (for programs that bubblewrap starts). Returns 0 or an errno, also on other processors.
int filter_make(FilterKind kind, const char *program, Filter *filter);
// Activates the filter, in a process that has given up new privileges. Returns 0 or an errno.
int filter_enter(const Filter *filter);

#endif
