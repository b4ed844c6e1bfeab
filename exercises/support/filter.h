// filter.h -- which system calls a program may make: filters of the kernel's (seccomp), for the
// compiler, for a worker while it starts, and for a worker that runs a student's function. For
// x86-64 and 64-bit ARM.
#ifndef EXERCISES_SUPPORT_FILTER_H
#define EXERCISES_SUPPORT_FILTER_H

#include <linux/filter.h>

typedef enum FilterKind {
    FILTER_COMPILER, // all but signals, sockets, modes, owners, other processes' memory
    FILTER_START,    // of a worker: what the loader and the C library need; one execve
    FILTER_RUN,      // of its function: memory, clocks, what is open; nothing can be opened
} FilterKind;

enum { FILTER_MOST = 256 };

typedef struct Filter {
    struct sock_filter steps[FILTER_MOST];
    unsigned short count;
} Filter;

// FILTER_START: `program` is the path that may be executed, known by its address; NULL: any may
// (what bubblewrap starts). 0 or an errno, also where this machine is of neither kind.
int filter_make(FilterKind kind, const char *program, Filter *filter);
// From here on, in a process that has given up new privileges. 0 or an errno.
int filter_enter(const Filter *filter);

#endif
