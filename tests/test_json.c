// test_json.c -- profiler/json_writer: what jansson reads back, the layout, and files that are
// complete or absent.
#include "profiler/json_writer.h"
#include "tensor/memory.h"
#include "tests/harness.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <locale.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// ---- Documents in memory

static char *text; // of the document written last
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

static double next_double(uint64_t *state) { // any finite one: each exponent equally often
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
    size_t raw = 0; // control characters that were not escaped
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
    enum { CHUNK = 0x800 }; // the surrogates, U+D800 to U+DFFF, are one chunk
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

static void misuse(JsonWriter *json, int way) {
    if (way == 0) json_writer_close(json);     // no value
    if (way == 1) json_writer_end_array(json); // nothing open
    json_writer_begin_object(json);
    if (way == 2) json_writer_null(json);      // a value without a key
    if (way == 3) json_writer_end_array(json); // the other bracket
    if (way == 4) json_writer_close(json);     // still open
    json_writer_key(json, "a");
    if (way == 5) json_writer_key(json, "b");   // a key without a value
    if (way == 6) json_writer_end_object(json); // likewise
    json_writer_begin_array(json);
    if (way == 7) json_writer_key(json, "c"); // a key in an array
    json_writer_end_array(json);
    json_writer_end_object(json);
    if (way == 8) json_writer_null(json); // a second document
    for (int i = 0; way == 9 && i <= JSON_WRITER_DEPTH; i++) json_writer_begin_array(json);
    _exit(0);
}

START_TEST(unbalanced_use_is_asserted) {
    JsonWriter *json = open_text();
    pid_t child = fork();
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        close(STDERR_FILENO); // the message of the assertion is expected
        misuse(json, _i);
    }
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    if (_i == 10) {
        ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0); // all in balance
    } else {
        ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "not asserted");
    }
    json_writer_discard(json);
    fclose(stream);
    free(text);
}
END_TEST

// ---- Files

static char folder[64]; // a new empty one; remove_folder checks that only `expected` is left in it
static char target[128];

static void make_folder(void) {
    snprintf(folder, sizeof folder, "/tmp/test_json_XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(target, sizeof target, "%s/report.json", folder);
}

static int count_files(void) {
    DIR *stream_of_names = opendir(folder);
    int count = -2; // "." and ".."
    while (readdir(stream_of_names) != NULL) count++;
    closedir(stream_of_names);
    return count;
}

static void remove_folder(int expected) {
    ck_assert_int_eq(count_files(), expected); // no temporary was left behind
    unlink(target);
    rmdir(folder);
}

static void put_file(const char *content) {
    FILE *file = fopen(target, "w");
    fputs(content, file);
    fclose(file);
}

static void check_file(const char *path, const char *want) {
    char got[64] = {0};
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    (void)!fread(got, 1, sizeof got - 1, file);
    fclose(file);
    ck_assert_str_eq(got, want);
}

// Whether STATUS_IO is pending with a message that names the path, the reason and a remedy.
static bool is_io_error(const char *path, int reason) {
    bool found = error_status() == STATUS_IO && strstr(error_message(), path) != NULL &&
                 strstr(error_message(), strerror(reason)) != NULL &&
                 strstr(error_message(), " HINT: ") != NULL;
    if (found) error_clear();
    return found;
}

START_TEST(a_file_appears_only_when_it_is_complete) {
    make_folder();
    JsonWriter *json = json_file_open(target);
    json_writer_bool(json, false);
    ck_assert_int_ne(access(target, F_OK), 0);
    ck_assert_int_eq(json_writer_close(json), STATUS_OK);
    check_file(target, "false\n");
    struct stat made;
    ck_assert_int_eq(stat(target, &made), 0);
    mode_t mask = umask(0);
    umask(mask);
    ck_assert_uint_eq(made.st_mode & 0777, 0666 & ~mask);
    remove_folder(1);
}
END_TEST

START_TEST(replacing_a_file_keeps_the_old_one_until_close_and_its_permissions) {
    make_folder();
    put_file("old");
    ck_assert_int_eq(chmod(target, 0640), 0);
    JsonWriter *json = json_file_open(target);
    JsonWriter *second = json_file_open(target); // at the same time: the last to close stays
    json_writer_null(json);
    json_writer_int64(second, 2);
    check_file(target, "old");
    ck_assert_int_eq(json_writer_close(json), STATUS_OK);
    check_file(target, "null\n");
    ck_assert_int_eq(json_writer_close(second), STATUS_OK);
    check_file(target, "2\n");
    struct stat made;
    ck_assert_int_eq(stat(target, &made), 0);
    ck_assert_uint_eq(made.st_mode & 0777, 0640);
    remove_folder(1);
}
END_TEST

START_TEST(a_discarded_document_leaves_no_trace) {
    make_folder();
    put_file("old");
    JsonWriter *json = json_file_open(target);
    json_writer_begin_object(json);
    json_writer_discard(json);
    json_writer_discard(NULL);
    check_file(target, "old");
    remove_folder(1);
}
END_TEST

// Runs `body` in a child that is no longer root, because root may write anywhere, and because a
// writer that is broken must not be able to replace a device. The test is skipped if that fails.
static void as_ordinary_user(bool (*body)(int), int argument) {
    pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0 && setuid(65534) != 0) _exit(77);
        _exit(body(argument) ? 0 : 1);
    }
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77) test_skip("cannot step down from root");
    ck_assert_int_eq(WEXITSTATUS(status), 0);
}

