// pages.h -- the texts of exercises/pages/, compiled in: the hints of each exercise, and pages on
// known mistakes and other useful topics. The layout of a page is in page.h.
#ifndef EXERCISES_LAB_PAGES_H
#define EXERCISES_LAB_PAGES_H

enum { HINT_LEVELS = 3 };

typedef struct ExplainPage {
    const char *exercise; // "02": the first exercise that leads to the page
    const char *name;     // "batch_multiplied"; the level of a hint, "1"
    const char *told;     // one line for the student about this mistake; NULL: not a mistake
    const char *text;     // lines, each with its newline
} ExplainPage;

// All pages, by exercise and in the order of its file; names are unique.
extern const ExplainPage explain_pages[], hint_pages[];
extern const int explain_page_count, hint_page_count;

const ExplainPage *pages_find(const char *name);         // NULL: no such page
const char *pages_told(const char *name);                // `told` of a mistake; NULL: not known
const char *pages_hint(const char *exercise, int level); // level 1 to HINT_LEVELS; NULL: none

#endif
