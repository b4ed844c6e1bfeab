// cases.h -- the compared workloads: each case runs on the engine, by hand and in PyTorch.
#ifndef TESTS_BENCH_CASES_H
#define TESTS_BENCH_CASES_H

#include "tests/bench/hand.h"
#include "tests/bench/measure.h"
#include "tests/bench/ours.h"

enum { CASE_SIZES = 4 };

typedef struct Case {
    const char *name;                 // name in the table
    const char *peer;                 // name in peer.py
    double goal;                      // seconds; 0: CASES_BY_HAND times by hand
    int64_t items;                    // items per run; its time is divided by this
    bool any_threads;                 // worth more than one thread
    int64_t sizes[CASE_SIZES], batch; // sizes of a perceptron (up to a 0); or, with batch 0,
    bool two_inputs;                  // of the matrix that an op works on
    bool adam;
    void (*ours)(void *state, int64_t times);
    void (*hand_net)(HandNet *net);
    PoolTask hand_op;
} Case;

bool case_by_row(const Case *of); // true if its items are rows, not elements
extern const Case cases[];
extern const int n_cases;
extern const double cases_by_hand_goal; // how many times as long as by hand the engine may take

typedef struct Subject { // a case, ready to run; its address must not change
    const Case *of;
    OursNet net;
    OursOp op;
    HandNet *hand_net;
    HandArrays hand_op;
    Work ours, hand; // hand.run NULL: nothing to write by hand
} Subject;

// Ends the program if engine and hand disagree on the losses of the first steps.
void subject_new(Subject *subject, const Case *of);
void subject_free(Subject *subject);

#endif
