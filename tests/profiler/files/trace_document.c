// trace_document.c -- reads a trace with jansson and compares it with its timeline.
#include "tests/profiler/files/trace_document.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/helpers/expect.h"

enum { OPEN_ROOM = 4000 };

static const char *string_at(json_t *object, const char *key) {
    const char *value = json_string_value(json_object_get(object, key));
    ck_assert_msg(value != NULL, "no text '%s'", key);
    return value;
}

static int64_t integer_at(json_t *object, const char *key) {
    json_t *value = json_object_get(object, key);
    ck_assert_msg(json_is_integer(value), "no integer '%s'", key);
    return json_integer_value(value);
}

static int64_t nanoseconds_at(json_t *event, const char *key) {
    json_t *value = json_object_get(event, key);
    ck_assert_msg(json_is_real(value), "no microseconds '%s'", key);
    return llround(1000.0 * json_real_value(value));
}

json_t *trace_argument(json_t *event, const char *key) {
    return json_object_get(json_object_get(event, "args"), key);
}

static void read_slice(TraceDocument *document, json_t *event) {
    TraceSlice *slice = &document->slices[document->n_slices++];
    slice->begin = document->base + nanoseconds_at(event, "ts");
    slice->end = slice->begin + nanoseconds_at(event, "dur");
    slice->track = (int)integer_at(event, "tid");
    snprintf(slice->name, sizeof slice->name, "%s", string_at(event, "name"));
    slice->event = event;
    string_at(event, "cat");
}

static TraceDocument document_parse(json_t *root) {
    TraceDocument document = {.root = root, .events = json_object_get(root, "traceEvents")};
    document.base = integer_at(json_object_get(root, "otherData"), "base_nanoseconds");
    document.slices = calloc(json_array_size(document.events) + 1, sizeof(TraceSlice));
    size_t i;
    json_t *event;
    int64_t before = 0;
    json_array_foreach(document.events, i, event) {
        ck_assert_int_le(before, nanoseconds_at(event, "ts")); // every event has ts, in order
        before = nanoseconds_at(event, "ts");
        ck_assert_int_eq(integer_at(event, "pid"), 1);
        const char *phase = string_at(event, "ph");
        ck_assert_msg(strlen(phase) == 1 && strchr("MXCsf", phase[0]), "ph %s", phase);
        if (phase[0] == 'X') read_slice(&document, event);
        if (phase[0] == 's' || phase[0] == 'f') document.n_arrow_ends++;
        if (phase[0] != 'C') continue;
        document.n_counters++;
        json_t *arguments = json_object_get(event, "args");
        ck_assert_uint_eq(json_object_size(arguments), 1); // one key, with a number
        ck_assert(json_is_number(json_object_iter_value(json_object_iter(arguments))));
    }
    return document;
}

// Writes the timeline, reads the file, and removes it.
TraceDocument trace_document_new(const Timeline *timeline, TraceOptions options) {
    char path[] = "/tmp/test_trace_XXXXXX";
    close(mkstemp(path));
    ck_assert_msg(!trace_write(timeline, options, path), "%s", error_message());
    json_error_t error;
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    ck_assert_msg(root != NULL, "line %d: %s", error.line, error.text);
    unlink(path);
    return document_parse(root);
}

void trace_document_free(TraceDocument *document) {
    free(document->slices);
    json_decref(document->root);
}

// ---- the rules -------------------------------------------------------------------------------
static bool is_step(const TraceSlice *slice) {
    return strncmp(slice->name, "ProfilerStep#", 13) == 0;
}

static void check_nesting(const TraceDocument *document) {
    for (int track = 1; track <= 2; track++) {
        const TraceSlice *open[OPEN_ROOM];
        int depth = 0;
        for (int i = 0; i < document->n_slices; i++) {
            const TraceSlice *slice = &document->slices[i];
            if (slice->track != track) continue;
            while (depth > 0 && open[depth - 1]->end <= slice->begin) depth--;
            ck_assert_msg(depth == 0 || slice->end <= open[depth - 1]->end, "%s crosses %s",
                          slice->name, open[depth - 1]->name);
            open[depth++] = slice;
        }
    }
}

// Steps have a track of their own exactly where one crosses another slice.
static void check_tracks(const TraceDocument *document) {
    bool crosses = false;
    for (int i = 0; i < document->n_slices; i++)
        for (int k = 0; k < document->n_slices; k++) {
            const TraceSlice *a = &document->slices[i], *b = &document->slices[k];
            crosses |= a->begin < b->begin && b->begin < a->end && a->end < b->end;
        }
    for (int i = 0; i < document->n_slices; i++)
        ck_assert_int_eq(document->slices[i].track,
                         crosses && is_step(&document->slices[i]) ? 2 : 1);
}

static int compare_slices(const void *left, const void *right) {
    const TraceSlice *a = left, *b = right;
    if (a->begin != b->begin) return a->begin < b->begin ? -1 : 1;
    if (a->end != b->end) return a->end < b->end ? -1 : 1;
    return strcmp(a->name, b->name);
}

static TraceSlice expected_slice(const ProfileEvent *event) {
    TraceSlice slice = {.begin = event->begin, .end = event->end};
    const Site *site = event->site < 0 ? NULL : &context_current()->sites[event->site];
    if (event->kind == EVENT_STEP)
        snprintf(slice.name, sizeof slice.name, "ProfilerStep#%" PRId64, event->step);
    else
        snprintf(slice.name, sizeof slice.name, "%s",
                 event->kind == EVENT_OP ? event->op->name
                 : site->name[0]         ? site->name
                                         : site->type);
    return slice;
}

