// trace_document.h -- a trace as a reader finds it, and what has to hold of any.
#ifndef TESTS_PROFILER_FILES_TRACE_DOCUMENT_H
#define TESTS_PROFILER_FILES_TRACE_DOCUMENT_H

#include <jansson.h>

#include "profiler/files/trace.h"

typedef struct TraceSlice {
    int64_t begin, end; // nanoseconds of the clock
    int track;          // tid
    char name[64];      // cut
    json_t *event;      // in the file; NULL: expected from a timeline
} TraceSlice;

typedef struct TraceDocument {
    json_t *root, *events;
    int64_t base;
    TraceSlice *slices; // in the order of the file
    int n_slices, n_counters, n_arrow_ends;
} TraceDocument;

// Writes the timeline, reads the file and removes it. Fails the test where an event is not what the
// format allows: unordered, without ts or cat, a counter of other than one number.
TraceDocument trace_document_new(const Timeline *timeline, TraceOptions options);
void trace_document_free(TraceDocument *document);
json_t *trace_argument(json_t *event, const char *key); // NULL: it has none

// Slices of a track nest, steps have a track of their own exactly where they must, and arrows lead
// from each layer's forward to its backward.
void trace_check_rules(const TraceDocument *document);
// Every event of the timeline is there once, to the nanosecond, and nothing else. Names come from
// the current context.
void trace_check_complete(const TraceDocument *document, const Timeline *timeline);

#endif
