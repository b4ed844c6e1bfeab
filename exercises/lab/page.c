// page.c -- words, columns and line ends.
#include "exercises/lab/page.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "profiler/base/text.h"
#include "tensor/memory.h"

static void put(Page *page, const char *bytes, size_t count) {
    if (page->failed) return;
    size_t needed = page->size + count + 1;
    if (needed > page->capacity) {
        size_t capacity = 2 * page->capacity > needed ? 2 * page->capacity : needed + 256;
        char *text = memory_resize(page->text, page->capacity, capacity);
        page->failed = !text;
        if (!text) return;
        page->text = text;
        page->capacity = capacity;
    }
    memcpy(page->text + page->size, bytes, count);
    page->size += count;
    page->text[page->size] = '\0';
}

static void put_spaces(Page *page, int count) {
    for (int i = 0; i < count; i++) put(page, " ", 1);
    if (count > 0) page->column += count;
}

static void put_style(Page *page, PageStyle style, bool begin) {
    static const char *const codes[] = {"", "\033[1m", "\033[2m", "\033[31m", "\033[32m"};
    if (!page->colour || style == PAGE_PLAIN) return;
    const char *code = begin ? codes[style] : "\033[0m";
    put(page, code, strlen(code));
}

// ---- characters and words ----------------------------------------------------------------------
// The columns of the character at `s`. Some are wide from U+1100 on (three bytes); all of these
// count as wide.
static int columns_of(const char *s, int bytes) {
    return bytes == 4 || (bytes == 3 && (unsigned char)s[0] >= 0xE1 &&
                          !((unsigned char)s[0] == 0xE1 && (unsigned char)s[1] < 0x84))
               ? 2
               : 1;
}

static int columns_until(const char *s, const char *end) {
    int columns = 0;
    while (s < end) {
        int bytes = text_printable_bytes(s);
        columns += columns_of(s, bytes);
        s += bytes > 0 ? bytes : 1;
    }
    return columns;
}

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n'; }

static void continue_line(Page *page) {
    put(page, "\n", 1);
    page->column = 0;
    put_spaces(page, page->indent);
}

static void put_word(Page *page, const char *s, const char *end) {
    while (s < end) {
        int bytes = text_printable_bytes(s), columns = columns_of(s, bytes);
        if (page->column + columns > PAGE_WIDTH) continue_line(page);
        put(page, bytes > 0 ? s : "?", bytes > 0 ? (size_t)bytes : 1);
        page->column += columns;
        s += bytes > 0 ? bytes : 1;
    }
}

// Writes the words of [s, end), with the spaces between them unless a line ends there.
static void put_words(Page *page, const char *s, const char *end) {
    while (s < end) {
        const char *word = s;
        while (word < end && is_space(*word)) word++;
        const char *word_end = word;
        while (word_end < end && !is_space(*word_end)) word_end++;
        int spaces = (int)(word - s), columns = columns_until(word, word_end);
        bool fits = page->column + spaces + columns <= PAGE_WIDTH;
        if (fits && word < word_end)
            put_spaces(page, spaces);
        else if (word < word_end && page->column > page->indent)
            continue_line(page);
        put_word(page, word, word_end);
        s = word_end;
    }
}

// ---- what the header offers --------------------------------------------------------------------
void page_label(Page *page, const char *label) {
    page->column = 0;
    page->indent = 0;
    if (label) {
        put_spaces(page, 2);
        put_words(page, label, label + strlen(label));
        put_spaces(page, PAGE_LABEL - page->column);
    }
    page->indent = PAGE_LABEL;
}

void page_piece(Page *page, PageStyle style, int gap, const char *text) {
    const char *end = text + strlen(text);
    if (text == end) return;
    bool begins = page->column <= page->indent;
    if (!begins && page->column + gap + columns_until(text, end) > PAGE_WIDTH)
        continue_line(page);
    else
        put_spaces(page, gap);
    put_style(page, style, true);
    put_words(page, text, end);
    put_style(page, style, false);
}

void page_print(Page *page, PageStyle style, int gap, const char *format, ...) {
    char text[1001];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    page_piece(page, style, gap, text);
}

void page_end_line(Page *page) {
    put(page, "\n", 1);
    page->column = 0;
}

void page_lines(Page *page, PageStyle style, int indent, const char *text) {
    while (*text) {
        const char *end = text + strcspn(text, "\n"), *first = text;
        while (first < end && is_space(*first)) first++;
        int inner = (int)(first - text);
        page->indent = indent + (inner < PAGE_WIDTH / 2 ? inner : 0);
        page->column = 0;
        if (first < end) {
            put_spaces(page, page->indent);
            put_style(page, style, true);
            put_words(page, first, end);
            put_style(page, style, false);
        }
        page_end_line(page);
        text = *end ? end + 1 : end;
    }
}

// The end of the lines of prose that begin at `text`: before an empty or indented line.
static const char *prose_end(const char *text) {
    const char *end = text + strcspn(text, "\n");
    while (*end && end[1] && end[1] != '\n' && !is_space(end[1])) end += 1 + strcspn(end + 1, "\n");
    return end;
}

void page_paragraphs(Page *page, PageStyle style, int indent, const char *text) {
    while (*text) {
        bool as_it_is = *text == '\n' || is_space(*text);
        const char *end = as_it_is ? text + strcspn(text, "\n") : prose_end(text);
        page->indent = indent + (int)strspn(text, " ");
        page->column = 0;
        text += strspn(text, " ");
        if (text < end) put_spaces(page, page->indent);
        if (as_it_is) page->indent += 4; // continued code is indented more
        put_style(page, style, true);
        put_words(page, text, end);
        put_style(page, style, false);
        page_end_line(page);
        text = *end ? end + 1 : end;
    }
}

const char *page_text(const Page *page) { return page->text ? page->text : ""; }

void page_free(Page *page) {
    memory_free(page->text);
    bool colour = page->colour;
    *page = (Page){.colour = colour};
}
