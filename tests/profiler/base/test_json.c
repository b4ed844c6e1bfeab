// test_json.c -- profiler/base/json_writer: compares its output with what jansson reads back, and
// checks the layout. test_json_file.c tests files.
#include "profiler/base/json_writer.h"
#include "tests/helpers/harness.h"

#include <jansson.h>
#include <locale.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// ---- Documents in memory

static char *text; // the document written last
static size_t text_size;
static FILE *stream;

static JsonWriter *open_text(void) {
    stream = open_memstream(&text, &text_size);
    ck_assert_ptr_nonnull(stream);
    JsonWriter *json = json_writer_new(stream, "memory");
    ck_assert_ptr_nonnull(json);
    return json;
}

static void close_text(JsonWriter *json) {
    ck_assert_int_eq(json_writer_close(json), STATUS_OK);
    fclose(stream);
}

static json_t *parse_text(void) {
    json_error_t error;
    json_t *root = json_loads(text, JSON_DECODE_ANY, &error);
    ck_assert_msg(root != NULL, "jansson, line %d: %s in: %.200s", error.line, error.text, text);
    return root;
}

static void check_double(double value, const char *want) {
    JsonWriter *json = open_text();
    json_writer_double(json, value);
    close_text(json);
    text[text_size - 1] = '\0'; // the final newline
    ck_assert_str_eq(text, want);
    free(text);
}

START_TEST(layout_is_one_member_a_line_and_numbers_together) {
    JsonWriter *json = open_text();
    json_writer_begin_object(json);
    json_writer_string(json_writer_key(json, "name"), "MLP \"784\"");
    json_writer_begin_array(json_writer_key(json, "shape"));
    json_writer_int64(json, 64);
    json_writer_int64(json, 784);
    json_writer_end_array(json);
    json_writer_begin_array(json_writer_key(json, "levels"));
    json_writer_begin_record(json);
    json_writer_string(json_writer_key(json, "name"), "L2");
    json_writer_begin_array(json_writer_key(json, "sizes"));
    json_writer_string(json, "a");
    json_writer_double(json, 0.5);
    json_writer_end_array(json);
    json_writer_end_object(json);
    json_writer_string(json, NULL);
    json_writer_end_array(json);
    json_writer_begin_array(json_writer_key(json, "uncounted"));
    json_writer_end_array(json);
    json_writer_begin_object(json_writer_key(json, "gpu"));
    json_writer_end_object(json);
    json_writer_bool(json_writer_key(json, "measured"), true);
    json_writer_end_object(json);
    close_text(json);
    ck_assert_str_eq(text, "{\n"
                           "  \"name\": \"MLP \\\"784\\\"\",\n"
                           "  \"shape\": [64, 784],\n"
                           "  \"levels\": [\n"
                           "    {\"name\": \"L2\", \"sizes\": [\"a\", 0.5]},\n"
                           "    null\n"
                           "  ],\n"
                           "  \"uncounted\": [],\n"
                           "  \"gpu\": {},\n"
                           "  \"measured\": true\n"
                           "}\n");
    json_decref(parse_text());
    free(text);
}
END_TEST

START_TEST(long_arrays_of_numbers_wrap_at_100_columns) {
    JsonWriter *json = open_text();
    json_writer_begin_array(json);
    for (int i = 0; i < 1000; i++) json_writer_int64(json, INT64_C(1) << (i % 60));
    json_writer_end_array(json);
    close_text(json);
    size_t longest = 0, lines = 0;
    for (const char *line = text; *line != '\0'; line += strcspn(line, "\n") + 1, lines++) {
        size_t length = strcspn(line, "\n");
        longest = length > longest ? length : longest;
    }
    ck_assert_uint_le(longest, 100);
    ck_assert_uint_gt(longest, 85);
    ck_assert_uint_lt(lines, 150);
    json_t *root = parse_text();
    ck_assert_uint_eq(json_array_size(root), 1000);
    json_decref(root);
    free(text);
}
END_TEST

START_TEST(deepest_nesting_reads_back) {
    JsonWriter *json = open_text();
    for (int i = 0; i < JSON_WRITER_DEPTH; i++) {
        if (i % 2 == 0) {
            json_writer_begin_array(json);
        } else {
            json_writer_begin_object(json);
            json_writer_key(json, "k");
        }
    }
    json_writer_null(json);
    for (int i = JSON_WRITER_DEPTH; i-- > 0;) {
        if (i % 2 == 0) json_writer_end_array(json);
        if (i % 2 == 1) json_writer_end_object(json);
    }
    close_text(json);
    json_t *root = parse_text();
    int depth = 0;
    for (json_t *at = root; !json_is_null(at); depth++) {
        at = json_is_array(at) ? json_array_get(at, 0) : json_object_get(at, "k");
    }
    ck_assert_int_eq(depth, JSON_WRITER_DEPTH);
    json_decref(root);
    free(text);
}
END_TEST

