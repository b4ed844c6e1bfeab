// format_autolab.c -- a table for people, and the scores in the last line.
#include <string.h>

#include "exercises/lab/formats.h"

typedef struct Sum { // of the cases of one exercise, which follow each other
    const char *exercise;
    int cases, passed, points, most;
} Sum;

static Sum sum_from(const Result *result, int first) {
    Sum sum = {.exercise = result->cases[first].exercise};
    for (int i = first; i < result->n_cases; i++) {
        const ResultCase *of_case = &result->cases[i];
        if (strcmp(of_case->exercise, sum.exercise) != 0) break;
        sum.cases++;
        sum.passed += of_case->state == CASE_PASSED;
        sum.points += of_case->points;
        sum.most += of_case->most;
    }
    return sum;
}

// "02_count_flops": letters and digits of our own names, and no colon.
static void put_key(WholeFile *file, const char *exercise) {
    for (const char *c = exercise; *c; c++) {
        bool plain =
            (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9');
        whole_file_print(file, "%c", plain ? *c : '_');
    }
}

void format_autolab(const Result *result, WholeFile *file) {
    for (int i = 0; i < result->n_cases;) {
        Sum sum = sum_from(result, i);
        whole_file_print(file, "%-28s %3d/%-3d  %d of %d cases\n", sum.exercise, sum.points,
                         sum.most, sum.passed, sum.cases);
        i += sum.cases;
    }
    whole_file_print(file, "{\"scores\": {");
    for (int i = 0; i < result->n_cases;) {
        Sum sum = sum_from(result, i);
        whole_file_print(file, "%s\"", i > 0 ? ", " : "");
        put_key(file, sum.exercise);
        whole_file_print(file, "\": %d", sum.points);
        i += sum.cases;
    }
    whole_file_print(file, "}}\n");
}
