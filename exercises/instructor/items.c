// items.c -- adds up a class's results, case by case. It reads no files.
#include "exercises/instructor/instructor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tensor/memory.h"

double correlation(const double *x, const double *y, int count) {
    double mean_x = 0.0, mean_y = 0.0, xy = 0.0, xx = 0.0, yy = 0.0;
    for (int i = 0; i < count; i++) {
        mean_x += x[i] / count;
        mean_y += y[i] / count;
    }
    for (int i = 0; i < count; i++) {
        xy += (x[i] - mean_x) * (y[i] - mean_y);
        xx += (x[i] - mean_x) * (x[i] - mean_x);
        yy += (y[i] - mean_y) * (y[i] - mean_y);
    }
    const double rounding = 1e-9; // the sum for unequal whole numbers is far larger
    return xx < rounding || yy < rounding ? (double)NAN : xy / sqrt(xx * yy);
}

static const ResultCase *find_case(const Result *result, const Item *item) {
    for (int i = 0; i < result->n_cases; i++) {
        const ResultCase *one = &result->cases[i];
        if (!strcmp(one->exercise, item->exercise) && !strcmp(one->name, item->name)) return one;
    }
    return NULL;
}

static const Item *find_item(const Items *items, const ResultCase *one) {
    for (int i = 0; i < items->n_items; i++) {
        const Item *item = &items->items[i];
        if (!strcmp(one->exercise, item->exercise) && !strcmp(one->name, item->name)) return item;
    }
    return NULL;
}

static Status collect_items(const Result *const results[], int count, Items *items) {
    size_t most = 1;
    for (int i = 0; i < count; i++) most += (size_t)results[i]->n_cases;
    items->items = memory_new(most * sizeof *items->items);
    items->tallies = memory_new(most * sizeof *items->tallies);
    if (items->items == NULL || items->tallies == NULL) return error_status();
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < results[i]->n_cases; k++) {
            const ResultCase *one = &results[i]->cases[k];
            if (find_item(items, one) != NULL) continue;
            Item *item = &items->items[items->n_items++];
            memcpy(item->exercise, one->exercise, RESULT_NAME);
            memcpy(item->name, one->name, RESULT_NAME);
            item->most = one->most;
        }
    }
    return STATUS_OK;
}

static Tally *tally_of(Tally *tallies, int *count, const char *name) {
    for (int i = 0; i < *count; i++) {
        if (strcmp(tallies[i].name, name) == 0) return &tallies[i];
    }
    Tally *fresh = &tallies[(*count)++];
    *fresh = (Tally){.students = 0};
    memcpy(fresh->name, name, RESULT_NAME);
    return fresh;
}

static int by_students(const void *a, const void *b) {
    const Tally *left = a, *right = b;
    if (left->students != right->students) return right->students - left->students;
    return strcmp(left->name, right->name);
}

// Counts each misconception once per student, however often it shows.
static void count_mistakes(const Result *result, Items *items) {
    for (int i = 0; i < result->n_cases; i++) {
        const char *name = result->cases[i].mistake;
        bool seen = name[0] == '\0';
        for (int k = 0; k < i && !seen; k++) seen = strcmp(result->cases[k].mistake, name) == 0;
        if (!seen) tally_of(items->tallies, &items->n_tallies, name)->students++;
    }
}

bool case_is_unrecognised(const ResultCase *one) {
    return one->state == CASE_WRONG && one->mistake[0] == '\0';
}

typedef struct ItemRoom { // arrays with an entry for each student
    double *passed, *rest;
    Tally *tallies;
} ItemRoom;

static void count_item(const Result *const results[], int count, const ItemRoom *room, Item *item) {
    int n_tallies = 0;
    for (int i = 0; i < count; i++) {
        const ResultCase *one = find_case(results[i], item);
        if (one == NULL) continue;
        bool passed = one->state == CASE_PASSED;
        room->passed[item->asked] = passed ? 1.0 : 0.0;
        room->rest[item->asked++] =
            (double)(results[i]->points + results[i]->stretch_points - one->points);
        item->passed += passed;
        item->unrecognised += case_is_unrecognised(one);
        if (one->mistake[0] != '\0') tally_of(room->tallies, &n_tallies, one->mistake)->students++;
    }
    item->discrimination = correlation(room->passed, room->rest, item->asked);
    if (n_tallies == 0) return;
    qsort(room->tallies, (size_t)n_tallies, sizeof *room->tallies, by_students);
    memcpy(item->mistake, room->tallies[0].name, RESULT_NAME);
    item->mistaken = room->tallies[0].students;
}

Status items_count(const Result *const results[], int count, Items *items) {
    *items = (Items){.n_items = 0};
    size_t students = (size_t)count + 1;
    ItemRoom room = {memory_new(students * sizeof(double)), memory_new(students * sizeof(double)),
                     memory_new(students * sizeof(Tally))};
    bool fits = room.passed != NULL && room.rest != NULL && room.tallies != NULL;
    Status status = fits ? collect_items(results, count, items) : error_status();
    for (int i = 0; status == STATUS_OK && i < items->n_items; i++) {
        count_item(results, count, &room, &items->items[i]);
    }
    for (int i = 0; status == STATUS_OK && i < count; i++) count_mistakes(results[i], items);
    if (items->n_tallies > 0) {
        qsort(items->tallies, (size_t)items->n_tallies, sizeof *items->tallies, by_students);
    }
    memory_free(room.passed);
    memory_free(room.rest);
    memory_free(room.tallies);
    return status;
}

void items_free(Items *items) {
    memory_free(items->items);
    memory_free(items->tallies);
    *items = (Items){.n_items = 0};
}
