// test_table.c -- profiler/base/table: the placing of cells in their columns, and of those that do
// not fit.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/base/table.h"
#include "profiler/base/text.h"
#include "tensor/memory.h"
#include "tensor/status.h"
#include "tests/helpers/harness.h"

static char *text; // output of the table begun last
static size_t size;

static void begin(Table *table) { table_begin(table, open_memstream(&text, &size)); }

static void check(const Table *table, const char *want) { // closes the table's file
    fclose(table->file);
    ck_assert_str_eq(text, want);
    ck_assert(!strstr(text, " \n"));
    free(text);
}

static Table three(TableKind kind) {
    return (Table){.headings = {"layer", "what", "n"},
                   .widths = {6, 7, 4},
                   .kinds = {kind, TABLE_WORD, TABLE_NUMBER}};
}

START_TEST(words_stand_left_and_numbers_right) {
    Table table = three(TABLE_WORD);
    begin(&table);
    table_add(&table, (TableCells){"fc1", "Linear", "7"});
    table_add(&table, (TableCells){"relu1", "ReLU", "123"});
    check(&table, "layer  what     n\n"
                  "fc1    Linear   7\n"
                  "relu1  ReLU   123\n");
}
END_TEST

START_TEST(a_table_without_rows_has_its_headings) {
    Table table = three(TABLE_WORD);
    begin(&table);
    check(&table, "layer  what     n\n");
    table = three(TABLE_WORD);
    snprintf(table.title, sizeof(table.title), "TITLE  two\nlines");
    begin(&table);
    check(&table, "TITLE  two\nlines\nlayer  what     n\n");
    Table none = {.headings = {NULL}};
    begin(&none);
    check(&none, "\n");
}
END_TEST

START_TEST(no_line_ends_in_spaces) {
    Table table = three(TABLE_WORD);
    table.headings[2] = "";
    begin(&table);
    table_add(&table, (TableCells){"fc1"});
    table_add(&table, (TableCells){"fc1", "", ""});
    table_add(&table, (TableCells){NULL, "x"});
    table_add(&table, (TableCells){""});
    check(&table, "layer  what\nfc1\nfc1\n       x\n\n");
}
END_TEST

START_TEST(names_lose_their_ends_and_paths_their_middles) {
    Table table = three(TABLE_NAME);
    begin(&table);
    table_add(&table, (TableCells){"encoder.fc1", "x", "1"});
    table_add(&table, (TableCells){"a\nb", "x", "1"});
    check(&table, "layer  what     n\nencod~ x        1\na?b    x        1\n");
    table = three(TABLE_PATH);
    begin(&table);
    table_add(&table, (TableCells){"encoder.fc1", "x", "1"});
    table_add(&table, (TableCells){"sixsix", "x", "1"});
    check(&table, "layer  what     n\ne~.fc1 x        1\nsixsix x        1\n");
    table = three(TABLE_NAME);
    table.kinds[1] = TABLE_NAME; // the cell keeps one column as a gap
    begin(&table);
    table_add(&table, (TableCells){"a", "1234567", "1"});
    table_add(&table, (TableCells){"a", "123456", "1"});
    check(&table, "layer  what     n\na      12345~   1\na      123456   1\n");
}
END_TEST

START_TEST(what_is_whole_and_too_long_touches_nothing) {
    Table table = three(TABLE_WORD);
    begin(&table);
    table_add(&table, (TableCells){"seven77", "x", "1"});
    table_add(&table, (TableCells){"a", "x", "1234567"}); // uses the blanks before it
    table_add(&table, (TableCells){"a", "", "12345678"});
    table_add(&table, (TableCells){"a", "Linear", "1234"});
    table_add(&table, (TableCells){"too long by far", "x", "1"});
    check(&table, "layer  what     n\n"
                  "seven77 x       1\n"
                  "a      x  1234567\n"
                  "a        12345678\n"
                  "a      Linear 1234\n"
                  "too long by far x 1\n");
}
END_TEST

START_TEST(columns_are_code_points) {
    Table table = three(TABLE_NAME);
    begin(&table);
    table_add(&table, (TableCells){"caf\xC3\xA9", "\xE2\x82\xAC", "\xC2\xB5s"});
    table_add(&table, (TableCells){"gr\xC3\xB6\xC3\x9F"
                                   "er als",
                                   "x", "1"});
    check(&table, "layer  what     n\n"
                  "caf\xC3\xA9   \xE2\x82\xAC       \xC2\xB5s\n"
                  "gr\xC3\xB6\xC3\x9F"
                  "e~ x        1\n");
}
END_TEST

START_TEST(a_column_without_width_is_left_out) {
    Table table = three(TABLE_WORD);
    table.widths[1] = 0;
    begin(&table);
    table_add(&table, (TableCells){"fc1", "Linear", "7"});
    check(&table, "layer    n\nfc1      7\n");
}
END_TEST

START_TEST(the_first_column_grows_to_what_it_may) {
    for (int most = 8; most <= 10; most++) { // "nine.nine" needs 9
        Table table = three(TABLE_NAME);
        table_widen(&table, "six", most);
        table_widen(&table, "nine.nine", most);
        begin(&table);
        table_note(&table, 0, "a long line beside which nothing stands");
        table_add(&table, (TableCells){"nine.nine", "x", "1"});
        check(&table, most == 8
                          ? "layer    what     n\n"
                            "a long line beside which nothing stands\nnine.ni~ x        1\n"
                          : "layer     what     n\n"
                            "a long line beside which nothing stands\nnine.nine x        1\n");
    }
    Table table = three(TABLE_NAME); // it never shrinks
    table_widen(&table, "six", 4);
    begin(&table);
    check(&table, "layer  what     n\n");
}
END_TEST

START_TEST(notes_second_headings_and_indentation) {
    Table table = three(TABLE_WORD);
    table.indent = 2;
    table.below[2] = "B";
    begin(&table);
    table_add(&table, (TableCells){"fc1", "Linear", "7"});
    table_note(&table, 4, "a note, whole, with whatever width it has");
    table_note(&table, 0, "");
    check(&table, "  layer  what     n\n"
                  "                  B\n"
                  "  fc1    Linear   7\n"
                  "    a note, whole, with whatever width it has\n\n");
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {words_stand_left_and_numbers_right, 0},
        {a_table_without_rows_has_its_headings, 0},
        {no_line_ends_in_spaces, 0},
        {names_lose_their_ends_and_paths_their_middles, 0},
        {what_is_whole_and_too_long_touches_nothing, 0},
        {columns_are_code_points, 0},
        {a_column_without_width_is_left_out, 0},
        {the_first_column_grows_to_what_it_may, 0},
        {notes_second_headings_and_indentation, 0},
        {NULL, 0},
    };
    return harness_main("table", tests);
}