// Each event of the timeline is in the file once, to the nanosecond, and nothing else is.
static void check_slices(const TraceDocument *document, const Timeline *timeline) {
    TraceSlice *want = calloc((size_t)timeline->count + 1, sizeof *want);
    int n = 0, counters = 0;
    for (int64_t i = 0; i < timeline->count; i++) {
        const ProfileEvent *event = &timeline->events[i];
        if (event->kind <= EVENT_STEP)
            want[n++] = expected_slice(event);
        else
            counters++;
    }
    ck_assert_int_eq(document->n_slices, n);
    ck_assert_int_eq(document->n_counters, counters);
    TraceSlice *got = calloc((size_t)n + 1, sizeof *got);
    memcpy(got, document->slices, (size_t)n * sizeof *got);
    qsort(got, (size_t)n, sizeof *got, compare_slices);
    qsort(want, (size_t)n, sizeof *want, compare_slices);
    int64_t got_sum = 0, want_sum = 0;
    for (int i = 0; i < n; i++) {
        ck_assert_msg(compare_slices(&got[i], &want[i]) == 0, "%s at %" PRId64 " is %s at %" PRId64,
                      want[i].name, want[i].begin, got[i].name, got[i].begin);
        got_sum += got[i].end - got[i].begin;
        want_sum += want[i].end - want[i].begin;
    }
    ck_assert_int_eq(got_sum, want_sum);
    free(got);
    free(want);
}

// Values come in the order in which they were recorded, even where the clock stood still.
static void check_counters(const TraceDocument *document, const Timeline *timeline) {
    for (int kind = EVENT_COUNTER; kind <= EVENT_MEMORY; kind++) {
        const char *name = kind == EVENT_COUNTER ? "loss" : "gradient memory";
        size_t at = 0;
        for (int64_t i = 0; i < timeline->count; i++) {
            const ProfileEvent *event = &timeline->events[i];
            bool other = event->kind == EVENT_MEMORY && event->category != MEM_GRADIENT;
            if (event->kind != kind || other) continue;
            json_t *found;
            do found = json_array_get(document->events, at++);
            while (found && (strcmp(string_at(found, "ph"), "C") != 0 ||
                             strcmp(string_at(found, "name"), name) != 0));
            ck_assert_ptr_nonnull(found);
            json_t *value = trace_argument(found, kind == EVENT_COUNTER ? "value" : "bytes");
            ck_assert_double_eq(json_number_value(value), event->value);
            ck_assert_int_eq(document->base + nanoseconds_at(found, "ts"), event->begin);
        }
    }
}

static bool phase_begins(const TraceSlice *slice, const char *with) {
    const char *phase = json_string_value(trace_argument(slice->event, "phase"));
    return strncmp(phase, with, strlen(with)) == 0;
}

static bool same_place(const TraceSlice *a, const TraceSlice *b) {
    bool ops = strcmp(string_at(a->event, "cat"), "cpu_op") == 0 &&
               strcmp(string_at(b->event, "cat"), "cpu_op") == 0;
    return ops && json_equal(trace_argument(a->event, "path"), trace_argument(b->event, "path"));
}

// True if an arrow leads from slice `from` to slice `to`, as its ends in the file show.
static bool has_arrow(const TraceDocument *document, const TraceSlice *from, const TraceSlice *to) {
    json_t *event, *begins = NULL, *ends = NULL;
    size_t i;
    json_array_foreach(document->events, i, event) { // an arrow's end follows its slice
        if (i == 0) continue;
        json_t *slice = json_array_get(document->events, i - 1);
        if (slice == from->event && strcmp(string_at(event, "ph"), "s") == 0) begins = event;
        if (slice == to->event && strcmp(string_at(event, "ph"), "f") == 0) ends = event;
    }
    return begins && ends && integer_at(begins, "id") == integer_at(ends, "id") &&
           strcmp(string_at(ends, "bp"), "e") == 0 &&
           nanoseconds_at(begins, "ts") + document->base == from->begin &&
           nanoseconds_at(ends, "ts") + document->base == to->begin;
}

// Each backward op of a site has an arrow from the op before it at that site, if that went forward.
static void check_arrows(const TraceDocument *document) {
    int arrows = 0;
    for (int i = 0; i < document->n_slices; i++) {
        const TraceSlice *to = &document->slices[i], *from = NULL;
        const char *path = json_string_value(trace_argument(to->event, "path"));
        if (!path || strcmp(path, "(model)") == 0 || !phase_begins(to, "backward")) continue;
        for (int k = i - 1; k >= 0 && !from; k--) {
            const TraceSlice *slice = &document->slices[k];
            if (same_place(slice, to) && !phase_begins(slice, "optimizer") &&
                !phase_begins(slice, "recompute"))
                from = slice;
        }
        if (!from || !phase_begins(from, "forward")) continue;
        ck_assert_msg(has_arrow(document, from, to), "no arrow to %s in %s", to->name, path);
        arrows++;
    }
    ck_assert_int_eq(document->n_arrow_ends, 2 * arrows);
}

void trace_check_rules(const TraceDocument *document) {
    check_nesting(document);
    check_tracks(document);
    check_arrows(document);
}

void trace_check_complete(const TraceDocument *document, const Timeline *timeline) {
    check_slices(document, timeline);
    check_counters(document, timeline);
}
