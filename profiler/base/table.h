// table.h -- internal to profiler/: a table as data, columns and rows of cells that are text, and
// how a terminal shows it. Not here: how a number becomes text (text.h). Nothing is kept, allocated
// or able to fail: a row is written as it comes.
//
//     Table table = {.headings = {"layer", "params", "FLOP"},
//                    .widths = {12, 8, 8},
//                    .kinds = {TABLE_PATH}}; // and numbers
//     table_begin(&table, file);
//     table_add(&table, (TableCells){"fc1", text_count(401920).s});
#ifndef PROFILER_BASE_TABLE_H
#define PROFILER_BASE_TABLE_H

#include <stdbool.h>
#include <stdio.h>

enum { TABLE_MOST_COLUMNS = 12 };

typedef enum TableKind { // of a column
    TABLE_NUMBER,        // to the right; too long, it takes empty cells, or moves what follows
    TABLE_WORD,          // to the left; the same
    TABLE_NAME,          // to the left, as a terminal shows it (text_fit); too long, it is cut at
    TABLE_PATH,          // its end, or, where ends tell apart, at its beginning (text_fit_end)
} TableKind;

// By column; what is NULL or missing is empty.
typedef const char *TableCells[TABLE_MOST_COLUMNS];

typedef struct Table {   // all else zero; headings live as long as it
    char title[300];     // lines above it; "": none
    TableCells headings; // up to the first that is NULL: so many columns there are
    TableCells below;    // their second line
    // On a terminal, with the space that parts a column from the one before (the first has none);
    // 0: this column is left out.
    int widths[TABLE_MOST_COLUMNS];
    TableKind kinds[TABLE_MOST_COLUMNS];
    int indent; // of all lines but title and notes
    FILE *file; // table_begin's
} Table;

// Before it begins: the first column grows to what the cell needs, up to `most`.
void table_widen(Table *table, const char *cell, int most);
// Title and headings. No line ends in spaces.
void table_begin(Table *table, FILE *file);
void table_add(const Table *table, const TableCells cells);
void table_note(const Table *table, int indent, const char *note); // a line below the last row

#endif
