// test_text.c -- profiler/base/text: numbers as the terminal report writes them, and their edge
// cases.
#include "profiler/base/text.h"
#include "tests/helpers/harness.h"

#include <fcntl.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const double not_a_number = (double)NAN;
static const double infinite = (double)INFINITY;

START_TEST(counts_have_thousands_separators) {
    ck_assert_str_eq(text_count(0).s, "0");
    ck_assert_str_eq(text_count(999).s, "999");
    ck_assert_str_eq(text_count(1000).s, "1,000");
    ck_assert_str_eq(text_count(535818).s, "535,818");
    ck_assert_str_eq(text_count(-1234567).s, "-1,234,567");
    ck_assert_str_eq(text_count(-100).s, "-100");
    ck_assert_str_eq(text_count(INT64_MAX).s, "9,223,372,036,854,775,807");
    ck_assert_str_eq(text_count(INT64_MIN).s, "-9,223,372,036,854,775,808");
}
END_TEST

START_TEST(numbers_have_two_decimals_at_most) {
    ck_assert_str_eq(text_number(160.7).s, "160.7");
    ck_assert_str_eq(text_number(6.43).s, "6.43");
    ck_assert_str_eq(text_number(0.07).s, "0.07");
    ck_assert_str_eq(text_number(0.0).s, "0");
    ck_assert_str_eq(text_number(-0.0).s, "0");
    ck_assert_str_eq(text_number(1e-9).s, "<0.01");
    ck_assert_str_eq(text_number(-1e-9).s, ">-0.01");
    ck_assert_str_eq(text_number(9.996).s, "10.0");
    ck_assert_str_eq(text_number(999.96).s, "1,000");
    ck_assert_str_eq(text_number(-50.44).s, "-50.4");
    ck_assert_str_eq(text_number(30940528.6).s, "30,940,529");
    ck_assert_str_eq(text_number(1.2e16).s, "1.2e+16");
    ck_assert_str_eq(text_number(DBL_MAX).s, "1.8e+308");
    ck_assert_str_eq(text_number(not_a_number).s, "-");
    ck_assert_str_eq(text_number(infinite).s, "inf");
}
END_TEST

START_TEST(durations_choose_their_unit) {
    ck_assert_str_eq(text_duration(248e-6).s, "248 us");
    ck_assert_str_eq(text_duration(1.06e-3).s, "1.06 ms");
    ck_assert_str_eq(text_duration(2.31).s, "2.31 s");
    ck_assert_str_eq(text_duration(84e-9).s, "84.0 ns");
    ck_assert_str_eq(text_duration(0.0).s, "0 s");
    ck_assert_str_eq(text_duration(1e-15).s, "<0.01 ns");
    ck_assert_str_eq(text_duration(999.4e-6).s, "999 us");
    ck_assert_str_eq(text_duration(999.6e-6).s, "1.00 ms");
    ck_assert_str_eq(text_duration(9.996e-3).s, "10.0 ms");
    ck_assert_str_eq(text_duration(99.96e-3).s, "100 ms");
    ck_assert_str_eq(text_duration(1000.0).s, "16.7 min");
    ck_assert_str_eq(text_duration(86400.0).s, "24.0 h");
    ck_assert_str_eq(text_duration(1e30).s, "2.78e+26 h");
    ck_assert_str_eq(text_duration(-0.16e-3).s, "-160 us");
    ck_assert_str_eq(text_duration(not_a_number).s, "-");
    ck_assert_str_eq(text_duration(-infinite).s, "-inf");
}
END_TEST

START_TEST(durations_keep_a_given_unit) {
    ck_assert_str_eq(text_duration_in(1.06e-3, "us").s, "1060");
    ck_assert_str_eq(text_duration_in(2.2e-6, "us").s, "2.20");
    ck_assert_str_eq(text_duration_in(0.34e-3, "ms").s, "0.34");
    ck_assert_str_eq(text_duration_in(84e-6, "us").s, "84.0");
    ck_assert_str_eq(text_duration_in(1e-6, "h").s, "<0.01");
    ck_assert_str_eq(text_duration_in(not_a_number, "us").s, "-");
}
END_TEST

