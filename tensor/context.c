// context.c -- a thread's context: creation, pushing, freeing; its observers and settings.
#include "tensor/context.h"

#include <stdio.h>
#include <string.h>

#include "tensor/gemm.h"
#include "tensor/handle.h"
#include "tensor/memory.h"
#include "tensor/pool.h"
#include "tensor/shadow.h"

_Thread_local Context *context_tls;
static _Thread_local Context thread_context; // the default one; made on first use, needs no memory

enum { MAX_THREADS = 64, DEFAULT_SEED = 1 };

static void initialise(Context *context) {
    memset(context, 0, sizeof(*context));
    context->device = device_cpu();
    context->site = -1;
    context->threads = pool_default_threads();
    context->random.seed = DEFAULT_SEED;
}

Context *context_default(void) {
    if (thread_context.threads == 0) { // not used yet, or released
        blas_settle();
        initialise(&thread_context);
    }
    if (!context_tls) context_tls = &thread_context;
    return &thread_context;
}

static void finish(Context *context) {
    if (context->recorder) context->recorder->free(context->recorder);
    context->recorder = NULL;
    shadow_free(context);
    scope_free_list(context);
    handle_free_list(context);
    ledger_release(context->ledger);
    pool_free(context->pool);
    site_free_all(context);
}

Context *context_new(void) {
    Context *context = memory_new(sizeof(Context));
    if (context) initialise(context);
    return context;
}

void context_push(Context *context) {
    Context *current = context_current();
    if (!context || context == current || context->outer) {
        error_set(STATUS_STATE, "context_push: %s",
                  context ? "it is on the stack already" : "no context");
        return;
    }
    context->outer = current;
    context_tls = context;
}

void context_pop(void) {
    Context *inner = context_current();
    if (!inner->outer) return;
    context_tls = inner->outer;
    inner->outer = NULL;
    if (inner->error.status) error_set(inner->error.status, "%s", inner->error.message);
    inner->error.status = STATUS_OK;
}

static Status may_not_go(const Context *context) {
    if (context == &thread_context)
        return error_set(STATUS_STATE, "context_free: it is the thread's own. HINT: "
                                       "context_release_thread");
    for (const Context *c = context_current()->outer; c; c = c->outer)
        if (c == context)
            return error_set(STATUS_STATE, "context_free: another is pushed over it. HINT: "
                                           "context_pop first");
    return STATUS_OK;
}

void context_free(Context *context) {
    if (!context) return;
    if (may_not_go(context)) return;
    Context *before = context_current();
    if (before == context) context_pop();
    before = context_tls;
    context_tls = context; // so its handles and storages return to it
    finish(context);
    context_tls = before;
    memory_free(context);
}

void context_release_thread(void) {
    if (!context_tls) return;
    while (context_tls->outer) context_pop();
    finish(&thread_context);
    thread_context.threads = 0;
    context_tls = NULL;
}

void context_set_device(Device *device) {
    Context *context = context_current();
    if (!device) error_set(STATUS_INVALID_ARGUMENT, "context_set_device: no device");
    if (device && !context->shadows)
        context->device = device; // tensors made in a dry run have no values
}

void context_set_precision(Precision precision) {
    if ((unsigned)precision < PRECISION_COUNT)
        context_current()->precision = precision;
    else
        error_set(STATUS_INVALID_ARGUMENT, "context_set_precision: there is no precision %d",
                  (int)precision);
}

void context_set_threads(int threads) {
    Context *context = context_current();
    threads = threads < 1 ? 1 : threads > MAX_THREADS ? MAX_THREADS : threads;
    if (threads == context->threads) return;
    pool_free(context->pool);
    context->pool = NULL;
    context->threads = threads;
}

void context_seed(uint64_t seed) {
    context_current()->random = (RandomState){.seed = seed, .offset = 0};
}

void no_grad_begin(void) { context_current()->no_grad++; }
void no_grad_end(void) {
    Context *context = context_current();
    if (context->no_grad > 0) context->no_grad--;
}

static const char *const phase_names[PHASE_COUNT] = {"forward",        "backward",
                                                     "backward_input", "backward_weight",
                                                     "recompute",      "optimizer"};
const char *phase_name(Phase phase) {
    return (unsigned)phase < PHASE_COUNT ? phase_names[phase] : "?";
}

// ---- observers -------------------------------------------------------------------------------
void observer_add(Observer *observer) {
    if (!observer) return;
    Observer **end = &context_current()->observers;
    while (*end) end = &(*end)->next;
    observer->next = NULL;
    *end = observer;
}

void observer_remove(Observer *observer) {
    for (Observer **o = &context_current()->observers; *o; o = &(*o)->next) {
        if (*o != observer) continue;
        *o = observer->next;
        return;
    }
}
