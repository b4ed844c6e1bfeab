// conventions_page.h -- the tables of profiler/CONVENTIONS.md, for tests that hold them to the
// program.
#ifndef TESTS_PROFILER_CONVENTIONS_PAGE_H
#define TESTS_PROFILER_CONVENTIONS_PAGE_H

#include <stdbool.h>

enum { PAGE_ROWS = 120, PAGE_CELLS = 5, PAGE_CELL = 400 };
typedef struct PageRow {
    char cells[PAGE_CELLS][PAGE_CELL];
    bool used; // the test's own: something was like it
} PageRow;
typedef struct PageTable {
    PageRow rows[PAGE_ROWS];
    int n;
} PageTable;

// The rows of the table that the comment "<!-- name" stands above. Fails the test without one.
void page_read(PageTable *table, const char *name);
bool page_cell_names(const char *cell, const char *name); // "`relu` `abs` and a bias"
// The row whose first cell begins so. Fails the test without one.
const PageRow *page_row(const PageTable *table, const char *begins);

#endif
