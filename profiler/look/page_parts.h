// page_parts.h -- internal to profiler/look/: building blocks for the sections of a page.
#ifndef PROFILER_LOOK_PAGE_PARTS_H
#define PROFILER_LOOK_PAGE_PARTS_H

#include "profiler/look/page.h"

extern const char page_style[]; // CSS of pages and drawings

// A table that scrolls if the page is too narrow. Columns end at NULL; a name that begins with '<'
// is a number column, aligned right.
typedef struct PageTable {
    const char *id, *caption;
    const char *const *columns;
} PageTable;
void page_table_begin(const PageTable *table, WholeFile *file);
void page_table_end(WholeFile *file);
// A row's cells; the first holds the row's name. id NULL: none
void page_row_begin(const char *id, const char *name, WholeFile *file);
void page_cell(const char *text, WholeFile *file);              // a word
void page_number(const char *text, WholeFile *file);            // aligned right
void page_bar(double share, const char *text, WholeFile *file); // a bar and its label
void page_row_end(WholeFile *file);

// page_tables.c: layers with their evidence; operators; memory at the peak; differences; a sweep.
void page_layers(const Profile *profile, WholeFile *file);
Status page_operators(const Profile *profile, WholeFile *file);
void page_peak(const Profile *profile, WholeFile *file);
void page_diff(const ProfileDiff *diff, WholeFile *file);
void page_sweep(const Sweep *sweep, WholeFile *file);

#endif
