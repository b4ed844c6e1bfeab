// context.h -- the state that a thread works in: default device, open scopes, tape, phase, layer
// stack, observers, ledger, random state, thread pool, pending error.
//
// Threads: each thread has its own context from its first call on, and gives it back with
// context_release_thread. Objects stay in the context that made them: nothing in a context, or in
// its objects, is atomic or locked. A context from context_new may move between threads, current in
// one at a time. After fork() the child continues with its copy, whose pool starts new threads.
#ifndef TENSOR_CONTEXT_H
#define TENSOR_CONTEXT_H

#include "tensor/op.h"
#include "tensor/random.h"

RIDGEPOINT_API_BEGIN

typedef enum Phase {
    PHASE_FORWARD,
    PHASE_BACKWARD,        // accumulation, broadcasting reductions, the seed
    PHASE_BACKWARD_INPUT,  // gradients of activations
    PHASE_BACKWARD_WEIGHT, // gradients of parameters
    PHASE_RECOMPUTE,       // forward ops run again by backward, as their results were not kept
    PHASE_OPTIMIZER,
    PHASE_COUNT
} Phase;
const char *phase_name(Phase phase); // "backward_weight"

// A watcher of events. Every slot may be NULL. Observers are called in the order added; they must
// not run ops. Only dispatch, layer_forward, storage and the tape call them.
typedef struct Observer {
    void (*op_begin)(struct Observer *self, const OpCall *call); // inputs known, outputs not yet
    void (*op_end)(struct Observer *self, const OpCall *call);   // a failure has its error pending
    void (*storage)(struct Observer *self, const Storage *storage, int64_t delta); // +/- bytes
    void (*saved)(struct Observer *self, const Storage *storage,
                  int site); // first save of a buffer
    void (*site_begin)(struct Observer *self, int site);
    void (*site_end)(struct Observer *self, int site);
    void (*counter)(struct Observer *self, const char *name, double value); // reported by a user
    // Called around a copy between host memory and a device's. to_host waits for the device.
    void (*copy_begin)(struct Observer *self, Device *device, bool to_host, int64_t bytes);
    void (*copy_end)(struct Observer *self, Device *device, bool to_host, int64_t bytes);
    struct Observer *next;
} Observer;

// Records ops for backward; autograd/ installs one. tensor/ knows only this interface.
typedef struct Recorder {
    Status (*record)(struct Recorder *self, OpCall *call); // after a successful run
    // While a backward rule runs: the gradient that has arrived for in[input] so far, if the rule's
    // op may add to it in place; the op then does.
    Tensor *(*gradient_so_far)(struct Recorder *self, int input);
    bool (*names_site)(const struct Recorder *self, int site); // whether an op it keeps ran there
    void (*free)(struct Recorder *self);
} Recorder;

// The record of an op, as its results see it; a recorder's own struct begins with it. Each result
// holds it, so a graph lives as long as somebody can ask it for a gradient. It owns the handles of
// the results and recycles them when the last result lets go.
typedef struct Origin {
    const Recorder *recorder; // compared, never followed
    void (*release)(struct Origin *self);
    int holders;
} Origin;

// A call site: a layer at its place in the model. Paths are resolved at report time.
typedef struct Site {
    int parent;     // -1: none
    bool dead;      // its layer is gone; the place is reusable once no reader needs names
    uint64_t owner; // the layer's serial number; 0: only name and type identify the site
    char *name;     // "fc1"; owned
    char *type;     // "Linear"; owned
    int next;       // next site in its chain, of owners with equal hash; -1: none
    int inside;     // number of sites whose parent this is
} Site;

typedef struct Pool Pool; // the threads; pool.h, not public

typedef struct Context {
    Device *device;          // for _new functions
    struct Shadows *shadows; // in a dry run: stand-ins for others' tensors (shadow.h); else NULL
    Device *target;          // device whose workspace counts; NULL: that of the running op
    Precision precision;     // precision in which reals are counted on devices without data
    int no_grad;             // > 0: recording is off
    Phase phase;
    int site;            // innermost open call site, -1 none
    const char *running; // name of the op being run, for the ledger's peak
    Ledger *ledger;      // NULL until context_ledger() makes it for the first storage
    Recorder *recorder;
    Observer *observers;
    RandomState random;
    int threads;
    Pool *pool;                // NULL until an op is worth splitting
    Tensor **backward_slots;   // during a backward rule: its grad_in
    uint64_t backward_weights; // bit i: slot i belongs to a parameter
    int backward_count;
    Scope *scope, *free_scopes; // innermost open one; recycled ones
    Tensor *free_tensors;       // recycled handles
    Site *sites;
    int n_sites, site_capacity, site_cursor, n_dead_sites;
    int *site_chains; // array of site_capacity entries: first site of each chain, or -1
    struct SiteReader *site_readers;
    struct {
        Status status;
        char message[640];
    } error;
    struct Context *outer; // the context this one was pushed over
} Context;

extern RIDGEPOINT_THREAD_LOCAL Context *context_tls;
Context *context_default(void); // this thread's own, made on first use
static inline Context *context_current(void) {
    return context_tls ? context_tls : context_default();
}

// Contexts for a second thread or a dry run. NULL with an error pending in the current one.
Context *context_new(void);
// Makes it current. STATUS_STATE is pending if it is NULL or already pushed.
void context_push(Context *context);
void context_pop(void); // back to the outer context, which receives a pending error
// Frees it with its cache, tape and pool; its tensors must be gone. STATUS_STATE is pending if it
// is this thread's default context, or another context is pushed over it.
void context_free(Context *context);
// Frees this thread's default context (at thread or program end; a later call makes a new one).
void context_release_thread(void);

void context_set_device(Device *device); // in a dry run (layers/cost.h) it stays the meta device
// Applies to tensors made from now on, on devices without data. Profiles there count all tensors in
// this precision: parameters, gradients, optimizer state, activations, and the statistics of norms
// and attention, which frameworks may keep in float32. Only bytes change, no other count. A model
// made under one precision, or with data, and counted under another mixes both.
// STATUS_INVALID_ARGUMENT is pending if there is no such precision.
void context_set_precision(Precision precision);
void context_set_threads(int threads); // 1..64; default: the number of cores it may use
void context_seed(uint64_t seed);      // restarts the random numbers

Ledger *context_ledger(void); // the current context's; NULL with an error pending: out of memory

// Nothing is recorded until no_grad_end, or until the scope in which this was called closes, so an
// early return leaves nothing switched off. Calls nest.
void no_grad_begin(void);
void no_grad_end(void);

void observer_add(Observer *observer); // borrowed until removed
void observer_remove(Observer *observer);

// Enters the call site (current site, owner); returns the previous one for site_leave. -1 is valid.
int site_enter(uint64_t owner, const char *name, const char *type);
void site_leave(int previous);
// Drops the sites of an owner that is gone, and the sites inside them, in this context.
void site_forget(uint64_t owner);

// A holder of site numbers that will ask for their names after their layers may be gone. No number
// is reused until the reader is removed.
typedef struct SiteReader {
    struct Context *context; // NULL: not added, or the context is gone
    struct SiteReader *next;
} SiteReader;
void site_reader_add(SiteReader *reader);    // in the current context; leaves its former one
void site_reader_remove(SiteReader *reader); // has no effect if not added
// "encoder.fc1" into text; cut at size, losing the innermost names; "(model)" for -1.
char *site_path(const Context *context, int site, char *text, size_t size);

RIDGEPOINT_API_END

#endif
