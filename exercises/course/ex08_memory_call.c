// ex08_memory_call.c -- exercise 08 in the worker: a list of events, or a model on meta; and, on
// request, the function's own use of memory.
#include <string.h>

#include "exercises/course/values.h"
#include "exercises/ex08_memory.h"
#include "exercises/support/input.h"
#include "exercises/support/ledger.h"
#include "exercises/support/memory_text.h"
#include "exercises/support/remote.h"
#include "exercises/support/worker.h"

typedef struct MemoryResult {
    MemorySummary summary;
    TrainingMemory memory;
} MemoryResult;

typedef struct MemoryCall {
    const AllocationEvent *events;
    int64_t count;
    const Layer *model; // NULL: call memory_use, else training_memory
    Shape shape;
    OptimizerKind optimizer;
    MemoryResult result;
} MemoryCall;

static Status call_once(MemoryCall *call) {
    memset(&call->result, 0xaa, sizeof call->result); // POISON_INTEGER everywhere
    if (!call->model) return memory_use(call->events, call->count, &call->result.summary);
    return training_memory(call->model, call->shape, call->optimizer, &call->result.memory);
}

static void send_results(const MemoryResult *result, int64_t ask, Answer *answer) {
    const MemorySummary *summary = &result->summary;
    const TrainingMemory *memory = &result->memory;
    if (ask & MEMORY_ASK_LIVE) answer_integer(answer, summary->live);
    if (ask & MEMORY_ASK_PEAK) answer_integer(answer, summary->peak);
    if (ask & MEMORY_ASK_TOTAL) answer_integer(answer, summary->total);
    for (int k = 0; k < MEMORY_KINDS && (ask & MEMORY_ASK_AT_PEAK); k++)
        answer_integer(answer, summary->at_peak[k]);
    if (ask & MEMORY_ASK_LEAKS) answer_integer(answer, summary->leaked_blocks);
    if (ask & MEMORY_ASK_LEAKS) answer_integer(answer, summary->leaked_bytes);
    if (ask & MEMORY_ASK_PARAMETERS) answer_integer(answer, memory->parameter_bytes);
    if (ask & MEMORY_ASK_GRADIENTS) answer_integer(answer, memory->gradient_bytes);
    if (ask & MEMORY_ASK_OPTIMIZER) answer_integer(answer, memory->optimizer_bytes);
    if (ask & MEMORY_ASK_ACTIVATIONS) answer_integer(answer, memory->activation_bytes);
    if (ask & MEMORY_ASK_SUM) answer_integer(answer, memory->total_bytes);
}

// Calls the function, then again with its first memory request failing, then its second, and so on.
// A function that needs no memory is called once.
static void call_for_account(MemoryCall *call, Answer *answer) {
    enum { MOST_CALLS = 16 };
    int64_t not_freed = 0, bad_frees = 0, unnoticed = 0, requests = 0;
    Status first = STATUS_OK;
    MemoryResult right;
    answer_begin(answer);
    for (int nth = 0; nth <= requests && nth < MOST_CALLS; nth++) {
        lab_ledger_start();
        lab_ledger_fail_at(nth); // 0: no failure
        Status status = call_once(call);
        LabLedger ledger = lab_ledger_now();
        not_freed += ledger.live;
        bad_frees += ledger.bad_frees;
        if (nth == 0) {
            requests = ledger.requests;
            first = status;
            right = call->result;
        }
        bool same = status == first && (status || !memcmp(&right, &call->result, sizeof right));
        if (!same && status != STATUS_OUT_OF_MEMORY) unnoticed = 1;
    }
    lab_ledger_start();
    answer_status(answer, first == STATUS_NOT_IMPLEMENTED ? first : STATUS_OK);
    if (first == STATUS_NOT_IMPLEMENTED) return;
    answer_integer(answer, first);
    answer_integer(answer, not_freed);
    answer_integer(answer, bad_frees);
    answer_integer(answer, unnoticed);
}

static void call_and_send(MemoryCall *call, int64_t ask, Answer *answer) {
    if (ask & MEMORY_ASK_ACCOUNT) {
        call_for_account(call, answer);
        return;
    }
    lab_ledger_start();
    answer_begin(answer);
    Status status = call_once(call);
    answer_status(answer, status);
    if (!status) send_results(&call->result, ask, answer);
}

Status memory_call(const char *input, Answer *answer);
Status memory_call(const char *input, Answer *answer) {
    static AllocationEvent list[MEMORY_MOST_EVENTS + 1];
    MemoryCall call = {0};
    int64_t ask = input_integer(input, "ask", 0);
    const char *events = strstr(input, "events="), *text = strstr(input, "model=");
    if (events) {
        call.count = memory_text_read(events + strlen("events="), list, MEMORY_MOST_EVENTS);
        list[call.count] = (AllocationEvent){.id = -77777,
                                             .bytes = MEMORY_BEYOND_BYTES,
                                             .kind = MEMORY_ACTIVATION};
        call.events = call.count ? list : NULL;
        call_and_send(&call, ask, answer);
        return STATUS_OK;
    }
    Layer *model = text ? remote_model(text + strlen("model="), &call.shape) : NULL;
    if (!model) return text ? error_status() : STATUS_FORMAT;
    call.model = model;
    call.optimizer = (OptimizerKind)input_integer(input, "optimizer", 0);
    call_and_send(&call, ask, answer);
    error_clear();
    return STATUS_OK;
}
