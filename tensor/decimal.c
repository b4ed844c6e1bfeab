// decimal.c -- digits of a float32, taken from what printf makes of it.
#include "tensor/decimal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Decimal decimal_rounded(float x, int digits) {
    char text[DECIMAL_DIGITS];
    Decimal d = {.negative = signbit(x) != 0};
    snprintf(text, sizeof text, "%.*e", digits - 1, fabs((double)x));
    const char *e = strchr(text, 'e');
    for (const char *c = text; c < e; c++) // leaves out the point, whatever the locale's is
        if (*c >= '0' && *c <= '9') d.digits[d.count++] = *c;
    while (d.count > 1 && d.digits[d.count - 1] == '0') d.count--;
    d.exponent = (int)strtol(e + 1, NULL, 10);
    return d;
}

Decimal decimal_shortest(float x) {
    int digits = 1;
    for (; digits < 9; digits++) {
        char text[DECIMAL_DIGITS];
        snprintf(text, sizeof text, "%.*e", digits - 1, (double)x);
        if (strtof(text, NULL) == x) break;
    }
    return decimal_rounded(x, digits);
}
