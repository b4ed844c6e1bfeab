// table_text.c -- lines, numbers and seals of submitted tables.
#include "exercises/course/table_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool next_line(TableText *table) {
    const char *begin = table->at;
    if (*begin == '\0') return false;
    size_t length = strcspn(begin, "\n");
    table->at += length + (begin[length] == '\n');
    table->number++;
    while (length > 0 && strchr(" \t\r", begin[length - 1])) length--;
    while (length > 0 && strchr(" \t", *begin)) begin++, length--;
    int most = length < TABLE_LINE ? (int)length : TABLE_LINE;
    snprintf(table->line, TABLE_LINE, "%.*s", most, begin);
    return true;
}

bool table_next(TableText *table) {
    while (next_line(table)) {
        if (sscanf(table->line, TABLE_SEAL_LINE "%16s", table->seal) == 1) continue;
        if (table->line[0] != '\0' && table->line[0] != '#') return true;
    }
    return false;
}

bool table_numbers(const char *text, double numbers[], int count) {
    for (int i = 0; i < count; i++) {
        char *end;
        size_t length = strspn(text, "0123456789.eE+-");
        if (length == 0) return false;
        numbers[i] = strtod(text, &end);
        if (end != text + length || !isfinite(numbers[i]) || signbit(numbers[i])) return false;
        if (*end != (i + 1 < count ? ',' : '\0')) return false;
        text = end + 1;
    }
    return true;
}

bool table_is_of(TableSeal seal, const void *bytes, size_t count, char problem[CASE_LINE]) {
    char wanted[KEY_SEAL];
    if (!seal.found[0] || !seal.token[0]) return true;
    key_seal(seal.token, bytes, count, wanted);
    if (strcmp(wanted, seal.found) == 0) return true;
    snprintf(problem, CASE_LINE,
             "%s: measured with another key, or changed since; write it with ./lab %s", seal.file,
             seal.command);
    return false;
}