static bool full_device_is_reported(int members) {
    JsonWriter *json = json_file_open("/dev/full");
    if (json == NULL) return false;
    json_writer_begin_array(json);
    for (int i = 0; i < members; i++) json_writer_int64(json, i);
    json_writer_end_array(json);
    if (error_pending() || json_writer_close(json) != STATUS_IO) return false;
    return is_io_error("/dev/full", ENOSPC);
}

START_TEST(a_full_device_is_reported) { // found by the flush at close, then while writing
    if (access("/dev/full", W_OK) != 0) test_skip("there is no /dev/full");
    as_ordinary_user(full_device_is_reported, _i == 0 ? 1 : 100000);
}
END_TEST

START_TEST(a_missing_folder_and_a_folder_as_target_are_reported) {
    make_folder();
    char missing[128];
    snprintf(missing, sizeof missing, "%s/no/report.json", folder);
    ck_assert_ptr_null(json_file_open(missing));
    ck_assert_msg(is_io_error(missing, ENOENT), "%s", error_message());
    ck_assert_ptr_null(json_file_open(folder));
    ck_assert_msg(is_io_error(folder, EISDIR), "%s", error_message());
    remove_folder(0);
}
END_TEST

START_TEST(a_target_that_turned_into_a_folder_is_reported_and_the_temporary_removed) {
    make_folder();
    JsonWriter *json = json_file_open(target);
    json_writer_null(json);
    ck_assert_int_eq(mkdir(target, 0700), 0);
    ck_assert_int_eq(json_writer_close(json), STATUS_IO);
    ck_assert_msg(is_io_error(target, EISDIR), "%s", error_message());
    ck_assert_int_eq(count_files(), 1);
    rmdir(target);
    remove_folder(0);
}
END_TEST

static bool refusal_is_reported(int new_file) {
    char other[160];
    snprintf(other, sizeof other, "%s/other.json", folder);
    const char *path = new_file ? other : target;
    return json_file_open(path) == NULL && is_io_error(path, EACCES);
}

START_TEST(a_folder_that_may_not_be_written_is_reported) {
    make_folder();
    ck_assert_int_eq(chmod(folder, 0555), 0);
    as_ordinary_user(refusal_is_reported, true);
    remove_folder(0);
}
END_TEST

