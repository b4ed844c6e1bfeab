// ex06_measure_latency_call.c -- exercise 06 in the worker: work and clock are the grader's,
// allocations are on the ledger.
#include "exercises/course/values.h"
#include "exercises/ex06_measure_latency.h"
#include "exercises/support/input.h"
#include "exercises/support/ledger.h"
#include "exercises/support/remote.h"
#include "exercises/support/worker.h"

typedef struct WatchedWork {
    int64_t warmup, runs;
    int64_t before_first, before_last; // memory requests before the first sample, before the last
    int64_t without;                   // 1: the work was called without its argument
} WatchedWork;

static WatchedWork watched;

static void run(void *argument) {
    int64_t requests = lab_ledger_now().requests;
    if (argument != &watched) watched.without = 1;
    if (watched.runs <= watched.warmup) watched.before_first = requests;
    watched.before_last = requests;
    watched.runs++;
    remote_work(argument);
}

static Status call_once(LatencyOptions options, LatencyResult *result) {
    watched = (WatchedWork){.warmup = options.warmup};
    *result = (LatencyResult){POISON_INTEGER, POISON_REAL, POISON_REAL, POISON_REAL,
                              POISON_REAL,    POISON_REAL, POISON_REAL};
    return measure_latency(run, &watched, options, result);
}

static void send(Answer *answer, int64_t ask, const LatencyResult *result) {
    if (ask & LATENCY_ASK_N) answer_integer(answer, result->n);
    if (ask & LATENCY_ASK_N) answer_integer(answer, watched.without);
    if (ask & LATENCY_ASK_MEDIAN) answer_real(answer, result->median);
    if (ask & LATENCY_ASK_MEAN) answer_real(answer, result->mean);
    if (ask & LATENCY_ASK_MIN_MAX) answer_real(answer, result->min);
    if (ask & LATENCY_ASK_MIN_MAX) answer_real(answer, result->max);
    if (ask & LATENCY_ASK_IQR) answer_real(answer, result->iqr);
    if (ask & LATENCY_ASK_P95) answer_real(answer, result->p95);
}

// Calls the function, then again with its first memory request failing, then its second, and so on.
// A function that needs no memory, or that allocates between samples, is called once.
static void call_for_account(LatencyOptions options, Answer *answer) {
    enum { MOST_CALLS = 16 };
    int64_t allocates = 0, not_freed = 0, bad_frees = 0, unnoticed = 0, requests = 0;
    Status first = STATUS_OK;
    answer_begin(answer);
    for (int nth = 0; nth <= requests && nth < MOST_CALLS && !first && !allocates; nth++) {
        LatencyResult result;
        lab_ledger_start();
        lab_ledger_fail_at(nth); // 0: no failure
        Status status = call_once(options, &result);
        LabLedger ledger = lab_ledger_now();
        not_freed += ledger.live;
        bad_frees += ledger.bad_frees;
        if (nth > 0) {
            if (status != STATUS_OUT_OF_MEMORY) unnoticed = 1;
            continue;
        }
        first = status;
        requests = ledger.requests;
        allocates = watched.before_last > watched.before_first;
    }
    lab_ledger_start();
    answer_status(answer, first);
    if (first) return;
    answer_integer(answer, allocates);
    answer_integer(answer, not_freed);
    answer_integer(answer, bad_frees);
    answer_integer(answer, unnoticed);
}

Status measure_latency_call(const char *input, Answer *answer);
Status measure_latency_call(const char *input, Answer *answer) {
    LatencyOptions options = {input_integer(input, "warmup", 0),
                              input_integer(input, "iterations", 0)};
    int64_t ask = input_integer(input, "ask", 0);
    if (ask & LATENCY_ASK_ACCOUNT) {
        call_for_account(options, answer);
        return STATUS_OK;
    }
    LatencyResult result;
    lab_ledger_start();
    answer_begin(answer);
    Status status = call_once(options, &result);
    answer_status(answer, status);
    if (!status) send(answer, ask, &result);
    lab_ledger_start();
    return STATUS_OK;
}
