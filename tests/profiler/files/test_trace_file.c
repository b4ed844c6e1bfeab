// test_trace_file.c -- profiler/files/trace: the text, hostile names, and files that cannot be
// written. test_trace.c tests the contents.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profiler/base/json_writer.h"
#include "tensor/memory.h"
#include "tests/helpers/expect.h"
#include "tests/profiler/files/trace_document.h"

static const Op matmul = {.name = "matmul"};

static Timeline small_timeline(void) {
    static ProfileEvent events[] = {
        {.op = &matmul, .begin = 1000001, .end = 3234567, .site = -1},
        {.kind = EVENT_STEP, .step = 12, .begin = 1000000, .end = 3234567}};
    return (Timeline){.events = events, .count = 2};
}

// ---- names -----------------------------------------------------------------------------------
START_TEST(hostile_names_are_read_back) {
    static const struct {
        const char *written, *read;
    } names[] = {
        {"quote \" slash \\ \"rank\": 7", "quote \" slash \\ \"rank\": 7"},
        {"\x01\x1f\x7f\n\t", "\x01\x1f\x7f\n\t"},
        {"bad \xff\xc0\xaf \xed\xa0\x80 end", "bad \ufffd\ufffd\ufffd \ufffd\ufffd\ufffd end"},
        {"caf\u00e9 \U0001F525", "caf\u00e9 \U0001F525"},
    };
    const char *written = names[_i].written, *read = names[_i].read;
    int site = site_enter((uintptr_t)&matmul, written, written);
    int inside = context_current()->site;
    site_leave(site);
    Op op = {.name = written};
    ProfileEvent events[] = {{.site = inside, .kind = EVENT_SITE, .end = 9},
                             {.site = inside, .op = &op, .begin = 1, .end = 2},
                             {.counter = written, .kind = EVENT_COUNTER, .begin = 3, .end = 3}};
    Timeline timeline = {.events = events, .count = 3};
    TraceOptions options = {.process = written, .notes = (const char *[]){"note", written}};
    options.n_notes = 1;
    TraceDocument document = trace_document_new(&timeline, options);
    ck_assert_str_eq(document.slices[0].name, read);
    ck_assert_str_eq(document.slices[1].name, read);
    ck_assert_str_eq(json_string_value(trace_argument(document.slices[0].event, "type")), read);
    ck_assert_str_eq(json_string_value(trace_argument(document.slices[1].event, "path")), read);
    json_t *other = json_object_get(document.root, "otherData");
    ck_assert_str_eq(json_string_value(json_object_get(other, "note")), read);
    json_t *process = json_array_get(document.events, 0);
    ck_assert_str_eq(json_string_value(trace_argument(process, "name")), read);
    trace_document_free(&document);
}
END_TEST

START_TEST(a_long_name_is_whole_and_a_site_of_another_context_has_a_name) {
    enum { LONG = 100000 };
    char *name = calloc(LONG + 1, 1);
    memset(name, 'x', LONG);
    int outside = site_enter((uintptr_t)&matmul, name, "scope");
    ProfileEvent events[] = {{.kind = EVENT_SITE, .end = 9, .site = context_current()->site},
                             {.kind = EVENT_SITE, .begin = 1, .end = 2, .site = 12345}};
    site_leave(outside);
    Timeline timeline = {.events = events, .count = 2};
    TraceDocument document = trace_document_new(&timeline, (TraceOptions){0});
    json_t *event = document.slices[0].event;
    ck_assert_str_eq(json_string_value(json_object_get(event, "name")), name);
    ck_assert_uint_gt(json_string_length(trace_argument(event, "path")), 500); // shortened
    ck_assert_str_eq(document.slices[1].name, "layer");
    trace_document_free(&document);
    free(name);
}
END_TEST

// ---- files -----------------------------------------------------------------------------------
static char *file_text(const char *path, char *text, size_t size) {
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    text[fread(text, 1, size - 1, file)] = '\0';
    fclose(file);
    return text;
}

