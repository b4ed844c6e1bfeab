// context.c -- the thread's context: made, pushed, freed; its sites, observers and settings.
#include "tensor/context.h"

#include <stdio.h>
#include <string.h>

#include "tensor/gemm.h"
#include "tensor/handle.h"
#include "tensor/memory.h"
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
    blas_settle();
    initialise(&thread_context);
    context_tls = &thread_context;
    return context_tls;
}

static void finish(Context *context) {
    if (context->recorder) context->recorder->free(context->recorder);
    context->recorder = NULL;
    shadow_free(context);
    scope_free_list(context);
    handle_free_list(context);
    ledger_release(context->ledger);
    pool_free(context->pool);
    for (int i = 0; i < context->n_sites; i++) {
        memory_free(context->sites[i].name);
        memory_free(context->sites[i].type);
    }
    memory_free(context->sites);
}

Context *context_new(void) {
    Context *context = memory_new(sizeof(Context));
    if (context) initialise(context);
    return context;
}

void context_push(Context *context) {
    context->outer = context_current();
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

void context_free(Context *context) {
    if (!context) return;
    Context *before = context_current();
    if (before == context) context_pop();
    before = context_tls;
    context_tls = context; // so that its handles and storages go back where they came from
    finish(context);
    context_tls = before;
    memory_free(context);
}

void context_release_thread(void) {
    if (!context_tls) return;
    while (context_tls->outer) context_pop();
    finish(&thread_context);
    context_tls = NULL;
}

void context_set_device(Device *device) { context_current()->device = device; }

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

static const char *const phase_names[PHASE_COUNT] = {"forward", "backward", "backward_input",
                                                     "backward_weight", "optimizer"};
const char *phase_name(Phase phase) {
    return (unsigned)phase < PHASE_COUNT ? phase_names[phase] : "?";
}

// ---- observers -------------------------------------------------------------------------------
void observer_add(Observer *observer) {
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

// ---- call sites ------------------------------------------------------------------------------
static int site_add(Context *context, const void *owner, const char *name, const char *type) {
    if (context->n_sites == context->site_capacity) {
        int capacity = context->site_capacity ? 2 * context->site_capacity : 32;
        Site *grown = memory_resize(context->sites, (size_t)context->n_sites * sizeof(Site),
                                    (size_t)capacity * sizeof(Site));
        if (!grown) return -1;
        context->sites = grown;
        context->site_capacity = capacity;
    }
    Site site = {.parent = context->site, .owner = owner};
    site.name = memory_copy_string(name);
    site.type = site.name ? memory_copy_string(type) : NULL;
    if (!site.type) {
        memory_free(site.name);
        return -1;
    }
    context->sites[context->n_sites] = site;
    return context->n_sites++;
}

static bool same_site(const Context *context, int index, const void *owner, const char *name,
                      const char *type) {
    const Site *site = &context->sites[index];
    return site->owner == owner && site->parent == context->site && strcmp(site->name, name) == 0 &&
           strcmp(site->type, type) == 0;
}

// Layers run in the order in which they were first seen, so the search starts after the last hit:
// in a steady step it succeeds at once.
int site_enter(const void *owner, const char *name, const char *type) {
    Context *context = context_current();
    int previous = context->site, found = -1;
    for (int k = 0; k < context->n_sites && found < 0; k++) {
        int index = context->site_cursor + k;
        if (index >= context->n_sites) index -= context->n_sites;
        if (same_site(context, index, owner, name, type)) found = index;
    }
    if (found < 0) found = site_add(context, owner, name, type);
    if (found < 0) return previous; // out of memory, pending: the work runs unattributed
    context->site_cursor = found + 1 < context->n_sites ? found + 1 : 0;
    context->site = found;
    for (Observer *o = context->observers; o; o = o->next)
        if (o->site_begin) o->site_begin(o, found);
    return previous;
}

void site_leave(int previous) {
    Context *context = context_current();
    if (context->site == previous) return; // entering failed: nothing was announced
    for (Observer *o = context->observers; o; o = o->next)
        if (o->site_end) o->site_end(o, context->site);
    context->site = previous;
}

char *site_path(const Context *context, int site, char *text, size_t size) {
    if (site < 0 || site >= context->n_sites) {
        snprintf(text, size, "(model)");
        return text;
    }
    int chain[64], depth = 0;
    for (int s = site; s >= 0 && depth < 64; s = context->sites[s].parent) chain[depth++] = s;
    size_t used = 0;
    text[0] = '\0';
    while (depth > 0 && used + 1 < size) {
        const char *name = context->sites[chain[--depth]].name;
        if (!name[0]) continue; // the root layer has no name of its own
        int n = snprintf(text + used, size - used, "%s%s", used ? "." : "", name);
        used += n > 0 ? (size_t)n : 0;
    }
    if (!text[0]) snprintf(text, size, "(model)");
    return text;
}
