// escape.c -- replaces special characters by escape sequences.
#include "profiler/base/escape.h"

#include <stdbool.h>
#include <string.h>

#include "profiler/base/text.h"

void escape_xml(WholeFile *file, const char *text) {
    static const struct {
        char c;
        const char *name;
    } names[] = {{'&', "&amp;"},  {'<', "&lt;"},  {'>', "&gt;"}, {'"', "&quot;"},
                 {'\n', "&#10;"}, {'\t', "&#9;"}, {0, "?"}};
    while (*text) {
        int bytes = text_printable_bytes(text), n = 0;
        while (names[n].c && names[n].c != *text) n++;
        if (bytes > 0 && !names[n].c)
            whole_file_write(file, text, (size_t)bytes);
        else
            whole_file_write(file, names[n].name, strlen(names[n].name));
        text += bytes > 0 ? bytes : 1;
    }
}

void escape_attribute(WholeFile *file, const char *name, const char *value) {
    whole_file_print(file, " %s=\"", name);
    escape_xml(file, value);
    whole_file_print(file, "\"");
}

void escape_csv(WholeFile *file, const char *text) {
    bool formula = text[0] && strchr("=+-@\t\r", text[0]);
    bool quoted = formula || text[strcspn(text, ",\"\r\n")] != '\0';
    if (quoted) whole_file_print(file, "\"%s", formula ? "'" : "");
    while (*text) {
        int bytes = text_printable_bytes(text);
        if (*text == '"')
            whole_file_print(file, "\"\"");
        else if (bytes > 0 || *text == '\n')
            whole_file_write(file, text, bytes > 0 ? (size_t)bytes : 1);
        else
            whole_file_print(file, "?");
        text += bytes > 0 ? bytes : 1;
    }
    if (quoted) whole_file_print(file, "\"");
}
