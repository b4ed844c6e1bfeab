// ex06_measure_latency_call.c -- exercise 06 in the worker: work on the virtual clock, allocations
// on the ledger.
#include "exercises/course/ex06_values.h"
#include "exercises/ex06_measure_latency.h"
#include "exercises/grader/worker.h"
#include "exercises/support/ledger.h"
#include "exercises/support/virtual_work.h"

typedef struct WatchedWork {
    VirtualWork work;
    int64_t warmup;
    int64_t before_first, before_last; // requests for memory, before these samples
} WatchedWork;

static void run(void *argument) {
    WatchedWork *watched = argument;
    int64_t requests = lab_ledger_now().requests;
    if (watched->work.runs <= watched->warmup) watched->before_first = requests;
    watched->before_last = requests;
    virtual_work_run(&watched->work);
}

static void send(Answer *answer, int64_t ask, const LatencyResult *result,
                 const WatchedWork *watched) {
    const struct {
        LatencyValue value;
        double real;
    } reals[] = {
        {ASK_MEDIAN, result->median}, {ASK_MEAN, result->mean}, {ASK_MIN, result->min},
        {ASK_MAX, result->max},       {ASK_IQR, result->iqr},   {ASK_P95, result->p95},
    };
    if (ask & ASK_N) answer_integer(answer, result->n);
    if (ask & ASK_CALLS) answer_integer(answer, watched->work.runs);
    for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++)
        if (ask & reals[i].value) answer_real(answer, reals[i].real);
    if (ask & ASK_ALLOCATES) answer_integer(answer, watched->before_last > watched->before_first);
    if (ask & ASK_LEAKS) answer_integer(answer, lab_ledger_now().live);
}

Status measure_latency_call(const char *input, Answer *answer);
Status measure_latency_call(const char *input, Answer *answer) {
    LatencyOptions options = {input_integer(input, "warmup", 0),
                              input_integer(input, "iterations", 0)};
    WatchedWork watched = {.work = virtual_work_read(input), .warmup = options.warmup};
    LatencyResult result = {POISON_INTEGER, POISON_REAL, POISON_REAL, POISON_REAL,
                            POISON_REAL,    POISON_REAL, POISON_REAL};
    virtual_clock_start(virtual_clock_read(input));
    lab_ledger_start();
    answer_begin(answer);
    Status status = measure_latency(run, &watched, options, &result);
    answer_status(answer, status);
    if (!status) send(answer, input_integer(input, "ask", 0), &result, &watched);
    lab_ledger_start();
    return STATUS_OK;
}
