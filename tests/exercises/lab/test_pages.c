// test_pages.c -- the texts of exercises/pages/ as compiled in by make: exactly the files' texts,
// all of them, and in the form that ./lab shows.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exercises/course/exercise.h"
#include "exercises/course/text_file.h"
#include "exercises/lab/pages.h"
#include "tensor/memory.h"
#include "tests/helpers/harness.h"

enum { MOST_TOLD = 120, WIDTH = 80 };

// Removes `part` from `text`, which must contain it once.
static void take(char *text, const char *part, const char *name) {
    char *at = strstr(text, part);
    ck_assert_msg(at && !strstr(at + 1, part), "%s: not once as it was compiled in", name);
    memmove(at, at + strlen(part), strlen(at + strlen(part)) + 1);
}

static void take_page(char *text, const ExplainPage *page, bool hint) {
    size_t size = strlen(page->text) + 256;
    char *section = calloc(1, size);
    snprintf(section, size, "\n## %s\n%s%s%s%s%s", page->name, page->told ? "> " : "",
             page->told ? page->told : "", page->told ? "\n" : "", hint ? "" : "\n", page->text);
    take(text, section, page->name);
    free(section);
}

START_TEST(nothing_of_the_files_is_lost_or_changed) {
    const Exercise *exercise = exercises[_i];
    char path[64], rest[64];
    snprintf(path, sizeof path, "exercises/pages/ex%s.md", exercise->number);
    char *text = file_read(NULL, path, 1 << 16, NULL);
    for (int i = 0; i < explain_page_count; i++)
        if (strcmp(explain_pages[i].exercise, exercise->number) == 0)
            take_page(text, &explain_pages[i], false);
    for (int i = 0; i < hint_page_count; i++)
        if (strcmp(hint_pages[i].exercise, exercise->number) == 0)
            take_page(text, &hint_pages[i], true);
    snprintf(rest, sizeof rest, "# %s %s: hints and pages\n\n# hints\n\n# pages\n",
             exercise->number, exercise->name);
    ck_assert_str_eq(text, rest);
    memory_free(text);
}
END_TEST

START_TEST(every_exercise_has_all_levels_of_hints) {
    for (int i = 0; i < exercise_count; i++) {
        for (int level = 1; level <= HINT_LEVELS; level++)
            ck_assert_ptr_nonnull(pages_hint(exercises[i]->number, level));
        ck_assert_ptr_null(pages_hint(exercises[i]->number, 0));
        ck_assert_ptr_null(pages_hint(exercises[i]->number, HINT_LEVELS + 1));
    }
    ck_assert_int_eq(hint_page_count, HINT_LEVELS * exercise_count);
}
END_TEST

START_TEST(pages_have_their_form) {
    ck_assert_int_gt(explain_page_count, 100);
    for (int i = 0; i < explain_page_count; i++) {
        const ExplainPage *page = &explain_pages[i];
        ck_assert_msg(pages_find(page->name) == page, "two pages: %s", page->name);
        ck_assert_ptr_nonnull(exercise_by_number(page->exercise));
        ck_assert_ptr_eq(pages_told(page->name), page->told);
        if (page->told) ck_assert_msg(strlen(page->told) <= MOST_TOLD, "%s", page->name);
        ck_assert_msg(strlen(page->text) > 40, "%s is short", page->name);
        for (const char *line = page->text; *line; line += strcspn(line, "\n") + 1)
            ck_assert_msg(strcspn(line, "\n") <= WIDTH, "%s: %.90s", page->name, line);
    }
    ck_assert_ptr_null(pages_find("no_such_mistake"));
    ck_assert_ptr_null(pages_told("page_faults"));
    ck_assert_ptr_nonnull(pages_find("page_faults"));
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {nothing_of_the_files_is_lost_or_changed, exercise_count},
        {every_exercise_has_all_levels_of_hints, 0},
        {pages_have_their_form, 0},
        {NULL, 0},
    };
    return harness_main("pages", tests);
}
