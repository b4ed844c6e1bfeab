// text.h -- numbers for people, in an 80-column report: short and rounded, but never misleading.
// Not here: exact output for programs (json_writer.h), or the columns of a report.
#ifndef PROFILER_BASE_TEXT_H
#define PROFILER_BASE_TEXT_H

#include <stdint.h>
#include <stdio.h>

enum { TEXT_COLUMNS = 80 };   // columns of a page of text
int text_columns(FILE *file); // of the terminal that it is, 80 to 200; of any other file 80

// A short text by value: printf("%s", text_count(n).s). Nothing to free.
typedef struct Text {
    char s[128];
} Text;

// In all functions: NaN (an unknown value) is "-"; infinities are "inf" and "-inf"; rounding
// happens before unit and decimals are chosen (999.5 us is "1.00 ms", never "1000 us"); a value too
// small to show is "<0.01", never "0.00"; beyond 10^15 in the largest unit "1.2e+16".

Text text_count(int64_t count); // "535,818"

Text text_short_count(int64_t count); // "535,818"; from a million on "4.00M", "1.21G"

// At most two decimals, about three significant digits: two below 10, one below 1000, then none.
Text text_number(double value); // "0.07", "6.43", "160.7", "9,167"

// Three significant digits in the fitting unit: ns, us, ms, s, then min and h.
Text text_duration(double seconds); // "248 us", "1.06 ms", "2.31 s"
// A range, with a common unit or text only once: "1.04-1.09 ms", "998 us-1.02 ms", "1.04 ms"
Text text_durations(double low, double high);
// A duration without its unit, in the given one ("ns", "us", "ms", "s", "min", "h"), for the
// columns of a table: "248", "2.20", "84.0", "1060"
Text text_duration_in(double seconds, const char *unit);

// The unit for a table of a whole's parts: "s" from 10 s on, "ms" from 10 ms on, else "us".
const char *text_duration_unit(double whole_seconds);

// Three significant digits, with SI prefix.
Text text_rate(double per_second, const char *unit); // (333e9, "FLOP/s"): "333 GFLOP/s"
Text text_bytes_si(int64_t bytes);                   // "840 B", "9.34 kB", "9.17 MB"; kB = 1000 B

// Four columns for 0 to 1: whole percent from 1 % on, one decimal below, "<1%" under 0.05 %.
Text text_percent(double fraction); // 0.46: "46%", 0.005: "0.5%", 0.0001: "<1%"

// round(fraction * width) times '#': 0.46 of 10 columns is "#####". Between none and `width` (at
// most 127); none for NaN.
Text text_bar(double fraction, int width);

int text_width(const char *s); // number of UTF-8 code points; each counts as one column

// Names made safe for a terminal: each byte that is not part of a printable character (control
// characters, broken UTF-8, characters that change the writing direction) becomes a question mark.
// The fit functions use at most `width` >= 1 columns, with "~" for what they cut: the end, or the
// middle, which of a path says least.
Text text_plain(const char *s);
int text_printable_bytes(const char *s); // bytes of the printable character at s; 0: not printable
void text_take_plain(const char *s, char *text, size_t size); // text_plain into a buffer, cut
void text_print_plain(const char *s, FILE *file);
Text text_fit(const char *s, int width);
Text text_fit_middle(const char *s, int width);

// Wraps text at 80 columns; the first line begins with `first`, the others with `rest`.
void text_print_wrapped(const char *text, const char *first, const char *rest, FILE *file);

// ---- the name that was meant (nearest.c) ----------------------------------------------------
// Asks for names by index, from 0 until NULL. Returns the name with the smallest edit distance
// (letters changed, added or left out): at most three, and less than half of its letters if the
// first letter differs. NULL: no name is that near, or `name` is NULL.
//
//     const char *meant = nearest_name("batsh", flag_name, options);
const char *nearest_name(const char *name, const char *(*at)(const void *holder, int i),
                         const void *holder);

#endif
