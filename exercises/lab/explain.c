// explain.c -- the texts of exercises/pages/: ./lab hint shows one more level each time, ./lab
// explain shows a page, through a pager on a terminal only.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exercises/lab/command.h"
#include "exercises/lab/pages.h"
#include "profiler/base/text.h"

// ---- finding one (make has turned them into tables: exercises/pages/pages.awk) -----------------
const ExplainPage *pages_find(const char *name) {
    for (int i = 0; i < explain_page_count; i++)
        if (strcmp(explain_pages[i].name, name) == 0) return &explain_pages[i];
    return NULL;
}

const char *pages_told(const char *name) {
    const ExplainPage *page = pages_find(name);
    return page ? page->told : NULL;
}

const char *pages_hint(const char *exercise, int level) {
    for (int i = 0; i < hint_page_count; i++) {
        const ExplainPage *hint = &hint_pages[i];
        if (strcmp(hint->exercise, exercise) == 0 && atoi(hint->name) == level) return hint->text;
    }
    return NULL;
}

// ---- hints --------------------------------------------------------------------------------------
Status hint_page(Lab *lab, const Exercise *exercise, Page *page) {
    ProgressEntry *entry = progress_entry(&lab->progress, exercise->number);
    bool asked = lab->options.level > 0;
    int next = entry->hints < HINT_LEVELS ? entry->hints + 1 : HINT_LEVELS;
    int level = asked ? (int)lab->options.level : next;
    const char *hint = pages_hint(exercise->number, level);
    if (!hint)
        return error_set(STATUS_FORMAT,
                         "exercises/pages/ex%s.md: no hint of level %d. HINT: it "
                         "begins with ## %d",
                         exercise->number, level, level);
    page_label(page, NULL);
    page_print(page, PAGE_BOLD, 0, "hint %d of %d for %s %s", level, HINT_LEVELS, exercise->number,
               exercise->name);
    page_end_line(page);
    page_paragraphs(page, PAGE_PLAIN, 2, hint);
    page_label(page, NULL);
    if (level < HINT_LEVELS)
        page_print(page, PAGE_DIM, 0, "one level further: ./lab hint %s", exercise->number);
    else
        page_print(page, PAGE_DIM, 0, "that was the last; the first again: ./lab hint %s --level 1",
                   exercise->number);
    page_end_line(page);
    if (level > entry->hints) entry->hints = level;
    return progress_write(lab->folder, &lab->progress);
}

int command_hint(Lab *lab) {
    const Exercise *exercise = lab_exercise(lab);
    if (!exercise) return LAB_USAGE;
    Page page = {.colour = lab->colour};
    Status status = hint_page(lab, exercise, &page);
    int failed = status ? lab_fail() : LAB_DONE;
    int shown = lab_show(&page); // show the hint even if progress cannot be saved
    return failed ? failed : shown;
}

// ---- a name that was almost right --------------------------------------------------------------
static const char *page_at(const void *holder, int i) {
    (void)holder;
    return i < explain_page_count ? explain_pages[i].name : NULL;
}

static Status no_such_page(const char *name) {
    const char *near = nearest_name(name, page_at, NULL);
    for (int i = 0; i < explain_page_count && !near && name[0]; i++)
        if (strstr(explain_pages[i].name, name)) near = explain_pages[i].name;
    return error_set(STATUS_INVALID_ARGUMENT, "explain %.60s: there is no such page. HINT: %s%s%s",
                     name, near ? "did you mean " : "", near ? near : "./lab explain lists them",
                     near ? "?" : "");
}

// ---- pages -------------------------------------------------------------------------------------
Status explain_page(const char *name, Page *page) {
    const ExplainPage *found = pages_find(name);
    if (!found) return no_such_page(name);
    page_label(page, NULL);
    page_piece(page, PAGE_BOLD, 0, name);
    page_end_line(page);
    page_end_line(page);
    page_lines(page, PAGE_PLAIN, 0, found->text);
    return STATUS_OK;
}

static void heading(Page *page, const char *number) {
    const Exercise *exercise = exercise_by_number(number);
    if (page->size > 0) page_end_line(page);
    page_label(page, NULL);
    page_print(page, PAGE_DIM, 0, "%s %s", number, exercise ? exercise->name : "");
    page_end_line(page);
}

// All names by exercise, each with its line for students, or with the first sentence of its page.
static void names_page(Page *page) {
    for (int i = 0; i < explain_page_count; i++) {
        const ExplainPage *one = &explain_pages[i];
        bool first = i == 0 || strcmp(one->exercise, explain_pages[i - 1].exercise) != 0;
        if (first) heading(page, one->exercise);
        page_label(page, NULL);
        page_piece(page, PAGE_BOLD, 0, one->name);
        page->indent = 27;
        int gap = page->column < 26 ? 27 - page->column : 1, length = (int)strcspn(one->text, ".");
        if (one->told)
            page_piece(page, PAGE_PLAIN, gap, one->told);
        else
            page_print(page, PAGE_PLAIN, gap, "%.*s", length, one->text);
        page_end_line(page);
    }
}

// "less -FRX" just prints a page that fits one screen.
static int show_paged(Page *page) {
    const char *pager = getenv("PAGER");
    fflush(stdout);
    FILE *pipe = popen(pager && pager[0] ? pager : "less -FRX", "w");
    if (!pipe) return lab_show(page);
    fputs(page_text(page), pipe);
    bool shown = pclose(pipe) == 0;
    if (!shown) return lab_show(page); // no such pager
    page_free(page);
    return LAB_DONE;
}

int command_explain(Lab *lab) {
    Page page = {.colour = lab->colour};
    if (!lab->argument)
        names_page(&page);
    else if (explain_page(lab->argument, &page)) {
        page_free(&page);
        return lab_fail();
    }
    return lab->terminal && !page.failed ? show_paged(&page) : lab_show(&page);
}
