// report.c -- says of a graded class how each case did and which misconceptions are about; the same
// as a table for a spreadsheet.
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exercises/grader/misconception.h"
#include "exercises/instructor/instructor.h"
#include "exercises/instructor/items.h"
#include "exercises/instructor/result_file.h"
#include "exercises/lab/formats.h"
#include "profiler/files/whole_file.h"
#include "tensor/memory.h"

enum { MOST_SHOWN = 10 };

typedef struct GradedClass {
    Result *results; // owned
    const Result **list;
    int count;
} GradedClass;

// ---- reading -----------------------------------------------------------------------------------
static bool has_result(const char *folder, const char *name, char path[PATH_MAX]) {
    int length = snprintf(path, PATH_MAX, "%s/%s/result.json", folder, name);
    bool there = name[0] != '.' && length < PATH_MAX && access(path, R_OK) == 0;
    snprintf(path, PATH_MAX, "%.3800s/%.255s", folder, name);
    return there;
}

static Status read_entry(const char *path, GradedClass *class) {
    if (class->count == CLASS_MOST) {
        return error_set(STATUS_FORMAT, "more than %d results. HINT: move some away", CLASS_MOST);
    }
    return result_read(path, &class->results[class->count++]);
}

static Status read_results(const char *folder, GradedClass *class) {
    class->results = memory_new(CLASS_MOST * sizeof *class->results);
    class->list = memory_new(CLASS_MOST * sizeof *class->list);
    if (class->results == NULL || class->list == NULL) return error_status();
    DIR *entries = opendir(folder);
    if (entries == NULL) {
        return error_set(STATUS_IO, "%.300s: %s. HINT: the folder that make grade-all wrote",
                         folder, strerror(errno));
    }
    Status status = STATUS_OK;
    for (const struct dirent *entry; status == STATUS_OK && (entry = readdir(entries)) != NULL;) {
        char path[PATH_MAX];
        if (has_result(folder, entry->d_name, path)) status = read_entry(path, class);
    }
    closedir(entries);
    for (int i = 0; i < class->count; i++) class->list[i] = &class->results[i];
    if (status != STATUS_OK || class->count > 0) return status;
    return error_set(STATUS_IO, "%.300s: no folder in it has a result.json. HINT: make grade-all",
                     folder);
}

// ---- for people --------------------------------------------------------------------------------
static int by_points(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

static Status print_points(const GradedClass *class) {
    int *points = memory_new((size_t) class->count * sizeof *points);
    if (points == NULL) return error_status();
    double sum = 0.0;
    for (int i = 0; i < class->count; i++) {
        points[i] = class->results[i].points;
        sum += points[i];
    }
    qsort(points, (size_t) class->count, sizeof *points, by_points);
    int middle = class->count / 2;
    double median = class->count % 2 ? points[middle] : (points[middle - 1] + points[middle]) / 2.0;
    printf("%d students: median %.1f, mean %.1f, least %d, most %d of %d points\n\n", class->count,
           median, sum / class->count, points[0], points[class->count - 1], class->results[0].most);
    memory_free(points);
    return STATUS_OK;
}

static void print_item(const Item *item) {
    char discrimination[16] = "-";
    if (!isnan(item->discrimination)) {
        snprintf(discrimination, sizeof discrimination, "%+.2f", item->discrimination);
    }
    printf("  %-24s %2d %5.0f %% %6s", item->name, item->most,
           100.0 * item->passed / (item->asked ? item->asked : 1), discrimination);
    if (item->mistaken > 0) printf("   %s (%d)", item->mistake, item->mistaken);
    printf("\n");
}

static void print_items(const Items *items) {
    const char *exercise = "";
    printf("  %-24s %2s %7s %6s   %s\n", "case", "pt", "passed", "discr", "seen most (students)");
    for (int i = 0; i < items->n_items; i++) {
        const Item *item = &items->items[i];
        if (strcmp(item->exercise, exercise) != 0) printf("%s\n", item->exercise);
        exercise = item->exercise;
        print_item(item);
    }
    printf("\ndiscr: point-biserial correlation of passing the case with the points in everything\n"
           "else; below 0.2 a case tells little about who knows the rest, below 0 look at it.\n\n");
}

static void print_mistakes(const Items *items, int students) {
    printf("misconceptions of the class, by the share of students who showed one at least once\n");
    for (int i = 0; i < items->n_tallies && i < MOST_SHOWN; i++) {
        const Tally *tally = &items->tallies[i];
        const char *text = misconception_text(tally->name);
        printf("  %3.0f %%  %-26s %s\n", 100.0 * tally->students / students, tally->name,
               text ? text : "");
    }
    if (items->n_tallies == 0) printf("  none\n");
}

// ---- for a spreadsheet -------------------------------------------------------------------------
static Status write_csv(const Items *items, const char *folder) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%.4000s/report.csv", folder);
    WholeFile *file = whole_file_open(path);
    if (file == NULL) return error_status();
    whole_file_print(file, "exercise,case,points,students,passed,discrimination,mistake,mistaken"
                           "\r\n");
    for (int i = 0; i < items->n_items; i++) {
        const Item *item = &items->items[i];
        csv_cell(file, item->exercise);
        whole_file_print(file, ",");
        csv_cell(file, item->name);
        whole_file_print(file, ",%d,%d,%d,", item->most, item->asked, item->passed);
        if (!isnan(item->discrimination)) whole_file_print(file, "%.4f", item->discrimination);
        whole_file_print(file, ",%s,%d\r\n", item->mistake, item->mistaken);
    }
    return whole_file_close(file);
}

int command_report(const Orders *orders) {
    GradedClass class = {.count = 0};
    Items items = {.n_items = 0};
    Status status = read_results(orders->argument, &class);
    if (status == STATUS_OK) status = items_count(class.list, class.count, &items);
    if (status == STATUS_OK) status = print_points(&class);
    if (status == STATUS_OK) {
        print_items(&items);
        print_mistakes(&items, class.count);
        status = write_csv(&items, orders->argument);
    }
    for (int i = 0; i < class.count; i++) result_free(&class.results[i]);
    memory_free(class.results);
    memory_free(class.list);
    items_free(&items);
    return status == STATUS_OK ? INSTRUCTOR_DONE : instructor_fail();
}
