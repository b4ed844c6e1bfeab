// flow.h -- internal to profiler/: lines of a label and text beside it, which wraps at 80 columns.
#ifndef PROFILER_BASE_FLOW_H
#define PROFILER_BASE_FLOW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct Flow {
    FILE *file;
    int column, indent; // where the next word goes; where a new line begins
    bool begun;         // a word was written
    int length;         // of the word so far
    char word[63];      // longer ones, which no line holds, are cut
} Flow;
Flow flow_open(FILE *file, const char *label); // NULL: a heading, at the left margin
void flow_say(Flow *flow, const char *format, ...) __attribute__((format(printf, 2, 3)));
void flow_close(Flow *flow);
// All three at once.
void flow_line(FILE *file, const char *label, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

typedef struct Term {
    const char *name;
    uint64_t value;
} Term;
// "forward 12 + backward 30 = 42 B", without what is 0. Terms that do not add up to `total` are
// only listed, and the total is told apart from them.
void flow_sum(Flow *flow, const Term terms[], int n, uint64_t total, const char *unit);

#endif
