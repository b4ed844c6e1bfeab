// trace_document.h -- a trace as a reader sees it, and the rules for every trace.
#ifndef TESTS_PROFILER_FILES_TRACE_DOCUMENT_H
#define TESTS_PROFILER_FILES_TRACE_DOCUMENT_H

#include <jansson.h>

#include "profiler/files/trace.h"

typedef struct TraceSlice {
    int64_t begin, end; // nanoseconds on the clock
    int track;          // the trace's tid
    char name[64];      // shortened
    json_t *event;      // in the file; NULL: expected from a timeline
} TraceSlice;

typedef struct TraceDocument {
    json_t *root, *events;
    int64_t base;
    TraceSlice *slices; // in file order
    int n_slices, n_counters, n_arrow_ends;
} TraceDocument;

// Writes the timeline, reads the file and removes it. Fails the test where an event breaks the
// format: out of order, without ts or cat, or a counter that has not exactly one number.
TraceDocument trace_document_new(const Timeline *timeline, TraceOptions options);
void trace_document_free(TraceDocument *document);
json_t *trace_argument(json_t *event, const char *key); // NULL if it has none

// Checks that slices of a track nest, that steps have a track of their own exactly where they must,
// and that arrows lead from each layer's forward to its backward.
void trace_check_rules(const TraceDocument *document);
// Checks that the file has every event of the timeline once, to the nanosecond, and nothing else.
// Names come from the current context.
void trace_check_complete(const TraceDocument *document, const Timeline *timeline);

#endif
