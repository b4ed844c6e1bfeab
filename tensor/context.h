// context.h -- what a thread works in: default device, open scopes, tape, phase, layer stack,
// observers, ledger, random state, thread pool, pending error.
//
// Threads: each has a context of its own from its first call on, and gives it back with
// context_release_thread. What is made in a context stays with it: nothing in a context, or in what
// belongs to it, is atomic or locked. One made by context_new may go from thread to thread, current
// in one at a time. After fork() the child goes on with its copy, whose pool starts threads anew.
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
    PHASE_RECOMPUTE,       // what backward runs again of forward, because it was not kept
    PHASE_OPTIMIZER,
    PHASE_COUNT
} Phase;
const char *phase_name(Phase phase); // "backward_weight"

// Something that watches. Every slot may be NULL. Observers are called in the order added; they
// must not run ops. Dispatch, layer_forward, storage and the tape are the only points observed.
typedef struct Observer {
    void (*op_begin)(struct Observer *self, const OpCall *call); // inputs known, outputs not yet
    void (*op_end)(struct Observer *self, const OpCall *call);   // a failure has its error pending
    void (*storage)(struct Observer *self, const Storage *storage, int64_t delta); // +/- bytes
    void (*saved)(struct Observer *self, const Storage *storage,
                  int site); // first save of a buffer
    void (*site_begin)(struct Observer *self, int site);
    void (*site_end)(struct Observer *self, int site);
    void (*counter)(struct Observer *self, const char *name, double value); // a user's own figure
    // Around a copy between the program's memory and a device's own. to_host waits for the device.
    void (*copy_begin)(struct Observer *self, Device *device, bool to_host, int64_t bytes);
    void (*copy_end)(struct Observer *self, Device *device, bool to_host, int64_t bytes);
    struct Observer *next;
} Observer;

// What records ops for backward; autograd/ installs one. tensor/ knows no more of it than this.
typedef struct Recorder {
    Status (*record)(struct Recorder *self, OpCall *call); // after a successful run
    // While a backward rule runs: what has arrived for in[input] so far, if the rule's op may add
    // to it in place, which it then does.
    Tensor *(*gradient_so_far)(struct Recorder *self, int input);
    bool (*names_site)(const struct Recorder *self, int site); // did what it keeps run there?
    void (*free)(struct Recorder *self);
} Recorder;

// What was recorded of an op, as its results see it: a recorder's own struct begins with it. Each
// result holds it, so that a graph lives as long as somebody can ask it for a gradient. The handles
// of the results are its own: it recycles them when the last of them has let go.
typedef struct Origin {
    const Recorder *recorder; // compared, never followed
    void (*release)(struct Origin *self);
    int holders;
} Origin;

// A call site: a layer at its place in the model. Paths are resolved at report time.
typedef struct Site {
    int parent;     // -1: none
    bool dead;      // its layer is gone; the place is free when nobody asks for names any more
    uint64_t owner; // the layer's serial number; 0: name and type are all it is known by
    char *name;     // "fc1"; owned
    char *type;     // "Linear"; owned
    int next;       // the next one of its chain: of those whose owners hash alike; -1: none
    int inside;     // sites whose parent this is
} Site;

typedef struct Pool Pool; // its threads: pool.h, not public

typedef struct Context {
    Device *device;          // for _new functions
    struct Shadows *shadows; // in a dry run: what stands for others' tensors (shadow.h); else NULL
    Device *target;      // whose workspace is counted; NULL: that of the device on which an op runs
    Precision precision; // in which reals are counted where there is no data
    int no_grad;         // > 0: nothing is recorded
    Phase phase;
    int site;            // innermost open call site, -1 none
    const char *running; // name of the op being run, for the ledger's peak
    Ledger *ledger;      // NULL until the first storage: context_ledger() makes it
    Recorder *recorder;
    Observer *observers;
    RandomState random;
    int threads;
    Pool *pool;                // NULL until an op is worth splitting
    Tensor **backward_slots;   // during a backward rule: its grad_in, and which of them
    uint64_t backward_weights; // are parameters' (bit i)
    int backward_count;
    Scope *scope, *free_scopes; // innermost open one; recycled ones
    Tensor *free_tensors;       // recycled handles
    Site *sites;
    int n_sites, site_capacity, site_cursor, n_dead_sites;
    int *site_chains; // site_capacity of them: the first site of each, or -1
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

// Contexts of your own: two threads, a dry run. NULL with an error pending in the current one.
Context *context_new(void);
// Becomes current. Of NULL, or of one that is pushed already, STATUS_STATE is pending instead.
void context_push(Context *context);
void context_pop(void); // back to the outer one; its pending error moves outwards
// Its tensors must be gone; frees its cache, tape and pool. Of the thread's default one, or of one
// that another is pushed over, STATUS_STATE is pending instead.
void context_free(Context *context);
// Frees this thread's default context (at thread or program end; a later call makes a new one).
void context_release_thread(void);

void context_set_device(Device *device); // in a dry run (layers/cost.h) it stays the meta device
// Of tensors made from now on, on devices without data. What is profiled there is counted as if all
// of it had that precision: parameters, gradients, an optimizer's state, activations, with the
// statistics of norms and attention, which frameworks may keep in float32. No count but bytes
// changes. A model that was made under one precision, or with data, and is counted under another is
// a mixture of both. STATUS_INVALID_ARGUMENT is pending where there is no such precision.
void context_set_precision(Precision precision);
void context_set_threads(int threads); // 1..64; default: as many as it may use cores
void context_seed(uint64_t seed);      // restarts the random numbers

Ledger *context_ledger(void); // the current context's; NULL with an error pending: out of memory

// Until no_grad_end nothing is recorded, at the latest until the scope closes in which it began:
// what returns early leaves nothing switched off. They nest.
void no_grad_begin(void);
void no_grad_end(void);

void observer_add(Observer *observer); // borrowed until removed
void observer_remove(Observer *observer);

// Enters the call site (current site, owner); returns the previous one for site_leave. -1 is valid.
int site_enter(uint64_t owner, const char *name, const char *type);
void site_leave(int previous);
// The owner is gone, and with it its sites and those inside, in this context.
void site_forget(uint64_t owner);

// Who has numbers of sites, and will ask for their names when their layers may be gone: until it is
// removed, no number is given again.
typedef struct SiteReader {
    struct Context *context; // NULL: not added, or the context is gone
    struct SiteReader *next;
} SiteReader;
void site_reader_add(SiteReader *reader);    // in the current context; leaves the one it was in
void site_reader_remove(SiteReader *reader); // not added: nothing
// "encoder.fc1" into text (cut at size, which takes off the innermost names); "(model)" for -1.
char *site_path(const Context *context, int site, char *text, size_t size);

RIDGEPOINT_API_END

#endif
