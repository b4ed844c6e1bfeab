// tables.c -- makes the tables of exercises in any page anew. A column's heading decides its
// content.
#include "exercises/instructor/instructor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exercises/course/exercise.h"
#include "tensor/memory.h"

enum { CELL = 400, MOST_COLUMNS = 12 };

// Copies cell number `index` of a row "| 01 | count_parameters | ...", without spaces around it;
// "": the row has no such cell.
static void cell_of(const char *row, int index, char cell[CELL]) {
    const char *end = row + strcspn(row, "\n");
    cell[0] = '\0';
    for (; index >= 0 && row < end; index--) {
        const char *begin = row + 1 + strspn(row + 1, " ");
        row += 1 + strcspn(row + 1, "|\n");
        const char *last = row;
        while (last > begin && last[-1] == ' ') last--;
        bool closed = *row == '|' && index == 0 && last > begin;
        if (closed) snprintf(cell, CELL, "%.*s", (int)(last - begin), begin);
    }
}

// Writes the cell below the heading `column`; false: the exercise does not provide it.
static bool table_cell(const Exercise *exercise, const char *column, char cell[CELL]) {
    if (strcmp(column, "#") == 0)
        snprintf(cell, CELL, "%s", exercise->number);
    else if (strcmp(column, "exercise") == 0)
        snprintf(cell, CELL, "%s", exercise->name);
    else if (strcmp(column, "about") == 0)
        snprintf(cell, CELL, "%s", exercise->title);
    else if (strcmp(column, "minutes") == 0)
        snprintf(cell, CELL, "%d", exercise->minutes);
    else if (strcmp(column, "points") == 0)
        snprintf(cell, CELL, "%d%s", exercise->points, exercise->stretch ? " to stretch" : "");
    else if (strcmp(column, "short track") == 0)
        snprintf(cell, CELL, "%s", exercise->short_track ? "yes" : "");
    else
        return false;
    return true;
}

// Finds the row of an exercise; "": there is none yet.
static const char *row_of(const char *rows, const char *number) {
    char cell[CELL];
    for (; *rows == '|'; rows += strcspn(rows, "\n"), rows += *rows == '\n') {
        cell_of(rows, 0, cell);
        if (strcmp(cell, number) == 0) return rows;
    }
    return "";
}

static void put_row(FILE *out, const char *heading, const char *old, const Exercise *exercise) {
    char column[CELL], cell[CELL];
    fputc('|', out);
    for (int i = 0; i < MOST_COLUMNS; i++) {
        cell_of(heading, i, column);
        if (column[0] == '\0') break;
        if (!table_cell(exercise, column, cell)) cell_of(old, i, cell);
        fprintf(out, "%s%s |", cell[0] ? " " : "", cell);
    }
    fputc('\n', out);
}

// Writes the table that begins at `heading`; returns the rest of the page after it.
static const char *put_table(FILE *out, const char *heading) {
    const char *rows = heading;
    for (int i = 0; i < 2; i++) rows += strcspn(rows, "\n"), rows += *rows == '\n';
    fwrite(heading, 1, (size_t)(rows - heading), out);
    for (int i = 0; i < exercise_count; i++)
        put_row(out, heading, row_of(rows, exercises[i]->number), exercises[i]);
    while (*rows == '|') rows += strcspn(rows, "\n"), rows += *rows == '\n';
    return rows;
}

char *tables_update(const char *page) {
    static const char mark[] = TABLE_MARK "\n";
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    const char *at = page;
    for (const char *found; out && (found = strstr(at, mark)) != NULL;) {
        fwrite(at, 1, (size_t)(found - at) + strlen(mark), out);
        at = put_table(out, found + strlen(mark));
    }
    if (out) fputs(at, out);
    bool written = out && fclose(out) == 0;
    char *updated = written && at != page ? memory_copy_string(text) : NULL;
    if (!written) error_set(STATUS_OUT_OF_MEMORY, "tables: no memory. HINT: free some");
    if (written && at == page)
        error_set(STATUS_FORMAT, "the page has no table of exercises. HINT: " TABLE_MARK
                                 " stands on the line before it");
    free(text);
    return updated;
}
