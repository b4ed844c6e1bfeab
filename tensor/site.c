// site.c -- call sites: the running layer's place in the model, and its name.
#include <stdio.h>
#include <string.h>

#include "tensor/context.h"
#include "tensor/given.h"
#include "tensor/handle.h"
#include "tensor/memory.h"

// ---- lookup by owner, or without one by name ---------------------------------------------------
static int *chain_of(const Context *context, uint64_t owner, const char *name) {
    uint64_t hash = owner;
    for (; owner == 0 && *name; name++) hash = 31 * hash + (uint8_t)*name;
    hash = hash * UINT64_C(0x9e3779b97f4a7c15) >> 32;
    return &context->site_chains[hash % (uint64_t)context->site_capacity];
}

static void chain(Context *context, int index) {
    Site *site = &context->sites[index];
    int *first = chain_of(context, site->owner, site->name);
    site->next = *first;
    *first = index;
}

static void unchain(Context *context, int index) {
    const Site *site = &context->sites[index];
    int *at = chain_of(context, site->owner, site->name);
    while (*at != index) at = &context->sites[*at].next;
    *at = site->next;
}

// ---- creation and removal ----------------------------------------------------------------------
static void clear(Site *site) {
    memory_free(site->name);
    memory_free(site->type);
    site->name = site->type = NULL;
}

// Whether a path of an inner site, live memory or a graph still names the site.
static bool is_named(const Context *context, int site) {
    if (context->sites[site].inside > 0) return true;
    const Storage *s = context->ledger ? context->ledger->first_live : NULL;
    while (s && s->site != site) s = s->next;
    const Recorder *recorder = context->recorder;
    return s || (recorder && recorder->names_site(recorder, site));
}

static bool grow(Context *context) {
    int before = context->site_capacity, capacity = before ? 2 * before : 32;
    int *chains = memory_new((size_t)capacity * sizeof *chains);
    Site *grown = chains ? memory_resize(context->sites, (size_t)before * sizeof(Site),
                                         (size_t)capacity * sizeof(Site))
                         : NULL;
    if (!grown) {
        memory_free(chains);
        return false;
    }
    memory_free(context->site_chains);
    context->sites = grown;
    context->site_chains = chains;
    context->site_capacity = capacity;
    for (int i = 0; i < capacity; i++) chains[i] = -1;
    for (int i = 0; i < context->n_sites; i++) chain(context, i);
    return true;
}

// A place for one more site: reuses that of a dead site that nothing names and no reader needs.
static int place(Context *context) {
    bool all = context->site_readers != NULL; // dead sites are kept for readers
    for (int i = 0; context->n_dead_sites > 0 && !all && i < context->n_sites; i++) {
        if (!context->sites[i].dead || is_named(context, i)) continue;
        unchain(context, i);
        clear(&context->sites[i]);
        if (context->sites[i].parent >= 0) context->sites[context->sites[i].parent].inside--;
        context->n_dead_sites--;
        return i;
    }
    if (context->n_sites == context->site_capacity && !grow(context)) return -1;
    return context->n_sites++;
}

static int site_add(Context *context, uint64_t owner, const char *name, const char *type) {
    Site site = {.parent = context->site, .owner = owner};
    site.name = memory_copy_string(name);
    site.type = site.name ? memory_copy_string(type) : NULL;
    int at = site.type ? place(context) : -1;
    if (at < 0) {
        clear(&site);
        return -1;
    }
    context->sites[at] = site;
    chain(context, at);
    if (site.parent >= 0) context->sites[site.parent].inside++;
    return at;
}

static void kill(Context *context, int index) {
    context->sites[index].dead = true;
    context->n_dead_sites++;
}

// Sites inside a layer go with it: no code will enter them again.
void site_forget(uint64_t owner) {
    Context *context = context_tls;
    bool more = false;
    if (!context || context->n_sites == 0 || owner == 0) return;
    for (int i = *chain_of(context, owner, NULL); i >= 0; i = context->sites[i].next) {
        if (context->sites[i].dead || context->sites[i].owner != owner) continue;
        kill(context, i);
        more = more || context->sites[i].inside > 0;
    }
    while (more) {
        more = false;
        for (int i = 0; i < context->n_sites; i++) {
            int parent = context->sites[i].parent;
            if (context->sites[i].dead || parent < 0 || !context->sites[parent].dead) continue;
            kill(context, i);
            more = more || context->sites[i].inside > 0;
        }
    }
}

void site_reader_add(SiteReader *reader) {
    if (!GIVEN(reader)) return;
    site_reader_remove(reader);
    reader->context = context_current();
    reader->next = reader->context->site_readers;
    reader->context->site_readers = reader;
}

void site_reader_remove(SiteReader *reader) {
    if (!GIVEN(reader)) return;
    if (!reader->context) return;
    SiteReader **at = &reader->context->site_readers;
    while (*at != reader) at = &(*at)->next;
    *at = reader->next;
    reader->context = NULL;
}

void site_free_all(Context *context) {
    while (context->site_readers) site_reader_remove(context->site_readers);
    for (int i = 0; i < context->n_sites; i++) clear(&context->sites[i]);
    memory_free(context->sites);
    memory_free(context->site_chains);
}

// ---- entering and leaving ----------------------------------------------------------------------
static bool same_site(const Context *context, int index, uint64_t owner, const char *name,
                      const char *type) {
    const Site *site = &context->sites[index];
    return site->owner == owner && site->parent == context->site && !site->dead &&
           strcmp(site->name, name) == 0 && strcmp(site->type, type) == 0;
}

// Layers run in the order in which they were first seen, so the site after the last hit is tried
// first; in a steady training step it always matches.
int site_enter(uint64_t owner, const char *name, const char *type) {
    Context *context = context_current();
    int previous = context->site, found = -1;
    if (!GIVEN(name) || !GIVEN(type)) return previous;
    int next = context->site_cursor;
    if (next < context->n_sites && same_site(context, next, owner, name, type)) found = next;
    int i = found < 0 && context->n_sites > 0 ? *chain_of(context, owner, name) : -1;
    for (; i >= 0 && found < 0; i = context->sites[i].next)
        if (same_site(context, i, owner, name, type)) found = i;
    if (found < 0) found = site_add(context, owner, name, type);
    if (found < 0) return previous; // out of memory is pending: the work runs unattributed
    context->site_cursor = found + 1 < context->n_sites ? found + 1 : 0;
    context->site = found;
    for (Observer *o = context->observers; o; o = o->next)
        if (o->site_begin) o->site_begin(o, found);
    return previous;
}

void site_leave(int previous) {
    Context *context = context_current();
    if (context->site == previous) return; // site_enter failed and announced nothing
    for (Observer *o = context->observers; o; o = o->next)
        if (o->site_end) o->site_end(o, context->site);
    context->site = previous;
}

char *site_path(const Context *context, int site, char *text, size_t size) {
    if (!text || size == 0) return text;
    if (!context || site < 0 || site >= context->n_sites) {
        snprintf(text, size, "(model)");
        return text;
    }
    int depth = 0;
    for (int s = site; s >= 0; s = context->sites[s].parent) depth++;
    size_t used = 0;
    text[0] = '\0';
    while (depth-- > 0 && used + 1 < size) {
        int at = site;
        for (int up = 0; up < depth; up++) at = context->sites[at].parent;
        const char *name = context->sites[at].name;
        if (!name[0]) continue; // the root layer has no name
        int n = snprintf(text + used, size - used, "%s%s", used ? "." : "", name);
        used += n > 0 ? (size_t)n : 0;
    }
    if (!text[0]) snprintf(text, size, "(model)");
    return text;
}
