// ex01_count_parameters_call.c -- exercise 01 in the worker. Input: "twice=1 account=1 fail=2",
// each optional, and "model=" with a model text at the end.
#include <string.h>

#include "exercises/course/values.h"
#include "exercises/ex01_count_parameters.h"
#include "exercises/support/input.h"
#include "exercises/support/ledger.h"
#include "exercises/support/remote.h"
#include "exercises/support/worker.h"

static int64_t given_back(void) {
    LabLedger ledger = lab_ledger_now();
    if (ledger.bad_frees > 0) return GAVE_MORE;
    return ledger.live > 0 ? GAVE_NOT_ALL : GAVE_ALL;
}

// Answers after the last call, because a function may read a clock or print each time.
static void call(const Layer *model, const char *input, Answer *answer) {
    int64_t count = POISON_INTEGER, again = POISON_INTEGER;
    bool account = input_integer(input, "account", 0) != 0;
    bool twice = input_integer(input, "twice", 0) != 0;
    answer_begin(answer);
    Status status = count_parameters(model, &count);
    int64_t given = given_back();
    if (!status && twice && count_parameters(model, &again)) again = POISON_INTEGER;
    answer_status(answer, status);
    if (status) return;
    answer_integer(answer, count);
    if (account) answer_integer(answer, given);
    if (twice) answer_integer(answer, again);
}

// Makes memory request number `fail` return NULL. A function need not report this if it makes fewer
// requests, or if it gets the same count without that memory.
static void call_without_memory(const Layer *model, int64_t fail, Answer *answer) {
    int64_t count = POISON_INTEGER, before = POISON_INTEGER, told = TOLD;
    answer_begin(answer);
    bool counted = count_parameters(model, &before) == STATUS_OK;
    lab_ledger_start();
    lab_ledger_fail_at(fail);
    Status status = count_parameters(model, &count);
    bool refused = lab_ledger_now().requests >= fail;
    lab_ledger_fail_at(0);
    if (refused && status == STATUS_OK && !(counted && count == before)) told = TOLD_OK;
    if (refused && status && status != STATUS_OUT_OF_MEMORY) told = TOLD_OTHERWISE;
    if (refused && status != STATUS_NOT_IMPLEMENTED) status = STATUS_OK;
    answer_status(answer, status);
    if (status) return;
    answer_integer(answer, told);
    answer_integer(answer, given_back());
}

Status count_parameters_call(const char *input, Answer *answer);
Status count_parameters_call(const char *input, Answer *answer) {
    Shape shape;
    const char *text = strstr(input, "model=");
    int64_t fail = input_integer(input, "fail", 0);
    if (!text) return error_set(STATUS_FORMAT, "exercise 01: no model. HINT: model=... at the end");
    Layer *model = remote_model(text + strlen("model="), &shape);
    if (!model) return error_status();
    if (input_integer(input, "account", 0)) lab_ledger_start();
    if (fail)
        call_without_memory(model, fail, answer);
    else
        call(model, input, answer);
    return STATUS_OK;
}