START_TEST(a_small_trace_is_this_text) {
    Timeline timeline = small_timeline();
    char path[] = "/tmp/test_trace_XXXXXX", text[4096];
    close(mkstemp(path));
    ck_assert_int_eq(trace_write(&timeline, (TraceOptions){.process = "small"}, path), 0);
    file_text(path, text, sizeof text);
    unlink(path);
    static const char *const parts[] = {
        "{\n  \"distributedInfo\": {\"rank\": 0},\n", // HolisticTraceAnalysis needs the space
        "{\"ph\": \"X\", \"name\": \"ProfilerStep#12\", \"pid\": 1, \"tid\": 1, \"ts\": 0.000, "
        "\"dur\": 2234.567, \"cat\": \"user_annotation\", \"args\": {}},\n",
        "{\"ph\": \"X\", \"name\": \"matmul\", \"pid\": 1, \"tid\": 1, \"ts\": 0.001, "
        "\"dur\": 2234.566, \"cat\": \"cpu_op\", \"args\": {\"path\": \"(model)\", "
        "\"phase\": \"forward\"}}\n",
    };
    const char *at = text;
    for (int i = 0; i < 3; i++) {
        at = strstr(at, parts[i]);
        ck_assert_msg(at != NULL, "no %s in\n%s", parts[i], text);
    }
    ck_assert_ptr_eq(strstr(text, parts[0]), text);
}
END_TEST

START_TEST(a_file_that_cannot_be_written_is_an_error) {
    static const char *const paths[] = {"/dev/full", "/nonexistent/trace.json", "/tmp", ""};
    Timeline timeline = small_timeline();
    ck_assert_int_eq(trace_write(&timeline, (TraceOptions){0}, paths[_i]), STATUS_IO);
    expect_error(STATUS_IO, paths[_i]);
}
END_TEST

START_TEST(memory_may_run_out_at_any_request) {
    Timeline timeline = small_timeline();
    char path[] = "/tmp/test_trace_XXXXXX", text[16];
    int file = mkstemp(path);
    ck_assert_int_eq(write(file, "before", 6), 6);
    close(file);
    Status status = STATUS_OUT_OF_MEMORY;
    for (uint64_t n = 1; status; n++) {
        memory_fail_at(n);
        status = trace_write(&timeline, (TraceOptions){0}, path);
        memory_fail_at(0);
        if (status) {
            expect_error(STATUS_OUT_OF_MEMORY, "");
            ck_assert_str_eq(file_text(path, text, sizeof text), "before");
        } else {
            ck_assert_uint_gt(n, 5);
            ck_assert_str_ne(file_text(path, text, sizeof text), "before");
        }
    }
    unlink(path);
}
END_TEST

START_TEST(a_decimal_is_exact) {
    static const struct {
        int64_t value;
        int decimals;
        const char *text;
    } cases[] = {
        {0, 3, "0.000\n"},
        {7, 0, "7\n"},
        {-5, 3, "-0.005\n"},
        {-12345, 3, "-12.345\n"},
        {INT64_C(345600123456789001), 3, "345600123456789.001\n"},
        {INT64_MAX, 18, "9.223372036854775807\n"},
        {INT64_MIN, 18, "-9.223372036854775808\n"},
        {INT64_MIN, 0, "-9223372036854775808\n"},
    };
    char *text;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    JsonWriter *json = json_writer_new(stream, "memory");
    json_writer_decimal(json, cases[_i].value, cases[_i].decimals);
    ck_assert_int_eq(json_writer_close(json), STATUS_OK);
    fclose(stream);
    ck_assert_str_eq(text, cases[_i].text);
    free(text);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {hostile_names_are_read_back, 4},
        {a_long_name_is_whole_and_a_site_of_another_context_has_a_name, 0},
        {a_small_trace_is_this_text, 0},
        {a_file_that_cannot_be_written_is_an_error, 4},
        {memory_may_run_out_at_any_request, 0},
        {a_decimal_is_exact, 8},
        {NULL, 0},
    };
    return harness_main("trace_file", tests);
}