START_TEST(a_file_that_may_not_be_written_is_not_replaced) {
    make_folder();
    put_file("old");
    ck_assert_int_eq(chmod(target, 0444), 0);
    ck_assert_int_eq(chmod(folder, 0777), 0);
    as_ordinary_user(refusal_is_reported, false);
    check_file(target, "old");
    remove_folder(1);
}
END_TEST

START_TEST(a_fifo_and_a_symbolic_link_are_written_directly) {
    make_folder();
    ck_assert_int_eq(mkfifo(target, 0600), 0);
    int reader = open(target, O_RDONLY | O_NONBLOCK);
    JsonWriter *json = json_file_open(target);
    json_writer_int64(json, 42);
    ck_assert_int_eq(json_writer_close(json), STATUS_OK);
    char got[8] = {0};
    ck_assert_int_eq(read(reader, got, sizeof got - 1), 3);
    ck_assert_str_eq(got, "42\n");
    close(reader);
    unlink(target);

    char real[160];
    snprintf(real, sizeof real, "%s/real.json", folder);
    ck_assert_int_eq(symlink("real.json", target), 0);
    json = json_file_open(target);
    json_writer_int64(json, 43);
    ck_assert_int_eq(json_writer_close(json), STATUS_OK);
    check_file(real, "43\n");
    struct stat link;
    ck_assert_int_eq(lstat(target, &link), 0);
    ck_assert(S_ISLNK(link.st_mode));
    unlink(real);
    remove_folder(1);
}
END_TEST

// Writes to "-" with standard output going to `path`.
static Status write_to_standard_output(const char *path) {
    fflush(stdout);
    int kept = dup(STDOUT_FILENO);
    int file = open(path, O_WRONLY | O_CREAT, 0600);
    dup2(file, STDOUT_FILENO);
    JsonWriter *json = json_file_open("-");
    json_writer_bool(json, true);
    Status status = json_writer_close(json);
    if (status == STATUS_OK) printf("more\n"); // it is still open
    fflush(stdout);
    dup2(kept, STDOUT_FILENO);
    close(kept);
    close(file);
    return status;
}

START_TEST(a_dash_is_standard_output) {
    make_folder();
    ck_assert_int_eq(write_to_standard_output(target), STATUS_OK);
    check_file(target, "true\nmore\n");
    remove_folder(1);
    if (access("/dev/full", W_OK) != 0) return;
    ck_assert_int_eq(write_to_standard_output("/dev/full"), STATUS_IO);
    ck_assert_msg(is_io_error("standard output", ENOSPC), "%s", error_message());
}
END_TEST

START_TEST(running_out_of_memory_is_reported_and_leaves_no_file) {
    make_folder();
    JsonWriter *json = NULL;
    int failures = 0;
    for (uint64_t nth = 1; json == NULL; nth++) {
        memory_fail_at(nth);
        json = json_file_open(target);
        memory_fail_at(0);
        if (json != NULL) break;
        failures++;
        ck_assert_int_eq(error_status(), STATUS_OUT_OF_MEMORY);
        ck_assert_int_eq(count_files(), 0);
        error_clear();
    }
    ck_assert_int_eq(failures, 3);
    json_writer_discard(json);
    remove_folder(0);
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
        {unbalanced_use_is_asserted, 11},
        {a_file_appears_only_when_it_is_complete, 0},
        {replacing_a_file_keeps_the_old_one_until_close_and_its_permissions, 0},
        {a_discarded_document_leaves_no_trace, 0},
        {a_full_device_is_reported, 2},
        {a_missing_folder_and_a_folder_as_target_are_reported, 0},
        {a_target_that_turned_into_a_folder_is_reported_and_the_temporary_removed, 0},
        {a_folder_that_may_not_be_written_is_reported, 0},
        {a_file_that_may_not_be_written_is_not_replaced, 0},
        {a_fifo_and_a_symbolic_link_are_written_directly, 0},
        {a_dash_is_standard_output, 0},
        {running_out_of_memory_is_reported_and_leaves_no_file, 0},
        {NULL, 0},
    };
    return harness_main("json", tests);
}
