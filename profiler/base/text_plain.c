// text_plain.c -- names for a terminal, of printable characters only, cut to columns; wrapped text;
// the columns of a terminal.
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "profiler/base/text.h"

// Control characters, and those that change the writing direction, would affect the terminal's
// other text; XML refuses non-characters (U+FFFE).
int text_printable_bytes(const char *s) {
    static const struct {
        uint32_t from, to;
    } refused[] = {{0, 0x1F},        {0x7F, 0x9F},     {0x2028, 0x202E}, {0x2066, 0x2069},
                   {0xD800, 0xDFFF}, {0xFDD0, 0xFDEF}, {0xFFFE, 0xFFFF}};
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000}; // least code of each length
    const unsigned char *u = (const unsigned char *)s;
    int length = u[0] < 0x80 ? 1 : u[0] < 0xC0 ? 0 : u[0] < 0xE0 ? 2 : u[0] < 0xF0 ? 3 : 4;
    uint32_t code = length == 1 ? u[0] : u[0] & (0x7Fu >> length);
    for (int i = 1; i < length; i++) {
        if ((u[i] & 0xC0) != 0x80) return 0;
        code = code << 6 | (u[i] & 0x3F);
    }
    if (u[0] > 0xF7 || code < least[length] || code > 0x10FFFF) return 0;
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
        if (code >= refused[i].from && code <= refused[i].to) return 0;
    return length;
}

void text_take_plain(const char *s, char *text, size_t size) {
    size_t used = 0;
    while (*s) {
        int bytes = text_printable_bytes(s), taken = bytes ? bytes : 1;
        if (used + (size_t)taken >= size) break;
        memcpy(text + used, bytes ? s : "?", (size_t)taken);
        used += (size_t)taken;
        s += taken;
    }
    text[used] = '\0';
}

Text text_plain(const char *s) {
    Text text;
    text_take_plain(s, text.s, sizeof(text.s));
    return text;
}

void text_print_plain(const char *s, FILE *file) {
    while (*s) {
        int bytes = text_printable_bytes(s), taken = bytes ? bytes : 1;
        fwrite(bytes ? s : "?", 1, (size_t)taken, file);
        s += taken;
    }
}

static const char *skip_columns(const char *s, int columns) {
    while (*s && columns-- > 0) s += text_printable_bytes(s);
    return s;
}

Text text_fit(const char *s, int width) {
    Text text = text_plain(s);
    if (text_width(text.s) <= width) return text;
    memcpy(text.s + (skip_columns(text.s, width - 1) - text.s), "~", 2);
    return text;
}

// The last characters of a text that is too long for a Text.
static Text plain_end(const char *s) {
    size_t n = strlen(s), most = sizeof(((Text *)0)->s) - 1;
    const char *from = n > most ? s + n - most : s;
    while (n > most && (*from & 0xC0) == 0x80) from++; // not inside a character
    return text_plain(from);
}

Text text_fit_middle(const char *s, int width) {
    Text text = text_plain(s), end = plain_end(s);
    int head = (width - 1) / 3, columns = text_width(end.s);
    if (columns <= width && strlen(s) < sizeof(text.s)) return text;
    char *cut = text.s + (skip_columns(text.s, head) - text.s);
    const char *tail = skip_columns(end.s, columns - (width - 1 - head));
    snprintf(cut, sizeof(text.s) - (size_t)(cut - text.s), "~%s", tail);
    return text;
}

int text_columns(FILE *file) {
    const int most = 200;
    struct winsize size;
    if (!isatty(fileno(file)) || ioctl(fileno(file), TIOCGWINSZ, &size) != 0) return TEXT_COLUMNS;
    int columns = size.ws_col;
    return columns < TEXT_COLUMNS ? TEXT_COLUMNS : columns > most ? most : columns;
}

void text_print_wrapped(const char *text, const char *first, const char *rest, FILE *file) {
    const char *indent = first;
    for (int width; (int)strlen(text) > (width = 80 - (int)strlen(indent)); indent = rest) {
        const char *newline = memchr(text, '\n', (size_t)width);
        int length = newline ? (int)(newline - text) : width;
        while (!newline && length > 0 && text[length] != ' ') length--;
        if (length == 0) length = width; // one long word, of whole characters
        while (length > 1 && ((unsigned char)text[length] & 0xC0) == 0x80) length--;
        fprintf(file, "%s%.*s\n", indent, length, text);
        text += length + (text[length] == ' ' || text[length] == '\n');
    }
    fprintf(file, "%s%s\n", indent, text);
}