// ---- Numbers

static uint64_t next_bits(uint64_t *state) { // splitmix64
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static double next_double(uint64_t *state) { // finite; each exponent equally often
    double value = (double)NAN;
    while (!isfinite(value)) {
        uint64_t bits = next_bits(state);
        memcpy(&value, &bits, sizeof value);
    }
    return value;
}

START_TEST(ten_thousand_doubles_read_back_bit_for_bit) {
    enum { COUNT = 10000 };
    JsonWriter *json = open_text();
    uint64_t state = 1;
    json_writer_begin_array(json);
    for (int i = 0; i < COUNT; i++) json_writer_double(json, next_double(&state));
    json_writer_end_array(json);
    close_text(json);
    json_t *root = parse_text();
    state = 1;
    for (size_t i = 0; i < COUNT; i++) {
        double want = next_double(&state);
        ck_assert(json_is_real(json_array_get(root, i)));
        double got = json_real_value(json_array_get(root, i));
        ck_assert_msg(memcmp(&got, &want, sizeof got) == 0, "%a became %a", want, got);
    }
    json_decref(root);
    free(text);
}
END_TEST

START_TEST(doubles_are_as_short_as_they_can_be) {
    check_double(0.1, "0.1");
    check_double(0.1 + 0.2, "0.30000000000000004");
    check_double(0.00106, "0.00106");
    check_double(1.0, "1.0");
    check_double(-0.0, "-0.0");
    check_double(535818.0, "535818.0");
    check_double(1e22, "1e+22");
    check_double(5e-324, "5e-324");
    check_double(2.5e-320, "2.5e-320");
    check_double(1.7976931348623157e308, "1.7976931348623157e+308");
    check_double(2.2250738585072014e-308, "2.2250738585072014e-308");
    check_double(9007199254740993.0, "9007199254740992.0");
}
END_TEST

START_TEST(nan_and_infinities_become_null) {
    check_double((double)NAN, "null");
    check_double((double)INFINITY, "null");
    check_double(-(double)INFINITY, "null");
}
END_TEST

START_TEST(numbers_do_not_follow_the_locale) {
    const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "ps_AF.UTF-8"};
    const char *found = NULL;
    for (size_t i = 0; i < 4 && found == NULL; i++) found = setlocale(LC_NUMERIC, names[i]);
    if (found == NULL) test_skip("no locale with a decimal comma is installed");
    ck_assert_str_ne(localeconv()->decimal_point, ".");
    check_double(0.30000000000000004, "0.30000000000000004");
    check_double(1.5e-300, "1.5e-300");
    setlocale(LC_NUMERIC, "C");
}
END_TEST

START_TEST(extremes_of_integers_are_exact) {
    JsonWriter *json = open_text();
    json_writer_begin_array(json);
    json_writer_int64(json, INT64_MIN);
    json_writer_int64(json, INT64_MAX);
    json_writer_int64(json, 0);
    json_writer_uint64(json, 0);
    json_writer_uint64(json, UINT64_MAX);
    json_writer_uint64(json, UINT64_C(9007199254740993)); // 2^53 + 1 is no double
    json_writer_end_array(json);
    close_text(json);
    ck_assert_str_eq(text, "[-9223372036854775808, 9223372036854775807, 0, 0, "
                           "18446744073709551615, 9007199254740993]\n");
    free(text);
}
END_TEST

// ---- Strings

// Writes `bytes` as key and as value, reads both back and compares them with `want`.
static void check_string(const char *bytes, const char *want) {
    JsonWriter *json = open_text();
    json_writer_begin_object(json);
    json_writer_string(json_writer_key(json, bytes), bytes);
    json_writer_end_object(json);
    close_text(json);
    json_t *root = parse_text();
    const char *got = json_string_value(json_object_get(root, want));
    ck_assert_msg(got != NULL, "the key is not as expected in %s", text);
    ck_assert_str_eq(got, want);
    size_t raw = 0; // number of unescaped control characters
    for (size_t i = 0; i < text_size; i++) {
        raw += text[i] == 0x7F || ((unsigned char)text[i] < 0x20 && text[i] != '\n');
    }
    ck_assert_uint_eq(raw, 0);
    json_decref(root);
    free(text);
}

#define REPLACED "\xEF\xBF\xBD" // U+FFFD