START_TEST(rates_and_bytes_have_decimal_prefixes) {
    ck_assert_str_eq(text_rate(333e9, "FLOP/s").s, "333 GFLOP/s");
    ck_assert_str_eq(text_rate(58e9, "B/s").s, "58.0 GB/s");
    ck_assert_str_eq(text_rate(999.6e9, "B/s").s, "1.00 TB/s");
    ck_assert_str_eq(text_rate(0.5, "steps/s").s, "0.50 steps/s");
    ck_assert_str_eq(text_rate(0.0, "B/s").s, "0 B/s");
    ck_assert_str_eq(text_rate(1e40, "B/s").s, "1e+22 EB/s");
    ck_assert_str_eq(text_rate(not_a_number, "B/s").s, "-");
    ck_assert_str_eq(text_bytes_si(9167520).s, "9.17 MB");
    ck_assert_str_eq(text_bytes_si(840).s, "840 B");
    ck_assert_str_eq(text_bytes_si(5).s, "5 B");
    ck_assert_str_eq(text_bytes_si(0).s, "0 B");
    ck_assert_str_eq(text_bytes_si(999).s, "999 B");
    ck_assert_str_eq(text_bytes_si(1000).s, "1.00 kB");
    ck_assert_str_eq(text_bytes_si(999499).s, "999 kB");
    ck_assert_str_eq(text_bytes_si(999500).s, "1.00 MB");
    ck_assert_str_eq(text_bytes_si(-4300000).s, "-4.30 MB");
    ck_assert_str_eq(text_bytes_si(INT64_MIN).s, "-9.22 EB");
}
END_TEST

START_TEST(percents_fit_four_columns) {
    ck_assert_str_eq(text_percent(0.46).s, "46%");
    ck_assert_str_eq(text_percent(0.005).s, "0.5%");
    ck_assert_str_eq(text_percent(0.0001).s, "<1%");
    ck_assert_str_eq(text_percent(-0.0001).s, ">-1%");
    ck_assert_str_eq(text_percent(0.0).s, "0%");
    ck_assert_str_eq(text_percent(0.0096).s, "1%");
    ck_assert_str_eq(text_percent(0.996).s, "100%");
    ck_assert_str_eq(text_percent(-0.27).s, "-27%");
    ck_assert_str_eq(text_percent(12.5).s, "1250%");
    ck_assert_str_eq(text_percent(1e300).s, "1e+302%");
    ck_assert_str_eq(text_percent(not_a_number).s, "-");
    int widest = 0;
    for (int i = 0; i <= 100000; i++) {
        int width = text_width(text_percent(i * 1e-5).s);
        widest = width > widest ? width : widest;
    }
    ck_assert_int_eq(widest, 4);
}
END_TEST

START_TEST(bars_stay_within_their_width) {
    ck_assert_str_eq(text_bar(0.46, 10).s, "#####");
    ck_assert_str_eq(text_bar(0.02, 10).s, "");
    ck_assert_str_eq(text_bar(7.0, 3).s, "###");
    ck_assert_str_eq(text_bar(-1.0, 10).s, "");
    ck_assert_str_eq(text_bar(1.0, -1).s, "");
    ck_assert_str_eq(text_bar(not_a_number, 10).s, "");
    ck_assert_str_eq(text_bar(infinite, 2).s, "##");
    ck_assert_uint_eq(strlen(text_bar(1.0, 1000).s), 127);
}
END_TEST

START_TEST(widths_count_code_points) {
    ck_assert_int_eq(text_width(""), 0);
    ck_assert_int_eq(text_width("fc1"), 3);
    ck_assert_int_eq(text_width("caf\xC3\xA9"), 4);
    ck_assert_int_eq(text_width("\xF0\x9F\x98\x80 \xE2\x82\xAC"), 3);
}
END_TEST

static char *wrapped(const char *words, const char *first, const char *rest) { // free the result
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    text_print_wrapped(words, first, rest, file);
    fclose(file);
    return text;
}

