// table.c -- the lines of a table on a terminal.
#include "profiler/base/table.h"

#include "profiler/base/text.h"

static const char *shown(const char *cell, TableKind kind, int width, Text *cut) {
    if (kind != TABLE_NAME && kind != TABLE_PATH) return cell;
    *cut = kind == TABLE_NAME ? text_fit(cell, width) : text_fit_middle(cell, width);
    return cut->s;
}

void table_add(const Table *table, const TableCells cells) {
    int at = 0, start = table->indent; // end of the line so far; start of the column
    for (int c = 0; c < TABLE_MOST_COLUMNS && table->headings[c]; c++) {
        int width = table->widths[c], gap = c > 0;
        if (width == 0) continue;
        Text cut;
        const char *text = shown(cells[c] ? cells[c] : "", table->kinds[c], width - gap, &cut);
        int length = text_width(text);
        int begin = start + (table->kinds[c] == TABLE_NUMBER ? width - length : gap);
        if (begin < at + gap) begin = at + gap; // the previous cell was too long
        start += width;
        if (length == 0) continue;
        fprintf(table->file, "%*s%s", begin - at, "", text);
        at = begin + length;
    }
    fputc('\n', table->file);
}

void table_note(const Table *table, int indent, const char *note) {
    fprintf(table->file, "%*s%s\n", indent, "", note);
}

void table_widen(Table *table, const char *cell, int most) {
    int width = text_width(cell) < most ? text_width(cell) : most;
    if (table->widths[0] < width) table->widths[0] = width;
}

void table_begin(Table *table, FILE *file) {
    bool below = false;
    for (int c = 0; c < TABLE_MOST_COLUMNS; c++) below = below || table->below[c];
    table->file = file;
    if (table->title[0]) fprintf(file, "%s\n", table->title);
    table_add(table, table->headings);
    if (below) table_add(table, table->below);
}
