// input.c -- names and integers in a line of text.
#include "exercises/support/input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void input_write(const InputField *fields, int n, const void *record, char *text, size_t size) {
    for (int i = 0; i < n; i++) {
        int64_t value;
        memcpy(&value, (const char *)record + fields[i].offset, sizeof value);
        size_t used = strlen(text);
        if (value) snprintf(text + used, size - used, " %s=%lld", fields[i].name, (long long)value);
    }
}

void input_read(const InputField *fields, int n, const char *input, void *record) {
    for (int i = 0; i < n; i++) {
        int64_t value = input_integer(input, fields[i].name, 0);
        memcpy((char *)record + fields[i].offset, &value, sizeof value);
    }
}

int64_t input_integer(const char *input, const char *name, int64_t otherwise) {
    size_t length = strlen(name);
    for (const char *at = input; (at = strstr(at, name)); at += length) {
        if ((at == input || at[-1] == ' ') && at[length] == '=')
            return strtoll(at + length + 1, NULL, 10);
    }
    return otherwise;
}
