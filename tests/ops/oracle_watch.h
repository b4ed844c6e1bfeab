// oracle_watch.h -- an observer that compares every executed op with the oracle: values within a
// tolerance, counts exactly. One mechanism for forward, backward and optimizer steps alike.
//
//     OracleWatch watch;
//     oracle_watch_start(&watch, 1e-6, 1e-6);
//     ... run ops ...
//     oracle_watch_stop(&watch);
//     ck_assert_msg(watch.disagreements == 0, "%s", watch.report);
#ifndef TESTS_OPS_ORACLE_WATCH_H
#define TESTS_OPS_ORACLE_WATCH_H

#include "tensor/context.h"
#include "tests/ops/oracle.h"

enum { WATCH_MAX_RECORDS = 512, WATCH_MAX_DEPTH = 8, WATCH_REPORT = 4000 };

typedef struct OracleWatch {
    Observer observer; // must be first: callbacks get its address
    double absolute, relative;
    int disagreements;
    char report[WATCH_REPORT]; // the first disagreements, one line each
    // The ops that ran, in order of completion, with the costs that the engine gave them.
    struct OracleRecord {
        int op;
        Shape out;
        OpCost cost;
    } records[WATCH_MAX_RECORDS];
    int n_records;
    OracleCall open[WATCH_MAX_DEPTH]; // ops that have begun but not ended
    int depth;
} OracleWatch;

void oracle_watch_start(OracleWatch *self, double absolute, double relative);
void oracle_watch_stop(OracleWatch *self);

#endif
