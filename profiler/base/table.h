// table.h -- internal to profiler/: a table as data (columns, and rows of text cells) and its
// display on a terminal. Not here: turning numbers into text (text.h). A table keeps and allocates
// nothing, and cannot fail: each row is written at once.
//
//     Table table = {.headings = {"layer", "params", "FLOP"},
//                    .widths = {12, 8, 8},
//                    .kinds = {TABLE_PATH}}; // the other columns hold numbers
//     table_begin(&table, file);
//     table_add(&table, (TableCells){"fc1", text_count(401920).s});
#ifndef PROFILER_BASE_TABLE_H
#define PROFILER_BASE_TABLE_H

#include <stdbool.h>
#include <stdio.h>

enum { TABLE_MOST_COLUMNS = 12 };

typedef enum TableKind { // kind of a column
    TABLE_NUMBER,        // right-aligned; too long, it takes empty cells, or shifts the rest
    TABLE_WORD,          // left-aligned; otherwise as TABLE_NUMBER
    TABLE_NAME,          // left-aligned, printable (text_fit); too long, it is cut at its
    TABLE_PATH,          // end, or for a path in its middle (text_fit_middle)
} TableKind;

// One cell per column; NULL or missing cells are empty.
typedef const char *TableCells[TABLE_MOST_COLUMNS];

typedef struct Table {   // unset members are 0; headings must outlive the table
    char title[300];     // lines above the table; "": none
    TableCells headings; // the first NULL ends the columns
    TableCells below;    // second line of the headings
    // Columns on a terminal, including the space before each column but the first; 0: the column is
    // left out.
    int widths[TABLE_MOST_COLUMNS];
    TableKind kinds[TABLE_MOST_COLUMNS];
    int indent; // columns before each line except title and notes
    FILE *file; // set by table_begin
} Table;

// Before table_begin: widens the first column to fit the cell, up to `most`.
void table_widen(Table *table, const char *cell, int most);
// Writes title and headings. No line of a table ends in spaces.
void table_begin(Table *table, FILE *file);
void table_add(const Table *table, const TableCells cells);
void table_note(const Table *table, int indent, const char *note); // a line below the last row

#endif
