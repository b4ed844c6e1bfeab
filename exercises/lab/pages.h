// pages.h -- the texts of exercises/pages/, compiled in: the hints of each exercise, and pages on
// known mistakes and on what else is worth knowing. Not here: how a page is laid out (page.h).
#ifndef EXERCISES_LAB_PAGES_H
#define EXERCISES_LAB_PAGES_H

enum { HINT_LEVELS = 3 };

typedef struct ExplainPage {
    const char *exercise; // "02": the first that leads to it
    const char *name;     // "batch_multiplied"; of a hint its level, "1"
    const char *told;     // what a student is told of this mistake, one line; NULL: it is none
    const char *text;     // lines, each with its end
} ExplainPage;

// All pages, by exercise and as they stand in its file; names are unique.
extern const ExplainPage explain_pages[], hint_pages[];
extern const int explain_page_count, hint_page_count;

const ExplainPage *pages_find(const char *name);         // NULL: there is none
const char *pages_told(const char *name);                // of a mistake; NULL: no known one
const char *pages_hint(const char *exercise, int level); // from 1 to HINT_LEVELS; NULL: none

#endif
