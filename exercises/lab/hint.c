// hint.c -- ./lab hint: one level further each time, from course/exNN_hints.md.
#include <stdio.h>
#include <string.h>

#include "exercises/grader/text_file.h"
#include "exercises/lab/command.h"
#include "tensor/memory.h"

enum { LEVELS = 3 };

// What is below the line "## <level>", up to the next such line; NULL: there is none. Cuts `text`.
static char *section(char *text, int level) {
    char heading[16];
    snprintf(heading, sizeof heading, "## %d", level);
    for (char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        size_t length = strcspn(line, "\r\n");
        if (length != strlen(heading) || strncmp(line, heading, length) != 0) continue;
        char *begin = line + length + strspn(line + length, "\r\n"), *end = strstr(begin, "\n## ");
        if (end) end[1] = '\0';
        return begin;
    }
    return NULL;
}

static Status level_page(const Exercise *exercise, int level, Page *page) {
    char path[128];
    snprintf(path, sizeof path, "exercises/course/ex%s_hints.md", exercise->number);
    char *text = file_read(NULL, path, LAB_MOST_BYTES, NULL);
    if (!text) return error_status();
    char *hint = section(text, level);
    if (hint) {
        page_label(page, NULL);
        page_print(page, PAGE_BOLD, 0, "hint %d of %d for %s %s", level, LEVELS, exercise->number,
                   exercise->name);
        page_end_line(page);
        page_paragraphs(page, PAGE_PLAIN, 2, hint);
    }
    memory_free(text);
    return hint ? STATUS_OK
                : error_set(STATUS_FORMAT, "%s: no hint of level %d. HINT: it begins with ## %d",
                            path, level, level);
}

Status hint_page(Lab *lab, const Exercise *exercise, Page *page) {
    ProgressEntry *entry = progress_entry(&lab->progress, exercise->number);
    bool asked = lab->options.level > 0;
    int level = asked ? (int)lab->options.level : entry->hints < LEVELS ? entry->hints + 1 : LEVELS;
    Status status = level_page(exercise, level, page);
    if (status) return status;
    page_label(page, NULL);
    if (level < LEVELS)
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
    int shown = lab_show(&page); // the hint is worth showing even where it cannot be remembered
    return failed ? failed : shown;
}
