// items.h -- what the results of a class say about its cases: how many passed each, and whether who
// passed it did better in the rest (classical test theory).
#ifndef EXERCISES_INSTRUCTOR_ITEMS_H
#define EXERCISES_INSTRUCTOR_ITEMS_H

#include "exercises/lab/result.h"

typedef struct Item { // a case
    char exercise[RESULT_NAME], name[RESULT_NAME];
    int most;                  // points
    int asked, passed;         // students
    char mistake[RESULT_NAME]; // the misconception seen most in it, "": none
    int mistaken;              // students who had that one
    // Point-biserial correlation of passing with the points in everything else; NaN where it is not
    // defined: all passed, none did, or the rest is the same for all.
    double discrimination;
} Item;

typedef struct Tally { // a misconception
    char name[RESULT_NAME];
    int students; // who had it in at least one case
} Tally;

typedef struct Items {
    Item *items; // owned, in the order of the first result that has them
    int n_items;
    Tally *tallies; // owned, most frequent first
    int n_tallies;
} Items;

// STATUS_OUT_OF_MEMORY. *items is the caller's; items_free, also after a failure.
Status items_count(const Result *const results[], int count, Items *items);
void items_free(Items *items);

// sum((x - mean x)(y - mean y)) / sqrt(sum((x - mean x)^2) * sum((y - mean y)^2)); NaN for
// constants.
double correlation(const double *x, const double *y, int count);

#endif
