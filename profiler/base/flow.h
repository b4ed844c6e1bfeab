// flow.h -- internal to profiler/: lines with a label and, beside it, text wrapped at 80 columns.
#ifndef PROFILER_BASE_FLOW_H
#define PROFILER_BASE_FLOW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct Flow {
    FILE *file;
    int column, indent; // columns: of the next word, and of the start of a wrapped line
    bool begun;         // true once a word is written
    int length;         // length of the current word
    char word[63];      // the current word; longer words are cut
} Flow;
Flow flow_open(FILE *file, const char *label); // NULL: a heading, at the left margin
void flow_say(Flow *flow, const char *format, ...) __attribute__((format(printf, 2, 3)));
void flow_close(Flow *flow);
// Opens, writes and closes in one call.
void flow_line(FILE *file, const char *label, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

typedef struct Term {
    const char *name;
    uint64_t value;
} Term;
// Writes "forward 12 + backward 30 = 42 B", leaving out zero terms. If the terms do not add up to
// `total`, they are only listed, and the total is stated separately.
void flow_sum(Flow *flow, const Term terms[], int n, uint64_t total, const char *unit);

#endif
