// page.h -- a text for students whose lines are at most 80 columns wide, for a terminal, a mail or
// a platform. Its content comes from elsewhere (screen.h).
//
//     Page page = {.colour = false};
//     page_label(&page, "input");
//     page_piece(&page, PAGE_PLAIN, 0, "Linear(512 -> 512, bias)   batch 64");
//     page_piece(&page, PAGE_PLAIN, 6, "asked: FLOPs for ONE sample");
//     page_end_line(&page);
#ifndef EXERCISES_LAB_PAGE_H
#define EXERCISES_LAB_PAGE_H

#include <stdbool.h>
#include <stddef.h>

enum { PAGE_WIDTH = 80, PAGE_LABEL = 13 }; // columns; a label takes the first PAGE_LABEL

typedef enum PageStyle { PAGE_PLAIN, PAGE_BOLD, PAGE_DIM, PAGE_BAD, PAGE_GOOD } PageStyle;

typedef struct Page { // all zero: an empty page
    char *text;       // owned, ends in a zero; NULL: nothing yet
    size_t size, capacity;
    int column; // column of the next character
    int indent; // indent of the lines that continue this one
    bool colour;
    bool failed; // STATUS_OUT_OF_MEMORY is pending, and the rest is missing
} Page;

// Begins a line: "  input      ". NULL: begins at the left margin, and continues at PAGE_LABEL.
void page_label(Page *page, const char *label);

// Adds a text `gap` columns after the previous one, or on a new line if it does not fit into this
// one. A text longer than a line breaks between words, or within a word that is too long.
// Unprintable characters (control characters, broken UTF-8) become question marks. Characters that
// may take two columns count as two. Styles show only with `colour`.
void page_piece(Page *page, PageStyle style, int gap, const char *text);
void page_print(Page *page, PageStyle style, int gap, const char *format, ...)
    __attribute__((format(printf, 4, 5))); // at most 1000 bytes

void page_end_line(Page *page);

// Adds lines as they are, each at `indent` and continued there; a tab becomes a space.
void page_lines(Page *page, PageStyle style, int indent, const char *text);

// Like page_lines, but joins successive lines without an indent into a paragraph and rewraps it.
void page_paragraphs(Page *page, PageStyle style, int indent, const char *text);

const char *page_text(const Page *page); // never NULL
void page_free(Page *page);

#endif
