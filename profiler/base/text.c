// text.c -- chooses digits and units for people.
#include "profiler/base/text.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

typedef struct Unit {
    double size;
    const char *name;
} Unit;

static const Unit durations[] = {{1e-9, "ns"}, {1e-6, "us"},  {1e-3, "ms"},
                                 {1.0, "s"},   {60.0, "min"}, {3600.0, "h"}};
static const Unit prefixes[] = {{1.0, ""},   {1e3, "k"},  {1e6, "M"}, {1e9, "G"},
                                {1e12, "T"}, {1e15, "P"}, {1e18, "E"}};

enum {
    N_DURATIONS = sizeof durations / sizeof durations[0],
    N_PREFIXES = sizeof prefixes / sizeof prefixes[0],
};

// `value` with `decimals` decimals; marked as smaller if only zeros would remain.
static Text fixed(double value, int decimals) {
    Text text;
    double magnitude = fabs(value);
    if (isnan(value)) {
        snprintf(text.s, sizeof text.s, "-");
    } else if (isinf(value)) {
        snprintf(text.s, sizeof text.s, "%s", value > 0.0 ? "inf" : "-inf");
    } else if (value == 0.0) {
        snprintf(text.s, sizeof text.s, "0");
    } else if (magnitude < 0.005) {
        snprintf(text.s, sizeof text.s, "%s", value > 0.0 ? "<0.01" : ">-0.01");
    } else if (magnitude >= 1e15) {
        snprintf(text.s, sizeof text.s, "%.3g", value);
    } else {
        snprintf(text.s, sizeof text.s, "%.*f", decimals, value);
    }
    return text;
}

// The bounds are where rounding adds a digit: 9.995 would become "10.00", so it is "10.0".
static Text three_digits(double value) {
    double magnitude = fabs(value);
    return fixed(value, magnitude < 9.995 ? 2 : magnitude < 99.95 ? 1 : 0);
}

// The precisions in the format keep any unit within the buffer.
static Text join(Text number, const char *separator, const char *prefix, const char *unit) {
    Text text;
    snprintf(text.s, sizeof text.s, "%.40s%.1s%.1s%.80s", number.s, separator, prefix, unit);
    return text;
}

// The smallest unit in which the value rounds to three digits before the decimal point or fewer.
static int choose(double value, const Unit *units, int n) {
    int i = 0;
    double magnitude = fabs(value);
    while (i + 1 < n && isfinite(value) && magnitude / units[i].size >= 999.5) i++;
    return i;
}

Text text_count(int64_t count) {
    char digits[24];
    uint64_t magnitude = count < 0 ? 0u - (uint64_t)count : (uint64_t)count;
    int length = snprintf(digits, sizeof digits, "%" PRIu64, magnitude);
    Text text;
    char *end = text.s;
    if (count < 0) *end++ = '-';
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) *end++ = ',';
        *end++ = digits[i];
    }
    *end = '\0';
    return text;
}

Text text_short_count(int64_t count) {
    static const struct {
        double from, scale;
        const char *unit;
    } units[] = {{999.5e12, 1e15, "P"}, {999.5e9, 1e12, "T"}, {999.5e6, 1e9, "G"}, {0.0, 1e6, "M"}};
    if (count < 1000000) return text_count(count);
    int i = 0;
    while ((double)count < units[i].from) i++;
    Text text = {""}, number = text_number((double)count / units[i].scale);
    snprintf(text.s, sizeof(text.s), "%.16s%s", number.s, units[i].unit);
    return text;
}

Text text_number(double value) {
    double magnitude = fabs(value);
    if (magnitude >= 999.95 && magnitude < 1e15) return text_count((int64_t)llround(value));
    return fixed(value, magnitude < 9.995 ? 2 : 1);
}

Text text_duration(double seconds) {
    Unit unit = durations[choose(seconds, durations, N_DURATIONS)];
    if (seconds == 0.0) unit.name = "s";
    Text number = three_digits(seconds / unit.size);
    return isfinite(seconds) ? join(number, " ", "", unit.name) : number;
}

Text text_durations(double low, double high) {
    Text from = text_duration(low), to = text_duration(high), text;
    char *unit = strchr(from.s, ' ');
    const char *other = strchr(to.s, ' ');
    if (strcmp(from.s, to.s) == 0) return to;
    if (unit && other && strcmp(unit, other) == 0) *unit = '\0';
    snprintf(text.s, sizeof(text.s), "%.60s-%.60s", from.s, to.s);
    return text;
}

Text text_duration_in(double seconds, const char *unit) {
    int i = 0;
    while (i < N_DURATIONS && strcmp(durations[i].name, unit) != 0) i++;
    assert(i < N_DURATIONS);
    return three_digits(seconds / durations[i].size);
}

const char *text_duration_unit(double whole_seconds) {
    return whole_seconds >= 10.0 ? "s" : whole_seconds >= 0.01 ? "ms" : "us";
}

Text text_rate(double per_second, const char *unit) {
    Unit prefix = prefixes[choose(per_second, prefixes, N_PREFIXES)];
    Text number = three_digits(per_second / prefix.size);
    return isfinite(per_second) ? join(number, " ", prefix.name, unit) : number;
}

Text text_bytes_si(int64_t bytes) {
    double value = (double)bytes;
    Unit prefix = prefixes[choose(value, prefixes, N_PREFIXES)];
    // Bytes have no fractions: "5 B", not "5.00 B".
    Text number = prefix.size == 1.0 ? fixed(value, 0) : three_digits(value / prefix.size);
    return join(number, " ", prefix.name, "B");
}

Text text_percent(double fraction) {
    double percent = 100.0 * fraction;
    double magnitude = fabs(percent);
    if (isfinite(percent) && magnitude > 0.0 && magnitude < 0.05) {
        Text text;
        snprintf(text.s, sizeof text.s, "%s", percent > 0.0 ? "<1%" : ">-1%");
        return text;
    }
    Text number = fixed(percent, magnitude < 0.95 ? 1 : 0);
    return isfinite(percent) ? join(number, "", "", "%") : number;
}

Text text_bar(double fraction, int width) {
    Text text;
    int most = (int)sizeof text.s - 1;
    if (width < 0) width = 0;
    if (width > most) width = most;
    double length = round(fraction * (double)width);
    if (!(length > 0.0)) length = 0.0; // NaN too
    if (length > (double)width) length = (double)width;
    memset(text.s, '#', (size_t)length);
    text.s[(size_t)length] = '\0';
    return text;
}

static bool is_continuation(char byte) { return ((unsigned char)byte & 0xC0) == 0x80; }

int text_width(const char *s) {
    int width = 0;
    for (; *s != '\0'; s++) width += !is_continuation(*s);
    return width;
}
