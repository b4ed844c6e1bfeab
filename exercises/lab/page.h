// page.h -- a text of lines that are never wider than 80 columns: what a student reads, on a
// terminal, in a mail or on a platform. Not here: what it says (screen.h).
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

typedef struct Page { // zero is an empty one
    char *text;       // owned, ends in a zero; NULL: nothing yet
    size_t size, capacity;
    int column; // that the next character goes to
    int indent; // of the lines that this one continues on
    bool colour;
    bool failed; // STATUS_OUT_OF_MEMORY is pending, and the rest is missing
} Page;

// Begins a line: "  input      ". NULL: at the left margin, continued at PAGE_LABEL.
void page_label(Page *page, const char *label);

// Adds a text, `gap` columns after what is there; on a line of its own where it does not fit into
// this one. Longer than a line, it is broken between words, or within a word that is too long.
// What is not printable (control characters, broken UTF-8) becomes a question mark. Characters
// that may take two columns count as two. Styles show with `colour` only.
void page_piece(Page *page, PageStyle style, int gap, const char *text);
void page_print(Page *page, PageStyle style, int gap, const char *format, ...)
    __attribute__((format(printf, 4, 5))); // at most 1000 bytes of it

void page_end_line(Page *page);

// Lines as they are, each at `indent` and continued there; a tab is a space.
void page_lines(Page *page, PageStyle style, int indent, const char *text);

// The same, but lines that follow each other without an indent are one paragraph, broken anew.
void page_paragraphs(Page *page, PageStyle style, int indent, const char *text);

const char *page_text(const Page *page); // never NULL
void page_free(Page *page);

#endif
