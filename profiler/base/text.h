// text.h -- numbers as a person reads them in the 80-column report: short, rounded, never a lie.
// Not here: exact output for programs (json_writer.h), or what the columns of a report are.
#ifndef PROFILER_BASE_TEXT_H
#define PROFILER_BASE_TEXT_H

#include <stdint.h>
#include <stdio.h>

enum { TEXT_COLUMNS = 80 }; // of a terminal

// A short text by value: printf("%s", text_count(n).s). Nothing to free.
typedef struct Text {
    char s[128];
} Text;

// Everywhere: NaN, a value that cannot be had, is "-"; infinities are "inf" and "-inf"; rounding
// happens before the choice of unit and of decimals (999.5 us is "1.00 ms", never "1000 us"); a
// value too small to show is "<0.01", never "0.00"; beyond 10^15 in the largest unit "1.2e+16".

Text text_count(int64_t count); // "535,818"

Text text_short_count(int64_t count); // "535,818"; from a million on "4.00M", "1.21G"

// At most two decimals, about three significant digits: two below 10, one below 1000, then none.
Text text_number(double value); // "0.07", "6.43", "160.7", "9,167"

// Three significant digits and the unit that makes it so: ns, us, ms, s, then min and h.
Text text_duration(double seconds); // "248 us", "1.06 ms", "2.31 s"
// From one to the other, what both have in common once: "1.04-1.09 ms", "998 us-1.02 ms", "1.04 ms"
Text text_durations(double low, double high);
// The same in a given unit ("ns", "us", "ms", "s", "min", "h"), which it leaves out: for the
// columns of a table. "248", "2.20", "84.0", "1060"
Text text_duration_in(double seconds, const char *unit);

// The unit in which a table shows parts of that whole: "s" from 10 s on, "ms" from 10 ms on, "us".
const char *text_duration_unit(double whole_seconds);

// Three significant digits, with SI prefix.
Text text_rate(double per_second, const char *unit); // (333e9, "FLOP/s"): "333 GFLOP/s"
Text text_bytes_si(int64_t bytes);                   // "840 B", "9.34 kB", "9.17 MB"; kB = 1000 B

// At most four columns from 0 to 1: whole from 1 % on, one decimal below, "<1%" under 0.05 %.
Text text_percent(double fraction); // 0.46: "46%", 0.005: "0.5%", 0.0001: "<1%"

// round(fraction * width) times '#': 0.46 of 10 columns is "#####". At least none, at most `width`
// (and 127); none for NaN.
Text text_bar(double fraction, int width);

int text_width(const char *s); // code points of UTF-8: one is taken for one column

// Names as a terminal shows them: a byte of anything that is not a printable character (control
// characters, broken UTF-8, what turns the direction of writing) is a question mark. Fitted: in at
// most `width` >= 1 columns, with "~" for an end, or a beginning, that is missing.
Text text_plain(const char *s);
int text_printable_bytes(
    const char *s); // of the character that begins at s; 0: not a printable one
void text_take_plain(const char *s, char *text, size_t size); // the same in a buffer, cut to it
void text_print_plain(const char *s, FILE *file);
Text text_fit(const char *s, int width);
Text text_fit_end(const char *s, int width);

// Between words, in lines of 80 columns: the first begins with `first`, the others with `rest`.
void text_print_wrapped(const char *text, const char *first, const char *rest, FILE *file);

#endif
