// conventions_page.h -- the tables of profiler/CONVENTIONS.md, for tests that compare them with the
// program.
#ifndef TESTS_PROFILER_CONVENTIONS_PAGE_H
#define TESTS_PROFILER_CONVENTIONS_PAGE_H

#include <stdbool.h>

enum { PAGE_ROWS = 200, PAGE_CELLS = 5, PAGE_CELL = 400 };
typedef struct PageRow {
    char cells[PAGE_CELLS][PAGE_CELL];
    bool used; // for the test: a match was found
} PageRow;
typedef struct PageTable {
    PageRow rows[PAGE_ROWS];
    int n;
} PageTable;

// The rows of the table below the comment "<!-- name". Fails the test without one.
void page_read(PageTable *table, const char *name);
bool page_cell_names(const char *cell, const char *name); // cell: "`relu` `abs` and a bias"
// The row whose first cell begins with `begins`. Fails the test without one.
const PageRow *page_row(const PageTable *table, const char *begins);

#endif
