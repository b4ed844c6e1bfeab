// conventions_page.c -- reads a table of Markdown.
#include "tests/profiler/conventions_page.h"

#include <stdio.h>
#include <string.h>

#include "tests/helpers/harness.h"

static void take_cells(PageTable *table, const char *line) {
    ck_assert_int_lt(table->n, PAGE_ROWS);
    PageRow *row = &table->rows[table->n++];
    memset(row, 0, sizeof *row);
    for (int c = 0; c < PAGE_CELLS && *line == '|'; c++) {
        line++;
        size_t length = strcspn(line, "|");
        const char *begin = line + strspn(line, " ");
        const char *end = line + length;
        while (end > begin && end[-1] == ' ') end--;
        ck_assert_int_lt(end - begin, PAGE_CELL);
        memcpy(row->cells[c], begin, (size_t)(end - begin));
        line += length;
    }
}

void page_read(PageTable *table, const char *name) {
    char line[2000], mark[40];
    snprintf(mark, sizeof mark, "<!-- %s", name);
    FILE *file = fopen("profiler/CONVENTIONS.md", "r");
    ck_assert_msg(file != NULL, "profiler/CONVENTIONS.md: run it from the project's root");
    bool inside = false;
    int at = 0;
    table->n = 0;
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, mark, strlen(mark)) == 0)
            inside = true;
        else if (inside && line[0] == '|' && at++ >= 2) // skips the heading and its rule
            take_cells(table, line);
        else if (inside && line[0] != '|')
            inside = false;
    }
    fclose(file);
    ck_assert_msg(table->n > 0, "the page has no table of %s", name);
}

bool page_cell_names(const char *cell, const char *name) {
    char quoted[120];
    snprintf(quoted, sizeof quoted, "`%s`", name);
    return strstr(cell, quoted) != NULL;
}

const PageRow *page_row(const PageTable *table, const char *begins) {
    for (int r = 0; r < table->n; r++)
        if (strncmp(table->rows[r].cells[0], begins, strlen(begins)) == 0) return &table->rows[r];
    ck_abort_msg("the page has no row of %s", begins);
    return NULL;
}
