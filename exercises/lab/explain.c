// explain.c -- ./lab explain: the page of a misconception, through a pager on a terminal only.
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exercises/grader/misconception.h"
#include "exercises/grader/text_file.h"
#include "exercises/lab/command.h"
#include "tensor/memory.h"

#define PAGES "exercises/explain"

enum { MOST_PAGES = 300, PAGE_NAME = 64 };
typedef char PageName[PAGE_NAME];

static int by_name(const void *a, const void *b) { return strcmp(a, b); }

// The pages that there are, in alphabetical order.
static int find_pages(PageName *names) {
    int count = 0;
    DIR *folder = opendir(PAGES);
    if (!folder) return 0;
    for (struct dirent *entry = readdir(folder); entry && count < MOST_PAGES;
         entry = readdir(folder)) {
        size_t length = strlen(entry->d_name);
        if (length < 4 || length - 3 >= PAGE_NAME || strcmp(entry->d_name + length - 3, ".md") != 0)
            continue;
        memcpy(names[count], entry->d_name, length - 3);
        names[count++][length - 3] = '\0';
    }
    closedir(folder);
    qsort(names, (size_t)count, sizeof *names, by_name);
    return count;
}

// ---- a name that was almost right --------------------------------------------------------------
// How many letters have to change, come or go (Levenshtein).
static int distance(const char *a, const char *b) {
    int row[PAGE_NAME + 1], m = (int)strlen(b);
    if (m >= PAGE_NAME) return PAGE_NAME;
    for (int k = 0; k <= m; k++) row[k] = k;
    for (int i = 0; a[i]; i++) {
        int diagonal = row[0];
        row[0] = i + 1;
        for (int k = 0; k < m; k++) {
            int kept = diagonal + (a[i] != b[k]);
            diagonal = row[k + 1];
            int shorter = row[k] < row[k + 1] ? row[k] : row[k + 1];
            row[k + 1] = kept < shorter + 1 ? kept : shorter + 1;
        }
    }
    return row[m];
}

static Status no_such_page(const char *name) {
    PageName names[MOST_PAGES];
    int count = find_pages(names), best = -1, least = PAGE_NAME;
    for (int i = 0; i < count; i++) {
        int d = strstr(names[i], name) && name[0] ? 1 : distance(name, names[i]);
        if (d >= least) continue;
        least = d;
        best = i;
    }
    bool near = best >= 0 && least <= 1 + (int)strlen(name) / 3;
    return error_set(STATUS_INVALID_ARGUMENT, "explain %.60s: there is no such page. HINT: %s%s%s",
                     name, near ? "did you mean " : "",
                     near ? names[best] : "./lab explain lists them", near ? "?" : "");
}

// ---- pages -------------------------------------------------------------------------------------
Status explain_page(const char *name, Page *page) {
    char path[PATH_MAX];
    // A name has no path in it.
    bool plain = name[0] && name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_")] == '\0';
    snprintf(path, sizeof path, PAGES "/%.63s.md", name);
    if (!plain || access(path, F_OK) != 0) return no_such_page(name);
    char *text = file_read(NULL, path, LAB_MOST_BYTES, NULL);
    if (!text) return error_status();
    page_lines(page, PAGE_PLAIN, 0, text);
    memory_free(text);
    return STATUS_OK;
}

// All names, each with what a student is told, or with its page's title.
static void names_page(Page *page) {
    PageName names[MOST_PAGES];
    int count = find_pages(names);
    for (int i = 0; i < count; i++) {
        char path[PATH_MAX], title[128] = "";
        const char *text = misconception_text(names[i]);
        snprintf(path, sizeof path, PAGES "/%.63s.md", names[i]);
        FILE *file = text ? NULL : fopen(path, "r");
        if (file && fgets(title, sizeof title, file)) title[strcspn(title, "\r\n")] = '\0';
        if (file) fclose(file);
        page_label(page, NULL);
        page_piece(page, PAGE_BOLD, 0, names[i]);
        page->indent = 27;
        page_piece(page, PAGE_PLAIN, page->column < 26 ? 27 - page->column : 1,
                   text ? text : title + strspn(title, "# "));
        page_end_line(page);
    }
}

// "less -FRX" leaves what fits one screen where it is.
static int show_paged(Page *page) {
    const char *pager = getenv("PAGER");
    fflush(stdout);
    FILE *pipe = popen(pager && pager[0] ? pager : "less -FRX", "w");
    if (!pipe) return lab_show(page);
    fputs(page_text(page), pipe);
    bool shown = pclose(pipe) == 0;
    if (!shown) return lab_show(page); // there is no such program
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