START_TEST(hostile_strings_read_back) {
    char controls[128];
    for (int i = 0; i < 127; i++) controls[i] = (char)(i + 1); // every ASCII character
    controls[127] = '\0';
    check_string(controls, controls);
    check_string("", "");
    check_string("\"\\/\b\f\n\r\t</script>\\u0041", "\"\\/\b\f\n\r\t</script>\\u0041");
    check_string("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80", "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
    check_string("a\x80"
                 "b",
                 "a" REPLACED "b");      // a stray continuation byte
    check_string("a\xC3", "a" REPLACED); // cut off at the end
    check_string("\xE2\x82"
                 "x",
                 REPLACED REPLACED "x");         // cut off in the middle
    check_string("\xC0\xAF", REPLACED REPLACED); // an overlong '/'
    check_string("\xE0\x80\xAF", REPLACED REPLACED REPLACED);
    check_string("\xED\xA0\x80", REPLACED REPLACED REPLACED);              // a surrogate
    check_string("\xF4\x90\x80\x80", REPLACED REPLACED REPLACED REPLACED); // beyond U+10FFFF
    check_string("\xFF\xFE", REPLACED REPLACED);
}
END_TEST

static size_t encode(uint32_t code, char *out) {
    size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    if (length == 1) {
        out[0] = (char)code;
        return 1;
    }
    for (size_t i = length; i-- > 1; code >>= 6) out[i] = (char)(0x80 | (code & 0x3F));
    out[0] = (char)((0xF00u >> length & 0xFF) | code);
    return length;
}

START_TEST(every_code_point_reads_back) {
    enum { CHUNK = 0x800 }; // a chunk holds exactly the surrogates, U+D800 to U+DFFF
    char *chunk = malloc(4 * CHUNK + 1);
    for (uint32_t first = 0; first < 0x110000; first += CHUNK) {
        if (first == 0xD800) continue;
        size_t length = 0;
        for (uint32_t i = first == 0; i < CHUNK; i++) length += encode(first + i, chunk + length);
        chunk[length] = '\0';
        check_string(chunk, chunk);
    }
    free(chunk);
}
END_TEST

START_TEST(any_bytes_give_a_document_that_parses) {
    uint64_t state = 7;
    for (int i = 0; i < 3000; i++) {
        JsonWriter *json = open_text();
        char bytes[9] = {0};
        uint64_t random = next_bits(&state) | (i % 2 ? 0xE0C080F0C0E08080u : 0);
        memcpy(bytes, &random, 8);
        json_writer_string(json, bytes);
        close_text(json);
        json_decref(parse_text());
        free(text);
    }
}
END_TEST

// ---- Misuse

// One letter per call: brackets begin and end, k is a key, v a value, c closes.
static void use(JsonWriter *json, const char *calls) {
    for (; *calls != '\0'; calls++) {
        if (*calls == '{') json_writer_begin_object(json);
        if (*calls == '}') json_writer_end_object(json);
        if (*calls == '[') json_writer_begin_array(json);
        if (*calls == ']') json_writer_end_array(json);
        if (*calls == 'k') json_writer_key(json, "key");
        if (*calls == 'v') json_writer_null(json);
        if (*calls == 'c') json_writer_close(json);
    }
}

// Each is balanced except for its last call.
static const char *const misuses[] = {
    "c",   "{c", "[c", "{kc", "{v",  "{k[v]v", "{kk", "{k}",
    "{k]", "k",  "[k", "vv",  "[]{", "}",      "{]",  "[}",
};
enum { MISUSES = sizeof misuses / sizeof misuses[0] };

static bool is_asserted(const char *calls) {
    JsonWriter *json = open_text();
    pid_t child = fork();
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        close(STDERR_FILENO); // the assertion's message is expected
        use(json, calls);
        _exit(0);
    }
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    json_writer_discard(json);
    fclose(stream);
    free(text);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

START_TEST(unbalanced_use_is_asserted) {
    ck_assert_msg(is_asserted(misuses[_i]), "\"%s\" was accepted", misuses[_i]);
}
END_TEST

START_TEST(balanced_use_is_not_asserted) {
    ck_assert(!is_asserted("{k[v{}[]v]kv}c"));
    ck_assert(!is_asserted("vc"));
}
END_TEST

START_TEST(nesting_too_deep_is_asserted) {
    char calls[JSON_WRITER_DEPTH + 2] = {0};
    memset(calls, '[', JSON_WRITER_DEPTH);
    ck_assert(!is_asserted(calls));
    calls[JSON_WRITER_DEPTH] = '[';
    ck_assert(is_asserted(calls));
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {layout_is_one_member_a_line_and_numbers_together, 0},
        {long_arrays_of_numbers_wrap_at_100_columns, 0},
        {deepest_nesting_reads_back, 0},
        {ten_thousand_doubles_read_back_bit_for_bit, 0},
        {doubles_are_as_short_as_they_can_be, 0},
        {nan_and_infinities_become_null, 0},
        {numbers_do_not_follow_the_locale, 0},
        {extremes_of_integers_are_exact, 0},
        {hostile_strings_read_back, 0},
        {every_code_point_reads_back, 0},
        {any_bytes_give_a_document_that_parses, 0},
        {unbalanced_use_is_asserted, MISUSES},
        {balanced_use_is_not_asserted, 0},
        {nesting_too_deep_is_asserted, 0},
        {NULL, 0},
    };
    return harness_main("json", tests);
}
