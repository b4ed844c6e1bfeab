// tape.c -- records ops in the order they ran; backward walks them in reverse. An op is forgotten
// when nobody can ask it for a gradient any longer.
#include "autograd/tape.h"

#include "tensor/memory.h"

Tape *tape_current(void) { return (Tape *)context_current()->recorder; }

// ---- saved buffers ---------------------------------------------------------------------------
// A storage counts the saves of the first tape that saves it. Another tape that saves it meanwhile
// (a dry run in the middle of a step) keeps its own list; nearly always it is empty.
static SharedSave *find_shared(const Tape *tape, const Storage *storage) {
    for (int i = 0; i < tape->n_shared; i++)
        if (tape->shared[i].storage == storage) return &tape->shared[i];
    return NULL;
}

static Status reserve_shared(Tape *tape) {
    if (tape->n_shared + NODE_SAVES <= tape->shared_capacity) return STATUS_OK;
    int capacity = tape->shared_capacity ? 2 * tape->shared_capacity : 2 * NODE_SAVES;
    SharedSave *shared =
        memory_resize(tape->shared, (size_t)tape->shared_capacity * sizeof(SharedSave),
                      (size_t)capacity * sizeof(SharedSave));
    if (!shared) return STATUS_OUT_OF_MEMORY;
    tape->shared = shared;
    tape->shared_capacity = capacity;
    return STATUS_OK;
}

// Counter of this tape's saves of the storage, for the caller to increment.
static int *count_to_raise(Tape *tape, Storage *storage) {
    SharedSave *shared = tape->n_shared ? find_shared(tape, storage) : NULL;
    if (shared) return &shared->saves;
    if (storage->saves == 0) storage->saver = tape;
    if (storage->saver == tape) return &storage->saves;
    shared = &tape->shared[tape->n_shared++];
    *shared = (SharedSave){.storage = storage};
    return &shared->saves;
}

// True if this was the tape's last save of the storage.
static bool lower_count(Tape *tape, Storage *storage) {
    SharedSave *shared = tape->n_shared ? find_shared(tape, storage) : NULL;
    if (shared) {
        if (--shared->saves > 0) return false;
        *shared = tape->shared[--tape->n_shared];
        return true;
    }
    if (--storage->saves > 0) return false;
    storage->saver = NULL;
    return true;
}

static Saved save(Tape *tape, const Node *node, int place) {
    Storage *storage = storage_retain(node_tensor(node, place)->storage);
    Saved saved = {.storage = storage, .version = storage->version, .place = place};
    if ((*count_to_raise(tape, storage))++ > 0) return saved;
    if (storage->category == MEM_ACTIVATION) tape->saved_bytes += storage->bytes;
    for (Observer *o = context_current()->observers; o; o = o->next)
        if (o->saved) o->saved(o, storage, node->site);
    return saved;
}

static bool is_there(const OpCall *call, int place) {
    if (place >= SAVED_INPUTS) return place - SAVED_INPUTS < call->n_out;
    return place < call->n_in && call->in[place];
}

// wanted: bits of SAVE_*; an optional input may be absent.
static void save_all(Tape *tape, Node *node, const OpCall *call, uint64_t wanted) {
    Saved *saved = node_saved(node);
    while (wanted) {
        int place = bit_take(&wanted);
        if (is_there(call, place)) saved[node->n_saved++] = save(tape, node, place);
    }
}

static void unsave(Tape *tape, Storage *storage) {
    if (lower_count(tape, storage) && storage->category == MEM_ACTIVATION)
        tape->saved_bytes -= storage->bytes;
    storage_release(storage);
}

// ---- a node's end ------------------------------------------------------------------------------
static void unlink_node(Tape *tape, Node *node) {
    if (node->previous) node->previous->next = node->next;
    if (node->next)
        node->next->previous = node->previous;
    else
        tape->last = node->previous;
    tape->count--;
}

void node_spend(Node *node) {
    if (!node->call.op) return;
    Tape *tape = (Tape *)node->origin.recorder;
    Tensor **in = node_inputs(node);
    for (int i = 0; i < node->n_saved; i++) unsave(tape, node_saved(node)[i].storage);
    node->n_saved = 0;
    for (int i = 0; i < node->call.n_in; i++)
        if (in[i]) tensor_unrefer(in[i]);
    for (int i = 0; i < node->call.n_out; i++) {
        if (node->grad[i]) tensor_disown(node->grad[i]);
        node->grad[i] = NULL;
    }
    if (node->many) memory_free(node->many);
    node->many = NULL;
    recompute_release(node->again);
    node->again = NULL;
    node->call.op = NULL;
    unlink_node(tape, node);
}