START_TEST(lines_break_between_words_at_80_columns) {
    char words[200], want[300];
    for (int length = 78; length <= 81; length++) { // of the first word and a second of one letter
        memset(words, 'x', sizeof(words));
        snprintf(words + length - 2, sizeof(words) - (size_t)length, " y two");
        snprintf(want, sizeof(want), length <= 80 ? "%.*s y\n  two\n" : "%.*s\n  y two\n",
                 length - 2, words);
        char *text = wrapped(words, "", "  ");
        ck_assert_str_eq(text, want);
        free(text);
    }
    char *text = wrapped("one\ntwo", "- ", "  ");
    ck_assert_str_eq(text, "- one\ntwo\n"); // short enough: unchanged
    free(text);
    memset(words, 'x', 100);
    snprintf(words + 100, 8, " end");
    text = wrapped(words, "  ", "    ");
    snprintf(want, sizeof(want), "  %.78s\n    %.22s end\n", words, words);
    ck_assert_str_eq(text, want);
    free(text);
}
END_TEST

// A path that is too long keeps both its ends, within its columns and within a Text's room.
START_TEST(a_path_is_cut_in_its_middle) {
    char path[600];
    ck_assert_str_eq(text_fit_middle("features.denseblock1.conv", 12).s, "fea~ck1.conv");
    ck_assert_str_eq(text_fit_middle("Übermäßig große Straße", 12).s, "Übe~e Straße");
    for (int n = 1; n < 250; n++) {
        for (int i = 0; i < n; i++) memcpy(path + 2 * i, i % 7 == 3 ? "ß" : "ab", 2);
        path[2 * n] = '\0';
        for (int width = 1; width < 40; width++) {
            Text text = text_fit_middle(path, width);
            size_t length = strlen(text.s), whole = strlen(path);
            const char *cut = strchr(text.s, '~');
            ck_assert_int_le(text_width(text.s), width);
            ck_assert(cut || strcmp(text.s, path) == 0);
            size_t head = cut ? (size_t)(cut - text.s) : 0, tail = cut ? length - head - 1 : 0;
            ck_assert(memcmp(text.s, path, head) == 0);
            ck_assert(memcmp(text.s + length - tail, path + whole - tail, tail) == 0);
        }
    }
}
END_TEST

START_TEST(a_terminal_has_its_columns_and_a_file_80) {
    static const struct winsize sizes[] = {{.ws_col = 40}, {.ws_col = 132}, {.ws_col = 1000}};
    static const int columns[] = {80, 132, 200};
    FILE *file = tmpfile();
    ck_assert_int_eq(text_columns(file), 80);
    fclose(file);
    int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    if (terminal < 0 || grantpt(terminal) || unlockpt(terminal)) test_skip("no terminal here");
    file = fopen(ptsname(terminal), "r+");
    for (int i = 0; file && i < 3; i++) {
        ck_assert_int_eq(ioctl(terminal, TIOCSWINSZ, &sizes[i]), 0);
        ck_assert_int_eq(text_columns(file), columns[i]);
    }
    if (file) fclose(file);
    close(terminal);
}
END_TEST

START_TEST(two_durations_say_once_what_both_have) {
    ck_assert_str_eq(text_durations(1.04e-3, 1.09e-3).s, "1.04-1.09 ms");
    ck_assert_str_eq(text_durations(998e-6, 1.02e-3).s, "998 us-1.02 ms");
    ck_assert_str_eq(text_durations(1.041e-3, 1.042e-3).s, "1.04 ms");
    ck_assert_str_eq(text_durations((double)NAN, 1.0).s, "--1.00 s");
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {counts_have_thousands_separators, 0},
        {numbers_have_two_decimals_at_most, 0},
        {durations_choose_their_unit, 0},
        {durations_keep_a_given_unit, 0},
        {two_durations_say_once_what_both_have, 0},
        {rates_and_bytes_have_decimal_prefixes, 0},
        {percents_fit_four_columns, 0},
        {bars_stay_within_their_width, 0},
        {widths_count_code_points, 0},
        {a_path_is_cut_in_its_middle, 0},
        {a_terminal_has_its_columns_and_a_file_80, 0},
        {lines_break_between_words_at_80_columns, 0},
        {NULL, 0},
    };
    return harness_main("text", tests);
}
