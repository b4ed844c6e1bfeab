// report.c -- reports on a graded class: the results of each case, the frequent misconceptions, and
// the mistakes without a name; also as a table for a spreadsheet.
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exercises/instructor/instructor.h"
#include "exercises/lab/formats.h"
#include "exercises/lab/pages.h"
#include "layers/files/whole_file.h"
#include "profiler/base/escape.h"
#include "tensor/memory.h"

enum { MOST_SHOWN = 10 };

typedef char FolderName[CLASS_NAME];
typedef struct GradedClass {
    Result *results; // owned
    const Result **list;
    FolderName *folders; // owned: folder of each result
    int count;
} GradedClass;

// ---- reading -----------------------------------------------------------------------------------
static bool has_result(const char *folder, const char *name, char path[PATH_MAX]) {
    int length = snprintf(path, PATH_MAX, "%s/%s/result.json", folder, name);
    bool there = name[0] != '.' && length < PATH_MAX && access(path, R_OK) == 0;
    snprintf(path, PATH_MAX, "%.3800s/%.255s", folder, name);
    return there;
}

static Status read_entry(const char *path, const char *name, GradedClass *class) {
    if (class->count == CLASS_MOST) {
        return error_set(STATUS_FORMAT, "more than %d results. HINT: move some away", CLASS_MOST);
    }
    snprintf(class->folders[class->count], CLASS_NAME, "%.63s", name);
    return result_read(path, &class->results[class->count++]);
}

static Status read_results(const char *folder, GradedClass *class) {
    class->results = memory_new(CLASS_MOST * sizeof *class->results);
    class->list = memory_new(CLASS_MOST * sizeof *class->list);
    class->folders = memory_new(CLASS_MOST * sizeof *class->folders);
    if (!class->results || !class->list || !class->folders) return error_status();
    struct dirent **entries = NULL; // from scandir, in the system's memory
    int count = scandir(folder, &entries, NULL, alphasort);
    if (count < 0) {
        return error_set(STATUS_IO, "%.300s: %s. HINT: the folder that make grade-all wrote",
                         folder, strerror(errno));
    }
    Status status = STATUS_OK;
    for (int i = 0; i < count; i++) {
        char path[PATH_MAX];
        if (status == STATUS_OK && has_result(folder, entries[i]->d_name, path))
            status = read_entry(path, entries[i]->d_name, class);
        free(entries[i]);
    }
    free(entries);
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
        const char *text = pages_told(tally->name);
        printf("  %3.0f %%  %-26s %s\n", 100.0 * tally->students / students, tally->name,
               text ? text : "");
    }
    if (items->n_tallies == 0) printf("  none\n");
}

// ---- mistakes that nobody has named yet --------------------------------------------------------
static const ExerciseCase *find_definition(const Exercise *exercise, const char *name) {
    for (int i = 0; exercise && i < exercise->n_cases; i++) {
        if (strcmp(exercise->cases[i].name, name) == 0) return &exercise->cases[i];
    }
    return NULL;
}

// Writes the name of the file that contains the answer.
static void file_of(const Item *item, char name[STAGE_NAME]) {
    char number[16];
    int length = (int)strcspn(item->exercise, " ");
    snprintf(number, sizeof number, "%.*s", length < 15 ? length : 15, item->exercise);
    const Exercise *exercise = exercise_by_number(number);
    const ExerciseCase *definition = find_definition(exercise, item->name);
    if (exercise && exercise->answers)
        snprintf(name, STAGE_NAME, "%s", exercise->answers);
    else if (definition && definition->by_hand)
        snprintf(name, STAGE_NAME, "by_hand.txt");
    else
        snprintf(name, STAGE_NAME, "ex%s_%.50s.c", number, exercise ? exercise->name : "");
}

static void print_files(const GradedClass *class, const Item *item) {
    char name[STAGE_NAME];
    int shown = 0;
    file_of(item, name);
    printf("  %s %s (%d): %s of", item->exercise, item->name, item->unrecognised, name);
    for (int i = 0; i < class->count && shown < MOST_SHOWN; i++) {
        const Result *result = &class->results[i];
        for (int k = 0; k < result->n_cases; k++) {
            const ResultCase *one = &result->cases[k];
            bool same = !strcmp(one->name, item->name) && !strcmp(one->exercise, item->exercise);
            if (!same || !case_is_unrecognised(one)) continue;
            printf("%s %s", shown > 0 ? "," : "", class->folders[i]);
            shown++;
        }
    }
    printf("%s\n", shown < item->unrecognised ? ", ..." : "");
}

static int by_unrecognised(const void *a, const void *b) {
    const Item *const *left = a, *const *right = b;
    return (*right)->unrecognised - (*left)->unrecognised;
}

static Status print_unrecognised(const GradedClass *class, const Items *items) {
    int wrong = 0, unrecognised = 0;
    for (int i = 0; i < class->count; i++) {
        for (int k = 0; k < class->results[i].n_cases; k++) {
            const ResultCase *one = &class->results[i].cases[k];
            wrong += one->state == CASE_WRONG;
            unrecognised += case_is_unrecognised(one);
        }
    }
    printf("\nwrong values that no known mistake explains: %d of %d (%.0f %%)\n", unrecognised,
           wrong, wrong ? 100.0 * unrecognised / wrong : 0.0);
    const Item **order = memory_new(((size_t)items->n_items + 1) * sizeof *order);
    if (order == NULL) return error_status();
    for (int i = 0; i < items->n_items; i++) order[i] = &items->items[i];
    qsort(order, (size_t)items->n_items, sizeof *order, by_unrecognised);
    for (int i = 0; i < items->n_items && i < MOST_SHOWN; i++) {
        if (order[i]->unrecognised > 0) print_files(class, order[i]);
    }
    memory_free(order);
    return STATUS_OK;
}

// ---- for a spreadsheet -------------------------------------------------------------------------
static Status write_csv(const Items *items, const char *folder) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%.4000s/report.csv", folder);
    WholeFile *file = whole_file_open(path);
    if (file == NULL) return error_status();
    whole_file_print(file, "exercise,case,points,students,passed,discrimination,mistake,mistaken,"
                           "unrecognised\r\n");
    for (int i = 0; i < items->n_items; i++) {
        const Item *item = &items->items[i];
        escape_csv(file, item->exercise);
        whole_file_print(file, ",");
        escape_csv(file, item->name);
        whole_file_print(file, ",%d,%d,%d,", item->most, item->asked, item->passed);
        if (!isnan(item->discrimination)) whole_file_print(file, "%.4f", item->discrimination);
        whole_file_print(file, ",%s,%d,%d\r\n", item->mistake, item->mistaken, item->unrecognised);
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
        status = print_unrecognised(&class, &items);
    }
    if (status == STATUS_OK) status = write_csv(&items, orders->argument);
    for (int i = 0; i < class.count; i++) result_free(&class.results[i]);
    memory_free(class.results);
    memory_free(class.list);
    memory_free(class.folders);
    items_free(&items);
    return status == STATUS_OK ? INSTRUCTOR_DONE : instructor_fail();
}