static void free_node(Node *node) {
    const Context *context = context_current();
    Tape *tape = (Tape *)context->recorder;
    node_spend(node);
    // Nodes of another context must not pile up here while that context asks for new ones.
    bool own = tape && node->origin.recorder == &tape->recorder;
    for (int i = 0; i < node->call.n_out; i++) {
        if (own)
            handle_recycle(node->call.out[i]);
        else
            memory_free(node->call.out[i]);
    }
    if (!own || (context->ledger && context->ledger->raw)) {
        memory_free(node);
        return;
    }
    node->waiting = tape->free_nodes;
    tape->free_nodes = node;
}

// Nodes without holders. Freeing one releases the nodes before it; they queue here instead of
// recursing, since a graph may be deeper than the stack.
static _Thread_local struct {
    Node *first;
    bool busy;
} released;

static void release(Origin *self) {
    Node *node = (Node *)self;
    node->waiting = released.first;
    released.first = node;
    if (released.busy) return;
    released.busy = true;
    while ((node = released.first)) {
        released.first = node->waiting;
        free_node(node);
    }
    released.busy = false;
}

// ---- recording ---------------------------------------------------------------------------------
static Node *take_node(Tape *tape) {
    Node *node = tape->free_nodes;
    if (!memory_request()) {
        error_set(STATUS_OUT_OF_MEMORY, "tape: no room for a node");
        return NULL;
    }
    if (!node) return memory_new(sizeof(Node));
    tape->free_nodes = node->waiting;
    return node;
}

static void return_node(Tape *tape, Node *node) {
    node->waiting = tape->free_nodes;
    tape->free_nodes = node;
}

static Status make_room(Node *node, int n_in) {
    size_t n = (size_t)n_in;
    node->many = NULL;
    if (n_in <= NODE_INPUTS) return STATUS_OK;
    node->many = memory_new(n * sizeof(Tensor *) + NODE_SAVES * sizeof(Saved));
    if (!node->many) return STATUS_OUT_OF_MEMORY;
    node->many_saved = (Saved *)(void *)(node->many + n);
    return STATUS_OK;
}

static void link_node(Tape *tape, Node *node) {
    node->previous = tape->last;
    node->next = NULL;
    if (tape->last) tape->last->next = node;
    tape->last = node;
    tape->count++;
}

static Status record(Recorder *self, OpCall *call) {
    Tape *tape = (Tape *)self;
    if (reserve_shared(tape)) return STATUS_OUT_OF_MEMORY;
    Node *node = take_node(tape);
    if (!node) return STATUS_OUT_OF_MEMORY;
    if (make_room(node, call->n_in)) {
        return_node(tape, node);
        return STATUS_OUT_OF_MEMORY;
    }
    node->origin = (Origin){.recorder = self, .release = release, .holders = call->n_out};
    node->call = *call;
    node->site = context_current()->site;
    node->number = tape->recorded++;
    node->again = NULL;
    node->reached = false;
    node->n_saved = 0;
    Tensor **in = node_inputs(node);
    for (int i = 0; i < call->n_in; i++) {
        in[i] = call->in[i];
        if (in[i]) tensor_refer(in[i]);
    }
    for (int i = 0; i < OP_MAX_OUTPUTS; i++) node->grad[i] = NULL;
    for (int i = 0; i < call->n_out; i++) {
        call->out[i]->origin = &node->origin;
        call->out[i]->origin_output = (uint8_t)i;
    }
    if (call->op->saves && !tape->light) save_all(tape, node, call, call->op->saves(call));
    link_node(tape, node);
    return STATUS_OK;
}

static bool names_site(const Recorder *self, int site) {
    const Node *node = ((const Tape *)self)->last;
    while (node && node->site != site) node = node->previous;
    return node != NULL;
}

// ---- the tape ----------------------------------------------------------------------------------
// Empties the nodes, so that results that outlive their context find their graph gone.
static void tape_free(Recorder *self) {
    Tape *tape = (Tape *)self;
    while (tape->last) node_spend(tape->last);
    for (Node *node = tape->free_nodes; node;) {
        Node *next = node->waiting;
        memory_free(node);
        node = next;
    }
    memory_free(tape->shared);
    memory_free(tape);
}

Status autograd_enable(void) {
    Context *context = context_current();
    if (context->recorder) return STATUS_OK;
    Tape *tape = memory_new(sizeof(Tape));
    if (!tape) return STATUS_OUT_OF_MEMORY;
    tape->recorder = (Recorder){.record = record,
                                .gradient_so_far = deliver_so_far,
                                .names_site = names_site,
                                .free = tape_free};
    context->recorder = &tape->recorder;
    return STATUS_OK;
}

int64_t autograd_saved_bytes(void) {
    Tape *tape = tape_current();
    return tape ? tape->saved_bytes : 0;
}

int autograd_node_count(void) {
    Tape *tape = tape_current();
    return tape ? tape->count : 0;
}
