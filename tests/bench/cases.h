// cases.h -- what is compared: each case is one workload, on the engine, by hand and in PyTorch.
#ifndef TESTS_BENCH_CASES_H
#define TESTS_BENCH_CASES_H

#include "tests/bench/hand.h"
#include "tests/bench/measure.h"
#include "tests/bench/ours.h"

enum { CASE_SIZES = 4 };

typedef struct Case {
    const char *name;                 // in the table
    const char *peer;                 // what peer.py calls it
    double goal;                      // seconds; 0: CASES_BY_HAND times by hand
    int64_t items;                    // of a run; its time is divided by this
    bool any_threads;                 // worth more than one thread
    int64_t sizes[CASE_SIZES], batch; // of a perceptron (up to the first 0); or, with batch 0,
    bool two_inputs;                  // of the matrix an op works on
    bool adam;
    void (*ours)(void *state, int64_t times);
    void (*hand_net)(HandNet *net);
    PoolTask hand_op;
} Case;

bool case_by_row(const Case *of); // is its item a row, or an element?
extern const Case cases[];
extern const int n_cases;
extern const double cases_by_hand_goal; // how much longer than by hand the engine may take

typedef struct Subject { // a case, ready to run; its address must not change
    const Case *of;
    OursNet net;
    OursOp op;
    HandNet *hand_net;
    HandArrays hand_op;
    Work ours, hand; // hand.run NULL: there is nothing to write by hand
} Subject;

// Ends the program when engine and hand disagree about the losses of the first steps.
void subject_new(Subject *subject, const Case *of);
void subject_free(Subject *subject);

#endif
